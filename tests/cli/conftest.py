"""The program, called as from a shell but in this process."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from curiograph.cli.main import main
from program import Ran, Run


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
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
