"""Fixtures of the tests of the experiments."""

from __future__ import annotations

from pathlib import Path

import pytest

from curiograph.agents import pretrained
from support.small_agents import save_random_agents


@pytest.fixture
def no_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in place of the shipped agents."""
    monkeypatch.setattr(pretrained, "SHIPPED_FOLDER", tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def agent_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of small random agents."""
    folder = tmp_path_factory.mktemp("agents")
    save_random_agents(folder)
    return folder


@pytest.fixture
def small_agents(agent_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Small random agents in place of the shipped agents."""
    monkeypatch.setattr(pretrained, "SHIPPED_FOLDER", agent_folder)
    return agent_folder
