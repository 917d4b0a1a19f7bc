"""What tasks share: in one file that every process maps, and not one byte of it with a task."""

from __future__ import annotations

import os
import pickle
import tempfile
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pytest

import curiograph as cg
from benchmarks.centrality import create_random_graph
from curiograph.errors import GraphError
from curiograph.parallel import resolve_engine, run_job
from curiograph.parallel.shared_arrays import Shared, SharingError, share
from support.jobs import a_job, seen

linux = pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="memory maps are listed on Linux only")


def place_of(path: Path) -> str:
    return f"{os.stat(path).st_ino}"


@linux
def test_workers_map_one_file_and_cannot_write_to_it() -> None:
    results = run_job(a_job(seen, range(6), shared={"array": np.arange(1e6)}), resolve_engine(workers=2))
    assert len({result["file"] for result in results}) == 1
    assert results[0]["file"].split()[1] != "0"  # memory of its own has no inode
    assert not any(result["writable"] for result in results)


@linux
def test_an_opened_graph_is_mapped_from_its_own_file(tmp_path: Path) -> None:
    cg.write_graph(create_random_graph(3000, 20_000, seed=1), tmp_path / "g.safetensors")
    graph = cg.read_graph(tmp_path / "g.safetensors")
    results = run_job(a_job(seen, range(4), shared={"array": graph.indices}), resolve_engine(workers=2))
    assert {result["file"].split()[1] for result in results} == {place_of(tmp_path / "g.safetensors")}
    with share(graph) as handle:
        assert os.path.getsize(handle.path) < graph.indices.nbytes / 4
        again = handle.load()
    assert np.array_equal(again.indices, graph.indices)


@linux
def test_replaced_file_is_not_mapped_in_place_of_the_opened_one(tmp_path: Path) -> None:
    path = tmp_path / "array"
    np.arange(1000.0).tofile(path)
    opened = np.memmap(path, np.float64, "r")
    np.zeros(1000).tofile(tmp_path / "other")
    os.replace(tmp_path / "other", path)
    with share(opened) as handle:
        assert np.array_equal(handle.load(), np.arange(1000.0))


def test_private_memory_maps_are_copied(tmp_path: Path) -> None:
    path = tmp_path / "array"
    np.arange(1000.0).tofile(path)
    opened = np.memmap(path, np.float64, "c")
    opened[3] = 77
    with share(opened) as handle:
        assert handle.load()[3] == 77


@linux
def test_file_that_changes_during_a_job_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "array"
    np.arange(1000.0).tofile(path)
    with share(np.memmap(path, np.float64, "r")) as handle:
        os.utime(path, (1, 1))
        with pytest.raises(GraphError, match="has changed since it was opened; open it again"):
            handle.load()


@pytest.mark.parametrize("size", [10, 10**6])
def test_task_message_is_small_for_any_graph_size(size: int) -> None:
    with share({"array": np.arange(size), "names": [f"node {i}" for i in range(size // 10)]}) as handle:
        assert len(cloudpickle.dumps(handle)) < 1000


def test_arrays_of_all_types_are_shared() -> None:
    value: dict[str, Any] = {
        "empty": np.zeros((0, 3)),
        "columns": np.asfortranarray(np.arange(6).reshape(2, 3)),
        "part": np.arange(10)[::3],
        "objects": np.array([None, "a"], object),
        "names": np.array(["a", "bc"]),
        "scalar": np.array(3.5),
    }
    with share(value) as handle:
        back = pickle.loads(pickle.dumps(handle)).load()
    for name, array in value.items():
        assert back[name].dtype == array.dtype
        assert np.array_equal(back[name], array), name


def test_shared_values_are_loaded_once_and_dropped() -> None:
    from curiograph.parallel import shared_arrays

    for number in range(5):
        with share({"array": np.full(3, number)}) as handle:
            assert handle.load() is handle.load()
            assert handle.load()["array"][0] == number  # the same file number may come back
    assert len(shared_arrays._cache) <= shared_arrays._CACHE_SIZE


def test_temporary_folder_is_left_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with share(np.arange(1000)) as handle:
        assert list(tmp_path.iterdir()) == []  # not even now, so not after a kill
        assert isinstance(handle, Shared)
    monkeypatch.setattr(Path, "is_dir", lambda path: False)  # a system without /proc
    with share(np.arange(1000)) as handle:
        assert Path(handle.path).parents[1] == tmp_path
        assert np.array_equal(handle.load(), np.arange(1000))
    assert list(tmp_path.iterdir()) == []


def test_unusable_temporary_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with (
        pytest.raises(SharingError, match=r"cannot share the graph with workers through .*gone.*; set TMPDIR"),
        share(1),
    ):
        pass
