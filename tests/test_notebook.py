"""Short reprs and HTML of results in notebooks."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

import curiograph as cg

EVIL = "<script>alert(1)</script>"
NAMES = ["growth", "growths", "survival", "profile", "styles", "groups", "score", "null models"]


@pytest.fixture(scope="module")
def results() -> dict:
    names = [EVIL, *(f'a very long name of the node number {number}, with & and "' for number in range(24))]
    edges = cg.generate("er", nodes=25, seed=0).to_networkx().edges
    graph = cg.Graph.from_edges([(names[a], names[b]) for a, b in edges], nodes=names)
    walks = [cg.explore(graph, ["greedy", "random"][n % 2], "igt", names[n], 9, seed=n) for n in range(24)]
    users = [EVIL if n % 12 == 0 else f"{n % 12}" for n in range(24)]
    people = cg.human.Trajectories.from_walks(walks, users=users, graph=graph)
    growths, profile = cg.measure(graph, people), cg.profile(graph, people)
    return {
        "growth": growths[0],
        "growths": growths,
        "survival": cg.gap_survival(growths),
        "profile": profile,
        "styles": profile.styles(4),
        "groups": cg.compare_groups(profile, [[EVIL, "b"][n % 12 % 2] for n in range(24)], permutations=99),
        "score": cg.correlate(profile, [n % 12 for n in range(24)], permutations=99),
        "null models": cg.human.compare_growth(graph, people, nulls=["shuffled"], steps=5),
    }


class Checker(HTMLParser):
    """Collects tags."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.tags.append(tag)


@pytest.mark.parametrize("name", NAMES)
def test_reprs_are_short_and_html_is_escaped(results, name):
    text = repr(results[name])
    assert len(text) < 400
    assert "array(" not in text
    checker = Checker()
    checker.feed(results[name]._repr_html_())
    assert "table" in checker.tags
    assert "script" not in checker.tags
