"""Who may come in, and how much they may bring: host, origin, token, size and time of a body; safe headers for all.

Plain ASGI, so that it stands before every route, the page's and its websocket's too.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections.abc import Sequence
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from curiograph.service.config import Limits
from curiograph.service.errors import build_error_response, too_large, too_slow

LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")
OPEN = ("/healthz", "/readyz")
"""What a monitor may ask without the token."""
API = "/api/"
UPLOADS = "/api/v1/graphs"

_COOKIE = "curiograph_token"
_AROUND = 2**16
"""Bytes that a multipart body may have around its file."""
_SAFE = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "content-security-policy": "frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
}


class SecurityMiddleware:
    """Lets in who names this service as its host, comes from no other site and has the token, where there is one."""

    def __init__(self, app: ASGIApp, token: str | None, hosts: Sequence[str] | None) -> None:
        self._app, self._hosts = app, hosts
        self._token = None if token is None else token.encode()
        self._pass = None if token is None else hashlib.sha256(b"curiograph page " + token.encode()).hexdigest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        answer = self._refusal(scope)
        if answer is None:
            await self._app(scope, receive, _with_headers(send))
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await answer(scope, receive, _with_headers(send))

    def _refusal(self, scope: Scope) -> Response | None:
        """What to answer instead of letting someone in; None where she may come in."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self._hosts is not None and _name(host) not in self._hosts:
            return build_error_response(400, "UnknownHost", "this service does not answer under that host name.")
        origin = headers.get("origin")
        reads = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        if origin is not None and not reads and urlsplit(origin).netloc != host:
            return build_error_response(403, "OtherOrigin", "requests from pages of other sites are not answered.")
        if self._token is None or scope["path"] in OPEN or self._knows(headers):
            return None
        return self._with_pass(scope) or build_error_response(
            401,
            "TokenNeeded",
            "this service needs its token: send Authorization: Bearer TOKEN, or open the page with ?token=TOKEN.",
            {"WWW-Authenticate": "Bearer"},
        )

    def _knows(self, headers: Headers) -> bool:
        """Whether a request brings the token, or the pass that the page got for it."""
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return self._is_token(given.strip())
        cookies = cookie_parser(headers.get("cookie", ""))
        return _same(cookies.get(_COOKIE, ""), self._pass or "")

    def _is_token(self, given: str) -> bool:
        return _same(given, (self._token or b"").decode())

    def _with_pass(self, scope: Scope) -> Response | None:
        """The page once more without the token in its address, and with a cookie that stands for it."""
        if scope["type"] != "http" or scope["method"] != "GET" or scope["path"].startswith(API):
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if not any(name == "token" and self._is_token(value) for name, value in query):
            return None
        rest = urlencode([pair for pair in query if pair[0] != "token"])
        path = "/" + scope["path"].lstrip("/\\")  # two slashes would lead to another host
        answer = RedirectResponse(f"{path}?{rest}" if rest else path, 303)
        secure = scope.get("scheme") == "https"
        answer.set_cookie(_COOKIE, self._pass or "", httponly=True, samesite="lax", secure=secure)
        return answer


def _same(given: str, wanted: str) -> bool:
    """Whether two texts are equal, in a time that does not tell how much of them is."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def _name(host: str) -> str:
    """The host without its port.

    >>> _name("127.0.0.1:8000"), _name("[::1]:80"), _name("LOCALHOST")
    ('127.0.0.1', '::1', 'localhost')
    """
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _SAFE.items():
                headers.setdefault(name, value)
        await send(message)

    return sending


class BodyLimitMiddleware:
    """Counts the bytes of a body as they come, whatever its header says, and gives up on one that takes too long."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app, self._limits = app, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        asks = scope["path"].startswith(API) and scope["path"] != UPLOADS
        most = self._limits.body_bytes if asks else self._limits.upload_bytes + _AROUND
        deadline = asyncio.get_running_loop().time() + self._limits.seconds
        count, more = 0, True

        async def counted() -> Message:
            nonlocal count, more
            if not more:  # what comes after the body is that the client has gone
                return await receive()
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError:
                raise too_slow(self._limits.seconds) from None
            count += len(message.get("body", b""))
            more = bool(message.get("more_body", False))
            if count > most:
                raise too_large(f"the request has more than {most:,} bytes, as many as are taken.")
            return message

        await self._app(scope, counted, send)
