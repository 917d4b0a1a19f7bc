"""Synthetic walks with returns, jumps and several sessions per person, and choices in tables."""

from __future__ import annotations

import numpy as np
import pandas as pd

from curiograph.graph.graph import Graph
from curiograph.human.trajectories import Trajectories


def wander(graph: Graph, rng: np.random.Generator, people: int = 4, steps: int = 12, *, jump: float = 0.1):
    """Simulate random walks of people with one to three sessions each, some of which have targets."""
    lists, users, targets = [], [], []
    for person in range(people):
        for _ in range(int(rng.integers(1, 4))):
            walk = [int(rng.integers(graph.num_nodes))]
            for _ in range(steps):
                near = graph.neighbors(graph.label(walk[-1]))
                if len(walk) > 1 and rng.random() < 0.2:
                    walk.append(walk[-2])
                elif len(near) == 0 or rng.random() < jump:
                    walk.append(int(rng.integers(graph.num_nodes)))
                else:
                    walk.append(graph.position(near[int(rng.integers(len(near)))]))
            lists.append([graph.label(node) for node in walk])
            users.append(f"p{person}")
            targets.append(graph.label(int(rng.integers(graph.num_nodes))) if rng.random() < 0.8 else None)
    return Trajectories.from_walks(lists, users=users, targets=targets, graph=graph)


def draw_rows(rng: np.random.Generator, people: int = 3, length: int = 12) -> list[dict]:
    """Draw choices in a task with uncertain outcomes, a terminal state, sessions and missing outcomes."""
    states = [f"s{number}" for number in range(int(rng.integers(2, 5)))]
    own = {state: [f"{letter}" for letter in "abc"[: int(rng.integers(1, 4))]] for state in states}
    rows = []
    for person in range(people):
        state = states[0]
        session = 0
        for _ in range(length):
            options = sorted(rng.permutation(own[state])[: int(rng.integers(1, len(own[state]) + 1))].tolist())
            drawn = rng.random()
            outcome = None if drawn < 0.1 else "end" if drawn < 0.2 else states[int(rng.integers(len(states)))]
            rows.append(
                {
                    "user": f"p{person}",
                    "session": session,
                    "state": state,
                    "options": options,
                    "chosen": options[int(rng.integers(len(options)))],
                    "outcome": outcome,
                }
            )
            if outcome in (None, "end"):
                session += int(rng.random() < 0.5)
                state = states[int(rng.integers(len(states)))]
            else:
                state = outcome
    return rows


def as_frame(rows: list[dict]) -> pd.DataFrame:
    """Return rows with options as texts."""
    frame = pd.DataFrame(rows)
    return frame.assign(options=frame["options"].map(";".join))
