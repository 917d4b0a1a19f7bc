"""The panels beside the picture: next steps, gaps, comparison with agents, recommendations."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any

from nicegui import ui
from scipy.stats import rankdata

from curiograph.recommendation.reasons import Reason
from curiograph.recommendation.recommended import Recommendations
from curiograph.service.json_labels import encode_label
from curiograph.service.page.walk_session import MAX_COMPARED, WalkSession
from curiograph.service.page.words import (
    MOTIVE_DESCRIPTIONS,
    MOTIVES,
    YOU,
    count_things,
    describe_field,
    describe_motive,
    format_chooser,
    format_label,
)
from curiograph.service.schemas import GrowthResponse, RecommendedNode, RecommendRequest
from curiograph.service.step_view import StepView

_TABLE_ROWS = 10
_MAX_ROWS = 200
"""Maximum number of next nodes in the table, the best ones."""
_MAX_GAPS = 60
"""Maximum number of gaps listed, the newest ones."""
_MAX_NAMES = 6
"""Maximum number of nodes of a loop that are listed; of a longer one, the first and the last."""
_END_OF_WALK = "No next node is left: undo or restart."
_FORMAT_SIGNED_JS = "value => value === null ? '' : (value > 0 ? '+' : '') + value"
_HEADER_CELL = """<q-th :props="props" :title="props.col.about">{{ props.col.label }}</q-th>"""
_CANDIDATE_CELL = """<q-td :props="props" :title="props.row.name"><q-btn flat dense no-caps align="left"
  :data-candidate="props.row.id" :label="props.row.short" :aria-label="'go to ' + props.row.short"
  @click="$parent.$emit('go', [props.row.id, props.row.at])" />
  <div v-if="props.row.chosen_by" class="cg-choice">{{ props.row.chosen_by }}</div></q-td>"""
_PAGING = """<span>page {{ props.pagination.page }} of {{ props.pagesNumber }}</span>
  <q-btn flat round icon="chevron_left" title="Previous rows." aria-label="previous rows"
    :disable="props.isFirstPage" @click="props.prevPage" />
  <q-btn flat round icon="chevron_right" title="Further rows." aria-label="further rows"
    :disable="props.isLastPage" @click="props.nextPage" />"""


def describe_last_step(session: WalkSession) -> str:
    """Describe the effect of the last step in one sentence."""
    step, count = session.steps[-1], len(session.steps)
    if count == 1:
        return f"Start: {format_label(step.node)}. Press Step, or choose the next node yourself."
    effects = []
    for verb, field in (("opened", "opened_at"), ("closed", "closed_at")):
        number = sum(getattr(gap, field) == count for gap in session.growth.gaps)
        effects += [f"{count_things(number, 'gap')} {verb}"] if number else []
    effect = ", ".join(effects) or "no gap opened or closed"
    end = "" if session.view.nodes else f" {_END_OF_WALK}"
    return f"{count}. {format_label(step.node)}, chosen by {format_chooser(step.by)}: {effect}.{end}"


def describe_choices(session: WalkSession) -> list[str]:
    """Describe where the agent would go and the best candidate for each motive, one line each."""
    view = session.view
    if not view.nodes:
        return [_END_OF_WALK]
    lines = []
    if len(view.nodes) > _MAX_ROWS:
        lines.append(f"The table has the best {_MAX_ROWS} of {len(view.nodes):,} next nodes.")
    if not view.on_the_way:
        lines.append("Dead end: continue from any node you visited.")
    lines.append(f"{format_chooser(session.agent)} would go to {format_label(view.choice)}.")
    for motive in view.values if len(view.nodes) > 1 else ():
        best = view.find_best(motive)
        ties = f" and {count_things(len(best) - 1, 'other')}" if len(best) > 1 else ""
        names = "all are equal" if len(best) == len(view.nodes) else f"{format_label(best[0])}{ties}"
        lines.append(f"Best for {MOTIVES[motive]}: {names}.")
    if "cpt" not in view.values:
        lines.append("This walk is too long to compute compression for every next node.")
    return lines


def build_candidate_rows(session: WalkSession) -> list[dict[str, Any]]:
    """Build the table rows of the best candidates, the choice of the agent first, then the highest reward.

    Gaps, bits and flexibility are changes.
    """
    view = session.view
    best = view.order_candidates(session.reward)[:_MAX_ROWS]
    rows: list[dict[str, Any]] = []
    ranks = rankdata(-view.values["pagerank"], "min")
    for i in best.tolist():
        node = view.nodes[i]
        bits = view.values["cpt"][i] - view.cpt if "cpt" in view.values else math.nan
        rows.append(
            {
                "id": i,
                "at": len(session.steps),
                "name": str(encode_label(node)),
                "short": format_label(node),
                "gaps": int(view.values["igt"][i] - view.igt),
                "bits": None if math.isnan(bits) else round(float(bits), 3) + 0.0,
                "flexibility": int(view.values["cct"][i] - view.cct),
                "pagerank": int(ranks[i]),
                "links": int(view.values["degree"][i]),
                "chosen_by": f"choice of {format_chooser(session.agent)}" if node == view.choice else "",
            }
        )
    return rows


def _build_column(name: str, label: str, about: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "label": label, "about": about, "field": name, "sortable": True, "align": "right", **more}


class CandidatesPanel:
    """The candidates with their values, and the choices of the agent and of each motive."""

    def __init__(self, on_choose: Callable[[int, int], Any]) -> None:
        signed = {":format": _FORMAT_SIGNED_JS}
        columns = [
            _build_column("name", "next node", "Where you can go from here.", align="left"),
            _build_column("gaps", "gaps", f"Change by this step. {describe_motive('igt')}", **signed),
            _build_column("bits", "compression", f"Change by this step. {describe_motive('cpt')}", **signed),
            _build_column("flexibility", "flexibility", f"Change by this step. {describe_motive('cct')}", **signed),
            _build_column("pagerank", "PageRank", f"Rank by PageRank, 1 is best: {MOTIVE_DESCRIPTIONS['pagerank']}."),
            _build_column("links", "links", describe_motive("degree")),
        ]
        self.table = ui.table(columns=columns, rows=[], row_key="id", pagination=_TABLE_ROWS)
        self.table.classes("w-full cg-table cg-candidates")
        self.table.props('dense flat wrap-cells binary-state-sort aria-label="next nodes" :rows-per-page-options=[10]')
        self.table.add_slot("header-cell", _HEADER_CELL)
        self.table.add_slot("body-cell-name", _CANDIDATE_CELL)
        self.table.add_slot("pagination", _PAGING)
        self.table.on("go", lambda event: on_choose(int(event.args[0]), int(event.args[1])))
        self.choices = ui.element("ul").classes("cg-small cg-list").props('aria-label="best choices"')

    def show(self, rows: list[dict[str, Any]], lines: list[str]) -> None:
        """Show the rows and sentences of `build_candidate_rows` and `describe_choices`."""
        self.table.rows = rows
        self.table.props["hide-pagination"] = len(rows) <= _TABLE_ROWS
        self.choices.clear()
        with self.choices:
            for line in lines:
                with ui.element("li"):
                    ui.label(line)


def show_gaps(box: ui.column, session: WalkSession) -> None:
    """Show all gaps of a walk, the newest first, each as a loop; pointing at one shows it in the picture."""
    box.clear()
    with box:
        num_open = sum(gap.closed_at is None for gap, _ in session.loops)
        heading = ui.label(f"{num_open} open, {len(session.loops) - num_open} closed").classes("text-weight-bold")
        heading.props["title"] = describe_field(GrowthResponse, "gaps")
        hint = "Point at a gap to see it in the picture; click to keep it there."
        ui.label(hint if session.loops else "No gap yet: take some steps.")
        about = describe_motive("igt")
        for index in range(len(session.loops) - 1, max(-1, len(session.loops) - 1 - _MAX_GAPS), -1):
            gap, loop = session.loops[index]
            names = [format_label(node) for node in [*loop, loop[0]]]
            if len(names) > _MAX_NAMES:
                names = [*names[:3], "…", names[-2], names[-1]]
            end = "still open" if gap.closed_at is None else f"closed at step {gap.closed_at} by {gap.closed_by}"
            with ui.element("button").props(f'type=button data-gap={index} title="{about}"').classes("cg-gap") as row:
                row.classes("cg-open" if gap.closed_at is None else "cg-closed")
                ui.label(" - ".join(names))
                ui.label(f"opened at step {gap.opened_at}, {end.replace('_', ' ')}").classes("cg-small")


def show_comparison(box: ui.column, session: WalkSession, agents: list[tuple[str, float, float]]) -> None:
    """Show the mean percentile of the visitor's choices by motive, and the returns of agents from the same start."""
    box.clear()
    agreement = session.compute_agreement()
    with box:
        ui.label("Your choices").classes("text-weight-bold")
        if agreement:
            closest = max(agreement, key=lambda motive: agreement[motive])
            ui.label(f"You choose most like a walker who seeks {MOTIVES[closest]}.")
            _add_table(
                {
                    "motive": ("motive", "What a walker may look for."),
                    "share": ("your choices", "Mean share of the other next nodes that yours beats; 100 % is best."),
                },
                [{"motive": MOTIVES[motive], "share": f"{value:.0%}"} for motive, value in agreement.items()],
            )
        else:
            if not any(step.by == YOU for step in session.steps):
                reason = "Choose a node yourself to see which motive your choices are closest to."
            elif len(session.steps) > MAX_COMPARED:
                reason = f"Your choices are not compared in shared walks of more than {MAX_COMPARED} nodes."
            else:
                reason = "There was nothing to choose from: each of your nodes was the only one."
            ui.label(reason)
        ui.label(f"All walks of {count_things(len(session.steps), 'node')} from the same start").classes(
            "text-weight-bold"
        )
        if agents:
            returns = [("this walk", *session.compute_returns()), *agents]
            _add_table(
                {
                    "walk": ("walk", "Who walks, and what for."),
                    "igt": ("sum of gaps", f"Sum over all steps. {describe_field(GrowthResponse, 'beta1')}"),
                    "cpt": ("sum of bits", f"Sum over all steps. {describe_field(GrowthResponse, 'compressibility')}"),
                },
                [{"walk": name, "igt": int(igt), "cpt": round(cpt, 2)} for name, igt, cpt in returns],
            )
        else:
            ui.label(f"Agents are compared on walks of 2 to {MAX_COMPARED} nodes.")


def _add_table(columns: dict[str, tuple[str, str]], rows: list[dict[str, Any]]) -> None:
    """Add a table, given the title and the description of each column; the first column has text."""
    key, *_ = columns
    built = [
        _build_column(name, title, about, align="left" if name == key else "right")
        for name, (title, about) in columns.items()
    ]
    table = ui.table(columns=built, rows=rows, row_key=key).props("dense flat").classes("w-full cg-table")
    table.add_slot("header-cell", _HEADER_CELL)


def describe_reason(reason: Reason, view: StepView) -> str:
    """Describe the effect of a recommended node and its ranks.

    The effect of a next node is that of the table, on the whole walk; that of another node is the one of the reason, on
    the last visited nodes.

    >>> from curiograph.recommendation.recommender import recommend
    >>> from curiograph.graph.toys import cycle
    >>> from curiograph.service.step_view import view_step
    >>> (top,) = recommend(cycle(4), [0, 1, 2], ranker="pagerank").reasons
    >>> describe_reason(top, view_step(cycle(4), [0, 1, 2]))
    'Gaps +1, compression +0.108 bits. Rank among 1 node: 1 by PageRank.'
    """
    gaps, bits = len(reason.opens) - len(reason.closes), reason.compressibility
    if reason.node in view.nodes:
        i = view.nodes.index(reason.node)
        gaps = int(view.values["igt"][i] - view.igt)
        bits = float(view.values["cpt"][i] - view.cpt) if "cpt" in view.values else math.nan
    effects = [f"Gaps {gaps:+d}" if gaps else "Gaps 0"]
    effects += [] if math.isnan(bits) else [f"compression {bits:+.3f} bits"]
    ranks = ", ".join(f"{rank} by {MOTIVES.get(name, name)}" for name, rank in reason.ranks.items())
    return f"{', '.join(effects)}. Rank among {count_things(reason.candidates, 'node')}: {ranks}."


class RecommendationsPanel:
    """Recommended nodes with reasons."""

    def __init__(self, on_choose: Callable[[Hashable], Any], on_change: Callable[[], Any]) -> None:
        ui.label(
            "Where walkers who start on your walk arrive most often: some follow any link (PageRank), some seek "
            "information gaps, some compression."
        ).classes("cg-small")
        self.candidates = ui.radio({"last": "linked from here", "all": "anywhere"}, value="last", on_change=on_change)
        self.candidates.props('dense inline aria-label="recommend nodes"').classes("cg-small")
        self.candidates.props["title"] = describe_field(RecommendRequest, "candidates")
        self.box = ui.column().classes("w-full gap-2")
        self._on_choose = on_choose

    def show_progress(self) -> None:
        """Show that recommendations are being computed."""
        self.box.clear()
        with self.box:
            ui.label("Simulating walkers from your walk …")
            ui.linear_progress(show_value=False).props('indeterminate aria-label="recommendations are being computed"')

    def show(self, session: WalkSession, top: Recommendations) -> None:
        """Show recommendations."""
        self.box.clear()
        with self.box:
            if not top:
                ui.label("There is nothing left to recommend.")
            for rank, ((node, _), reason) in enumerate(zip(top, top.reasons, strict=True), start=1):
                with ui.column().classes("cg-reason gap-0"):
                    title = f"{rank}. {format_label(node)}"
                    if node in session.view.nodes:
                        button = ui.button(title, on_click=lambda node=node: self._on_choose(node))
                        button.props('flat dense no-caps align=left title="Go there."')
                    else:
                        ui.label(f"{title} (not linked from here)").classes("text-weight-medium")
                    ui.label(reason.sentence.replace("_", " "))
                    details = ui.label(describe_reason(reason, session.view)).classes("cg-small")
                    details.props["title"] = describe_field(RecommendedNode, "ranks")
