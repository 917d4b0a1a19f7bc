"""Scores in single precision: what differs by noise ties, what differs by more does not."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg

BATCH = cg.begin([cg.toys.complete(6)], [range(6)], "igt", 4)  # six walks of five candidates


@given(st.lists(st.integers(-5, 5), min_size=30, max_size=30), st.integers(0, 99))
def test_noise_ties_and_differences_stay(levels, seed):
    clean = np.asarray(levels, float)
    noisy = clean + np.random.default_rng(seed).uniform(-1e-7, 1e-7, 30) * np.abs(clean)
    tied = BATCH.merge_ties(noisy, 5e-6)
    assert np.allclose(tied, noisy, rtol=1e-5)
    for walk in range(6):
        mine, wanted = tied[5 * walk : 5 * walk + 5], clean[5 * walk : 5 * walk + 5]
        assert np.array_equal(mine[:, None] == mine, wanted[:, None] == wanted)
        assert np.array_equal(np.argsort(mine, kind="stable"), np.argsort(wanted, kind="stable"))


def test_no_candidates_no_scores():
    assert len(BATCH.rows(np.empty(0, np.int64)).merge_ties(np.empty(0), 5e-6)) == 0
