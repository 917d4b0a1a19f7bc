"""Saved figures: editable text, embedded fonts, the same bytes every time, bars from zero."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

import curiograph as cg
from curiograph.plotting import save_figure

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def results() -> dict:
    """One result of every kind that can be drawn without a dataset."""
    graph = cg.toys.library()
    walks = [
        cg.explore(graph, ["greedy", "random"][n % 2], "igt", graph.labels[n % 12], 10, seed=n).nodes for n in range(24)
    ]
    people = cg.human.Trajectories.from_walks(walks, users=[n % 8 for n in range(24)], graph=graph)
    growths, profile = cg.measure(graph, people), cg.profile(graph, people)
    groups = [["a $ group", "another group"][n % 2] for n in range(24)]
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


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_same_figure_has_the_same_bytes(results, ending, tmp_path):
    for copy in ("one", "two"):
        save_figure(results["groups"].plot(), tmp_path / f"{copy}.{ending}")
    assert (tmp_path / f"one.{ending}").read_bytes() == (tmp_path / f"two.{ending}").read_bytes()
