"""What the service does, for Prometheus."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import Any, get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from curiograph.service.graph_store import GraphStore
from curiograph.service.jobs import JobQueue, JobState

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """Counts and times of one service; a process may have several."""

    def __init__(self, shelf: GraphStore, jobs: JobQueue) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._requests = Counter(
            "curiograph_requests", "Requests answered.", ("method", "route", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "curiograph_request_seconds", "Time to answer.", ("route",), registry=self._registry, buckets=_BUCKETS
        )
        self._jobs = Gauge("curiograph_jobs", "Jobs that are remembered.", ("state",), registry=self._registry)
        self._gauge("curiograph_graphs", "Graphs on offer.", lambda: len(shelf.entries()))
        self._counted = jobs

    def _gauge(self, name: str, about: str, value: Callable[[], float]) -> None:
        Gauge(name, about, registry=self._registry).set_function(value)

    def text(self) -> bytes:
        """All of it in Prometheus' own format."""
        states = [job.state for job in self._counted.all()]
        for state in get_args(JobState):
            self._jobs.labels(state).set(states.count(state))
        return generate_latest(self._registry)

    def note(self, method: str, route: str, status: int, seconds: float) -> None:
        """One more request."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)


class MetricsMiddleware:
    """Notes every request by the route that answered it, if that is one of `routes`: others, which the page makes for
    every visitor, share a name, as do addresses that are none."""

    def __init__(self, app: ASGIApp, metrics: Metrics, routes: Collection[str]) -> None:
        self._app, self._metrics, self._routes = app, metrics, {"/", *routes}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, start = 500, time.perf_counter()

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self._metrics.note(method, self._route(scope), status, time.perf_counter() - start)

    def _route(self, scope: Scope) -> str:
        route: Any = scope.get("route")
        if route is None:
            return "other"
        path = str(getattr(route, "path", ""))
        return path if path in self._routes else "page"


_METHODS = ("GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH")
