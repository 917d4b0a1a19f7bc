"""What a job needs, and the way out where it does not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from curiograph.errors import SettingError
from curiograph.parallel import Engine, Need, memory, resolve_engine, run_job
from support.some_jobs import a_job

GIB = 2**30


def test_a_job_that_does_not_fit_is_refused_before_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: 4 * GIB)
    need = Need(task=GIB, way_out="take fewer walks")
    with pytest.raises(SettingError) as told:
        run_job(a_job(need=need), resolve_engine(workers=8))
    assert str(told.value) == (
        "this needs about 9.7 GiB of memory with 8 workers, and 4.0 GiB are free; use at most 3 workers."
    )
    with pytest.raises(SettingError, match=r"and 4\.0 GiB are free; take fewer walks"):
        run_job(a_job(need=Need(results=5 * GIB, way_out="take fewer walks")), resolve_engine(workers=2))
    assert len(run_job(a_job(need=need), resolve_engine(workers=1))) == 12


def test_what_a_large_job_takes_is_told_before_it_begins() -> None:
    told: list[str] = []
    need = Need(task=2 * GIB, seconds=600)
    run_job(a_job(need=need), resolve_engine(workers=1), progress=lambda message, share=None: told.append(message))
    assert told[0] == "draws: 0 of 12 tasks; about 10 min with 1 worker, 2.0 GiB of memory at most"
    assert told[1] == "draws: 1 of 12 tasks"


def test_nothing_is_refused_where_the_system_does_not_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: None)
    memory.check_memory(Need(task=2**60), 8)


def test_a_folder_on_a_small_disk_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"more would be kept there, and only .* are free; make room, or choose"):
        run_job(a_job(need=Need(results=1, kept=2**60)), resolve_engine(workers=1), tmp_path)
    run_job(a_job(), resolve_engine(workers=1), tmp_path / "other")
    full = a_job(need=Need(kept=2**60))  # what is kept already needs no room
    assert len(run_job(full, resolve_engine(workers=1), tmp_path / "other")) == 12


def test_no_more_processes_than_fit_are_asked_for_where_nobody_said_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: 3 * GIB)
    monkeypatch.setattr("curiograph.parallel.job.resolve_workers", lambda workers: 64 if workers is None else workers)
    assert len(run_job(a_job(need=Need(task=GIB)), resolve_engine())) == 12
    assert memory.fitting_workers(Need(task=GIB), 64) == 2


def test_what_gathers_in_the_driver_of_a_cluster_must_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: GIB)
    with pytest.raises(SettingError, match=r"5\.0 GiB of memory, and 1\.0 GiB are free; take fewer"):
        run_job(a_job(need=Need(results=5 * GIB, way_out="take fewer walks")), Engine("ray"))


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files as the system shows them: 8 GiB free, 2 GiB of a limit of 3 in use, half of one given up at need."""
    (tmp_path / "meminfo").write_text("MemTotal: 16777216 kB\nMemFree: 1 kB\nMemAvailable:   8388608 kB\n")
    (tmp_path / "memory.max").write_text(f"{3 * GIB}\n")
    (tmp_path / "memory.current").write_text(f"{2 * GIB}\n")
    (tmp_path / "memory.stat").write_text(f"anon 5\ninactive_file {GIB // 2}\nactive_file 7\n")
    monkeypatch.setattr(memory, "_SYSTEM", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "_GROUP", tmp_path)
    return tmp_path


def test_the_limit_of_a_container_counts(system: Path) -> None:
    assert memory.available() == 3 * GIB // 2


@pytest.mark.parametrize("limit", ["max\n", "", "nonsense"])
def test_a_container_without_a_limit_leaves_the_machine(system: Path, limit: str) -> None:
    (system / "memory.max").write_text(limit)
    assert memory.available() == 8 * GIB


def test_files_that_are_not_there_say_nothing(system: Path) -> None:
    (system / "memory.stat").unlink()
    assert memory.available() == 8 * GIB
    (system / "meminfo").unlink()
    assert memory.available() is None
