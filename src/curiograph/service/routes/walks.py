"""`/api/v1/measure`, `/explore` and `/look`: whole walks and single steps."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from curiograph.agents.explore import explore
from curiograph.service.catalog import check_reward, get_agent
from curiograph.service.schemas import (
    ExploreRequest,
    GrowthResponse,
    GrowthsResponse,
    LookRequest,
    LookResponse,
    MeasureRequest,
    WalkResponse,
)
from curiograph.service.state import ServiceDependency
from curiograph.service.step_view import view_step
from curiograph.service.tasks import measure_in_chunks
from curiograph.service.time_limits import (
    CancellableReward,
    StopCheck,
    estimate_explore_seconds,
    estimate_measure_seconds,
    estimate_step_seconds,
)

router = APIRouter(prefix="/api/v1", tags=["walks"])

_ADVICE = "request fewer steps, another agent or igt, or start a job"


@router.post("/measure", response_model=GrowthResponse | GrowthsResponse)
async def measure_growth(request: MeasureRequest, service: ServiceDependency) -> Any:
    """Measure one walk or several after every step: gaps, components, compressibility and degrees of freedom."""
    service.limits.check_walks(request.batch)
    if request.compressibility:
        seconds = estimate_measure_seconds(len(set(walk)) for walk in request.batch)
        service.limits.check_seconds(seconds, "request shorter walks or no compressibility, or start a job")
    opened = await service.open_graph(request.graph)

    def compute(check: StopCheck) -> Any:
        walks = [opened.labels.walk(walk) for walk in request.batch]
        growths = measure_in_chunks(opened.graph, walks, request.compressibility, check)
        results = [GrowthResponse.model_validate(growth.to_dict()) for growth in growths]
        return results[0] if request.walks is None else GrowthsResponse(walks=results)

    return await service.workers.run_with_deadline(compute)


@router.post("/explore", response_model=WalkResponse)
async def explore_graph(request: ExploreRequest, service: ServiceDependency) -> Any:
    """Explore a graph: a whole walk by an agent."""
    limits = service.limits
    limits.check_count("steps", request.steps, limits.steps)
    opened = await service.open_graph(request.graph)

    def compute(check: StopCheck) -> Any:
        agent, reward = get_agent(request.agent, limits), check_reward(request.reward)
        start = None if request.start is None else opened.labels.label(request.start)
        limits.check_seconds(estimate_explore_seconds(opened.graph, agent, reward, request.steps), _ADVICE)
        return explore(
            opened.graph,
            agent,
            CancellableReward(reward, check),
            start,
            request.steps,
            fallback=request.fallback,
            seed=request.seed,
        )

    return await service.workers.run_with_deadline(compute)


@router.post("/look", response_model=LookResponse)
async def look(request: LookRequest, service: ServiceDependency) -> Any:
    """List the candidates of a walk with their values, and the choices of the agent and of each motive.

    The service keeps no state: append the chosen node to the walk and call this again. With the same seed, an agent
    that does not look ahead takes the same steps as in `explore`.
    """
    limits = service.limits
    limits.check_walks([request.walk])
    limits.check_count("ahead", request.ahead, limits.steps)
    opened = await service.open_graph(request.graph)

    def compute(check: StopCheck) -> Any:
        agent, reward = get_agent(request.agent, limits), check_reward(request.reward)
        walk = opened.labels.walk(request.walk)
        seconds = estimate_step_seconds(opened.graph, agent, reward, len(walk), request.ahead)
        limits.check_seconds(seconds, _ADVICE)
        cancellable = CancellableReward(reward, check)
        view = view_step(opened.graph, walk, agent, cancellable, ahead=request.ahead, seed=request.seed)
        response = {
            "candidates": [
                {
                    "node": node,
                    "values": {motive: values[i] for motive, values in view.values.items()},
                    "score": None if view.scores is None else view.scores[i],
                }
                for i, node in enumerate(view.nodes)
            ],
            "choice": view.choice,
            "best": {motive: view.find_best(motive) for motive in view.values},
            "igt": view.igt,
            "cpt": view.cpt,
            "cct": view.cct,
            "on_the_way": view.on_the_way,
        }
        return LookResponse.model_validate(response)  # here, in a thread: a walk may have many candidates

    return await service.workers.run_with_deadline(compute)
