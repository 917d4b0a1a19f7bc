"""The panels beside the picture: candidates, gaps, how your walk compares, recommendations."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from nicegui import ui

from curiograph.messages import shorten_text
from curiograph.recommendation.recommender import Recommendations, compute_ranks
from curiograph.service.labels import encode_label
from curiograph.service.page.walk_session import AgentReturns, WalkSession

_NAMES = {"igt": "information gaps", "cpt": "compressibility", "pagerank": "PageRank", "degree": "most links"}
_ROWS = 10
_LETTERS = 48
"""Of a name; the table has the whole one as a hint."""
_LONGEST = 60
"""Gaps listed; beyond, the newest."""
_SIGNED = "value => value === null ? '' : (value > 0 ? '+' : '') + value"
_GO = """<q-td :props="props" :title="props.row.name"><q-btn flat dense no-caps align="left" :label="props.row.short"
  :aria-label="'go to ' + props.row.name" @click="$parent.$emit('go', [props.row.id, props.row.at])" /></q-td>"""


def _column(name: str, label: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "label": label, "field": name, "sortable": True, "align": "right", **more}


class CandidatesPanel:
    """Where the walk may go, what that is worth, and what each motive would choose."""

    def __init__(self, go: Callable[[int, int], Any]) -> None:
        self.choices = ui.column().classes("gap-0 cg-small").props('aria-label="what each motive would choose"')
        columns = [
            _column("name", "candidate", align="left"),
            _column("gaps", "gaps", **{":format": _SIGNED}),
            _column("bits", "bits", **{":format": _SIGNED}),
            _column("pagerank", "PageRank"),
            _column("links", "links"),
            _column("wanted", "chosen by", align="left"),
        ]
        self.table = ui.table(columns=columns, rows=[], row_key="id", pagination=_ROWS).classes(
            "w-full cg-table cg-candidates"
        )
        self.table.props('dense flat wrap-cells binary-state-sort aria-label="candidates" :rows-per-page-options=[10]')
        self.table.add_slot("body-cell-name", _GO)
        self.table.on("go", lambda event: go(int(event.args[0]), int(event.args[1])))

    def show(self, walking: WalkSession) -> None:
        """Fill the panel."""
        self.choices.clear()
        with self.choices:
            for line in describe_choices(walking):
                ui.label(line)
        self.table.rows = build_candidate_rows(walking)


def shorten_label(node: Hashable) -> str:
    """A name that fits."""
    return shorten_text(str(encode_label(node)), _LETTERS)


def describe_last_step(walking: WalkSession) -> str:
    """What the last step did, in a sentence."""
    taken, steps = walking.taken[-1], len(walking.taken)
    if steps == 1:
        return f"Start: {shorten_label(taken.node)}. Step, or choose a candidate yourself."
    growth = walking.growth
    opened = sum(gap.opened_at == steps for gap in growth.gaps)
    closed = sum(gap.closed_at == steps for gap in growth.gaps)
    events = [
        f"{count} gap{'s' if count > 1 else ''} {what}"
        for count, what in ((opened, "opened"), (closed, "closed"))
        if count
    ]
    end = " There is nowhere left to go." if not walking.seen.nodes else ""
    happened = ", ".join(events) or "no gap opened or closed"
    return f"{steps}. {shorten_label(taken.node)}, chosen by {taken.by}: {happened}.{end}"


def describe_choices(walking: WalkSession) -> list[str]:
    """What the agent and each motive would choose, a line each."""
    seen = walking.seen
    if not seen.nodes:
        return ["There is nowhere left to go."]
    lines = [] if seen.on_the_way else ["A dead end: the candidates are neighbours of all that was visited."]
    lines.append(f"{walking.agent}, for {walking.reward}: {shorten_label(seen.choice)}")
    for motive in seen.values:
        best = seen.best(motive)
        others = f", or {len(best) - 1} as good" if len(best) > 1 else ""
        lines.append(f"{_NAMES[motive]}: {shorten_label(best[0])}{others}")
    if "cpt" not in seen.values:
        lines.append("compressibility: left out, the walk is too long to compute it for all candidates at once")
    return lines


def build_candidate_rows(walking: WalkSession) -> list[dict[str, Any]]:
    """A row for each candidate, the one with the highest reward first; gaps and bits are changes."""
    seen = walking.seen
    ranks = compute_ranks(seen.values["pagerank"], np.arange(len(seen.nodes))).tolist()
    best = {motive: set(seen.best(motive)) for motive in ("igt", "cpt") if motive in seen.values}
    rows: list[dict[str, Any]] = []
    for i, node in enumerate(seen.nodes):
        bits = seen.values["cpt"][i] - seen.cpt if "cpt" in seen.values else None
        wanted = [motive for motive, nodes in best.items() if node in nodes and len(nodes) <= _ROWS]
        rows.append(
            {
                "id": i,
                "at": len(walking.taken),
                "name": str(encode_label(node)),
                "short": shorten_label(node),
                "gaps": int(seen.values["igt"][i] - seen.igt),
                "bits": None if bits is None or math.isnan(bits) else round(float(bits), 3) + 0.0,
                "pagerank": ranks[i],
                "links": int(seen.values["degree"][i]),
                "wanted": ", ".join([*([walking.agent] if node == seen.choice else []), *wanted]),
            }
        )
    value = seen.values.get(walking.reward, seen.values["igt"])
    rows.sort(key=lambda row: (row["name"] != str(encode_label(seen.choice)), -value[int(row["id"])], row["pagerank"]))
    return rows


class GapsPanel:
    """Every gap that lived, the newest first, as a loop."""

    def __init__(self) -> None:
        self.box = ui.column().classes("w-full gap-1 cg-small")

    def show(self, walking: WalkSession) -> None:
        """Fill the panel."""
        self.box.clear()
        loops = walking.loops
        with self.box:
            open_now = sum(gap.closed_at is None for gap, _ in loops)
            ui.label(f"{open_now} open, {len(loops) - open_now} closed").classes("text-weight-bold")
            for gap, loop in reversed(loops[-_LONGEST:]):
                ends = f"closed at {gap.closed_at} by {shorten_label(gap.closed_by)}" if gap.closed_at else "open"
                around = " - ".join(shorten_label(node) for node in [*loop, loop[0]])
                state = "cg-igt" if gap.closed_at is None else ""
                ui.label(f"{'○' if gap.closed_at is None else '●'} step {gap.opened_at}: {around}; {ends}").classes(
                    state
                )


class ComparisonPanel:
    """How your choices stand by each motive, and what agents collect from the same start."""

    def __init__(self) -> None:
        self.box = ui.column().classes("w-full gap-2")

    def show(self, walking: WalkSession, rivals: list[AgentReturns]) -> None:
        """Fill the panel."""
        self.box.clear()
        agreement = walking.agreement()
        with self.box:
            ui.label("Your choices").classes("text-weight-bold")
            if agreement:
                closest = max(agreement, key=lambda motive: agreement[motive])
                ui.label(f"Closest to {_NAMES[closest]}.")
                rows = [{"motive": _NAMES[motive], "share": f"{value:.0%}"} for motive, value in agreement.items()]
                columns = [_column("motive", "motive", align="left"), _column("share", "mean place, 100 % is best")]
                ui.table(columns=columns, rows=rows, row_key="motive").props("dense flat").classes("w-full cg-table")
            else:
                ui.label("Choose a candidate yourself, and see here which motive your choices are closest to.")
            ui.label(f"What {len(walking.taken)} nodes from the same start collect").classes("text-weight-bold")
            if rivals:
                igt, cpt = walking.returns()
                _returns([("this walk", igt, cpt), *((_called(rival), rival.igt, rival.cpt) for rival in rivals)])
            else:
                ui.label("Walk on: agents are compared over 2 to 40 nodes.")


def _called(rival: AgentReturns) -> str:
    return rival.agent if rival.agent == "random" else f"{rival.agent}, for {rival.reward}"


def _returns(collected: list[tuple[str, float, float]]) -> None:
    rows = [{"who": who, "igt": int(igt), "cpt": round(cpt, 2)} for who, igt, cpt in collected]
    columns = [_column("who", "who", align="left"), _column("igt", "gaps, summed"), _column("cpt", "bits, summed")]
    ui.table(columns=columns, rows=rows, row_key="who").props("dense flat").classes("w-full cg-table")


class RecommendationsPanel:
    """What to visit next, and why."""

    def __init__(self, go: Callable[[Hashable], Any], among: Callable[[], Any]) -> None:
        self.among = ui.radio({"last": "linked from here", "all": "anywhere"}, value="last", on_change=among)
        self.among.props('dense inline aria-label="recommend what is"').classes("cg-small")
        self.box = ui.column().classes("w-full gap-2")
        self._go = go

    def wait(self) -> None:
        """Say that it is being computed."""
        self.box.clear()
        with self.box, ui.row().classes("items-center"):
            ui.spinner(size="sm")
            ui.label("walkers are on their way …")

    def show(self, walking: WalkSession, top: Recommendations) -> None:
        """Fill the panel."""
        self.box.clear()
        with self.box:
            if not top:
                ui.label("There is nothing left to recommend.")
            for place, ((node, _), reason) in enumerate(zip(top, top.reasons, strict=True), start=1):
                with ui.column().classes("cg-reason gap-0"):
                    title = f"{place}. {shorten_label(node)}"
                    if node in walking.seen.nodes:
                        go = ui.button(title, on_click=lambda node=node: self._go(node))
                        go.props("flat dense no-caps align=left")
                    else:
                        ui.label(f"{title} (not linked from here)").classes("text-weight-medium")
                    ui.label(str(reason)).classes("cg-small")
