"""Jobs: progress, results, cancel, bounds."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

import curiograph as cg
from curiograph.service.config import Limits
from curiograph.service.errors import BusyError
from curiograph.service.jobs import Job, JobQueue
from curiograph.service.state import save_prepared
from support.serving import get_error, open_client, wait_until


@pytest.fixture(scope="module")
def api() -> Iterator[Any]:
    with open_client() as client:
        yield client


def run_job(api: Any, **body: Any) -> Any:
    started = api.post("/api/v1/jobs", json=body)
    assert started.status_code == 202, started.text
    return wait_until_ended(api, started.json()["id"])


def wait_until_ended(api: Any, job_id: str) -> Any:
    def get_job() -> Any:
        return api.get(f"/api/v1/jobs/{job_id}").json()

    wait_until(lambda: get_job()["state"] in ("done", "failed", "cancelled"))
    return get_job()


def test_evaluate_equals_library(api):
    job = run_job(api, kind="evaluate", graph="rg", agent="greedy", reward="cpt", steps=6, episodes=21, seed=4)
    graph = cg.generate("rg", nodes=50, seed=3)
    expected = cg.evaluate("greedy", graph, "cpt", 6, 21, seed=4)
    assert (job["state"], job["done"], job["of"]) == ("done", 21, 21)
    assert job["result"]["mean"] == pytest.approx(expected.mean, rel=1e-12)
    assert job["result"]["sem"] == pytest.approx(expected.sem, rel=1e-12)


def test_measure_equals_library(api):
    walks = [["music", "dance"], ["logic", "computing", "mathematics"]] * 10
    job = run_job(api, kind="measure", graph="toy:library", walks=walks)
    growths = [growth.to_dict() for growth in cg.measure(cg.toys.library(), walks)]
    of_people = ("user", "session", "outside")  # requests have no users, and unknown nodes are an error
    expected = [{key: value for key, value in growth.items() if key not in of_people} for growth in growths]
    assert job["result"] == {"walks": expected}


def test_rank_equals_curious_pagerank(api):
    job = run_job(api, kind="rank", graph="toy:library", history=["music"], agent="greedy", k=3, seed=2)
    expected = cg.curious_pagerank(cg.toys.library(), "greedy", 0.85, ["music"], reward="igt", seed=2).top(3)
    assert [(each["node"], each["score"]) for each in job["result"]["ranking"]] == expected
    assert job["result"]["agent"] == "greedy"
    assert job["done"] == job["of"] > 0
    bare = api.post("/api/v1/jobs", json={"kind": "rank", "graph": "toy:library"})
    assert "/api/v1/rank" in get_error(bare, 422)


def test_prepare(api):
    job = run_job(api, kind="prepare", graph="toy:cycle", nodes=[0, 1])
    assert job["result"] == {"nodes": 2, "known": 4}
    assert run_job(api, kind="prepare", graph="toy:cycle")["result"]["known"] == 12


def test_error_of_saving_hides_the_path(tmp_path):
    (tmp_path / "secret.safetensors").write_text("precious")
    recommender = cg.Recommender(cg.toys.library())
    recommender.prepare(["music"])
    for file in (tmp_path / "secret.safetensors", tmp_path / "nowhere" / "secret.safetensors"):
        with pytest.raises(cg.SettingError, match="see the log") as refused:
            save_prepared(recommender, file)
        assert "secret" not in str(refused.value)


def test_list_and_delete(api):
    done = run_job(api, kind="measure", graph="toy:library", walks=[["music"]])
    listed = {each["id"]: each for each in api.get("/api/v1/jobs").json()["jobs"]}
    assert listed[done["id"]]["result"] is None
    assert api.delete(f"/api/v1/jobs/{done['id']}").json()["state"] == "done"
    get_error(api.get(f"/api/v1/jobs/{done['id']}"), 404)


def test_cancel_running_job(api):
    body = {"kind": "evaluate", "graph": "ba", "agent": "beam", "reward": "cpt", "steps": 40, "episodes": 5_000}
    job = api.post("/api/v1/jobs", json=body).json()["id"]
    assert api.delete(f"/api/v1/jobs/{job}").status_code == 200
    ended = wait_until_ended(api, job)
    assert ended["state"] == "cancelled"
    assert ended["done"] < 5_000


@pytest.mark.parametrize(
    "body",
    [
        {"kind": "evaluate", "graph": "rg", "agent": "unknown"},
        {"kind": "evaluate", "graph": "rg", "episodes": 10_001},
        {"kind": "measure", "graph": "toy:library", "walks": [["unknown"]]},
        {"kind": "prepare", "graph": "toy:library", "nodes": ["unknown"]},
        {"kind": "dance", "graph": "toy:library"},
    ],
)
def test_invalid_jobs_are_not_started(api, body):
    before = len(api.get("/api/v1/jobs").json()["jobs"])
    get_error(api.post("/api/v1/jobs", json=body), 422)
    assert len(api.get("/api/v1/jobs").json()["jobs"]) == before


def test_number_of_jobs_is_limited():
    async def start_jobs() -> None:
        jobs, released = JobQueue(Limits(jobs=1, kept_jobs=2)), asyncio.Event()

        async def wait(job: Job) -> bytes:
            await released.wait()
            return b"{}"

        first, second = jobs.start("wait", "g", wait), jobs.start("wait", "g", wait)
        with pytest.raises(BusyError, match="2 jobs"):
            jobs.start("wait", "g", wait)
        await asyncio.sleep(0)
        assert (first.state, second.state) == ("running", "waiting")
        released.set()
        while second.state != "done":
            await asyncio.sleep(0)
        third = jobs.start("wait", "g", wait)
        assert [job.id for job in jobs.list_jobs()] == [second.id, third.id]

    asyncio.run(start_jobs())


def test_errors_of_jobs_and_cancel():
    async def start_jobs() -> None:
        jobs = JobQueue(Limits())

        async def bad(job: Job) -> bytes:
            raise cg.SettingError("give something else.")

        async def worse(job: Job) -> bytes:
            raise RuntimeError("a secret of the server")

        async def endless(job: Job) -> bytes:
            job.report(1, 2)
            await asyncio.sleep(3600)
            return b""

        failed, broken = jobs.start("a", "g", bad), jobs.start("b", "g", worse)
        running, waiting = jobs.start("c", "g", endless), jobs.start("d", "g", endless)
        never = jobs.start("e", "g", endless)
        while running.state != "running":
            await asyncio.sleep(0)
        jobs.cancel_all()
        assert (failed.state, failed.error) == ("failed", {"type": "SettingError", "message": "give something else."})
        assert broken.error is not None
        assert "secret" not in broken.error["message"]
        assert (running.state, running.done, running.of) == ("cancelled", 1, 2)
        assert waiting.state == never.state == "cancelled"

    asyncio.run(start_jobs())
