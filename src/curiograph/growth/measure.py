"""Measure how walks grow knowledge: gaps, components, compressibility and degrees of freedom after every step."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from curiograph.graph.graph import Graph, as_graph
from curiograph.growth.compute import GrowthArrays, compute_growth
from curiograph.growth.first_visits import FirstVisits, find_first_visits, is_recorded, is_single, read_walks
from curiograph.growth.records import Growth, Growths
from curiograph.parallel import Engine, EngineName, as_engine
from curiograph.parallel.chunks import split_by_size
from curiograph.progress import Progress, no_progress

if TYPE_CHECKING:
    from curiograph.human.trajectories import Trajectories

_TASK_COST = 5e7
"""Maximum cost of a task, about a second; compressibility costs the cube of a walk's length, gaps its length."""


@overload
def measure(graph: Graph, walk: Sequence[Hashable], *, compressibility: bool = ...) -> Growth: ...
@overload
def measure(
    graph: Graph,
    walk: Sequence[list[Hashable]] | Trajectories,
    *,
    compressibility: bool = ...,
    engine: EngineName | Engine = ...,
    progress: Progress = ...,
) -> Growths: ...
def measure(
    graph: Graph,
    walk: Any,
    *,
    compressibility: bool = True,
    engine: EngineName | Engine = "local",
    progress: Progress = no_progress,
) -> Any:
    """Measure how a walk grows: gaps, components, compressibility and degrees of freedom of the visited subgraph.

    Parameters
    ----------
    graph : Graph
        The graph that was walked on; the direction and the weights of its edges are ignored.
    walk : sequence of labels, Walk, list of these, or Trajectories
        Labels in order of visit. Only the first visit of a node counts, and consecutive nodes need not be neighbors. A
        list of walks is measured at once, and so are all walks of `Trajectories`, which keep their users and sessions;
        their visits of nodes outside the graph are dropped and counted in `skipped`.
    compressibility : bool
        Compute compressibility, which takes time proportional to the cube of a walk's length at every step. As in
        `rate_distortion`, all pairs of clusters are evaluated up to 100 visited nodes, and a selection beyond: the
        curve of a longer walk may rise at 101 nodes.
    engine : {"local", "ray"} or Engine
        Where several walks are measured; the result is the same.
    progress : callable
        Called with a message and the completed share.

    Returns
    -------
    Growth or Growths
        The growth of one walk, or of all walks, after every step.

    Examples
    --------
    >>> from curiograph.graph.toys import library
    >>> growth = measure(library(), ["music", "physics", "chemistry", "biology", "philosophy", "logic", "mathematics"])
    >>> growth.beta1.tolist()
    [0, 0, 0, 0, 0, 0, 1]
    >>> from curiograph.human import Trajectories
    >>> people = Trajectories.from_walks([["music", "dance"], ["logic"], ["poetry"]], users=["ann", "ann", "bob"])
    >>> growths = measure(library(), people)
    >>> growths.users, growths.sessions
    (['ann', 'ann', 'bob'], [1, 2, 1])
    """
    as_graph(graph)
    if not is_recorded(walk) and is_single(graph, walk):
        nodes = find_first_visits(graph, walk)
        grown = compute_growth(graph, nodes, np.array([0, len(nodes)]), compressibility=compressibility)
        return Growth.from_arrays(graph, grown, 0, len(getattr(walk, "nodes", walk)) - len(nodes))
    visits = read_walks(graph, walk)
    skeleton = Graph(graph.skeleton.indptr, graph.skeleton.indices)  # without labels
    lengths = np.diff(visits.offsets).astype(float)
    tasks = list(split_by_size(lengths**3 if compressibility else 100 * lengths, _TASK_COST))
    parts = as_engine(engine).map(
        measure_part, (skeleton, visits.nodes, visits.offsets, compressibility), tasks,
        name="measure", key=[skeleton, visits.nodes, visits.offsets, compressibility],
        unit="walks", sizes=[last - first for first, last in tasks], progress=progress,
    )  # fmt: skip
    return Growths(graph, join_parts(visits, parts), visits.revisits, visits.people, visits.skipped)


def measure_part(shared: tuple[Graph, Any, Any, bool], task: tuple[int, int]) -> dict[str, Any]:
    """Compute the growth of the walks `task[0]` to `task[1] - 1`."""
    graph, nodes, offsets, compressibility = shared
    first, last = offsets[task[0]], offsets[task[1]]
    grown = compute_growth(
        graph, nodes[first:last], offsets[task[0] : task[1] + 1] - first, compressibility=compressibility
    )
    return {name: values for name, values in vars(grown).items() if name not in ("offsets", "nodes")} | {
        "gaps": grown.gaps + np.array([task[0], 0, 0])
    }


def join_parts(visits: FirstVisits, parts: Sequence[Mapping[str, Any]]) -> GrowthArrays:
    """Concatenate the growth of all parts, in order."""
    arrays = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return GrowthArrays(offsets=visits.offsets, nodes=visits.nodes, **arrays)
