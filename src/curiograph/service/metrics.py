"""Metrics for Prometheus."""

from __future__ import annotations

import time
from collections.abc import Collection
from functools import cache, partial
from typing import TYPE_CHECKING, Any, get_args

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from curiograph.service.jobs import JobState

if TYPE_CHECKING:
    from curiograph.service.state import Service

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_METHODS = ("GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH")


class Metrics(CollectorRegistry):
    """Counters and timers of one service."""

    def __init__(self, service: Service) -> None:
        super().__init__()
        ProcessCollector(registry=self)
        self.requests = Counter(
            "curiograph_requests", "Requests answered.", ("method", "route", "status"), registry=self
        )
        self.seconds = Histogram(
            "curiograph_request_seconds", "Time to answer.", ("method", "route"), registry=self, buckets=_BUCKETS
        )
        states = Gauge("curiograph_jobs", "Jobs kept.", ("state",), registry=self)
        for state in get_args(JobState):
            states.labels(state).set_function(partial(service.jobs.count, state))
        pools = {"requests": service.processes, "page": service.page_processes, "jobs": service.job_processes}
        queue = Gauge("curiograph_queue_length", "Computations that wait for a process.", ("pool",), registry=self)
        busy = Gauge("curiograph_busy_workers", "Processes that compute.", ("pool",), registry=self)
        for name, pool in pools.items():
            queue.labels(name).set_function(partial(getattr, pool, "num_waiting"))
            busy.labels(name).set_function(partial(getattr, pool, "num_busy"))
        for name, documentation, count in (
            ("curiograph_graphs", "Graphs available.", lambda: len(service.graphs.list_graphs())),
            (
                "curiograph_unanswered_recommendations",
                "Requests for prepared recommendations that wait or are computed.",
                lambda: service.batcher.num_unanswered,
            ),
        ):
            Gauge(name, documentation, registry=self).set_function(count)


class MetricsMiddleware:
    """Record every request by its route: one of `routes`, "page" for other routes, "other" for unknown paths.

    The page adds routes for every visitor, so that their number is not bounded.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, routes: Collection[str]) -> None:
        self._app, self._routes = app, {"/", *routes}
        self._count = cache(metrics.requests.labels)  # finding a counter by its labels takes long
        self._time = cache(metrics.seconds.labels)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, start = 500, time.perf_counter()

        async def send_and_record_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_and_record_status)
        finally:
            method = scope["method"] if scope["method"] in _METHODS else "other"
            route: Any = scope.get("route")
            path = str(getattr(route, "path", ""))
            name = "other" if route is None else path if path in self._routes else "page"
            self._count(method, name, status).inc()
            self._time(method, name).observe(time.perf_counter() - start)
