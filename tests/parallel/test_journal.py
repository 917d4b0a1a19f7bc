"""The journal: an entry is whole or damaged, never something in between."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import curiograph as cg
from curiograph.errors import GraphError, SettingError
from curiograph.parallel import lock_run_folder, resolve_engine, run_folder, run_job
from curiograph.parallel.journal import Journal
from curiograph.parallel.serialization import pack_result
from support.jobs import a_job, in_bytes

RESULT = {"numbers": np.arange(3.0), "note": "fine"}


def a_journal(folder: Path, seed: int = 1, tasks: int = 5) -> Journal:
    return Journal(folder, "draws", {"seed": seed}, tasks)


def is_damaged(journal: Journal, index: int) -> bool:
    """Whether an entry is message to be damaged, and nothing is made of it."""
    with warnings.catch_warnings(record=True) as messages:
        warnings.simplefilter("always")
        found = journal.read(index)
    assert found is None or not messages
    if found is None:
        assert [str(one.message).endswith("the task is computed again.") for one in messages] == [True]
        assert str(journal._path(index)) in str(messages[0].message)
    return found is None


def test_flipped_bits_are_detected_everywhere(tmp_path: Path) -> None:
    journal = a_journal(tmp_path)
    journal.write(2, RESULT)
    path = journal._path(2)
    data = path.read_bytes()
    for place in range(len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1 << place % 8]) + data[place + 1 :])
        assert is_damaged(journal, 2), place
    path.write_bytes(data)
    assert not is_damaged(journal, 2)


def test_truncated_entries_are_detected_at_every_length(tmp_path: Path) -> None:
    journal = a_journal(tmp_path)
    journal.write(2, RESULT)
    path = journal._path(2)
    data = path.read_bytes()
    for length in range(len(data)):
        path.write_bytes(data[:length])
        assert is_damaged(journal, 2), length
    path.write_bytes(data + b"\0")
    assert is_damaged(journal, 2)


def test_entries_of_other_tasks_or_jobs_are_rejected(tmp_path: Path) -> None:
    journal, other = a_journal(tmp_path), a_journal(tmp_path, seed=2)
    journal.write(1, RESULT)
    other.write(2, RESULT)
    shutil.copy(journal._path(1), journal._path(3))
    shutil.copy(other._path(2), journal._path(2))
    assert is_damaged(journal, 2)
    assert is_damaged(journal, 3)
    assert not is_damaged(journal, 1)


def test_invalid_results_with_a_valid_checksum_are_rejected(tmp_path: Path) -> None:
    journal = a_journal(tmp_path)
    for data in (
        b"",
        b"\xff" * 8 + b"{}",
        (2**62).to_bytes(8, "little") + b"{}",
        pack_result(RESULT)[:-3],
        b"\0" * 100,
    ):
        journal._path(2).write_bytes(b"curiograph task 1 " + journal._checksum(2, data) + b"\n" + data)
        assert is_damaged(journal, 2), data


def test_folder_in_place_of_an_entry_is_reported(tmp_path: Path) -> None:
    journal = a_journal(tmp_path)
    journal._path(2).mkdir()
    assert is_damaged(journal, 2)


def test_entry_larger_than_memory_is_reported(tmp_path: Path) -> None:
    journal = a_journal(tmp_path)
    try:
        with open(journal._path(2), "wb") as stream:
            stream.truncate(2**43)
    except OSError:
        pytest.skip("this file system has no files of 8 TiB")
    assert is_damaged(journal, 2)


def test_damaged_tasks_are_computed_again_and_the_result_is_the_same(tmp_path: Path) -> None:
    expected = in_bytes(run_job(a_job(), resolve_engine(workers=1, run=tmp_path)))
    entries = sorted(tmp_path.glob("draws-*/*.task"))
    before = [path.read_bytes() for path in entries]
    entries[3].write_bytes(before[3][:50])
    entries[5].write_bytes(before[6])
    with pytest.warns(UserWarning, match="is damaged; the task is computed again") as messages:
        assert in_bytes(run_job(a_job(), resolve_engine(workers=1, run=tmp_path))) == expected
    assert len(messages) == 2
    assert [path.read_bytes() for path in entries] == before


def test_other_settings_have_their_own_readable_folder(tmp_path: Path) -> None:
    first, second, third = a_journal(tmp_path), a_journal(tmp_path, seed=2), a_journal(tmp_path, tasks=6)
    assert len({first.folder, second.folder, third.folder}) == 3
    assert a_journal(tmp_path).folder == first.folder
    facts = {"job": "draws", "about": {"seed": 2}, "tasks": 5, "curiograph": cg.__version__}
    assert json.loads((second.folder / "job.json").read_text()) == facts


def test_partial_files_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    journal = a_journal(tmp_path)
    journal.write(1, RESULT)
    (journal.folder / ".000002.task.abcd1234.part").write_bytes(b"half")
    again = a_journal(tmp_path)
    assert sorted(path.name for path in again.folder.iterdir()) == ["000001.task", "job.json"]


def test_failed_write_leaves_no_file_and_names_what_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = a_journal(tmp_path)
    journal.write(1, RESULT)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(GraphError, match=r"the disk is full; .* Finished tasks are kept: fix this"):
        journal.write(2, RESULT)
    assert sorted(path.name for path in journal.folder.iterdir()) == ["000001.task", "job.json"]


# ---- the folder ---------------------------------------------------------------------------------------------------

HOLD = """
import sys, time
from curiograph.parallel import lock_run_folder
with lock_run_folder(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


def test_second_job_in_a_run_folder_is_rejected_while_the_first_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_folder, "_PATIENCE", 0.2)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, env=environment
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        try:
            with pytest.raises(SettingError) as error:
                run_job(a_job(), resolve_engine(workers=1, run=tmp_path))
            assert f"process {other.pid} on " in str(error.value)
            assert str(error.value).endswith(" is working there; wait for it to end, or choose another folder.")
        finally:
            other.kill()
    assert len(run_job(a_job(), resolve_engine(workers=1, run=tmp_path))) == 12  # a killed process holds nothing


def test_lock_of_a_run_folder_is_reentrant(tmp_path: Path) -> None:
    with lock_run_folder(tmp_path), lock_run_folder(tmp_path) as inner:
        assert inner == tmp_path


@pytest.mark.skipif(os.name != "posix", reason="a file in place of a folder")
def test_run_folder_that_cannot_be_created_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("here")
    with pytest.raises(SettingError, match=r"cannot work in .*; choose another folder"):
        run_job(a_job(), resolve_engine(workers=1, run=tmp_path / "file" / "run"))
