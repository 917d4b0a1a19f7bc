"""`create_app`: the service as one ASGI application."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.routing import Route

import curiograph
from curiograph.service.config import Limits
from curiograph.service.errors import RESERVED_PATHS, NotFoundEndpoint, add_error_handlers
from curiograph.service.graph_store import GraphStore
from curiograph.service.metrics import MetricsMiddleware
from curiograph.service.routes import graphs, jobs, ranking, status, walks
from curiograph.service.schemas import ErrorResponse, RecommendRequest
from curiograph.service.security import LOOPBACK_HOSTS, BodyLimitMiddleware, SecurityMiddleware
from curiograph.service.state import Service
from curiograph.service.warmup import warm_up

_ABOUT = (
    "Curiosity on graphs: measure how a walk grows knowledge, explore with curious agents, rank and recommend nodes, "
    "predict choices."
)
_REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorResponse, "description": "Not a request that can be read."},
    401: {"model": ErrorResponse, "description": "The token is missing or wrong."},
    403: {"model": ErrorResponse, "description": "From a page of another site."},
    404: {"model": ErrorResponse, "description": "No such graph or job."},
    413: {"model": ErrorResponse, "description": "Larger than the limits allow."},
    422: {
        "model": ErrorResponse,
        "description": "Something in the request is wrong; the message says what, and the way out.",
    },
    429: {"model": ErrorResponse, "description": "Busy; Retry-After says when to try again."},
    503: {"model": ErrorResponse, "description": "The answer takes too long, or the service is not ready."},
}


def create_app(
    shelf: GraphStore,
    limits: Limits,
    token: str | None = None,
    *,
    hosts: Sequence[str] | None = LOOPBACK_HOSTS,
    warm: Callable[[], object] | None = None,
) -> FastAPI:
    """The service.

    Parameters
    ----------
    token : what clients have to bring; nothing without it.
    hosts : names under which it answers; any if None. Loopback alone keeps other sites' pages from reaching it.
    warm : done in a thread before the service says that it is ready; by default what `warm_up` touches.
    """
    service = Service(shelf, limits)

    @asynccontextmanager
    async def living(app: FastAPI) -> AsyncIterator[None]:
        service.start_warmup(warm or partial(warm_up, shelf))
        yield
        await asyncio.to_thread(service.stop)

    app = FastAPI(
        title="curiograph",
        description=_ABOUT,
        version=curiograph.__version__,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # would load its scripts from elsewhere
        redoc_url=None,
        lifespan=living,
    )
    app.state.service = service
    add_error_handlers(app)
    for each in (graphs, walks, ranking, jobs):
        app.include_router(each.router, responses=_REFUSALS)
    app.include_router(status.router, responses={code: _REFUSALS[code] for code in (401, 503)})
    document = [route for route in app.routes if isinstance(route, Route)]
    routes = document + [
        route
        for each in (graphs, walks, ranking, jobs, status)
        for route in each.router.routes
        if isinstance(route, Route)
    ]
    app.router.routes += [Route(path, NotFoundEndpoint(routes), include_in_schema=False) for path in RESERVED_PATHS]
    app.add_middleware(BodyLimitMiddleware, limits=limits)
    app.add_middleware(SecurityMiddleware, token=token, hosts=hosts)
    app.add_middleware(MetricsMiddleware, metrics=service.metrics, routes={route.path for route in routes})
    app.openapi = lambda: _document(app)  # type: ignore[method-assign]
    return app


def _document(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document, with the one model that FastAPI does not see: `recommend` reads its body itself."""
    if app.openapi_schema is None:
        document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        model = RecommendRequest.model_json_schema(ref_template="#/components/schemas/{model}")
        document["components"]["schemas"] |= {"AskedRecommend": model}
        app.openapi_schema = document
    return app.openapi_schema
