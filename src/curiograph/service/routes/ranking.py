"""`/api/v1/rank`, `/recommend` and `/predict`."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import Any

import numpy as np
import orjson
from fastapi import APIRouter, Response

from curiograph.centrality.history import History
from curiograph.errors import WalkError
from curiograph.messages import quote_value
from curiograph.recommendation.ranker import find_candidates, score_candidates
from curiograph.recommendation.recommender import Recommender
from curiograph.recommendation.selection import EVERYTHING, Selection, Unknown, read_history, select_top
from curiograph.service.batching import RecommendQuery
from curiograph.service.labels import encode_labels
from curiograph.service.prepared import prepare_for_request
from curiograph.service.schemas import (
    PredictRequest,
    PredictResponse,
    RankRequest,
    RankResponse,
    RecommendManyResponse,
    RecommendRequest,
    RecommendResponse,
)
from curiograph.service.state import ServiceDependency
from curiograph.service.step_view import rank_percentiles
from curiograph.service.tasks import build_ranking
from curiograph.service.time_limits import StopCheck

router = APIRouter(prefix="/api/v1", tags=["ranking"])

_MANY_LABELS = 1_000
"""Labels to exclude or to allow above which they are looked up in a thread."""


@router.post("/rank", response_model=RankResponse)
async def rank(request: RankRequest, service: ServiceDependency) -> Any:
    """Rank nodes by PageRank or, with an agent, by curious PageRank; personalized to a history if given."""
    service.limits.check_ranking(request.k, request.history)
    opened = await service.open_graph(request.graph)

    def compute(check: StopCheck) -> Any:
        return build_ranking(request, opened, service.limits)(lambda done, of: check())

    return await service.workers.run_with_deadline(compute)


@router.post("/recommend", response_model=RecommendResponse | RecommendManyResponse)
async def recommend(request: RecommendRequest, service: ServiceDependency) -> Response:
    """Recommend nodes to visit next, for one history or for several, with reasons if requested."""
    limits = service.limits
    limits.check_walks(request.batch)
    limits.check_count("k", request.k, limits.k)
    opened = await service.open_graph(request.graph)
    labels = opened.labels
    unknown: Unknown = "skip" if request.skips_unknown else "error"
    if unknown == "error" and any(labels.find(label) is None for history in request.batch for label in history):
        # raises; in a thread, because finding similar labels for the message may take seconds
        await service.quick_workers.run(lambda: [labels.walk(history) for history in request.batch])
    visits = [read_history(labels, history, unknown) for history in request.batch]
    selection = EVERYTHING
    if request.exclude or request.filter is not None or request.diversity:
        create = partial(Selection.create, labels, request.exclude, request.filter, request.diversity)
        is_long = len(request.exclude) + len(request.filter or ()) > _MANY_LABELS
        selection = await service.quick_workers.run(create) if is_long else create()
    recommender = opened.prepared_recommender if request.prepared_only else opened.recommender
    query = RecommendQuery(recommender, request.k, request.candidates, request.reasons)
    answers = await service.batcher.answer(query, [history for history, _ in visits], selection)
    for answer, (_, skipped) in zip(answers, visits, strict=True):
        if skipped:
            answer["skipped"] = encode_labels(skipped)
    content: Any = answers[0] if request.histories is None else {"users": answers}
    return Response(orjson.dumps(content), media_type="application/json")


@router.post("/predict", response_model=PredictResponse)
async def predict(request: PredictRequest, service: ServiceDependency) -> Any:
    """Predict the next node: share of the scores and percentile of each candidate, by PageRank, igt, cpt and their
    mixture; also those of the choice that was made, if given."""
    limits = service.limits
    limits.check_ranking(request.k, request.history)
    opened = await service.open_graph(request.graph)

    def compute(check: StopCheck) -> Any:
        choice = None if request.choice is None else opened.labels.label(request.choice)
        history = History.from_visits([opened.labels.position(label) for label in request.history])
        recommender = prepare_for_request(opened.recommender, history.nodes.tolist(), limits.parts, check)
        return _predict_choice(recommender, history, choice, request.k)

    return await service.workers.run_with_deadline(compute)


def _predict_choice(recommender: Recommender, history: History, choice: Hashable | None, k: int) -> dict[str, Any]:
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
            "node": graph.label(int(candidates.nodes[i])),
            "shares": shares,
            "percentiles": {name: values[i] for name, values in percentiles.items()},
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
