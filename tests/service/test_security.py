"""Security: token, host, origin, size and time of a body; monitoring."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from starlette.websockets import WebSocketDisconnect

from curiograph.service.config import Limits
from curiograph.service.state import Service
from support.serving import get_error, open_client, wait_until

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
        assert api.get("/api/v1/graphs").status_code == 200  # the client has kept the cookie
        api.cookies.clear()
        evil = api.get("//evil.example/", params={"token": TOKEN}, follow_redirects=False)
        assert not evil.headers.get("location", "").startswith("//")
        by_proxy = api.get("/", params={"token": TOKEN}, headers={"X-Forwarded-Proto": "https"}, follow_redirects=False)
        assert "Secure" in by_proxy.headers["set-cookie"]
        assert "Secure" not in cookie


def test_token_does_not_stay_in_the_address():
    with open_client(token=TOKEN) as api:
        api.get("/", params={"token": TOKEN}, follow_redirects=False)
        for given in (TOKEN, "wrong"):  # the client has the cookie
            response = api.get("/nowhere", params={"token": given, "a": "b"}, follow_redirects=False)
            assert (response.status_code, response.headers["location"]) == (303, "/nowhere?a=b")


def test_token_that_is_not_ascii():
    token = "schl\xfcssel \u2713"
    with open_client(token=token) as api:
        right = {"Authorization": f"Bearer {token}".encode()}
        assert api.get("/api/v1/graphs", headers=right).status_code == 200
        assert api.get("/", params={"token": token}, follow_redirects=False).status_code == 303
        wrong = {"Authorization": "Bearer schl\xfcssel".encode("latin-1")}
        get_error(api.get("/api/v1/graphs", headers=wrong), 401)


def test_health_answers_head():
    with open_client() as api:
        assert api.head("/healthz").status_code == 200
        assert api.head("/readyz").status_code == 200


def test_malformed_cookies_of_others_are_ignored():
    with open_client(token=TOKEN) as api:
        api.get("/", params={"token": TOKEN}, follow_redirects=False)
        ours = "; ".join(f"{name}={value}" for name, value in api.cookies.items())
        api.cookies.clear()
        for header in (f'prefs={{"a": [1, 2]}}; {ours}', f'{ours}; a="b; c'):
            assert api.get("/api/v1/graphs", headers={"Cookie": header}).status_code == 200


def test_websocket_needs_the_token():
    with open_client(token=TOKEN) as api, pytest.raises(WebSocketDisconnect), api.websocket_connect("/anything"):
        pass


def test_other_host_names_and_other_sites_are_refused():
    with open_client() as api:
        message = get_error(api.get("/api/v1/graphs", headers={"Host": "evil.example"}), 400)
        assert "'evil.example'; use one of localhost" in message
        assert api.get("/healthz", headers={"Host": "LOCALHOST:8000"}).status_code == 200
        body = {"graph": "toy:library", "walk": ["music"]}
        for origin in ("http://evil.example", "http://[", "null"):
            assert origin in get_error(api.post("/api/v1/measure", json=body, headers={"Origin": origin}), 403)
        assert api.post("/api/v1/measure", json=body, headers={"Origin": "http://127.0.0.1"}).status_code == 200
    with open_client(hosts=None) as api:
        assert api.get("/healthz", headers={"Host": "any.example"}).status_code == 200


def test_safe_headers_and_no_cors():
    with open_client(token=TOKEN) as api:
        for response in (api.get("/healthz"), api.get("/"), api.post("/healthz")):
            assert response.headers["x-content-type-options"] == "nosniff"
            assert "frame-ancestors 'none'" in response.headers["content-security-policy"]
            assert "access-control-allow-origin" not in response.headers


def test_body_size_is_limited():
    limits = Limits(body_bytes=1_000, upload_bytes=2_000)
    read = []

    def endless() -> Any:
        for _ in range(10_000):
            read.append(1)
            yield b"x" * 100

    with open_client(limits) as api:
        as_json = {"Content-Type": "application/json"}
        for what in ("measure", "recommend"):
            message = get_error(api.post(f"/api/v1/{what}", content=b" " * 1_001, headers=as_json), 413)
            assert "1,000 bytes" in message
            assert "--limit body_bytes=" in message
        get_error(api.post("/api/v1/recommend", content=endless(), headers=as_json), 413)
        get_error(api.post("/api/v1/graphs?name=a.csv", content=b"a,b\n" * 501), 413)
        get_error(api.post("/api/v1/graphs", files={"file": ("a.csv", b"a,b\n" * 40_000)}), 413)
        assert api.post("/api/v1/graphs?name=a.csv", content=b"a,b\n" * 400).status_code == 201


def test_limits_of_simultaneous_requests_and_of_time(monkeypatch):
    released = threading.Event()
    with open_client(Limits(running=1, seconds=1)) as api:
        service: Service = api.app.state.service
        open_graph = service.graphs.open
        monkeypatch.setattr(service.graphs, "open", lambda name: (released.wait(60), open_graph(name))[1])
        body = {"graph": "toy:library", "walk": ["music"]}
        responses: list[Any] = []
        first = threading.Thread(target=lambda: responses.append(api.post("/api/v1/measure", json=body)))
        first.start()
        wait_until(lambda: service.busy)
        second = api.post("/api/v1/measure", json=body)
        assert "1 requests are in progress" in get_error(second, 429)
        assert int(second.headers["retry-after"]) >= 1
        assert api.get("/healthz").status_code == 200  # the event loop is not blocked
        first.join()
        assert "longer than 1 s" in get_error(responses[0], 503)
        get_error(api.post("/api/v1/measure", json=body), 429)  # the thread is still running
        released.set()
        wait_until(lambda: api.post("/api/v1/measure", json=body).status_code == 200)


def test_service_that_refuses_some_requests_is_not_ready():
    released = threading.Event()
    with open_client(Limits(running=1)) as api:
        service: Service = api.app.state.service
        work = api.portal.start_task_soon(service.light_threads.run, released.wait)
        wait_until(lambda: service.light_threads.busy)
        assert "overloaded" in get_error(api.get("/readyz"), 503)
        released.set()
        work.result()
        assert api.get("/readyz").status_code == 200
        service.batcher.num_unanswered = 1
        assert "overloaded" in get_error(api.get("/readyz"), 503)


def test_unexpected_error_reveals_nothing(monkeypatch):
    with open_client() as api:
        monkeypatch.setattr(api.app.state.service.graphs, "list_graphs", lambda: 1 / 0)
        assert "log" in get_error(api.get("/api/v1/graphs"), 500)


def test_readiness():
    released = threading.Event()
    with open_client(warm=lambda: released.wait(60)) as api:
        assert "warming up" in get_error(api.get("/readyz"), 503)
        assert api.get("/healthz").status_code == 200
        released.set()
        wait_until(lambda: api.get("/readyz").status_code == 200)
        api.app.state.service.begin_shutdown()
        assert "stopping" in get_error(api.get("/readyz"), 503)


def test_service_ends_during_its_warmup():
    released = threading.Event()
    with open_client(warm=lambda: released.wait(60)) as api:
        service: Service = api.app.state.service
        wait_until(lambda: service.busy)
    assert service.busy  # so that `run_server` does not wait for the thread
    released.set()


def test_metrics_group_routes_of_the_page():
    with open_client() as api:
        for number in range(3):
            api.app.add_api_route(f"/_upload/{number}", lambda: "as NiceGUI makes them")
            assert api.get(f"/_upload/{number}").status_code == 200
        text = api.get("/metrics").text
    assert 'route="page",status="200"} 3.0' in text
    assert "_upload" not in text


def test_metrics_by_route_and_status():
    with open_client() as api:
        api.get("/api/v1/graphs/toy:library")
        api.get("/api/v1/graphs/nope")
        api.get("/nowhere")
        graphs = api.get("/api/v1/graphs").json()["graphs"]
        text = api.get("/metrics").text
    route = 'route="/api/v1/graphs/{graph}"'
    assert f'curiograph_requests_total{{method="GET",{route},status="200"}} 1.0' in text
    assert f'curiograph_requests_total{{method="GET",{route},status="404"}} 1.0' in text
    assert 'route="other",status="404"' in text
    assert f'curiograph_request_seconds_bucket{{le="0.1",method="GET",{route}}}' in text
    assert 'curiograph_jobs{state="running"} 0.0' in text
    assert 'curiograph_queue_length{pool="requests"} 0.0' in text
    assert 'curiograph_busy_workers{pool="jobs"} 0.0' in text
    assert f"curiograph_graphs {len(graphs)}.0" in text
    assert "process_resident_memory_bytes" in text
