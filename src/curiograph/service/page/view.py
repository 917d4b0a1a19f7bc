"""The page of one visitor: controls, pictures and panels, and the handlers of their events."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import partial
from typing import Any

from fastapi import FastAPI, Request
from nicegui import events, ui
from nicegui.client import ClientConnectionTimeout
from starlette.datastructures import QueryParams
from starlette.middleware.gzip import GZipMiddleware

from curiograph.errors import CuriographError
from curiograph.recommendation.ranker import CandidateSet
from curiograph.recommendation.recommender import Recommendations, Recommender
from curiograph.rewards.registry import REWARDS
from curiograph.service.errors import BusyError, TimeLimitError
from curiograph.service.graph_store import UPLOAD_EXTENSIONS
from curiograph.service.labels import JsonLabel
from curiograph.service.page import panels
from curiograph.service.page.charts import THEMES, build_growth_options, build_subgraph_options
from curiograph.service.page.share_link import PAGE_AGENTS, build_link, open_link
from curiograph.service.page.style import CSS, ICON, get_color
from curiograph.service.page.walk_session import WalkSession, choose_start
from curiograph.service.state import Service

_PLAY_INTERVAL = 0.8
"""Seconds between two steps while the walk plays."""
_BROWSER_TIMEOUT = 10.0
"""Seconds to wait for an answer of the browser."""
_NUM_SUGGESTIONS = 8
_NUM_RECOMMENDATIONS = 5
_LEGEND = ("◆ start", "■ you", "● agent", "━ the walk", "▢ loop: open gap", "▨ filled loop: closed gap")
_SHORTCUTS = (
    ("→ or n", "let the agent take a step"),
    ("← or u", "undo the last step"),
    ("p", "play or pause"),
    ("r", "restart from the same node"),
    ("1 to 9", "go to the first to ninth candidate of the table"),
    ("/", "search a start"),
    ("?", "show these shortcuts"),
)
_KEY_LISTENER_JS = """(() => {
  const controls = 'input, textarea, select, [role=radio], [role=tab], [role=listbox], [role=option], [role=combobox]';
  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
    if (event.target.closest(controls) || document.querySelector('.q-dialog, .q-menu')) return;
    if (event.key === '/') event.preventDefault();
    emitEvent('cg-key', event.key);
  });
  document.body.dataset.listening = 'yes';
  const stored = localStorage.getItem('curiograph-dark');
  return stored === null ? matchMedia('(prefers-color-scheme: dark)').matches : stored === 'true';
})()"""
"""Script that listens for keys that no control uses, and returns whether the visitor prefers dark mode."""


def add_page(app: FastAPI) -> None:
    """Serve the page at `/` of an application made by `create_app`."""
    service: Service = app.state.service

    @ui.page("/", title="curiograph", response_timeout=2 * service.limits.seconds)
    async def open_page(request: Request) -> None:
        if service.status == "warming up":
            ui.label(
                "curiograph is starting: the first time, it compiles its kernels for this machine (half a minute)."
            )
            ui.spinner(size="lg")
            ui.timer(0.5, lambda: None if service.status == "warming up" else ui.navigate.reload())
        else:
            await Page(service).open(request)

    ui.run_with(
        app,
        title="curiograph",
        favicon=ICON,
        dark=None,
        language="en-US",
        show_welcome_message=False,
        tailwind=False,  # `style.CSS` has the few classes in use; Tailwind would compile in the browser at every visit
        gzip_middleware_factory=partial(GZipMiddleware, minimum_size=1_000, compresslevel=3),
    )


class Page:
    """The page of one visitor."""

    session: WalkSession

    def __init__(self, service: Service) -> None:
        self.service, self.graphs, self.limits = service, service.graphs, service.limits
        self.dark = False
        self._lock = asyncio.Lock()  # held while the walk changes
        self._is_updating_tab = self._is_tab_stale = False

    async def open(self, request: Request) -> None:
        """Build the page for a link, then ask the browser for dark mode."""
        problem = ""
        try:
            self.session = await self.service.workers.run(open_link, request.query_params, self.graphs, self.limits)
        except (BusyError, TimeLimitError) as error:
            ui.label(str(error))
            ui.timer(3.0, ui.navigate.reload, once=True)
            return
        except CuriographError as error:
            problem = str(error)
            self.session = await asyncio.to_thread(open_link, QueryParams(), self.graphs, self.limits)
        self._build()
        await self._refresh()
        client = ui.context.client
        with suppress(ClientConnectionTimeout):
            await client.connected(timeout=_BROWSER_TIMEOUT)
        if not client.has_socket_connection:  # a program that fetched the page without running its scripts
            return
        if problem:
            _notify(problem)
        if await ui.run_javascript(_KEY_LISTENER_JS, timeout=_BROWSER_TIMEOUT):
            await self._set_dark(True)

    # -- build the page ----------------------------------------------------------------------------------------------

    def _build(self) -> None:
        ui.add_css(CSS)
        ui.colors(primary=get_color("igt", self.dark))
        ui.on("cg-key", lambda event: self._handle_key(str(event.args)))
        self.timer = ui.timer(_PLAY_INTERVAL, self._play_step, active=False)
        self.dark_mode = ui.dark_mode(None)
        self._build_header()
        with ui.element("main").classes("cg-grid"):
            with ui.element("section").classes("cg-column").props('aria-label="controls"'):
                self._build_controls()
            with ui.element("section").classes("cg-column cg-middle").props('aria-label="the walk"'):
                self._build_pictures()
            with ui.element("section").classes("cg-column cg-side cg-card").props('aria-label="panels"'):
                self._build_panels()
        with ui.dialog() as self.shortcuts, ui.card():
            ui.label("Keyboard shortcuts").classes("text-h6")
            for key, effect in _SHORTCUTS:
                ui.label(f"{key}: {effect}")

    def _build_header(self) -> None:
        with ui.row().classes("w-full items-center justify-between gap-2"):
            with ui.row().classes("items-baseline gap-3"):
                ui.label("curiograph").classes("text-h5").props("role=heading aria-level=1")
                ui.label("walk a graph and watch knowledge gaps open and close").classes("cg-small")
            with ui.row().classes("gap-1"):
                for icon, description, handler in (
                    ("share", "share this walk", self._share),
                    ("data_object", "download the walk", self._download_walk),
                    ("image", "download the picture", self._download_picture),
                    ("dark_mode", "light or dark", self._switch_dark),
                    ("keyboard", "keyboard shortcuts", lambda: self.shortcuts.open()),
                ):
                    button = ui.button(icon=icon, on_click=handler)
                    with button.props(f'flat round dense aria-label="{description}"'):
                        ui.tooltip(description)

    def _build_controls(self) -> None:
        with ui.column().classes("cg-card cg-choose gap-2"):
            self.graph = ui.select(
                self._list_titles(), value=self.session.graph_id, label="graph", on_change=self._select_graph
            )
            self.graph.classes("w-full").props("dense")
            self.upload = ui.upload(
                on_upload=self._add_upload,
                on_rejected=self._reject_upload,
                max_file_size=self.limits.upload_bytes,
                auto_upload=True,
                label="or drop an edge list",
            )
            self.upload.props(
                f'flat bordered color=transparent text-color=primary accept="{",".join(UPLOAD_EXTENSIONS)}"'
            )
            self.directed = ui.checkbox("its links are directed").props("dense").classes("cg-small")
            self.search = ui.input(label="start at", on_change=self._suggest_starts).classes("w-full")
            self.search.props('dense clearable debounce=150 autocomplete=off aria-label="search a start"')
            self.search.on("keydown.enter", self._start_at_first)
            self.suggestions = ui.element("div").classes("cg-suggestions").props('aria-label="matching nodes"')
        with ui.column().classes("cg-card cg-walk gap-2"):
            self.agent = ui.select(
                list(PAGE_AGENTS), value=self.session.agent, label="agent", on_change=self._change_agent
            )
            self.agent.classes("w-full").props("dense")
            names = {"igt": "gaps (igt)", "cpt": "bits (cpt)", "cct": "flexibility (cct)"}
            self.reward = ui.radio({name: names[name] for name in REWARDS}, value=self.session.reward)
            self.reward.props('dense inline aria-label="reward"').on_value_change(self._change_agent)
            with ui.element("div").classes("cg-keys w-full"):
                ui.button("Step", icon="skip_next", on_click=self._advance).props("no-caps dense")
                play = ui.button(on_click=self._toggle_play).props("no-caps dense")
                play.bind_text_from(self.timer, "active", lambda active: "Pause" if active else "Play")
                play.bind_icon_from(self.timer, "active", lambda active: "pause" if active else "play_arrow")
                ui.button("Undo", icon="undo", on_click=self._undo).props("outline no-caps dense")
                ui.button("Restart", icon="replay", on_click=self._restart).props("outline no-caps dense")
            self.status = ui.label().classes("cg-status").props("role=status aria-live=polite")

    def _build_pictures(self) -> None:
        with ui.column().classes("cg-card gap-1"):
            self.picture = ui.echart(
                build_subgraph_options(self.session, self.dark), on_point_click=self._handle_picture_click
            )
            self.picture.classes("cg-picture")
            with ui.element("div").classes("cg-legend"):
                for entry in _LEGEND:
                    ui.label(entry)
        with ui.column().classes("cg-card cg-curve gap-0"):
            self.curve = ui.echart(build_growth_options(self.session, self.dark)).classes("cg-growth")

    def _build_panels(self) -> None:
        with ui.tabs(on_change=self._update_tab).props("dense no-caps inline-label mobile-arrows") as self.tabs:
            for name in ("candidates", "gaps", "compare", "recommend"):
                ui.tab(name)
        with ui.tab_panels(self.tabs, value="candidates", animated=False).classes("w-full"):
            with ui.tab_panel("candidates").classes("q-pa-none"):
                self.candidates = panels.CandidatesPanel(self._visit_row)
            with ui.tab_panel("gaps").classes("q-pa-none"):
                self.gaps = ui.column().classes("w-full gap-1 cg-small")
            with ui.tab_panel("compare").classes("q-pa-none"):
                self.comparison = ui.column().classes("w-full gap-2")
            with ui.tab_panel("recommend").classes("q-pa-none"):
                self.recommendations = panels.RecommendationsPanel(self._visit, self._update_tab)

    def _list_titles(self) -> dict[str, str]:
        return {info.id: info.title for info in self.graphs.list_graphs()}

    # -- show the walk -----------------------------------------------------------------------------------------------

    async def _refresh(self) -> None:
        """Show the current walk; the caller holds the lock, except when the page opens."""
        session = self.session
        for chart, build in ((self.picture, build_subgraph_options), (self.curve, build_growth_options)):
            chart.options.update(await asyncio.to_thread(build, session, self.dark))
        self.candidates.show(session)
        panels.show_gaps(self.gaps, session)
        self.status.text = panels.describe_last_step(session)

    async def _update_tab(self) -> None:
        """Update the visible panel if it needs a computation; repeat if the walk changes in the meantime."""
        self._is_tab_stale = True
        if self._is_updating_tab:
            return
        self._is_updating_tab = True
        try:
            while self._is_tab_stale:
                self._is_tab_stale = False
                await self._compute_tab()
        except CuriographError as error:
            _notify(str(error))
        finally:
            self._is_updating_tab = False

    async def _compute_tab(self) -> None:
        session, count = self.session, len(self.session.steps)

        def is_unchanged() -> bool:
            return session is self.session and count == len(session.steps)

        if self.tabs.value == "compare":
            agents = await self.service.workers.run(session.compare_agents)
            if is_unchanged():
                panels.show_comparison(self.comparison, session, agents)
        elif self.tabs.value == "recommend":
            self.recommendations.show_spinner()
            nodes = session.graph.positions(session.nodes).tolist()
            recommender = await self.service.prepare_nodes(self.graphs.open(session.graph_id), nodes)
            candidates = self.recommendations.candidates.value
            top = await self.service.workers.run(self._recommend, recommender, session, candidates)
            if is_unchanged():
                self.recommendations.show(session, top)

    @staticmethod
    def _recommend(recommender: Recommender, session: WalkSession, candidates: CandidateSet) -> Recommendations:
        top: Recommendations = recommender.recommend(session.nodes, _NUM_RECOMMENDATIONS, candidates=candidates)
        _ = top.reasons  # computed here, in a thread
        return top

    async def _set_dark(self, dark: bool) -> None:
        self.dark = dark
        self.dark_mode.value = dark
        ui.colors(primary=get_color("igt", dark))
        async with self._lock:
            await self._refresh()

    async def _switch_dark(self) -> None:
        ui.run_javascript(f"localStorage.setItem('curiograph-dark', '{str(not self.dark).lower()}')")
        await self._set_dark(not self.dark)

    # -- change the walk ---------------------------------------------------------------------------------------------

    async def _run(self, function: Callable[..., Any], *arguments: Any, at: int | None = None) -> bool:
        """Call a function that changes the walk in a thread, then show the walk; show the message of an error.

        Nothing happens if `at` is given and the walk does not have `at` nodes: a second click, for example.
        """
        async with self._lock:
            if at is not None and at != len(self.session.steps):
                return False
            try:
                await self.service.workers.run(function, *arguments)
            except CuriographError as error:
                self.timer.deactivate()
                _notify(str(error))
                return False
            ui.navigate.history.replace(build_link(self.session))
            await self._refresh()
        await self._update_tab()
        return True

    def _can_advance(self) -> bool:
        if len(self.session.steps) < self.limits.steps:
            return True
        self.timer.deactivate()
        _notify(f"A walk here has at most {self.limits.steps} nodes.")
        return False

    async def _advance(self) -> None:
        if self._can_advance():
            await self._run(self.session.advance)

    async def _visit(self, node: Hashable) -> None:
        self.timer.deactivate()
        if self._can_advance():
            await self._run(self.session.visit, node, at=len(self.session.steps))

    async def _visit_row(self, row: int, at: int) -> None:
        """Visit a candidate of the walk when it had `at` nodes."""
        if at == len(self.session.steps) and 0 <= row < len(self.session.view.nodes):
            await self._visit(self.session.view.nodes[row])

    async def _handle_picture_click(self, event: events.EChartPointClickEventArguments) -> None:
        data: Any = event.data
        match = re.fullmatch(r"c(\d+)-(\d+)", str(data.get("id", ""))) if isinstance(data, dict) else None
        if match is not None:
            await self._visit_row(int(match[2]), int(match[1]))

    async def _undo(self) -> None:
        self.timer.deactivate()
        await self._run(self.session.undo)

    async def _restart(self) -> None:
        self.timer.deactivate()
        await self._run(self.session.restart, self.session.nodes[0])

    async def _change_agent(self) -> None:
        session, selected = self.session, (self.agent.value, self.reward.value)
        if selected != (session.agent, session.reward) and not await self._run(session.set_agent, *selected):
            self.agent.value, self.reward.value = self.session.agent, self.session.reward

    def _toggle_play(self) -> None:
        self.timer.active = not self.timer.active

    async def _play_step(self) -> None:
        if not self._lock.locked():
            await self._advance()
            if not self.session.view.nodes:
                self.timer.deactivate()

    async def _handle_key(self, key: str) -> None:
        if key in ("ArrowRight", "n"):
            await self._advance()
        elif key in ("ArrowLeft", "u"):
            await self._undo()
        elif key == "p":
            self._toggle_play()
        elif key == "r":
            await self._restart()
        elif key == "/":
            self.search.run_method("focus")
        elif key == "?":
            self.shortcuts.open()
        elif key.isdecimal() and 1 <= int(key) <= len(self.candidates.table.rows):
            row = self.candidates.table.rows[int(key) - 1]
            await self._visit_row(row["id"], row["at"])

    # -- choose a graph or a start -----------------------------------------------------------------------------------

    async def _select_graph(self) -> None:
        graph_id = self.graph.value
        if graph_id == self.session.graph_id:
            return
        self.timer.deactivate()
        self.search.value = ""

        def start_session() -> None:
            graph = self.graphs.open(graph_id).graph
            self.session = WalkSession(graph_id, graph, choose_start(graph), self.agent.value, self.reward.value)

        if not await self._run(start_session):
            self.graph.value = self.session.graph_id

    async def _add_upload(self, event: events.UploadEventArguments) -> None:
        self.upload.reset()
        content = await event.file.read()
        try:
            info = await self.service.add_upload(event.file.name, content, self.directed.value)
        except CuriographError as error:
            _notify(str(error))
            return
        self.graph.set_options(self._list_titles(), value=info.id)

    def _reject_upload(self) -> None:
        megabytes = self.limits.upload_bytes // 2**20
        _notify(
            f"Upload a file of at most {megabytes} MB with one of these extensions: {', '.join(UPLOAD_EXTENSIONS)}."
        )

    async def _suggest_starts(self) -> None:
        labels = await self._search_labels(_NUM_SUGGESTIONS)
        self.suggestions.clear()
        with self.suggestions:
            for label in labels:
                button = ui.button(panels.shorten_label(label), on_click=lambda label=label: self._start_at(label))
                button.props("flat dense no-caps align=left")
            if self.search.value and not labels:
                ui.label("no label contains this text").classes("cg-small")

    async def _search_labels(self, limit: int) -> list[JsonLabel]:
        """Search the labels that contain the text of the search field."""
        text, graph_id = self.search.value or "", self.session.graph_id
        if not text:
            return []
        return await self.service.quick_workers.run(lambda: self.graphs.open(graph_id).labels.search(text, limit))

    async def _start_at_first(self) -> None:
        for label in await self._search_labels(1):
            await self._start_at(label)

    async def _start_at(self, label: JsonLabel) -> None:
        self.timer.deactivate()
        session = self.session
        if await self._run(lambda: session.restart(self.graphs.open(session.graph_id).labels.label(label))):
            self.search.value = ""

    # -- share and download ------------------------------------------------------------------------------------------

    async def _share(self) -> None:
        link = await ui.run_javascript("location.origin", timeout=_BROWSER_TIMEOUT) + build_link(self.session)
        uploads = [info.id for info in self.graphs.list_graphs() if info.kind == "upload"]
        with ui.dialog(value=True), ui.card().classes("w-full"):
            ui.label("This link opens the same walk:")
            if self.session.graph_id in uploads:
                ui.label("The graph is an upload: it is available only while this service runs.").classes("cg-small")
            ui.input("address", value=link).props("readonly").classes("w-full")
            ui.button("Copy", icon="content_copy", on_click=lambda: ui.clipboard.write(link))

    async def _download_walk(self) -> None:
        document = await asyncio.to_thread(self.session.to_dict)
        text = json.dumps(document, indent=2, ensure_ascii=False, default=str, allow_nan=False)
        ui.download.content(text, "walk.json", "application/json")

    async def _download_picture(self) -> None:
        options = {"type": "png", "pixelRatio": 2, "backgroundColor": THEMES[self.dark]["paper"]}
        data_url = await self.picture.run_chart_method("getDataURL", options, timeout=_BROWSER_TIMEOUT)
        ui.download.content(base64.b64decode(data_url.partition(",")[2]), "walk.png", "image/png")


def _notify(message: str) -> None:
    """Show an error message."""
    ui.notify(message, type="negative", multi_line=True, timeout=10_000, close_button="OK")
