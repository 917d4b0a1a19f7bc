"""Hidden links and gaps: definitions, against scikit-learn, networkx and a graph whose answer is known."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import curiograph as cg
from reproduction.__main__ import main
from reproduction.gaps import compare_with_communities, compute_auc, compute_precision, find_graphs, mark_chords


def test_precision_and_auc_with_ties() -> None:
    rng = np.random.default_rng(0)
    score, hidden = rng.integers(0, 4, 60).astype(float), rng.random(60) < 0.3
    assert compute_auc(score, hidden) == pytest.approx(roc_auc_score(hidden, score))
    assert np.isnan(compute_auc(score, np.zeros(60, bool)))
    drawn = [hidden[np.lexsort((rng.random(60), -score))[:25]].mean() for _ in range(4000)]
    assert compute_precision(score, hidden, 25) == pytest.approx(np.mean(drawn), abs=0.005)


def test_chords_and_communities_of_two_rings() -> None:
    """Two wheels without hubs, joined by one link: every loop and every chord is inside a community."""
    ring = nx.disjoint_union(nx.cycle_graph(5), nx.cycle_graph(5))
    ring.add_edge(0, 5)
    graph = cg.Graph.from_networkx(ring)
    marked = mark_chords(cg.gaps(graph))
    wanted = [
        {u, v} for side in (range(5), range(5, 10)) for u in side for v in side if u < v and not ring.has_edge(u, v)
    ]
    assert sorted(map(sorted, wanted)) == np.argwhere(np.triu(marked)).tolist()
    found = compare_with_communities(graph)
    assert (found["gaps"], found["communities"], found["loops"], found["chords inside"]) == (2, 2, 1.0, 1.0)
    assert found["unlinked pairs inside"] == pytest.approx(10 / 34)  # 45 pairs, 11 links
    assert found["unlinked pairs between"] == pytest.approx(24 / 34)  # 1 link of the 5.5 that degrees predict


def test_files_and_figures_of_a_small_folder(tmp_path: Path) -> None:
    """Squares with a diagonal, and a ring of 5: a gap opens where a diagonal is hidden, which is one of two chords."""
    vault = tmp_path / "obsidian-help" / "vault"
    vault.mkdir(parents=True)
    square = nx.Graph([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)])
    drawn = nx.disjoint_union_all([nx.cycle_graph(5), *[square] * 63])
    for node in drawn:
        links = " ".join(f"[[n{other}|secret{node}]]" for other in drawn[node])
        (vault / f"n{node}.md").write_text(f"topic{node % 3} {links}")
    graph, similarity = find_graphs(tmp_path)["vault"]
    assert similarity is not None
    first, second = graph.positions(["n0", "n0"]), graph.positions(["n3", "n1"])
    assert similarity.compute_pairs(first, second).tolist() == pytest.approx([1, 0])  # links are no part of texts
    assert main(["gaps", "--from", str(tmp_path), "--repeats", "4", "--out", str(tmp_path / "out"), "--quiet"]) == 0
    assert "| vault" in (tmp_path / "out" / "gaps.md").read_text()
    (result,) = json.loads((tmp_path / "out" / "gaps.json").read_text())["results"]
    assert (result["nodes"], result["links"], result["communities"]["gaps"]) == (257, 320, 1)
    mean = {name: each["value"] for name, each in result["recovery"].items()}
    assert mean["precision of random pairs"] == pytest.approx(32 / (257 * 256 / 2 - 288))
    opened = 32 * mean["recall"]
    assert opened > 0
    assert (mean["chords"] - 2 * opened) / 5 in (0, 0.25, 0.5, 0.75, 1)  # in these runs, the ring is a gap
    assert mean["AUC of chords by Adamic-Adar"] == pytest.approx(0.5 + mean["recall"] / 2, abs=0.001)
