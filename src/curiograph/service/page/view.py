"""The page itself: controls, picture, panels, and what happens when someone uses them."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import partial
from typing import Any

from fastapi import Request
from nicegui import events, ui
from nicegui.client import ClientConnectionTimeout
from starlette.datastructures import QueryParams

from curiograph.errors import CuriographError
from curiograph.graph.io.read import EXTENSIONS
from curiograph.recommendation.ranker import CandidateSet
from curiograph.recommendation.recommender import Recommendations
from curiograph.rewards.registry import REWARDS
from curiograph.service.errors import ServiceError
from curiograph.service.labels import JsonLabel
from curiograph.service.page import panels
from curiograph.service.page.charts import build_growth_options, build_subgraph_options, get_theme
from curiograph.service.page.share_link import PAGE_AGENTS, build_link, open_link
from curiograph.service.page.shortcuts import KEY_LISTENER_JS, SHORTCUTS
from curiograph.service.page.style import CSS, get_color
from curiograph.service.page.walk_session import WalkSession, choose_start
from curiograph.service.prepared import copy_if_full, prepare_nodes
from curiograph.service.state import Service
from curiograph.service.time_limits import StopCheck

_PAUSE = 0.8
"""Seconds between the steps of a walk that plays."""
_PATIENCE = 10.0
"""Seconds to wait for an answer of the browser."""
_SUGGESTED = 8
_RECOMMENDED = 5
_LEGEND = ("◆ start", "■ you", "● agent", "━ the way", "▢ loop: open gap", "▨ filled loop: closed gap")


class Page:
    """One visitor's page."""

    def __init__(self, service: Service) -> None:
        self.shelf, self.limits = service.shelf, service.limits
        self._compute, self._quick = service.computing.run, service.quick.run
        self._watched = service.computing.run_with_deadline
        self.dark = False
        self._busy = asyncio.Lock()
        self._filling = self._stale = False

    async def open(self, request: Request) -> None:
        """Build the page for an address, then find out whether the visitor likes it dark."""
        bad = ""
        try:
            self.walking = await self._compute(open_link, request.query_params, self.shelf, self.limits)
        except ServiceError as error:
            _come_back(_sentence(error))
            return
        except CuriographError as error:
            bad = _sentence(error)
            self.walking = await asyncio.to_thread(open_link, QueryParams(), self.shelf, self.limits)
        self._build()
        self._show(*await asyncio.to_thread(_drawn, self.walking, self.dark))
        client = ui.context.client
        with suppress(ClientConnectionTimeout):
            await client.connected(timeout=_PATIENCE)
        if not client.has_socket_connection:  # nobody looks: a program that only fetched the page
            return
        if bad:
            _complain(bad)
        if await ui.run_javascript(KEY_LISTENER_JS, timeout=_PATIENCE):
            await self._set_dark(True)

    # -- building ----------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        ui.add_css(CSS)
        ui.colors(primary=get_color("igt", self.dark))
        ui.on("cg-key", lambda event: self._key(str(event.args)))
        self.timer = ui.timer(_PAUSE, self._play_on, active=False)
        self.mode = ui.dark_mode(None)
        self._header()
        with ui.element("main").classes("cg-grid"):
            with ui.element("section").classes("cg-column").props('aria-label="controls"'):
                self._controls()
            with ui.element("section").classes("cg-column cg-middle").props('aria-label="the walk"'):
                self._pictures()
            with ui.element("section").classes("cg-column cg-side cg-card").props('aria-label="panels"'):
                self._panels()
        self._help()

    def _header(self) -> None:
        with ui.row().classes("w-full items-center justify-between gap-2"):
            with ui.row().classes("items-baseline gap-3"):
                ui.label("curiograph").classes("text-h5").props("role=heading aria-level=1")
                ui.label("walk a graph, and see what curiosity grows").classes("cg-small")
            with ui.row().classes("gap-1"):
                _icon("share", "share this walk", self._share)
                _icon("data_object", "download the walk", self._download_walk)
                _icon("image", "download the picture", self._download_picture)
                _icon("dark_mode", "light or dark", self._switch_dark)
                _icon("keyboard", "keys", lambda: self.keys.open())

    def _controls(self) -> None:
        with ui.column().classes("cg-card cg-choose gap-2"):
            self.graph = ui.select(
                self._graphs(), value=self.walking.graph_id, label="graph", on_change=self._pick_graph
            )
            self.graph.classes("w-full").props("dense")
            self.upload = ui.upload(
                on_upload=self._uploaded,
                on_rejected=self._rejected,
                max_file_size=self.limits.upload_bytes,
                auto_upload=True,
                label="or drop an edge list",
            )
            self.upload.props(f'flat bordered color=transparent text-color=primary accept="{",".join(EXTENSIONS)}"')
            self.directed = ui.checkbox("its links have a direction").props("dense").classes("cg-small")
            self.search = ui.input(label="start at", on_change=self._suggest).classes("w-full")
            self.search.props('dense clearable debounce=150 autocomplete=off aria-label="search a start"')
            self.search.on("keydown.enter", self._start_at_first)
            self.suggestions = ui.element("div").classes("cg-suggestions").props('aria-label="matching nodes"')
        with ui.column().classes("cg-card cg-walk gap-2"):
            self.agent = ui.select(list(PAGE_AGENTS), value=self.walking.agent, label="agent", on_change=self._change)
            self.agent.classes("w-full").props("dense")
            names = {"igt": "gaps (igt)", "cpt": "bits (cpt)"}
            self.reward = ui.radio({name: names[name] for name in REWARDS}, value=self.walking.reward)
            self.reward.props('dense inline aria-label="reward"').on_value_change(self._change)
            with ui.element("div").classes("cg-keys w-full"):
                ui.button("Step", icon="skip_next", on_click=self._step).props("no-caps dense")
                self.play = ui.button("Play", icon="play_arrow", on_click=self._play).props("no-caps dense")
                ui.button("Undo", icon="undo", on_click=self._undo).props("outline no-caps dense")
                ui.button("Restart", icon="replay", on_click=self._restart).props("outline no-caps dense")
            self.status = ui.label().classes("cg-status").props("role=status aria-live=polite")

    def _pictures(self) -> None:
        with ui.column().classes("cg-card gap-1"):
            self.picture = ui.echart(build_subgraph_options(self.walking, self.dark), on_point_click=self._clicked)
            self.picture.classes("cg-picture")
            with ui.element("div").classes("cg-legend"):
                for part in _LEGEND:
                    ui.label(part)
        with ui.column().classes("cg-card cg-curve gap-0"):
            self.curve = ui.echart(build_growth_options(self.walking, self.dark)).classes("cg-growth")

    def _panels(self) -> None:
        with ui.tabs(on_change=self._fill_tab).props("dense no-caps inline-label mobile-arrows") as self.tabs:
            for name in ("candidates", "gaps", "compare", "recommend"):
                ui.tab(name)
        with ui.tab_panels(self.tabs, value="candidates", animated=False).classes("w-full"):
            with ui.tab_panel("candidates").classes("q-pa-none"):
                self.candidates = panels.CandidatesPanel(self._take_row)
            with ui.tab_panel("gaps").classes("q-pa-none"):
                self.gaps = panels.GapsPanel()
            with ui.tab_panel("compare").classes("q-pa-none"):
                self.comparison = panels.ComparisonPanel()
            with ui.tab_panel("recommend").classes("q-pa-none"):
                self.recommendations = panels.RecommendationsPanel(self._take, self._fill_tab)

    def _help(self) -> None:
        with ui.dialog() as self.keys, ui.card():
            ui.label("Keys").classes("text-h6")
            for key, meaning in SHORTCUTS:
                ui.label(f"{key}: {meaning}")

    def _graphs(self) -> dict[str, str]:
        return {entry.id: entry.title for entry in self.shelf.entries()}

    # -- showing -----------------------------------------------------------------------------------------------------

    async def _refresh(self) -> None:
        """Show the walk as it is now; while nothing else changes it."""
        self._show(*await asyncio.to_thread(_drawn, self.walking, self.dark))

    def _show(self, picture: dict[str, Any], curve: dict[str, Any]) -> None:
        self.picture.options.update(picture)
        self.curve.options.update(curve)
        self.candidates.show(self.walking)
        self.gaps.show(self.walking)
        self.status.text = panels.describe_last_step(self.walking)

    async def _fill_tab(self) -> None:
        """Fill the panel that is looked at, if it takes time to compute; steps taken meanwhile are caught up with."""
        self._stale = True
        if self._filling:
            return
        self._filling = True
        try:
            while self._stale:
                self._stale = False
                await self._compute_tab()
        except (CuriographError, ServiceError) as error:
            _complain(_sentence(error))
        finally:
            self._filling = False

    async def _compute_tab(self) -> None:
        walking, count = self.walking, len(self.walking.taken)
        if self.tabs.value == "compare":
            rivals = await self._compute(walking.rivals)
            if self._still(walking, count):
                self.comparison.show(walking, rivals)
        elif self.tabs.value == "recommend":
            self.recommendations.wait()
            ask = partial(self._recommended, walking, self.recommendations.among.value)
            top = await self._watched(ask)
            if self._still(walking, count):
                self.recommendations.show(walking, top)

    def _recommended(self, walking: WalkSession, among: CandidateSet, check: StopCheck) -> Recommendations:
        """Learn what walkers have not found out yet, node by node, and recommend."""
        made = copy_if_full(self.shelf.recommender(walking.graph_id), self.limits.parts)
        prepare_nodes(made, walking.graph.positions(walking.nodes).tolist(), check)
        top: Recommendations = made.recommend(walking.nodes, _RECOMMENDED, candidates=among)
        _ = top.reasons  # computed here, in a thread
        return top

    def _still(self, walking: WalkSession, count: int) -> bool:
        """Whether the walk has not gone on while something was computed for it."""
        return walking is self.walking and count == len(walking.taken)

    async def _set_dark(self, dark: bool) -> None:
        self.dark = dark
        self.mode.value = dark
        ui.colors(primary=get_color("igt", dark))
        async with self._busy:
            await self._refresh()

    async def _switch_dark(self) -> None:
        ui.run_javascript(f"localStorage.setItem('curiograph-dark', '{str(not self.dark).lower()}')")
        await self._set_dark(not self.dark)

    # -- walking -----------------------------------------------------------------------------------------------------

    async def _do(self, act: Callable[..., Any], *arguments: Any, at: int | None = None) -> bool:
        """Do something to the walk in a thread, one thing after the other, and show it; say what is wrong if it is.

        What was meant for a walk of `at` nodes is left alone once it has gone on: a second click, say.
        """
        async with self._busy:
            if at is not None and at != len(self.walking.taken):
                return False
            try:
                await self._compute(act, *arguments)
            except (CuriographError, ServiceError) as error:
                self._pause()
                _complain(_sentence(error))
                return False
            ui.navigate.history.replace(build_link(self.walking))
            await self._refresh()
        await self._fill_tab()
        return True

    def _may_go_on(self) -> bool:
        if len(self.walking.taken) < self.limits.steps:
            return True
        self._pause()
        _complain(f"A walk here has at most {self.limits.steps} nodes.")
        return False

    async def _step(self) -> None:
        if self._may_go_on():
            await self._do(self.walking.step)

    async def _take(self, node: Hashable) -> None:
        self._pause()
        if self._may_go_on():
            await self._do(self.walking.take, node, at=len(self.walking.taken))

    async def _take_row(self, row: int, at: int) -> None:
        """Go to a candidate of the walk as it was with `at` nodes."""
        if at == len(self.walking.taken) and 0 <= row < len(self.walking.seen.nodes):
            await self._take(self.walking.seen.nodes[row])

    async def _clicked(self, event: events.EChartPointClickEventArguments) -> None:
        data: Any = event.data
        clicked = re.fullmatch(r"c(\d+)-(\d+)", str(data.get("id", ""))) if isinstance(data, dict) else None
        if clicked is not None:
            await self._take_row(int(clicked[2]), int(clicked[1]))

    async def _undo(self) -> None:
        self._pause()
        await self._do(self.walking.undo)

    async def _restart(self) -> None:
        self._pause()
        await self._do(self.walking.restart, self.walking.nodes[0])

    async def _change(self) -> None:
        wish = (self.agent.value, self.reward.value)
        if wish != (self.walking.agent, self.walking.reward) and not await self._do(self.walking.change, *wish):
            self.agent.value, self.reward.value = self.walking.agent, self.walking.reward

    def _play(self) -> None:
        self.timer.active = not self.timer.active
        self.play.text, self.play.icon = ("Pause", "pause") if self.timer.active else ("Play", "play_arrow")

    def _pause(self) -> None:
        if self.timer.active:
            self._play()

    async def _play_on(self) -> None:
        if not self._busy.locked():
            await self._step()
            if not self.walking.seen.nodes:
                self._pause()

    async def _key(self, name: str) -> None:
        if name in ("ArrowRight", "n"):
            await self._step()
        elif name in ("ArrowLeft", "u"):
            await self._undo()
        elif name == "p":
            self._play()
        elif name == "r":
            await self._restart()
        elif name == "/":
            self.search.run_method("focus")
        elif name == "?":
            self.keys.open()
        elif name.isdecimal() and 1 <= int(name) <= len(self.candidates.table.rows):
            row = self.candidates.table.rows[int(name) - 1]
            await self._take_row(row["id"], row["at"])

    # -- another graph or start --------------------------------------------------------------------------------------

    async def _pick_graph(self) -> None:
        graph_id = self.graph.value
        if graph_id == self.walking.graph_id:
            return
        self._pause()
        self.search.value = ""

        def begin() -> None:
            graph = self.shelf.graph(graph_id)
            self.walking = WalkSession(graph_id, graph, choose_start(graph), self.agent.value, self.reward.value)

        if not await self._do(begin):
            self.graph.value = self.walking.graph_id

    async def _uploaded(self, event: events.UploadEventArguments) -> None:
        self.upload.reset()
        content = await event.file.read()
        try:
            shelved = await self._compute(self.shelf.add, event.file.name, content, self.directed.value)
        except (CuriographError, ServiceError) as error:
            _complain(_sentence(error))
            return
        self.graph.set_options(self._graphs(), value=shelved.id)

    def _rejected(self) -> None:
        most = self.limits.upload_bytes // 2**20
        _complain(f"The page takes {', '.join(EXTENSIONS)} of at most {most} MB.")

    async def _suggest(self) -> None:
        found = await self._found(_SUGGESTED)
        self.suggestions.clear()
        with self.suggestions:
            for each in found:
                choose = ui.button(panels.shorten_label(each), on_click=lambda each=each: self._start_at(each))
                choose.props("flat dense no-caps align=left")
            if self.search.value and not found:
                ui.label("no node has that in its name").classes("cg-small")

    async def _found(self, most: int) -> list[JsonLabel]:
        """Nodes with the text that is searched for in their names."""
        text, graph_id = self.search.value or "", self.walking.graph_id
        return await self._quick(lambda: self.shelf.labels(graph_id).search(text, most)) if text else []

    async def _start_at_first(self) -> None:
        for first in await self._found(1):
            await self._start_at(first)

    async def _start_at(self, found: JsonLabel) -> None:
        self._pause()
        walking = self.walking
        if await self._do(lambda: walking.restart(self.shelf.labels(walking.graph_id).label(found))):
            self.search.value = ""

    # -- taking away -------------------------------------------------------------------------------------------------

    async def _share(self) -> None:
        here = await ui.run_javascript("location.origin", timeout=_PATIENCE) + build_link(self.walking)
        with ui.dialog(value=True), ui.card().classes("w-full"):
            ui.label("Whoever opens this address sees this walk:")
            if self.walking.graph_id in (entry.id for entry in self.shelf.entries() if entry.kind == "upload"):
                ui.label("The graph is an upload: it is there only as long as this service runs.").classes("cg-small")
            ui.input("address", value=here).props("readonly").classes("w-full")
            ui.button("Copy", icon="content_copy", on_click=lambda: ui.clipboard.write(here))

    async def _download_walk(self) -> None:
        document = await asyncio.to_thread(self.walking.to_dict)
        text = json.dumps(document, indent=2, ensure_ascii=False, default=str, allow_nan=False)
        ui.download.content(text, "walk.json", "application/json")

    async def _download_picture(self) -> None:
        wish = {"type": "png", "pixelRatio": 2, "backgroundColor": get_theme(self.dark)["paper"]}
        drawn = await self.picture.run_chart_method("getDataURL", wish, timeout=_PATIENCE)
        ui.download.content(base64.b64decode(drawn.partition(",")[2]), "walk.png", "image/png")


def _sentence(error: CuriographError | ServiceError) -> str:
    return str(error.detail) if isinstance(error, ServiceError) else str(error)


def _complain(sentence: str) -> None:
    ui.notify(sentence, type="negative", multi_line=True, timeout=10_000, close_button="OK")


def _icon(icon: str, meaning: str, act: Callable[..., Any]) -> ui.button:
    button = ui.button(icon=icon, on_click=act).props(f'flat round dense aria-label="{meaning}"')
    with button:
        ui.tooltip(meaning)
    return button


def _drawn(walking: WalkSession, dark: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    return build_subgraph_options(walking, dark), build_growth_options(walking, dark)


def _come_back(sentence: str) -> None:
    """Say that there was no time for this visitor, and try again."""
    ui.label(sentence)
    ui.timer(3.0, ui.navigate.reload, once=True)
