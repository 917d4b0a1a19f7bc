"""`/api/v1/rank`, `/recommend` and `/predict`."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import numpy as np
from fastapi import APIRouter, Request, Response

from curiograph.centrality.history import History
from curiograph.errors import WalkError
from curiograph.messages import quote_value
from curiograph.recommendation.ranker import find_candidates, score_candidates
from curiograph.recommendation.recommender import Recommender
from curiograph.recommendation.selection import EVERYTHING, Selection, Unknown, read_history, select_top
from curiograph.service import tasks
from curiograph.service.batching import RecommendQuery, User
from curiograph.service.json_route import JsonRoute
from curiograph.service.routes.walks import is_large
from curiograph.service.schemas import (
    ERROR_RESPONSES,
    PredictRequest,
    PredictResponse,
    RankRequest,
    RankResponse,
    RecommendManyResponse,
    RecommendRequest,
    RecommendResponse,
)
from curiograph.service.state import MANY_LABELS, get_service, run_until_disconnect
from curiograph.service.step_view import rank_percentiles

router = APIRouter(prefix="/api/v1", tags=["ranking"], responses=ERROR_RESPONSES, route_class=JsonRoute)


@router.post("/rank", response_model=RankResponse, operation_id="rank")
async def rank(body: RankRequest, request: Request) -> Response:
    """Rank nodes by PageRank or, with an agent, by curious PageRank; personalized to a history if given."""
    service = get_service(request)
    service.limits.check_ranking(body.k, body.history)
    opened = await service.open_graph(body.graph)
    is_heavy = body.agent is not None or is_large(opened, body.history or ())
    return await service.compute(tasks.rank_nodes, opened, body, request, math.inf if is_heavy else 0.0)


@router.post("/recommend", response_model=RecommendResponse | RecommendManyResponse, operation_id="recommend")
async def recommend(body: RecommendRequest, request: Request) -> Response:
    """Recommend nodes to visit next, for one history or for several, with reasons if requested."""
    service = get_service(request)
    limits, histories = service.limits, body.batch
    limits.check_walks(histories)
    limits.check_count("k", body.k, limits.k)
    opened = await service.open_graph(body.graph)
    unknown: Unknown = "skip" if body.skips_unknown else "error"
    if unknown == "error":
        await service.check_labels(opened, histories)
    recommender = opened.prepared_recommender if body.prepared_only else opened.recommender

    def read_users() -> tuple[list[User], list[int]]:
        """Return the users, and the nodes of all their histories if some are not prepared, otherwise none."""
        selection = EVERYTHING
        if body.exclude or body.filter is not None or body.diversity:
            selection = Selection.create(opened.labels, body.exclude, body.filter, body.diversity)
        read = (read_history(opened.labels, each, unknown) for each in histories)
        users = [User(history, selection, skipped) for history, skipped in read]
        nodes = [node for user in users for node in user.history.nodes.tolist()]
        return users, nodes if recommender.find_missing(nodes) else []

    is_long = sum(map(len, histories)) + len(body.exclude) + len(body.filter or ()) > MANY_LABELS
    users, nodes_to_prepare = await service.light_threads.run(read_users) if is_long else read_users()
    if nodes_to_prepare:
        preparation = service.prepare_nodes(opened, nodes_to_prepare, service.processes)
        recommender = await run_until_disconnect(request, preparation)
    query = RecommendQuery(recommender, body.k, body.candidates, body.reasons)
    work = service.batcher.answer(query, users)
    answers = await (work if len(users) * body.k <= MANY_LABELS else run_until_disconnect(request, work))
    content = answers[0] if body.histories is None else b'{"users":[%b]}' % b",".join(answers)
    return Response(content, media_type="application/json")


@router.post("/predict", response_model=PredictResponse, operation_id="predict")
async def predict(body: PredictRequest, request: Request) -> Response:
    """Predict the next node: share of the scores and percentile of each candidate, by PageRank, igt, cpt and their
    mixture; also those of the choice that was made, if given."""
    service = get_service(request)
    service.limits.check_ranking(body.k, body.history)
    opened = await service.open_graph(body.graph)
    await service.check_labels(opened, [body.history, [] if body.choice is None else [body.choice]])
    history = History.from_visits([opened.labels.position(label) for label in body.history])
    choice = None if body.choice is None else opened.labels.label(body.choice)
    recommender = await run_until_disconnect(
        request, service.prepare_nodes(opened, history.nodes.tolist(), service.processes)
    )
    content = await service.light_threads.run(_predict_choice, recommender, history, choice, body.k)
    return Response(content, media_type="application/json")


def _predict_choice(recommender: Recommender, history: History, choice: Hashable | None, k: int) -> bytes:
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
    response = {
        "candidates": len(candidates.nodes),
        "ranking": [encode_candidate(i) for i in best.tolist()],
        "choice": chosen,
    }
    return PredictResponse.model_validate(response).model_dump_json().encode()
