"""Pictures of any walk, an agent's or a person's."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from curiograph.files import PathLike, as_path
from curiograph.graph.graph import Graph
from curiograph.growth.gap_loops import gap_loops
from curiograph.growth.measure import measure
from curiograph.progress import Progress, no_progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from curiograph.plotting import DrawnWalk


def plot_walk(graph: Graph, walk: Sequence[Hashable], ax: Axes | None = None) -> Axes:
    """Draw the subgraph that a walk visited, in order of first visit.

    Numbers and shades give the order; the path along links is bold, in the colour of people unless an agent walked it,
    and jumps to where no link leads are dotted. Gaps are outlined while open, and filled once closed. Links of a
    directed graph have arrowheads.

    Parameters
    ----------
    walk : labels, or anything with `nodes`, such as a walk by an agent.
    ax : axes of yours, where it is drawn as large as they are; a new figure without them.

    >>> from curiograph.graph.toys import library
    >>> plot_walk(library(), ["music", "physics", "mathematics"]).get_title()
    '3 nodes, 0 gaps'
    """
    from curiograph.plotting import draw_walk

    return draw_walk(_drawn(graph, walk), ax)


def animate_walk(graph: Graph, walk: Sequence[Hashable], path: PathLike, *, progress: Progress = no_progress) -> None:
    """Write a .gif in which a walk grows node by node, and its growth below; `walk` as for `plot_walk`.

    A walk of more than 60 nodes has 60 frames.
    """
    from curiograph.plotting import save_animation

    save_animation(_drawn(graph, walk), as_path(path), progress)


def _drawn(graph: Graph, walk: Sequence[Hashable]) -> DrawnWalk:
    """What to draw of a walk; compressibility, which takes long, is not."""
    from curiograph.plotting import DrawnGap, DrawnWalk

    entries = list(getattr(walk, "nodes", walk))
    growth = measure(graph, entries, compressibility=False)
    place = {label: number for number, label in enumerate(growth.nodes)}
    firsts = sorted({label: entry for entry, label in reversed(list(enumerate(entries)))}.values())
    rewards = getattr(walk, "rewards", ())
    loops = gap_loops(graph, entries)
    count = int(growth.beta1[-1])
    return DrawnWalk(
        graph,
        growth.nodes,
        [(place[a], place[b]) for a, b in pairwise(entries) if a != b],
        [DrawnGap(loop, gap.opened_at, gap.closed_at) for gap, loop in zip(growth.gaps, loops, strict=True)],
        growth.beta1,
        [rewards[entry - 1] for entry in firsts[1:]] if rewards else [],
        getattr(walk, "reward", ""),
        getattr(walk, "title", f"{len(growth):,} nodes, {count:,} {'gap' if count == 1 else 'gaps'}"),
        "ink" if hasattr(walk, "agent") else "human",
    )
