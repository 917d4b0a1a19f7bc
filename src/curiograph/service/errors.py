"""Errors of the service, and handlers that answer every error as `{"error": {"type": ..., "message": ...}}`."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from curiograph.errors import CuriographError, UnknownNameError
from curiograph.messages import quote_value, shorten_text

LOG = logging.getLogger("curiograph.service")

RESERVED_PATHS = ("/api", "/api/{rest:path}", "/docs", "/redoc", "/openapi.json", "/healthz", "/readyz", "/metrics")
"""Paths that are answered with JSON only; without them the page would answer unknown ones with HTML."""
INTERNAL_ERROR = "something went wrong on the server; see its log."
_MAX_MESSAGE = 500
"""Maximum number of characters of a message: an error may quote what a client sent."""
_HTTP_ERROR_TYPES = {400: "BadRequest", 404: "NotFound", 405: "MethodNotAllowed"}


class ServiceError(CuriographError, HTTPException):
    """A refused request; also an HTTPException, because FastAPI hides other exceptions raised while it reads a body."""

    status: ClassVar[int]
    error_type: ClassVar[str]
    """Value of the JSON field `error.type`."""

    def __init__(self, message: str, retry_after: int | None = None) -> None:
        headers = None if retry_after is None else {"Retry-After": str(retry_after)}
        HTTPException.__init__(self, self.status, message, headers)

    def __str__(self) -> str:
        return self.detail


class InvalidRequestError(ServiceError):
    """A request that cannot be processed."""

    status, error_type = 422, "InvalidRequest"


class TokenRequiredError(ServiceError):
    """A request that a service without a token refuses."""

    status, error_type = 403, "TokenRequired"


class NotFoundError(ServiceError, UnknownNameError):
    """A graph or job that does not exist."""

    status, error_type = 404, "UnknownNameError"


class TooLargeError(ServiceError):
    """A request or an upload that exceeds a limit."""

    status, error_type = 413, "TooLargeError"


class BusyError(ServiceError):
    """Too many requests or jobs are in progress."""

    status, error_type = 429, "Busy"

    def __init__(self, count: int, unit: str = "requests", retry_after: int = 1) -> None:
        super().__init__(f"{count} {unit} are in progress, the limit; try again later.", retry_after)


class UnreadableGraphError(ServiceError):
    """A graph of the server that cannot be read; only the log gives the reason, which may contain paths."""

    status, error_type = 500, "UnreadableGraphError"


class InternalError(ServiceError):
    """A computation that failed for a reason that is not the client's."""

    status, error_type = 500, "InternalError"


class DisconnectedError(ServiceError):
    """The client closed the connection before the response, which cannot be sent."""

    status, error_type = 499, "Disconnected"


class SlowBodyError(ServiceError):
    """The body of a request did not arrive in time."""

    status, error_type = 408, "SlowBody"


class NotReadyError(ServiceError):
    """The service is starting, stopping or overloaded."""

    status, error_type = 503, "NotReady"


class TimeLimitError(ServiceError):
    """A request or job that takes longer than the time limit."""

    status, error_type = 503, "TooSlow"

    def __init__(self, seconds: int, work: Literal["request", "job"] = "request") -> None:
        advice = "request less, or start a job" if work == "request" else "divide it into several jobs"
        super().__init__(f"the {work} takes longer than {seconds} s, the limit of a {work}; {advice}.", seconds)


def build_error_response(
    status: int, error_type: str, message: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """Build the JSON response of an error."""
    text = shorten_text(message.encode("utf-8", "replace").decode(), _MAX_MESSAGE)
    return JSONResponse({"error": {"type": error_type, "message": text}}, status, headers)


def describe_problem(problem: Mapping[str, Any]) -> str:
    """Describe a validation error of pydantic in one sentence.

    >>> describe_problem({"type": "int_type", "loc": ("steps",), "msg": "Input should be an integer", "input": "5"})
    "steps: Input should be an integer; it is '5'."
    """
    place, message = list(problem["loc"]), problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "string_type" and place[-1] == "str":  # the first of the types that a label may have
        del place[-1]
        message = "Input should be text or a number"
    if not isinstance(problem["input"], (dict, list)):  # they may be huge, or the whole body if a field is missing
        message += f"; it is {quote_value(problem['input'])}"
    return f"{'.'.join(str(part) for part in place if part != 'body') or 'body'}: {message}."


class NotFoundEndpoint:
    """Endpoint behind all routes: 405 if the path exists with another method, otherwise 404."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        matches = [route for route in self._routes if route.matches(scope)[0] == Match.PARTIAL]
        scope["route"] = matches[0] if matches else None
        if not matches:
            raise HTTPException(404)
        methods = {method for route in matches for method in route.methods or ()}
        raise HTTPException(405, headers={"Allow": ", ".join(sorted(methods))})


def add_error_handlers(app: FastAPI) -> None:
    """Make an application answer every error in the same JSON format."""

    async def handle_http_error(request: Request, error: Any) -> JSONResponse:
        error_type = getattr(error, "error_type", None) or _HTTP_ERROR_TYPES.get(error.status_code, "Refused")
        message, path = error.detail, quote_value(request.scope["path"])
        if error_type == "NotFound":
            message = f"there is no path {path}; GET /api/v1/openapi.json describes all."
        elif error_type == "MethodNotAllowed":
            message = f"{path} does not support {request.method}; use {error.headers['Allow']}."
        return build_error_response(error.status_code, error_type, message, error.headers)

    async def handle_library_error(request: Request, error: Any) -> JSONResponse:
        return build_error_response(422, type(error).__name__, str(error))

    async def handle_validation_error(request: Request, error: Any) -> JSONResponse:
        return build_error_response(422, "InvalidRequest", describe_problem(error.errors()[0]))

    async def handle_unexpected_error(request: Request, error: Exception) -> JSONResponse:
        return build_error_response(500, "InternalError", INTERNAL_ERROR)

    async def handle_disconnect(request: Request, error: Exception) -> Response:
        return Response(status_code=DisconnectedError.status)  # it cannot be sent

    app.add_exception_handler(ClientDisconnect, handle_disconnect)
    app.add_exception_handler(ServiceError, handle_http_error)
    app.add_exception_handler(CuriographError, handle_library_error)
    app.add_exception_handler(RequestValidationError, handle_validation_error)
    app.add_exception_handler(HTTPException, handle_http_error)
    app.add_exception_handler(Exception, handle_unexpected_error)
