"""Evaluations with given returns."""

from __future__ import annotations

import numpy as np

import curiograph as cg


def create_evaluation(*by_graph: float) -> cg.Evaluation:
    """Create an evaluation with two equal returns on each graph."""
    return cg.Evaluation("someone", "igt", 10, [np.array([value, value]) for value in by_graph])
