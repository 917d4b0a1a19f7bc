"""Growth: what a walk, an agent's or a person's, has built up after every step."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, overload

import numpy as np

from curiograph.arrays import Int32, Int64
from curiograph.errors import UnknownNodeError, WalkError
from curiograph.files import PathLike
from curiograph.graph.graph import Graph, as_graph
from curiograph.growth.compute import GrowthArrays, compute_growth
from curiograph.growth.records import Growth, Growths
from curiograph.parallel import Engine, EngineName, Job, Result, resolve_engine, run_job
from curiograph.parallel.chunks import split_by_size
from curiograph.parallel.fingerprint import hash_graph, hash_values
from curiograph.progress import Progress, no_progress
from curiograph.validation import check_integer

_AT_ONCE = 2_000  # walks whose labels are looked up together
_TASK_COST = 5e7
"""Maximum cost of a task, about a second of work; compressibility costs the cube of a walk's length, gaps its length."""


@overload
def measure(graph: Graph, walk: Sequence[Hashable], *, max_dim: int = ..., compressibility: bool = ...) -> Growth: ...
@overload
def measure(
    graph: Graph,
    walk: Sequence[list[Hashable]],
    *,
    max_dim: int = ...,
    compressibility: bool = ...,
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
    engine: EngineName | Engine = "local",
    workers: int | None = None,
    address: str | None = None,
    run: PathLike | None = None,
    progress: Progress = no_progress,
) -> Any:
    """Measure how a walk grows: gaps opened and closed, components, compressibility, after every step.

    Parameters
    ----------
    walk : labels in order of visit. Revisits are allowed: the first visit counts. Consecutive nodes need not be
        neighbours. A list of lists (or of `Walk`s) measures several walks at once and gives `Growths`.
    max_dim : highest dimension of gaps; 2 and above need gudhi.
    compressibility : leave it out for walks of many hundreds of nodes, where it costs n^3 per step.
    engine : who measures many walks: "local", processes of this machine; or "ray", a cluster. The result is the same.
    workers : tasks at a time; None for as many as pay off.
    address : of the cluster; without it one is started on this machine for the job.
    run : folder that keeps what is finished: a killed job goes on where it stopped.
    progress : called with what is done of several walks.

    >>> from curiograph.graph.toys import library
    >>> growth = measure(library(), ["music", "physics", "chemistry", "biology", "philosophy", "logic", "mathematics"])
    >>> growth.beta1.tolist()
    [0, 0, 0, 0, 0, 0, 1]
    """
    as_graph(graph)
    max_dim = check_integer("max_dim", max_dim, 1, "give 1 or a higher whole number")
    walk = getattr(walk, "nodes", walk)
    _check_walk(walk)
    many = len(walk) > 0 and _is_walk(graph, walk[0])
    visits = visits_of(graph, walk if many else [walk], many)
    if not many:
        grown = compute_growth(graph, visits.nodes, visits.offsets, max_dim=max_dim, compressibility=compressibility)
        return Growths(graph, grown, visits.revisits)[0]
    job = _make_job(graph, visits, max_dim, compressibility)
    results = run_job(job, resolve_engine(engine, workers, address, run), progress)
    return Growths(graph, _joined(visits, results), visits.revisits)


@dataclass(frozen=True, eq=False)
class _Measured:
    """Input shared by all tasks; without labels."""

    graph: Graph
    visits: Visits
    max_dim: int
    compressibility: bool


def _make_job(graph: Graph, visits: Visits, max_dim: int, compressibility: bool) -> Job:
    lengths = np.diff(visits.offsets).astype(float)
    tasks = list(split_by_size(lengths**3 if compressibility else 100 * lengths, _TASK_COST))
    rows = graph.skeleton
    return Job(
        name="measure",
        function=_measured,
        shared=_Measured(Graph(rows.indptr, rows.indices), visits, max_dim, compressibility),
        tasks=tasks,
        key=lambda: {
            "graph": hash_graph(rows),
            "walks": hash_values(visits.nodes, visits.offsets),
            "max_dim": max_dim,
            "compressibility": compressibility,
        },
        describe_task=lambda task: f"walks {task[0]} to {task[1] - 1}",
        unit="walks",
        task_sizes=[last - first for first, last in tasks],
        fix="measure the walks in parts",
    )


def _measured(what: _Measured, task: tuple[int, int]) -> Result:
    nodes, offsets = what.visits.part(*task)
    grown = compute_growth(what.graph, nodes, offsets, max_dim=what.max_dim, compressibility=what.compressibility)
    return {"betti": grown.betti, "edges": grown.edges, "bits": grown.bits, "gaps": grown.gaps, "walks": len(grown)}


def _joined(visits: Visits, results: Sequence[Result]) -> GrowthArrays:
    """All walks, from the results of all tasks in order."""
    walks = np.cumsum([0, *(result["walks"] for result in results)])
    gaps = np.concatenate([result["gaps"] for result in results])
    gaps[:, 0] += np.repeat(walks[:-1], [len(result["gaps"]) for result in results]).astype(np.int32)
    betti, edges, bits = (np.concatenate([result[name] for result in results]) for name in ("betti", "edges", "bits"))
    return GrowthArrays(visits.offsets, visits.nodes, betti, edges, bits, gaps)


@dataclass(frozen=True, eq=False)
class Visits:
    """Positions of the first visits of many walks; those of walk i stand at `offsets[i]:offsets[i + 1]`."""

    nodes: Int32
    offsets: Int64
    revisits: Int64
    """Entries of each walk left out because their node had been visited before."""

    def part(self, first: int, last: int) -> tuple[Int32, Int64]:
        """Nodes and offsets of the walks from `first` up to, but not including, `last`."""
        offsets = self.offsets[first : last + 1]
        return self.nodes[offsets[0] : offsets[-1]], offsets - offsets[0]


def visits_of(graph: Graph, walks: Sequence[Any], many: bool = True) -> Visits:
    """The first visits of walks that are given by labels; errors name a walk by its number where there are many.

    >>> from curiograph.graph.toys import cycle
    >>> visits = visits_of(cycle(4), [[3, 2, 3], [0]])
    >>> visits.nodes.tolist(), visits.offsets.tolist(), visits.revisits.tolist()
    ([3, 2, 0], [0, 2, 3], [1, 0])
    """
    numbered = enumerate(getattr(walk, "nodes", walk) for walk in walks)
    parts, lengths, entries = [], [], []
    while some := list(islice(numbered, _AT_ONCE)):
        nodes, counts = _first_visits(graph, some, many)
        parts.append(nodes)
        lengths += counts
        entries += [len(walk) for _, walk in some]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return Visits(np.concatenate(parts), offsets, np.asarray(entries) - np.asarray(lengths))


def _first_visits(graph: Graph, some: list[tuple[int, Any]], many: bool) -> tuple[Int32, list[int]]:
    """Positions of the nodes of some walks, and how many are of each."""
    labels: list[Hashable] = []
    counts = []
    try:
        for number, walk in some:
            _check_entries(walk, number)
            once = dict.fromkeys(_plain(walk))
            labels += once
            counts.append(len(once))
        return graph.positions(labels), counts
    except (TypeError, UnknownNodeError):  # one by one, to name the walk; a label that cannot be hashed is no node
        each = [first_visits(graph, walk, number, many) for number, walk in some]
        return np.concatenate(each), [len(nodes) for nodes in each]


def _is_walk(graph: Graph, item: Any) -> bool:
    """Whether an entry is a walk of its own rather than a label (a tuple may be either: a label wins)."""
    return (
        isinstance(item, (list, np.ndarray))
        or hasattr(item, "nodes")
        or (isinstance(item, tuple) and item not in graph and not isinstance(graph.label(0), tuple))
    )


def by_opening(pair: tuple[int, int | None]) -> tuple[int, float]:
    """The order of gaps: by opening, then by closing, those that stay open last."""
    return pair[0], np.inf if pair[1] is None else pair[1]


def _check_walk(walk: Any) -> None:
    if isinstance(walk, (str, bytes)) or not isinstance(walk, (Sequence, np.ndarray)):
        raise WalkError(f"a walk is a list of node labels; got {walk!r}.")


def _check_entries(walk: Any, number: int) -> None:
    _check_walk(walk)
    if len(walk) == 0:
        raise WalkError(f"walk {number} is empty; a walk needs at least one node.")


def _plain(walk: Any) -> list[Any]:
    """Labels as Python has them, where numpy had them."""
    if isinstance(walk, np.ndarray) and walk.ndim == 1:
        plain: list[Any] = walk.tolist()
        return plain
    return [label.item() if isinstance(label, np.generic) else label for label in walk]


def first_visits(graph: Graph, walk: Any, number: int = 0, many: bool = False) -> Int32:
    """Positions of the nodes of a walk, each once; errors name the walk by its number where there are many."""
    _check_entries(walk, number)
    labels = _plain(walk)
    try:
        return graph.positions(dict.fromkeys(labels))
    except TypeError:  # a label that cannot be hashed is no node, which `positions` says
        return graph.positions(labels)
    except UnknownNodeError as error:
        where = next(place for place, label in enumerate(labels) if label not in graph)
        raise UnknownNodeError(f"walk {number}, entry {where}: {error}" if many else str(error)) from None
