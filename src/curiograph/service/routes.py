"""The routes of the REST service."""

from __future__ import annotations

import asyncio
import gzip
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from curiograph.service import computations, picture, schemas
from curiograph.service.batching import QueryUser, RecommendQuery, read_users
from curiograph.service.error_responses import ServiceError
from curiograph.service.page_files import send_compressed
from curiograph.service.server_settings import MAX_FILES, MAX_HISTORY, MAX_K, MAX_LABEL, check_count, check_number
from curiograph.service.state import MANY_LABELS, get_service, run_until_disconnect
from curiograph.service.store import GraphInfo, OpenGraph

_MAX_ANSWERS = 32
"""Views and lists of gaps that are kept per graph."""

router = APIRouter(
    responses=schemas.ERROR_RESPONSES,
    strict_content_type=False,  # read a body without a Content-Type header as JSON
    generate_unique_id_function=lambda route: route.name,
)

GraphPath = Annotated[str, Path(max_length=200, description="Id of a graph.", examples=["toy:library"])]
_BINARY = {"type": "string", "format": "binary"}
_FILES = {"type": "array", "items": _BINARY, "maxItems": MAX_FILES}
_FORM = {"type": "object", "required": ["file"], "properties": {"file": _FILES}}
_UPLOAD_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {"schema": _FORM},
            "application/octet-stream": {"schema": _BINARY, "example": "a,b\nb,c\nc,a\n"},
        },
    }
}


@router.post(
    "/api/v1/recommend", response_model=schemas.RecommendResponse | schemas.RecommendManyResponse, tags=["ranking"]
)
async def recommend(body: schemas.RecommendRequest, request: Request) -> Response:
    """Recommend nodes to visit next, for one history or for several, with reasons if requested."""
    service = get_service(request)
    check_number(body.batch)
    check_count("k", body.k, MAX_K)
    opened = await service.open_graph(body.graph)
    settings = opened.recommender.settings
    body.fill(settings)
    prepared = opened.get_recommender(*body.ranker_settings) if body.alpha == settings["alpha"] else None
    if prepared is None:
        return await _compute(computations.recommend_nodes, body, request)
    recommender = prepared

    def read() -> tuple[list[QueryUser], list[int]]:
        """Return the histories, and the nodes of all if some are not prepared."""
        users = read_users(opened.labels, body, "skip")
        nodes = [node for user in users for node in user.history.nodes.tolist()]
        return users, [] if body.prepared_only or not recommender.find_missing(nodes) else nodes

    is_long = sum(map(len, body.batch)) + len(body.exclude) + len(body.filter or ()) > MANY_LABELS
    users, nodes_to_prepare = await asyncio.to_thread(read) if is_long else read()
    if body.unknown_labels == "error" and any(user.skipped for user in users):
        await service.workers.run(computations.check_labels, body.batch, graph=opened)  # raises an error
    if nodes_to_prepare:
        recommender = await run_until_disconnect(request, service.prepare_nodes(opened, recommender, nodes_to_prepare))
    work = service.batcher.answer(RecommendQuery.create(recommender, body), users)
    answers = await (work if len(users) * body.k <= MANY_LABELS else run_until_disconnect(request, work))
    return Response(body.join_answers(answers), media_type="application/json")


@router.get("/api/v1/graphs/{graph}/similar", response_model=schemas.RecommendResponse, tags=["ranking"])
async def list_similar(
    graph: GraphPath,
    request: Request,
    node: Annotated[str, Query(max_length=MAX_LABEL, description="Label of a node.", examples=["music"])],
    k: Annotated[int, Query(ge=1, description="Maximum number of nodes to list.")] = 10,
    ranker: Annotated[str | None, Query(max_length=200, description="Ranker, as in a recommendation.")] = None,
    reasons: bool = False,
) -> Response:
    """List the nodes most similar to one: those recommended to someone who has visited only it."""
    body = schemas.RecommendRequest(graph=graph, history=[node], k=k, ranker=ranker, reasons=reasons)
    return await recommend(body, request)


@router.post("/api/v1/rank", response_model=schemas.RankResponse, tags=["ranking"])
async def rank(body: schemas.RankRequest, request: Request) -> Response:
    """Rank nodes by PageRank or, with an agent, by curious PageRank; personalized to a history if given."""
    check_count("k", body.k, MAX_K)
    body.history = body.history and body.history[-MAX_HISTORY:]
    return await _compute(computations.rank_nodes, body, request)


@router.post("/api/v1/measure", response_model=schemas.GrowthResponse | schemas.GrowthsResponse, tags=["walks"])
async def measure(body: schemas.MeasureRequest, request: Request) -> Response:
    """Measure one walk or several after every step: gaps, components, compressibility and degrees of freedom."""
    get_service(request).settings.check_walks(body.batch)
    return await _compute(computations.measure_walks, body, request)


@router.post("/api/v1/explore", response_model=schemas.WalkResponse, tags=["walks"])
async def explore(body: schemas.ExploreRequest, request: Request) -> Response:
    """Explore a graph: a whole walk by an agent."""
    check_count("steps", body.steps, get_service(request).settings.steps)
    return await _compute(computations.explore_graph, body, request)


@router.post("/api/v1/look", response_model=schemas.LookResponse, tags=["walks"])
async def look(body: schemas.LookRequest, request: Request) -> Response:
    """List the candidates of a walk with their values, and the choices of the agent and of each motive.

    The service keeps no state: append the chosen node to the walk and call this again. With the same seed, an agent
    that does not look ahead takes the same steps as in `explore`.
    """
    service = get_service(request)
    service.settings.check_walks([body.walk])
    check_count("ahead", body.ahead, service.settings.steps)
    return await _compute(computations.look, body, request)


@router.post("/api/v1/view", response_model=schemas.ViewResponse, tags=["walks"])
async def view(body: schemas.ViewRequest, request: Request) -> Response:
    """Describe a walk for a page: its growth, its gaps as loops, places, and the effect of every next node."""
    service = get_service(request)
    service.settings.check_walks([body.walk])
    check_count("ahead", body.ahead, service.settings.steps)
    opened = await service.open_graph(body.graph)
    return await _compute_once(opened, body.model_dump_json(), picture.view_walk, body, request)


async def _compute_once(opened: OpenGraph, key: str, computation: Any, argument: Any, request: Request) -> Response:
    """Compute a response in a process, unless it is one of the last of this graph that are kept by their keys."""
    if key not in opened.answers:
        work = get_service(request).workers.run(computation, argument, graph=opened)
        content = await run_until_disconnect(request, work)
        if len(opened.answers) >= _MAX_ANSWERS:
            del opened.answers[next(iter(opened.answers))]
        opened.answers[key] = content
    return Response(opened.answers[key], media_type="application/json")


async def _compute(computation: Any, body: Any, request: Request) -> Response:
    """Compute a response in a process, which is killed if the client leaves."""
    service = get_service(request)
    opened = await service.open_graph(body.graph)
    work = service.workers.run(computation, body, graph=opened)
    return Response(await run_until_disconnect(request, work), media_type="application/json")


@router.get("/api/v1/graphs", response_model=schemas.GraphList, tags=["graphs"])
async def list_graphs(request: Request) -> Any:
    """List all graphs except uploads."""
    return {"graphs": get_service(request).graphs.list_graphs()}


@router.post("/api/v1/graphs", response_model=GraphInfo, status_code=201, openapi_extra=_UPLOAD_BODY, tags=["graphs"])
async def upload_graph(
    request: Request,
    name: Annotated[
        str,
        Query(
            max_length=200,
            description="File name of a raw body; its extension is the format: .csv, .tsv, .txt, .json, .gml, ...",
            examples=["links.csv"],
        ),
    ] = "",
    directed: Annotated[
        bool, Query(description="Read an edge list as directed; other formats contain this information.")
    ] = False,
) -> Any:
    """Upload a graph; only the response has its id.

    Send one file as a form or as a raw body with its name in the query; or a folder of Markdown notes as a form with
    many files, whose names are paths inside the folder.
    """
    client, content_type = request.client.host if request.client else "", request.headers.get("content-type", "")
    upload = get_service(request).add_upload(await request.body(), content_type, name, directed, client)
    return await run_until_disconnect(request, upload)


@router.post("/api/v1/reload", response_model=schemas.ReloadResponse, tags=["graphs"])
async def reload_graphs(request: Request) -> Any:
    """Reload all graphs whose files changed; needs a service with a token. Requests in progress keep the old graphs."""
    service = get_service(request)
    if service.settings.token is None:
        raise ServiceError("reloading needs a token; start the service with CURIOGRAPH_TOKEN.", 403, "TokenRequired")
    return await asyncio.to_thread(service.graphs.reload)


@router.get("/api/v1/graphs/{graph}", response_model=GraphInfo, tags=["graphs"])
async def get_graph(graph: GraphPath, request: Request) -> Any:
    """Describe one graph with its size; it is read if necessary."""
    service = get_service(request)
    await service.open_graph(graph)
    return service.graphs.find(graph).info


@router.delete("/api/v1/graphs/{graph}", status_code=204, tags=["graphs"])
async def delete_graph(graph: GraphPath, request: Request) -> Response:
    """Remove an upload; other graphs cannot be removed."""
    await asyncio.to_thread(get_service(request).graphs.remove_upload, graph)
    return Response(status_code=204)


@router.get("/api/v1/graphs/{graph}/picture", response_model=schemas.PictureResponse, tags=["graphs"])
async def draw_picture(graph: GraphPath, request: Request) -> Response:
    """Describe a graph in the plane: places of its nodes, which are computed once, and links; or their density."""
    service = get_service(request)
    opened = await service.open_graph(graph)
    if opened.picture is None:
        content = await run_until_disconnect(request, service.workers.run(picture.draw_graph, graph=opened))
        opened.picture = await asyncio.to_thread(gzip.compress, content, 6)
    return send_compressed(request, opened.picture, "application/json")


@router.get("/api/v1/graphs/{graph}/gaps", response_model=schemas.GraphGapsResponse, tags=["graphs"])
async def list_gaps(
    graph: GraphPath,
    request: Request,
    limit: Annotated[int, Query(ge=1, description="Maximum number of gaps to list.")] = 100,
) -> Response:
    """List the gaps of a whole graph as loops, the most important first, and what would close each."""
    check_count("limit", limit, MAX_K)
    opened = await get_service(request).open_graph(graph)
    return await _compute_once(opened, f"{limit} gaps", computations.find_gaps, limit, request)


@router.get("/api/v1/graphs/{graph}/nodes", response_model=schemas.NodeList, tags=["graphs"])
async def search_nodes(
    graph: GraphPath,
    request: Request,
    query: Annotated[str, Query(max_length=200, description="Text that the labels contain.", examples=["mu"])] = "",
    limit: Annotated[int, Query(ge=1, description="Maximum number of labels to list.")] = 20,
) -> Any:
    """Search nodes by text: first labels that begin with it, then others that contain it, short ones first."""
    check_count("limit", limit, MAX_K)
    service = get_service(request)
    opened = await service.open_graph(graph)
    work = service.workers.run(computations.search_nodes, query, limit, graph=opened)
    return Response(await run_until_disconnect(request, work), media_type="application/json")


@router.get("/api/v1/agents", response_model=schemas.AgentList, tags=["graphs"])
async def list_agents() -> Any:
    """List the agents; also possible are `beam:WIDTH` and `planner:WIDTH`."""
    return {"agents": [{"name": name, "about": about} for name, about in computations.describe_agents().items()]}


@router.get("/api/v1/rewards", response_model=schemas.RewardList, tags=["graphs"])
async def list_rewards() -> Any:
    """List the rewards."""
    return {"rewards": [{"name": name, "about": about} for name, about in computations.REWARD_DESCRIPTIONS.items()]}


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz", response_model=schemas.HealthResponse, tags=["status"])
async def check_health() -> Any:
    """Check whether the process responds."""
    return {"status": "ok"}


@router.head("/readyz", include_in_schema=False)
@router.get("/readyz", response_model=schemas.HealthResponse, tags=["status"])
async def check_readiness(request: Request) -> Any:
    """Check whether requests should be sent here: not while the service warms up, stops or is overloaded."""
    service = get_service(request)
    if service.status != "ok":
        raise ServiceError(f"the service is {service.status}.", 503, "NotReady", retry_after=1)
    return {"status": "ok"}
