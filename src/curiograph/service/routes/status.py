"""`/healthz`, `/readyz` and `/metrics`: monitoring."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from curiograph.service.errors import NotReadyError
from curiograph.service.schemas import ERROR_RESPONSES, HealthResponse
from curiograph.service.state import ServiceDependency

router = APIRouter(tags=["status"], responses={code: ERROR_RESPONSES[code] for code in (400, 401, 405, 500, 503)})


@router.head("/healthz", include_in_schema=False)
@router.get("/healthz", response_model=HealthResponse, operation_id="check_health")
async def check_health() -> Any:
    """Check whether the process responds."""
    return {"status": "ok"}


@router.head("/readyz", include_in_schema=False)
@router.get("/readyz", response_model=HealthResponse, operation_id="check_readiness")
async def check_readiness(service: ServiceDependency) -> Any:
    """Check whether requests should be sent here: not while the service warms up, stops or is overloaded."""
    if service.status != "ok":
        raise NotReadyError(f"the service is {service.status}.", retry_after=1)
    return {"status": "ok"}


@router.get(
    "/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}}, operation_id="get_metrics"
)
async def get_metrics(service: ServiceDependency) -> Response:
    """Get request counts and times, jobs, graphs and memory in the format of Prometheus."""
    return Response(generate_latest(service.metrics), media_type=CONTENT_TYPE_LATEST)
