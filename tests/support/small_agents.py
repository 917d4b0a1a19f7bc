"""Small agents with random weights, in place of the shipped ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from curiograph.agents.gnn import GnnAgent, GnnShape
from curiograph.agents.planner import PlannerAgent, PlannerShape
from curiograph.agents.pretrained import save_agent
from curiograph.graph.generators import FAMILIES

KINDS = {
    "": (GnnAgent, GnnShape(width=4)),
    "-paper": (GnnAgent, GnnShape(width=4)),
    "-planner": (PlannerAgent, PlannerShape(fan=8)),
}


def save_random_agents(folder: Path) -> None:
    """Save an agent of each kind for every cell of Table 1."""
    for reward in ("igt", "cpt"):
        for family in FAMILIES:
            for ending, (agent_type, shape) in KINDS.items():
                rng = np.random.default_rng(len(ending))
                weights = {name: rng.normal(size=size).astype(np.float32) for name, size in shape.weights().items()}
                name = f"{reward}-{family}{ending}"
                save_agent(agent_type(shape, weights, name), folder / f"{name}.safetensors")
