"""`/api/v1/rank`, `/recommend` and `/predict`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from fastapi import APIRouter, Request, Response

from curiograph.centrality.curious_pagerank import curious_pagerank
from curiograph.centrality.history import Visited
from curiograph.centrality.pagerank import pagerank
from curiograph.service.answers import rank_answer
from curiograph.service.batching import Question
from curiograph.service.catalog import agent_named, reward_named
from curiograph.service.labels import JsonLabel, Labels
from curiograph.service.predicting import predict_answer
from curiograph.service.prepared import learn, with_room
from curiograph.service.schemas import (
    AskedPredict,
    AskedRank,
    AskedRecommend,
    PredictAnswer,
    RankAnswer,
    RecommendAnswer,
    RecommendAnswers,
)
from curiograph.service.state import Service, Serving
from curiograph.service.work import Check, WatchedAgent, WatchedReward

router = APIRouter(prefix="/api/v1", tags=["ranking"])

_RECOMMEND_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/AskedRecommend"}}},
    }
}


@router.post("/rank", response_model=RankAnswer)
async def rank(asked: AskedRank, service: Serving) -> Any:
    """Nodes by PageRank or, with an agent, by PageRank that it walks; personalised with a history."""
    k = service.check_count("k", asked.k, service.limits.k)
    service.check_walks([asked.history or []])
    opened = await service.opened(asked.graph)

    def ranked(check: Check) -> Any:
        history = None if asked.history is None else opened.labels.walk(asked.history)
        if asked.agent is None:
            found: Any = pagerank(opened.graph, asked.alpha, history)
        else:
            agent = WatchedAgent(agent_named(asked.agent, service.limits), lambda _: check())
            reward = WatchedReward.of(reward_named(asked.reward), check)
            settings: Any = {"reward": reward, "p_g": asked.p_g, "seed": asked.seed}
            found = curious_pagerank(opened.graph, agent, asked.alpha, history, **settings)
        return rank_answer(opened.graph, found, history, k)

    return await service.computing.run_watched(ranked)


@router.post(
    "/recommend",
    openapi_extra=_RECOMMEND_BODY,
    responses={200: {"model": RecommendAnswer | RecommendAnswers}},
    response_class=Response,
)
async def recommend(request: Request) -> Response:
    """What to visit next, for one history or for several, with reasons if asked for.

    Read and written without a detour, since this is what a product asks at every click.
    """
    service: Service = request.app.state.service
    asked = AskedRecommend.model_validate_json(await request.body())
    histories: list[Any] = [asked.history] if asked.histories is None else asked.histories
    service.check_walks(histories)
    k = service.check_count("k", asked.k, service.limits.k)
    opened = await service.opened(asked.graph)
    seen = await _visited(service, opened.labels, histories)
    made, known = opened.recommender, None
    if asked.prepared_only:
        made, known = opened.recommender_from_known, made
    found = await service.batches.answer(Question(made, k, asked.candidates, asked.reasons, known), seen)
    return Response(
        orjson.dumps(found[0] if asked.histories is None else {"users": found}), media_type="application/json"
    )


async def _visited(service: Service, labels: Labels, histories: Sequence[Sequence[JsonLabel]]) -> list[Visited]:
    """What was visited; in a thread where a label is unknown, as finding the nearest ones may take seconds."""

    def found() -> list[Visited]:
        return [labels.visited(history) for history in histories]

    return found() if all(map(labels.knows, histories)) else await service.quick.run(found)


@router.post("/predict", response_model=PredictAnswer)
async def predict(asked: AskedPredict, service: Serving) -> Any:
    """Where someone goes next: each candidate's share of the scores and its percentile, by PageRank, igt, cpt and
    their mixture; and, given the choice that was made, where it stands."""
    k = service.check_count("k", asked.k, service.limits.k)
    service.check_walks([asked.history])
    opened = await service.opened(asked.graph)

    def predicted(check: Check) -> Any:
        choice = None if asked.choice is None else opened.labels.label(asked.choice)
        seen = opened.labels.visited(asked.history)
        recommender = with_room(opened.recommender, service.limits.parts)
        learn(recommender, seen.nodes.tolist(), check)
        return predict_answer(recommender, seen, choice, k)

    return await service.computing.run_watched(predicted)
