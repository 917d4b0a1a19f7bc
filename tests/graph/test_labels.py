"""Containers of node labels, suggestions of similar ones, and labels that text denotes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curiograph.errors import UnknownNodeError
from curiograph.graph.graph import Graph
from curiograph.graph.io.formats import read_graph, write_graph
from curiograph.graph.labels import IntegerLabels, LabelReader, ListLabels, RangeLabels, TextLabels, suggest_labels
from curiograph.graph.toys import cycle


@given(st.lists(st.text(max_size=6), unique=True, max_size=30), st.text(max_size=6), st.booleans())
def test_text_labels_equal_a_list(labels, other, is_sorted):
    names = TextLabels.from_labels(labels)
    if is_sorted:
        names = TextLabels(names.blob, names.offsets, names.sort())
    assert list(names) == [names[i] for i in range(len(names))] == labels
    assert [names.index(label) for label in labels] == names.indices(labels).tolist() == list(range(len(labels)))
    assert list(pickle.loads(pickle.dumps(names))) == labels
    for unknown in (1, None, b"a", "\ud800", ("a",), *({other} - set(labels))):
        with pytest.raises(KeyError):
            names.index(unknown)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), unique=True, max_size=20))
def test_integer_labels_equal_a_list(labels):
    names = pickle.loads(pickle.dumps(IntegerLabels(np.array(labels, np.int64))))
    assert list(names) == labels == [names[i] for i in range(len(names))]
    assert [names.index(label) for label in labels] == list(range(len(labels)))
    for other in (2**63, True, 0.5, "1"):
        with pytest.raises(KeyError):
            names.index(other)


@pytest.mark.parametrize(
    "labels",
    [range(60), [10 * v for v in range(60)], [f"näme {v}" for v in range(60)], [(v, "x") for v in range(60)]],
    ids=["range", "integers", "text", "tuples"],
)
def test_lookup_of_many_labels_equals_single_lookups(labels, tmp_path):
    graph = Graph.from_edges([], nodes=labels)
    write_graph(graph, tmp_path / "g.safetensors")
    for each in (graph, read_graph(tmp_path / "g.safetensors")):  # the file holds numbers and text as arrays
        asked = [each.label(v) for v in (3, 59, 0, 3, *range(50))]
        assert each.positions(asked).tolist() == [3, 59, 0, 3, *range(50)]
        for unknown in (True, 10**30, -1, "näme 60", "\ud800", (1, "y"), None):
            with pytest.raises(UnknownNodeError):
                each.positions([*asked, unknown])


# ---- suggestions ----------------------------------------------------------------------------------------------------

SYLLABLES = ["ba", "du", "Ki", "lo", "mer", "nü", "po", "Ras", "si", "tor"]
MANY = ["".join(SYLLABLES[int(digit)] for digit in f"{number:06d}") for number in range(0, 900_000, 97)]


@pytest.mark.parametrize("kind", [TextLabels.from_labels, ListLabels])
@pytest.mark.parametrize("number", [0, 1234, 9000])
def test_one_typo_among_many(kind, number):
    name = MANY[number]
    for typo in (name[:5] + "x" + name[5:], name[:6] + name[7:], name[:4] + "x" + name[5:], name.upper()):
        assert name in suggest_labels(typo, kind(MANY), count=10)


# ---- labels that values denote --------------------------------------------------------------------------------------

LABELS = {
    "range": RangeLabels(3),
    "integers": IntegerLabels(np.array([2, -7, 0])),
    "text": TextLabels.from_labels(["2", "-7", "0"]),
    "any": Graph.from_edges([("b", 2.5), (2, (0, 1)), (2**70, True)], nodes=["b", 2.5, 2, (0, 1), 2**70, True]).names,
}


@pytest.mark.parametrize("kind", LABELS)
def test_every_label_is_found_by_itself_and_by_its_text(kind):
    names = LABELS[kind]
    reader = LabelReader(Graph(np.zeros(len(names) + 1, np.int64), np.empty(0, np.int32), names=names))
    for position, label in enumerate(names):
        assert reader.find(label) == reader.find(str(label)) == reader.find_exact(label) == position
        assert reader.label(str(label)) == label
    assert reader.find("unknown") is None


def test_text_and_numbers_are_exchanged_only_where_the_graph_lacks_the_value():
    both = LabelReader(Graph.from_edges([(7, "7"), ("7", "x")]))
    assert (both.label(7), both.label("7")) == (7, "7")
    text, numbers = LabelReader(Graph.from_edges([("1", "2")])), LabelReader(cycle(4))
    assert (text.label(2), numbers.label("2"), numbers.label("02")) == ("2", 2, 2)
    assert numbers.find_exact("2") is text.find_exact(2) is None
    for value in ("4", "--1", "-", "", "9" * 5000, "1.0"):
        with pytest.raises(UnknownNodeError, match="the graph has no node"):
            numbers.position(value)
