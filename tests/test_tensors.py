"""Safetensors files: round trips, and errors for malformed content."""

from __future__ import annotations

import numpy as np
import pytest

import curiograph as cg
from curiograph.tensors import map_tensors, open_tensors, write_tensors


def test_round_trip_of_a_file(tmp_path):
    path = tmp_path / "a.safetensors"
    arrays = {"x": np.arange(6, dtype=np.float32).reshape(2, 3).T, "empty": np.empty((0, 2), np.int64)}
    write_tensors(path, arrays, {"note": "text"})
    with open_tensors(path, "example", "write it again") as file:
        assert file.metadata() == {"note": "text"}
        found = {name: file.get_tensor(name) for name in ("x", "empty")}
    metadata, mapped = map_tensors(path, "example", "write it again")
    assert metadata == {"note": "text"}
    for read in (found, mapped):
        assert all(np.array_equal(read[name], array) for name, array in arrays.items())
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.safetensors"]


@pytest.mark.parametrize("error", [ValueError("bad header"), KeyError("x")])
def test_errors_in_the_block_name_the_file_and_the_fix(error, tmp_path):
    path = tmp_path / "a.safetensors"
    write_tensors(path, {"x": np.arange(3)}, {})
    with (
        pytest.raises(cg.FileFormatError, match=r"a\.safetensors: is not a usable example \(.*\); write it again\."),
        open_tensors(path, "example", "write it again"),
    ):
        raise error
