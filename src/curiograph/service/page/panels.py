"""The panels beside the picture: candidates, gaps, comparison with agents, recommendations."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from nicegui import ui

from curiograph.messages import shorten_text
from curiograph.recommendation.recommender import Recommendations, compute_ranks
from curiograph.rewards.registry import REWARDS
from curiograph.service.labels import encode_label
from curiograph.service.page.walk_session import WalkSession

_MOTIVES = {
    "igt": "information gaps",
    "cpt": "compressibility",
    "cct": "flexibility",
    "pagerank": "PageRank",
    "degree": "most links",
}
_TABLE_ROWS = 10
_MAX_LABEL = 48
"""Maximum number of characters of a label; the table shows the whole label as a tooltip."""
_MAX_GAPS = 60
"""Maximum number of gaps listed, the newest ones."""
_END_OF_WALK = "There are no candidates left."
_FORMAT_SIGNED_JS = "value => value === null ? '' : (value > 0 ? '+' : '') + value"
_CANDIDATE_CELL = """<q-td :props="props" :title="props.row.name"><q-btn flat dense no-caps align="left"
  :label="props.row.short" :aria-label="'go to ' + props.row.name"
  @click="$parent.$emit('go', [props.row.id, props.row.at])" /></q-td>"""


def shorten_label(node: Hashable) -> str:
    """Shorten a label so that it fits on the page."""
    return shorten_text(str(encode_label(node)), _MAX_LABEL)


def describe_last_step(session: WalkSession) -> str:
    """Describe the effect of the last step in one sentence."""
    step, count = session.steps[-1], len(session.steps)
    if count == 1:
        return f"Start: {shorten_label(step.node)}. Press Step, or choose a candidate yourself."
    effects = []
    for verb, field in (("opened", "opened_at"), ("closed", "closed_at")):
        number = sum(getattr(gap, field) == count for gap in session.growth.gaps)
        effects += [f"{number} gap{'s' if number > 1 else ''} {verb}"] if number else []
    effect = ", ".join(effects) or "no gap opened or closed"
    end = "" if session.view.nodes else f" {_END_OF_WALK}"
    return f"{count}. {shorten_label(step.node)}, chosen by {step.by}: {effect}.{end}"


def describe_choices(session: WalkSession) -> list[str]:
    """Describe the choices of the agent and of each motive, one line each."""
    view = session.view
    if not view.nodes:
        return [_END_OF_WALK]
    lines = [] if view.on_the_way else ["A dead end: the candidates are neighbors of all visited nodes."]
    lines.append(f"{session.agent}, for {session.reward}: {shorten_label(view.choice)}")
    for motive in view.values:
        best = view.find_best(motive)
        ties = f", or {len(best) - 1} equal ones" if len(best) > 1 else ""
        lines.append(f"{_MOTIVES[motive]}: {shorten_label(best[0])}{ties}")
    if "cpt" not in view.values:
        lines.append("compressibility: not available, the walk is too long to compute it for all candidates at once")
    return lines


def build_candidate_rows(session: WalkSession) -> list[dict[str, Any]]:
    """Build one table row per candidate, the highest reward first; gaps, bits and flexibility are changes."""
    view = session.view
    ranks = compute_ranks(view.values["pagerank"], np.arange(len(view.nodes))).tolist()
    best = {motive: set(view.find_best(motive)) for motive in REWARDS if motive in view.values}
    rows: list[dict[str, Any]] = []
    for i, node in enumerate(view.nodes):
        bits = view.values["cpt"][i] - view.cpt if "cpt" in view.values else math.nan
        choosers = [session.agent] if node == view.choice else []
        choosers += [motive for motive, nodes in best.items() if node in nodes and len(nodes) <= _TABLE_ROWS]
        rows.append(
            {
                "id": i,
                "at": len(session.steps),
                "name": str(encode_label(node)),
                "short": shorten_label(node),
                "gaps": int(view.values["igt"][i] - view.igt),
                "bits": None if math.isnan(bits) else round(float(bits), 3) + 0.0,
                "flexibility": int(view.values["cct"][i] - view.cct),
                "pagerank": ranks[i],
                "links": int(view.values["degree"][i]),
                "chosen_by": ", ".join(choosers),
            }
        )
    values = view.values.get(session.reward, view.values["igt"])
    choice = str(encode_label(view.choice))
    rows.sort(key=lambda row: (row["name"] != choice, -values[int(row["id"])], row["pagerank"]))
    return rows


def _build_column(name: str, label: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "label": label, "field": name, "sortable": True, "align": "right", **more}


class CandidatesPanel:
    """The candidates with their values, and the choices of the agent and of each motive."""

    def __init__(self, on_choose: Callable[[int, int], Any]) -> None:
        self.choices = ui.column().classes("gap-0 cg-small").props('aria-label="choices of the agent and the motives"')
        columns = [
            _build_column("name", "candidate", align="left"),
            _build_column("gaps", "gaps", **{":format": _FORMAT_SIGNED_JS}),
            _build_column("bits", "bits", **{":format": _FORMAT_SIGNED_JS}),
            _build_column("flexibility", "flex.", **{":format": _FORMAT_SIGNED_JS}),
            _build_column("pagerank", "PageRank"),
            _build_column("links", "links"),
            _build_column("chosen_by", "chosen by", align="left"),
        ]
        self.table = ui.table(columns=columns, rows=[], row_key="id", pagination=_TABLE_ROWS)
        self.table.classes("w-full cg-table cg-candidates")
        self.table.props('dense flat wrap-cells binary-state-sort aria-label="candidates" :rows-per-page-options=[10]')
        self.table.add_slot("body-cell-name", _CANDIDATE_CELL)
        self.table.on("go", lambda event: on_choose(int(event.args[0]), int(event.args[1])))

    def show(self, session: WalkSession) -> None:
        """Show the candidates of a walk."""
        self.choices.clear()
        with self.choices:
            for line in describe_choices(session):
                ui.label(line)
        self.table.rows = build_candidate_rows(session)


def show_gaps(box: ui.column, session: WalkSession) -> None:
    """Show all gaps of a walk, the newest first, each with a loop around it."""
    box.clear()
    with box:
        num_open = sum(gap.closed_at is None for gap, _ in session.loops)
        ui.label(f"{num_open} open, {len(session.loops) - num_open} closed").classes("text-weight-bold")
        for gap, loop in reversed(session.loops[-_MAX_GAPS:]):
            around = " - ".join(shorten_label(node) for node in [*loop, loop[0]])
            if gap.closed_at is None:
                ui.label(f"○ step {gap.opened_at}: {around}; open").classes("cg-igt")
            else:
                end = f"closed at {gap.closed_at} by {shorten_label(gap.closed_by)}"
                ui.label(f"● step {gap.opened_at}: {around}; {end}")


def show_comparison(box: ui.column, session: WalkSession, agents: list[tuple[str, float, float]]) -> None:
    """Show the mean percentile of the visitor's choices by motive, and the returns of agents from the same start."""
    box.clear()
    agreement = session.compute_agreement()
    with box:
        ui.label("Your choices").classes("text-weight-bold")
        if agreement:
            closest = max(agreement, key=lambda motive: agreement[motive])
            ui.label(f"Closest to {_MOTIVES[closest]}.")
            _add_table(
                {"motive": "motive", "share": "mean percentile, 100 % is best"},
                [{"motive": _MOTIVES[motive], "share": f"{value:.0%}"} for motive, value in agreement.items()],
            )
        else:
            ui.label("Choose a candidate yourself to see which motive your choices are closest to.")
        ui.label(f"Returns of {len(session.steps)} nodes from the same start").classes("text-weight-bold")
        if agents:
            returns = [("this walk", *session.compute_returns()), *agents]
            _add_table(
                {"walk": "walk", "igt": "sum of gaps", "cpt": "sum of bits"},
                [{"walk": name, "igt": int(igt), "cpt": round(cpt, 2)} for name, igt, cpt in returns],
            )
        else:
            ui.label("Agents are compared on walks of 2 to 40 nodes.")


def _add_table(titles: dict[str, str], rows: list[dict[str, Any]]) -> None:
    """Add a table whose first column has text."""
    key, *_ = titles
    columns = [_build_column(name, title, align="left" if name == key else "right") for name, title in titles.items()]
    ui.table(columns=columns, rows=rows, row_key=key).props("dense flat").classes("w-full cg-table")


class RecommendationsPanel:
    """Recommended nodes with reasons."""

    def __init__(self, on_choose: Callable[[Hashable], Any], on_change: Callable[[], Any]) -> None:
        self.candidates = ui.radio({"last": "linked from here", "all": "anywhere"}, value="last", on_change=on_change)
        self.candidates.props('dense inline aria-label="recommend nodes"').classes("cg-small")
        self.box = ui.column().classes("w-full gap-2")
        self._on_choose = on_choose

    def show_spinner(self) -> None:
        """Show that recommendations are being computed."""
        self.box.clear()
        with self.box, ui.row().classes("items-center"):
            ui.spinner(size="sm")
            ui.label("computing recommendations …")

    def show(self, session: WalkSession, top: Recommendations) -> None:
        """Show recommendations."""
        self.box.clear()
        with self.box:
            if not top:
                ui.label("There is nothing left to recommend.")
            for rank, ((node, _), reason) in enumerate(zip(top, top.reasons, strict=True), start=1):
                with ui.column().classes("cg-reason gap-0"):
                    title = f"{rank}. {shorten_label(node)}"
                    if node in session.view.nodes:
                        button = ui.button(title, on_click=lambda node=node: self._on_choose(node))
                        button.props("flat dense no-caps align=left")
                    else:
                        ui.label(f"{title} (not linked from here)").classes("text-weight-medium")
                    ui.label(str(reason)).classes("cg-small")
