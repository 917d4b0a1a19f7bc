"""Counts of the published datasets; runs where CURIOGRAPH_DATA names a folder with them."""

from __future__ import annotations

import os

import pytest

from curiograph.human.data.load import load_dataset


@pytest.mark.skipif("CURIOGRAPH_DATA" not in os.environ, reason="CURIOGRAPH_DATA names no folder of datasets")
def test_published_counts():
    wiki = load_dataset("wikispeedia")
    assert wiki.graph is not None
    assert (wiki.graph.num_nodes, wiki.graph.num_edges + wiki.graph.cleaning.self_loops) == (4604, 119_882)
    assert len(wiki.walks) == 24_875 + 41_050
    steps = wiki.walks.windows(1)
    assert len(steps.along_links(wiki.graph)) > 0.999 * len(steps)  # back clicks resolved
    films = load_dataset("movielens")
    assert (len(films.walks), len(films.walks.nodes), len(films.titles)) == (610, 100_836, 9_742)
    books = load_dataset("books")
    assert (len(books.walks), len(books.walks.nodes)) == (45_868, 654_407)
    assert wiki.skipped.count == films.skipped.count == books.skipped.count == 0
