"""What a learner's saved state must be like before the learner goes on from it: kernels do not check bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

State = dict[str, NDArray[Any]]


def check_state(state: State, mine: State, capacity: int, graphs: int, nodes: int) -> None:
    """Raise ValueError or KeyError where a state is not one of this learner.

    Parameters
    ----------
    mine : a state of the learner itself, to compare with.
    capacity : rows that the learner keeps at most.
    graphs, nodes : how many there are.
    """
    _check_kinds(state, mine)
    _check_counts(state, mine, capacity)
    longest = mine["replay.nodes"].shape[1]
    bounds = {
        "walks.lengths": (1, longest),
        "walks.graphs": (0, graphs - 1),
        "replay.length": (1, longest),
        "replay.counted": (1, longest),
        "replay.ahead": (0, longest),
        "replay.count": (0, mine["replay.options"].shape[1] if "replay.options" in mine else 0),
        "replay.options": (0, nodes - 1),
    }
    for name, (least, most) in bounds.items():
        if name in mine and np.any((state[name] < least) | (state[name] > most)):
            raise ValueError(f"its {name} is not from {least} to {most}")
    _check_visits(state["walks.nodes"], state["walks.lengths"], nodes)
    _check_visits(state["replay.nodes"], state.get("replay.counted", state["replay.length"]), nodes)


def _check_kinds(state: State, mine: State) -> None:
    for name, array in mine.items():
        rows = 1 if name.startswith("replay.") else 0  # as many as were kept
        if state[name].dtype != array.dtype or state[name].shape[rows:] != array.shape[rows:]:
            raise ValueError(f"its {name} is {state[name].dtype} {state[name].shape}")


def _check_counts(state: State, mine: State, capacity: int) -> None:
    *counts, steps = state["counts"].tolist()
    if min(counts) < 0 or steps != mine["counts"][-1]:
        raise ValueError(f"it counts {counts}, and {steps} steps a walk")
    rows = {len(state[name]) for name in mine if name.startswith("replay.")}
    if rows != {min(counts[-1], capacity)}:
        raise ValueError(f"it holds {sorted(rows)} rows to learn from, of {counts[-1]}")


def _check_visits(walks: NDArray[Any], lengths: NDArray[Any], nodes: int) -> None:
    taken = np.arange(walks.shape[1]) < lengths[:, None]
    if np.any(taken & ((walks < 0) | (walks >= nodes))):
        raise ValueError("its walks visit nodes that the graphs do not have")
