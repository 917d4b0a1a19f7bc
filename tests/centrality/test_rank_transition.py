"""The rank transition against its formula."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from curiograph import kernels


def compute_probabilities(scores: Any, p_g: float) -> np.ndarray:
    return kernels.rank_probabilities.compute_probabilities(np.array([0, len(scores)]), np.array(scores), p_g)


@pytest.mark.parametrize("p_g", [0.0, 1e-300, 0.2, 0.999999999, 1.0])
def test_rank_transition_is_the_formula(p_g):
    rank = np.array([1, 3, 0, 2])
    wanted = p_g ** rank.astype(float)
    np.testing.assert_allclose(compute_probabilities([3.0, -1.0, 10.0, 0.5], p_g), wanted / wanted.sum(), rtol=1e-9)
