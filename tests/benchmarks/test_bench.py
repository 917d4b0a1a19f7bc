"""The speed benchmark: all parts run, agree with the peers, and report missing ones."""

from __future__ import annotations

import pytest

from benchmarks import run as bench
from benchmarks.report import COLUMNS, Report


@pytest.mark.long
def test_quick_run_measures_every_part() -> None:
    report = bench.run(quick=True)
    found = {result.what for result in report.results}
    assert "igt of all candidates, walk kept, one walk a call" in found
    assert {"cpt of a subgraph, 100 a call", "Table 1's baselines", "read a tsv of text names"} <= found
    assert {"cct of a candidate", "latticize a graph"} <= found
    assert "read a log and split it into sessions" in found
    assert all(result.ratio is None or result.ratio > 0 for result in report.results)
    rows = report.list_rows()
    assert len(rows) == len(report.results)
    assert {len(row) for row in rows} == {len(COLUMNS)}


def test_flexibility_is_measured_per_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CURIOGRAPH_DATA", raising=False)
    report = Report({}, 0)
    bench.measure_flexibility(report, quick=True)
    assert [result.what for result in report.results] == ["cct of a candidate"] * 2 + ["latticize a graph"]
    assert all(result.peers == 1e-6 for result in report.results[:2])


def test_missing_peers_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_import_error(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(bench, "import_module", raise_import_error)
    report = Report({}, 0)
    assert bench.find_gap_peers(report) == {}
    assert report.missing == ["ripser", "gudhi"]
    assert "ripser is not installed" in report.list_remarks()[0]
