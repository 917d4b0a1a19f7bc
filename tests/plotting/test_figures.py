"""Saved figures: editable text, embedded fonts, nothing clipped, column widths, bars from zero."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

import curiograph as cg
from curiograph.plotting import COLUMN_WIDTHS, create_figure, save_figure
from reproduction.__main__ import read_report

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def results() -> dict:
    """One result of every kind that can be drawn without a dataset."""
    graph = cg.toys.library()
    walks = [
        cg.explore(graph, ["greedy", "random"][n % 2], "igt", graph.labels[n % 12], 10, seed=n).nodes for n in range(24)
    ]
    people = cg.human.Trajectories.from_walks(walks, users=[n % 8 for n in range(24)], graph=graph)
    growths = cg.measure(graph, people)
    return {
        "walk": cg.explore(graph, "beam", "igt", "music", 9, seed=0),
        "growth": growths[0],
        "growths": growths,
        "survival": growths.gap_survival(),
        "groups": cg.compare_groups(growths, ["a $ group", "another group"] * 4),
        "score": cg.correlate_growth(growths, range(8)),
        "motives": cg.human.hypotheses(graph, people, motives=["uniform", "igt"], burn_in=2),
        "null": cg.human.compare_growth(graph, people, nulls=["shuffled"], steps=5),
        "pagerank": cg.pagerank(graph, history=["music"]),
        "recommendations": cg.recommend(graph, ["music", "physics"], k=4),
        "rate": cg.rate_distortion(graph),
        "walkers": cg.walk_statistics(graph, "random", walks=10, steps=5, seed=0),
    }


NAMES = ["walk", "growth", "growths", "survival", "groups", "score", "motives", "null", "pagerank", "recommendations",
         "rate", "walkers"]  # fmt: skip


def get_figure(result) -> Figure:
    drawn = result.plot()
    return drawn if isinstance(drawn, Figure) else drawn.figure


def list_texts(figure: Figure) -> list[str]:
    texts = [text for text in figure.findobj(match=lambda artist: hasattr(artist, "get_text")) if text.get_visible()]
    return [text.get_text() for text in texts if text.get_text().strip()]


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


@pytest.mark.parametrize("name", NAMES)
def test_no_label_is_outside_of_the_canvas(results, name, tmp_path):
    """Every text of the SVG is inside its view box, which is cropped to what is drawn."""
    figure = get_figure(results[name])
    save_figure(figure.axes[0], tmp_path / "drawn.svg")
    root = ElementTree.parse(tmp_path / "drawn.svg").getroot()
    width, height = (float(size.removesuffix("pt")) for size in (root.get("width"), root.get("height")))
    figure.draw_without_rendering()
    drawn = figure.get_tightbbox()  # inches
    if figure.has_column_width:
        canvas = figure.bbox_inches
        assert canvas.x0 - 0.02 <= drawn.x0
        assert drawn.x1 <= canvas.x1 + 0.02
        assert canvas.y0 - 0.02 <= drawn.y0
        assert drawn.y1 <= canvas.y1 + 0.02
        assert (width, height) == pytest.approx((72 * canvas.width, 72 * canvas.height), abs=0.5)
    else:
        assert width >= 72 * drawn.width - 1
        assert height >= 72 * drawn.height - 1


@pytest.mark.parametrize("width", ["single", "double"])
def test_column_widths(results, width, tmp_path):
    figure = results["groups"].plot(width)
    figure.savefig(tmp_path / "drawn.svg")
    root = ElementTree.parse(tmp_path / "drawn.svg").getroot()
    assert float(root.get("width").removesuffix("pt")) == pytest.approx(72 * COLUMN_WIDTHS[width])
    assert results["survival"].plot(width=width).figure.get_figwidth() == COLUMN_WIDTHS[width]
    sizes = {text.get_fontsize() for ax in figure.axes for text in (ax.xaxis.label, *ax.get_xticklabels())}
    assert max(sizes) <= 8


def test_unknown_width():
    with pytest.raises(cg.UnknownNameError, match="width is 'wide'; the choices are single, double"):
        create_figure("wide")


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_same_figure_has_the_same_bytes(results, ending, tmp_path):
    for copy in ("one", "two"):
        results["groups"].plot().savefig(tmp_path / f"{copy}.{ending}")
    assert (tmp_path / f"one.{ending}").read_bytes() == (tmp_path / f"two.{ending}").read_bytes()


def test_groups_share_scales_and_one_legend(results):
    figure = results["groups"].plot()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a $ group (4 people)", "another group (4 people)"]
    gaps, bits, survival, effects = figure.axes
    assert [len(ax.lines) for ax in (gaps, bits, survival)] == [2, 2, 2]
    assert gaps.lines[0].get_color() != gaps.lines[1].get_color()
    assert gaps.lines[0].get_linestyle() != gaps.lines[1].get_linestyle()
    assert gaps.lines[0].get_ydata().tolist() == results["groups"].curves["beta1"]["a $ group"].mean.tolist()
    assert "a $ group - another group" in effects.get_xlabel()


def test_figures_are_shown_in_notebooks(results):
    assert results["groups"].plot()._repr_png_().startswith(b"\x89PNG")


def test_bars_start_at_zero(results):
    """The bars of all results, and of the stored table 1."""
    motives = results["motives"].plot()
    for ax in (*motives.axes, results["pagerank"].plot()):
        low, high = ax.get_xlim()
        assert ax.patches
        assert low <= 0 <= high
        assert all(min(bar.get_x(), bar.get_x() + bar.get_width()) == 0 or bar.get_x() == 0 for bar in ax.patches)


def test_bars_of_table_1_start_at_zero():
    for ax in read_report("table1", Path(__file__).parents[2] / "docs" / "results").figure.axes:
        assert ax.get_ylim()[0] <= 0


def test_own_figures_are_saved_in_the_same_style(tmp_path):
    ax = Figure().subplots()
    ax.set_title("mine")
    save_figure(ax, tmp_path / "mine.svg")
    assert re.search(r"<text[^>]*>mine</text>", (tmp_path / "mine.svg").read_text())
    assert np.isfinite(ax.get_xlim()).all()
