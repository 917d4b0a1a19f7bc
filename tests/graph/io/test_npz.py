"""The .npz format: exact round trips, memory maps, atomic writing, and corrupt files."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from curiograph.errors import FileFormatError, GraphError
from curiograph.graph.graph import Graph
from curiograph.graph.io.read import read_graph
from curiograph.graph.io.write import write_graph
from curiograph.graph.labels import IntegerLabels, RangeLabels, TextLabels

labels = st.one_of(
    st.lists(st.text(max_size=5), unique=True, max_size=8),
    st.lists(st.integers(-(2**65), 2**65), unique=True, max_size=8),
    st.lists(
        st.recursive(
            st.one_of(st.integers(), st.text(max_size=3), st.floats(allow_nan=False), st.booleans(), st.none()),
            lambda parts: st.tuples(parts) | st.tuples(parts, parts) | st.just(()),
        ),
        unique=True,
        max_size=8,
    ),
    st.integers(0, 8).map(lambda size: list(range(size))),
)


@st.composite
def graphs(draw):
    nodes = draw(labels)
    position = st.integers(0, max(len(nodes) - 1, 0))
    pairs = draw(st.lists(st.tuples(position, position), max_size=12)) if nodes else []
    weighted = draw(st.booleans())
    edges = [(nodes[u], nodes[v], *([draw(st.floats(0, 1e300))] if weighted else [])) for u, v in pairs]
    return Graph.from_edges(edges, directed=draw(st.booleans()), nodes=nodes)


@given(graphs())
def test_round_trip(tmp_path_factory, graph):
    path = tmp_path_factory.getbasetemp() / "round.npz"
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


def sample(directed: bool = False) -> Graph:
    return Graph.from_edges([("ä", "b", 0.5), ("b", "c", 2.0), ("c", "ä", 1.0), ("c", "c", 1.0)], directed=directed)


@pytest.fixture
def saved(tmp_path) -> Path:
    sample().save(str(tmp_path / "g.npz"))
    return tmp_path / "g.npz"


def test_arrays_are_mapped_aligned_and_read_only(saved):
    graph = read_graph(saved)
    assert isinstance(graph.names, TextLabels)
    for array in (graph.indptr, graph.indices, graph.weights, graph.names.blob, graph.names.offsets):
        base = array
        while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
            base = base.base
        assert isinstance(base, np.memmap)
        assert array.ctypes.data % 64 == 0
        assert not array.flags.writeable


def test_stored_types_of_labels(tmp_path):
    for nodes, kind in (([0, 1], RangeLabels), ([5, -2], IntegerLabels), (["a", "b"], TextLabels)):
        write_graph(Graph.from_edges([nodes], nodes=nodes), tmp_path / "g.npz")
        assert type(read_graph(tmp_path / "g.npz").names) is kind


def test_file_is_readable_by_numpy(saved):
    with np.load(saved) as members:
        assert members["indptr"].tolist() == [0, 2, 4, 6]


@pytest.mark.parametrize("label", [b"bytes", frozenset([1]), 1j, (1, b"x"), "sub", "huge"])
def test_label_that_cannot_be_stored(tmp_path, label):
    if label == "sub":
        label = type("Sub", (str,), {})("sub")
    if label == "huge":
        label = 10**5000
    with pytest.raises(GraphError, match="cannot be stored"):
        write_graph(Graph.from_edges([(label, 1)]), tmp_path / "g.npz")
    assert list(tmp_path.iterdir()) == []


def test_failed_write_keeps_the_old_file(saved, monkeypatch):
    before = saved.read_bytes()

    def raise_disk_full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", raise_disk_full)
    with pytest.raises(GraphError, match=r"cannot write .*: the disk is full; make room"):
        write_graph(Graph.from_edges([(0, 1)]), saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_paths_that_cannot_be_written(tmp_path):
    graph = sample()
    for path in (None, 5):
        with pytest.raises(GraphError, match=f"the path is {path}; give the name of a file"):
            graph.save(path)
    with pytest.raises(GraphError, match=r"must end in \.npz"):
        graph.save(str(tmp_path / "g"))
    (tmp_path / "d.npz").mkdir()
    with pytest.raises(GraphError, match="it is a folder"):
        graph.save(str(tmp_path / "d.npz"))


def test_symbolic_link_is_followed(saved):
    link = saved.parent / "link.npz"
    link.symlink_to(saved)
    other = Graph.from_edges([(0, 1)])
    other.save(str(link))
    assert link.is_symlink()
    assert read_graph(saved) == other


# ---- corrupt files --------------------------------------------------------------------------------------------------


def assert_rejected(path: Path, message: str) -> None:
    """Reading raises an error that names the file."""
    with pytest.raises(FileFormatError, match=message) as error:
        read_graph(path)
    assert str(path) in str(error.value)


def test_truncated_file(saved):
    data = saved.read_bytes()
    for length in range(1, len(data), 7):
        saved.write_bytes(data[:length])
        assert_rejected(saved, "zip|broken|damaged")


@pytest.mark.parametrize("directed", [False, True])
def test_flipped_byte_is_detected_or_harmless(saved, directed):
    sample(directed).save(saved)
    data = bytearray(saved.read_bytes())
    graph = sample(directed)
    for place in range(0, len(data), 3):
        changed = data.copy()
        changed[place] ^= 0x41
        saved.write_bytes(changed)
        try:
            again = read_graph(saved)  # a date, or padding
            assert (again, again.skeleton) == (graph, graph.skeleton)
        except FileFormatError as error:
            assert str(saved) in str(error)  # noqa: PT017


def tamper(path: Path, **changes) -> None:
    """Write the members again with numpy, with changes, None to omit; the arrays are then not aligned."""
    with np.load(path) as members:
        arrays = {name: members[name] for name in members.files}
    arrays.update(changes)
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})


def test_unaligned_members_are_copied(saved):
    tamper(saved)
    graph = read_graph(saved)
    assert graph == sample()
    assert graph.weights.flags.aligned


def as_bytes(text: str) -> np.ndarray:
    return np.frombuffer(text.encode(), np.uint8)


def meta(**changes) -> np.ndarray:
    sound = {"format": "curiograph graph", "version": 1, "directed": False, "weighted": True, "names": "text"}
    return as_bytes(json.dumps({**sound, "cleaning": [1, 0], **changes}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"indices": np.array([1, 2, 0, 2, 0, 3], np.int32)},
            "an edge to a node that does not exist; nodes are 0 to 2",
        ),
        ({"indices": np.array([1, 2, 0, 2, -1, 1], np.int32)}, "an edge to a node that does not exist"),
        ({"indices": np.array([2, 1, 0, 2, 0, 1], np.int32)}, "rows that are not sorted"),
        ({"indices": np.array([1, 1, 0, 2, 0, 1], np.int32)}, "rows that are not sorted"),
        ({"indices": np.array([1, 2], np.int32)}, "rows that do not fit together"),
        ({"indices": np.arange(6)}, "holds 'indices' as int64 of shape .* expected one dimension of int32"),
        ({"indices": np.zeros((2, 3), np.int32)}, r"shape \(2, 3\)"),
        ({"indptr": np.array([0, 4, 2, 6])}, "rows that do not fit together"),
        ({"indptr": np.array([1, 2, 4, 6])}, "rows that do not fit together"),
        ({"indptr": np.array([0, 2, 4, 7])}, "rows that do not fit together"),
        ({"indptr": np.array([], np.int64)}, "rows that do not fit together"),
        ({"indptr": np.array([0, 1, 1, 1]), "indices": np.array([1], np.int32)}, "odd number of edge ends"),
        ({"indices": np.array([0, 2, 0, 2, 0, 1], np.int32)}, "an edge from a node to itself"),
        (
            {"indptr": np.array([0, 2, 3, 4]), "indices": np.array([1, 2, 2, 1], np.int32), "weights": np.ones(4)},
            "undirected but has an edge in one direction only",
        ),
        ({"indptr": np.array([0, 2, 4, 6, 6])}, "3 names for 4 nodes"),
        ({"weights": np.full(6, np.nan)}, "weight that is not a finite"),
        ({"weights": np.array([1, 1, 1, 1, 1, np.inf])}, "weight that is not a finite"),
        ({"weights": np.array([1.0, -1, 1, 1, 1, 1])}, "weight that is not a finite"),
        ({"weights": np.ones(5)}, "5 weights for 6 edge ends"),
        ({"meta": meta(loops=True), "loops": np.ones(4)}, "4 weights of self-loops for 3 nodes"),
        ({"meta": meta(loops=True), "loops": np.array([0, np.nan, 0])}, "weight that is not a finite"),
        ({"meta": meta(loops=True), "loops": np.array([0, -1.0, 0])}, "weight that is not a finite"),
        ({"meta": meta(loops=True, weighted=False), "loops": np.array([0, 2.0, 0])}, "unweighted but has a self-loop"),
        ({"meta": meta(loops=True), "loops": None}, "lacks the member 'loops'"),
        ({"meta": meta(loops=1)}, "malformed description"),
        ({"weights": None}, "lacks the member 'weights'"),
        ({"offsets": np.array([0, 2, 9, 4])}, r"'offsets'"),
        ({"offsets": np.array([0, 2, 3, 5])}, r"'offsets'"),
        ({"offsets": np.array([0, 1, 3, 4])}, "names that are not UTF-8"),
        ({"blob": np.array([255, 255, 98, 99], np.uint8)}, "names that are not UTF-8"),
        ({"order": np.array([0, 1, 3], np.int32)}, r"'order'"),
        ({"order": np.array([0, 1], np.int32)}, r"'order'"),
        ({"hashes": np.array([3, 2, 1], np.uint64)}, r"'hashes'"),
        ({"meta": as_bytes("{")}, "'meta' that is not JSON"),
        ({"meta": as_bytes("[" * 100_000)}, "'meta' that is not JSON"),
        ({"meta": as_bytes("[]")}, "was not written by curiograph"),
        ({"meta": meta(version=2)}, "has version 2 of the format, and this curiograph reads 1"),
        ({"meta": meta(directed=1)}, "malformed description"),
        ({"meta": meta(cleaning=[1, -1])}, "malformed description"),
        ({"meta": meta(names="pickle")}, "malformed description"),
        ({"meta": meta(names=["text"])}, "malformed description"),
        ({"meta": meta(names="json"), "json": as_bytes("[1, 1, 2]")}, "a label twice"),
        ({"meta": meta(names="json"), "json": as_bytes("[1, [], 2]")}, "malformed label"),
        ({"meta": meta(names="json"), "json": as_bytes('[1, {"x": 1}, 2]')}, "malformed label"),
        ({"meta": meta(names="json"), "json": as_bytes("5")}, "malformed label"),
        ({"meta": meta(names="integers"), "values": np.array([5, 6])}, "2 names for 3 nodes"),
        ({"meta": np.array([{"a": 1}], dtype=object)}, "'meta'"),
    ],
)
def test_inconsistent_members(saved, changes, message):
    tamper(saved, **changes)
    assert_rejected(saved, message)


# ---- the skeleton of a directed graph -------------------------------------------------------------------------------


@given(graphs())
def test_skeleton_of_a_directed_graph_is_stored(tmp_path_factory, graph):
    path = tmp_path_factory.getbasetemp() / "skeleton.npz"
    write_graph(graph, path)
    again = read_graph(path)
    assert ("_skeleton" in again.__dict__) == graph.directed
    assert again.skeleton == graph.skeleton
    assert again.skeleton.names is again.names
    assert not again.skeleton.indices.flags.writeable


def test_file_of_an_older_version_without_skeleton(saved):
    graph = sample(directed=True)
    graph.save(saved)
    tamper(saved, skeleton_indptr=None, skeleton_indices=None)
    again = read_graph(saved)
    assert again == graph
    assert "_skeleton" not in again.__dict__
    assert again.skeleton == graph.skeleton


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"skeleton_indptr": None}, "lacks the member 'skeleton_indptr'"),
        ({"skeleton_indices": None}, "lacks the member 'skeleton_indices'"),
        ({"skeleton_indices": np.arange(6)}, "holds 'skeleton_indices' as int64"),
        ({"skeleton_indices": np.array([1, 2, 0, 2, 0, 3], np.int32)}, "an edge to a node that does not exist"),
        ({"skeleton_indices": np.array([2, 1, 0, 2, 0, 1], np.int32)}, "rows that are not sorted"),
        ({"skeleton_indptr": np.array([0, 2, 4, 7])}, "rows that do not fit together"),
        ({"skeleton_indptr": np.array([0, 2, 4, 6, 6])}, "a skeleton that does not fit its edges"),
        (
            {"skeleton_indptr": np.array([0, 1, 2, 2]), "skeleton_indices": np.array([1, 0], np.int32)},
            "a skeleton that does not fit its edges",
        ),
    ],
)
def test_inconsistent_skeleton(saved, changes, message):
    sample(directed=True).save(saved)
    tamper(saved, **changes)
    assert_rejected(saved, message)


# ---- hostile arrays -------------------------------------------------------------------------------------------------


def npy(header: str, data: bytes = b"") -> bytes:
    """An array file with a given header."""
    padded = header.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded.encode() + data


@pytest.mark.parametrize(
    "content",
    [
        npy("{'descr': '<i8', 'fortran_order': False, 'shape': (1000000000000000000,), }", b"\0" * 16),
        npy("{'descr': '<i8', 'fortran_order': False, 'shape': (-2,), }", b"\0" * 16),
        npy("{'descr': '<i8', 'fortran_order': False, 'shape': (1.5,), }", b"\0" * 16),
        npy("{'descr': '<i8', 'fortran_order': False, 'shape': (True,), }", b"\0" * 8),
        npy("{'descr': '<i8', 'fortran_order': False, 'shape': (), }", b"\0" * 8),
        npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", pickle.dumps([1])),
        npy("{'descr': '>i8', 'fortran_order': False, 'shape': (2,), }", b"\0" * 16),
        npy("{'descr': 5, 'fortran_order': False, 'shape': (2,), }", b"\0" * 16),
        npy("(" * 110),
        npy("__import__('os').abort()"),
        b"\x93NUMPY\x01\x00\xff\xff",
        b"\x93NUMPY\x09\x00",
        b"",
    ],
)
def test_hostile_array(saved, content):
    other = saved.parent / "hostile.npz"
    with zipfile.ZipFile(saved) as archive, zipfile.ZipFile(other, "w") as out:
        for name in archive.namelist():
            out.writestr(name, content if name == "indptr.npy" else archive.read(name))
    assert_rejected(other, "'indptr'")


def test_compressed_member(saved):
    with np.load(saved) as members:
        arrays = {name: members[name] for name in members.files}
    np.savez_compressed(saved, **arrays)
    assert_rejected(saved, "compressed or encrypted")


def test_files_of_other_programs(tmp_path):
    scipy.sparse.save_npz(tmp_path / "s.npz", scipy.sparse.eye_array(3).tocsr(), compressed=False)
    assert_rejected(tmp_path / "s.npz", r"lacks the member 'meta', so curiograph did not write it .*indptr.*from_scipy")
    (tmp_path / "t.npz").write_text("a\tb\n")
    assert_rejected(tmp_path / "t.npz", "is not a zip archive, so not an .npz")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w"):
        pass
    (tmp_path / "e.npz").write_bytes(buffer.getvalue())
    assert_rejected(tmp_path / "e.npz", "is not a zip archive")
