"""cg.gaps: a minimal basis of the gaps of a graph, and what would close them."""

from __future__ import annotations

import json

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from curiograph.growth.gap_report import read_dismissed
from oracles.reference import (
    build_skeleton,
    compute_gudhi_betti,
    count_independent_loops,
    draw_graph,
    find_shortest_lengths,
)

SEEDS = st.integers(0, 2**32)


@given(SEEDS, st.integers(4, 9), st.sampled_from([0.3, 0.45, 0.6]))
def test_no_basis_has_shorter_loops(seed, nodes, chance):
    graph = draw_graph(np.random.default_rng(seed), nodes, chance)
    assert sorted(cg.gaps(graph).columns()["length"]) == find_shortest_lengths(build_skeleton(graph))


@given(SEEDS, st.integers(4, 40), st.sampled_from([0.06, 0.1, 0.2, 0.35]), st.booleans())
def test_loops_are_independent_and_as_many_as_gaps(seed, nodes, chance, directed):
    graph = draw_graph(np.random.default_rng(seed), nodes, chance, directed=directed)
    joined = build_skeleton(graph)
    found = cg.gaps(graph)
    loops = found.columns()["loop"]
    assert found.exact
    assert count_independent_loops(joined, loops) == len(loops) == found.total
    assert found.total == cg.betti(graph) == compute_gudhi_betti(graph, range(nodes))
    for length in (4, 6):  # shorter ones are the beginning of the same basis
        part = cg.gaps(graph, max_length=length)
        kept = [loop for loop in loops if len(loop) <= length]
        assert sorted(part.columns()["loop"]) == sorted(kept)
        assert (part.longer, part.exact) == (len(loops) - len(kept), len(loops) == len(kept))


@given(SEEDS, st.sampled_from([0.08, 0.15, 0.3]), st.booleans())
def test_results_do_not_depend_on_the_order_of_rows(seed, chance, weighted):
    rng = np.random.default_rng(seed)
    graph = draw_graph(rng, 30, chance)
    rows = [(f"note {u}", f"note {v}", float(rng.integers(1, 4))) for u, v in zip(*graph.get_edges()[:2], strict=True)]
    rows = rows if weighted else [row[:2] for row in rows]
    texts = {label: f"text {rng.integers(5)} {rng.integers(5)}" for label in {end for row in rows for end in row[:2]}}
    shuffled = [(row[1], row[0], *row[2:]) for row in rng.permutation(np.array(rows, object)).tolist()]
    for given_texts in (None, texts):
        first, second = (cg.gaps(cg.Graph.from_edges(each), texts=given_texts) for each in (rows, shuffled))
        assert json.dumps(first.to_dict()) == json.dumps(second.to_dict())
        assert first.to_markdown() == second.to_markdown()


@given(SEEDS, st.sampled_from([0.1, 0.2, 0.3]))
def test_what_would_close_a_gap_closes_it(seed, chance):
    graph = draw_graph(np.random.default_rng(seed), 25, chance)
    found = cg.gaps(graph)
    before, edges = found.to_dict(), list(zip(*graph.get_edges()[:2], strict=True))
    plain = graph.to_networkx()
    for row in before["rows"][:5]:
        loop = row["loop"]
        near = [set(nx.common_neighbors(plain, *link)) - set(loop) for link in row["links"]]
        scores = [sum(1 / np.log(plain.degree(w)) for w in shared) for shared in near]
        assert scores == pytest.approx(sorted(scores, reverse=True))
        assert not any(plain.has_edge(*link) for link in row["links"])
        for link in row["links"] if len(loop) == 4 else []:
            linked = cg.Graph.from_edges([*edges, link], nodes=range(25))
            assert loop in cg.gaps(linked).compare(before)[1]
        for node in row["nodes"]:
            assert 2 * len(set(plain[node]) & set(loop)) > len(loop)
            linked = cg.Graph.from_edges({*edges, *((min(node, u), max(node, u)) for u in loop)}, nodes=range(25))
            assert loop in cg.gaps(linked).compare(before)[1]


@given(SEEDS, st.sampled_from([0.1, 0.2, 0.3]))
def test_opened_and_closed_gaps_add_up(seed, chance):
    rng = np.random.default_rng(seed)
    one, other = (draw_graph(np.random.default_rng(seed), 25, chance), draw_graph(rng, 25, chance))
    pairs = np.array(list(zip(*one.get_edges()[:2], strict=True)))
    more = np.array(list(zip(*other.get_edges()[:2], strict=True)))
    changed = np.concatenate([pairs[rng.random(len(pairs)) < 0.9], more[rng.random(len(more)) < 0.1]])
    later = cg.Graph.from_edges(np.unique(changed, axis=0).tolist() or [(0, 1)], nodes=range(25))
    before, after = cg.gaps(one), cg.gaps(later)
    opened, closed = after.compare(json.loads(json.dumps(before.to_dict())))
    assert after.total - before.total == len(opened.loops) - len(closed)
    same, none = before.compare(before.to_dict())
    assert (len(same.loops), none) == (0, [])


def test_hidden_gaps_stay_hidden_if_another_loop_shows_them():
    links = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("d", "e"), ("e", "f"), ("f", "g"), ("g", "d")]
    found = cg.gaps(cg.Graph.from_edges(links))
    assert found.hide([["b", "c", "d", "a"], ["no", "such", "loop"]]).columns()["gap"] == ["d - e - f - g"]
    twin = cg.Graph.from_edges([*links, ("B", "a"), ("B", "b"), ("B", "c")])  # B - c - d - a is the same gap
    assert cg.gaps(twin).columns()["gap"].count("B - a - d - c") == 1
    assert cg.gaps(twin).hide([["b", "c", "d", "a"]]).columns()["gap"] == ["d - e - f - g"]


def test_persistence_is_that_of_links_between_the_nodes():
    """A loop opens with its weakest link; a pentagon is filled when two links from one node are there."""
    graph = cg.toys.cycle(5)
    vectors = np.abs(np.random.default_rng(0).normal(size=(5, 3)))
    meaning = cg.Similarity.from_embeddings(graph, vectors)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    alike = unit @ unit.T
    weakest = min(alike[i, (i + 1) % 5] for i in range(5))
    filled = max(min(alike[i, (i + 2) % 5], alike[i, (i + 3) % 5]) for i in range(5))
    assert cg.gaps(graph, texts=meaning).persistence.tolist() == pytest.approx([weakest - filled])
    weighted = cg.Graph.from_edges([(0, 1, 3.0), (1, 2, 2.0), (2, 3, 5.0), (3, 0, 4.0), (3, 4, 1.0)])
    row = cg.gaps(weighted).to_dict()["rows"][0]
    assert (row["persistence"], row["weakest"]) == (2.0, [1, 2])


def test_important_gaps_come_first():
    """The loop across two cliques comes before those inside, and a report asks about it first."""
    cliques = [(f"{name}{u}", f"{name}{v}") for name in "xy" for u in range(6) for v in range(u)]
    inside = [("x0", "p"), ("p", "q"), ("q", "x1"), ("p", "r"), ("r", "x2")]
    found = cg.gaps(cg.Graph.from_edges([*cliques, *inside, ("x3", "y3"), ("x4", "y4")]))
    assert found.columns()["gap"][0] == "x3 - x4 - y4 - y3"
    report = found.to_markdown()
    assert report.count("```mermaid") == len(found.loops) == 3
    titles = [str(label) for label in found.graph.labels]
    headings = "\n".join(line for line in report.splitlines() if line.startswith("## "))
    loops = [[titles[k] for k in loop or []] for loop in read_dismissed(headings, titles).values()]
    assert len(found.hide(loops).loops) == 0


def test_bad_settings():
    with pytest.raises(cg.SettingError, match="3"):
        cg.gaps(cg.toys.cycle(4), max_length=3)
    with pytest.raises(cg.GraphError):
        cg.gaps(cg.Graph.from_edges([]))
    assert cg.gaps(cg.toys.complete(4)).to_frame().empty


@pytest.mark.long
@pytest.mark.parametrize(("family", "exact"), [("random", False), ("preferential", True), ("small world", False)])
def test_large_graphs(family, exact):
    draw = {
        "random": lambda: nx.gnm_random_graph(100_000, 300_000, seed=0),
        "preferential": lambda: nx.barabasi_albert_graph(100_000, 3, seed=0),
        "small world": lambda: nx.watts_strogatz_graph(100_000, 6, 0.1, seed=0),
    }
    found = cg.gaps(cg.Graph.from_networkx(draw[family]()))
    assert (len(found.loops) + found.longer, found.exact) == (found.total, exact)
    assert max(map(len, found.loops)) >= 6
