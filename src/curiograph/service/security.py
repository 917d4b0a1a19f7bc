"""Security middleware: host, origin, token and body-size checks; safe headers on every response.

Plain ASGI, so that it also covers the page and its websocket.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import Sequence
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from curiograph.messages import quote_value
from curiograph.service.config import Limits
from curiograph.service.errors import SlowBodyError, TooLargeError, build_error_response

LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")
PUBLIC_PATHS = ("/healthz", "/readyz")
"""Paths that need no token, for monitoring."""
_API_PREFIX = "/api/"
_UPLOAD_PATH = "/api/v1/graphs"
_COOKIE = "curiograph_token"
_MULTIPART_OVERHEAD = 2**16
"""Bytes that a multipart body may have in addition to its file."""
_SAFE_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"content-security-policy", b"frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
)


class SecurityMiddleware:
    """Refuse requests with an unknown host name, from another site, or without the token if the service has one."""

    def __init__(self, app: ASGIApp, token: str | None, hosts: Sequence[str] | None) -> None:
        self._app, self._hosts, self._token = app, hosts, token
        self._cookie = "" if token is None else hashlib.sha256(b"curiograph page " + token.encode()).hexdigest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message.setdefault("headers", [])
                names = {name for name, _ in headers}
                message["headers"] = [*headers, *(each for each in _SAFE_HEADERS if each[0] not in names)]
            await send(message)

        response = self._check_request(scope)
        if response is None:
            await self._app(scope, receive, send_with_headers)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await response(scope, receive, send_with_headers)

    def _check_request(self, scope: Scope) -> Response | None:
        """Return None if the request is allowed, otherwise the response to send."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self._hosts is not None and _strip_port(host) not in self._hosts:
            names = ", ".join(self._hosts)
            message = f"this service is not available under the host name {quote_value(host)}; use one of {names}."
            return build_error_response(400, "UnknownHost", message)
        origin = headers.get("origin")
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
        redirect = self._remove_token(scope, self._token, is_authorized)
        if redirect is not None or is_authorized:
            return redirect
        return build_error_response(
            401,
            "TokenNeeded",
            "this service needs its token: send Authorization: Bearer TOKEN, or open the page with ?token=TOKEN.",
            {"WWW-Authenticate": "Bearer"},
        )

    def _remove_token(self, scope: Scope, token: str, is_authorized: bool) -> Response | None:
        """Redirect a page request with `?token=TOKEN` to the same page with a cookie; None for any other request.

        The token does not stay in the address, where others may see it, and is not logged.
        """
        if scope["type"] != "http" or scope["method"] != "GET" or scope["path"].startswith(_API_PREFIX):
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in query if name == "token"]
        if not given or not (
            is_authorized or any(hmac.compare_digest(each.encode(), token.encode()) for each in given)
        ):
            return None
        other_parameters = urlencode([(name, value) for name, value in query if name != "token"])
        path = "/" + scope["path"].lstrip("/\\")  # a path with two leading slashes would be another host
        response = RedirectResponse(f"{path}?{other_parameters}" if other_parameters else path, 303)
        # behind a proxy with TLS, which sends this header; a client that forges it affects its own cookie only
        forwarded = Headers(scope=scope).get("x-forwarded-proto", "")
        secure = scope.get("scheme") == "https" or forwarded.startswith("https")
        response.set_cookie(_COOKIE, self._cookie, httponly=True, samesite="lax", secure=secure)
        return response


def _is_equal(given: str, expected: str) -> bool:
    """Compare a header, which Starlette decodes as Latin-1, in constant time; clients send UTF-8 or Latin-1.

    >>> _is_equal("sch\xc3\xbcssel", "sch\xfcssel"), _is_equal("sch\xfcssel", "sch\xfcssel"), _is_equal("a", "b")
    (True, True, False)
    """
    sent = given.encode("latin-1", "replace")
    is_utf8 = hmac.compare_digest(sent, expected.encode())
    return hmac.compare_digest(sent, expected.encode("latin-1", "backslashreplace")) or is_utf8


def _strip_port(host: str) -> str:
    """Return the host name without the port.

    >>> _strip_port("127.0.0.1:8000"), _strip_port("[::1]:80"), _strip_port("LOCALHOST")
    ('127.0.0.1', '::1', 'localhost')
    """
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


class BodyLimitMiddleware:
    """Limit the size of a body, whatever its Content-Length header, and the time to receive it."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app, self._limits = app, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_query = scope["path"].startswith(_API_PREFIX) and scope["path"] != _UPLOAD_PATH
        name = "body_bytes" if is_query else "upload_bytes"
        max_bytes = getattr(self._limits, name) + (0 if is_query else _MULTIPART_OVERHEAD)
        deadline = asyncio.get_running_loop().time() + self._limits.seconds
        num_bytes, has_more = 0, True

        async def receive_limited() -> Message:
            nonlocal num_bytes, has_more
            if not has_more:  # only the disconnect message follows the body
                return await receive()
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError:
                raise SlowBodyError(
                    f"the body did not arrive within {self._limits.seconds} s; send it faster."
                ) from None
            num_bytes += len(message.get("body", b""))
            has_more = bool(message.get("more_body", False))
            if num_bytes > max_bytes:
                raise TooLargeError(
                    f"the request has more than {max_bytes:,} bytes; send fewer, or start the service with a larger "
                    f"--limit {name}=NUMBER."
                )
            return message

        await self._app(scope, receive_limited, send)
