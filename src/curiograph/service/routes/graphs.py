"""`/api/v1/graphs`: what there is, what is in it, and uploads; `/api/v1/agents` and `/rewards`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from starlette.datastructures import UploadFile

from curiograph.errors import UnknownNameError
from curiograph.service.catalog import describe_agents, describe_rewards
from curiograph.service.errors import ServiceError, not_found
from curiograph.service.schemas import AgentList, GraphEntry, GraphList, NodeList, RewardList
from curiograph.service.state import ServiceDependency
from curiograph.service.workers import Answer

router = APIRouter(prefix="/api/v1", tags=["graphs"])

GraphPath = Annotated[str, Path(max_length=200, description="Id of a graph.", examples=["toy:library"])]
_BODY = {
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


@router.get("/graphs", response_model=GraphList)
async def graphs(service: ServiceDependency) -> Any:
    """All graphs on offer."""
    return {"graphs": [asdict(entry) for entry in service.shelf.entries()]}


@router.post("/graphs", response_model=GraphEntry, status_code=201, openapi_extra=_BODY)
async def upload(
    request: Request,
    service: ServiceDependency,
    name: Annotated[
        str,
        Query(
            max_length=200,
            description="File name of a raw body; its ending says what it is: .csv, .tsv, .txt, .json, .gml, ...",
            examples=["links.csv"],
        ),
    ] = "",
    directed: Annotated[bool, Query(description="Read an edge list as directed; other formats say it.")] = False,
) -> Any:
    """Upload a graph, as a form with one file or as a raw body with its name in the query; it lives in memory."""
    filename, content = await _uploaded(request, name)
    return asdict(await service.computing.run(service.shelf.add, filename, content, directed))


async def _uploaded(request: Request, name: str) -> tuple[str, bytes]:
    """The name and the content of an upload."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        if not name:
            raise ServiceError(422, "InvalidRequest", "name the file that the body is, as in ?name=links.csv.")
        return name, await request.body()
    async with request.form(max_files=1, max_fields=8) as form:
        file = form.get("file")
        if not isinstance(file, UploadFile):
            raise ServiceError(422, "InvalidRequest", "the form has no file; send it in the field `file`.")
        return name or file.filename or "", await file.read()


@router.get("/graphs/{graph}", response_model=GraphEntry)
async def graph(graph: GraphPath, service: ServiceDependency) -> Any:
    """One graph with its size; read if it has not been yet."""
    await service.opened(graph)
    return asdict(_known(service.shelf.entry, graph))


@router.delete("/graphs/{graph}", status_code=204)
async def remove(graph: GraphPath, service: ServiceDependency) -> Response:
    """Remove an upload; what the host offers stays."""
    _known(service.shelf.remove, graph)
    return Response(status_code=204)


def _known(ask: Callable[[str], Answer], graph: str) -> Answer:
    """What the shelf says about a graph that may have been removed."""
    try:
        return ask(graph)
    except UnknownNameError as error:
        raise not_found(str(error)) from None


@router.get("/graphs/{graph}/nodes", response_model=NodeList)
async def nodes(
    graph: GraphPath,
    service: ServiceDependency,
    query: Annotated[str, Query(max_length=200, description="Text that the labels contain.", examples=["mu"])] = "",
    limit: Annotated[int, Query(ge=1, description="How many labels to list.")] = 20,
) -> Any:
    """Search nodes by text: those that begin with it come first, short ones first."""
    most = service.check_count("limit", limit, service.limits.k)
    opened = await service.opened(graph)
    found = await service.quick.run(opened.labels.search, query, most)
    return {"nodes": found, "total": opened.graph.num_nodes}


@router.get("/agents", response_model=AgentList)
async def agents() -> Any:
    """Agents that can be named; also `beam:WIDTH` and `HORIZON+beam:WIDTH`."""
    return {"agents": [{"name": name, "about": about} for name, about in describe_agents().items()]}


@router.get("/rewards", response_model=RewardList)
async def rewards() -> Any:
    """Rewards that can be named."""
    return {"rewards": [{"name": name, "about": about} for name, about in describe_rewards().items()]}
