"""Predict a choice: how likely each candidate is by PageRank, igt, cpt and their mixture."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from scipy.stats import rankdata

from curiograph.arrays import Float64
from curiograph.centrality.history import History
from curiograph.errors import WalkError
from curiograph.messages import quote_value
from curiograph.recommendation.ranker import find_candidates, score_candidates
from curiograph.recommendation.recommender import Recommender, select_top
from curiograph.service.labels import encode_label
from curiograph.service.responses import encode_numbers


def predict_choice(recommender: Recommender, seen: History, choice: Hashable | None, k: int) -> dict[str, Any]:
    """The best candidates of a history with shares and percentiles, and those of the choice that was made."""
    graph, ranker = recommender.graph, recommender.ranker
    ending = seen.nodes_last_at_end
    candidates = find_candidates(graph, [ending], "last")
    scores = {name: score_candidates(part, graph, [ending], candidates) for name, part in ranker.parts().items()}
    scores[ranker.name] = ranker.joined(scores)
    shares = {name: _shares(each) for name, each in scores.items()}
    percentiles = {name: percentile_ranks(each) for name, each in scores.items()}

    def node_answer(place: int) -> dict[str, Any]:
        return {
            "node": encode_label(graph.label(int(candidates.nodes[place]))),
            "shares": encode_numbers({name: each[place] for name, each in shares.items()}),
            "percentiles": encode_numbers({name: each[place] for name, each in percentiles.items()}),
        }

    made = None
    if choice is not None:
        found = np.flatnonzero(candidates.nodes == graph.position(choice))
        if len(found) == 0:
            raise WalkError(f"{quote_value(choice)} is no candidate after this history; only unvisited neighbours are.")
        made = node_answer(int(found[0]))
    best = select_top(scores[ranker.name], np.ones(len(candidates.nodes), bool), k)
    return {
        "candidates": len(candidates.nodes),
        "ranking": [node_answer(place) for place in best.tolist()],
        "choice": made,
    }


def percentile_ranks(scores: Float64) -> Float64:
    """The share of the others that each candidate beats, an equal one counting half; NaN for an only one.

    >>> percentile_ranks(np.array([0.5, 0.7, 0.5])).tolist()
    [0.25, 1.0, 0.25]
    """
    if len(scores) < 2:
        return np.full(len(scores), np.nan)
    return np.asarray((rankdata(scores) - 1) / (len(scores) - 1))


def _shares(scores: Float64) -> Float64:
    total = scores.sum()
    return scores / total if total > 0 else np.full(len(scores), np.nan)
