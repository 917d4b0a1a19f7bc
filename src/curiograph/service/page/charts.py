"""What the browser draws, as options of ECharts: the visited subgraph with its gaps, and the growth of the walk.

Names of nodes reach the browser as data alone: no text here becomes HTML, and tooltips are drawn, not marked up.
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

NAMED = 60
"""Nodes up to which all carry their name; beyond, only the last ones do."""
_RECENT = 12
_EDGE = 1.4
"""How far the picture reaches: the candidates around a node at its rim are still in it."""
_INSET = 0.16
"""How far a loop is drawn inside the nodes that it joins."""
_LOOPS = 40
"""Gaps that are drawn, the newest; the panel lists more."""
_OFFERED = 16
"""Candidates that are drawn; the table has all."""

_LOOP = """(params, api) => {
  const points = [];
  for (let i = 2; i < api.value(1) * 2 + 2; i += 2) points.push(api.coord([api.value(i), api.value(i + 1)]));
  const closed = api.value(0) === 1, fresh = api.value(0) === 2;
  return {type: 'polygon', silent: true, shape: {points: points},
          style: {fill: closed ? COLOUR : 'none', opacity: closed ? 0.14 : fresh ? 1 : OLD,
                  stroke: closed ? 'none' : COLOUR, lineWidth: fresh ? 4 : 2, lineJoin: 'round'}};
}"""


def get_theme(dark: bool) -> dict[str, str]:
    """Colours of texts and lines, by what lies behind them."""
    return (
        {"text": "#E6E6E6", "faint": "#9A9A9A", "line": "#777777", "edge": "#6A6A6A", "paper": "#121212"}
        if dark
        else {"text": "#222222", "faint": "#666666", "line": "#BBBBBB", "edge": "#B5B5B5", "paper": "#FFFFFF"}
    )


def colour_of(by: str, reward: str, dark: bool) -> str:
    """The colour of a step: yours, that of the reward that the agent went for, or none for the start."""
    return get_color({YOU: "human", "start": "quiet"}.get(by, reward), dark)


def build_subgraph_options(walking: WalkSession, dark: bool) -> dict[str, Any]:
    """The visited subgraph in order of visit, with a loop around every gap, and where the walk may go next."""
    axis = {"type": "value", "show": False, "min": -_EDGE, "max": _EDGE}
    return {
        "animationDurationUpdate": 250,
        "animationDuration": 0,
        "backgroundColor": "transparent",
        "aria": {"enabled": True, "label": {"description": described(walking)}},
        "grid": {"left": 0, "right": 0, "top": 0, "bottom": 0},
        "tooltip": {"renderMode": "richText", "confine": True},
        "xAxis": axis,
        "yAxis": dict(axis),
        "series": [_loops(walking, dark), _graph(walking, dark)],
    }


def described(walking: WalkSession) -> str:
    """The picture in words, for those who cannot see it."""
    gaps = int(walking.growth.beta1[-1])
    return (
        f"{len(walking.taken)} nodes visited, {len(walking.edges)} links between them, {gaps} open gaps; "
        f"the walk stands at {encode_label(walking.nodes[-1])}."
    )


def _loops(walking: WalkSession, dark: bool) -> dict[str, Any]:
    """Open gaps as outlines, the newest bold; closed ones filled."""
    where = dict(zip(walking.nodes, walking.places.tolist(), strict=True))
    newest = len(walking.taken)
    rows = []
    for gap, loop in walking.loops[-_LOOPS:]:
        kind = 1 if gap.closed_at is not None else 2 if gap.opened_at == newest else 0
        corners = np.array([where[node] for node in loop])
        inside = corners.mean(axis=0) * _INSET + corners * (1 - _INSET)  # not on top of the links it runs along
        rows.append([kind, len(loop), *inside.ravel().round(4).tolist()])
    longest = max(map(len, rows), default=2)
    return {
        "type": "custom",
        "name": "gaps",
        "silent": True,
        "z": 1,
        "dimensions": [f"d{place}" for place in range(longest)],
        "data": [row + [0] * (longest - len(row)) for row in rows],
        "encode": {"x": [], "y": []},
        ":renderItem": _LOOP.replace("COLOUR", f"'{get_color('igt', dark)}'").replace(
            "OLD", "0.5" if len(rows) <= 12 else "0.25"
        ),
    }


def _graph(walking: WalkSession, dark: bool) -> dict[str, Any]:
    inks = get_theme(dark)
    count = len(walking.taken)
    size = 18 if count <= NAMED else 11
    nodes = [_visited(walking, step, size, dark) for step in range(count)]
    edges = _links(walking, dark) + _jumps(walking)
    offered, dashes = _offered(walking, dark)
    return {
        "type": "graph",
        "name": "walk",
        "coordinateSystem": "cartesian2d",
        "z": 2,
        "roam": False,
        "cursor": "pointer",
        "data": nodes + offered,
        "links": edges + dashes,
        "lineStyle": {"color": inks["edge"], "width": 1, "opacity": 0.7},
        "label": {"color": inks["text"], "fontSize": 11, "textBorderColor": inks["paper"], "textBorderWidth": 2},
        "emphasis": {"focus": "none", "scale": 1.1},
        "labelLayout": {"hideOverlap": True},
    }


def _visited(walking: WalkSession, step: int, size: int, dark: bool) -> dict[str, Any]:
    inks = get_theme(dark)
    taken, count = walking.taken[step], len(walking.taken)
    last = step == count - 1
    named = count <= NAMED or step >= count - _RECENT or step == 0
    colour = colour_of(taken.by, walking.reward, dark)
    x, y = walking.places[step]
    return {
        "id": f"v{step}",
        "name": f"{step + 1} {shorten_text(str(encode_label(taken.node)), 28)}",
        "value": [round(float(x), 4), round(float(y), 4)],
        "symbol": {"start": "diamond", YOU: "rect"}.get(taken.by, "circle"),
        "symbolSize": size * (1.5 if last else 1.0),
        "itemStyle": {"color": colour, "borderColor": inks["text"] if last else inks["paper"], "borderWidth": 2},
        "label": {"show": named, "position": "left" if x > 0.4 else "right"}
        | ({"fontSize": 12, "fontWeight": "bold"} if last else {}),
        "tooltip": {"formatter": _told(walking, step)},
    }


def _told(walking: WalkSession, step: int) -> str:
    """What a tooltip says of a visited node; braces would mean something to ECharts."""
    taken = walking.taken[step]
    lines = [f"{step + 1}. {encode_label(taken.node)}", "the start" if taken.by == "start" else f"chosen by {taken.by}"]
    lines += [f"{motive}: {value:.0%}" for motive, value in taken.percentiles.items() if not math.isnan(value)]
    return plain("\n".join(lines))


def plain(text: str) -> str:
    """A text in which ECharts finds no placeholder and no style.

    >>> plain("{a|x}")
    '(a¦x)'
    """
    return text.translate({ord("{"): "(", ord("}"): ")", ord("|"): "¦"})


def _links(walking: WalkSession, dark: bool) -> list[dict[str, Any]]:
    """Links between visited nodes; those that were walked are bold."""
    names = [f"v{step}" for step in range(len(walking.taken))]
    links: list[dict[str, Any]] = [{"source": names[a], "target": names[b]} for a, b in walking.edges]
    for link, (a, b) in zip(links, walking.edges, strict=True):
        if b == a + 1:
            colour = get_color("human", dark) if walking.taken[b].by == YOU else get_theme(dark)["text"]
            link["lineStyle"] = {"color": colour, "width": 3, "opacity": 0.95}
    return links


def _jumps(walking: WalkSession) -> list[dict[str, Any]]:
    """Steps that follow no link between the two: at a dead end a walk goes on from anywhere it has been."""
    linked = set(walking.edges)
    return [
        {
            "source": f"v{step - 1}",
            "target": f"v{step}",
            "lineStyle": {"color": COLORS["quiet"], "width": 1.5, "type": "dotted"},
        }
        for step in range(1, len(walking.taken))
        if (step - 1, step) not in linked
    ]


def _offered(walking: WalkSession, dark: bool) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The most valued candidates, in a fan around the last node; a click goes there."""
    seen, count, inks = walking.seen, len(walking.taken), get_theme(dark)
    values = seen.values.get(walking.reward, seen.values["igt"])
    best = sorted(range(len(seen.nodes)), key=lambda i: (-values[i], -seen.values["pagerank"][i]))[:_OFFERED]
    x, y = walking.places[-1]
    reach = 0.34 if count > 1 else 0.75
    nodes, links = [], []
    for turn, i in enumerate(best):
        angle = 2 * math.pi * turn / len(best) + 0.4
        chosen = seen.nodes[i] == seen.choice
        nodes.append(
            {
                "id": f"c{count}-{i}",
                "name": shorten_text(str(encode_label(seen.nodes[i])), 28),
                "value": [round(float(x) + reach * math.cos(angle), 4), round(float(y) + reach * math.sin(angle), 4)],
                "symbolSize": 11,
                "itemStyle": {
                    "color": inks["paper"],
                    "borderColor": get_color(walking.reward, dark) if chosen else inks["faint"],
                    "borderWidth": 3 if chosen else 2,
                },
                "label": {"show": count == 1, "position": "right", "color": inks["faint"], "fontSize": 10},
                "tooltip": {"formatter": plain(f"{encode_label(seen.nodes[i])}\nclick to go there")},
            }
        )
        style = {"color": inks["line"], "width": 1, "type": "dashed", "opacity": 0.6}
        links.append({"source": f"v{count - 1}", "target": f"c{count}-{i}", "lineStyle": style})
    return nodes, links


def build_growth_options(walking: WalkSession, dark: bool) -> dict[str, Any]:
    """Gaps as steps and compressibility as a dashed line, over the nodes visited."""
    inks, count = get_theme(dark), len(walking.taken)
    bits = [[step, round(value, 4)] for step, value in enumerate(walking.bits, start=1) if not math.isnan(value)]
    gaps = [[step, value] for step, value in enumerate(walking.growth.beta1.tolist(), start=1)]

    def axis(name: str, colour: str, **more: Any) -> dict[str, Any]:
        return {
            "type": "value",
            "name": name,
            "nameTextStyle": {"color": colour},
            "axisLabel": {"color": inks["faint"]},
            "axisLine": {"lineStyle": {"color": inks["line"]}},
            "min": 0,
            "splitLine": {"show": False},
            **more,
        }

    return {
        "animation": False,
        "backgroundColor": "transparent",
        "grid": {"left": 40, "right": 44, "top": 34, "bottom": 42},
        "legend": {"show": False},
        "tooltip": {"trigger": "axis", "renderMode": "richText", "confine": True},
        "xAxis": axis("nodes visited", inks["faint"], nameLocation="middle", nameGap=26, min=1, max=max(count, 10))
        | {"minInterval": 1},
        "yAxis": [
            axis("gaps", get_color("igt", dark), minInterval=1),
            axis("bits, dashed", get_color("cpt", dark), position="right"),
        ],
        "series": [
            _line("gaps", gaps, get_color("igt", dark), "solid", 0, step="end"),
            _line("bits", bits, get_color("cpt", dark), "dashed", 1),
        ],
    }


def _line(name: str, data: list[list[float]], colour: str, dash: str, axis: int, **more: Any) -> dict[str, Any]:
    return {
        "type": "line",
        "name": name,
        "data": data,
        "yAxisIndex": axis,
        "showSymbol": len(data) < 2,
        "lineStyle": {"color": colour, "width": 3, "type": dash},
        "itemStyle": {"color": colour},
        **more,
    }
