"""Security middleware: origin, token and body-size checks; safe headers on every response, the page's too."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from contextlib import suppress
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from curiograph.errors import quote_value
from curiograph.service.error_responses import LOG, ServiceError, TooLargeError, build_error_response
from curiograph.service.server_settings import MAX_BODY, MAX_FILES, ServiceSettings

PUBLIC_PATHS = ("/healthz", "/readyz")
"""Paths that need no token, for monitoring."""
_API_PREFIX = "/api/"
_UPLOAD_PATH = "/api/v1/graphs"
_COOKIE = "curiograph_token"
_FORM_OVERHEAD = 300 * MAX_FILES
"""Bytes that a form may have in addition to its files."""
_WRONG_TOKEN_SECONDS, _LONGEST_DELAY = 1.0, 10.0
"""Time between two answers to a client that sends wrong tokens, and the longest time that one waits."""
_CONTENT_POLICY = (
    "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; object-src 'none'; "
    "img-src 'self' data: blob:"
)
_SAFE_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"content-security-policy", _CONTENT_POLICY.encode()),
    (b"referrer-policy", b"no-referrer"),
]


class SecurityMiddleware:
    """Refuse requests from pages of other sites, without the token, or whose body is too large or too slow."""

    def __init__(self, app: ASGIApp, settings: ServiceSettings) -> None:
        self._app, self._settings, self._token = app, settings, settings.token
        self._cookie = hashlib.sha256(f"curiograph page {settings.token}".encode()).hexdigest()
        self._delays: dict[str, float] = {}
        """Time of the next answer to clients that sent wrong tokens."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":  # the lifespan: uvicorn opens no websocket
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *_SAFE_HEADERS]
            await send(message)

        path = scope["path"].removeprefix(scope.get("root_path", ""))
        response = await self._check_request(scope, path, receive)
        if response is None:
            await self._app(scope, self._limit_body(path, receive), send_with_headers)
        else:
            await response(scope, receive, send_with_headers)

    async def _check_request(self, scope: Scope, path: str, receive: Receive) -> Response | None:
        """Return None if the request is allowed, otherwise the response to send; wrong tokens are answered slowly."""
        headers = Headers(scope=scope)
        origin, host = headers.get("origin"), headers.get("host", "")
        is_own = origin is None or origin.partition("://")[2] in (host, *self._settings.allowed_hosts)
        if not is_own and scope["method"] not in ("GET", "HEAD"):
            message = f"pages of {quote_value(origin)} may not send requests to {quote_value(host)}; use its own page."
            return build_error_response(403, "OtherOrigin", message)
        if self._token is None or path in PUBLIC_PATHS:
            return None
        scheme, _, credentials = headers.get("authorization", "").partition(" ")
        cookie = cookie_parser(headers.get("cookie", "")).get(_COOKIE, "")
        if scheme.lower() == "bearer":
            is_authorized = _is_equal(credentials.strip(), self._token)
        else:
            is_authorized = _is_equal(cookie, self._cookie)
        redirect = self._remove_token(scope, path, headers, is_authorized)
        if redirect is not None or is_authorized:
            return redirect
        if credentials or cookie or "token" in dict(parse_qsl(scope["query_string"].decode("latin-1"))):
            await self._delay_answer((scope.get("client") or ("an unknown client",))[0], receive)
        return build_error_response(
            401,
            "TokenNeeded",
            "this service needs its token: send Authorization: Bearer TOKEN, or open the page with ?token=TOKEN.",
            {"WWW-Authenticate": "Bearer"},
        )

    async def _delay_answer(self, client: str, receive: Receive) -> None:
        """Log a wrong token, and wait until its answer is due or the client has left."""
        now = asyncio.get_running_loop().time()
        due = min(max(now, self._delays.get(client, 0.0)) + _WRONG_TOKEN_SECONDS, now + _LONGEST_DELAY)
        self._delays = {each: time for each, time in self._delays.items() if time > now} | {client: due}
        with suppress(TimeoutError):
            async with asyncio.timeout_at(due):
                while (await receive())["type"] != "http.disconnect":
                    pass
        LOG.warning("a wrong token came from %s", client)

    def _remove_token(self, scope: Scope, path: str, headers: Headers, is_authorized: bool) -> Response | None:
        """Redirect a page request with `?token=TOKEN` to the same page with a cookie; None for any other request.

        The token does not stay in the address, where others may see it, and is not logged.
        """
        if scope["method"] != "GET" or path.startswith(_API_PREFIX):
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in query if name == "token"]
        if not given or not (is_authorized or any(_is_equal(each, self._token or "") for each in given)):
            return None
        others = urlencode([(name, value) for name, value in query if name != "token"])
        # a path with two leading slashes would be another host
        path = scope.get("root_path", "") + "/" + path.lstrip("/\\")
        response = RedirectResponse(f"{path}?{others}" if others else path, 303)
        # behind a proxy with TLS, which sends this header; a client that forges it affects its own cookie only
        secure = scope.get("scheme") == "https" or headers.get("x-forwarded-proto", "").startswith("https")
        response.set_cookie(_COOKIE, self._cookie, httponly=True, samesite="lax", secure=secure)
        return response

    def _limit_body(self, path: str, receive: Receive) -> Receive:
        """Limit the size of a body, whatever its Content-Length header, and the time to receive it."""
        max_bytes = self._settings.upload_bytes + _FORM_OVERHEAD if path == _UPLOAD_PATH else MAX_BODY
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
