"""The benchmark runs, agrees with its peers, and says when one is missing."""

from __future__ import annotations

import pytest

from benchmarks import run as bench


@pytest.mark.long
def test_quick_bench_measures_every_part() -> None:
    report = bench.run(quick=True)
    found = {result.what for result in report.results}
    assert "igt of all candidates, walk kept, one walk a call" in found
    assert {"cpt of a subgraph, 100 a call", "Table 1's baselines", "read a tsv of text names"} <= found
    assert all(result.ratio is None or result.ratio > 0 for result in report.results)
    assert len(report.rows()) == len(report.results)


def test_missing_peers_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(bench, "import_module", absent)
    report = bench.Report({}, 0)
    assert bench._peers(report) == {}
    assert report.missing == ["ripser", "gudhi"]
    assert "ripser is not installed" in next(report.remarks())
