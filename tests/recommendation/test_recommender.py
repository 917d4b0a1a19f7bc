"""Recommendations against the definitions: candidates, scores, reasons, and files of prepared parts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save

import curiograph as cg
from curiograph.centrality.history import parse_history
from curiograph.recommendation.prepared import load_parts
from curiograph.recommendation.reasons import MAX_RECENT_NODES, explain_recommendations
from support.small_graphs import graphs, histories

BY_DEGREE = cg.CuriousRanker("max-degree", p_g=0.5, name="degree")


def list_labels(top) -> list:
    return [label for label, _ in top]


def allowed(graph: cg.Graph, history: list, which: str) -> set:
    """Return the candidates by definition."""
    seen = set(history)
    if which == "all":
        return set(graph.labels) - seen
    around = set(graph.neighbors(history[-1])) - seen
    if which == "last" and around:
        return around
    return {v for u in seen for v in graph.neighbors(u)} - seen


def reachable(graph: cg.Graph, history: list) -> set:
    found, todo = set(), list(history)
    while todo:
        u = todo.pop()
        if u not in found:
            found.add(u)
            row = graph.position(u)
            slots = range(graph.indptr[row], graph.indptr[row + 1])
            todo += [graph.label(graph.indices[s]) for s in slots if graph.weights is None or graph.weights[s] > 0]
    return found


# ---- candidates -----------------------------------------------------------------------------------------------------


@given(st.data(), st.sampled_from(["last", "history", "all"]), st.sampled_from(["pagerank", BY_DEGREE]))
def test_candidates_follow_the_definition(data, which, ranker):
    g = data.draw(graphs())
    history = data.draw(histories(g))
    top = cg.recommend(g, history, k=50, candidates=which, ranker=ranker)
    wanted = allowed(g, history, which)
    if which == "all" and ranker == "pagerank":
        wanted &= reachable(g, history)
    if which == "all" and ranker is BY_DEGREE:
        assert set(list_labels(top)) <= wanted & reachable(cg.Graph(g.indptr, g.indices, directed=g.directed), history)
    else:
        assert set(list_labels(top)) == wanted
    assert len(list_labels(top)) == len(set(list_labels(top)))
    assert not set(list_labels(top)) & set(history)
    scores = [score for _, score in top]
    assert scores == sorted(scores, reverse=True)
    assert list_labels(cg.recommend(g, history, k=2, candidates=which, ranker=ranker)) == list_labels(top)[:2]


def test_last_node_may_be_a_revisit():
    g = cg.Graph.from_edges([("a", "b"), ("a", "x"), ("b", "y")])
    assert list_labels(cg.recommend(g, ["a", "b", "a"], candidates="last", ranker="pagerank")) == ["x"]
    assert list_labels(cg.recommend(g, ["a", "b"], candidates="last", ranker="pagerank")) == ["y"]
    assert cg.recommend(g, ["a", "b", "a"], ranker="pagerank").history == ["a", "b"]


def test_dead_end_falls_back_to_the_neighbors_of_the_walk():
    g = cg.Graph.from_edges([(0, 1), (0, 2), (1, 0), (3, 1)], directed=True)
    assert list_labels(cg.recommend(g, [0, 1], candidates="last", ranker="pagerank")) == [2]
    assert list_labels(cg.recommend(g, [2], candidates="last", ranker="pagerank")) == []


def test_neighbors_without_visits_are_offered():
    hub = cg.Graph.from_edges([(0, v) for v in range(1, 60)])
    assert len(cg.recommend(hub, [0], k=59, candidates="last", ranker=BY_DEGREE)) == 59


def test_custom_rankers_may_offer_scores_of_zero():
    class Even:
        name = "even"

        def scores(self, graph, histories, candidates):
            return -(candidates.nodes % 2).astype(float)

    g = cg.Graph.from_edges([(0, 1), (2, 3), (3, 4)])
    assert cg.recommend(g, [0], ranker=Even()) == [(2, 0.0), (4, 0.0), (1, -1.0), (3, -1.0)]


@pytest.mark.parametrize(
    ("graph", "history"),
    [
        (cg.toys.library(), ["music", "logic"]),
        (cg.toys.grid(3, 3), [(0, 0), (1, 1)]),
        (cg.toys.grid(3, 3), [(1, 1)]),
        (cg.toys.cycle(6), [0, 1]),
        (cg.toys.cycle(6), np.array([0, 1])),
        (cg.Graph.from_edges([(10, 70), (70, "x"), ("x", ("t", 1))]), ["x", 10]),
    ],
)
def test_results_are_labels_and_floats(graph, history):
    top = cg.recommend(graph, history, k=3, ranker="pagerank")
    assert 0 < len(top) <= 3
    assert set(list_labels(top)) <= set(graph.labels)
    assert all(type(score) is float for _, score in top)


def test_histories_may_be_lists_tuples_arrays_or_walks():
    g = cg.toys.cycle(6)
    wanted = [cg.recommend(g, [0, 1], ranker="pagerank"), cg.recommend(g, [2, 3], ranker="pagerank")]
    for several in ([[0, 1], [2, 3]], [(0, 1), (2, 3)], np.array([[0, 1], [2, 3]]), [np.array([0, 1]), [2, 3]]):
        assert list(map(list_labels, cg.recommend(g, several, ranker="pagerank"))) == list(map(list_labels, wanted))
    grid = cg.toys.grid(3, 3)
    assert len(cg.recommend(grid, [((0, 0), (0, 1)), ((1, 1),)], ranker="pagerank")) == 2
    walk = cg.explore(g, "greedy", "igt", 0, 3)
    assert list_labels(cg.recommend(g, walk, ranker="pagerank")) == list_labels(
        cg.recommend(g, walk.nodes, ranker="pagerank")
    )


@pytest.mark.parametrize("which", ["last", "history", "all"])
@pytest.mark.parametrize("ranker", ["pagerank", BY_DEGREE])
def test_batch_equals_single_users(which, ranker):
    g = cg.generate("ws", nodes=40, seed=2)
    many = [[v, (7 * v) % 40, v] for v in range(40)]
    together = cg.recommend(g, many, k=5, candidates=which, ranker=ranker)
    for history, top in zip(many, together, strict=True):
        alone = cg.recommend(g, history, k=5, candidates=which, ranker=ranker)
        assert list_labels(top) == list_labels(alone)
        np.testing.assert_allclose([s for _, s in top], [s for _, s in alone], rtol=0, atol=2e-10)


# ---- scores ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, {"pagerank": 3, "igt": -4}, {"pagerank": -1, "igt": 0.5, "cpt": 2}])
def test_mixture_is_the_weighted_sum_on_the_unit_sphere(weights):
    g, history = cg.toys.library(), ["music", "logic"]
    top = cg.recommend(g, history, k=12, weights=weights)
    given = weights or {"pagerank": 1, "igt": 1, "cpt": 1}
    length = sum(w * w for w in given.values()) ** 0.5
    parts = {
        "pagerank": cg.pagerank(g, 0.85, history).scores,
        "igt": cg.curious_pagerank(g, "greedy", 0.85, history, reward="igt", exact=True).scores,
        "cpt": cg.curious_pagerank(g, "greedy", 0.85, history, reward="cpt", exact=True).scores,
    }
    wanted = sum(w / length * parts[name] for name, w in given.items())
    for label, score in top:  # 256 walkers a node, against all paths
        assert score == pytest.approx(wanted[g.position(label)], abs=0.01)
    only = cg.recommend(g, history, k=12, weights={"pagerank": -2})
    for label, score in only:
        assert score == pytest.approx(-parts["pagerank"][g.position(label)], abs=1e-9)


def test_curious_scores_agree_with_curious_pagerank():
    g = cg.generate("ws", nodes=40, seed=0)
    history = [0, 11, 23]
    eta = cg.curious_pagerank(g, "max-degree", history=history, tolerance=0.02, seed=7)
    spread = [
        dict(cg.recommend(g, history, k=40, ranker=cg.CuriousRanker("max-degree", seed=seed))) for seed in range(8)
    ]
    for v in np.argsort(-eta.scores)[:15].tolist():
        if v not in history:
            found = [each[v] for each in spread]
            error = np.hypot(np.std(found, ddof=1) / np.sqrt(8), eta.stderr[v])
            assert abs(np.mean(found) - eta.scores[v]) < 4.5 * error + 2e-3 * eta.scores[v]


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


# ---- reasons --------------------------------------------------------------------------------------------------------


def test_ranks_count_better_candidates():
    g, history = cg.toys.library(), ["music", "logic"]
    top = cg.recommend(g, history, k=12)
    assert top.components == ["pagerank", "igt", "cpt"]
    by_part = {name: dict(cg.recommend(g, history, k=12, ranker=name)) for name in top.components}
    for reason in top.reasons:
        assert reason.candidates == 10
        for name, scores in by_part.items():
            mine = scores.get(reason.node, 0.0)
            assert reason.ranks[name] == 1 + sum(other > mine for other in scores.values())


def check_reason(graph: cg.Graph, history: list, reason: cg.Reason) -> None:
    """Compare a reason with `measure` of the walk extended by the node."""
    before, after = cg.measure(graph, history), cg.measure(graph, [*history, reason.node])
    seen = before.nodes
    opened = [gap for gap in after.gaps if gap.opened_at == len(after)]
    closed = [gap for gap in after.gaps if gap.closed_at == len(after) and gap.opened_at < len(after)]
    assert len(reason.opens) - len(reason.closes) == after.beta1[-1] - before.beta1[-1]
    assert len(reason.opens) == len(opened)
    assert sorted(map(str, reason.closes)) == sorted(str(gap.opened_by) for gap in closed)
    assert reason.compressibility == pytest.approx(after.compressibility[-1] - before.compressibility[-1], abs=1e-9)
    around = set(graph.skeleton.neighbors(reason.node))
    assert list(reason.links) == [u for u in seen if u in around]
    for loop in reason.opens:
        assert loop[0] == reason.node
        assert len(set(loop)) == len(loop) >= 4
        assert set(loop[1:]) <= set(seen)
        for u, v in pairwise([*loop, loop[0]]):
            assert v in graph.skeleton.neighbors(u)


@given(st.data())
def test_reasons_agree_with_measure(data):
    g = data.draw(graphs())
    history = data.draw(st.lists(st.integers(0, g.num_nodes - 1), min_size=1, max_size=12))
    for reason in cg.recommend(g, history, k=20, candidates="history", ranker="pagerank").reasons:
        check_reason(g, history, reason)


def test_reasons_on_larger_walks_with_many_gaps():
    opened = 0
    for seed in range(4):
        g = cg.generate("er", nodes=40, seed=seed)
        history = np.random.default_rng(seed).permutation(40)[:22].tolist()
        for reason in cg.recommend(g, history, k=18, ranker="pagerank").reasons:
            check_reason(g, history, reason)
            opened += len(reason.opens)
    assert opened > 20


def test_revisits_do_not_change_reasons():
    ring = cg.Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (4, 0), (4, 1), (4, 2), (4, 3)])
    (reason,) = cg.recommend(ring, [0, 1, 2, 3, 0], ranker="pagerank").reasons
    assert reason.closes == (3,)
    assert reason.story == "closes the gap opened by 3"
    assert "of 1 candidates 1 by pagerank; closes the gap opened by 3; compressibility" in str(reason)


def test_reasons_of_a_long_history_use_its_last_nodes():
    g = cg.toys.cycle(3 * MAX_RECENT_NODES)
    history = [*range(2 * MAX_RECENT_NODES), 0]
    top = cg.recommend(g, history, k=1, candidates="last", ranker="pagerank")
    (reason,) = top.reasons
    assert reason.node == 3 * MAX_RECENT_NODES - 1
    assert reason.links == (0,)
    assert explain_recommendations(g, parse_history(g, history), np.empty(0, np.int32), {}, 0) == []


def test_to_dict_and_plot():
    top = cg.recommend(cg.toys.library(), ["music", "physics", "chemistry"], k=2, ranker="pagerank")
    plain = top.to_dict()
    assert plain["history"] == ["music", "physics", "chemistry"]
    assert [entry["node"] for entry in plain["recommendations"]] == list_labels(top)
    assert [entry["score"] for entry in plain["recommendations"]] == [score for _, score in top]
    for drawn in (top, cg.recommend(cg.toys.library(), list(cg.toys.library().labels), ranker="pagerank")):
        assert {"music", "physics"} <= {text.get_text() for text in drawn.plot().texts}


# ---- prepared parts -------------------------------------------------------------------------------------------------


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
    top = cg.recommend(g, [0, 3], k=5, ranker="igt")
    exact = cg.curious_pagerank(g, "greedy", 0.85, [0, 3], reward="igt", exact=True)
    assert top.stderr == [0.0] * 5
    np.testing.assert_allclose([score for _, score in top], [exact.scores[label] for label, _ in top], rtol=1e-6)
    large = cg.generate("er", nodes=60, seed=0)
    exact = cg.curious_pagerank(large, "max-degree", 0.85, [0, 3], tolerance=0.003, max_walks=400_000)
    z = []
    for seed in range(12):
        drawn = cg.recommend(large, [0, 3], k=8, ranker=cg.CuriousRanker("max-degree", walks=200, seed=seed))
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
    with safe_open(file, framework="numpy") as stream:
        return {name: stream.get_tensor(name) for name in stream.keys()}, stream.metadata()  # noqa: SIM118


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


# ---- large graphs, bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["last", "all"])
@pytest.mark.parametrize("directed", [False, True])
def test_local_push_agrees_with_the_exact_solution(monkeypatch, directed, which):
    rng = np.random.default_rng(0)
    hubs = (3000 * rng.random(12000) ** 3).astype(int)
    g = cg.Graph.from_edges(np.column_stack([rng.integers(0, 3000, 12000), hubs]), directed=directed)
    many = [g.labels[i : i + 3] for i in range(0, 60, 3)]
    whole = cg.recommend(g, many, k=5, candidates=which, ranker="pagerank")
    monkeypatch.setattr("curiograph.recommendation.rankers.MAX_EXACT_NODES", 0)
    monkeypatch.setattr("curiograph.recommendation.rankers._PUSH_EDGES", 1000)
    around = cg.recommend(g, many, k=5, candidates=which, ranker="pagerank")
    for exact, close in zip(map(dict, whole), map(dict, around), strict=True):
        shared = exact.keys() & close.keys()
        assert len(shared) >= len(exact) - 1
        assert all(abs(close[v] - exact[v]) < 0.15 * exact[v] for v in shared)


def test_local_push_does_not_offer_unreachable_nodes(monkeypatch):
    monkeypatch.setattr("curiograph.recommendation.rankers.MAX_EXACT_NODES", 0)
    for directed in (False, True):
        g = cg.Graph.from_edges([(0, 1), (1, 2), (3, 4)], directed=directed)
        assert set(list_labels(cg.recommend(g, [0], ranker="pagerank"))) == {1, 2}


def test_results_do_not_depend_on_the_batch_size(monkeypatch):
    g, many = cg.toys.library(), [[label] for label in cg.toys.library().labels]
    wanted = cg.recommend(g, many, ranker=BY_DEGREE)
    monkeypatch.setattr("curiograph.recommendation.recommender._BATCH_ENTRIES", 40)
    assert cg.recommend(g, many, ranker=BY_DEGREE) == wanted


@pytest.mark.parametrize(
    ("history", "settings", "error", "message"),
    [
        ([], {}, cg.WalkError, "the history is empty"),
        ("music", {}, cg.WalkError, "the history is 'music'; give a list of node labels"),
        (3, {}, cg.WalkError, "the history is 3"),
        (["musik"], {}, cg.UnknownNodeError, "the graph has no node 'musik'; the nearest names are 'music'"),
        ([["music"], ["musik"]], {}, cg.UnknownNodeError, "history 1: the graph has no node 'musik'"),
        ([["music"], []], {}, cg.WalkError, "history 1: the history is empty"),
        (["music", ["logic"]], {}, cg.UnknownNodeError, "the graph has no node ['logic']"),
        (["music"], {"k": 0}, cg.SettingError, "k is 0"),
        (["music"], {"alpha": 1}, cg.SettingError, "alpha is 1; give a number from 0 up to"),
        (["music"], {"alpha": float("nan")}, cg.SettingError, "alpha is nan"),
        (["music"], {"candidates": "near"}, cg.UnknownNameError, "candidates is 'near'; the choices are last"),
        (["music"], {"candidates": ["logic"]}, cg.UnknownNameError, "candidates is ['logic']"),
        (["music"], {"weights": {"joy": 1}}, cg.SettingError, "there is a weight for 'joy'; the components are"),
    ],
)
def test_bad_input(history, settings, error, message):
    with pytest.raises(error) as caught:
        cg.recommend(cg.toys.library(), history, **settings)
    assert message in str(caught.value)


def test_graphs_without_edges_and_other_objects_are_refused():
    with pytest.raises(cg.GraphError, match="3 nodes but no edges"):
        cg.recommend(cg.Graph.from_edges([], nodes=[0, 1, 2]), [0])
    with pytest.raises(cg.GraphError, match="not a curiograph Graph"):
        cg.Recommender("links.tsv")
