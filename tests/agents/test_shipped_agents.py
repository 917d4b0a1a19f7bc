"""Shipped agents: names, cards, returns, and equality with the networks that were trained."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import resources

import pytest

import curiograph as cg
from curiograph.agents.gnn import GnnAgent, Subgraphs
from curiograph.agents.planner import compute_features
from curiograph.exploration.mdp import begin
from curiograph.graph.generators import FAMILIES

SHIPPED = pytest.mark.parametrize("name", cg.shipped_agents())

_NO_TORCH = """
import sys
sys.modules["torch"] = None
import curiograph as cg
for name in ("igt-rg", "cpt-ba-paper", "igt-all-planner", "planner"):
    assert len(cg.explore(cg.toys.library(), agent=name, reward="igt", start="music", steps=6, seed=0)) == 6
try:
    cg.train(cg.toys.library())
except cg.errors.MissingExtraError as error:
    print(error)
"""


def test_all_agents_are_shipped():
    kinds = [f"{family}{kind}" for family in FAMILIES for kind in ("", "-paper", "-planner")]
    wanted = {f"{reward}-{kind}" for reward in ("igt", "cpt") for kind in [*kinds, "all-planner"]}
    assert set(cg.shipped_agents()) == wanted


@SHIPPED
def test_cards_and_contract(name):
    agent = cg.load_agent(name)
    card, (reward, family) = agent.card, name.split("-")[:2]
    assert (agent.name, card["name"], card["reward"], card["licence"]) == (name, name, reward, "MIT")
    assert (card["kind"] == "planner") == name.endswith("planner")
    assert card["command"].endswith(name)
    assert card["training"]["seed"] == 0
    tests = [*(FAMILIES if family == "all" else [family]), *(["paper-graphs"] if name.endswith("-paper") else [])]
    assert list(card["returns"]) == tests
    assert all(found["walks"] == 50 * found["graphs"] and found["mean"] > 0 for found in card["returns"].values())
    copy = resources.files("curiograph.agents") / "shipped" / f"{name}.json"
    assert json.loads(copy.read_text(encoding="utf-8")) == card
    assert cg.check_agent(name, reward=reward) is None


@pytest.mark.parametrize("name", ["igt-ws", "cpt-rg", "igt-rg-planner", "cpt-ba-planner"])
def test_returns_match_the_card(name):
    reward, family = name.split("-")[:2]
    graphs = cg.generate_split(family, train=0, val=0, test=10, seed=0).test
    found = cg.evaluate(name, graphs, reward, steps=10, episodes="all", seed=0)
    stated = cg.load_agent(name).card["returns"][family]
    assert found.mean == pytest.approx(stated["mean"], abs=4 * (found.sem_by_graph + stated["sem_by_graph"]))
    assert found.mean > cg.evaluate("greedy", graphs, reward, steps=10, episodes="all", seed=0).mean


def test_shipped_agents_run_without_torch():
    done = subprocess.run([sys.executable, "-c", _NO_TORCH], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "curiograph[train]" in done.stdout


@SHIPPED
def test_numpy_and_torch_agree(name):
    torch = pytest.importorskip("torch", reason="training needs torch: make test installs it")
    from curiograph.training.dqn import GnnNetwork
    from curiograph.training.value_learning import PlannerNetwork

    agent = cg.load_agent(name)
    network = GnnNetwork(agent.shape) if isinstance(agent, GnnAgent) else PlannerNetwork()
    network.load_state_dict({key: torch.from_numpy(array) for key, array in agent.network.items()})
    batch = begin(cg.generate_split("ba", train=0, val=0, test=2, seed=5).test, [[0, 9], [3]], "igt", 10)
    for _ in range(4):
        batch = batch.step(batch.best(agent.scores(batch)))
    c = batch.candidates
    if isinstance(agent, GnnAgent):
        read = Subgraphs.read(agent.shape, batch.stack, batch.nodes, batch.lengths, c.offsets, c.nodes)
        expected = (network(read).detach() * network.scale).numpy()
    else:
        features, unit = compute_features(batch, agent.shape.fan)
        mean, spread = network.scale.tolist()
        slopes = mean + spread * network(torch.from_numpy(features))[1].detach().numpy()
        left = batch.steps - 1 - batch.lengths[c.walks]
        expected = batch.candidate_values * (1 + left) + slopes * unit * left * (left + 1) / 2
    assert agent.scores(batch) == pytest.approx(expected, rel=1e-4, abs=1e-3)
