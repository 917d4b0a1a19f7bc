"""`pareto` and `real` with small settings."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from curiograph.paper import pareto, real_networks
from curiograph.paper.experiment import redraw_figures
from curiograph.paper.networks import list_networks, read_network
from curiograph.paper.pareto import Front, Measurement
from curiograph.paper.timing import time_decisions

import curiograph as cg
from curiograph.agents import pretrained
from curiograph.agents.heuristics import GreedyAgent, RandomAgent
from support.small_agents import KINDS, save_random_agents

SMALL = pareto.Settings(plain_widths=(1, 4), planner_widths=(1, 2), graphs=2, episodes=2, real_episodes=3, steps=4,
                        repeats=1)  # fmt: skip


@pytest.fixture(scope="module")
def all_agents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of small random agents, with generalists."""
    folder = tmp_path_factory.mktemp("all")
    save_random_agents(folder)
    for reward in ("igt", "cpt"):
        for ending in ("-horizon", "-planner"):
            agent_type, shape = KINDS[ending]
            rng = np.random.default_rng(1)
            weights = {name: rng.normal(size=size).astype(np.float32) for name, size in shape.weights().items()}
            name = f"{reward}-all{ending}"
            pretrained.save_agent(agent_type(shape, weights, name), folder / f"{name}.safetensors")
    return folder


@pytest.fixture
def shipped(all_agents: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small random agents and generalists in place of the shipped agents."""
    monkeypatch.setattr(pretrained, "_get_shipped_folder", lambda: all_agents)
    for load in (pretrained._load_generalist, pretrained._load_planner):
        load.cache_clear()
    yield
    for load in (pretrained._load_generalist, pretrained._load_planner):
        load.cache_clear()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder of datasets with two real networks."""
    folder = tmp_path / "data" / "real-networks"
    folder.mkdir(parents=True)
    for name, seed in (("ring", 1), ("roads-directed", 2)):
        edges = cg.generate("ws", 20, seed=seed).to_networkx().edges
        lines = [f"{u}\t{v}" for u, v in edges] + ([f"{v}\t{u}" for u, v in edges] if "directed" in name else [])
        (folder / f"{name}.tsv").write_text("\n".join(lines))
    return folder.parent


def create_front(*agents: tuple[str, bool, float, list[float]]) -> Front:
    measured = {name: Measurement(learned, time, np.asarray(returns)) for name, learned, time, returns in agents}
    return Front(reward="igt", graphs="rg", real=False, measurements=measured)


def test_best_agents_within_the_budget_are_compared() -> None:
    front = create_front(
        ("beam:1", False, 40.0, [1, 2, 3]),
        ("beam:2", False, 90.0, [4, 5, 6]),
        ("beam:256", False, 900.0, [9, 9, 9]),
        ("planner:1", True, 60.0, [4, 5, 7]),
        ("planner:2", True, 101.0, [8, 8, 8]),
    )
    found = {each.budget: each for each in front.comparisons}
    assert (found[50].learned, found[50].plain, found[50].verdict) == ("", "beam:1", "below")
    assert (found[100].learned, found[100].plain) == ("planner:1", "beam:2")  # planner:2 is 1 us too slow
    assert found[100].difference == pytest.approx(1 / 3)
    assert found[100].error == pytest.approx(np.std([0, 0, 1], ddof=1) / math.sqrt(3))
    assert found[100].verdict == "above"
    assert (found[400].learned, found[400].verdict) == ("planner:2", "above")


@pytest.mark.parametrize(
    ("learned", "plain", "verdict"),
    [
        ([10, 10, 9.9], [10, 10, 9.8], "above"),
        ([10, 10, 10], [10, 10, 10], "level"),
        ([10, 9.8, 9.9], [9.9, 9.9, 10], "level"),  # within the error, and the plain beam has 99 % of the widest
        ([9.8, 9.8, 9.8], [9.9, 9.9, 9.9], "below"),  # clearly less
        ([5, 4.8, 4.9], [4.9, 4.9, 5], "below"),  # within the error, but the widest beam earns more
    ],
)
def test_level_requires_a_saturated_beam(learned: list[float], plain: list[float], verdict: str) -> None:
    front = create_front(
        ("beam:8", False, 40.0, plain), ("beam:256", False, 999.0, [10, 10, 10]), ("horizon", True, 40.0, learned)
    )
    assert front.compare(50).verdict == verdict


def test_verdicts_without_agents() -> None:
    front = create_front(("beam:8", False, 70.0, [1, 1]), ("planner:1", True, 40.0, [1, 1]))
    assert [each.verdict for each in front.comparisons[:2]] == ["above", "level"]
    assert front.compare(10).verdict == "-"
    experiment = pareto.Pareto(SMALL, "here", [front])
    assert experiment.count_verdicts(real=False) == {"above": 1, "level": 3, "below": 0}
    assert experiment.remarks[0] == (
        "Published families: the best learned agent is above in 1, level in 3, below in 0 of 4 comparisons with the "
        "best plain beam."
    )


def test_pareto_on_families_and_real_networks(shipped: None, data: Path, tmp_path: Path) -> None:
    result = pareto.run(SMALL, data)
    assert [(f.reward, f.graphs, f.real) for f in result.fronts[:6]] == [
        *(("igt", family, False) for family in ("rg", "ws", "ba", "er")),
        ("igt", "ring", True),
        ("igt", "roads", True),
    ]
    front = result.fronts[0]
    assert list(front.measurements) == [
        *("beam:1", "beam:4", "planner:1", "planner:2", "horizon"),
        *("special:1", "special:2", "special horizon", "gnn"),
    ]
    assert list(result.fronts[4].measurements) == ["beam:1", "beam:4", "planner:1", "planner:2", "horizon"]
    graphs = cg.generate_split("rg", train=0, val=0, test=2, seed=0).test
    assert front.measurements["beam:4"].mean == cg.evaluate("beam:4", graphs, "igt", 4, 2, seed=0).mean
    assert "2 generated test graphs of 50 nodes each, seed 0" in result.to_markdown()
    assert "| igt | RG |" in result.to_markdown()
    assert "| cpt | roads |" in result.to_markdown()
    (tmp_path / "pareto.json").write_text(json.dumps(result.to_dict()))
    assert list(redraw_figures(tmp_path)) == ["pareto"]
    assert (tmp_path / "pareto.png").stat().st_size > 10_000
    again = pareto.Pareto.from_dict(json.loads((tmp_path / "pareto.json").read_text()))
    assert str(again.to_dict()["fronts"]) == str(result.to_dict()["fronts"])


def test_pareto_reads_the_published_graphs(no_agents: Path, tmp_path: Path) -> None:
    ring = {"nodes": [{"id": i} for i in range(6)], "links": [{"source": i, "target": (i + 1) % 6} for i in range(6)]}
    folder = tmp_path / "paper-environments"
    folder.mkdir()
    for family in ("RG", "WS", "BA", "ER"):
        document = {"train": {}, "val": {}, "test": {"0": ring, "1": ring}}
        (folder / f"synthetic_{family}_small.json").write_text(json.dumps(document))
    result = pareto.run(pareto.Settings(plain_widths=(1,), episodes=1, steps=3, repeats=1, real=False), tmp_path)
    assert result.source == "published test graphs"
    assert "No learned agent is shipped" in result.remarks[-1]
    assert result.fronts[0].measurements["beam:1"].returns.tolist() == [0.0, 0.0]


def test_shares_on_real_networks(shipped: None, data: Path, tmp_path: Path) -> None:
    result = real_networks.run(real_networks.Settings(episodes=6, steps=6, repeats=1), data)
    assert [(r.reward, r.network) for r in result.results] == [
        (w, n) for w in ("igt", "cpt") for n in ("ring", "roads")
    ]
    assert result.agents == ["greedy", "horizon", "planner", "planner:4", "portfolio"]
    for each in result.results:
        assert each.means["portfolio"] >= max(each.means["greedy"], each.means["planner:4"])
        assert each.microseconds["portfolio"] > each.microseconds["greedy"] + each.microseconds["planner:4"]
    graph = read_network(list_networks(data / "real-networks")["roads"])
    assert graph.directed
    found = result.results[3]
    means = {agent: cg.evaluate(agent, graph, "cpt", 6, 6, seed=0).mean for agent in ("random", "greedy", "beam:64")}
    assert found.shares["greedy"] == pytest.approx(
        (means["greedy"] - means["random"]) / (means["beam:64"] - means["random"])
    )
    document = result.to_dict()
    assert document["summary"]["cpt"]["greedy"]["below_greedy"] == []
    assert "| reward | agent | mean share | lowest share |" in result.to_markdown()
    (tmp_path / "real.json").write_text(json.dumps(document))
    assert list(redraw_figures(tmp_path)) == ["real"]


def test_networks_below_greedy_are_counted() -> None:
    def create(network: str, planner: float) -> real_networks.NetworkResult:
        shares = {"greedy": 0.5, "planner": planner}
        times = {"greedy": 10.0, "planner": 50.0, "beam:64": 200.0}
        return real_networks.NetworkResult("igt", network, 9, {"beam:64": 3.0}, shares, shares, times)

    result = real_networks.RealNetworks(
        real_networks.Settings(), [create("a", 0.9), create("b", 0.481), create("c", 0.479), create("d", math.nan)]
    )
    found = result.summarize("igt", "planner")
    assert found["below_greedy"] == ["c"]
    assert (found["mean"], found["lowest"], found["lowest_on"]) == (pytest.approx(0.62), 0.479, "c")
    assert found["time"] == 0.25
    assert result.remarks[0] == "planner is below greedy by more than 2 points on 1 of 4: igt c."


def test_real_networks_need_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CURIOGRAPH_DATA", raising=False)
    with pytest.raises(cg.SettingError, match="set CURIOGRAPH_DATA"):
        real_networks.run(real_networks.Settings())
    for name in ("a.tsv", "a-directed.tsv"):
        (tmp_path / name).write_text("0\t1\n")
    with pytest.raises(cg.FileFormatError, match="both as NAME"):
        real_networks.run(real_networks.Settings(), tmp_path)


def test_times_are_per_decision_and_slow_agents_are_measured_once() -> None:
    runs: list[str] = []

    class Counting(RandomAgent):
        name = "counting"

        def run(self, exploration: cg.Exploration) -> cg.Exploration:
            runs.append(f"{self.name} {len(exploration.lengths)}")
            return super().run(exploration)

    walks = cg.begin([cg.generate("er", 20, seed=1)], [[0, 3, 5]], "igt", 6, seed=2)
    timed = time_decisions({"a": Counting(), "b": GreedyAgent()}, walks, repeats=3)
    assert runs == ["counting 2", "counting 3", "counting 3", "counting 3"]
    assert np.array_equal(timed["b"].walks.returns, GreedyAgent().run(walks).returns)
    runs.clear()
    time_decisions({"a": Counting()}, walks, repeats=3, enough=0.0)
    assert runs == ["counting 2", "counting 3"]
