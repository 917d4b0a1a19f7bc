"""`/api/v1/measure`, `/explore` and `/look`: walks, whole or step by step."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from curiograph.agents.explore import explore
from curiograph.service.catalog import check_reward, get_agent
from curiograph.service.responses import encode_growth, encode_step_view, encode_walk
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

_WAY_OUT = "ask for fewer steps, another agent or igt, or start a job"


@router.post("/measure", response_model=GrowthResponse | GrowthsResponse)
async def measure_walks(asked: MeasureRequest, service: ServiceDependency) -> Any:
    """What a walk grew, or several did: gaps opened and closed, components, compressibility, after every step."""
    walks: list[Any] = [asked.walk] if asked.walks is None else asked.walks
    service.check_walks(walks)
    if asked.compressibility:
        seconds = estimate_measure_seconds(len(set(walk)) for walk in walks)
        service.check_seconds(seconds, "ask for shorter walks or without compressibility, or start a job")
    opened = await service.opened(asked.graph)

    def grown(check: StopCheck) -> Any:
        labels = [opened.labels.walk(walk) for walk in walks]
        found = [encode_growth(each) for each in measure_in_chunks(opened.graph, labels, asked.compressibility, check)]
        return found[0] if asked.walks is None else {"walks": found}

    return await service.computing.run_with_deadline(grown)


@router.post("/explore", response_model=WalkResponse)
async def explore_graph(asked: ExploreRequest, service: ServiceDependency) -> Any:
    """A whole walk by an agent."""
    steps = service.check_count("steps", asked.steps, service.limits.steps)
    opened = await service.opened(asked.graph)

    def walked(check: StopCheck) -> Any:
        agent, reward = get_agent(asked.agent, service.limits), check_reward(asked.reward)
        start = None if asked.start is None else opened.labels.label(asked.start)
        service.check_seconds(estimate_explore_seconds(opened.graph, agent, reward, steps), _WAY_OUT)
        settings: Any = {"fallback": asked.fallback, "seed": asked.seed}
        return encode_walk(explore(opened.graph, agent, CancellableReward.of(reward, check), start, steps, **settings))

    return await service.computing.run_with_deadline(walked)


@router.post("/look", response_model=LookResponse)
async def look_around(asked: LookRequest, service: ServiceDependency) -> Any:
    """One step of a walk: its candidates with their values, and what the agent and each motive would choose.

    Nothing is remembered: add the chosen node to the walk and look again. At the same seed, an agent that does not
    look ahead takes the steps that it takes in `explore`.
    """
    service.check_walks([asked.walk])
    ahead = service.check_count("ahead", asked.ahead, service.limits.steps)
    opened = await service.opened(asked.graph)

    def looked(check: StopCheck) -> Any:
        agent, reward = get_agent(asked.agent, service.limits), check_reward(asked.reward)
        walk = opened.labels.walk(asked.walk)
        service.check_seconds(estimate_step_seconds(opened.graph, agent, reward, len(walk), ahead), _WAY_OUT)
        valued = CancellableReward.of(reward, check)
        return encode_step_view(view_step(opened.graph, walk, agent, valued, ahead=ahead, seed=asked.seed))

    return await service.computing.run_with_deadline(looked)
