"""`curiograph explore`."""

from __future__ import annotations

import json
from pathlib import Path

from support.program import Run


def test_explore_is_seeded_and_reports_an_early_end(run: Run, links: Path) -> None:
    first, second = (run("explore", str(links), "--seed", "3", "--steps", "9", "--json") for _ in range(2))
    assert first.out == second.out
    assert json.loads(first.out)["ended_early"]
    assert "ended early, after 5 of 9 nodes" in first.err
