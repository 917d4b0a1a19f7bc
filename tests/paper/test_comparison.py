"""Agents of the columns, and ratios of returns."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from curiograph.paper import comparison, table1

from support.small_agents import save_random_agents


def test_columns_name_shipped_agents(small_agents: Path) -> None:
    named = comparison.find_agents(table1.COLUMNS, "cpt", "ws")
    assert list(named) == list(table1.COLUMNS)
    assert named["gnn-paper"] == "cpt-ws-paper"
    assert named["horizon+beam"] == "cpt-ws-horizon+beam:8"
    assert named["planner"] == "cpt-ws-planner"
    assert comparison.describe_missing(table1.COLUMNS) == []


def test_missing_agents_are_described_in_one_sentence(no_agents: Path) -> None:
    assert list(comparison.find_agents(table1.COLUMNS, "igt", "rg")) == [*table1.BASELINES, "beam"]
    assert comparison.describe_missing(("greedy", "gnn")) == ["Left out, no such agent is shipped: gnn."]
    save_random_agents(no_agents)
    (no_agents / "igt-rg.safetensors").unlink()
    assert comparison.describe_missing(("greedy", "gnn")) == ["Left out, no such agent is shipped: gnn for igt rg."]


def test_common_variation_cancels_in_the_error_of_a_ratio() -> None:
    bottom = np.array([1.0, 5.0, 9.0, 3.0])
    assert comparison.compute_ratio_of_means(3 * bottom, bottom) == (3.0, 0.0)
    noise = np.array([1.0, -1.0, -1.0, 1.0])
    ratio, error = comparison.compute_ratio_of_means(3 * bottom + noise, bottom)
    assert ratio == 3.0
    assert error == pytest.approx(noise.std(ddof=1) / 2 / bottom.mean())
    assert math.isnan(comparison.compute_ratio_of_means(bottom, np.zeros(4))[0])
    assert math.isnan(comparison.compute_ratio_of_means(bottom[:1], bottom[:1])[1])
