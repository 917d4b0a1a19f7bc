"""Saved figures: editable text, embedded fonts, the same bytes every time, bars from zero."""

from __future__ import annotations

from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

import curiograph as cg
from curiograph.plotting import save_figure

SVG = "{http://www.w3.org/2000/svg}"
EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def results() -> dict:
    """One result of every kind that can be drawn without a dataset, with a label and a user that look like HTML."""
    edges = [[EVIL if label == "dance" else label for label in edge] for edge in cg.toys.library().to_networkx().edges]
    graph = cg.Graph.from_edges(edges)
    walks = [
        cg.explore(graph, ["greedy", "random"][n % 2], "igt", graph.labels[n % 12], 10, seed=n).nodes for n in range(24)
    ]
    people = cg.human.Trajectories.from_walks(walks, users=[EVIL, *range(1, 8)] * 3, graph=graph)
    growths, profile = cg.measure(graph, people), cg.profile(graph, people)
    groups = [["a $ group", EVIL][n % 2] for n in range(24)]
    return {
        "walk": cg.explore(graph, "beam", "igt", "music", 9, seed=0),
        "growth": growths[0],
        "growths": growths,
        "survival": cg.gap_survival(growths),
        "profile": profile,
        "styles": profile.styles(3),
        "groups": cg.compare_groups(profile, groups, permutations=99),
        "score": cg.correlate(profile, [n % 8 for n in range(24)], permutations=99),
        "motives": cg.human.hypotheses(graph, people, motives=["uniform", "igt"], burn_in=2),
        "null": cg.human.compare_growth(graph, people, nulls=["shuffled"], steps=5),
        "pagerank": cg.pagerank(graph, history=["music"]),
        "recommendations": cg.recommend(graph, ["music", "physics"], k=4),
        "rate": cg.rate_distortion(graph),
        "walkers": cg.walk_statistics(graph, "random", walks=10, steps=5, seed=0),
    }


NAMES = ["walk", "growth", "growths", "survival", "profile", "styles", "groups", "score", "motives", "null", "pagerank",
         "recommendations", "rate", "walkers"]  # fmt: skip


def get_figure(result) -> Figure:
    drawn = result.plot()
    return drawn if isinstance(drawn, Figure) else drawn.figure


@pytest.mark.parametrize("name", NAMES)
def test_text_of_svg_is_editable_and_that_of_pdf_is_no_type_3_font(results, name, tmp_path):
    figure = get_figure(results[name])
    figure.savefig(tmp_path / "drawn.svg")
    written = {
        "".join(element.itertext()).strip()
        for element in ElementTree.parse(tmp_path / "drawn.svg").iter()
        if element.tag in (f"{SVG}text", f"{SVG}tspan")
    }
    labels = [
        label
        for ax in figure.axes
        if ax.axison
        for label in (ax.get_xlabel(), ax.get_ylabel())
        if label and ax.get_visible()
    ]
    assert written
    assert {label for label in labels if "\n" not in label} <= written
    figure.savefig(tmp_path / "drawn.pdf")
    document = (tmp_path / "drawn.pdf").read_bytes()
    assert b"/Type3" not in document
    assert b"/FontFile2" in document  # an embedded TrueType font


class Tags(HTMLParser):
    """The tags of an HTML text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.tags.append(tag)


@pytest.mark.parametrize("name", ["growth", "growths", "survival", "profile", "styles", "groups", "score", "null"])
def test_reprs_are_short_and_html_is_escaped(results, name):
    text = repr(results[name])
    assert len(text) < 400
    assert "array(" not in text
    tags = Tags(results[name]._repr_html_()).tags
    assert "table" in tags
    assert "script" not in tags


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_same_figure_has_the_same_bytes(results, ending, tmp_path):
    for copy in ("one", "two"):
        save_figure(results["groups"].plot(), tmp_path / f"{copy}.{ending}")
    assert (tmp_path / f"one.{ending}").read_bytes() == (tmp_path / f"two.{ending}").read_bytes()
