"""`/api/v1/measure`, `/explore` and `/look`: whole walks and single steps."""

from __future__ import annotations

import math
from collections.abc import Iterable

from fastapi import APIRouter, Request, Response

from curiograph.service import tasks
from curiograph.service.catalog import check_reward, get_agent
from curiograph.service.graph_store import OpenGraph
from curiograph.service.json_route import JsonRoute
from curiograph.service.labels import JsonLabel
from curiograph.service.schemas import (
    ERROR_RESPONSES,
    ExploreRequest,
    GrowthResponse,
    GrowthsResponse,
    LookRequest,
    LookResponse,
    MeasureRequest,
    WalkResponse,
)
from curiograph.service.state import get_service
from curiograph.service.time_limits import (
    bound_explore_seconds,
    bound_step_seconds,
    estimate_explore_seconds,
    estimate_measure_seconds,
    estimate_step_seconds,
)

router = APIRouter(prefix="/api/v1", tags=["walks"], responses=ERROR_RESPONSES, route_class=JsonRoute)

_ADVICE = "request fewer steps, another agent or igt, or start a job"
_LIGHT_EDGES = 50_000
"""Size of a graph up to which it is read in little time, as for PageRank."""


def is_large(opened: OpenGraph, labels: Iterable[JsonLabel]) -> bool:
    """Return whether even the least work takes long: on a large graph, or to find labels similar to an unknown one."""
    return opened.graph.num_edges > _LIGHT_EDGES or any(opened.labels.find(label) is None for label in labels)


@router.post("/measure", response_model=GrowthResponse | GrowthsResponse, operation_id="measure")
async def measure(body: MeasureRequest, request: Request) -> Response:
    """Measure one walk or several after every step: gaps, components, compressibility and degrees of freedom."""
    service = get_service(request)
    service.limits.check_walks(body.batch)
    lengths = [len(set(walk)) for walk in body.batch]
    seconds = estimate_measure_seconds(lengths)
    if body.compressibility:
        service.limits.check_seconds(seconds, "request shorter walks or no compressibility, or start a job")
    opened = await service.open_graph(body.graph)
    is_heavy = len(lengths) > 1 or is_large(opened, (label for walk in body.batch for label in walk))
    return await service.compute(tasks.measure_walks, opened, body, request, math.inf if is_heavy else seconds)


@router.post("/explore", response_model=WalkResponse, operation_id="explore")
async def explore(body: ExploreRequest, request: Request) -> Response:
    """Explore a graph: a whole walk by an agent."""
    service = get_service(request)
    limits = service.limits
    limits.check_count("steps", body.steps, limits.steps)
    opened = await service.open_graph(body.graph)
    agent, reward = get_agent(body.agent, limits), check_reward(body.reward)
    limits.check_seconds(estimate_explore_seconds(opened.graph, agent, reward, body.steps), _ADVICE)
    seconds = bound_explore_seconds(opened.graph, agent, reward, body.steps)
    if is_large(opened, () if body.start is None else (body.start,)):
        seconds = math.inf
    return await service.compute(tasks.explore_graph, opened, body, request, seconds)


@router.post("/look", response_model=LookResponse, operation_id="look")
async def look(body: LookRequest, request: Request) -> Response:
    """List the candidates of a walk with their values, and the choices of the agent and of each motive.

    The service keeps no state: append the chosen node to the walk and call this again. With the same seed, an agent
    that does not look ahead takes the same steps as in `explore`.
    """
    service = get_service(request)
    limits, visited = service.limits, len(body.walk)
    limits.check_walks([body.walk])
    limits.check_count("ahead", body.ahead, limits.steps)
    opened = await service.open_graph(body.graph)
    agent, reward = get_agent(body.agent, limits), check_reward(body.reward)
    limits.check_seconds(estimate_step_seconds(opened.graph, agent, reward, visited, body.ahead), _ADVICE)
    seconds = bound_step_seconds(opened.graph, agent, reward, visited, body.ahead)
    return await service.compute(
        tasks.look, opened, body, request, math.inf if is_large(opened, body.walk) else seconds
    )
