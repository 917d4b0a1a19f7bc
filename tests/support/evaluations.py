"""Evaluations with given returns."""

from __future__ import annotations

import numpy as np

from curiograph.agents.evaluate import Evaluation


def create_evaluation(*by_graph: float) -> Evaluation:
    """Create an evaluation with two equal returns on each graph."""
    return Evaluation("someone", "igt", 10, [np.array([value, value]) for value in by_graph])
