"""The benchmark suite: frozen tasks, tracks, times, results against definitions, and verification of stored walks."""

from __future__ import annotations

import json
import time

import networkx
import numpy as np
import pytest

import curiograph as cg
from curiograph.agents.suite import GROUPS, SuiteResult, load_graph, read_tasks
from curiograph.errors import AgentError, FileFormatError, SettingError, UnknownNameError

WS = ["igt-ws-50-10", "cpt-ws-50-10"]


def test_stored_tasks():
    tasks = read_tasks()
    assert [sum(task.group == group for task in tasks.values()) for group in GROUPS] == [8, 32, 2 * (16 + 8) + 6]
    for task in tasks.values():
        walks = sum(map(len, task.starts))
        assert walks == len(task.random) == len(task.ceiling) == len(task.clusters) > 1
        assert np.all(np.array(task.ceiling) >= task.random), task.name
        assert np.mean(task.ceiling) > np.mean(task.random), task.name
        assert task.ceiling_by, task.name
        if task.group != "real":
            task.begin(None)  # its hash is right


def test_graphs_are_of_their_families_and_not_for_training():
    seen = {graph.indices.tobytes() for graph in cg.generate_split("ba", train=30, val=10, test=10, seed=0).train}
    assert not any(load_graph(f"ba-50-{k}", None).indices.tobytes() in seen for k in range(10))
    for nodes in (50, 500, 5000):
        counts = {family: load_graph(f"{family}-{nodes}-0", None).num_edges for family in ("ws", "ba")}
        assert counts == {"ws": 2 * nodes, "ba": 4 * (nodes - 4)}
        assert networkx.is_connected(load_graph(f"er-{nodes}-0", None).to_networkx())


def test_shares_and_errors_against_the_jackknife():
    greedy, beam = (cg.suite(name, WS) for name in ("greedy", "beam:4"))

    def compute_share(result, name, left_out=None):
        task = read_tasks()[name]
        kept = np.array(task.clusters) != left_out
        random, ceiling = np.array(task.random)[kept].mean(), np.array(task.ceiling)[kept].mean()
        return (result.returns[name][kept].mean() - random) / (ceiling - random)

    def jackknife(compute):
        values = [compute(f"ws-50-{k}") for k in range(10)]
        return np.sqrt(9 / 10 * np.sum((values - np.mean(values)) ** 2))

    for row in beam.to_dict()["rows"]:
        name = row["task"]
        assert row["share"] == pytest.approx(compute_share(beam, name))
        assert row["share_sem"] == pytest.approx(jackknife(lambda k, name=name: compute_share(beam, name, k)), rel=0.03)
    assert beam.share == pytest.approx(np.mean([compute_share(beam, name) for name in WS]))
    differences = beam.compare(greedy).set_index("tasks")
    assert list(differences.index) == [*WS, "igt families 10", "cpt families 10", "all"]
    assert differences["difference"]["all"] == pytest.approx(beam.share - greedy.share)
    for label, names in {WS[0]: WS[:1], "all": WS}.items():
        sem = jackknife(
            lambda k, n=names: np.mean([compute_share(beam, w, k) - compute_share(greedy, w, k) for w in n])
        )
        assert differences["sem"][label] == pytest.approx(sem, rel=0.03)
    assert not np.any(beam.compare(beam)[["difference", "sem"]])


def test_score_at_a_budget():
    tasks = read_tasks()
    every = {name: np.array(task.ceiling) for name, task in tasks.items()}
    times = {name: 5.0 if task.reward == "igt" else 500.0 for name, task in tasks.items()}
    result = SuiteResult("best", "search", {}, every, times)
    assert (result.share, result.score()) == pytest.approx((1, 1))
    assert [result.score(budget) for budget in (4, 10, 100, 1000)] == pytest.approx([0, 7 / 13, 7 / 13, 1])
    part = SuiteResult("best", "search", {}, {name: every[name] for name in WS[:1]}, {WS[0]: 5.0})
    assert (part.share, part.score()) == pytest.approx((1, 1 / 13 / 4))


# ---- tracks and times -----------------------------------------------------------------------------------------------


class Degrees(cg.Agent):
    """Prefers many or few links, depending on the reward, after 2 ms of work."""

    name = "degrees"

    def __init__(self):
        self.cache = {}
        self.rewards = set()

    def scores(self, exploration):
        key = exploration.nodes.tobytes()
        if key not in self.cache:
            end = time.process_time() + 0.002
            while time.process_time() < end:
                pass
            self.rewards.add(exploration.reward.name)
            degrees = np.diff(exploration.stack.out.indptr)[exploration.candidates.nodes]
            self.cache[key] = degrees if exploration.reward.name == "igt" else -degrees
        return self.cache[key]


def test_a_cache_is_timed_when_it_is_filled():
    agent = Degrees()
    result = cg.suite(agent, WS)
    assert agent.rewards == {"igt", "cpt"}
    for name in WS:
        assert result.microseconds[name] * 200 * 9 >= 9 * 2000  # nine steps of 200 walks


@pytest.mark.parametrize(
    ("agent", "track"), [("random", "learned"), ("igt-ws", "learned"), ("greedy", "search"), ("planner:1", "search")]
)
def test_the_track_is_found_out(agent, track):
    assert cg.suite(agent, WS[:1]).track == track


@pytest.mark.parametrize("asked", ["candidate_values", "values", "tracker"])
def test_the_learned_track_refuses_rewards(asked):
    class Late(Degrees):
        def scores(self, exploration):
            if exploration.stack.starts[-1] > 300:  # more than the graph of the warm-up
                getattr(exploration, asked)
            return np.zeros(len(exploration.candidates.nodes))

    with pytest.raises(AgentError, match="learned"):
        cg.suite(Late(), WS[:1])


def test_learned_walks_are_those_of_the_full_exploration():
    result = cg.suite("cpt-ws", WS[1:])
    full = cg.load_agent("cpt-ws").run(read_tasks()[WS[1]].begin(None))
    assert np.array_equal(result.returns[WS[1]], full.returns)


def test_agents_by_task():
    result = cg.suite({"igt": "greedy", "igt-ws": "random", "cpt-ba": "max-degree"}, ["families"])
    assert (result.agent, result.track) == ("greedy, random, max-degree", "search")
    assert list(result.returns) == [*(f"igt-{family}-50-10" for family in ("rg", "ws", "ba", "er")), "cpt-ba-50-10"]
    assert np.array_equal(result.returns[WS[0]], cg.suite("random", WS[:1]).returns[WS[0]])


@pytest.mark.parametrize("wrong", ["stops", "jumps"])
def test_walks_of_outside_agents_are_checked(wrong):
    class Cheat(cg.Agent):
        name = "cheat"

        def scores(self, exploration):
            return np.zeros(len(exploration.candidates.nodes))

        def run(self, exploration):
            ended = exploration if wrong == "stops" else super().run(exploration)
            ended.nodes[:, 5] = ended.nodes[:, 0]
            ended.rewards[:] = 100.0
            return ended

    with pytest.raises(AgentError, match="'cheat'"):
        cg.suite(Cheat(), ["igt-rg-50-10"])


# ---- stored results -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("suite") / "greedy.json"
    result = cg.suite("greedy", [*WS, "igt-ba-500-50"])
    result.save(path)
    return path, result


def test_a_stored_result_is_recomputed(stored):
    path, result = stored
    loaded = SuiteResult.load(path)
    assert loaded.to_dict() == result.to_dict()
    assert loaded.walks == result.walks
    walk = loaded.walks["igt-ba-500-50"][-1]
    assert len(walk) == 50
    assert cg.measure(load_graph("ba-500-3", None), walk).beta1[1:].sum() == loaded.returns["igt-ba-500-50"][-1]


def edit(change):
    def apply(record):
        change(record["tasks"][WS[0]])

    return apply


FORGERIES = {
    "mean": (edit(lambda run: run.update(mean=run["mean"] + 0.01)), "mean"),
    "nan": (edit(lambda run: run.update(mean=float("nan"))), "nan"),
    "no mean": (edit(lambda run: run.pop("mean")), "mean"),
    "no time": (edit(lambda run: run.update(microseconds=0)), "microseconds"),
    "no number": (edit(lambda run: run.update(microseconds=None)), WS[0]),
    "jump": (edit(lambda run: run["walks"][7].__setitem__(slice(8, 10), run["walks"][7][:2])), "walk 7"),
    "stop": (edit(lambda run: run["walks"][7].pop()), "walk 7"),
    "longer": (edit(lambda run: run["walks"][7].append(0)), "walk 7"),
    "start": (edit(lambda run: run["walks"][7].reverse()), "walk 7"),
    "other graph": (edit(lambda run: run["walks"][7].__setitem__(3, 50)), "walk 7"),
    "text": (edit(lambda run: run["walks"][7].__setitem__(3, "1")), "walk 7"),
    "fewer": (edit(lambda run: run["walks"].pop()), "200 walks"),
    "task": (lambda record: record["tasks"].update(other={}), "'other'"),
    "version": (lambda record: record.update(suite="v1"), "'v1'"),
    "track": (lambda record: record.update(track="best"), "'best'"),
    "nothing": (lambda record: record.update(tasks={}), "0 tasks"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_forged_results_are_refused(forgery, stored, tmp_path):
    change, message = FORGERIES[forgery]
    record = json.loads(stored[0].read_text())
    change(record)
    (tmp_path / "forged.json").write_text(json.dumps(record))
    with pytest.raises(FileFormatError, match=message):
        SuiteResult.load(tmp_path / "forged.json")


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", "null", '{"tasks": {}}', "[" * 100_000])
def test_malformed_results_are_refused(text, tmp_path):
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(FileFormatError, match=r"bad\.json"):
        SuiteResult.load(tmp_path / "bad.json")


def test_the_name_in_a_file_cannot_control_a_terminal(stored, tmp_path):
    record = {**json.loads(stored[0].read_text()), "agent": "best\x1b[2J\n\x07of all"}
    (tmp_path / "named.json").write_text(json.dumps(record))
    assert SuiteResult.load(tmp_path / "named.json").agent == r"best\x1b[2J \x07of all"


def test_bad_requests(tmp_path, monkeypatch):
    monkeypatch.setenv("CURIOGRAPH_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(UnknownNameError, match="'igt-xy-50'"):
        cg.suite("greedy", ["igt-xy-50"])
    for tasks in (WS[0], []):
        with pytest.raises(SettingError, match="list of names"):
            cg.suite("greedy", tasks)
    with pytest.raises(SettingError, match="no task in common"):
        cg.suite("greedy", WS[:1]).compare(cg.suite("greedy", ["cpt-ws-50-10"]))
    with pytest.raises(UnknownNameError, match="'itg'"):
        cg.suite({"igt": "greedy", "itg": "greedy"})
    with pytest.raises(SettingError, match="'cpt'"):
        cg.suite({"cpt": "greedy"}, WS[:1])
    with pytest.raises(cg.GraphError, match="'animal-lake'"):
        cg.suite("greedy", ["igt-animal-lake-10"])
    (tmp_path / "real-networks").mkdir()
    (tmp_path / "real-networks" / "animal-lake.tsv").write_text("a\tb\nb\tc\n")
    with pytest.raises(cg.GraphError, match="'igt-animal-lake-10'"):
        cg.suite("greedy", ["igt-animal-lake-10"])
