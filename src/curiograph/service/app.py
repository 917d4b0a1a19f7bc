"""`create_app`: the REST service as one ASGI application."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import curiograph
from curiograph.progress import Progress, no_progress
from curiograph.service.error_responses import add_error_handlers
from curiograph.service.routes import router
from curiograph.service.security import PUBLIC_PATHS, SecurityMiddleware
from curiograph.service.server_settings import LOOPBACK_HOSTS, ServiceSettings
from curiograph.service.state import Service

_DESCRIPTION = "Curiosity on graphs: measure how walks grow knowledge, explore with curious agents, rank and recommend."
_METHODS = ("GET", "HEAD", "POST", "DELETE")


class _Application(FastAPI):
    """An application whose OpenAPI document says which routes need the token."""

    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document, which is built once."""
        if self.openapi_schema is None:
            document = super().openapi()
            has_token = self.state.service.settings.token is not None
            document["components"]["securitySchemes"] = {"bearer": {"type": "http", "scheme": "bearer"}}
            for path, operations in document["paths"].items():
                for operation in operations.values():
                    operation["security"] = [{"bearer": []}] if has_token and path not in PUBLIC_PATHS else []
        return self.openapi_schema or {}


class _Refusal:
    """Endpoint behind all routes: 405 if the path exists with another method, otherwise 404."""

    def __init__(self, routes: Sequence[Any]) -> None:
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        matches = [route for route in self._routes if route.matches(scope)[0] == Match.PARTIAL]
        methods = sorted({method for route in matches for method in route.methods})
        raise HTTPException(405, headers={"Allow": ", ".join(methods)}) if methods else HTTPException(404)


class _Metrics:
    """Count requests and measure their time, by route, method and status."""

    def __init__(self, app: ASGIApp, registry: CollectorRegistry) -> None:
        self._app, labels = app, ("handler", "method")
        self._count = Counter("http_requests", "Requests answered.", (*labels, "status"), registry=registry)
        self._seconds = Histogram("http_request_duration_seconds", "Time to answer.", labels, registry=registry)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status = time.perf_counter(), 500

        async def send_counted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_counted)
        finally:
            route = getattr(scope.get("route"), "path", "none")
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self._count.labels(route, method, status).inc()
            self._seconds.labels(route, method).observe(time.perf_counter() - start)


def create_app(
    settings: ServiceSettings | None = None, *, warm: bool = True, progress: Progress = no_progress
) -> FastAPI:
    """Create the service.

    Parameters
    ----------
    settings : ServiceSettings, optional
        Graphs, token and limits.
    warm : bool
        Whether kernels and processes are loaded before the service is ready; otherwise when requests need them.
    progress : Progress
        Callback for progress until the service is ready.

    Returns
    -------
    FastAPI
        The application; its `state.service` is the `Service`.
    """
    settings = settings or ServiceSettings()
    service = Service(settings, progress)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service.start(warm)
        yield
        service.stop()

    app = _Application(
        title="curiograph",
        description=_DESCRIPTION,
        version=curiograph.__version__,
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # these pages would load scripts from another server
        redoc_url=None,
        root_path=settings.root_path,
        lifespan=lifespan,
    )
    app.state.service = service
    add_error_handlers(app)
    app.router.routes[:0] = router.routes  # `include_router` would match every request in nested routers, which is slow
    app.add_middleware(SecurityMiddleware, settings=settings)
    if settings.is_loopback or settings.allowed_hosts:  # pages of other sites could use another name for this address
        hosts = [*LOOPBACK_HOSTS, settings.host, *settings.allowed_hosts]
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)
    registry = _create_registry(service)
    app.add_middleware(_Metrics, registry=registry)
    app.add_route("/metrics", lambda request: Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST))
    app.router.routes.append(Route("/{rest:path}", _Refusal(app.router.routes), include_in_schema=False))
    return app


def _create_registry(service: Service) -> CollectorRegistry:
    """Return what Prometheus reads besides the requests: queue lengths and memory."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    for name, documentation, count in (
        ("curiograph_graphs", "Graphs available.", lambda: len(service.graphs.list_graphs())),
        ("curiograph_computations", "Computations in processes, or waiting.", lambda: service.workers.num_unfinished),
        ("curiograph_recommendations", "Recommendations in progress.", lambda: service.batcher.num_unanswered),
    ):
        Gauge(name, documentation, registry=registry).set_function(count)
    return registry
