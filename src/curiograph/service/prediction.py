"""Predict a choice: how likely each candidate is by PageRank, igt, cpt and their mixture."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from curiograph.centrality.history import History
from curiograph.errors import WalkError
from curiograph.messages import quote_value
from curiograph.recommendation.ranker import find_candidates, score_candidates
from curiograph.recommendation.recommender import Recommender, select_top
from curiograph.service.labels import encode_label
from curiograph.service.responses import encode_number
from curiograph.service.step_view import rank_percentiles


def predict_choice(recommender: Recommender, history: History, choice: Hashable | None, k: int) -> dict[str, Any]:
    """Encode the k likeliest candidates after a history, and the choice that was made if given.

    Each has its share of the scores and its percentile, by every component and by the mixture.
    """
    graph, ranker = recommender.graph, recommender.ranker
    visited = history.nodes_last_at_end
    candidates = find_candidates(graph, [visited], "last")
    scores = {name: score_candidates(part, graph, [visited], candidates) for name, part in ranker.parts().items()}
    scores[ranker.name] = ranker.joined(scores)
    totals = {name: values.sum() for name, values in scores.items()}
    percentiles = {name: rank_percentiles(values) for name, values in scores.items()}

    def encode_candidate(i: int) -> dict[str, Any]:
        shares = {name: values[i] / totals[name] if totals[name] > 0 else np.nan for name, values in scores.items()}
        return {
            "node": encode_label(graph.label(int(candidates.nodes[i]))),
            "shares": {name: encode_number(share) for name, share in shares.items()},
            "percentiles": {name: encode_number(values[i]) for name, values in percentiles.items()},
        }

    chosen = None
    if choice is not None:
        found = np.flatnonzero(candidates.nodes == graph.position(choice))
        if len(found) == 0:
            raise WalkError(f"{quote_value(choice)} is no candidate after this history; only unvisited neighbors are.")
        chosen = encode_candidate(int(found[0]))
    best = select_top(scores[ranker.name], np.ones(len(candidates.nodes), bool), k)
    return {
        "candidates": len(candidates.nodes),
        "ranking": [encode_candidate(i) for i in best.tolist()],
        "choice": chosen,
    }
