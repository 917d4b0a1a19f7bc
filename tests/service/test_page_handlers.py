"""Handlers of the page, without a browser."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from curiograph.service.error_responses import TimeLimitError
from curiograph.service.page import view
from curiograph.service.page.view import Page
from curiograph.service.page.walk_session import WalkSession
from curiograph.service.server_settings import ServiceSettings
from curiograph.service.state import Service


class LateWorkers:
    """Processes that finish after the time limit."""

    async def run(self, function: Callable[..., Any], *arguments: Any, graph: Any, quick: bool) -> None:
        function(graph, *arguments)
        raise TimeLimitError(30)


@pytest.fixture
def messages(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Error messages that the page shows."""
    shown: list[str] = []
    monkeypatch.setattr(view, "_notify", shown.append)
    return shown


@pytest.fixture
def page() -> Any:
    """A page with a walk, whose controls are plain values."""
    service: Any = Service(ServiceSettings())
    built: Any = Page(service)
    built.session = WalkSession("toy:library", service.graphs.open("toy:library"), "music", "greedy")
    built.timer = SimpleNamespace(deactivate=lambda: None)
    built.agent, built.reward = SimpleNamespace(value="greedy"), SimpleNamespace(value="igt")
    built.search = SimpleNamespace(value="")
    built.suggestions = None
    return built


def test_late_steps_have_no_effect(page: Any, messages: list[str]) -> None:
    page.service.workers = LateWorkers()
    before = page.session.to_dict()
    for change in (WalkSession.advance, WalkSession.undo):
        assert not asyncio.run(page._change(change))
    assert not asyncio.run(page._change(WalkSession.set_agent, "random", "cpt"))
    assert page.session.to_dict() == before
    assert len(messages) == 3


def test_slow_suggestions_do_not_replace_newer_ones(page: Any) -> None:
    async def search(text: str, limit: int) -> list[str]:
        page.search.value = "newer"
        return ["older"]

    page.search.value, page._search_labels = "old", search
    asyncio.run(page._suggest_starts())  # would fail when it clears the suggestions
    assert page.suggestions is None


def test_long_steps_are_stopped_when_the_visitor_leaves(page: Any) -> None:
    async def leave() -> None:
        started = asyncio.Event()

        async def compute() -> None:
            started.set()
            await asyncio.sleep(600)

        waiting = asyncio.create_task(page._wait(compute()))
        await started.wait()
        page._cancel_tasks()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert page._tasks == set()

    asyncio.run(leave())
