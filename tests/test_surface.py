"""Tests of the public API and the import rules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import curiograph as cg

ROOT = Path(__file__).parent.parent


def test_every_public_name_exists_and_is_documented() -> None:
    for name in cg.__all__:
        assert getattr(cg, name).__doc__, name
    with pytest.raises(AttributeError, match="nonsense"):
        _ = cg.nonsense


def test_import_is_light() -> None:
    code = "import sys, curiograph; print(sorted({'numba', 'scipy', 'networkx', 'torch'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_import_rules() -> None:
    linter = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_kernels_compile_without_a_writable_cache(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    code = "from curiograph import kernels; print(kernels.adjacency.get_map_size(5))"
    environment = {"NUMBA_CACHE_DIR": str(blocked / "cache"), "PATH": ""}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "16"
