"""Who visited what, as a sparse matrix, and products of such matrices that stay small."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph.arrays import Float64, Int64
from curiograph.human.trajectories import Trajectories
from curiograph.validation import check_integer

if TYPE_CHECKING:
    import scipy.sparse

_ENTRIES = 2**22  # numbers of a product that are made together: bounds the memory, does not change them


def build_incidence(walks: Trajectories, groups: Int64) -> scipy.sparse.csr_array:
    """Who visited what, as ones: a row for each distinct number in `groups`, which has one per walk; a column per node.

    >>> walks = Trajectories.from_walks([["a", "b", "a"], ["c"]], users=["ann", "ann"])
    >>> build_incidence(walks, walks.users).toarray().tolist()
    [[1, 1, 1]]
    """
    import scipy.sparse

    size = len(walks.names)
    known, group = np.unique(groups, return_inverse=True)
    keys = np.unique(np.repeat(group, walks.lengths) * size + walks.nodes)
    rows, columns = np.divmod(keys, max(size, 1))
    return scipy.sparse.csr_array((np.ones(len(keys), np.int32), (rows, columns)), shape=(len(known), size))


def multiply_blocks(left: Any, right: Any) -> Iterator[tuple[int, Any]]:
    """A sparse product, a few rows at a time, each time with the number of the first."""
    count = max(1, _ENTRIES // max(1, right.shape[1]))
    for first in range(0, left.shape[0], count):
        yield first, left[first : first + count] @ right


def keep_nearest(rows: Iterable[tuple[int, Float64]], size: int, most: int) -> Any:
    """The largest numbers of each row but the one on the diagonal, given a few rows at a time; equal ones by position.

    >>> keep_nearest([(0, np.array([[9.0, 1.0, 2.0]])), (1, np.array([[1.0, 9.0, 1.0]]))], 3, 1).toarray().tolist()
    [[0.0, 0.0, 2.0], [1.0, 0.0, 0.0]]
    """
    import scipy.sparse

    most = min(check_integer("neighbours", most, 1, "give the most neighbours of a node, 1 or more"), size)
    kept = [scipy.sparse.csr_array((0, size))]
    for first, some in rows:
        some[np.arange(len(some)), first + np.arange(len(some))] = 0
        cut = np.partition(some, size - most, axis=1)[:, size - most, None]
        above, level = some > cut, some == cut
        room = most - above.sum(axis=1, keepdims=True)
        kept.append(scipy.sparse.csr_array(np.where(above | (level & (level.cumsum(axis=1) <= room)), some, 0)))
    return scipy.sparse.vstack(kept, format="csr")
