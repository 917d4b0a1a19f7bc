"""`profile`: every measure of the walks of people, one row per walk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from curiograph.errors import SettingError, UnknownNodeError, WalkError
from curiograph.files import PathLike
from curiograph.graph.graph import Graph, as_graph
from curiograph.graph.labels import IntegerLabels, RangeLabels
from curiograph.graph.similarity import Similarity
from curiograph.growth.measure import is_walk
from curiograph.growth.visits import check_walk, find_visits
from curiograph.human.profile.compute import (
    PairSimilarity,
    Sequences,
    are_similarities,
    make_profile_job,
    measure_similarity,
)
from curiograph.human.profile.measures import select_measures
from curiograph.human.profile.results import Profile
from curiograph.human.trajectories import Trajectories
from curiograph.messages import quote_value
from curiograph.parallel import Engine, EngineName, resolve_engine, run_job
from curiograph.progress import Progress, no_progress
from curiograph.skipped import OUTSIDE, Skipped


def profile(
    graph: Graph,
    walks: Any,
    *,
    measures: str | Sequence[str] | None = None,
    similarity: PairSimilarity | None = None,
    lenient: bool = False,
    engine: EngineName | Engine = "local",
    workers: int | None = None,
    address: str | None = None,
    run: PathLike | None = None,
    progress: Progress = no_progress,
) -> Profile:
    """Compute the measures that the literature reports of walks: structure, gaps, sequence, and more.

    Structural measures are those of the undirected subgraph that a whole walk induces. docs/profile.md has all
    definitions, with references.

    Parameters
    ----------
    graph : Graph
        The graph that was walked on.
    walks : Trajectories, Dataset, list of walks, or one walk
        Walks with returns, as for `measure`; immediate repeats are merged.
    measures : str or sequence of str, optional
        Names of measures and of groups of measures: structure, communities, gaps, compression, conformation,
        steps, sequence, meaning. Default: all; those of meaning only if there are weights from 0 to 1 or a
        similarity, and those of steps only on graphs of at most 100,000 nodes.
    similarity : object with a method `compute_pairs`, optional
        Similarity of nodes given by two arrays of positions, at most 1; used instead of weights by `edge_weight` and
        `forward_flow`.
    lenient : bool
        Drop visits of nodes that are not in the graph, and walks without any other visits, instead of raising
        UnknownNodeError; they are counted in `skipped`.
    engine : {"local", "ray"}
        Execution backend: processes of this machine or a Ray cluster. The result is the same.
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
    Profile
        One row per walk, with `to_frame`, `per_user`, `plot` and `styles`.

    Examples
    --------
    >>> from curiograph.graph.toys import library
    >>> walks = [["music", "physics", "chemistry", "physics"], ["logic", "mathematics"]]
    >>> found = profile(library(), walks, measures=["structure", "revisits"])
    >>> found
    Profile(2 walks by 2 users, 8 measures)
    >>> found["nodes"].tolist(), found["revisits"].tolist()
    ([3, 2], [1, 0])
    """
    as_graph(graph)
    used_engine = resolve_engine(engine, workers, address, run)
    if similarity is not None and not isinstance(similarity, PairSimilarity):
        raise SettingError(
            f"similarity is {quote_value(similarity)}; give an object with a method compute_pairs(first, second)."
        )
    if isinstance(similarity, Similarity):
        similarity.check_graph(graph)  # a Similarity of another graph has other nodes at the same positions
    is_bounded = are_similarities(graph.weights)
    selected = select_measures(
        measures,
        has_meaning=similarity is not None or (is_bounded if measures is None else graph.weights is not None),
        num_nodes=graph.num_nodes,
    )
    if "forward_flow" in selected and similarity is None and not is_bounded:
        raise SettingError(
            "forward_flow takes weights as similarities from 0 to 1, and those of this graph are not; scale them, give "
            "similarity= (--texts FILE on the command line), or leave it out."
        )
    people = read_people(graph, walks, lenient=lenient)
    sequences = Sequences(nodes=people.nodes, offsets=people.offsets)
    computed = [name for name in selected if similarity is None or name not in ("edge_weight", "forward_flow")]
    results = run_job(make_profile_job(graph, sequences, computed), used_engine, progress)
    values = {name: np.concatenate([result[name] for result in results]) for name in computed}
    if similarity is not None:
        values |= measure_similarity(graph, sequences, similarity, selected)
    return Profile(graph=graph, walks=people, measures={name: values[name] for name in selected}, similarity=similarity)


def read_people(graph: Graph, walks: Any, *, lenient: bool) -> Trajectories:
    """Return walks in any form that `measure` takes as trajectories on the graph, without empty ones.

    Raise WalkError for an empty walk unless `lenient`, and if no walk is left.
    """
    recorded = getattr(walks, "walks", walks)  # of a Dataset
    if isinstance(recorded, Trajectories):
        try:
            people = recorded.on(graph, strict=not lenient)
        except UnknownNodeError as error:
            raise UnknownNodeError(f"{error} Give lenient=True to drop visits of nodes outside the graph.") from None
    else:
        people = _read_lists(graph, walks, lenient)
    lengths = people.lengths
    if not lengths.all() and not lenient:
        number = int(np.flatnonzero(lengths == 0)[0])
        raise WalkError(f"walk {number} is empty; a walk needs at least one node, or give lenient=True to drop it.")
    if not lengths.any():
        raise WalkError(f"none of the {len(people)} walks visits a node of the graph; check the labels of both.")
    empty = int(np.count_nonzero(lengths == 0))
    if empty:
        people = people[lengths > 0].add_skipped(Skipped(count=empty, reasons={"empty walks": empty}))
    return people


def _read_lists(graph: Graph, walks: Any, lenient: bool) -> Trajectories:
    """Return one or several lists of labels as trajectories on the graph, with a user of its own for each walk."""
    walks = getattr(walks, "nodes", walks)
    check_walk(walks)
    if len(walks) == 0:
        raise WalkError("there are no walks; give at least one walk with at least one node.")
    listed = [walks] if not is_walk(graph, walks[0]) else walks
    outside = int(find_visits(graph, listed, lenient=lenient).outside.sum())  # raises for unknown nodes
    labels = [[label for label in getattr(walk, "nodes", walk) if not lenient or label in graph] for walk in listed]
    people = Trajectories.from_arrays(
        nodes=graph.positions([label for walk in labels for label in walk]),
        offsets=np.cumsum([0, *map(len, labels)]),
        names=graph.names,
        users=np.arange(len(labels)),
        user_names=RangeLabels(len(labels)),
        sessions=np.zeros(len(labels), np.int64),
        session_names=IntegerLabels(np.array([1])),
    )
    return replace(
        people, skipped=people.skipped + Skipped(count=outside, reasons={OUTSIDE: outside} if outside else {})
    )
