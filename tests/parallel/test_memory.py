"""Memory and disk checks of jobs."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import psutil
import pytest

from curiograph.errors import SettingError
from curiograph.parallel import memory, resolve_engine, run_job
from support.jobs import a_job

GIB = 2**30


def allocate(shared: Any, task: int) -> dict[str, Any]:
    """Return a megabyte."""
    return {"array": np.zeros(2**17)}


@pytest.mark.parametrize("workers", [1, 2])
def test_results_that_do_not_fit_into_memory_are_rejected_after_the_first_task(monkeypatch, workers):
    monkeypatch.setattr(memory, "get_available_memory", lambda: 10 * 2**20)
    job = a_job(allocate, fix="take fewer walks")
    with pytest.raises(SettingError) as error:
        run_job(job, resolve_engine(workers=workers))
    assert str(error.value) == "this needs about 12 MiB of memory, and 10 MiB is available; take fewer walks."
    assert len(run_job(a_job(allocate, range(9)), resolve_engine(workers=workers))) == 9


def test_results_of_unequal_tasks_are_estimated_by_their_sizes(monkeypatch):
    monkeypatch.setattr(memory, "get_available_memory", lambda: 2 * 2**20)
    job = replace(a_job(allocate), task_sizes=[100] + [1] * 11)  # 1.11 MiB, not 12
    assert len(run_job(job, resolve_engine(workers=1))) == 12


def test_results_that_do_not_fit_on_the_disk_are_rejected(tmp_path, monkeypatch):
    engine = resolve_engine(workers=1, run=tmp_path)
    run_job(a_job(allocate), engine)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=2**20))
    assert len(run_job(a_job(allocate), engine)) == 12  # kept results need no more space
    with pytest.raises(SettingError, match=r"the results need about 11 MiB there, and 1 MiB is free; free some space"):
        run_job(a_job(allocate, range(11)), engine)


@pytest.fixture
def container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """8 GiB available on the machine; 2 of 3 GiB of the container used, half a GiB of that reclaimable."""
    (tmp_path / "memory.max").write_text(f"{3 * GIB}\n")
    (tmp_path / "memory.current").write_text(f"{2 * GIB}\n")
    (tmp_path / "memory.stat").write_text(f"anon 5\ninactive_file {GIB // 2}\nactive_file 7\n")
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=8 * GIB))
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)
    return tmp_path


def test_the_limit_of_a_container_counts(container):
    assert memory.get_available_memory() == 3 * GIB // 2


@pytest.mark.parametrize("limit", ["max\n", "", "nonsense"])
def test_a_container_without_a_limit_has_the_memory_of_the_machine(container, limit):
    (container / "memory.max").write_text(limit)
    assert memory.get_available_memory() == 8 * GIB


def test_missing_container_files_are_ignored(container):
    (container / "memory.stat").unlink()
    assert memory.get_available_memory() == 8 * GIB
