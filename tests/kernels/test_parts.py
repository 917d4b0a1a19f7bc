"""Sums over prepared parts against a dictionary."""

from __future__ import annotations

import numpy as np
import pytest

from curiograph import kernels


@pytest.mark.parametrize("squared", [False, True])
def test_sums_equal_those_of_dictionaries(squared):
    rng = np.random.default_rng(3)
    parts = [
        {int(v): np.float32(rng.random()) for v in rng.choice(20, size, replace=False)} for size in (0, 1, 5, 20, 7)
    ]
    histories = [[0], [1, 2], [], [4, 3, 2, 1], [2, 2]]
    wanted = [rng.integers(0, 20, size).astype(np.int32) for size in (3, 0, 4, 20, 6)]
    nodes = [np.asarray(sorted(part), np.int32) for part in parts]
    sums = kernels.parts.sum_parts(
        np.cumsum([0, *map(len, parts)]),
        np.concatenate(nodes),
        np.concatenate([[part[int(v)] for v in row] for part, row in zip(parts, nodes, strict=True)]).astype(
            np.float32
        ),
        np.cumsum([0, *map(len, histories)]),
        np.asarray([part for history in histories for part in history], np.int64),
        np.cumsum([0, *map(len, wanted)]),
        np.concatenate(wanted),
        squared,
        20,
    )
    expected = [
        sum(float(parts[i].get(int(v), 0.0)) ** (2 if squared else 1) for i in history)
        for history, row in zip(histories, wanted, strict=True)
        for v in row
    ]
    assert sums.tolist() == expected
