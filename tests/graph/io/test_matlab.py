"""Adjacency matrices in files of MATLAB, written by scipy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from curiograph.errors import FileFormatError
from curiograph.graph.io.formats import read_graph

RING = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]])


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    "matrix",
    [RING, RING.astype(float), RING.astype(bool), RING.astype(np.uint8), RING.astype(np.float32),
     scipy.sparse.csc_array(RING.astype(float)), scipy.sparse.csc_array(RING.astype(bool))],
)  # fmt: skip
def test_matrices_of_all_types(tmp_path, matrix, packed):
    path = tmp_path / "ring.mat"
    others = {"name": "ring", "n": 4, "row": np.ones((1, 4)), "cell": np.array(["a", 1], object)}
    scipy.io.savemat(path, {**others, "A": matrix}, do_compression=packed)
    graph = read_graph(path)
    assert (graph.labels, graph.directed, graph.weights) == ([1, 2, 3, 4], False, None)
    assert np.array_equal(graph.to_scipy().toarray(), RING)


def test_asymmetric_matrices_are_directed_and_values_are_weights(tmp_path):
    matrix = np.array([[0, 2.5, 0], [0, 0, 1], [0, 0, 0]])
    scipy.io.savemat(tmp_path / "g.mat", {"W": scipy.sparse.csc_array(matrix)})
    graph = read_graph(tmp_path / "g.mat")
    assert graph.directed
    assert np.array_equal(graph.to_scipy().toarray(), matrix)
    assert graph.position(1) == 0


def test_bad_files_are_rejected(tmp_path):
    path = tmp_path / "g.mat"
    for content, message in (
        ({"A": RING, "B": RING, "x": 1}, r"A \(4 x 4\), B \(4 x 4\)"),
        ({"x": np.ones((2, 3))}, "none"),
        ({"A": -RING}, "-1.0"),
    ):
        scipy.io.savemat(path, content)
        with pytest.raises(FileFormatError, match=message):
            read_graph(path)
    path.write_bytes(b"MATLAB 7.3 MAT-file" + bytes(600) + b"\x89HDF")
    with pytest.raises(FileFormatError, match="MATLAB"):
        read_graph(path)
