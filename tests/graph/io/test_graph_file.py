"""The own file of a graph: exact round trips, memory maps, atomic writing, damaged files."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curiograph.errors import FileFormatError, GraphError
from curiograph.graph.graph import Graph
from curiograph.graph.io.formats import read_graph, write_graph
from curiograph.graph.labels import IntegerLabels, RangeLabels, TextLabels
from curiograph.tensors import write_tensors
from support.graph_files import graphs

labels = st.one_of(
    st.lists(st.text(max_size=5), unique=True, max_size=8),
    st.lists(st.integers(-(2**65), 2**65), unique=True, max_size=8),
    st.lists(
        st.recursive(
            st.one_of(
                st.integers(), st.text(max_size=3), st.floats(allow_nan=False, allow_infinity=False), st.booleans(),
                st.none(),
            ),
            lambda parts: st.tuples(parts) | st.tuples(parts, parts) | st.just(()),
        ),
        unique=True,
        max_size=8,
    ),
    st.integers(0, 8).map(lambda size: list(range(size))),
)  # fmt: skip


@given(graphs(labels))
def test_round_trip(tmp_path_factory, graph):
    path = tmp_path_factory.getbasetemp() / "round.safetensors"
    write_graph(graph, path)
    again = read_graph(path)
    assert again == graph
    assert repr(again.labels) == repr(graph.labels)
    assert again.cleaning == graph.cleaning
    assert [again.position(label) for label in graph.labels] == list(range(len(graph)))
    before = path.read_bytes()
    write_graph(again, path)  # the arrays are mapped from the file that is replaced
    assert path.read_bytes() == before
    assert pickle.loads(pickle.dumps(again)) == graph


@pytest.fixture
def saved(tmp_path) -> Path:
    edges = [("ä", "b", 0.5), ("b", "c", 2.0), ("c", "ä", 1.0), ("c", "c", 1.0)]
    write_graph(Graph.from_edges(edges, directed=True), tmp_path / "g.safetensors")
    return tmp_path / "g.safetensors"


def test_visitors_are_kept(tmp_path):
    ends = np.array([0, 1]), np.array([1, 2])
    graph = Graph.from_arrays(*ends, np.array([0.5, 0.25]), visitors=np.array([5, 3, 2]))
    write_graph(graph, tmp_path / "g.safetensors")
    assert read_graph(tmp_path / "g.safetensors") == graph
    assert graph.subgraph([0, 2]).visitors.tolist() == [5, 2]
    assert graph != Graph.from_arrays(*ends, np.array([0.5, 0.25]))


def test_arrays_are_mapped_aligned_and_read_only(saved):
    graph = read_graph(saved)
    names = graph.names
    assert isinstance(names, TextLabels)
    arrays = (graph.indptr, graph.indices, graph.weights, graph.loops, graph.skeleton.indices, names.blob, names.order)
    for array in arrays:
        base = array
        while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
            base = base.base
        assert isinstance(base, np.memmap)
        assert array.flags.aligned
        assert not array.flags.writeable


def test_kinds_of_labels(tmp_path):
    for nodes, kind in ((range(3), RangeLabels), ([5, 9], IntegerLabels), (["a", "b"], TextLabels)):
        write_graph(Graph.from_edges([], nodes=nodes), tmp_path / "g.safetensors")
        assert isinstance(read_graph(tmp_path / "g.safetensors").names, kind)


@pytest.mark.parametrize("label", [frozenset("a"), float("inf"), object(), "\ud800"])
def test_labels_that_cannot_be_stored(tmp_path, label):
    with pytest.raises(GraphError, match="labels cannot be stored"):
        write_graph(Graph.from_edges([(label, "b")]), tmp_path / "g.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_damaged_and_foreign_files(saved):
    data = saved.read_bytes()
    for place in (len(data) - 1, len(data) - 100):  # in the arrays
        saved.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.raises(FileFormatError, match="checksum"):
            read_graph(saved)
    for content in (data[:-5], data[:50], b"PK\x03\x04", b"\xff" * 100):
        saved.write_bytes(content)
        with pytest.raises(FileFormatError, match=r"g\.safetensors: is not a usable graph"):
            read_graph(saved)
    write_tensors(saved, {"x": np.arange(3)}, {"graph": '{"format": "curiograph graph 99"}'})
    with pytest.raises(FileFormatError, match="'curiograph graph 99'"):
        read_graph(saved)
