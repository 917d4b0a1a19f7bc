"""Nodes that text or JSON values denote."""

from __future__ import annotations

import numpy as np
import pytest

from curiograph.errors import UnknownNodeError
from curiograph.graph.graph import Graph
from curiograph.graph.label_reader import LabelReader
from curiograph.graph.labels import IntegerLabels, RangeLabels, TextLabels
from curiograph.graph.toys import cycle

LABELS = {
    "range": RangeLabels(3),
    "integers": IntegerLabels(np.array([2, -7, 0])),
    "text": TextLabels.from_labels(["2", "-7", "0"]),
    "any": Graph.from_edges([("b", 2.5), (2, (0, 1)), (2**70, True)], nodes=["b", 2.5, 2, (0, 1), 2**70, True]).names,
}


@pytest.mark.parametrize("kind", LABELS)
def test_every_label_is_found_by_itself_and_by_its_text(kind):
    names = LABELS[kind]
    size = len(names)
    reader = LabelReader(Graph(np.zeros(size + 1, np.int64), np.empty(0, np.int32), names=names))
    for position, label in enumerate(names):
        assert reader.find(label) == reader.find(str(label)) == reader.find_exact(label) == position
        assert reader.label(str(label)) == label
    assert reader.find("unknown") is None


def test_an_equal_label_precedes_one_that_prints_alike():
    reader = LabelReader(Graph.from_edges([(7, "7"), ("7", "x")]))
    assert (reader.label(7), reader.label("7")) == (7, "7")


def test_text_and_numbers_are_exchanged_only_where_the_graph_lacks_the_value():
    text, numbers = LabelReader(Graph.from_edges([("1", "2")])), LabelReader(cycle(4))
    assert (text.label(2), numbers.label("2"), numbers.label("02")) == ("2", 2, 2)
    assert numbers.find_exact("2") is text.find_exact(2) is None


@pytest.mark.parametrize("value", ["4", "--1", "-", "", "9" * 5000, "1.0"])
def test_other_text_is_unknown(value):
    with pytest.raises(UnknownNodeError, match="the graph has no node"):
        LabelReader(cycle(4)).position(value)
