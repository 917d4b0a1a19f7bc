"""`/api/v1/graphs`: list, describe, search and upload graphs; `/api/v1/agents` and `/rewards`."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from starlette.datastructures import UploadFile

from curiograph.service.catalog import REWARD_DESCRIPTIONS, describe_agents
from curiograph.service.errors import InvalidRequestError, TokenRequiredError
from curiograph.service.graph_store import GraphInfo
from curiograph.service.schemas import ERROR_RESPONSES, AgentList, GraphList, NodeList, ReloadResponse, RewardList
from curiograph.service.state import ServiceDependency, run_until_disconnect

router = APIRouter(prefix="/api/v1", tags=["graphs"], responses=ERROR_RESPONSES)

GraphPath = Annotated[str, Path(max_length=200, description="Id of a graph.", examples=["toy:library"])]
_UPLOAD_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {"file": {"type": "string", "format": "binary"}},
                }
            },
            "application/octet-stream": {
                "schema": {"type": "string", "format": "binary"},
                "example": "a,b\nb,c\nc,a\n",
            },
        },
    }
}


@router.get("/graphs", response_model=GraphList, operation_id="list_graphs")
async def list_graphs(service: ServiceDependency) -> Any:
    """List all graphs."""
    return {"graphs": service.graphs.list_graphs()}


@router.post(
    "/graphs", response_model=GraphInfo, status_code=201, openapi_extra=_UPLOAD_BODY, operation_id="upload_graph"
)
async def upload_graph(
    request: Request,
    service: ServiceDependency,
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
    """Upload a graph as a form with one file, or as a raw body with its name in the query; it is kept in memory."""
    if request.headers.get("content-type", "").startswith("multipart/form-data"):
        async with request.form(max_files=1, max_fields=8) as form:
            file = form.get("file")
            if not isinstance(file, UploadFile):
                raise InvalidRequestError("the form has no file; send it in the field `file`.")
            name, content = name or file.filename or "", await file.read()
    elif name:
        content = await request.body()
    else:
        raise InvalidRequestError("the file has no name; give one, as in ?name=links.csv.")
    return await run_until_disconnect(request, service.add_upload(name, content, directed))


@router.post("/reload", response_model=ReloadResponse, operation_id="reload_graphs")
async def reload_graphs(request: Request, service: ServiceDependency) -> Any:
    """Reload all graphs whose files changed; needs a service with a token. Requests in progress keep the old graphs."""
    if not request.app.state.has_token:
        raise TokenRequiredError("reloading needs a service with a token; start it with CURIOGRAPH_TOKEN or --token.")
    return await service.reload()


@router.get("/graphs/{graph}", response_model=GraphInfo, operation_id="get_graph")
async def describe_graph(graph: GraphPath, service: ServiceDependency) -> Any:
    """Describe one graph with its size; it is read if necessary."""
    await service.open_graph(graph)
    return service.graphs.find(graph).info


@router.delete("/graphs/{graph}", status_code=204, operation_id="delete_graph")
async def remove_graph(graph: GraphPath, service: ServiceDependency) -> Response:
    """Remove an upload; other graphs cannot be removed."""
    service.graphs.remove_upload(graph)
    return Response(status_code=204)


@router.get("/graphs/{graph}/nodes", response_model=NodeList, operation_id="search_nodes")
async def search_nodes(
    graph: GraphPath,
    service: ServiceDependency,
    query: Annotated[str, Query(max_length=200, description="Text that the labels contain.", examples=["mu"])] = "",
    limit: Annotated[int, Query(ge=1, description="Maximum number of labels to list.")] = 20,
) -> Any:
    """Search nodes by text: first labels that begin with it, then others that contain it, short ones first."""
    service.limits.check_count("limit", limit, service.limits.k)
    opened = await service.open_graph(graph)
    nodes = await service.light_threads.run(opened.labels.search, query, limit)
    return {"nodes": nodes, "total": opened.graph.num_nodes}


@router.get("/agents", response_model=AgentList, operation_id="list_agents")
async def list_agents() -> Any:
    """List the agents; also possible are `beam:WIDTH` and `planner:WIDTH`."""
    return {"agents": [{"name": name, "about": about} for name, about in describe_agents().items()]}


@router.get("/rewards", response_model=RewardList, operation_id="list_rewards")
async def list_rewards() -> Any:
    """List the rewards."""
    return {"rewards": [{"name": name, "about": about} for name, about in REWARD_DESCRIPTIONS.items()]}
