"""Compute the growth of many walks as plain arrays, which can be computed in parts and concatenated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from curiograph import kernels
from curiograph.arrays import Float64, Int32, Int64
from curiograph.graph.csr import freeze_array
from curiograph.graph.graph import Graph
from curiograph.rewards.cct import count_conformable
from curiograph.rewards.cpt import compute_step_compressibility

OPEN = -1
"""Closing step of a gap that stays open."""


@dataclass(frozen=True, eq=False, repr=False)
class GrowthSteps:
    """Numbers of the visited subgraph after every step."""

    edges: Int64
    """Number of edges of the visited subgraph."""
    beta0: Int64
    """Number of components of the visited subgraph."""
    beta1: Int64
    """Number of information gaps of the visited subgraph."""
    dimension: Int64
    """Dimension d in which the visited subgraph moves as a mechanical network; it never falls along a walk."""
    freedom: Int64
    """Degrees of freedom d n - e, over the n nodes with a link and the e edges of the visited subgraph."""

    @property
    def conformable(self) -> Int64:
        """Conformable degrees of freedom: `freedom` without rigid motions of the whole subgraph."""
        return count_conformable(self.dimension, self.freedom)

    def list_steps(self, step: Int64, node: list[Any], bits: Float64, opened: Any, closed: Any) -> dict[str, Any]:
        """Return the columns of a table, given the steps, counted from 0, at which gaps were opened and closed."""
        return {
            "step": step,
            "node": node,
            "edges": self.edges,
            "beta0": self.beta0,
            "beta1": self.beta1,
            "compressibility": bits,
            "opened": np.bincount(np.asarray(opened, np.int64), minlength=len(step)),
            "closed": np.bincount(np.asarray(closed, np.int64), minlength=len(step)),
            "dimension": self.dimension,
            "freedom": self.freedom,
            "conformable": self.conformable,
        }


@dataclass(frozen=True, eq=False, repr=False)
class GrowthArrays(GrowthSteps):
    """Growth of several walks in flat arrays; the steps of walk i are `offsets[i]:offsets[i + 1]` of each.

    The numbers of a walk do not depend on the walks measured with it.
    """

    offsets: Int64
    """Bounds of the walks in the arrays of steps."""
    nodes: Int32
    """Positions of the visited nodes, first visits only."""
    bits: Float64
    """Compressibility in bits, with self-loops; NaN if it was not computed."""
    gaps: Int64
    """Gaps as rows (walk, step opened, step closed or `OPEN`), with steps counted from 0. Rows are sorted by walk,
    opening and closing; open gaps are last."""

    def __len__(self) -> int:
        return len(self.offsets) - 1


def compute_growth(graph: Graph, nodes: Int32, offsets: Int64, *, compressibility: bool = True) -> GrowthArrays:
    """Compute the growth of walks, given by positions of first visits; walk i is `offsets[i]:offsets[i + 1]`."""
    csr = graph.skeleton
    walks = freeze_array(nodes), freeze_array(offsets)  # always read-only: a single compilation of the kernel
    steps, found = kernels.homology.measure_walks(csr.indptr, csr.indices, *walks)
    edges, beta0, beta1, dimension, freedom = steps
    gaps = found.reshape(-1, 3).astype(np.int64)
    last = np.where(gaps[:, 2] == OPEN, len(nodes), gaps[:, 2])
    return GrowthArrays(
        offsets=offsets,
        nodes=nodes,
        edges=edges,
        beta0=beta0,
        beta1=beta1,
        bits=compute_step_compressibility(graph, *walks) if compressibility else np.full(len(nodes), np.nan),
        dimension=dimension,
        freedom=freedom,
        gaps=gaps[np.lexsort((last, gaps[:, 1], gaps[:, 0]))],
    )
