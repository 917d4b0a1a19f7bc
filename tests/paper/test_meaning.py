"""The experiment `meaning`, on people who choose by similarity."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from curiograph.paper import meaning

import curiograph as cg
from curiograph.errors import FileFormatError
from curiograph.graph.similarity import Similarity


@pytest.fixture(scope="module")
def wikispeedia(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Games of 30 users who prefer articles of the category of the last one."""
    folder = tmp_path_factory.mktemp("data")
    graph, rng = cg.generate("er", nodes=40, seed=0), np.random.default_rng(0)
    names = [f"A{node}" for node in range(40)]
    categories = [f"subject.C{node % 5}" for node in range(40)]
    (folder / "articles.tsv").write_text("\n".join(names) + "\n")
    rows = np.repeat(np.arange(40), graph.degrees)
    links = [f"{names[u]}\t{names[v]}" for u, v in zip(rows, graph.indices, strict=True)]
    (folder / "links.tsv").write_text("\n".join(links) + "\n")
    (folder / "categories.tsv").write_text("".join(f"{a}\t{c}\n" for a, c in zip(names, categories, strict=True)))
    games = []
    for game in range(120):
        walk = [int(rng.integers(40))]
        for _ in range(7):
            near = [node for node in graph.neighbors(walk[-1]) if node not in walk]
            if not near:
                break
            chances = np.array([4.0 if node % 5 == walk[-1] % 5 else 1.0 for node in near])
            walk.append(near[int(rng.choice(len(near), p=chances / chances.sum()))])
        games.append(f"u{game % 30}\t{game}\t9\t{';'.join(names[node] for node in walk)}\tNULL")
    (folder / "paths_finished.tsv").write_text("\n".join(games) + "\n")
    return folder


def test_similarity_is_found_and_results_are_restored(wikispeedia, tmp_path):
    found = meaning.run(meaning.Settings(folds=3), wikispeedia)
    plain, similar, _ = meaning.GIVEN
    assert found.users == 30
    assert found.gains[similar].low > max(0.05, found.gains[plain].high)
    assert found.weights["similarity"] == max(found.weights.values())
    assert abs(found.get_addition(similar, "igt").value) < 0.05
    assert "| degree, PageRank, similarity |" in found.to_markdown()
    stored = meaning.Meaning.from_dict(json.loads(json.dumps(found.to_dict())))
    assert stored.to_markdown() == found.to_markdown()
    found.save_plot(tmp_path / "meaning.png")
    assert len(found.sections) == 2


def test_addition_equals_the_joint_estimate_of_hypotheses(wikispeedia):
    """The bits that igt adds to degree, PageRank and similarity are those of `hypotheses(weights=True)`."""
    found = meaning.run(meaning.Settings(folds=3), wikispeedia)
    data = cg.human.load_dataset(wikispeedia)
    motives = ["degree", "pagerank", "similarity", "igt"]
    similarity = Similarity.from_texts(data.graph, data.texts)
    wanted = cg.human.hypotheses(
        data.graph, data.walks, motives=motives, similarity=similarity, folds=3, weights=True, workers=1
    ).weights["igt"]
    assert found.get_addition("degree, PageRank, similarity", "igt").value == pytest.approx(wanted.adds.value, abs=1e-4)


def test_fewer_walks_and_missing_categories(wikispeedia, tmp_path):
    assert meaning.run(meaning.Settings(max_games=40, folds=2), wikispeedia).choices < 300
    for name in ("articles.tsv", "links.tsv", "paths_finished.tsv"):
        (tmp_path / name).write_bytes((wikispeedia / name).read_bytes())
    with pytest.raises(FileFormatError, match=r"contains no categories.tsv"):
        meaning.run(meaning.Settings(), tmp_path)
