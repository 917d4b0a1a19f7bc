"""`/api/v1/measure`, `/explore` and `/look`: walks, whole or step by step."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from curiograph.agents.explore import explore
from curiograph.service.answers import growth_answer, look_answer, walk_answer
from curiograph.service.catalog import agent_named, reward_named
from curiograph.service.schemas import (
    AskedExplore,
    AskedLook,
    AskedMeasure,
    GrowthAnswer,
    GrowthsAnswer,
    LookAnswer,
    WalkAnswer,
)
from curiograph.service.state import Serving
from curiograph.service.step_view import look
from curiograph.service.tasks import measured
from curiograph.service.work import Check, WatchedReward, explore_seconds, look_seconds, measure_seconds

router = APIRouter(prefix="/api/v1", tags=["walks"])

_WAY_OUT = "ask for fewer steps, another agent or igt, or start a job"


@router.post("/measure", response_model=GrowthAnswer | GrowthsAnswer)
async def measure_walks(asked: AskedMeasure, service: Serving) -> Any:
    """What a walk grew, or several did: gaps opened and closed, components, compressibility, after every step."""
    walks: list[Any] = [asked.walk] if asked.walks is None else asked.walks
    service.check_walks(walks)
    if asked.compressibility:
        seconds = measure_seconds(len(set(walk)) for walk in walks)
        service.check_seconds(seconds, "ask for shorter walks or without compressibility, or start a job")
    opened = await service.opened(asked.graph)

    def grown(check: Check) -> Any:
        labels = [opened.labels.walk(walk) for walk in walks]
        found = [growth_answer(each) for each in measured(opened.graph, labels, asked.compressibility, check)]
        return found[0] if asked.walks is None else {"walks": found}

    return await service.computing.run_watched(grown)


@router.post("/explore", response_model=WalkAnswer)
async def explore_graph(asked: AskedExplore, service: Serving) -> Any:
    """A whole walk by an agent."""
    steps = service.check_count("steps", asked.steps, service.limits.steps)
    opened = await service.opened(asked.graph)

    def walked(check: Check) -> Any:
        agent, reward = agent_named(asked.agent, service.limits), reward_named(asked.reward)
        start = None if asked.start is None else opened.labels.label(asked.start)
        service.check_seconds(explore_seconds(opened.graph, agent, reward, steps), _WAY_OUT)
        settings: Any = {"fallback": asked.fallback, "seed": asked.seed}
        return walk_answer(explore(opened.graph, agent, WatchedReward.of(reward, check), start, steps, **settings))

    return await service.computing.run_watched(walked)


@router.post("/look", response_model=LookAnswer)
async def look_around(asked: AskedLook, service: Serving) -> Any:
    """One step of a walk: its candidates with their values, and what the agent and each motive would choose.

    Nothing is remembered: add the chosen node to the walk and look again. At the same seed, an agent that does not
    look ahead takes the steps that it takes in `explore`.
    """
    service.check_walks([asked.walk])
    ahead = service.check_count("ahead", asked.ahead, service.limits.steps)
    opened = await service.opened(asked.graph)

    def looked(check: Check) -> Any:
        agent, reward = agent_named(asked.agent, service.limits), reward_named(asked.reward)
        walk = opened.labels.walk(asked.walk)
        service.check_seconds(look_seconds(opened.graph, agent, reward, len(walk), ahead), _WAY_OUT)
        valued = WatchedReward.of(reward, check)
        return look_answer(look(opened.graph, walk, agent, valued, ahead=ahead, seed=asked.seed))

    return await service.computing.run_watched(looked)
