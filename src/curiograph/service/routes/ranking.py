"""`/api/v1/rank`, `/recommend` and `/predict`."""

from __future__ import annotations

from typing import Any

import orjson
from fastapi import APIRouter, Response

from curiograph.centrality.curious_pagerank import curious_pagerank
from curiograph.centrality.history import History
from curiograph.centrality.pagerank import pagerank
from curiograph.service.batching import RecommendQuery
from curiograph.service.catalog import check_reward, get_agent
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
from curiograph.service.state import ServiceDependency
from curiograph.service.time_limits import CancellableAgent, CancellableReward, StopCheck

router = APIRouter(prefix="/api/v1", tags=["ranking"])


@router.post("/rank", response_model=RankResponse)
async def rank(request: RankRequest, service: ServiceDependency) -> Any:
    """Rank nodes by PageRank or, with an agent, by curious PageRank; personalized to a history if given."""
    limits = service.limits
    limits.check_count("k", request.k, limits.k)
    limits.check_walks([request.history or []])
    opened = await service.open_graph(request.graph)

    def compute(check: StopCheck) -> Any:
        history = None if request.history is None else opened.labels.walk(request.history)
        if request.agent is None:
            result: Any = pagerank(opened.graph, request.alpha, history)
        else:
            result = curious_pagerank(
                opened.graph,
                CancellableAgent(get_agent(request.agent, limits), lambda _: check()),
                request.alpha,
                history,
                reward=CancellableReward.from_name(check_reward(request.reward), check),
                p_g=request.p_g,
                seed=request.seed,
            )
        return encode_ranking(opened.graph, result, history, request.k)

    return await service.workers.run_with_deadline(compute)


@router.post("/recommend", response_model=RecommendResponse | RecommendManyResponse)
async def recommend(request: RecommendRequest, service: ServiceDependency) -> Response:
    """Recommend nodes to visit next, for one history or for several, with reasons if requested."""
    service.limits.check_walks(request.batch)
    service.limits.check_count("k", request.k, service.limits.k)
    opened = await service.open_graph(request.graph)
    labels = opened.labels
    if any(labels.find(label) is None for history in request.batch for label in history):
        # raises; in a thread, because finding similar labels for the message may take seconds
        await service.quick_workers.run(lambda: [labels.walk(history) for history in request.batch])
    histories = [History.from_visits([labels.position(label) for label in history]) for history in request.batch]
    recommender = opened.prepared_recommender if request.prepared_only else opened.recommender
    query = RecommendQuery(recommender, request.k, request.candidates, request.reasons)
    answers = await service.batcher.answer(query, histories)
    content: Any = answers[0] if request.histories is None else {"users": answers}
    return Response(orjson.dumps(content), media_type="application/json")  # a model would take longer than the answer


@router.post("/predict", response_model=PredictResponse)
async def predict(request: PredictRequest, service: ServiceDependency) -> Any:
    """Predict the next node: share of the scores and percentile of each candidate, by PageRank, igt, cpt and their
    mixture; also those of the choice that was made, if given."""
    limits = service.limits
    limits.check_count("k", request.k, limits.k)
    limits.check_walks([request.history])
    opened = await service.open_graph(request.graph)

    def compute(check: StopCheck) -> Any:
        choice = None if request.choice is None else opened.labels.label(request.choice)
        history = History.from_visits([opened.labels.position(label) for label in request.history])
        recommender = copy_if_full(opened.recommender, limits.parts)
        prepare_nodes(recommender, history.nodes.tolist(), check)
        return predict_choice(recommender, history, choice, request.k)

    return await service.workers.run_with_deadline(compute)
