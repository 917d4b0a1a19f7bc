"""`/api/v1/rank`, `/recommend` and `/predict`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from fastapi import APIRouter, Request, Response

from curiograph.centrality.curious_pagerank import curious_pagerank
from curiograph.centrality.history import History
from curiograph.centrality.pagerank import pagerank
from curiograph.service.batching import RecommendQuery
from curiograph.service.catalog import check_reward, get_agent
from curiograph.service.labels import JsonLabel, Labels
from curiograph.service.prediction import predict_choice
from curiograph.service.prepared import copy_if_full, prepare_nodes
from curiograph.service.responses import encode_ranking
from curiograph.service.schemas import (
    PredictRequest,
    PredictResponse,
    RankRequest,
    RankResponse,
    RecommendManyResponse,
    RecommendRequest,
    RecommendResponse,
)
from curiograph.service.state import Service, ServiceDependency
from curiograph.service.time_limits import CancellableAgent, CancellableReward, StopCheck

router = APIRouter(prefix="/api/v1", tags=["ranking"])

_RECOMMEND_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/AskedRecommend"}}},
    }
}


@router.post("/rank", response_model=RankResponse)
async def rank(asked: RankRequest, service: ServiceDependency) -> Any:
    """Nodes by PageRank or, with an agent, by PageRank that it walks; personalised with a history."""
    k = service.check_count("k", asked.k, service.limits.k)
    service.check_walks([asked.history or []])
    opened = await service.opened(asked.graph)

    def ranked(check: StopCheck) -> Any:
        history = None if asked.history is None else opened.labels.walk(asked.history)
        if asked.agent is None:
            found: Any = pagerank(opened.graph, asked.alpha, history)
        else:
            agent = CancellableAgent(get_agent(asked.agent, service.limits), lambda _: check())
            reward = CancellableReward.of(check_reward(asked.reward), check)
            settings: Any = {"reward": reward, "p_g": asked.p_g, "seed": asked.seed}
            found = curious_pagerank(opened.graph, agent, asked.alpha, history, **settings)
        return encode_ranking(opened.graph, found, history, k)

    return await service.computing.run_with_deadline(ranked)


@router.post(
    "/recommend",
    openapi_extra=_RECOMMEND_BODY,
    responses={200: {"model": RecommendResponse | RecommendManyResponse}},
    response_class=Response,
)
async def recommend(request: Request) -> Response:
    """What to visit next, for one history or for several, with reasons if asked for.

    Read and written without a detour, since this is what a product asks at every click.
    """
    service: Service = request.app.state.service
    asked = RecommendRequest.model_validate_json(await request.body())
    histories: list[Any] = [asked.history] if asked.histories is None else asked.histories
    service.check_walks(histories)
    k = service.check_count("k", asked.k, service.limits.k)
    opened = await service.opened(asked.graph)
    seen = await _visited(service, opened.labels, histories)
    made, known = opened.recommender, None
    if asked.prepared_only:
        made, known = opened.prepared_recommender, made
    found = await service.batches.answer(RecommendQuery(made, k, asked.candidates, asked.reasons, known), seen)
    return Response(
        orjson.dumps(found[0] if asked.histories is None else {"users": found}), media_type="application/json"
    )


async def _visited(service: Service, labels: Labels, histories: Sequence[Sequence[JsonLabel]]) -> list[History]:
    """What was visited; in a thread where a label is unknown, as finding the nearest ones may take seconds."""

    def found() -> list[History]:
        return [labels.visited(history) for history in histories]

    return found() if all(map(labels.knows, histories)) else await service.quick.run(found)


@router.post("/predict", response_model=PredictResponse)
async def predict(asked: PredictRequest, service: ServiceDependency) -> Any:
    """Where someone goes next: each candidate's share of the scores and its percentile, by PageRank, igt, cpt and
    their mixture; and, given the choice that was made, where it stands."""
    k = service.check_count("k", asked.k, service.limits.k)
    service.check_walks([asked.history])
    opened = await service.opened(asked.graph)

    def predicted(check: StopCheck) -> Any:
        choice = None if asked.choice is None else opened.labels.label(asked.choice)
        seen = opened.labels.visited(asked.history)
        recommender = copy_if_full(opened.recommender, service.limits.parts)
        prepare_nodes(recommender, seen.nodes.tolist(), check)
        return predict_choice(recommender, seen, choice, k)

    return await service.computing.run_with_deadline(predicted)
