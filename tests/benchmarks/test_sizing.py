"""The sizing benchmark on a small graph."""

from __future__ import annotations

import json

from benchmarks import sizing


def test_sizing_of_a_small_graph(capsys):
    sizing.main(["--items", "300", "--degree", "4", "--sample", "6", "--json", "--quiet"])
    found = json.loads(capsys.readouterr().out)
    assert found["items"] == 300
    assert found["prepared_bytes"] > 0
    assert found["plain_seconds"] > 0
    rows = sizing.Sizing(1, 1, 100.0, 50.0, 0.1, 0.001, 0.001).list_rows()
    assert [row[1] for row in rows] == ["95 MiB", "48 MiB", "100.0 ms", "1,000 per second", "500 per second"]
