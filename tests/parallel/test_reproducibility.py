"""Results do not depend on the engine or the number of workers, and finished tasks are found again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import curiograph as cg
from curiograph.parallel import resolve_engine
from reproduction import table1
from support.ray_cluster import missing, on_cluster

WALKS = [[(start + 7 * step) % 400 for step in range(12)] for start in range(40)]
HISTORIES = [[node, (3 * node + 5) % 400] for node in range(0, 200, 5)]


def graph() -> cg.Graph:
    return cg.generate("ws", 400, seed=1)


def measured(**how: Any) -> list[bytes]:
    grown = cg.measure(graph(), WALKS, **how).grown
    return [array.tobytes() for array in (grown.betti, grown.edges, grown.bits, grown.gaps, grown.offsets)]


def evaluated(**how: Any) -> list[bytes]:
    result = cg.evaluate("igt-ws", [graph(), cg.generate("rg", 60, seed=2)], "igt", 6, 200, seed=3, **how)
    return [returns.tobytes() for returns in result.returns]


def ranked(**how: Any) -> list[bytes]:
    eta = cg.curious_pagerank(graph(), "greedy", [0.5, 0.85], HISTORIES[:8], max_walks=2_000, seed=4, **how)
    return [eta.scores.tobytes(), eta.stderr.tobytes(), np.asarray(eta.converged).tobytes()]


@pytest.mark.parametrize("work", [measured, evaluated, ranked])
def test_results_are_identical_for_one_and_two_workers_and_after_resuming(work, tmp_path, monkeypatch):
    monkeypatch.setattr("curiograph.growth.measure._TASK_COST", 10_000)
    one = work(workers=1)
    assert work(workers=2, run=tmp_path) == one
    entries = sorted(tmp_path.rglob("*.task"))
    assert len(entries) > 3
    entries[1].unlink()
    entries[2].write_bytes(entries[2].read_bytes()[:-1])
    with pytest.warns(UserWarning, match="is damaged; the task is computed again"):
        assert work(workers=1, run=tmp_path) == one
    assert work(run=tmp_path) == one


def test_another_seed_is_another_job(tmp_path):
    for seed in (0, 1):
        cg.evaluate("random", graph(), steps=4, episodes=5, seed=seed, run=tmp_path)
    assert len(list(tmp_path.glob("evaluate-*"))) == 2


def test_custom_agent_needs_a_fingerprint_for_a_run_folder(tmp_path):
    class Mine(cg.Agent):
        name = "mine"

        def scores(self, exploration):
            return np.zeros(len(exploration.candidates.nodes))

    with pytest.raises(cg.SettingError, match="attribute `fingerprint`"):
        cg.evaluate(Mine(), graph(), steps=4, episodes=5, run=tmp_path)
    Mine.fingerprint = "1"
    assert cg.evaluate(Mine(), graph(), steps=4, episodes=5, run=tmp_path).episodes == 5


def letters(subgraph: cg.Graph) -> float:
    return float(sum(ord(label) for label in subgraph.labels))


def test_labels_are_part_of_the_job_key(tmp_path):
    letters.fingerprint = "1"
    rings = [cg.Graph.from_edges([(a, b) for a, b in zip(names, names[1:] + names[:1], strict=True)])
             for names in ("abcdef", "uvwxyz")]  # fmt: skip
    kept = [cg.evaluate("greedy", ring, letters, steps=3, episodes=4, run=tmp_path).mean for ring in rings]
    assert kept == [cg.evaluate("greedy", ring, letters, steps=3, episodes=4).mean for ring in rings]


def test_graph_boundaries_are_part_of_the_job_key(tmp_path):
    three = [(0, 1), (1, 2), (0, 2)]
    alone_last = cg.Graph.from_edges(three, nodes=range(4))
    alone_first = cg.Graph.from_edges([(a + 1, b + 1) for a, b in three], nodes=range(4))
    ring = cg.Graph.from_edges(three)
    for pair in ([alone_last, ring], [ring, alone_first]):
        asked = {"reward": "cpt", "steps": 4, "episodes": "all", "fallback": "anywhere", "seed": 30}
        kept, plain = cg.evaluate("random", pair, run=tmp_path, **asked), cg.evaluate("random", pair, **asked)
        assert [returns.tolist() for returns in kept.returns] == [returns.tolist() for returns in plain.returns]


def test_error_in_a_worker_has_the_traceback(tmp_path):
    class Broken(cg.Agent):
        name, fingerprint = "broken", "1"

        def scores(self, exploration):
            raise KeyError("in my agent")

    with pytest.raises(cg.JobError) as error:
        cg.evaluate(Broken(), graph(), steps=3, episodes=300, workers=2, run=tmp_path)
    assert 'raise KeyError("in my agent")' in error.value.__notes__[0]


def test_failed_walks_are_named_and_the_others_kept(tmp_path):
    class Picky(cg.Agent):
        name, fingerprint = "picky", "1"

        def scores(self, exploration):
            if 130 in exploration.nodes[:, 0]:
                raise ValueError("not from 130")
            return np.zeros(len(exploration.candidates.nodes))

    with pytest.raises(
        cg.JobError, match=r"1 of 4 tasks of evaluate failed: picky for igt, walks 128 to 255 .*ValueEr"
    ):
        cg.evaluate(Picky(), graph(), steps=3, episodes="all", run=tmp_path)
    assert len(list(tmp_path.rglob("*.task"))) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--engine", "spark"], "the engine is 'spark'; the engines are local, ray."),
        (
            ["--address", "10.0.0.1:6379"],
            "address is '10.0.0.1:6379', but the engine is local; only ray has",
        ),
        (["--workers", "0"], "--workers"),
        (["--run", "/dev/null/x"], "--run /dev/null/x: cannot write"),
    ],
)
def test_invalid_engines_are_rejected(run, arguments, message):
    ended = run("evaluate", "--family", "rg", *arguments)
    assert ended.code == 2
    assert message in ended.err


def test_command_line_keeps_finished_tasks(run, tmp_path):
    asked = ["evaluate", "--family", "rg", "--graphs", "3", "--episodes", "60", "--json", "--run", str(tmp_path / "r")]
    first = run(*asked)
    assert first.code == 0, first.err
    assert len(list(tmp_path.rglob("*.task"))) == 2
    assert run(*asked, "--workers", "2").out == first.out


# ---- a cluster ------------------------------------------------------------------------------------------------------

DRIVER = """
import os, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_reproducibility import {work}

folder = Path(os.environ["CLUSTER_FOLDER"])
def report(message, share=None):
    if share and share > 0.15:
        (folder / "begun").touch()
print({work}(engine="ray", address=os.environ["CLUSTER_ADDRESS"], progress=report))
"""


def whole_table(engine: Any = "local", address: str | None = None, workers: int | None = None, **how: Any) -> str:
    used_engine = resolve_engine(engine, workers, address, how.pop("run", None))
    table = table1.compute(graphs=4, episodes=10, beam_episodes=3, engine=used_engine, **how)
    return json.dumps(table, sort_keys=True)


def two_hundred(**how: Any) -> str:
    histories = [[node, (3 * node + 5) % 400] for node in range(200)]
    eta = cg.curious_pagerank(graph(), "greedy", 0.85, histories, max_walks=4_000, seed=4, **how)
    return eta.scores.tobytes().hex()[::97] + eta.stderr.tobytes().hex()[::97] + str(eta.walks)


@pytest.mark.long
@pytest.mark.skipif(missing() is not None, reason=str(missing()))
@pytest.mark.parametrize("work", [whole_table, two_hundred])
@pytest.mark.parametrize("kill_after", [None, 1.0])
def test_two_nodes_give_identical_results_even_if_one_is_killed(work, kill_after):
    script = DRIVER.format(tests=str(Path(__file__).parent), work=work.__name__)
    driven = on_cluster(script, kill_after, timeout=900)
    assert driven.code == 0, driven.err
    assert driven.out.strip() == work(workers=1)
