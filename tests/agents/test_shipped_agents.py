"""Shipped agents are those that `make train-all` builds, with the returns of their cards."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

import curiograph as cg
from curiograph.graph.generators import FAMILIES
from curiograph.training.config import describe_settings, make_settings

SCRIPT = Path(__file__).parents[2] / "scripts" / "train_all.py"

_NO_TORCH = """
import sys
sys.modules["torch"] = None
import curiograph as cg
for name in cg.shipped_agents():
    walk = cg.explore(cg.toys.library(), agent=name, reward=name[:3], start="music", steps=6, seed=0)
    assert len(walk) == 6
assert cg.explore(cg.toys.library(), agent="horizon", reward="cpt", start="music", steps=6).agent == "horizon"
try:
    cg.train(cg.toys.library())
except cg.MissingExtraError as error:
    print(error)
"""


def load_trainings() -> dict[str, list[str]]:
    spec = importlib.util.spec_from_file_location("train_all", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return dict(module.list_trainings())


def test_all_agents_are_shipped():
    cells = {f"{reward}-{family}" for reward in ("igt", "cpt") for family in FAMILIES}
    wanted = {f"{cell}{kind}" for cell in cells for kind in ("", "-paper", "-horizon", "-planner")}
    wanted |= {f"{reward}-all-{kind}" for reward in ("igt", "cpt") for kind in ("horizon", "planner")}
    shipped = [name for name in load_trainings() if "-seed" not in name]  # of several seeds the first one is shipped
    assert set(cg.shipped_agents()) == wanted == set(shipped)


@pytest.mark.parametrize("name", cg.shipped_agents())
def test_card_has_the_training_command(name):
    card = cg.load_agent(name).card
    assert card["command"] == " ".join(["curiograph train", *load_trainings()[name], "--name", name])
    assert card["training"]["seed"] == 0
    assert card["licence"] == "MIT"
    changes = card["training"]["settings"]
    known = make_settings(card["kind"], "paper" if name.endswith("paper") else "best", {})
    assert set(changes) == set(describe_settings(known))
    assert changes["steepest"] == known.steepest
    assert all(found["walks"] == 1500 for found in card["returns"].values())


@pytest.mark.parametrize(
    "name", ["igt-ws", "cpt-rg", "igt-ws-horizon", "cpt-er-horizon", "igt-rg-planner", "cpt-ba-planner"]
)
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
    assert done.stdout.strip() == "Training agents need torch, which is not installed: pip install 'curiograph[train]'."


def test_horizon_uses_the_agent_of_the_reward():
    g = cg.toys.library()
    for reward in ("igt", "cpt"):
        one = cg.explore(g, agent="horizon", reward=reward, start="music", steps=8, seed=0)
        same = cg.explore(g, agent=f"{reward}-all-horizon", reward=reward, start="music", steps=8, seed=0)
        assert one.nodes == same.nodes
    with pytest.raises(cg.AgentError, match="no horizon agent was trained for the reward"):
        cg.explore(g, agent="horizon", reward=lambda subgraph: 0.0, start="music", steps=3)


def check_planner_network(agent):
    """Compare the predictions of a planner with those of the network that was trained."""
    import torch

    from curiograph.agents.planner import compute_features
    from curiograph.training.value_learning import PlannerNetwork

    batch = cg.begin(cg.generate_split("ba", train=0, val=0, test=2, seed=5).test, [[0, 9], [3]], "igt", 10)
    network = PlannerNetwork()
    network.load_state_dict({key: torch.from_numpy(array) for key, array in agent.network.items()})
    features, unit = compute_features(batch, agent.shape.fan)
    mean, spread = network.scale.tolist()
    slopes = mean + spread * network(torch.from_numpy(features))[1].detach().numpy()
    left = batch.steps - 1 - batch.lengths[batch.candidates.walks]
    expected = batch.candidate_values * (1 + left) + slopes * unit * left * (left + 1) / 2
    assert agent.scores(batch) == pytest.approx(expected, rel=1e-4, abs=1e-3)


@pytest.mark.parametrize("name", cg.shipped_agents())
def test_numpy_and_torch_agree(name):
    torch = pytest.importorskip("torch", reason="training needs torch: make test installs it")
    from curiograph.agents.gnn import GnnAgent, Subgraphs
    from curiograph.agents.horizon import Neighborhoods
    from curiograph.training.networks import GnnNetwork, HorizonNetwork

    agent = cg.load_agent(name)
    if name.endswith("planner"):
        check_planner_network(agent)
        return
    batch = cg.begin(cg.generate_split("ba", train=0, val=0, test=2, seed=5).test, [[0, 9], [3]], "igt", 10)
    for _ in range(4):
        batch = batch.step(batch.best(agent.scores(batch)))
    c, walks = batch.candidates, (batch.stack, batch.nodes, batch.lengths)
    network = (GnnNetwork if isinstance(agent, GnnAgent) else HorizonNetwork)(agent.shape)
    network.load_state_dict({key: torch.from_numpy(array) for key, array in agent.network.items()})
    if isinstance(agent, GnnAgent):
        expected = network(Subgraphs.read(agent.shape, *walks, c.offsets, c.nodes)).detach() * network.scale
    else:
        ahead = agent.shape.ahead(batch.lengths, batch.steps)
        level, spread = network.scale
        values = network(Neighborhoods.read(agent.shape, *walks, ahead, c.offsets, c.nodes)).detach()
        expected = level * torch.from_numpy(ahead[c.walks]) + spread * values
    assert agent.scores(batch) == pytest.approx(expected.numpy(), rel=1e-5, abs=1e-5)


def test_published_table1_meets_its_targets():
    """The stored table 1, computed by `make results` with the shipped agents."""
    run = json.loads((Path(__file__).parents[2] / "docs" / "results" / "table1.json").read_text())
    assert all(cell["gnn_above_paper"] and cell["gnn_above_greedy"] for cell in run["cells"])
    shares = {agent: [cell["shares"][agent]["share"] for cell in run["cells"]] for agent in ("horizon", "horizon+beam")}
    assert len(shares["horizon"]) == 8
    assert min(shares["horizon"]) >= 0.8
    assert sum(shares["horizon"]) / 8 >= 0.9
    assert sum(shares["horizon+beam"]) / 8 > 0.95
