"""Everything that is not an answer, in one shape: `{"error": {"type": ..., "message": ...}}`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from curiograph.errors import CuriographError
from curiograph.messages import shorten_text
from curiograph.service.graph_store import TooLargeError, UnreadableGraphError

RESERVED_PATHS = ("/api", "/api/{rest:path}", "/docs", "/redoc", "/openapi.json", "/healthz", "/readyz", "/metrics")
"""Addresses at which programs ask, and nobody else answers: not the page, which would with HTML."""
_LONGEST = 500
"""Characters of a message: an error may quote what a client sent."""
_MEANINGS = {
    400: "BadRequest",
    401: "TokenNeeded",
    404: "NotFound",
    405: "MethodNotAllowed",
    413: "TooLargeError",
    415: "UnknownContent",
}


class ServiceError(HTTPException):
    """A request that is not answered, for a reason that is not in the library's errors."""

    def __init__(self, status: int, kind: str, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(status, message, headers)
        self.kind = kind


def not_found(message: str) -> ServiceError:
    """There is no such graph or job."""
    return ServiceError(404, "UnknownNameError", message)


def too_large(message: str) -> ServiceError:
    """More than the limits allow."""
    return ServiceError(413, "TooLargeError", message)


def busy(message: str, seconds: int = 1) -> ServiceError:
    """Too much is under way."""
    return ServiceError(429, "Busy", message, {"Retry-After": str(seconds)})


def too_slow(seconds: int) -> ServiceError:
    """An answer that would take longer than a request may."""
    return ServiceError(
        503,
        "TooSlow",
        f"the answer takes longer than {seconds} s, the limit of a request; ask for less, or start a job.",
        {"Retry-After": str(seconds)},
    )


def build_error_response(status: int, kind: str, message: str, headers: Any = None) -> JSONResponse:
    """A refusal as a response."""
    return JSONResponse({"error": {"type": kind, "message": _plain(message)}}, status, headers)


def _plain(message: str) -> str:
    return shorten_text(message.encode("utf-8", "replace").decode(), _LONGEST)


class NotFoundEndpoint:
    """Answers, after all routes, what none of them does: 405 where another method would be answered, otherwise 404."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        near = [route for route in self._routes if route.matches(scope)[0] == Match.PARTIAL]
        scope["route"] = near[0] if near else None
        raise HTTPException(405 if near else 404)


def add_error_handlers(app: FastAPI) -> None:
    """Let an application answer every error in the one shape."""
    app.add_exception_handler(CuriographError, _from_library)
    app.add_exception_handler(RequestValidationError, _from_validation)
    app.add_exception_handler(ValidationError, _from_validation)
    app.add_exception_handler(HTTPException, _from_http)
    app.add_exception_handler(Exception, _unexpected)


async def _from_library(request: Request, error: Any) -> JSONResponse:
    status = {TooLargeError: 413, UnreadableGraphError: 500}.get(type(error), 422)
    return build_error_response(status, type(error).__name__, str(error))


async def _from_validation(request: Request, error: Any) -> JSONResponse:
    said = "; ".join(f"{_place(each['loc'])}: {each['msg']}" for each in error.errors()[:3])
    return build_error_response(422, "InvalidRequest", f"{said}.")


def _place(location: tuple[Any, ...]) -> str:
    return ".".join(str(part) for part in location if part != "body") or "body"


async def _from_http(request: Request, error: Any) -> JSONResponse:
    kind = error.kind if isinstance(error, ServiceError) else _MEANINGS.get(error.status_code, "Refused")
    headers = _allowed(request) if error.status_code == 405 else error.headers
    return build_error_response(error.status_code, kind, str(error.detail), headers)


def _allowed(request: Request) -> dict[str, str]:
    """All methods of an address, where several routes share it."""
    route = request.scope.get("route")
    methods = request.app.openapi()["paths"].get(getattr(route, "path", "")) or getattr(route, "methods", None) or ()
    return {"Allow": ", ".join(sorted(method.upper() for method in methods))}


async def _unexpected(request: Request, error: Exception) -> JSONResponse:
    return build_error_response(500, "InternalError", "something went wrong on the server; its log says what.")
