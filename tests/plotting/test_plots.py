"""Contents of plots."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex

import curiograph as cg
from curiograph.agents.explore import Walk
from curiograph.graph.toys import complete, library
from curiograph.plotting import COLORS
from curiograph.plotting.graph_layout import compute_unit_layout


def drawn_texts(ax):
    return [text.get_text() for text in ax.texts]


def walk_on(graph: cg.Graph, nodes: list) -> Walk:
    growth = cg.measure(graph, nodes)
    return Walk(nodes, growth.beta1[1:].tolist(), "somebody", "igt", len(nodes), graph)


@pytest.fixture(scope="module")
def filled_and_open() -> Walk:
    """A walk with a closed and an open gap."""
    squares = [
        *zip("abcd", "bcda", strict=True),
        *(("m", label) for label in "abcd"),
        *zip("duvwd", "uvwdu", strict=True),
    ]
    return walk_on(cg.Graph.from_edges(squares), [*"abcdm", *"uvw"])


# ---- walks ----------------------------------------------------------------------------------------------------------


def test_closed_gaps_are_filled_and_open_ones_outlined(filled_and_open):
    ax = filled_and_open.plot()
    gaps = filled_and_open.growth.gaps
    filled = [patch for patch in ax.patches if patch.get_fill()]
    outlined = [patch for patch in ax.patches if not patch.get_fill()]
    assert len(filled) == sum(gap.closed_at is not None for gap in gaps) == 1
    assert len(outlined) == sum(gap.closed_at is None for gap in gaps) == 1
    assert to_hex(filled[0].get_facecolor()).upper() == COLORS["igt"]
    assert to_hex(outlined[0].get_edgecolor()).upper() == COLORS["igt"]
    at = dict(zip(filled_and_open.nodes, ax.collections[-1].get_offsets(), strict=True))
    assert sorted(filled[0].get_xy()[:-1].tolist()) == sorted(at[label].tolist() for label in "abcd")


def test_order_labels_path_and_title(filled_and_open):
    ax = filled_and_open.plot()
    texts = drawn_texts(ax)
    assert {str(number) for number in range(1, 9)} | set("abcdmuvw") == set(texts)
    links, path, jumps, nodes = ax.collections
    assert len(links.get_segments()) == 12
    assert len(path.get_segments()) == 6
    assert len(jumps.get_segments()) == 1  # from m nothing leads to u
    assert np.all(np.diff(nodes.get_array()) > 0)
    assert ax.get_title() == f"somebody looking for igt: return {filled_and_open.total:g}"
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["open gaps: 1", "closed gaps: 1", "path walked", "jump, no link"]


def test_labels_with_dollar_signs_are_not_parsed():
    """A dollar sign starts a formula in matplotlib; drawing would raise for one that is malformed."""
    names = ["a$^$", "$_b$", "c$", "d"]
    graph = cg.Graph.from_edges(list(zip(names, [*names[1:], names[0]], strict=True)))
    top = cg.recommend(graph, names[:1], k=2)
    eta = cg.pagerank(graph, history=names[:1])
    for ax in (walk_on(graph, names).plot(), top.plot(), eta.plot()):
        ax.figure.draw_without_rendering()
        texts = [text for axes in ax.figure.axes for text in (*axes.texts, *axes.get_yticklabels())]
        with_dollar = [text for text in texts if "$" in text.get_text()]
        assert with_dollar
        assert not any(text.get_parse_math() for text in with_dollar)


def test_revisits_and_jumps():
    """A walk with revisits and one move against the direction of an edge."""
    graph = cg.Graph.from_edges([("a", "b"), ("b", "a"), ("b", "c"), ("d", "c")], directed=True)
    entries = ["a", "b", "a", "b", "c", "d"]
    ax = cg.plot_walk(graph, entries)
    links, path, jumps, heads, nodes = ax.collections
    assert len(nodes.get_offsets()) == 4
    at = dict(zip("abcd", nodes.get_offsets().tolist(), strict=True))
    assert {tuple(sorted(map(tuple, line))) for line in path.get_segments()} == {
        tuple(sorted((tuple(at[a]), tuple(at[b])))) for a, b in ("ab", "bc")
    }
    assert jumps.get_segments()[0].tolist() == [at["c"], at["d"]]
    assert len(links.get_segments()) == 3
    assert len(heads.get_paths()) == 4  # two where a link leads both ways
    assert to_hex(path.get_color()).upper() == COLORS["human"]
    by_agent = Walk(entries, [0.0, 0, 1, 2, 3], "somebody", "igt", 6, graph).plot()
    assert to_hex(by_agent.collections[1].get_color()).upper() == COLORS["text"]
    assert len(by_agent.collections[-1].get_offsets()) == 4


@pytest.mark.parametrize("graph", [cg.generate("rg", nodes=60, seed=0), complete(8), cg.generate("ws", 700, seed=0)])
def test_layout_is_deterministic_and_places_neighbors_close(graph):
    places = compute_unit_layout(graph)
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    rows = np.repeat(np.arange(graph.num_nodes), graph.degrees)
    assert np.abs(places).max() == pytest.approx(1)
    assert np.array_equal(places, compute_unit_layout(graph))
    assert apart[np.triu_indices(graph.num_nodes, 1)].min() > 1e-4
    assert apart[rows, graph.indices].mean() <= apart.sum() / (graph.num_nodes**2 - graph.num_nodes) + 1e-9


# ---- growth and curves ----------------------------------------------------------------------------------------------


def test_growth_colors_and_dashes(filled_and_open):
    growth = filled_and_open.growth
    ax = growth.plot()
    upper, lives, right = ax.figure.axes
    (gaps,), (bits,) = upper.lines, right.lines
    assert list(gaps.get_ydata()) == [*growth.beta1.tolist(), growth.beta1[-1]]  # the last step has a width
    np.testing.assert_array_equal(bits.get_ydata(), growth.compressibility)
    assert (gaps.get_color(), bits.get_color()) == (COLORS["igt"], COLORS["cpt"])
    assert (gaps.get_linestyle(), bits.get_linestyle()) == ("-", "--")
    assert (upper.get_xlabel(), upper.get_ylabel()) == ("nodes visited", "information gaps")
    assert "compressibility" in right.get_ylabel()
    bars = [tuple(line.get_xdata()) for line in lives.lines if len(line.get_xdata()) == 2]
    assert bars == [(gap.opened_at, gap.closed_at or len(growth) + 0.5) for gap in growth.gaps]
    crosses = [line.get_xdata()[0] for line in lives.lines if line.get_marker() == "x" and len(line.get_xdata())]
    assert crosses == [gap.closed_at for gap in growth.gaps if gap.closed_at]
    assert [text.get_text() for text in lives.get_legend().get_texts()] == ["opens", "closes"]


def test_rate_distortion_shows_both_bounds_and_the_area():
    found = cg.rate_distortion(library())
    ax = found.plot()
    upper, lower = ax.lines
    assert upper.get_ydata().tolist() == found.upper.tolist()
    assert lower.get_ydata().tolist() == found.lower.tolist()
    assert upper.get_color() == COLORS["cpt"]
    assert f"compressibility: {found.compressibility:.3g} bits" in [t.get_text() for t in ax.get_legend().get_texts()]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("scale of description", "information rate (bits)")


# ---- rankings -------------------------------------------------------------------------------------------------------


def test_ranking_bars():
    plain = cg.pagerank(library(), history=["music"])
    led = cg.curious_pagerank(library(), "greedy", history=["music"])
    for found, color, title in ((plain, "pagerank", "PageRank, alpha 0.85"), (led, "greedy", "by greedy, alpha 0.85")):
        ax = found.plot()
        assert [bar.get_width() for bar in ax.patches] == [score for _, score in found.top(10)]
        assert [text.get_text() for text in ax.get_yticklabels()] == [label for label, _ in found.top(10)]
        assert {to_hex(bar.get_facecolor()).upper() for bar in ax.patches} == {COLORS[color]}
        assert ax.get_title().endswith(title)


def test_recommendations_with_ranks_by_component():
    top = cg.recommend(library(), ["music", "physics"], k=6)
    ax, beside = top.plot().figure.axes
    assert {"music", "physics", *(label for label, _ in top)} <= set(drawn_texts(ax))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["visited", "recommended, best first"]
    assert [tick.get_text() for tick in beside.get_xticklabels()] == ["by mixture", "by pagerank", "by igt", "by cpt"]
    assert [line.get_label() for line in beside.lines] == [label for label, _ in top]
    numbers = [int(text) for text in drawn_texts(beside)]
    assert numbers[:6] == [1, 2, 3, 4, 5, 6]
    for column, name in enumerate(["pagerank", "igt", "cpt"], start=1):
        ranks = [reason.ranks[name] for reason in top.reasons]
        assert numbers[6 * column : 6 * column + 6] == ranks
        heights = [line.get_ydata()[column] for line in beside.lines]
        assert sorted(heights) == [1, 2, 3, 4, 5, 6]
        assert [rank for _, rank in sorted(zip(heights, ranks, strict=True))] == sorted(ranks)
        assert to_hex(beside.collections[column].get_facecolor()[0]).upper() == COLORS[name]
