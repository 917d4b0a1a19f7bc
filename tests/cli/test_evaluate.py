"""`curiograph evaluate`."""

from __future__ import annotations

import json
from pathlib import Path

from support.program import Run


def test_evaluate_family_graph_and_environments(run: Run, links: Path, tmp_path: Path) -> None:
    document = json.loads(run("evaluate", "--family", "ws", "--graphs", "2", "--episodes", "3", "--json").out)
    assert document["episodes"] == 6
    document = json.loads(
        run(
            "evaluate", "--graph", str(links), "--agent", "greedy", "--agent", "random", "--episodes", "all", "--json"
        ).out
    )
    assert [result["agent"] for result in document["results"]] == ["greedy", "random"]
    environments = tmp_path / "tiny_RG_set.json"
    graph = {
        "nodes": [{"id": 0}, {"id": 1}, {"id": 2}],
        "links": [{"source": 0, "target": 1}, {"source": 1, "target": 2}],
    }
    environments.write_text(json.dumps({part: {"0": graph} for part in ("train", "val", "test")}))
    assert (
        json.loads(run("evaluate", "--environments", str(environments), "--episodes", "2", "--json").out)["graphs"] == 1
    )
