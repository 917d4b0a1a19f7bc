"""Time limits: refuse long work by an estimate, stop it soon after its deadline, and never delay quick requests."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import curiograph as cg
from curiograph.service import time_limits
from curiograph.service.config import Limits
from curiograph.service.state import Service
from curiograph.service.tasks import measure_in_chunks
from curiograph.service.time_limits import CancellableReward
from support.serving import get_error, open_client, wait_until


@pytest.fixture(scope="module")
def api() -> Iterator[Any]:
    with open_client(Limits(seconds=1)) as client:
        yield client


@pytest.fixture(scope="module")
def dense(api: Any) -> str:
    """Id of a graph of 300 nodes and density 0.5."""
    links = np.argwhere(np.triu(np.random.default_rng(0).random((300, 300)) < 0.5, 1))
    content = "".join(f"{u},{v}\n" for u, v in links.tolist())
    return str(api.post("/api/v1/graphs?name=dense.csv", content=content.encode()).json()["id"])


@pytest.mark.parametrize("agent", ["greedy", "beam:4", "random", "horizon"])
@pytest.mark.parametrize("reward", ["igt", "cpt"])
def test_cancellable_reward_has_the_same_values(monkeypatch, agent, reward):
    monkeypatch.setattr(time_limits, "_CHECK_INTERVAL", 1e-7)
    graph, checks = cg.generate("ba", nodes=40, seed=2), itertools.count()
    cancellable = CancellableReward(reward, lambda: next(checks) and None)
    assert cg.explore(graph, agent, cancellable, 3, 9, seed=1) == cg.explore(graph, agent, reward, 3, 9, seed=1)
    assert next(checks) > 9


def test_measuring_in_chunks_gives_the_same_growth(monkeypatch):
    monkeypatch.setattr("curiograph.service.tasks._MAX_CHUNK_WORK", 40)
    walks: list[Any] = [["music", "dance"], ["logic", "computing", "mathematics"], ["music"]]
    chunks: list[int] = []
    growths = list(measure_in_chunks(cg.toys.library(), walks, True, lambda: chunks.append(1)))
    expected = cg.measure(cg.toys.library(), walks)  # chunks number their users from 0
    assert [each.to_dict() | {"user": None} for each in growths] == [g.to_dict() | {"user": None} for g in expected]
    assert len(chunks) > 1


def test_long_requests_are_refused_at_once(api, dense):
    walk = list(range(250))
    for what, body in (
        ("explore", {"agent": "greedy", "reward": "cpt", "steps": 250}),
        ("explore", {"agent": "beam", "reward": "cpt", "steps": 60}),
        ("look", {"walk": walk[:80], "reward": "cpt", "agent": "beam", "ahead": 5}),
        ("measure", {"walk": walk}),
    ):
        message = get_error(api.post(f"/api/v1/{what}", json={"graph": dense, **body}), 422)
        assert "a request may take 1" in message
        assert "start a job" in message
    assert not api.app.state.service.busy  # nothing was started
    quick = api.post("/api/v1/measure", json={"graph": dense, "walk": walk, "compressibility": False})
    assert quick.status_code == 200


@pytest.mark.parametrize(
    ("what", "body"),
    [
        ("explore", {"agent": "beam", "reward": "igt", "steps": 100}),
        ("rank", {"agent": "greedy", "reward": "cpt", "alpha": 0.99}),
    ],
)
def test_thread_ends_soon_after_its_deadline(api, dense, what, body):
    service: Service = api.app.state.service
    assert "longer than 1 s" in get_error(api.post(f"/api/v1/{what}", json={"graph": dense, **body}), 503)
    wait_until(lambda: not service.busy)


def test_quick_requests_while_all_threads_compute():
    with open_client(Limits(seconds=3)) as api:
        service: Service = api.app.state.service
        library = {"graph": "toy:library", "history": ["music"]}
        assert api.post("/api/v1/recommend", json=library).status_code == 200  # this prepares the history
        released = threading.Event()
        for _ in range(service.workers.num_threads):
            api.portal.start_task_soon(service.workers.run, released.wait, 60)
        wait_until(lambda: service.workers.busy)
        assert api.get("/readyz").status_code == 200
        for path in ("graphs", "graphs/toy:grid", "graphs/ws/nodes"):
            assert api.get(f"/api/v1/{path}").status_code == 200
        assert api.post("/api/v1/recommend", json=library).status_code == 200
        assert "'music'" in get_error(api.post("/api/v1/recommend", json=library | {"history": ["musik"]}), 422)
        wait_until(lambda: api.get("/readyz").status_code == 503)
        assert "overloaded" in get_error(api.get("/readyz"), 503)
        released.set()
        wait_until(lambda: api.get("/readyz").status_code == 200)


def test_cancel_jobs_within_a_walk_and_before_they_start(api, dense):
    body = {"kind": "evaluate", "graph": dense, "agent": "greedy", "reward": "cpt", "steps": 300, "episodes": 8}
    jobs = [api.post("/api/v1/jobs", json=body).json()["id"] for _ in range(3)]

    def get_state(job: str) -> str:
        return str(api.get(f"/api/v1/jobs/{job}").json()["state"])

    wait_until(lambda: get_state(jobs[0]) == "running")
    assert api.delete(f"/api/v1/jobs/{jobs[2]}").json()["state"] == "cancelled"
    assert api.delete(f"/api/v1/jobs/{jobs[0]}").json()["state"] in ("cancelling", "cancelled")
    api.delete(f"/api/v1/jobs/{jobs[1]}")
    wait_until(lambda: [get_state(job) for job in jobs] == ["cancelled"] * 3)
