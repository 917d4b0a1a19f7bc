"""Settings shared by all tests."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from curiograph.cli.main import main
from curiograph.kernels.jit import get_cache_folder
from support.program import Ran, Run

# also for processes that tests start with another home: otherwise each of them compiles
os.environ.setdefault("NUMBA_CACHE_DIR", str(get_cache_folder().parent))

# the same examples in every run; the first call of a kernel compiles it, so no deadline
settings.register_profile(
    "same",
    derandomize=True,
    deadline=None,
    max_examples=60,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("same")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The program, called as from a shell but in this process."""

    monkeypatch.setenv("CURIOGRAPH_QUIET", "")  # whatever a call leaves behind is undone after the test

    def call(*arguments: str | Path) -> Ran:
        monkeypatch.setattr(sys, "argv", ["curiograph", *map(str, arguments)])
        monkeypatch.delenv("CURIOGRAPH_QUIET", raising=False)  # an earlier call may have been quiet
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return call
