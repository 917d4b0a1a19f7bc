"""What the browser draws: the visited subgraph with its gaps and candidates, and the growth of the walk.

Labels of nodes reach the browser as data only: no text becomes HTML.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from curiograph.service.page.layout import compute_visible_area, place_candidates
from curiograph.service.page.walk_session import WalkSession
from curiograph.service.page.words import YOU, count_things, format_chooser, format_label
from curiograph.service.schemas import encode_number

_MAX_NAME = 28
"""Maximum number of characters of a label in the picture."""
_MAX_CANDIDATES = 8
"""Maximum number of candidates drawn, those with the highest values; the table lists all."""
_MAX_OPEN, _MAX_CLOSED = 40, 6
"""Maximum number of open and closed gaps drawn, the newest ones; the others appear when the list points at them."""


def draw_picture(session: WalkSession, title: str = "") -> dict[str, Any]:
    """Describe the picture of a walk; one with a title, for comparisons, has no candidates.

    >>> from curiograph.graph.toys import library
    >>> from curiograph.service.store import OpenGraph
    >>> picture = draw_picture(WalkSession("toy:library", OpenGraph(library()), "music", "greedy"))
    >>> picture["label"]
    '1 node visited, 0 links between them, 0 open gaps; the last node is music.'
    """
    gaps = session.growth.gaps
    opened, closed = Counter(gap.opened_at for gap in gaps), Counter(gap.closed_at for gap in gaps)
    nodes = []
    for index, (step, (x, y)) in enumerate(zip(session.steps, session.coordinates.tolist(), strict=True)):
        by = "the start" if step.by == "start" else f"chosen by {format_chooser(step.by)}"
        numbers = {"opened": opened[index + 1], "closed": closed[index + 1]}
        changes = [f"{verb} {count_things(number, 'gap')}" for verb, number in numbers.items() if number]
        nodes.append(
            {
                "x": round(x, 3),
                "y": round(y, 3),
                "name": format_label(step.node, _MAX_NAME),
                "by": step.by if step.by in ("start", YOU) else "agent",
                "tip": [format_label(step.node), f"step {index + 1}, {by}", *changes],
            }
        )
    candidates, num_candidates = [] if title else _draw_candidates(session), len(session.view.nodes)
    edges = set(session.edges)
    jumps = [(b - 1, b, True) for b in range(1, len(nodes)) if (b - 1, b) not in edges]  # continued from a dead end
    label = (
        f"{count_things(len(nodes), 'node')} visited, {count_things(len(edges), 'link')} between them, "
        f"{count_things(int(session.growth.beta1[-1]), 'open gap')}; "
        f"the last node is {format_label(session.nodes[-1])}."
    )
    return {
        "start": f"{session.graph_id} {session.nodes[0]}",
        "title": title,
        "label": label,
        "view": compute_visible_area(session.coordinates),
        "nodes": nodes,
        "links": [*session.edges, *jumps],
        "gaps": _draw_gaps(session),
        "candidates": candidates,
        "more": f"{len(candidates)} of {num_candidates} next nodes drawn"
        if 0 < len(candidates) < num_candidates
        else "",
        "growth": session.growth.beta1.tolist(),
    }


def _draw_gaps(session: WalkSession) -> list[dict[str, Any]]:
    step_of = {node: step for step, node in enumerate(session.nodes)}
    drawn: list[dict[str, Any]] = []
    num_open = num_closed = 0
    for gap, loop in reversed(session.loops):
        is_open = gap.closed_at is None
        num_open, num_closed = num_open + is_open, num_closed + (not is_open)
        hidden = num_open > _MAX_OPEN if is_open else num_closed > _MAX_CLOSED
        steps = [step_of[node] for node in loop]
        drawn.append({"nodes": steps, "opened": gap.opened_at, "closed": gap.closed_at, "hidden": hidden})
    return drawn[::-1]


def _draw_candidates(session: WalkSession) -> list[dict[str, Any]]:
    """Describe the candidates with the highest values around the last node; the choice of the agent is first."""
    view = session.view
    best = view.order_candidates(session.reward)[:_MAX_CANDIDATES].tolist()
    drawn = []
    for i, (x, y) in zip(best, place_candidates(session.coordinates, len(best)).tolist(), strict=True):
        gaps = int(view.values["igt"][i] - view.igt)
        name = format_label(view.nodes[i], _MAX_NAME)
        is_choice = view.nodes[i] == view.choice
        choice = [f"{format_chooser(session.agent)} would go there"] if is_choice else []
        effect = f"{gaps:+d} {'gap' if abs(gaps) == 1 else 'gaps'}" if gaps else "no change of gaps"
        tip = [format_label(view.nodes[i]), effect, *choice, "click to visit"]
        drawn.append({"id": i, "x": round(x, 3), "y": round(y, 3), "name": name, "best": is_choice, "tip": tip})
    return drawn


def draw_growth(session: WalkSession, rival: WalkSession | None = None) -> dict[str, Any]:
    """Describe the growth of a walk, and the gaps of a rival's.

    >>> from curiograph.graph.toys import library
    >>> from curiograph.service.store import OpenGraph
    >>> draw_growth(WalkSession("toy:library", OpenGraph(library()), "music", "greedy"))["gaps"]
    [0]
    """
    gaps = session.growth.beta1.tolist()
    return {
        "label": f"Open gaps after each of {count_things(len(gaps), 'node')}: {', '.join(map(str, gaps))}.",
        "title": "open gaps" if rival is None else f"open gaps (dotted: {format_chooser(rival.steps[-1].by)})",
        "unit": "compression (bits, dashed)",
        "names": [format_label(node) for node in session.nodes],
        "gaps": gaps,
        "bits": [encode_number(value) for value in session.bits],
        "rival": None if rival is None else rival.growth.beta1.tolist(),
        "rivalName": "" if rival is None else format_chooser(rival.steps[-1].by),
    }
