"""Curious rankers: prepared parts and their files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from curiograph.recommendation.prepared import load_parts
from safetensors.numpy import save

import curiograph as cg
from curiograph.agents.heuristics import GreedyAgent
from curiograph.tensors import open_tensors


def test_parts_do_not_depend_on_other_starts():
    g = cg.generate("ba", nodes=60, seed=0)
    together, alone = (cg.CuriousRanker("greedy", reward="igt", walks=32) for _ in range(2))
    together.prepare(g, range(60))
    for v in (0, 17, 59):
        alone.prepare(g, [v])
        one, other = alone.kept[g][v], together.kept[g][v]
        assert one.nodes.tobytes() == other.nodes.tobytes()
        assert one.visits.tobytes() == other.visits.tobytes()
        assert one.total == pytest.approx(other.total, rel=1e-12)


def recommender(graph: cg.Graph | None = None, **settings) -> cg.Recommender:
    parts = {"pagerank": cg.PageRankRanker(), "curious": cg.CuriousRanker(**{"agent": "max-degree", **settings})}
    return cg.Recommender(cg.toys.library() if graph is None else graph, cg.MixtureRanker(parts))


def test_prepared_results_are_identical(tmp_path):
    g = cg.generate("ws", nodes=30, seed=0)
    fresh, prepared, loaded = recommender(g), recommender(g), recommender(g)
    prepared.prepare()
    assert prepared.num_prepared == 30
    prepared.save(tmp_path / "parts.safetensors")
    loaded.load(tmp_path / "parts.safetensors")
    assert loaded.num_prepared == 30
    for history in ([0, 5], [29], [3, 4, 3]):
        wanted = fresh.recommend(history)
        for other in (prepared.recommend(history), loaded.recommend(history)):
            assert other == wanted
            assert other.reasons == wanted.reasons
    assert fresh.num_prepared == 5


def test_files_of_the_same_parts_are_identical(tmp_path):
    files = [tmp_path / f"{i}.safetensors" for i in range(4)]
    for file in files:
        made = cg.Recommender(cg.toys.cycle(5))
        made.prepare([0, 1])
        made.save(file)
    assert len({file.read_bytes() for file in files}) == 1


def test_nested_components_are_prepared(tmp_path):
    inner = cg.MixtureRanker({"degree": cg.CuriousRanker("max-degree"), "pagerank": cg.PageRankRanker()})
    made = cg.Recommender(cg.toys.cycle(5), cg.MixtureRanker({"inner": inner, "pagerank": cg.PageRankRanker()}))
    made.prepare([0, 1])
    assert made.num_prepared == 2
    made.save(tmp_path / "parts.safetensors")
    made.load(tmp_path / "parts.safetensors")
    assert made.num_prepared == 2


def test_save_keeps_other_parts_of_a_file(tmp_path):
    g, file = cg.toys.library(), tmp_path / "parts.safetensors"
    both = cg.Recommender(g)
    both.prepare(["music"])
    both.save(file)
    one = cg.Recommender(g, "igt")
    one.load(file)
    one.prepare(["logic"])
    one.save(file)
    again = cg.Recommender(g)
    again.load(file)
    assert again.num_prepared == 3
    fresh = cg.Recommender(g)
    fresh.prepare(["dance"])
    fresh.save(file)  # not loaded before: what the file holds stays
    again = cg.Recommender(g)
    again.load(file)
    assert again.num_prepared == 5
    other = cg.Recommender(cg.toys.cycle(5), "cpt")
    other.prepare([0])
    before = file.read_bytes()
    with pytest.raises(cg.FileFormatError, match="are of graph"):
        other.save(file)
    with pytest.raises(cg.FileFormatError, match=r"are of alpha 0\.85, not 0\.5"):
        cg.Recommender(g, alpha=0.5).save(file)
    assert file.read_bytes() == before


class LowestFirst:
    name = "lowest-first"

    def scores(self, exploration):
        return -exploration.candidates.nodes.astype(float)


def test_parts_of_custom_agents_need_a_fingerprint(tmp_path):
    g, file = cg.toys.library(), tmp_path / "parts.safetensors"
    made = cg.Recommender(g, cg.CuriousRanker(LowestFirst(), name="mine"))
    made.prepare(["music"])
    with pytest.raises(cg.SettingError, match="attribute `fingerprint`"):
        made.save(file)
    with pytest.raises(cg.SettingError, match="the reward 'lambda' is your own"):
        cg.Recommender(g, cg.CuriousRanker(reward=lambda s: s.num_edges)).save(file)
    assert not file.exists()
    first, second = LowestFirst(), LowestFirst()
    first.fingerprint, second.fingerprint = "1", "2"
    cg.Recommender(g, cg.CuriousRanker(first, name="mine")).save(file)
    cg.Recommender(g, cg.CuriousRanker(first, name="mine")).load(file)
    with pytest.raises(cg.FileFormatError, match="are of agent 'lowest-first 1', not 'lowest-first 2'"):
        cg.Recommender(g, cg.CuriousRanker(second, name="mine")).load(file)


def test_exact_parts_and_standard_errors_of_sampled_ones():
    g = cg.toys.cycle(9)
    top = cg.recommend(g, [0, 3], k=5, ranker=cg.CuriousRanker("greedy", "igt", steps=None))
    exact = cg.curious_pagerank(g, "greedy", 0.85, [0, 3], reward="igt", exact=True)
    assert top.stderr == [0.0] * 5
    np.testing.assert_allclose([score for _, score in top], [exact.scores[label] for label, _ in top], rtol=1e-6)
    large = cg.generate("er", nodes=60, seed=0)
    exact = cg.curious_pagerank(large, "max-degree", 0.85, [0, 3], tolerance=0.003, max_walks=400_000)
    z = []
    for seed in range(12):
        drawn = cg.recommend(
            large, [0, 3], k=8, ranker=cg.CuriousRanker("max-degree", walks=200, steps=None, seed=seed)
        )
        assert min(drawn.stderr) > 0
        z += [(score - exact.scores[label]) / error for (label, score), error in zip(drawn, drawn.stderr, strict=True)]
    assert 0.6 < np.sqrt(np.mean(np.clip(z, -5, 5) ** 2)) < 2.2  # 3 degrees of freedom: 1.7 expected
    both = cg.recommend(large, [0, 3], k=8)
    assert len(both.stderr) == 8
    assert both.to_dict()["recommendations"][0]["stderr"] == both.stderr[0]


def load_refused(file: Path, made: cg.Recommender | None = None) -> str:
    made = recommender() if made is None else made
    with pytest.raises(cg.FileFormatError) as caught:
        made.load(file)
    message = str(caught.value)
    assert message.startswith(f"{file}: ")
    assert "\n" not in message
    assert made.num_prepared == 0
    return message


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("parts") / "good.safetensors"
    made = recommender()
    made.prepare(["music", "logic"])
    made.save(file)
    return file


def test_parts_of_other_graphs_and_settings_are_refused(good):
    for other, message in [
        (recommender(cg.toys.cycle(12)), "are of graph"),
        (recommender(agent="min-degree"), "are of agent 'max-degree', not 'min-degree'"),
        (recommender(agent="igt-rg"), "are of agent"),
        (recommender(alpha=0.5), "are of alpha 0.85, not 0.5"),
        (recommender(p_g=0.1), "are of p_g"),
        (recommender(walks=7), "are of walks"),
        (recommender(steps=2), "are of steps 3, not 2"),
        (recommender(seed=3), "are of seed 0, not 3"),
        (recommender(reward="cpt"), "are of reward 'igt', not 'cpt'"),
        (recommender(fallback="anywhere"), "are of fallback"),
        (cg.Recommender(cg.toys.library()), "holds no parts for igt, cpt"),
    ]:
        assert message in load_refused(good, other)
    edges = [(*edge, 2.0) for edge in cg.toys.library().to_networkx().edges]
    weighted = cg.Graph.from_edges(edges, nodes=cg.toys.library().labels)
    assert "are of graph" in load_refused(good, recommender(weighted))


def content(file: Path) -> tuple[dict, dict]:
    with open_tensors(file, "parts file", "") as stream:
        return stream.read_all(), dict(stream.metadata)


@pytest.mark.parametrize(
    ("kind", "spoil", "message"),
    [
        ("visits", lambda a: a.astype(np.float64), "its visits are not a list of float32"),
        ("starts", lambda a: a[:, None], "its starts are not a list of int32"),
        ("offsets", lambda a: a[::-1].copy(), "do not fit together"),
        ("offsets", lambda a: a[:-1], "do not fit together"),
        ("offsets", lambda a: a[:0], "do not fit together"),
        ("offsets", lambda a: np.array([0, 2**62, a[-1]]), "do not fit together"),
        ("nodes", lambda a: a + 12, "names nodes that the graph does not have"),
        ("nodes", lambda a: a - 12, "names nodes that the graph does not have"),
        ("nodes", lambda a: np.concatenate([a[1::-1], a[2:]]), "not in order"),
        ("starts", lambda a: a[::-1].copy(), "not in order"),
        ("visits", lambda a: a * np.float32(np.nan), "not finite"),
        ("visits", lambda a: -a, "not finite and above zero"),
        ("totals", lambda a: a * np.inf, "not finite"),
        ("totals", lambda a: a * 0, "not finite and above zero"),
        ("nodes", None, "is not a usable parts file"),
    ],
)
def test_invalid_arrays_are_refused(good, tmp_path, kind, spoil, message):
    arrays, header = content(good)
    name = f"curious.{kind}"
    if spoil is None:
        del arrays[name]
    else:
        arrays[name] = np.ascontiguousarray(spoil(arrays[name]))
    file = tmp_path / "bad.safetensors"
    file.write_bytes(save(arrays, metadata=header))
    assert message in load_refused(file)


def test_other_files_are_refused_and_not_overwritten(good, tmp_path):
    data = good.read_bytes()
    arrays, header = content(good)
    (key,) = header
    file = tmp_path / "bad.safetensors"
    for bad in (
        data[: len(data) // 2],
        data[:20],
        b"precious",
        save(arrays),
        save(arrays, metadata={key: "{"}),
        save(arrays, metadata={key: "[1]"}),
        save(arrays, metadata={key: '{"curious": 3}'}),
    ):
        file.write_bytes(bad)
        load_refused(file)
        made = recommender()
        made.prepare(["music"])
        with pytest.raises(cg.FileFormatError, match=r"is not a usable parts file"):
            made.save(file)
        assert file.read_bytes() == bad
    load_refused(tmp_path / "none.safetensors")
    load_refused(tmp_path)


def test_nothing_is_loaded_if_one_component_does_not_fit(tmp_path):
    g, file = cg.toys.cycle(6), tmp_path / "parts.safetensors"
    made = cg.Recommender(g)
    made.prepare([0])
    made.save(file)
    rankers = {"igt": cg.CuriousRanker("greedy", "igt"), "cpt": cg.CuriousRanker("greedy", "cpt", alpha=0.5)}
    with pytest.raises(cg.FileFormatError, match="'cpt' are of alpha"):
        load_parts(file, g, rankers)
    assert not rankers["igt"].kept.get(g)


def test_killed_writer_leaves_the_old_file(good, tmp_path):
    file = tmp_path / "parts.safetensors"
    file.write_bytes(good.read_bytes())
    code = (
        "import os, signal, sys, curiograph as cg\n"
        "from curiograph import files\n"
        "files.os.replace = lambda *a: os.kill(os.getpid(), signal.SIGKILL)\n"
        "r = cg.CuriousRanker('max-degree'); g = cg.toys.library()\n"
        "from curiograph.recommendation.prepared import save_parts\n"
        "save_parts(sys.argv[1], g, {'curious': r})\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(file)], env=os.environ, check=False)
    assert done.returncode == -signal.SIGKILL
    assert file.read_bytes() == good.read_bytes()
    made = recommender()
    made.load(file)
    assert made.num_prepared == 2


def test_rankers_without_parts_have_nothing_to_save(tmp_path):
    made = cg.Recommender(cg.toys.cycle(5), "pagerank")
    made.prepare()
    with pytest.raises(cg.SettingError, match="has no parts to keep"):
        made.save(tmp_path / "parts.safetensors")
    with pytest.raises(cg.SettingError, match="give a list"):
        cg.Recommender(cg.toys.library()).prepare("music")
    assert not list(tmp_path.iterdir())


# ---- few steps ------------------------------------------------------------------------------------------------------


def star_of_chords(num_nodes: int, num_links: int, seed: int, *, directed: bool = True) -> cg.Graph:
    """Return a sparse random graph with a few dead ends."""
    ends = np.random.default_rng(seed).integers(0, num_nodes, (num_links, 2))
    return cg.Graph.from_edges(
        [tuple(pair) for pair in ends.tolist() if pair[0] != pair[1]], nodes=range(num_nodes), directed=directed
    )


class SlowGreedy(GreedyAgent):
    """The greedy agent by another type, which is simulated step by step in Python."""


@pytest.mark.parametrize("fallback", ["frontier", "anywhere"])
@pytest.mark.parametrize("reward", ["igt", "cpt"])
def test_kernel_of_few_steps_agrees_with_the_general_simulation(reward, fallback):
    graphs = [cg.generate("ba", nodes=80, seed=1), star_of_chords(40, 90, 2), cg.toys.library()]
    for g in graphs:
        for steps, walks in ((1, 256), (3, 64), (6, 16)):
            settings = {"reward": reward, "steps": steps, "walks": walks, "fallback": fallback}
            fast, slow = cg.CuriousRanker("greedy", **settings), cg.CuriousRanker(SlowGreedy(), **settings)
            starts = [0, 7, g.num_nodes - 1]
            for one, other in zip(fast.compute_parts(g, starts), slow.compute_parts(g, starts), strict=True):
                np.testing.assert_array_equal(one.nodes, other.nodes)
                np.testing.assert_allclose(one.visits, other.visits, rtol=1e-5)
                np.testing.assert_allclose(one.errors, other.errors, rtol=1e-3, atol=1e-9)
                assert one.total == pytest.approx(other.total, rel=1e-9)
                assert set(one.sources.tolist()) <= set(range(g.num_nodes))


def assert_same_parts(one: cg.Recommender, other: cg.Recommender) -> None:
    assert one.num_prepared == other.num_prepared > 0
    for name, ranker in one.curious_rankers.items():
        theirs = other.curious_rankers[name].kept[other.graph]
        for v, part in ranker.kept[one.graph].items():
            for kind in ("nodes", "visits", "errors", "sources"):
                assert getattr(part, kind).tobytes() == getattr(theirs[v], kind).tobytes()
            assert part.total == theirs[v].total


def test_parts_do_not_depend_on_workers():
    g = star_of_chords(60, 240, 0)
    one, threads, processes = (cg.Recommender(g) for _ in range(3))
    for ranker in one.curious_rankers.values():
        object.__setattr__(ranker, "workers", 1)
    one.prepare()
    threads.prepare()
    processes.prepare_curious(workers=2)
    assert_same_parts(one, threads)
    assert_same_parts(one, processes)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("fallback", ["frontier", "anywhere"])
def test_update_after_changed_links_equals_a_full_preparation(tmp_path, directed, fallback):
    file = tmp_path / "parts.safetensors"
    rng = np.random.default_rng(5)

    def make(graph):
        rankers = {r: cg.CuriousRanker("greedy", r, walks=32, fallback=fallback) for r in ("igt", "cpt")}
        return cg.Recommender(graph, cg.MixtureRanker(rankers))

    kept = 0
    count = 302 if fallback == "frontier" else 300  # two new nodes
    for seed in range(3):
        g = star_of_chords(300, 420, seed, directed=directed)
        old = make(g)
        old.prepare_curious()
        old.save(file, overwrite=True)
        edges = [tuple(edge) for edge in g.to_networkx().edges]
        removed = {edges[k] for k in rng.integers(0, len(edges), 2)}
        added = [(int(a), int(b)) for a, b in rng.integers(0, count, (3, 2)) if a != b]
        changed = [*dict.fromkeys([*(e for e in edges if e not in removed), *added])]
        new = cg.Graph.from_edges(changed, nodes=range(count), directed=directed)
        updated, full = make(new), make(new)
        affected = updated.load_unaffected(file)
        assert 0 < affected < 600
        kept += updated.num_prepared
        updated.prepare_curious()
        full.prepare_curious()
        assert_same_parts(updated, full)
        with pytest.raises(cg.FileFormatError, match="are of graph"):
            updated.save(file)
        updated.save(file, overwrite=True)
        again = make(new)
        assert again.load_unaffected(file) == 0
        assert_same_parts(again, full)
    assert kept > 3 * 200  # most parts are not affected


def test_update_from_unrelated_parts_loads_nothing(good, tmp_path):
    file = tmp_path / "parts.safetensors"
    made = cg.Recommender(cg.toys.cycle(5))
    made.prepare_curious()
    made.save(file)
    other = cg.Recommender(cg.toys.complete(6))
    assert other.load_unaffected(file) == 10
    assert cg.Recommender(cg.toys.complete(4)).load_unaffected(file) == 10
    with pytest.raises(cg.FileFormatError, match="are of alpha"):
        cg.Recommender(cg.toys.complete(6), alpha=0.5).load_unaffected(file)
    assert other.num_prepared == 0
    agents = recommender(cg.toys.complete(12))
    assert agents.load_unaffected(good) > 0  # sources of other agents are unknown
    assert agents.num_prepared == 0


def test_killed_preparation_resumes(tmp_path):
    code = (
        "import os, signal, sys, curiograph as cg\n"
        "def kill(message, share=None):\n"
        "    if share and share > 0.4: os.kill(os.getpid(), signal.SIGKILL)\n"
        "cg.Recommender(cg.generate('ws', nodes=100, seed=0)).prepare_curious(run=sys.argv[1], progress=kill)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "run")], env=os.environ, check=False)
    assert done.returncode == -signal.SIGKILL
    g = cg.generate("ws", nodes=100, seed=0)
    resumed, full = cg.Recommender(g), cg.Recommender(g)
    messages: list[str] = []
    resumed.prepare_curious(run=tmp_path / "run", progress=lambda message, share=None: messages.append(message))
    assert messages[0] == "prepare: 48 of 100 nodes (48 found in the run folder)"
    full.prepare_curious()
    assert_same_parts(resumed, full)


def test_stopped_preparation_says_what_is_kept(tmp_path):
    def stop(message: str, share: float | None = None) -> None:
        if share is not None and share > 0.4:
            raise KeyboardInterrupt

    made = cg.Recommender(cg.generate("ws", nodes=100, seed=0))
    with pytest.raises(cg.JobStopped, match=r"stopped after 48 of 100 nodes of prepare; they are kept in .*run: rerun"):
        made.prepare_curious(run=tmp_path / "run", progress=stop)
