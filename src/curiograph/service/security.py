"""Security middleware: origin, token and body-size checks; safe headers on every response.

Plain ASGI, so that it also covers the page and its websocket.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from curiograph.errors import quote_value
from curiograph.service.error_responses import ServiceError, TooLargeError, build_error_response
from curiograph.service.server_settings import MAX_BODY, ServiceSettings

PUBLIC_PATHS = ("/healthz", "/readyz")
"""Paths that need no token, for monitoring."""
_API_PREFIX = "/api/"
_UPLOAD_PATH = "/api/v1/graphs"
_COOKIE = "curiograph_token"
_MULTIPART_OVERHEAD = 2**16
"""Bytes that a multipart body may have in addition to its file."""
_SAFE_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"content-security-policy", b"frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
]


class SecurityMiddleware:
    """Refuse requests from pages of other sites, without the token, or whose body is too large or too slow."""

    def __init__(self, app: ASGIApp, settings: ServiceSettings) -> None:
        self._app, self._settings, self._token = app, settings, settings.token
        self._cookie = hashlib.sha256(f"curiograph page {settings.token}".encode()).hexdigest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *_SAFE_HEADERS]
            await send(message)

        response = self._check_request(scope)
        if response is None:
            limited = self._limit_body(scope, receive) if scope["type"] == "http" else receive
            await self._app(scope, limited, send_with_headers)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await response(scope, receive, send_with_headers)

    def _check_request(self, scope: Scope) -> Response | None:
        """Return None if the request is allowed, otherwise the response to send."""
        headers = Headers(scope=scope)
        origin, host = headers.get("origin"), headers.get("host", "")
        is_read = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        if origin is not None and not is_read and origin.partition("://")[2] != host:
            message = f"pages of {quote_value(origin)} may not send requests to {quote_value(host)}; use its own page."
            return build_error_response(403, "OtherOrigin", message)
        if self._token is None or scope["path"] in PUBLIC_PATHS:
            return None
        scheme, _, credentials = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            is_authorized = _is_equal(credentials.strip(), self._token)
        else:
            is_authorized = _is_equal(cookie_parser(headers.get("cookie", "")).get(_COOKIE, ""), self._cookie)
        redirect = self._remove_token(scope, headers, is_authorized)
        if redirect is not None or is_authorized:
            return redirect
        return build_error_response(
            401,
            "TokenNeeded",
            "this service needs its token: send Authorization: Bearer TOKEN, or open the page with ?token=TOKEN.",
            {"WWW-Authenticate": "Bearer"},
        )

    def _remove_token(self, scope: Scope, headers: Headers, is_authorized: bool) -> Response | None:
        """Redirect a page request with `?token=TOKEN` to the same page with a cookie; None for any other request.

        The token does not stay in the address, where others may see it, and is not logged.
        """
        if scope["type"] != "http" or scope["method"] != "GET" or scope["path"].startswith(_API_PREFIX):
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in query if name == "token"]
        if not given or not (is_authorized or any(_is_equal(each, self._token or "") for each in given)):
            return None
        others = urlencode([(name, value) for name, value in query if name != "token"])
        path = "/" + scope["path"].lstrip("/\\")  # a path with two leading slashes would be another host
        response = RedirectResponse(f"{path}?{others}" if others else path, 303)
        # behind a proxy with TLS, which sends this header; a client that forges it affects its own cookie only
        secure = scope.get("scheme") == "https" or headers.get("x-forwarded-proto", "").startswith("https")
        response.set_cookie(_COOKIE, self._cookie, httponly=True, samesite="lax", secure=secure)
        return response

    def _limit_body(self, scope: Scope, receive: Receive) -> Receive:
        """Limit the size of a body, whatever its Content-Length header, and the time to receive it."""
        is_query = scope["path"].startswith(_API_PREFIX) and scope["path"] != _UPLOAD_PATH
        max_bytes = MAX_BODY if is_query else self._settings.upload_bytes + _MULTIPART_OVERHEAD
        deadline = asyncio.get_running_loop().time() + self._settings.seconds
        num_bytes, has_more = 0, True

        async def receive_limited() -> Message:
            nonlocal num_bytes, has_more
            if not has_more:  # only the disconnect message follows the body
                return await receive()
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError:
                limit = self._settings.seconds
                raise ServiceError(f"the body took more than {limit} s; send it faster.", 408, "SlowBody") from None
            num_bytes += len(message.get("body", b""))
            has_more = bool(message.get("more_body", False))
            if num_bytes > max_bytes:
                raise TooLargeError(f"the request has more than {max_bytes:,} bytes; send fewer.")
            return message

        return receive_limited


def _is_equal(given: str, expected: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())
