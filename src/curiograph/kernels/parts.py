"""Sums over the prepared parts of a history."""

from __future__ import annotations

import numpy as np

from curiograph.kernels.jit import kernel


@kernel
def sum_parts(part_offsets, nodes, values, history_offsets, history_parts, wanted_offsets, wanted, squared, num_nodes):
    """Return the sum of a value over the parts of each history, for the wanted nodes of that history.

    Part `i` has `values` of the `nodes` from `part_offsets[i]` to `part_offsets[i + 1]`; history `h` consists of the
    parts in `history_parts` from `history_offsets[h]` on, and its wanted nodes are in `wanted` from `wanted_offsets[h]`
    on. A node without a value counts as zero. If `squared`, the squares of the values are summed.
    """
    sums = np.empty(wanted.shape[0])
    dense = np.zeros(num_nodes)
    for history in range(history_offsets.shape[0] - 1):
        first, last = history_offsets[history], history_offsets[history + 1]
        for i in range(first, last):
            part = history_parts[i]
            for j in range(part_offsets[part], part_offsets[part + 1]):
                value = np.float64(values[j])
                dense[nodes[j]] += value * value if squared else value
        for i in range(wanted_offsets[history], wanted_offsets[history + 1]):
            sums[i] = dense[wanted[i]]
        for i in range(first, last):
            part = history_parts[i]
            for j in range(part_offsets[part], part_offsets[part + 1]):
                dense[nodes[j]] = 0.0
    return sums
