"""Measure how walks grow knowledge: gaps, components, compressibility and degrees of freedom after every step."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np

from curiograph.errors import GraphError, WalkError
from curiograph.files import PathLike
from curiograph.graph.graph import Graph, as_graph
from curiograph.growth.compute import GrowthArrays, compute_growth
from curiograph.growth.records import Growth, Growths, Walkers
from curiograph.growth.visits import (
    HasRecordedWalks,
    RecordedWalks,
    Visits,
    check_walk,
    find_first_visits,
    find_visits,
    match_visits,
)
from curiograph.parallel import Engine, EngineName, Job, Result, resolve_engine, run_job
from curiograph.parallel.chunks import split_by_size
from curiograph.parallel.fingerprint import hash_graph, hash_values
from curiograph.progress import Progress, no_progress
from curiograph.skipped import OUTSIDE, Skipped
from curiograph.validation import check_integer

_TASK_COST = 5e7
"""Maximum cost of a task, about a second; compressibility costs the cube of a walk's length, gaps its length."""


@overload
def measure(
    graph: Graph,
    walk: Sequence[Hashable],
    *,
    max_dim: int = ...,
    compressibility: bool = ...,
    weighted: bool = ...,
    lenient: bool = ...,
) -> Growth: ...
@overload
def measure(
    graph: Graph,
    walk: Sequence[list[Hashable]] | RecordedWalks | HasRecordedWalks,
    *,
    max_dim: int = ...,
    compressibility: bool = ...,
    weighted: bool = ...,
    lenient: bool = ...,
    engine: EngineName | Engine = ...,
    workers: int | None = ...,
    address: str | None = ...,
    run: PathLike | None = ...,
    progress: Progress = ...,
) -> Growths: ...
def measure(
    graph: Graph,
    walk: Any,
    *,
    max_dim: int = 1,
    compressibility: bool = True,
    weighted: bool = False,
    lenient: bool = False,
    engine: EngineName | Engine = "local",
    workers: int | None = None,
    address: str | None = None,
    run: PathLike | None = None,
    progress: Progress = no_progress,
) -> Any:
    """Measure how a walk grows: gaps, components, compressibility and degrees of freedom of the visited subgraph.

    Parameters
    ----------
    graph : Graph
        The graph that was walked on; the direction of its edges is ignored, and so are their weights unless `weighted`.
    walk : sequence of labels, Walk, list of these, Trajectories or Dataset
        Labels in order of visit. Only the first visit of a node counts, and consecutive nodes need not be neighbors. A
        list of walks is measured at once, and so are all walks of `Trajectories` or of a `Dataset`, which keep their
        users and sessions.
    max_dim : int
        Highest dimension of gaps; 2 and above need gudhi.
    compressibility : bool
        Compute compressibility, which takes time proportional to the cube of a walk's length at every step.
    weighted : bool
        Compute compressibility with the weights of edges, for example similarities, as `cg.compressibility` does for
        the visited subgraph: self-loops have weight 1, and of two directions the larger weight counts. Gaps,
        components and edges are those of the unweighted subgraph; `measure_persistence` measures gaps over weights.
    lenient : bool
        Drop visits of nodes that are not in the graph, and walks without any other visits, instead of raising
        UnknownNodeError. `Growth.outside` and `Growths.skipped` count them.
    engine : {"local", "ray"}
        Execution backend for several walks: processes of this machine or a Ray cluster. The result is the same.
    workers : int, optional
        Number of parallel tasks; chosen automatically by default.
    address : str, optional
        Address of a Ray cluster; by default one is started on this machine.
    run : str or path, optional
        Folder that stores finished tasks, so that an interrupted job can be resumed.
    progress : callable
        Called with a message and the completed share.

    Returns
    -------
    Growth or Growths
        The growth of one walk, or of all walks, after every step.

    Warns
    -----
    UserWarning
        If the default changes the method for compressibility within a walk, or an explicit heuristic gives a negative
        value.

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
    max_dim = check_integer("max_dim", max_dim, 1, "give 1 or a higher whole number")
    if weighted and graph.weights is None:
        raise GraphError(
            "the graph has no weights; give a weighted graph, such as Similarity.from_texts(graph).weigh(graph) "
            "(--texts FILE on the command line), or leave out weighted."
        )
    used_engine = resolve_engine(engine, workers, address, run)
    visits, walkers, is_single = read_visits(graph, walk, lenient)
    if is_single and run is None:
        grown = compute_growth(
            graph,
            visits.nodes,
            visits.offsets,
            max_dim=max_dim,
            compressibility=compressibility,
            weighted=weighted,
        )
        return Growths(graph, grown, walkers)[0]
    results = run_job(_make_job(graph, visits, max_dim, compressibility, weighted), used_engine, progress)
    growths = Growths(graph, concatenate_results(visits, results), walkers)
    return growths[0] if is_single else growths


def read_visits(graph: Graph, walk: Any, lenient: bool) -> tuple[Visits, Walkers, bool]:
    """Return the first visits of walks as `measure` takes them, who took them, and whether it is a single walk."""
    recorded = getattr(walk, "walks", walk)  # of a Dataset
    if isinstance(recorded, RecordedWalks):
        is_single = False
        visits = match_visits(graph, recorded, lenient=lenient)
        visits, walkers = _drop_empty_walks(visits, _list_walkers(recorded, visits), lenient)
    else:
        walk = getattr(walk, "nodes", walk)
        check_walk(walk)
        is_single = len(walk) == 0 or not is_walk(graph, walk[0])
        if is_single and not lenient:
            nodes = find_first_visits(graph, walk)
            revisits = np.array([len(walk) - len(nodes)])
            visits = Visits(nodes, offsets=np.array([0, len(nodes)]), revisits=revisits, outside=np.zeros(1, np.int64))
        else:
            visits = find_visits(graph, [walk] if is_single else walk, lenient=lenient)
        visits, walkers = _drop_empty_walks(visits, _number_walkers(visits), lenient)
    return visits, walkers, is_single


def _list_walkers(walks: RecordedWalks, visits: Visits) -> Walkers:
    """Return who took each of the recorded walks."""
    outside = int(visits.outside.sum())
    return Walkers(
        users=[walks.user_names[user] for user in walks.users.tolist()],
        sessions=[walks.session_names[session] for session in walks.sessions.tolist()],
        revisits=visits.revisits,
        outside=visits.outside,
        user_columns={
            name: {walks.user_names[user]: values[user] for user in np.unique(walks.users).tolist()}
            for name, values in walks.user_columns.items()
        },
        skipped=walks.skipped
        + Skipped(count=outside, reasons={OUTSIDE: outside} if outside else {}, repeats=visits.repeats),
    )


def _number_walkers(visits: Visits) -> Walkers:
    """Return a user of its own for each walk, named by the number of the walk."""
    outside = int(visits.outside.sum())
    return Walkers(
        users=range(len(visits.outside)),
        sessions=[1] * len(visits.outside),
        revisits=visits.revisits,
        outside=visits.outside,
        user_columns={},
        skipped=Skipped(count=outside, reasons={OUTSIDE: outside} if outside else {}),
    )


def _drop_empty_walks(visits: Visits, walkers: Walkers, lenient: bool) -> tuple[Visits, Walkers]:
    """Leave out the walks without visits if `lenient`; otherwise they raise WalkError, and so does having no walks."""
    lengths = np.diff(visits.offsets)
    if len(lengths) and lengths.all():
        return visits, walkers
    if not lenient and len(lengths):
        number = int(np.flatnonzero(lengths == 0)[0])
        raise WalkError(f"walk {number} is empty; a walk needs at least one node, or give lenient=True to drop it.")
    kept = np.flatnonzero(lengths)
    if not len(kept):
        raise WalkError(f"none of the {len(lengths)} walks visits a node of the graph; check the labels of both.")
    kept_visits = Visits(
        nodes=visits.nodes,
        offsets=np.concatenate([[0], np.cumsum(lengths[kept])]),
        revisits=visits.revisits[kept],
        outside=visits.outside[kept],
    )
    dropped = Skipped(count=len(lengths) - len(kept), reasons={"empty walks": len(lengths) - len(kept)})
    return kept_visits, replace(
        walkers,
        users=[walkers.users[number] for number in kept.tolist()],
        sessions=[walkers.sessions[number] for number in kept.tolist()],
        revisits=visits.revisits[kept],
        outside=visits.outside[kept],
        skipped=walkers.skipped + dropped,
    )


def is_walk(graph: Graph, item: Any) -> bool:
    """Return whether the first entry is a walk rather than a label; a tuple that is a label counts as a label."""
    return (
        isinstance(item, (list, np.ndarray))
        or hasattr(item, "nodes")
        or (isinstance(item, tuple) and item not in graph and not isinstance(graph.label(0), tuple))
    )


STEP_ARRAYS = ("betti", "edges", "bits", "dimension", "freedom")
"""Arrays of `GrowthArrays` that a task computes, with a row per step; part of the key of a stored job."""
SharedInput = tuple[Graph, Visits, int, bool]
"""Input of all tasks of a job: the graph without labels, the visits, `max_dim` and `compressibility`.

The graph has weights if they count."""


def _make_job(graph: Graph, visits: Visits, max_dim: int, compressibility: bool, weighted: bool) -> Job:
    lengths = np.diff(visits.offsets).astype(float)
    tasks = list(split_by_size(lengths**3 if compressibility else 100 * lengths, _TASK_COST))
    skeleton = graph.skeleton
    weights = graph.skeleton_weights if weighted else None
    return Job(
        name="measure",
        function=measure_task,
        shared=(Graph(skeleton.indptr, skeleton.indices, weights), visits, max_dim, compressibility),
        tasks=tasks,
        key=lambda: {
            "graph": hash_graph(skeleton),
            "walks": hash_values(visits.nodes, visits.offsets),
            "max_dim": max_dim,
            "compressibility": compressibility,
            "arrays": STEP_ARRAYS,
            **({} if weights is None else {"weights": hash_values(weights)}),
        },
        describe_task=lambda task: f"walks {task[0]} to {task[1] - 1}",
        unit="walks",
        task_sizes=[last - first for first, last in tasks],
        fix="measure the walks in parts",
    )


def measure_task(shared: SharedInput, task: tuple[int, int]) -> Result:
    """Compute the growth of the walks `task[0]` to `task[1] - 1`."""
    graph, visits, max_dim, compressibility = shared
    nodes, offsets = visits.select(*task)
    weighted = graph.weights is not None
    grown = compute_growth(graph, nodes, offsets, max_dim=max_dim, compressibility=compressibility, weighted=weighted)
    return {name: getattr(grown, name) for name in STEP_ARRAYS} | {"gaps": grown.gaps, "walks": len(grown)}


def concatenate_results(visits: Visits, results: Sequence[Result]) -> GrowthArrays:
    """Concatenate the results of all tasks, in order."""
    first_walks = np.cumsum([0, *(result["walks"] for result in results)])[:-1]
    gaps = np.concatenate([result["gaps"] for result in results])
    gaps[:, 0] += np.repeat(first_walks, [len(result["gaps"]) for result in results]).astype(np.int32)
    return GrowthArrays(
        offsets=visits.offsets,
        nodes=visits.nodes,
        gaps=gaps,
        **{name: np.concatenate([result[name] for result in results]) for name in STEP_ARRAYS},
    )
