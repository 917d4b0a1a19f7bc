"""`lengths` and `sizes` with small settings."""

from __future__ import annotations

from pathlib import Path

import pytest
from curiograph.paper import curves, lengths, sizes

from support.evaluations import create_evaluation


def test_lengths_use_a_narrow_beam_for_long_walks(small_agents: Path) -> None:
    settings = lengths.Settings(graphs=2, episodes=2, beam_episodes=1, lengths=(4, 12), nodes=12)
    result = lengths.run(settings)
    points = result.points
    assert len(points) == 2 * 4 * 2
    assert {point.results["beam"].agent for point in points} == {"beam", "beam:32"}
    text = result.to_markdown()
    assert all(point.results["planner"].agent.endswith("-planner") for point in points)
    assert "Walks of 12 nodes: planner earns at least as much as greedy in " in text
    assert "Walks of 12 nodes: horizon earns at least as much as greedy in " in text
    assert "256 walks up to 10 nodes and 32 beyond" in text
    assert str(result.to_dict()) == str(lengths.run(settings).to_dict())


def test_sizes_report_times(small_agents: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "_SMALL", 10)
    monkeypatch.setattr(sizes, "_LARGE", 20)
    settings = sizes.Settings(graphs=2, episodes=2, beam_episodes=1, sizes=(10, 20), steps=4)
    result = sizes.run(settings)
    text = result.to_markdown()
    assert "A walk by horizon on 20 nodes takes" in text
    assert "Milliseconds per walk" in text
    assert len(result.to_dict()["milliseconds"]) == len(result.points)


def test_remarks_list_points_below_greedy() -> None:
    def point(family: str, *horizon: float) -> curves.Point:
        results = {"greedy": create_evaluation(4, 6), "horizon": create_evaluation(*horizon)}
        return curves.Point("igt", family, 50, results, {})

    found = curves.compare_with_greedy([point("rg", 5, 7), point("ws", 2, 4), point("ba", 3, 6)], "Long walks")
    assert found == [
        "Long walks: horizon earns at least as much as greedy in 1 of 3 cells, less in the others, by more than two "
        "standard errors in 1 of them (worst: igt WS at 50, -2.00 ± 0.00; igt BA at 50, -0.50 ± 0.50)."
    ]
