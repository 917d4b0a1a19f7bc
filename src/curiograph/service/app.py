"""`create_app`: the REST service as one ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

from fastapi import FastAPI
from starlette.routing import Route

import curiograph
from curiograph.service.config import Limits
from curiograph.service.errors import RESERVED_PATHS, NotFoundEndpoint, add_error_handlers
from curiograph.service.graph_store import GraphStore
from curiograph.service.metrics import MetricsMiddleware
from curiograph.service.reload import Reloader
from curiograph.service.routes import graphs, jobs, ranking, status, walks
from curiograph.service.security import LOOPBACK_HOSTS, PUBLIC_PATHS, BodyLimitMiddleware, SecurityMiddleware
from curiograph.service.state import Service
from curiograph.service.warm import warm_up

_DESCRIPTION = (
    "Curiosity on graphs: measure how a walk grows knowledge, explore with curious agents, rank and recommend nodes, "
    "predict choices."
)


class _Application(FastAPI):
    """An application whose OpenAPI document says which routes need the token."""

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document, which is built once."""
        if self.openapi_schema is None:
            document = super().openapi()
            document["components"]["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
            for path, operations in document["paths"].items():
                for operation in operations.values():
                    is_protected = self.state.has_token and path not in PUBLIC_PATHS
                    operation["security"] = [{"bearer": []}] if is_protected else []
        return self.openapi_schema or {}


def create_app(
    graph_store: GraphStore,
    limits: Limits,
    token: str | None = None,
    *,
    hosts: Sequence[str] | None = LOOPBACK_HOSTS,
    warm: Callable[[], object] | Literal["later"] | None = None,
    reloader: Reloader | None = None,
    prepare: Mapping[str, Path] | None = None,
) -> FastAPI:
    """Create the service.

    Parameters
    ----------
    graph_store : GraphStore
        The graphs that the service offers.
    limits : Limits
        Limits of requests.
    token : str, optional
        Token that clients must send; None to allow any client.
    hosts : sequence of str, optional
        Host names under which the service is available; None for any. The default, loopback names only, protects
        against pages of other sites.
    warm : callable or "later", optional
        Function to call in a thread before the service is ready; `warm_up` by default. "later" loads kernels and starts
        processes when requests need them.
    reloader : Reloader, optional
        Reloads graphs whose files change, while the service runs; None to keep all graphs as they are.
    prepare : mapping from str to Path, optional
        Ids of graphs to prepare in the background once the service is ready, with the files to store that in.

    Returns
    -------
    FastAPI
        The application; its `state.service` is the `Service`.

    Examples
    --------
    >>> create_app(GraphStore(), Limits()).title
    'curiograph'
    """
    service = Service(graph_store, limits, reloader)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        warm_first = None if warm == "later" else warm or partial(warm_up, graph_store)
        service.start_warmup(warm_first, prepare or {})
        if reloader is not None:
            service.start_watching()
        yield
        service.stop()

    app = _Application(
        title="curiograph",
        description=_DESCRIPTION,
        version=curiograph.__version__,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # these pages would load scripts from another server
        redoc_url=None,
        strict_content_type=False,  # read a body without a Content-Type header as JSON
        lifespan=lifespan,
    )
    app.state.service = service
    app.state.has_token = token is not None
    add_error_handlers(app)
    own_routes = list(app.routes)  # only the OpenAPI document so far
    for router in (ranking.router, walks.router, graphs.router, jobs.start_router, jobs.router, status.router):
        own_routes += router.routes
    app.router.routes[:] = own_routes  # `include_router` would match every request in nested routers, which is slow
    routes = [route for route in own_routes if isinstance(route, Route)]
    app.router.routes += [Route(path, NotFoundEndpoint(routes), include_in_schema=False) for path in RESERVED_PATHS]
    app.add_middleware(BodyLimitMiddleware, limits=limits)
    app.add_middleware(SecurityMiddleware, token=token, hosts=hosts)
    app.add_middleware(MetricsMiddleware, metrics=service.metrics, routes={route.path for route in routes})
    return app
