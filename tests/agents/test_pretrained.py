"""Agents as files: round trips are bit-identical, and files that are no agents are rejected."""

from __future__ import annotations

import json

import numpy as np
import pytest
from safetensors.numpy import save

import curiograph as cg
from curiograph.agents.agent_names import as_agent
from curiograph.agents.gnn import GnnAgent, GnnShape
from curiograph.agents.planner import PlannerAgent, PlannerShape
from curiograph.agents.pretrained import AGENT_FILE
from curiograph.exploration.mdp import begin
from oracles import reference

CARD = {"reward": "igt", "licence": "MIT", "note": "Neugier, 好奇心"}
AGENTS = [
    GnnAgent(GnnShape(inner_degree=True, width=4), reference.draw_weights(GnnShape(True, True, width=4).weights(), 0)),
    PlannerAgent(PlannerShape(fan=8), reference.draw_weights(PlannerShape().weights(), 2)),
]
BOTH = pytest.mark.parametrize("agent", AGENTS, ids=["gnn", "planner"])


@BOTH
def test_round_trip_is_bit_identical(agent, tmp_path):
    file = tmp_path / AGENT_FILE
    saved = cg.save_agent(agent, file, CARD)
    for source in (file, str(file), tmp_path, str(tmp_path)):
        loaded = cg.load_agent(source)
        assert (type(loaded), loaded.name, loaded.shape) == (type(agent), agent.name, agent.shape)
        assert loaded.card == saved.card == json.loads(file.with_suffix(".json").read_text())
        assert loaded.card | CARD == loaded.card
        assert as_agent(source).name == agent.name
    for name, array in agent.network.items():
        assert loaded.network[name].tobytes() == array.tobytes()
    batch = begin([cg.toys.library()], [range(12)], "igt", 5)
    assert loaded.scores(batch).tobytes() == agent.scores(batch).tobytes()
    first = file.read_bytes()
    cg.save_agent(loaded, file)
    assert file.read_bytes() == first
    file.with_suffix(".json").unlink()
    assert cg.load_agent(file).card == saved.card  # the copy is for people


def make_file(changes: dict, **arrays: np.ndarray) -> bytes:
    """Return the file of an agent with a changed card and changed arrays."""
    card = {"format": 1, "kind": "gnn", "shape": vars(AGENTS[0].shape), "name": "a"} | changes
    return save(dict(AGENTS[0].network) | arrays, metadata={"curiograph": json.dumps(card)})


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"an agent, honestly\n" * 100,
        make_file({})[:-100],
        save(dict(AGENTS[0].network), metadata={"curiograph": "{"}),
        make_file({"format": 2}),
        make_file({"kind": "tree"}),
        make_file({}, scale=np.ones(2, np.float32)),
    ],
)
def test_files_that_are_no_agents(content, tmp_path):
    file = tmp_path / "agent.safetensors"
    file.write_bytes(content)
    with pytest.raises(cg.FileFormatError, match=r"agent\.safetensors") as caught:
        cg.load_agent(file)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("source", ["nobody", "", "a" * 5000, "a\0b", "no/such/folder"])
def test_unknown_agents(source):
    with pytest.raises(cg.errors.UnknownNameError, match="igt-rg"):
        cg.load_agent(source)


def test_bad_saves(tmp_path):
    for agent, path, words in (
        ("greedy", tmp_path / "a.safetensors", "'greedy'"),
        (PlannerAgent(), tmp_path / "a.safetensors", "PlannerAgent"),
        (AGENTS[0], tmp_path / "a.json", r"a\.json"),
    ):
        with pytest.raises(cg.SettingError, match=words):
            cg.save_agent(agent, path)
    assert not list(tmp_path.iterdir())
