"""ECharts options of the pictures: the visited subgraph with its gaps, and the growth of the walk.

Labels of nodes reach the browser as data only: no text becomes HTML, and tooltips are drawn on the canvas.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from curiograph.messages import shorten_text
from curiograph.plotting import COLORS
from curiograph.service.labels import encode_label
from curiograph.service.page.style import get_color
from curiograph.service.page.walk_session import YOU, WalkSession

THEMES = {
    False: {"text": "#222222", "faint": "#666666", "line": "#BBBBBB", "edge": "#B5B5B5", "paper": "#FFFFFF"},
    True: {"text": "#E6E6E6", "faint": "#9A9A9A", "line": "#777777", "edge": "#6A6A6A", "paper": "#121212"},
}
"""Colors of texts and lines in light (False) and dark mode (True)."""
_MAX_LABELED = 60
"""Maximum length of a walk whose nodes all show their label; in longer walks only the newest ones do."""
_NUM_RECENT = 12
"""Number of newest nodes that show their label in a long walk."""
_AXIS_LIMIT = 1.4
"""Limit of the axes: candidates around a node at the border of the layout are visible."""
_LOOP_INSET = 0.16
"""Share by which loops are moved inwards, so that they do not cover the links."""
_MAX_LOOPS = 40
"""Maximum number of gaps drawn, the newest ones; the panel lists more."""
_MAX_CANDIDATES = 16
"""Maximum number of candidates drawn; the table lists all."""

_DRAW_LOOP_JS = """(params, api) => {
  const points = [];
  for (let i = 2; i < api.value(1) * 2 + 2; i += 2) points.push(api.coord([api.value(i), api.value(i + 1)]));
  const closed = api.value(0) === 1, fresh = api.value(0) === 2;
  return {type: 'polygon', silent: true, shape: {points: points},
          style: {fill: closed ? COLOR : 'none', opacity: closed ? 0.14 : fresh ? 1 : OPACITY,
                  stroke: closed ? 'none' : COLOR, lineWidth: fresh ? 4 : 2, lineJoin: 'round'}};
}"""


def build_subgraph_options(session: WalkSession, dark: bool) -> dict[str, Any]:
    """Build the picture of the visited subgraph, with a loop around every gap and the candidates for the next step."""
    axis = {"type": "value", "show": False, "min": -_AXIS_LIMIT, "max": _AXIS_LIMIT}
    description = (
        f"{len(session.steps)} nodes visited, {len(session.edges)} links between them, "
        f"{int(session.growth.beta1[-1])} open gaps; the last node is {encode_label(session.nodes[-1])}."
    )
    return {
        "animationDurationUpdate": 250,
        "animationDuration": 0,
        "backgroundColor": "transparent",
        "aria": {"enabled": True, "label": {"description": description}},
        "grid": {"left": 0, "right": 0, "top": 0, "bottom": 0},
        "tooltip": {"renderMode": "richText", "confine": True},
        "xAxis": axis,
        "yAxis": dict(axis),
        "series": [_build_loop_series(session, dark), _build_graph_series(session, dark)],
    }


def _build_loop_series(session: WalkSession, dark: bool) -> dict[str, Any]:
    """Draw open gaps as outlines, new ones bold, and closed gaps filled."""
    coordinates = dict(zip(session.nodes, session.coordinates.tolist(), strict=True))
    rows = []
    for gap, loop in session.loops[-_MAX_LOOPS:]:
        kind = 1 if gap.closed_at is not None else 2 if gap.opened_at == len(session.steps) else 0
        corners = np.array([coordinates[node] for node in loop])
        inside = corners.mean(axis=0) * _LOOP_INSET + corners * (1 - _LOOP_INSET)
        rows.append([kind, len(loop), *inside.ravel().round(4).tolist()])
    width = max(map(len, rows), default=2)
    script = _DRAW_LOOP_JS.replace("COLOR", f"'{get_color('igt', dark)}'")
    return {
        "type": "custom",
        "name": "gaps",
        "silent": True,
        "z": 1,
        "dimensions": [f"d{i}" for i in range(width)],
        "data": [row + [0] * (width - len(row)) for row in rows],
        "encode": {"x": [], "y": []},
        ":renderItem": script.replace("OPACITY", "0.5" if len(rows) <= 12 else "0.25"),
    }


def _build_graph_series(session: WalkSession, dark: bool) -> dict[str, Any]:
    theme = THEMES[dark]
    candidates, candidate_links = _draw_candidates(session, dark)
    return {
        "type": "graph",
        "name": "walk",
        "coordinateSystem": "cartesian2d",
        "z": 2,
        "roam": False,
        "cursor": "pointer",
        "data": [_draw_visited(session, index, dark) for index in range(len(session.steps))] + candidates,
        "links": _draw_links(session, dark) + candidate_links,
        "lineStyle": {"color": theme["edge"], "width": 1, "opacity": 0.7},
        "label": {"color": theme["text"], "fontSize": 11, "textBorderColor": theme["paper"], "textBorderWidth": 2},
        "emphasis": {"focus": "none", "scale": 1.1},
        "labelLayout": {"hideOverlap": True},
    }


def _draw_visited(session: WalkSession, index: int, dark: bool) -> dict[str, Any]:
    theme, step, count = THEMES[dark], session.steps[index], len(session.steps)
    is_last = index == count - 1
    is_labeled = count <= _MAX_LABELED or index >= count - _NUM_RECENT or index == 0
    x, y = session.coordinates[index]
    tooltip = [
        f"{index + 1}. {encode_label(step.node)}",
        "the start" if step.by == "start" else f"chosen by {step.by}",
        *(f"{motive}: {value:.0%}" for motive, value in step.percentiles.items() if not math.isnan(value)),
    ]
    return {
        "id": f"v{index}",
        "name": f"{index + 1} {shorten_text(str(encode_label(step.node)), 28)}",
        "value": [round(float(x), 4), round(float(y), 4)],
        "symbol": {"start": "diamond", YOU: "rect"}.get(step.by, "circle"),
        "symbolSize": (18 if count <= _MAX_LABELED else 11) * (1.5 if is_last else 1.0),
        "itemStyle": {
            "color": get_color({YOU: "human", "start": "quiet"}.get(step.by, session.reward), dark),
            "borderColor": theme["text"] if is_last else theme["paper"],
            "borderWidth": 2,
        },
        "label": {"show": is_labeled, "position": "left" if x > 0.4 else "right"}
        | ({"fontSize": 12, "fontWeight": "bold"} if is_last else {}),
        "tooltip": {"formatter": _escape_placeholders("\n".join(tooltip))},
    }


def _escape_placeholders(text: str) -> str:
    """Replace the characters with which ECharts marks placeholders and styles.

    >>> _escape_placeholders("{a|x}")
    '(a¦x)'
    """
    return text.translate(str.maketrans("{}|", "()¦"))


def _draw_links(session: WalkSession, dark: bool) -> list[dict[str, Any]]:
    """Draw the links between visited nodes, those that the walk followed bold; dotted lines for steps without a link.

    At a dead end a walk continues from any visited node.
    """
    links: list[dict[str, Any]] = []
    for a, b in session.edges:
        link: dict[str, Any] = {"source": f"v{a}", "target": f"v{b}"}
        if b == a + 1:
            color = get_color("human", dark) if session.steps[b].by == YOU else THEMES[dark]["text"]
            link["lineStyle"] = {"color": color, "width": 3, "opacity": 0.95}
        links.append(link)
    edges = set(session.edges)
    style = {"color": COLORS["quiet"], "width": 1.5, "type": "dotted"}
    return links + [
        {"source": f"v{index - 1}", "target": f"v{index}", "lineStyle": style}
        for index in range(1, len(session.steps))
        if (index - 1, index) not in edges
    ]


def _draw_candidates(session: WalkSession, dark: bool) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Draw the candidates with the highest values around the last node; a click on one visits it."""
    view, count, theme = session.view, len(session.steps), THEMES[dark]
    values, pagerank = view.values.get(session.reward, view.values["igt"]), view.values["pagerank"]
    best = sorted(range(len(view.nodes)), key=lambda i: (-values[i], -pagerank[i]))[:_MAX_CANDIDATES]
    x, y = session.coordinates[-1]
    radius = 0.34 if count > 1 else 0.75
    nodes, links = [], []
    for turn, i in enumerate(best):
        angle = 2 * math.pi * turn / len(best) + 0.4
        is_choice = view.nodes[i] == view.choice
        nodes.append(
            {
                "id": f"c{count}-{i}",
                "name": shorten_text(str(encode_label(view.nodes[i])), 28),
                "value": [round(float(x) + radius * math.cos(angle), 4), round(float(y) + radius * math.sin(angle), 4)],
                "symbolSize": 11,
                "itemStyle": {
                    "color": theme["paper"],
                    "borderColor": get_color(session.reward, dark) if is_choice else theme["faint"],
                    "borderWidth": 3 if is_choice else 2,
                },
                "label": {"show": count == 1, "position": "right", "color": theme["faint"], "fontSize": 10},
                "tooltip": {"formatter": _escape_placeholders(f"{encode_label(view.nodes[i])}\nclick to visit")},
            }
        )
        style = {"color": theme["line"], "width": 1, "type": "dashed", "opacity": 0.6}
        links.append({"source": f"v{count - 1}", "target": f"c{count}-{i}", "lineStyle": style})
    return nodes, links


def build_growth_options(session: WalkSession, dark: bool) -> dict[str, Any]:
    """Build the growth curves: gaps as steps and compressibility as a dashed line, over the nodes visited."""
    theme = THEMES[dark]
    gaps = [[step, value] for step, value in enumerate(session.growth.beta1.tolist(), start=1)]
    bits = [[step, round(value, 4)] for step, value in enumerate(session.bits, start=1) if not math.isnan(value)]

    def build_axis(name: str, color: str, **more: Any) -> dict[str, Any]:
        return {
            "type": "value",
            "name": name,
            "nameTextStyle": {"color": color},
            "axisLabel": {"color": theme["faint"]},
            "axisLine": {"lineStyle": {"color": theme["line"]}},
            "min": 0,
            "splitLine": {"show": False},
            **more,
        }

    def build_line(name: str, data: list[list[float]], color: str, dash: str, axis: int, **more: Any) -> dict[str, Any]:
        return {
            "type": "line",
            "name": name,
            "data": data,
            "yAxisIndex": axis,
            "showSymbol": len(data) < 2,
            "lineStyle": {"color": color, "width": 3, "type": dash},
            "itemStyle": {"color": color},
            **more,
        }

    return {
        "animation": False,
        "backgroundColor": "transparent",
        "grid": {"left": 40, "right": 44, "top": 34, "bottom": 42},
        "legend": {"show": False},
        "tooltip": {"trigger": "axis", "renderMode": "richText", "confine": True},
        "xAxis": build_axis(
            "nodes visited",
            theme["faint"],
            nameLocation="middle",
            nameGap=26,
            min=1,
            max=max(len(session.steps), 10),
            minInterval=1,
        ),
        "yAxis": [
            build_axis("gaps", get_color("igt", dark), minInterval=1),
            build_axis("bits, dashed", get_color("cpt", dark), position="right"),
        ],
        "series": [
            build_line("gaps", gaps, get_color("igt", dark), "solid", 0, step="end"),
            build_line("bits", bits, get_color("cpt", dark), "dashed", 1),
        ],
    }
