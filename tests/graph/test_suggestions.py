"""Suggestions of similar labels."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curiograph.errors import UnknownNodeError
from curiograph.graph import suggestions
from curiograph.graph.graph import Graph
from curiograph.graph.labels import IntegerLabels, ListLabels, RangeLabels, TextLabels
from curiograph.graph.suggestions import make_unknown_node_error, suggest_labels

SYLLABLES = ["ba", "du", "Ki", "lo", "mer", "nü", "po", "Ras", "si", "tor"]


def town(number: int) -> str:
    """A distinct name for every number: its digits as syllables."""
    return "".join(SYLLABLES[int(digit)] for digit in f"{number:06d}")


MANY = [town(number) for number in range(0, 300_000, 97)]
assert len(MANY) > suggestions._COMPARE_ALL


@pytest.mark.parametrize("kind", [TextLabels.from_labels, ListLabels])
@given(number=st.integers(0, len(MANY) - 1), place=st.integers(0, 15), edit=st.sampled_from("idst"))
def test_one_typo_among_many(kind, number, place, edit):
    """After an inserted, dropped, substituted or swapped character, the original name is among the suggestions."""
    name = MANY[number]
    place = min(place, len(name) - 2)
    typo = {
        "i": name[:place] + "x" + name[place:],
        "d": name[:place] + name[place + 1 :],
        "s": name[:place] + "x" + name[place + 1 :],
        "t": name[:place] + name[place + 1] + name[place] + name[place + 2 :],
    }[edit]
    assert name in suggest_labels(typo, kind(MANY), count=10)


@pytest.mark.parametrize("kind", [TextLabels.from_labels, ListLabels])
@pytest.mark.parametrize("count", [3, len(MANY)])
def test_case_is_ignored(kind, count):
    labels = ["Music", "Poetry", *MANY][: max(count, 3)]
    assert suggest_labels("MUSIC", kind(labels)) == ["Music"]
    assert suggest_labels("pOETRY", kind(labels)) == ["Poetry"]


def test_numbers():
    names = IntegerLabels(np.arange(10_000) * 7 + 10**6)
    assert 1_000_007 in suggest_labels(100_007, names, count=10)
    assert suggest_labels(5, RangeLabels(3)) == []
    with pytest.raises(UnknownNodeError, match="no node '1000007', but it has the number 1000007"):
        raise make_unknown_node_error("1000007", names)


@pytest.mark.parametrize("label", [None, "", (1, "a"), "x" * 10**6, 10**5000, "\ud800", b"b", float("nan")], ids=type)
@pytest.mark.parametrize("labels", [["a", "b"], MANY, [*MANY, "\ud800x", 10**5000, ("a", 1)]], ids=len)
def test_error_message_is_short_for_any_label(label, labels):
    graph = Graph.from_edges([], nodes=labels)
    if label in graph:
        return
    with pytest.raises(UnknownNodeError, match="the graph has no node") as error:
        graph.position(label)
    assert len(str(error.value)) < 500
    if all(type(name) is str and name.isprintable() for name in labels):
        with pytest.raises(UnknownNodeError, match="the graph has no node"):
            raise make_unknown_node_error(label, TextLabels.from_labels(labels))


def test_many_labels_take_little_cpu_time():
    names = TextLabels.from_labels([f"node_{number:07d}" for number in range(500_000)])
    begin = time.process_time()
    assert "node_0004123" in suggest_labels("node-0004123", names)
    assert time.process_time() - begin < 1.5  # measured: 0.1 s
