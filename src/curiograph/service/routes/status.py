"""`/healthz`, `/readyz` and `/metrics`: for whoever runs the service."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST

from curiograph.service.errors import ServiceError
from curiograph.service.schemas import HealthResponse
from curiograph.service.state import ServiceDependency

router = APIRouter(tags=["status"])


@router.get("/healthz", response_model=HealthResponse)
async def health() -> Any:
    """Whether the process answers at all."""
    return {"status": "ok"}


@router.get("/readyz", response_model=HealthResponse)
async def ready(service: ServiceDependency) -> Any:
    """Whether requests should be sent here: not while it warms up, stops or is at nothing but what took too long."""
    if service.status != "ok":
        raise ServiceError(503, "NotReady", f"the service is {service.status}.", {"Retry-After": "1"})
    return {"status": "ok"}


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(service: ServiceDependency) -> Response:
    """Requests, times, jobs, graphs and memory, for Prometheus."""
    return Response(service.metrics.text(), media_type=CONTENT_TYPE_LATEST)
