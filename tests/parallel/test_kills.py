"""Jobs killed at random moments, many times: nothing that was finished is lost, and the result has the same bytes."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from support.job_processes import Driver, check_entries, entries_of, kill

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes through /proc"),
]

ROUNDS = 20
TASKS = 40
WORKERS = 2


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, bytes]]:
    """Digest of the results, and the entries of the journal, of a job that nobody touched."""
    folder = tmp_path_factory.mktemp("undisturbed")
    digest = Driver(folder / "run", TASKS, WORKERS, folder / "tmp").end().digest
    return digest, entries_of(folder / "run")


def disturb(driver: Driver, chance: random.Random, act: Callable[[], object]) -> None:
    """Do something to a driver at a random moment of its work."""
    driver.wait_for(chance.randrange(TASKS - 6))
    time.sleep(chance.uniform(0, 0.05))
    act()


def check_kept(run: Path, before: dict[str, bytes], expected: dict[str, bytes]) -> dict[str, bytes]:
    """What was in the journal is still there, byte for byte, and all that is there is as it should be."""
    now = entries_of(run)
    assert {name: now.get(name) for name in before} == before
    assert now == {name: expected[name] for name in now}
    return now


@pytest.mark.parametrize("seed", range(ROUNDS))
@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
def test_killed_driver_resumes_with_the_same_results(
    sign: signal.Signals, seed: int, tmp_path: Path, undisturbed: tuple[str, dict[str, bytes]]
) -> None:
    digest, expected = undisturbed
    chance = random.Random(f"{sign.name} {seed}")
    driver = Driver(tmp_path / "run", TASKS, WORKERS, tmp_path / "tmp")
    disturb(driver, chance, lambda: kill(driver.pid, sign))
    driver.end()
    assert driver.gone(3)
    assert list(driver.temporary.iterdir()) == []
    before = check_kept(driver.run, {}, expected)
    again = Driver(tmp_path / "run", TASKS, WORKERS, tmp_path / "tmp")
    assert again.end().digest == digest
    assert check_kept(again.run, before, expected) == expected
    check_entries(again.run)


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_driver_is_killed_while_resuming(seed: int, tmp_path: Path, undisturbed: tuple[str, dict[str, bytes]]) -> None:
    digest, expected = undisturbed
    chance = random.Random(f"resuming {seed}")
    kept: dict[str, bytes] = {}
    for _ in range(2):
        driver = Driver(tmp_path / "run", TASKS, WORKERS, tmp_path / "tmp")
        time.sleep(chance.uniform(0.3, 2.5))  # anywhere from its first import to the middle of its work
        kill(driver.pid)
        driver.end()
        kept = check_kept(driver.run, kept, expected)
    again = Driver(tmp_path / "run", TASKS, WORKERS, tmp_path / "tmp")
    assert again.end().digest == digest
    assert check_kept(again.run, kept, expected) == expected
    check_entries(again.run)


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_one_worker_is_killed(seed: int, tmp_path: Path, undisturbed: tuple[str, dict[str, bytes]]) -> None:
    digest, expected = undisturbed
    chance = random.Random(f"worker {seed}")
    driver = Driver(tmp_path / "run", TASKS, WORKERS, tmp_path / "tmp")
    driver.wait_for(1)
    disturb(driver, chance, lambda: kill(chance.choice(driver.workers() or [0x7FFFFFFF])))
    ended = driver.end()
    assert ended.digest == digest
    assert ended.err == ""
    assert entries_of(driver.run) == expected
    check_entries(driver.run)
    assert driver.gone(3)
