"""Neighborhoods of walks: comparison with the reference, and of messages with dense matrices."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import curiograph as cg
from curiograph.kernels import neighborhood
from oracles import reference

FAR = 1000  # no limit, on graphs this small


class Case(NamedTuple):
    """Walks with their candidates (positions) and rewards ahead, and the limits of the neighborhood."""

    graph: cg.Graph
    walks: list[list[int]]
    options: list[list[int]]
    ahead: list[int]
    hops: int = FAR
    most: int = FAR
    fan: int = FAR

    @property
    def lengths(self) -> np.ndarray:
        return np.array([len(walk) for walk in self.walks], np.int64)

    def read(self) -> tuple[np.ndarray, ...]:
        nodes = np.full((len(self.walks), max(self.lengths, default=0)), -1, np.int32)
        for i, walk in enumerate(self.walks):
            nodes[i, : len(walk)] = walk
        offsets = np.cumsum([0, *map(len, self.options)], dtype=np.int64)
        flat = np.array([v for some in self.options for v in some], np.int32)
        rows, ahead = self.graph.skeleton, np.array(self.ahead, np.int64)
        return neighborhood.read_neighborhood(
            rows.indptr, rows.indices, nodes, self.lengths, offsets, flat, ahead, self.hops, self.most, self.fan
        )


def check(case: Case) -> None:
    """Compare nodes, links, loose links and flags of every walk with the reference."""
    bounds, places, starts, links, loose, flags = case.read()
    joined = reference.to_undirected(case.graph)
    assert (len(bounds), bounds[0], bounds[-1]) == (len(case.walks) + 1, 0, len(places))
    assert (len(starts), starts[0], starts[-1]) == (len(places) + 1, 0, len(links))
    assert (len(loose), flags.shape) == (len(links), (len(places), neighborhood.NUM_FLAGS))
    for i, (walk, options) in enumerate(zip(case.walks, case.options, strict=True)):
        nodes, around = reference.read_neighborhood(joined, walk, options, case.hops, case.most, case.fan)
        first = bounds[i]
        assert places[first : bounds[i + 1]].tolist() == nodes
        for k, v in enumerate(nodes, start=first):
            found = links[starts[k] : starts[k + 1]]
            assert sorted(found.tolist()) == sorted(first + nodes.index(u) for u in around[v])
            expected = [reference.is_loose(joined, walk, v, places[other]) for other in found]
            assert loose[starts[k] : starts[k + 1]].tolist() == expected
            row = reference.compute_flags(joined, walk, options, case.ahead[i], v)
            assert flags[k] == pytest.approx(row, abs=1e-6), (v, walk, options)


def drawn_case(draw: st.DrawFn, limit: st.SearchStrategy[int]) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    size = draw(st.integers(2, 16))
    graph = reference.draw_graph(rng, size, draw(st.floats(0, 0.6)), directed=draw(st.booleans()))
    walks, options = [], []
    for _ in range(draw(st.integers(0, 4))):
        order = rng.permutation(size).tolist()
        length = draw(st.integers(1, size))
        walks.append(order[:length])
        options.append(sorted(order[length : length + draw(st.integers(0, 5))]))
    ahead = [draw(st.integers(0, 12)) for _ in walks]
    return Case(graph, walks, options, ahead, draw(limit), draw(limit), draw(limit))


cases = st.composite(drawn_case)


@given(cases(st.integers(0, 7)))
def test_equals_reference(case):
    check(case)


@given(cases(st.just(FAR)))
def test_equals_reference_without_limits(case):
    check(case)
    bounds, places, *_ = case.read()
    joined = reference.to_undirected(case.graph)
    for i, (walk, options) in enumerate(zip(case.walks, case.options, strict=True)):
        reached = {v for u in [*walk, *options] for v in reference.nx.node_connected_component(joined, u)}
        assert set(places[bounds[i] : bounds[i + 1]].tolist()) == (reached if options else set())


@pytest.mark.parametrize(("hops", "most", "fan"), [(5, 256, 64), (1, 256, 64), (5, 7, 64), (5, 256, 2)])
def test_equals_reference_on_longer_walks(hops, most, fan):
    """Longer than the number of recent nodes with flags of their own."""
    rng = np.random.default_rng(0)
    graph = cg.generate("ba", nodes=70, seed=0)
    walks = [rng.permutation(70)[:length].tolist() for length in (9, 10, 11, 12, 40, 60)]
    options = [reference.find_candidates(graph, walk, "frontier") for walk in walks]
    check(Case(graph, walks, options, [9, 9, 3, 3, 3, 0], hops, most, fan))


def test_candidates_are_expanded_before_the_walk():
    """On a path 0 .. 6 walked from 3 to 2, the candidate is 1: first 0 next to it, then 4, 5, 6 next to the walk."""
    path = cg.Graph.from_edges([(i, i + 1) for i in range(6)])
    read = [Case(path, [[3, 2]], [[1]], [1], hops, most).read()[1].tolist() for hops, most in [(9, 9), (1, 9), (9, 1)]]
    assert read == [[3, 2, 1, 0, 4, 5, 6], [3, 2, 1, 0, 4], [3, 2, 1, 0]]
    assert Case(path, [[3, 2]], [[1]], [1], hops=0).read()[1].tolist() == [3, 2, 1]


def test_link_that_closes_a_loop_is_loose():
    """In a square 0-1-2-3 with 0 visited, the ends of the links 1-2 and 2-3 have no common visited neighbor."""
    square = cg.toys.cycle(4)
    _, places, starts, links, loose, _ = Case(square, [[0]], [[1, 3]], [3]).read()
    two = places.tolist().index(2)
    assert loose[starts[two] : starts[two + 1]].tolist() == [True, True]
    triangle = cg.toys.cycle(3)
    _, places, starts, links, loose, _ = Case(triangle, [[0]], [[1, 2]], [2]).read()
    between = [loose[s] for k in (1, 2) for s in range(starts[k], starts[k + 1]) if links[s] != 0]
    assert between == [False, False]


def test_walk_without_candidates_has_no_neighborhood():
    for walks, options in [([[0], [1, 2], [3]], [[], [3], []]), ([[0, 1]], [[]]), ([], [])]:
        check(Case(cg.toys.cycle(5), walks, options, [1] * len(walks)))


def test_size_does_not_grow_with_the_graph():
    """A hub of 20,000 leaves is read in part if it is visited, a candidate, or next to one."""
    leaves = 20_000
    edges = [(0, v) for v in range(1, leaves)] + [(1, leaves), (leaves, leaves + 1)]
    star = cg.Graph.from_edges(edges)
    most = 256
    for walk, options in [([0, 1], [leaves]), ([1], [0, leaves]), ([leaves + 1], [leaves]), ([0], list(range(1, 100)))]:
        for fan in (64, leaves):
            bounds, places, _, links, _, _ = Case(star, [walk] * 5, [options] * 5, [9] * 5, 5, most, fan).read()
            assert np.all(np.diff(bounds) <= len(walk) + len(options) + most)
            assert len(places) == bounds[-1]
            assert len(links) < 4 * len(places)  # nearly a tree


def test_visited_hub_is_linked_to_the_neighborhood():
    """Its row is far longer than the list of nodes, so that the list is scanned instead."""
    leaves = 3000
    edges = [(0, v) for v in range(1, leaves)] + [(v, v + 1) for v in range(1, leaves - 1)]
    wheel = cg.Graph.from_edges(edges)
    check(Case(wheel, [[0, 5], [7, 0]], [[4, 6], [1000]], [2, 2], 2, 10, 4))


@settings(max_examples=30)
@given(cases(st.sampled_from([1, 3, FAR])), st.integers(1, 5))
def test_messages_are_a_matrix_product_and_gradients_its_transpose(case, width):
    bounds, places, starts, links, loose, _ = case.read()
    rng = np.random.default_rng(1)
    count = len(places)
    every, visited, across = np.zeros((3, count, count))
    walked = np.zeros(count, bool)
    for first, last, length in zip(bounds, bounds[1:], case.lengths, strict=False):
        walked[first : min(first + length, last)] = True
    for k in range(count):
        for slot in range(starts[k], starts[k + 1]):
            other = links[slot]
            every[k, other] = 1 / (starts[k + 1] - starts[k])
            visited[k, other] = walked[other]
            across[k, other] = 0.25 * (loose[slot] and not walked[other])
    blocks = (np.eye(count), every, visited, across)
    hidden = rng.normal(size=(count, width)).astype(np.float32)
    out = np.full((count, 4 * width), np.nan, np.float32)
    neighborhood.gather_messages(bounds, starts, links, loose, case.lengths, hidden, out)
    assert out == pytest.approx(np.hstack([block @ hidden for block in blocks]), abs=1e-5)
    gradient = rng.normal(size=out.shape).astype(np.float32)
    back = np.full((count, width), np.nan, np.float32)
    neighborhood.gather_gradients(bounds, starts, links, loose, case.lengths, gradient, back)
    pieces = np.split(gradient, 4, axis=1)
    assert back == pytest.approx(sum(b.T @ piece for b, piece in zip(blocks, pieces, strict=True)), abs=1e-5)


@settings(max_examples=30)
@given(cases(st.sampled_from([1, FAR])))
def test_mean_over_a_walk(case):
    bounds, places, *_ = case.read()
    hidden = np.random.default_rng(2).normal(size=(len(places), 3)).astype(np.float32)
    means = neighborhood.compute_walk_mean(bounds, case.lengths, hidden)
    for i, (walk, options) in enumerate(zip(case.walks, case.options, strict=True)):
        states = hidden[bounds[i] : bounds[i] + len(walk)] if options else np.zeros((1, 3))
        assert means[i] == pytest.approx(states.mean(axis=0), abs=1e-6)


@settings(max_examples=30)
@given(cases(st.sampled_from([1, FAR])))
def test_walk_state_is_added_to_its_nodes(case):
    bounds, places, *_ = case.read()
    rng = np.random.default_rng(3)
    values = rng.normal(size=(len(places), 3)).astype(np.float32)
    walks = rng.normal(size=(len(case.walks), 3)).astype(np.float32)
    expected = np.maximum(values + np.repeat(walks, np.diff(bounds), axis=0), 0)
    neighborhood.add_walk_relu(bounds, walks, values)
    assert values == pytest.approx(expected, abs=1e-6)
