"""Plots and animations of walks, by agents or by people."""

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
    """Plot the subgraph that a walk visited, in order of first visit.

    Numbers and shades show the order. The path along edges is bold, in the color of people unless an agent walked it;
    jumps between nodes that are not neighbors are dotted. Open gaps are outlined, closed gaps are filled. Edges of a
    directed graph have arrowheads.

    Parameters
    ----------
    graph : Graph
        The graph that was walked on.
    walk : sequence of labels, or Walk
        The visited nodes; revisits are allowed.
    ax : matplotlib Axes, optional
        Axes to draw on, at their size; a new figure by default.

    Returns
    -------
    Axes
        The axes with the plot.

    Examples
    --------
    >>> from curiograph.graph.toys import library
    >>> plot_walk(library(), ["music", "physics", "mathematics"]).get_title()
    '3 nodes, 0 gaps'
    """
    from curiograph.plotting import draw_walk

    return draw_walk(_prepare_walk(graph, walk), ax)


def animate_walk(graph: Graph, walk: Sequence[Hashable], path: PathLike, *, progress: Progress = no_progress) -> None:
    """Write a .gif animation in which a walk grows node by node, with its growth below.

    Parameters
    ----------
    graph : Graph
        The graph that was walked on.
    walk : sequence of labels, or Walk
        The visited nodes; a walk of more than 60 nodes has 60 frames.
    path : str or path
        File to write; its name must end in .gif.
    progress : callable
        Called with a message and the completed share.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from curiograph.graph.toys import cycle
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     animate_walk(cycle(4), [0, 1], Path(folder) / "walk.gif")
    ...     (Path(folder) / "walk.gif").exists()
    True
    """
    from curiograph.plotting import save_animation

    save_animation(_prepare_walk(graph, walk), as_path(path), progress)


def _prepare_walk(graph: Graph, walk: Sequence[Hashable]) -> DrawnWalk:
    """Collect what the plots show of a walk; compressibility, which is slow, is not shown."""
    from curiograph.plotting import DrawnGap, DrawnWalk

    entries = list(getattr(walk, "nodes", walk))
    growth = measure(graph, entries, compressibility=False)
    place = {label: number for number, label in enumerate(growth.nodes)}
    first_entries = sorted({label: entry for entry, label in reversed(list(enumerate(entries)))}.values())
    rewards = getattr(walk, "rewards", ())
    loops = gap_loops(graph, entries)
    count = int(growth.beta1[-1])
    return DrawnWalk(
        graph=graph,
        nodes=growth.nodes,
        moves=[(place[a], place[b]) for a, b in pairwise(entries) if a != b],
        gaps=[DrawnGap(loop, gap.opened_at, gap.closed_at) for gap, loop in zip(growth.gaps, loops, strict=True)],
        beta1=growth.beta1,
        rewards=[rewards[entry - 1] for entry in first_entries[1:]] if rewards else [],
        reward=getattr(walk, "reward", ""),
        title=getattr(walk, "title", f"{len(growth):,} nodes, {count:,} {'gap' if count == 1 else 'gaps'}"),
        color="ink" if hasattr(walk, "agent") else "human",
    )
