"""Kernels of mixtures, compared with plain loops."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from curiograph import kernels
from curiograph.exploration.mdp import Candidates
from curiograph.human.choices.choice_sets import ChoiceRanks
from reproduction import mixture_kernels as mixtures


@given(st.lists(st.integers(2, 9), min_size=1, max_size=6), st.integers(0, 99))
def test_ranks_follow_the_definition(counts, seed):
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    rows = rng.integers(0, 4, (5, offsets[-1])).astype(np.float32)  # with ties
    options = rng.integers(0, 5, (3, 3))
    weights = rng.integers(-2, 3, (4, 3)).astype(np.float32)
    means = mixtures.average_ranks(offsets, rows, options, weights)
    candidates = Candidates(offsets, np.arange(offsets[-1], dtype=np.int32))
    for o, option in enumerate(options):
        for w, weight in enumerate(weights):
            scores = (rows[option].astype(np.float64) * weight[:, None]).sum(axis=0)
            wanted = ChoiceRanks.from_scores(scores, candidates, offsets[:-1]).percentile
            np.testing.assert_allclose(mixtures.rank_choices(offsets, rows, option, weight), wanted)
            np.testing.assert_allclose(means[o, w], wanted.mean())


def test_sampled_candidates_are_distinct_and_uniform():
    count, size, most = 3000, 12, 4
    nodes = np.tile(np.arange(size, dtype=np.int32), count)
    offsets = np.arange(count + 1) * size
    chosen = offsets[:-1] + np.arange(count) % size
    streams = kernels.random.make_streams(np.uint64(0), 0, count)
    new_offsets, sampled = mixtures.sample_candidates(offsets, nodes, chosen, most, streams)
    table = sampled.reshape(count, most + 1)
    assert np.diff(new_offsets).tolist() == [most + 1] * count
    assert table[:, 0].tolist() == nodes[chosen].tolist()
    assert all(len(set(row)) == most + 1 for row in table.tolist())
    others = np.bincount(table[:, 1:].ravel(), minlength=size)
    assert np.all(np.abs(others - count * most / size) < 5 * np.sqrt(count * most / size))
    every = mixtures.sample_candidates(offsets, nodes, chosen, size, streams)[1].reshape(count, size)
    assert np.all(np.sort(every, axis=1) == np.arange(size))
