"""Containers of node labels."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curiograph import kernels
from curiograph.errors import UnknownNodeError
from curiograph.graph import labels as labels_module
from curiograph.graph.graph import Graph
from curiograph.graph.io.read import read_graph
from curiograph.graph.labels import IntegerLabels, ListLabels, RangeLabels, TextLabels, hash_text


@given(st.lists(st.text(max_size=6), unique=True, max_size=30), st.text(max_size=6))
def test_text_labels_equal_a_list(labels, other):
    names = TextLabels.from_labels(labels)
    assert list(names) == labels
    assert [names[i] for i in range(len(names))] == labels
    assert [names.index(label) for label in labels] == list(range(len(labels)))
    again = pickle.loads(pickle.dumps(names))
    assert list(again) == labels
    assert not again.blob.flags.writeable
    if other not in labels:
        with pytest.raises(KeyError):
            names.index(other)


@given(st.binary(max_size=40))
def test_hash_is_the_same_with_and_without_numba(data):
    array = np.frombuffer(data, np.uint8)
    assert int(kernels.text.hash_name(array, 0, len(array))) == hash_text(data)


def test_labels_of_equal_hash_are_distinguished(monkeypatch):
    monkeypatch.setattr(labels_module, "hash_text", lambda encoded: 7)
    plain = TextLabels.from_labels(["x", "y", "z"])
    names = TextLabels(plain.blob, plain.offsets, np.full(3, 7, np.uint64), np.array([2, 0, 1], np.int32))
    assert [names.index(label) for label in "xyz"] == [0, 1, 2]
    with pytest.raises(KeyError):
        names.index("w")


@pytest.mark.parametrize("label", [1, None, b"a", "\ud800", ("a",)])
def test_text_labels_contain_only_text(label):
    with pytest.raises(KeyError):
        TextLabels.from_labels(["a"]).index(label)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), unique=True, max_size=20))
def test_integer_labels_equal_a_list(labels):
    names = pickle.loads(pickle.dumps(IntegerLabels(np.array(labels, np.int64))))
    assert list(names) == labels == [names[i] for i in range(len(names))]
    assert [names.index(label) for label in labels] == list(range(len(labels)))
    for other in (2**63, True, 0.5, "1"):
        with pytest.raises(KeyError):
            names.index(other)


@pytest.mark.parametrize(
    "names", [RangeLabels(2), ListLabels([0, 1]), IntegerLabels(np.array([0, 1])), TextLabels.from_labels(["a", "b"])]
)
def test_position_outside_labels(names):
    for position in (-1, 2):
        with pytest.raises(IndexError, match=re.escape(f"position {position}")):
            names[position]


@pytest.mark.parametrize(
    "labels",
    [range(60), [10 * v for v in range(60)], [f"näme {v}" for v in range(60)], [(v, "x") for v in range(60)]],
    ids=["range", "integers", "text", "tuples"],
)
def test_lookup_of_many_labels_equals_single_lookups(labels, tmp_path):
    graph = Graph.from_edges([], nodes=labels)
    graph.save(str(tmp_path / "g.npz"))
    for each in (graph, read_graph(tmp_path / "g.npz")):  # the file holds numbers and text as arrays
        asked = [each.label(v) for v in (3, 59, 0, 3, *range(50))]
        assert each.positions(asked).tolist() == [3, 59, 0, 3, *range(50)]
        for unknown in (True, 10**30, -1, "näme 60", "\ud800", (1, "y"), None):
            with pytest.raises(UnknownNodeError):
                each.positions([*asked, unknown])
