"""The page of one visitor: controls, pictures and panels, and the handlers of their events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Iterator
from contextlib import contextmanager
from functools import partial
from html import escape
from typing import Any, TypeVar

from fastapi import FastAPI, Request
from nicegui import events, ui
from starlette.datastructures import QueryParams
from starlette.middleware.gzip import GZipMiddleware

from curiograph.errors import CuriographError
from curiograph.recommendation.ranker import CandidateSet
from curiograph.recommendation.recommended import Recommendations
from curiograph.recommendation.recommender import Recommender
from curiograph.rewards.reward_names import REWARDS
from curiograph.service.error_responses import BusyError
from curiograph.service.json_labels import JsonLabel, search_labels
from curiograph.service.page import panels
from curiograph.service.page.components import Browser, GrowthCurve, Picture
from curiograph.service.page.drawing import draw_growth, draw_picture
from curiograph.service.page.share_link import build_link, read_link
from curiograph.service.page.style import CSS, ICON
from curiograph.service.page.visits import watch_pages
from curiograph.service.page.walk_session import (
    MAX_COMPARED,
    SharedWalk,
    WalkSession,
    change_walk,
    compare_agents,
    make_rival,
    open_walk,
)
from curiograph.service.page.words import (
    AGENTS,
    INTRODUCTION,
    LEGEND,
    MOTIVES,
    SHORTCUTS,
    TABS,
    describe_agent,
    describe_motive,
    format_chooser,
    format_label,
)
from curiograph.service.state import Service
from curiograph.service.store import UPLOAD_EXTENSIONS, OpenGraph

Result = TypeVar("Result")

_PLAY_INTERVAL = 0.8
"""Seconds between two steps while the walk plays."""
_BROWSER_TIMEOUT = 10.0
"""Seconds to wait for an answer of the browser."""
_NUM_SUGGESTIONS = 8
_NUM_RECOMMENDATIONS = 5
_AGENT_OPTION = """<q-item v-bind="props.itemProps" :title="TITLES[props.opt.value]">
  <q-item-section>{{ props.opt.label }}</q-item-section></q-item>"""


def add_page(app: FastAPI) -> None:
    """Serve the page at `/` of an application made by `create_app`."""
    service: Service = app.state.service

    @ui.page("/", title="curiograph", response_timeout=2 * service.settings.seconds)
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
    watch_pages()


class Page:
    """The page of one visitor.

    Parameters
    ----------
    service : Service
        The service with the graphs, threads and processes that the page uses.
    """

    session: WalkSession
    """Walk of the visitor. It is replaced, never changed: a computation that fails or is too late has no effect."""
    rival: WalkSession | None = None
    """Walk of the agent that is shown beside that of the visitor, if any."""

    def __init__(self, service: Service) -> None:
        self.service, self.graphs, self.settings = service, service.graphs, service.settings
        self._lock = asyncio.Lock()  # held while the walk is replaced
        self._tasks: set[asyncio.Task[Any]] = set()
        self._is_updating_tab = self._is_tab_stale = False

    async def open(self, request: Request) -> None:
        """Build the page for a link."""
        ui.context.client.on_delete(self._cancel_tasks)
        problem = ""
        try:
            link = await asyncio.to_thread(read_link, request.query_params, self.graphs, self.settings)
            self.session = await self._compute_walk(open_walk, *link)
        except BusyError as error:
            ui.label(str(error))
            ui.timer(3.0, ui.navigate.reload, once=True)
            return
        except CuriographError as error:
            problem = str(error)
            opened, shared = await asyncio.to_thread(read_link, QueryParams(), self.graphs, self.settings)
            self.session = await asyncio.to_thread(open_walk, opened, shared)
        self._build(welcome=not request.query_params)
        await self._refresh()
        if problem:
            _notify(problem)

    # -- build the page ----------------------------------------------------------------------------------------------

    def _build(self, welcome: bool) -> None:
        ui.add_css(CSS)
        self.timer = ui.timer(_PLAY_INTERVAL, self._play_step, active=False)
        self._build_dialogs()
        self._build_header()
        with ui.element("div").classes("cg-grid"):
            with ui.element("section").classes("cg-column").props('aria-label="controls"'):
                self._build_controls()
            with ui.element("section").classes("cg-column").props('aria-label="the walk"'):
                self._build_pictures()
            with ui.element("section").classes("cg-column cg-side cg-card").props('aria-label="panels"'):
                self._build_panels()
        self.browser = Browser(welcome)

    def _build_dialogs(self) -> None:
        with _create_dialog("keyboard shortcuts") as self.shortcuts:
            for key, effect in SHORTCUTS:
                ui.label(f"{key}: {effect}")
        with _create_dialog("your own graph") as self.own_graph:
            ui.label("A list of links, one per line, such as “tea,honey”, or a graph file.")
            ui.label(f"Extensions: {', '.join(UPLOAD_EXTENSIONS)}").classes("cg-small")
            self.directed = ui.checkbox("links have a direction")
            self.directed.props["title"] = "Read a,b as a link from a to b only."
            self.upload = ui.upload(
                on_upload=self._add_upload,
                on_rejected=self._reject_upload,
                max_file_size=self.settings.upload_bytes,
                auto_upload=True,
            )
            self.upload.props(f'accept="{",".join(UPLOAD_EXTENSIONS)}"').style("display: none")
            pick = f"() => getElement({self.upload.id}).$refs.qRef.pickFiles()"
            drop = f"event => getElement({self.upload.id}).$refs.qRef.addFiles([...event.dataTransfer.files])"
            with ui.element("div").classes("cg-drop w-full").on("drop.prevent", js_handler=drop) as target:
                target.on("dragover.prevent", js_handler="() => {}")
                button = ui.button("Choose a file").props("no-caps").on("click", js_handler=pick)
                button.props["title"] = "Open a file of this device."
                ui.label("or drop it here")

    def _build_header(self) -> None:
        with ui.element("header").classes("cg-header"):
            with ui.element("h1"):
                ui.label("curiograph")
            with ui.element("p"):
                ui.label(INTRODUCTION)
            with ui.element("div").classes("cg-icons"):
                for icon, description, handler in (
                    ("help_outline", "guided tour, 30 seconds", lambda: self.browser.run_method("start")),
                    ("share", "share this walk", self._share),
                    ("data_object", "download the walk", self._download_walk),
                    ("image", "download the picture", lambda: self.picture.run_method("download")),
                    ("dark_mode", "light or dark", lambda: self.browser.run_method("switchTheme")),
                    ("keyboard", "keyboard shortcuts", self.shortcuts.open),
                ):
                    button = ui.button(icon=icon, on_click=handler).props(f'flat round aria-label="{description}"')
                    button.props["title"] = description
                    if icon == "keyboard":
                        button.props('data-keys="?"')

    def _build_controls(self) -> None:
        with ui.column().classes("cg-card cg-walk gap-2"):
            with ui.element("div").classes("cg-buttons w-full"):
                for text, icon, handler, keys, about in (
                    ("Step", "skip_next", self._advance, "n ArrowRight", "Let the agent choose the next node."),
                    ("Play", "play_arrow", self._toggle_play, "p", "Let the agent take step after step."),
                    ("Undo", "undo", self._undo, "u ArrowLeft", "Take back the last step."),
                    ("Restart", "replay", self._restart, "r", "Begin again at the same start."),
                ):
                    button = ui.button(text, icon=icon, on_click=handler).props(f'no-caps data-keys="{keys}"')
                    button.props["title"] = about
                    if text in ("Undo", "Restart"):
                        button.props("outline")
                    if text == "Play":
                        button.bind_text_from(self.timer, "active", lambda active: "Pause" if active else "Play")
                        button.bind_icon_from(self.timer, "active", lambda active: "pause" if active else "play_arrow")
            titles = [describe_agent(name) for name in AGENTS]
            self.agent = ui.select(AGENTS, value=self.session.agent, label="agent", on_change=self._change_agent)
            self.agent.classes("w-full").props("dense")
            self.agent.props["title"] = "Who chooses the next node when you press Step."
            self.agent.add_slot("option", _AGENT_OPTION.replace("TITLES", escape(json.dumps(titles))))
            self.agent_about = ui.label().classes("cg-small")
            ui.label("looks for").classes("cg-small")
            self.reward = ui.radio({name: MOTIVES[name] for name in REWARDS}, value=self.session.reward)
            self.reward.props('dense aria-label="what the agent looks for"').on_value_change(self._change_agent)
            self.reward.props["title"] = "What the agent tries to collect with every step."
            self.reward_about = ui.label().classes("cg-small")
        with ui.column().classes("cg-card cg-choose gap-2"):
            self.graph = ui.select(
                self._list_titles(), value=self.session.graph_id, label="graph", on_change=self._select_graph
            )
            self.graph.classes("w-full").props("dense")
            self.graph.props["title"] = "What you walk on."
            button = ui.button("Your own graph", icon="upload_file", on_click=self.own_graph.open)
            button.props("outline no-caps").classes("w-full")
            button.props["title"] = "Open a file of links."
            with ui.element("div").classes("cg-search") as field:
                field.props["title"] = "Search for a node by its name, and begin a new walk there."
                self.search = ui.input("search for a start node", on_change=self._suggest_starts).classes("w-full")
                self.search.props(
                    'dense clearable debounce=150 autocomplete=off data-keys="/" aria-label="search for a start node"'
                )
                self.search.on("keydown.enter", self._start_at_first, js_handler="event => emit(event.target.value)")
                self.search.on("keydown.esc", lambda: self.search.set_value(""))
                self.suggestions = ui.element("div").classes("cg-suggestions")

    def _build_pictures(self) -> None:
        with ui.column().classes("cg-card cg-drawn gap-1"):
            self.status = ui.label().classes("cg-status").props("role=status aria-live=polite")
            with ui.element("div").classes("cg-pictures") as self.pictures:
                self.picture = Picture(draw_picture(self.session), self._visit_row)
            with ui.element("div").classes("cg-legend"):
                for shape, meaning, about in LEGEND:
                    with ui.element("span") as entry:
                        entry.props["title"] = about
                        ui.element("i").classes(shape)
                        ui.label(meaning)
        with ui.column().classes("cg-card cg-curve gap-0"):
            self.curve = GrowthCurve(draw_growth(self.session))

    def _build_panels(self) -> None:
        with ui.tabs(on_change=self._update_tab).props("dense no-caps inline-label mobile-arrows") as self.tabs:
            for name, about in TABS.items():
                ui.tab(name).props["title"] = about
        with ui.tab_panels(self.tabs, value=next(iter(TABS)), animated=False).classes("w-full"):
            with ui.tab_panel("Next").classes("q-pa-none"):
                self.candidates = panels.CandidatesPanel(self._visit_row)
            with ui.tab_panel("Gaps").classes("q-pa-none"):
                self.gaps = ui.column().classes("w-full gap-1 cg-small")
            with ui.tab_panel("Compare").classes("q-pa-none"):
                self.race = ui.button("Watch side by side", icon="compare", on_click=self._toggle_race)
                self.race.props('no-caps title="Your walk against that of the agent, step by step."')
                self.comparison = ui.column().classes("w-full gap-2")
            with ui.tab_panel("Recommend").classes("q-pa-none"):
                self.recommendations = panels.RecommendationsPanel(self._visit, self._update_tab)

    def _list_titles(self) -> dict[str, str]:
        return {info.id: info.title for info in self.graphs.list_graphs()}

    # -- show the walk -----------------------------------------------------------------------------------------------

    async def _refresh(self) -> None:
        """Show the current walk; the caller holds the lock, except when the page opens."""
        session = self.session
        picture, rows, lines = await asyncio.to_thread(
            lambda: (draw_picture(session), panels.build_candidate_rows(session), panels.describe_choices(session))
        )
        self._end_race()
        self.picture.show(picture)
        self.curve.show(draw_growth(session))
        self.candidates.show(rows, lines)
        panels.show_gaps(self.gaps, session)
        self.status.text = panels.describe_last_step(session)
        self.agent_about.text = f"{describe_agent(session.agent)} ({session.agent})"
        self.reward_about.text = f"{describe_motive(session.reward)} ({session.reward})"

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
        session, opened, count = self.session, self.session.opened, len(self.session.steps)
        if self.tabs.value == "Compare":
            agents: list[tuple[str, float, float]] = []
            if 1 < count <= MAX_COMPARED:
                agents = await self._compute(compare_agents, opened, session.nodes[0], count, session.seed)
            if session is self.session:
                panels.show_comparison(self.comparison, session, agents)
        elif self.tabs.value == "Recommend":
            self.recommendations.show_progress()
            nodes = session.graph.positions(session.nodes).tolist()
            recommender = await self._wait(self.service.prepare_nodes(opened, nodes))
            candidates = self.recommendations.candidates.value
            top = await asyncio.to_thread(self._recommend, recommender, session, candidates)
            if session is self.session:
                self.recommendations.show(session, top)

    @staticmethod
    def _recommend(recommender: Recommender, session: WalkSession, candidates: CandidateSet) -> Recommendations:
        top: Recommendations = recommender.recommend(session.nodes, _NUM_RECOMMENDATIONS, candidates=candidates)
        _ = top.reasons  # computed here, in a thread
        return top

    # -- side by side ------------------------------------------------------------------------------------------------

    async def _toggle_race(self) -> None:
        """Show the walk of the agent from the same start beside that of the visitor, or end this."""
        if self.rival is not None:
            async with self._lock:
                await self._refresh()
            return
        session, count = self.session, len(self.session.steps)
        if not 1 < count <= MAX_COMPARED:
            _notify(f"Walks of 2 to {MAX_COMPARED} nodes can be watched side by side; this one has {count}.")
            return
        self.timer.deactivate()
        try:
            rival = await self._compute_walk(make_rival, session.opened, session)
        except CuriographError as error:
            _notify(str(error))
            return
        async with self._lock:
            if session is not self.session:
                return
            self.rival = rival
            self.race.text = "Back to your walk"
            self.pictures.classes("cg-race")
            self.picture.show(draw_picture(session, "this walk"))
            with self.pictures:
                other = Picture(draw_picture(rival, format_chooser(session.agent)))
            self.curve.show(draw_growth(session, rival))
            for picture in (self.picture, other):
                picture.run_method("play")

    def _end_race(self) -> None:
        self.rival = None
        self.race.text = "Watch side by side"
        self.pictures.classes(remove="cg-race")
        for picture in list(self.pictures)[1:]:
            picture.delete()

    # -- compute -----------------------------------------------------------------------------------------------------

    async def _compute(self, function: Callable[..., Result], opened: OpenGraph, *arguments: object) -> Result:
        """Call a function of a graph in a process, which is killed when its time is over or the visitor has left."""
        return await self._wait(self.service.workers.run(function, *arguments, graph=opened, quick=True))

    async def _wait(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Wait for some work, which is cancelled when the visitor leaves."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await task

    def _cancel_tasks(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def _compute_walk(
        self, function: Callable[..., WalkSession], opened: OpenGraph, *arguments: Any
    ) -> WalkSession:
        """Compute a walk as `_compute` does, and give it its graph, which a process does not send back."""
        session = await self._compute(function, opened, *arguments)
        session.opened = opened
        return session

    # -- change the walk ---------------------------------------------------------------------------------------------

    async def _change(self, change: Callable[..., None], *arguments: Any, at: int | None = None) -> bool:
        """Call a method of the walk on a copy, and show the copy, as `_replace` does."""

        async def compute() -> WalkSession:
            return await self._compute_walk(change_walk, self.session.opened, self.session, change, arguments)

        return await self._replace(compute, at)

    async def _replace(self, compute: Callable[[], Awaitable[WalkSession]], at: int | None = None) -> bool:
        """Compute a walk and show it; show the message of an error instead, and keep the walk.

        Nothing happens if `at` is given and the walk does not have `at` nodes: a second click, for example.
        """
        async with self._lock:
            if at is not None and at != len(self.session.steps):
                return False
            try:
                self.session = await compute()
            except CuriographError as error:
                self.timer.deactivate()
                _notify(str(error))
                return False
            ui.navigate.history.replace(build_link(self.session))
            await self._refresh()
        await self._update_tab()
        return True

    def _can_advance(self) -> bool:
        if len(self.session.steps) < self.settings.steps:
            return True
        self.timer.deactivate()
        _notify(f"A walk here has at most {self.settings.steps} nodes.")
        return False

    async def _advance(self) -> None:
        if self._can_advance():
            await self._change(WalkSession.advance)

    async def _visit(self, node: Hashable) -> None:
        self.timer.deactivate()
        if self._can_advance():
            await self._change(WalkSession.visit, node, at=len(self.session.steps))

    async def _visit_row(self, row: int, at: int) -> None:
        """Visit a candidate of the walk when it had `at` nodes."""
        if at == len(self.session.steps) and 0 <= row < len(self.session.view.nodes):
            await self._visit(self.session.view.nodes[row])

    async def _undo(self) -> None:
        self.timer.deactivate()
        await self._change(WalkSession.undo)

    async def _restart(self) -> None:
        self.timer.deactivate()
        await self._change(WalkSession.restart, self.session.nodes[0])

    async def _change_agent(self) -> None:
        selected = self.agent.value, self.reward.value
        current = self.session.agent, self.session.reward
        if selected != current and not await self._change(WalkSession.set_agent, *selected):
            self.agent.value, self.reward.value = self.session.agent, self.session.reward

    def _toggle_play(self) -> None:
        self.timer.active = not self.timer.active

    async def _play_step(self) -> None:
        if not self._lock.locked():
            await self._advance()
            if not self.session.view.nodes:
                self.timer.deactivate()

    # -- choose a graph or a start -----------------------------------------------------------------------------------

    async def _select_graph(self) -> None:
        graph_id = self.graph.value
        if graph_id == self.session.graph_id:
            return
        self.timer.deactivate()
        self.search.value = ""

        async def compute() -> WalkSession:
            opened = await self.service.open_graph(graph_id)
            return await self._compute_walk(
                open_walk, opened, SharedWalk(graph_id, self.agent.value, self.reward.value)
            )

        self.status.text = f"Reading {self.graph.options[graph_id]} …"  # takes seconds the first time
        if not await self._replace(compute):
            self.graph.value = self.session.graph_id
            self.status.text = panels.describe_last_step(self.session)

    async def _add_upload(self, event: events.UploadEventArguments) -> None:
        self.upload.reset()
        content = await event.file.read()
        try:
            info = await self.service.add_upload(event.file.name, content, self.directed.value)
        except CuriographError as error:
            _notify(str(error))
            return
        self.own_graph.close()
        self.graph.set_options(self._list_titles(), value=info.id)

    def _reject_upload(self) -> None:
        megabytes = self.settings.upload_bytes // 2**20
        _notify(
            f"Upload a file of at most {megabytes} MB with one of these extensions: {', '.join(UPLOAD_EXTENSIONS)}."
        )

    async def _suggest_starts(self) -> None:
        text = self.search.value or ""
        labels = await self._search_labels(text, _NUM_SUGGESTIONS)
        if labels is None or text != (self.search.value or ""):
            return  # in the second case, a later search has been answered already, or will be
        self.suggestions.clear()
        with self.suggestions:
            for label in labels:
                button = ui.button(format_label(label), on_click=lambda label=label: self._start_at(label))
                button.props('flat dense no-caps align=left title="Begin a new walk here."')
            if text and not labels:
                ui.label("no label contains this text").classes("cg-small")

    async def _search_labels(self, text: str, limit: int) -> list[JsonLabel] | None:
        """Search the labels that contain a text; show the message of an error, and return None."""
        if not text:
            return []
        try:
            return await asyncio.to_thread(search_labels, self.session.graph, text, limit)
        except CuriographError as error:
            _notify(str(error))
            return None

    async def _start_at_first(self, event: events.GenericEventArguments) -> None:
        """Start at the first label that contains the text as typed, which may be newer than the value of the field."""
        for label in await self._search_labels(str(event.args), 1) or ():
            await self._start_at(label)

    async def _start_at(self, label: JsonLabel) -> None:
        self.timer.deactivate()
        opened = self.session.opened
        position = opened.labels.find(label)  # None if another graph was chosen meanwhile
        if position is not None and await self._change(WalkSession.restart, opened.graph.label(position)):
            self.search.value = ""

    # -- share and download ------------------------------------------------------------------------------------------

    async def _share(self) -> None:
        link = await ui.run_javascript("location.origin", timeout=_BROWSER_TIMEOUT) + build_link(self.session)
        uploads = [info.id for info in self.graphs.list_graphs() if info.kind == "upload"]
        with _create_dialog("share this walk") as dialog:
            ui.label("This address opens the same walk with the same picture:")
            if self.session.graph_id in uploads:
                ui.label("The graph is an upload: it is available only while this service runs.").classes("cg-small")
            ui.input("address", value=link).props('readonly title="Address of this walk."').classes("w-full")

            def copy() -> None:
                ui.clipboard.write(link)
                button.text, button.icon = "Copied", "check"
                ui.notify("The address is in the clipboard.", color="grey-9")

            button = ui.button("Copy", icon="content_copy", on_click=copy)
            button.props('no-caps title="Copy the address."')
        dialog.on("hide", dialog.delete)
        dialog.open()

    async def _download_walk(self) -> None:
        document = await asyncio.to_thread(self.session.to_dict)
        text = json.dumps(document, indent=2, ensure_ascii=False, default=str, allow_nan=False)
        ui.download.content(text, "walk.json", "application/json")


def _notify(message: str) -> None:
    """Show an error message."""
    ui.notify(message, type="negative", multi_line=True, timeout=10_000, close_button="OK")


@contextmanager
def _create_dialog(title: str) -> Iterator[ui.dialog]:
    """Create a dialog with a title and a button to close it."""
    with ui.dialog().props(f'aria-label="{title}"') as dialog, ui.card().classes("cg-dialog"):
        with ui.row().classes("w-full items-center justify-between"):
            ui.label(title[0].upper() + title[1:]).classes("text-h6").props("role=heading aria-level=2")
            ui.button(icon="close", on_click=dialog.close).props('flat round aria-label="close" title="Close."')
        yield dialog
