"""`/api/v1/measure`, `/explore` and `/look`: walks, whole or step by step."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from curiograph.agents.running import explore
from curiograph.growth import measure
from curiograph.service.answers import growth_answer, look_answer, walk_answer
from curiograph.service.core import Serving
from curiograph.service.looking import look
from curiograph.service.offers import agent_named, reward_named
from curiograph.service.schema import (
    AskedExplore,
    AskedLook,
    AskedMeasure,
    GrowthAnswer,
    GrowthsAnswer,
    LookAnswer,
    WalkAnswer,
)

router = APIRouter(prefix="/api/v1", tags=["walks"])


@router.post("/measure", response_model=GrowthAnswer | GrowthsAnswer)
async def measure_walks(asked: AskedMeasure, service: Serving) -> Any:
    """What a walk grew, or several did: gaps opened and closed, components, compressibility, after every step."""
    walks: list[Any] = [asked.walk] if asked.walks is None else asked.walks
    service.check_walks(walks)
    opened = await service.opened(asked.graph)

    def grown() -> Any:
        labels = [opened.labels.walk(walk) for walk in walks]
        found = [growth_answer(each) for each in measure(opened.graph, labels, compressibility=asked.compressibility)]
        return found[0] if asked.walks is None else {"walks": found}

    return await service.computing.run(grown)


@router.post("/explore", response_model=WalkAnswer)
async def explore_graph(asked: AskedExplore, service: Serving) -> Any:
    """A whole walk by an agent."""
    steps = service.check_count("steps", asked.steps, service.limits.steps)
    opened = await service.opened(asked.graph)

    def walked() -> Any:
        agent = agent_named(asked.agent, service.limits)
        start = None if asked.start is None else opened.labels.label(asked.start)
        settings: Any = {"fallback": asked.fallback, "seed": asked.seed}
        return walk_answer(explore(opened.graph, agent, reward_named(asked.reward), start, steps, **settings))

    return await service.computing.run(walked)


@router.post("/look", response_model=LookAnswer)
async def look_around(asked: AskedLook, service: Serving) -> Any:
    """One step of a walk: its candidates with their values, and what the agent and each motive would choose.

    Nothing is remembered: add the chosen node to the walk and look again. At the same seed, an agent that does not
    look ahead takes the steps that it takes in `explore`.
    """
    service.check_walks([asked.walk])
    ahead = service.check_count("ahead", asked.ahead, service.limits.steps)
    opened = await service.opened(asked.graph)

    def looked() -> Any:
        agent = agent_named(asked.agent, service.limits)
        walk = opened.labels.walk(asked.walk)
        seen = look(opened.graph, walk, agent, reward_named(asked.reward), ahead=ahead, seed=asked.seed)
        return look_answer(seen)

    return await service.computing.run(looked)
