"""Routes that read a JSON body, in bounded time whatever it contains."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

import orjson
from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError

from curiograph.service.errors import InvalidRequestError, describe_problem

_MAX_FIELDS = 64
"""Maximum number of fields of a body; every unknown one would be reported."""
_MAX_BRACKETS = 100_000
"""Maximum number of opening brackets of a body: creating a million lists takes long."""


class JsonRoute(APIRoute):
    """A route whose function has two arguments, the body as a pydantic model and the HTTP request.

    It returns a response. FastAPI generates its part of the OpenAPI document, and would report every error of a body,
    of which there may be hundreds of thousands.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the function that answers a request."""
        (parameter,) = self.dependant.body_params
        field: Any = parameter.field_info
        adapter: TypeAdapter[Any] = TypeAdapter(Annotated[field.annotation, field])
        endpoint: Callable[[Any, Request], Coroutine[Any, Any, Response]] = self.dependant.call  # type: ignore[assignment]

        async def handle(request: Request) -> Response:
            try:
                body = adapter.validate_python(read_json(await request.body(), request.headers.get("content-type")))
            except ValidationError as error:
                raise InvalidRequestError(describe_problem(error.errors(include_url=False)[0])) from None
            return await endpoint(body, request)

        return handle


def read_json(body: bytes, content_type: str | None) -> dict[str, Any]:
    """Parse a body that is a JSON object; raise InvalidRequestError for anything else.

    >>> read_json(b'{"graph": "rg"}', None)
    {'graph': 'rg'}
    """
    kind = (content_type or "application/json").partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise InvalidRequestError(f"the Content-Type is {kind[:80]}; send JSON with Content-Type: application/json.")
    if not body:
        raise InvalidRequestError("the body is empty; send a JSON object.")
    num_brackets = body.count(b"[") + body.count(b"{")
    if num_brackets > _MAX_BRACKETS:
        raise InvalidRequestError(f"the body has {num_brackets:,} [ and {{; at most {_MAX_BRACKETS:,} are allowed.")
    try:
        value = orjson.loads(body)
    except json.JSONDecodeError as error:
        reason = error.msg.partition(": line ")[0]
        raise InvalidRequestError(f"the body is not valid JSON at character {error.pos} ({reason}).") from None
    if not isinstance(value, dict):
        raise InvalidRequestError("the body is not a JSON object; send one, as in the examples of openapi.json.")
    if len(value) > _MAX_FIELDS:
        raise InvalidRequestError(f"the body has {len(value):,} fields; no request has more than {_MAX_FIELDS}.")
    return value
