"""Read the adjacency matrix in a MATLAB file of version 5 to 7, through scipy."""

from __future__ import annotations

from pathlib import Path

from curiograph.errors import GraphError
from curiograph.files import check_file, wrap_parse_errors
from curiograph.graph.graph import Graph

_MAX_NODES = 8192  # of a full matrix


def read_matlab(path: Path, directed: bool | None = None) -> Graph:
    """Read the only square matrix of a file; nodes are labeled 1 to n, as MATLAB counts them.

    The graph is directed if the matrix is not symmetric, and weighted if it has values other than 0 and 1.
    """
    import scipy.io
    import scipy.sparse

    check_file(path)
    with wrap_parse_errors(path, "MATLAB"):
        found = [
            (name, shape[0], kind)
            for name, shape, kind in scipy.io.whosmat(path)
            if len(shape) == 2 and shape[0] == shape[1] > 1 and kind not in ("char", "cell", "struct", "object")
        ]
        if len(found) != 1:
            names = ", ".join(f"{name} ({size} x {size})" for name, size, _ in found) or "none"
            raise GraphError(f"it must contain one square numeric matrix, but has {names}")
        name, size, kind = found[0]
        if kind != "sparse" and size > _MAX_NODES:
            raise GraphError(f"its full matrix {name} has {size:,} rows; save it as a sparse matrix")
        matrix = scipy.io.loadmat(path, variable_names=[name])[name]
        if scipy.sparse.issparse(matrix):
            matrix.check_format()
        return Graph.from_scipy(matrix, directed=directed, nodes=range(1, size + 1))
