"""The motives similarity and similarity-history: definition, planted preference, and errors."""

from __future__ import annotations

import numpy as np
import pytest

import curiograph as cg
from curiograph.human.choices.choice_sets import find_choices
from curiograph.human.motives.catalog import SimilarityMotive, as_motives
from curiograph.human.trajectories import Trajectories

GRAPH = cg.generate("er", nodes=40, seed=2)
VECTORS = np.random.default_rng(0).normal(size=(40, 3))
SIMILARITY = cg.Similarity.from_embeddings(GRAPH, VECTORS)


def follow_similarity(walks: int, steps: int, strength: float, seed: int = 0) -> Trajectories:
    """Simulate people who choose with probability proportional to exp(strength * similarity to the last node)."""
    rng = np.random.default_rng(seed)
    lists = []
    for _ in range(walks):
        walk = [int(rng.integers(40))]
        for _ in range(steps):
            near = [node for node in GRAPH.neighbors(walk[-1]) if node not in walk]
            if not near:
                break
            scores = strength * SIMILARITY.compute_pairs([walk[-1]] * len(near), near)
            walk.append(near[int(rng.choice(len(near), p=np.exp(scores) / np.exp(scores).sum()))])
        lists.append(walk)
    return Trajectories.from_walks(lists, graph=GRAPH)


def test_scores_follow_the_definition():
    choices, _ = find_choices(GRAPH, follow_similarity(20, 8, 1.0), burn_in=2)
    unit = VECTORS / np.linalg.norm(VECTORS, axis=1)[:, None]
    cosines = np.clip(unit @ unit.T, 0, 1)
    last, mean = (
        SimilarityMotive(SIMILARITY, name).score_candidates(choices) for name in ("similarity", "similarity-history")
    )
    for row, history in enumerate(choices.windows.histories):
        some = slice(*choices.candidates.offsets[row : row + 2])
        nodes, visited = choices.candidates.nodes[some], history[history >= 0]
        assert last[some] == pytest.approx(cosines[visited[-1], nodes])
        assert mean[some] == pytest.approx(cosines[np.ix_(visited, nodes)].mean(axis=0))


def test_a_planted_preference_is_found():
    walks = follow_similarity(150, 8, 6.0)
    found = cg.human.hypotheses(GRAPH, walks, motives=["uniform", "degree", "igt"], similarity=SIMILARITY, burn_in=1)
    assert next(iter(found)) == "similarity"
    assert found["similarity"].gain.low > 0.5
    both = ["similarity", "similarity-history"]
    again = cg.human.hypotheses(
        GRAPH, walks, motives=both, similarity=SIMILARITY, burn_in=1, engine=cg.Engine(workers=2)
    )
    assert again["similarity"].gain == found["similarity"].gain
    assert again["similarity"].gain.value > again["similarity-history"].gain.value


def test_bad_input():
    walks = follow_similarity(5, 5, 1.0)
    choices, _ = find_choices(GRAPH, walks)
    with pytest.raises(cg.SettingError, match="motive similarity"):
        cg.human.hypotheses(GRAPH, walks, motives=["similarity"])
    similarity = cg.Similarity.from_texts(cg.toys.library())
    with pytest.raises(cg.GraphError, match="other nodes"):
        cg.human.hypotheses(GRAPH, walks, similarity=similarity)
    with pytest.raises(cg.errors.UnknownNameError, match="'meaning'"):
        as_motives(["meaning"], [], "igt", choices)
    assert [motive.name for motive in as_motives(["igt"], [], "igt", choices, SIMILARITY)] == ["igt", "similarity"]
