"""What ships is what `make train-all` builds, and it is as good as its card says."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import curiograph as cg
from curiograph.graph.families import FAMILIES

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


def recipes() -> dict[str, list[str]]:
    spec = importlib.util.spec_from_file_location("train_all", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return dict(module.recipes())


def test_every_cell_has_its_agents():
    cells = {f"{reward}-{family}" for reward in ("igt", "cpt") for family in FAMILIES}
    wanted = {f"{cell}{kind}" for cell in cells for kind in ("", "-paper", "-horizon")}
    wanted |= {"igt-all-horizon", "cpt-all-horizon"}
    assert set(cg.shipped_agents()) == wanted == set(recipes())


@pytest.mark.parametrize("name", cg.shipped_agents())
def test_the_card_repeats_the_command_that_built_it(name):
    card = cg.load_agent(name).card
    assert card["command"] == " ".join(["curiograph train", *recipes()[name], "--name", name])
    assert card["training"]["seed"] == 0
    assert card["licence"] == "MIT"
    assert all(found["walks"] == 1500 for found in card["returns"].values())


@pytest.mark.parametrize("name", ["igt-ws", "cpt-rg", "igt-ws-horizon", "cpt-er-horizon"])
def test_returns_are_those_of_the_card(name):
    reward, family = name.split("-")[:2]
    graphs = cg.generate_split(family, train=0, val=0, test=10, seed=0).test
    found = cg.evaluate(name, graphs, reward, steps=10, episodes="all", seed=0)
    stated = cg.load_agent(name).card["returns"][family]
    assert found.mean == pytest.approx(stated["mean"], abs=4 * (found.sem_by_graph + stated["sem_by_graph"]))
    assert found.mean > cg.evaluate("greedy", graphs, reward, steps=10, episodes="all", seed=0).mean


def test_they_act_without_torch():
    done = subprocess.run([sys.executable, "-c", _NO_TORCH], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "Training agents need torch, which is not installed: pip install 'curiograph[train]'."


def test_the_generalist_follows_the_reward():
    g = cg.toys.library()
    for reward in ("igt", "cpt"):
        one = cg.explore(g, agent="horizon", reward=reward, start="music", steps=8, seed=0)
        same = cg.explore(g, agent=f"{reward}-all-horizon", reward=reward, start="music", steps=8, seed=0)
        assert one.nodes == same.nodes
    with pytest.raises(cg.AgentError, match="no horizon agent was trained for the reward"):
        cg.explore(g, agent="horizon", reward=lambda subgraph: 0.0, start="music", steps=3)
