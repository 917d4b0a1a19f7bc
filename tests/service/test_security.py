"""Token, hosts, origins, sizes, readiness and metrics."""

from __future__ import annotations

import logging
import time
from typing import Any

import pytest

import curiograph as cg
from curiograph.service import security
from curiograph.service.error_responses import LOG
from curiograph.service.server_settings import MAX_BODY, ServiceSettings
from curiograph.service.state import Service
from support.serving import get_error, open_client

TOKEN = "a secret of ours"


def test_token_is_required_except_for_monitoring():
    with open_client(token=TOKEN) as api:
        assert api.get("/healthz").status_code == 200
        for path in ("/api/v1/graphs", "/metrics", "/api/v1/openapi.json", "/", "/anything"):
            response = api.get(path)
            assert "token" in get_error(response, 401)
            assert response.headers["www-authenticate"] == "Bearer"
        for wrong in ("Bearer", "Bearer ", "Bearer a secret", f"Basic {TOKEN}", "Bearer \xe9"):
            get_error(api.get("/api/v1/graphs", headers={"Authorization": wrong.encode("latin-1")}), 401)
        right = {"Authorization": f"Bearer {TOKEN}"}
        assert api.get("/api/v1/graphs", headers=right).status_code == 200


def test_wrong_tokens_are_slow_and_logged_and_missing_ones_are_not(monkeypatch, caplog):
    monkeypatch.setattr(security, "_WRONG_TOKEN_SECONDS", 0.2)
    with open_client(token=TOKEN) as api, caplog.at_level(logging.WARNING):
        start = time.monotonic()
        get_error(api.get("/api/v1/graphs"), 401)
        assert caplog.messages == []
        for headers, path in (({"Authorization": "Bearer a guess of theirs"}, "/metrics"), ({}, "/?token=a+guess")):
            get_error(api.get(path, headers=headers), 401)
        assert time.monotonic() - start >= 0.4
        assert caplog.messages == ["a wrong token came from testclient"] * 2


@pytest.mark.parametrize("token", ["", "fifteen letters", "sixteen l\xe9tters."])
def test_tokens_that_can_be_guessed_are_refused(token):
    with pytest.raises(cg.SettingError, match="16"):
        ServiceSettings(token=token)


def test_log_lines_cannot_be_forged(caplog):
    with caplog.at_level(logging.ERROR):
        LOG.error("the graph %s", "a\nERROR: b\x1b[2J")
        try:
            raise ValueError("a\nERROR: forged")
        except ValueError:
            LOG.exception("it failed")
    assert caplog.messages[0] == "the graph a ERROR: b\\x1b[2J"
    lines = (caplog.records[1].exc_text or "").splitlines()
    assert all(line.startswith("  | ") for line in lines)
    assert any("forged" in line for line in lines)


def test_service_behind_a_proxy_with_a_host_name_and_a_prefix():
    with open_client(allowed_hosts=["graphs.example"], root_path="/cg", token=TOKEN) as api:
        hosts = {"Host": "graphs.example", "Origin": "https://graphs.example"}
        right = hosts | {"Authorization": f"Bearer {TOKEN}"}
        for prefix in ("", "/cg"):  # which some proxies remove
            assert api.get(f"{prefix}/healthz", headers=hosts).status_code == 200
            get_error(api.get(f"{prefix}/api/v1/graphs", headers=hosts), 401)
            assert api.get(f"{prefix}/api/v1/graphs", headers=right).status_code == 200
        body = {"graph": "toy:library", "walk": ["music"]}
        assert api.post("/cg/api/v1/measure", json=body, headers=right | {"Host": "localhost"}).status_code == 200
        assert api.get("/healthz", headers={"Host": "evil.example"}).status_code == 400
        response = api.get("/cg/", params={"token": TOKEN}, follow_redirects=False)
        assert response.headers["location"] == "/cg/"


def test_page_sets_a_cookie_for_the_token():
    with open_client(token=TOKEN) as api:
        get_error(api.get("/", params={"token": "wrong"}, follow_redirects=False), 401)
        get_error(api.get("/api/v1/graphs", params={"token": TOKEN}), 401)
        response = api.get("/", params={"token": TOKEN, "graph": "rg"}, follow_redirects=False)
        assert (response.status_code, response.headers["location"]) == (303, "/?graph=rg")
        cookie = response.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "samesite=lax" in cookie.lower()
        assert TOKEN not in cookie
        assert "Secure" not in cookie
        assert api.get("/api/v1/graphs").status_code == 200  # the client has kept the cookie
        for given in (TOKEN, "wrong"):  # it does not stay in the address
            response = api.get("/nowhere", params={"token": given, "a": "b"}, follow_redirects=False)
            assert (response.status_code, response.headers["location"]) == (303, "/nowhere?a=b")
        ours = "; ".join(f"{name}={value}" for name, value in api.cookies.items())
        api.cookies.clear()
        assert api.get("/api/v1/graphs", headers={"Cookie": f'prefs={{"a": [1, 2]}}; {ours}'}).status_code == 200
        evil = api.get("//evil.example/", params={"token": TOKEN}, follow_redirects=False)
        assert not evil.headers.get("location", "").startswith("//")
        by_proxy = api.get("/", params={"token": TOKEN}, headers={"X-Forwarded-Proto": "https"}, follow_redirects=False)
        assert "Secure" in by_proxy.headers["set-cookie"]


def test_other_host_names_and_other_sites_are_refused():
    body = {"graph": "toy:library", "walk": ["music"]}
    with open_client() as api:
        assert api.get("/api/v1/graphs", headers={"Host": "evil.example"}).status_code == 400
        assert api.get("/healthz", headers={"Host": "LOCALHOST:8000"}).status_code == 200
        for origin in ("http://evil.example", "http://[", "null"):
            assert origin in get_error(api.post("/api/v1/measure", json=body, headers={"Origin": origin}), 403)
        assert api.post("/api/v1/measure", json=body, headers={"Origin": "http://127.0.0.1"}).status_code == 200
    with open_client(host="0.0.0.0", no_token=True) as api:
        assert api.get("/healthz", headers={"Host": "any.example"}).status_code == 200


def test_safe_headers_and_no_cors():
    with open_client(token=TOKEN) as api:
        for response in (api.get("/healthz"), api.head("/readyz"), api.get("/"), api.post("/healthz")):
            assert response.headers["x-content-type-options"] == "nosniff"
            policy = response.headers["content-security-policy"]
            assert "default-src 'self';" in policy
            assert "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy
            assert "access-control-allow-origin" not in response.headers


def test_body_size_is_limited():
    read = []

    def endless() -> Any:
        for _ in range(10_000):
            read.append(1)
            yield b" " * 10_000

    with open_client(upload_bytes=2_000) as api:
        as_json = {"Content-Type": "application/json"}
        for what in ("measure", "recommend"):
            message = get_error(api.post(f"/api/v1/{what}", content=b" " * (MAX_BODY + 1), headers=as_json), 413)
            assert "2,097,152 bytes" in message
        get_error(api.post("/api/v1/recommend", content=endless(), headers=as_json), 413)
        get_error(api.post("/api/v1/graphs?name=a.csv", content=b"a,b\n" * 501), 413)
        get_error(api.post("/api/v1/graphs", files={"file": ("a.csv", b"a,b\n" * 2_000_000)}), 413)
        assert api.post("/api/v1/graphs?name=a.csv", content=b"a,b\n" * 400).status_code == 201


def test_unexpected_error_reveals_nothing(monkeypatch):
    with open_client() as api:
        monkeypatch.setattr(api.app.state.service.graphs, "list_graphs", lambda: 1 / 0)
        assert "log" in get_error(api.get("/api/v1/graphs"), 500)


def test_readiness():
    assert Service(ServiceSettings()).status == "warming up"
    with open_client(requests=1) as api:
        service: Service = api.app.state.service
        assert api.get("/readyz").status_code == 200
        service.batcher.num_unanswered = 1
        assert "overloaded" in get_error(api.get("/readyz"), 503)
        busy = api.post("/api/v1/recommend", json={"graph": "toy:library", "history": []})
        assert "1" in get_error(busy, 429)
        assert int(busy.headers["retry-after"]) >= 1
        service.begin_shutdown()
        assert "stopping" in get_error(api.get("/readyz"), 503)
        assert api.get("/healthz").status_code == 200


def test_metrics_by_route_and_status():
    with open_client() as api:
        for path in ("/api/v1/graphs/toy:library", "/api/v1/graphs/nope", "/nowhere"):
            api.get(path)
        graphs = api.get("/api/v1/graphs").json()["graphs"]
        text = api.get("/metrics").text
    for status in (200, 404):
        assert f'http_requests_total{{handler="/api/v1/graphs/{{graph}}",method="GET",status="{status}"}} 1.0' in text
    assert "nowhere" not in text
    assert "curiograph_computations 0.0" in text
    assert f"curiograph_graphs {len(graphs)}.0" in text
    assert "process_resident_memory_bytes" in text
