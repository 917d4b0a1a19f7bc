"""User-item matrices, and products of sparse matrices in blocks that bound the memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from curiograph.arrays import Float64, Int64
from curiograph.exploration.mdp import Candidates

if TYPE_CHECKING:
    from curiograph.human.trajectories import Trajectories

_ENTRIES = 2**22  # of a block; does not change the results


def build_incidence(walks: Trajectories, groups: Int64) -> scipy.sparse.csr_array:
    """Return the sparse matrix (groups x nodes) with a one for every node that a walk of the group visits.

    `groups` holds one number per walk, such as its user; rows are in the order of the distinct numbers.
    """
    size = len(walks.names)
    known, group = np.unique(groups, return_inverse=True)
    keys = np.unique(np.repeat(group, np.diff(walks.offsets)) * size + walks.nodes)
    rows, columns = np.divmod(keys, max(size, 1))
    return scipy.sparse.csr_array((np.ones(len(keys), np.int32), (rows, columns)), shape=(len(known), size))


def multiply_blocks(left: Any, right: Any) -> Iterator[tuple[int, Any]]:
    """Yield the product of a sparse array in blocks of rows, each with the number of its first row."""
    count = max(1, _ENTRIES // max(1, right.shape[1]))
    for first in range(0, left.shape[0], count):
        yield first, left[first : first + count] @ right


def gather_product(left: Any, right: Any, candidates: Candidates) -> Float64:
    """Return the entries of the product of histories x nodes and nodes x nodes at the candidates."""
    entries = np.empty(len(candidates.nodes))
    for first, rows in multiply_blocks(left, right):
        block = slice(candidates.offsets[first], candidates.offsets[first + rows.shape[0]])
        entries[block] = to_dense(rows)[candidates.walks[block] - first, candidates.nodes[block]]
    return entries


def to_dense(matrix: Any) -> Any:
    """Return a sparse or dense array as a dense one."""
    return matrix.toarray() if scipy.sparse.issparse(matrix) else matrix
