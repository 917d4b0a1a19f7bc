"""`walltime` with small settings."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from curiograph.paper import walltime

from curiograph.errors import SettingError

PEERS = {"ripser": lambda adjacency: 0.0, "slow twin": lambda adjacency: 0.0}


def test_all_methods_are_timed(small_agents: Path) -> None:
    settings = walltime.Settings(nodes=30, sizes=(3, 6), walks=2, repeats=1)
    result = walltime.run(settings, PEERS)
    timings = result.timings
    assert [(t.reward, t.way, t.size) for t in timings[:3]] == [
        ("igt", "one walk", 3),
        ("igt", "one walk", 6),
        ("igt", "many walks", 3),
    ]
    assert set(timings[0].seconds) == {"gnn", "horizon", "greedy", "ripser"}
    assert set(timings[-1].seconds) == {"gnn", "greedy", "slow twin"}
    assert all(seconds > 0 for timing in timings for seconds in timing.seconds.values())
    assert "| igt | one walk | gnn |" in result.to_markdown()


def test_remarks_list_missing_agents_and_peers(no_agents: Path) -> None:
    settings = walltime.Settings(nodes=30, sizes=(3,), walks=2, repeats=1)
    result = walltime.run(settings, {"slow twin": PEERS["slow twin"]})
    assert result.remarks == [
        "Left out, no such agent is shipped: gnn; horizon.",
        "ripser is not installed, so it was not timed: pip install 'curiograph[bench]'.",
    ]
    with pytest.raises(SettingError, match="leave no candidates"):
        walltime.run(walltime.Settings(nodes=30, sizes=(30,)))


def test_peers_that_take_too_long_are_skipped(no_agents: Path) -> None:
    def slow(adjacency: np.ndarray) -> float:
        time.sleep(0.02)
        return 0.0

    settings = walltime.Settings(nodes=30, sizes=(3, 6, 12), walks=2, repeats=1, limit=0.1)
    calls = walltime.run(settings, PEERS | {"ripser": slow}).select("igt", "one subgraph")
    assert ["ripser" in timing.seconds for timing in calls] == [True, False, False]
    assert all("greedy" in timing.seconds for timing in calls)


@pytest.mark.parametrize(
    ("ratios", "verdict"),
    [
        ({5: 2.0, 10: 30.0}, "faster at every size (2x to 30x)"),
        ({5: 0.5, 10: 0.25}, "slower at every size (2x to 4x)"),
        ({5: 0.5, 10: 0.8, 20: 3.0, 50: 8.0}, "faster from 20 nodes on (8x at 50), slower up to 10 (2x at 5)"),
        ({5: 2.0, 10: 0.5}, "faster at 5 nodes, slower at 10"),
        ({}, "-"),
    ],
)
def test_verdicts_follow_from_the_times(ratios: dict[int, float], verdict: str) -> None:
    seconds = {size: {"gnn": 1.0, "greedy": ratio} for size, ratio in ratios.items()}
    seconds[100] = {"gnn": 1.0}  # without exact rewards there is nothing to compare
    timings = [walltime.Timing("cpt", walltime.ONE_WALK, size, 3.0, times) for size, times in seconds.items()]
    assert walltime.compare_times(timings, "gnn", "greedy") == verdict
