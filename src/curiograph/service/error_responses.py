"""Errors of the service, and handlers that answer every error as `{"error": {"type": ..., "message": ...}}`."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response

from curiograph.errors import CuriographError, UnknownNameError, quote_value, shorten_text

LOG = logging.getLogger("curiograph.service")


def escape_record(record: logging.LogRecord) -> bool:
    """Make the message of a log record one printable line, and indent its traceback: a client cannot forge a line."""
    record.msg, record.args = shorten_text(record.getMessage(), _MAX_MESSAGE), ()
    if record.exc_info:
        lines = "".join(traceback.format_exception(record.exc_info[1])).splitlines()
        record.exc_text = "\n".join(f"  | {shorten_text(line, _MAX_MESSAGE)}" for line in lines)
    return True


LOG.addFilter(escape_record)

_INTERNAL_ERROR = "something went wrong on the server; see its log."
_MAX_MESSAGE = 500
"""Maximum number of characters of a message: an error may quote what a client sent."""


class ServiceError(CuriographError, HTTPException):
    """A refused request; also an HTTPException, because FastAPI hides other exceptions raised while it reads a body."""

    status, error_type = 422, "InvalidRequest"

    def __init__(
        self, message: str, status: int | None = None, error_type: str | None = None, retry_after: int | None = None
    ) -> None:
        headers = None if retry_after is None else {"Retry-After": str(retry_after)}
        HTTPException.__init__(self, status or self.status, message, headers)
        self.error_type = error_type or self.error_type

    def __str__(self) -> str:
        return self.detail


class NotFoundError(ServiceError, UnknownNameError):
    """A graph that does not exist."""

    status, error_type = 404, "UnknownNameError"


class TooLargeError(ServiceError):
    """A request or an upload that exceeds a limit."""

    status, error_type = 413, "TooLargeError"


class BusyError(ServiceError):
    """Too many requests are in progress."""

    status, error_type = 429, "Busy"

    def __init__(self, count: int) -> None:
        super().__init__(f"{count} requests are in progress, the limit; try again later.", retry_after=1)


class InternalError(ServiceError):
    """A computation that failed for a reason that is not the client's; the log gives it."""

    status, error_type = 500, "InternalError"

    def __init__(self, message: str = _INTERNAL_ERROR) -> None:
        super().__init__(message)


class TimeLimitError(ServiceError):
    """A request that takes longer than the time limit."""

    status, error_type = 503, "TooSlow"

    def __init__(self, seconds: int) -> None:
        super().__init__(f"the request takes longer than {seconds} s, the limit; request less.", retry_after=seconds)


def build_error_response(
    status: int, error_type: str, message: str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """Build the JSON response of an error."""
    text = shorten_text(message.encode("utf-8", "replace").decode(), _MAX_MESSAGE)
    return JSONResponse({"error": {"type": error_type, "message": text}}, status, headers)


def describe_problem(problem: Mapping[str, Any]) -> str:
    """Describe a validation error of pydantic in one sentence."""
    place, message = list(problem["loc"]), problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "json_invalid":
        return f"the body is not valid JSON at character {place[-1]} ({problem['ctx']['error']})."
    if place[-1] == "constrained-str":  # the first of the types that a label may have
        del place[-1]
        message = message if problem["type"] == "string_too_long" else "Input should be text or a number"
    if not isinstance(problem["input"], (dict, list)):  # they may be huge, or the whole body if a field is missing
        message += f"; it is {quote_value(problem['input'])}"
    return f"{'.'.join(str(part) for part in place if part != 'body') or 'body'}: {message}."


def add_error_handlers(app: FastAPI) -> None:
    """Make an application answer every error in the same JSON format."""

    async def handle_http_error(request: Request, error: Any) -> JSONResponse:
        kind = {400: "BadRequest", 404: "NotFound", 405: "MethodNotAllowed"}.get(error.status_code, "Refused")
        message, path = error.detail, quote_value(request.scope["path"])
        if isinstance(error, ServiceError):
            kind = error.error_type
        elif error.status_code == 404:
            message = f"there is no path {path}; GET /api/v1/openapi.json describes all."
        elif error.status_code == 405:
            message = f"{path} does not support {request.method}; use {error.headers['Allow']}."
        return build_error_response(error.status_code, kind, message, error.headers)

    async def handle_library_error(request: Request, error: Any) -> JSONResponse:
        return build_error_response(422, type(error).__name__, str(error))

    async def handle_validation_error(request: Request, error: Any) -> JSONResponse:
        return build_error_response(422, "InvalidRequest", describe_problem(error.errors()[0]))

    async def handle_unexpected_error(request: Request, error: Exception) -> JSONResponse:
        return build_error_response(500, "InternalError", _INTERNAL_ERROR)

    async def handle_disconnect(request: Request, error: Exception) -> Response:
        return Response(status_code=499)  # it cannot be sent

    app.add_exception_handler(ClientDisconnect, handle_disconnect)
    app.add_exception_handler(ServiceError, handle_http_error)
    app.add_exception_handler(CuriographError, handle_library_error)
    app.add_exception_handler(RequestValidationError, handle_validation_error)
    app.add_exception_handler(HTTPException, handle_http_error)
    app.add_exception_handler(Exception, handle_unexpected_error)
