"""Do walks of people grow other than chance would have it: gaps and compressibility against null models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph import kernels
from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import SettingError, UnknownNameError, WalkError
from curiograph.exploration.mdp import begin
from curiograph.files import PathLike
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph
from curiograph.human.choices.bootstrap import Estimate, estimate_means, resample_means, sum_by_user
from curiograph.human.choices.choice_sets import align_walks
from curiograph.human.trajectories import Trajectories
from curiograph.messages import quote_value
from curiograph.optional import import_optional
from curiograph.parallel import Engine, EngineName, Job, Result, resolve_engine, run_job
from curiograph.parallel.fingerprint import hash_graph, hash_values
from curiograph.progress import Progress, no_progress
from curiograph.rewards.cpt import CompressibilityTracker
from curiograph.rewards.igt import GapTracker
from curiograph.validation import check_integer, check_seed

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

HUMAN = "human"
_SWAPS = 10  # tries per edge
_GROUPS = 10  # of nodes by degree, as equal in size as equal degrees allow
_VISIT = 200  # bytes that a visit takes while a walk is measured
_QUANTITIES = {"gaps": "information gaps", "bits": "compressibility (bits)"}
_COLOURS = {"rewired": "beam", "random-walk": "max-degree", "unbiased": "random", "shuffled": "greedy"}

Grown = Mapping[str, Float64]
"""Walks x steps for each quantity."""


@dataclass(frozen=True, eq=False)
class Curve:
    """A quantity after every step, mean over walks, with the standard error over users."""

    mean: Float64
    stderr: Float64


@dataclass(frozen=True, eq=False)
class NullModel:
    """Walks of a null model beside those of people."""

    name: str
    curves: dict[str, Curve]
    """Of `gaps` and of `bits`, mean over the replicates of each walk."""
    excess: dict[str, list[Estimate]]
    """By how much people are above it after every step, walk by walk."""
    area: dict[str, Estimate]
    """Mean of the excess over all steps."""

    @property
    def answer(self) -> str:
        """What was found, in one sentence."""
        told = [_told(quantity, area) for quantity, area in self.area.items()]
        return f"Against {self.name}, walks of people show {' and '.join(told)}."


def _told(quantity: str, area: Estimate) -> str:
    if not area.clear:
        return f"no clear difference in {quantity} ({area.low:.3g} to {area.high:.3g})"
    size = Estimate(abs(area.value), *sorted((abs(area.low), abs(area.high))))
    return f"{size} {'more' if area.value > 0 else 'fewer'} {quantity}"


@dataclass(frozen=True, eq=False)
class GrowthComparison(Mapping[str, NullModel]):
    """Null models by name, and what they are compared with.

    >>> from curiograph.graph.toys import cycle
    >>> walks = Trajectories.from_walks([[0, 1, 2, 3], [2, 3, 0, 1]], graph=cycle(4))
    >>> found = compare_growth(cycle(4), walks, nulls=["shuffled"], steps=4)
    >>> found.human["gaps"].mean.tolist(), found["shuffled"].excess["gaps"][-1].value
    ([0.0, 0.0, 0.0, 1.0], 0.0)
    """

    nulls: dict[str, NullModel]
    human: dict[str, Curve]
    """Of `gaps` and of `bits`."""
    walks: int
    """Walks that go far enough, or were drawn of those."""
    users: int
    steps: int
    replicates: int

    def __getitem__(self, name: str) -> NullModel:
        return self.nulls[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.nulls)

    def __len__(self) -> int:
        return len(self.nulls)

    def columns(self) -> dict[str, list[Any]]:
        """One entry per null model and step, the start being step 0: both means, and the excess with its bounds."""
        columns: dict[str, list[Any]] = {
            "null": [name for name in self for _ in range(self.steps)],
            "step": list(range(self.steps)) * len(self),
        }
        for quantity in _QUANTITIES:
            columns[f"human_{quantity}"] = self.human[quantity].mean.tolist() * len(self)
            columns[f"null_{quantity}"] = [x for null in self.values() for x in null.curves[quantity].mean.tolist()]
            excess = [each for null in self.values() for each in null.excess[quantity]]
            columns[f"excess_{quantity}"] = [each.value for each in excess]
            columns[f"excess_{quantity}_low"] = [each.low for each in excess]
            columns[f"excess_{quantity}_high"] = [each.high for each in excess]
        return columns

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        about = {"walks": self.walks, "users": self.users, "steps": self.steps, "replicates": self.replicates}
        nulls = [
            {
                "null": null.name,
                "answer": null.answer,
                **{name: _plain(null.curves[name]) for name in _QUANTITIES},
                "excess": {name: [asdict(each) for each in null.excess[name]] for name in _QUANTITIES},
                "area": {name: asdict(null.area[name]) for name in _QUANTITIES},
            }
            for null in self.values()
        ]
        return {**about, HUMAN: {name: _plain(self.human[name]) for name in _QUANTITIES}, "nulls": nulls}

    def to_frame(self) -> pd.DataFrame:
        """One row per null model and step as a pandas frame (`pip install curiograph[frame]`)."""
        return import_optional("pandas", "frame", "Frames").DataFrame(self.columns())

    def plot(self) -> Figure:
        """A panel for gaps and one for compressibility, with a line for people and one for each null model."""
        from curiograph.plotting import plot_panels

        lines = {HUMAN: self.human} | {name: null.curves for name, null in self.items()}
        panels = {
            title: {name: (curves[quantity].mean, curves[quantity].stderr) for name, curves in lines.items()}
            for quantity, title in _QUANTITIES.items()
        }
        notes = dict.fromkeys(lines, f"{self.walks:,} walks, {self.replicates} times")
        notes[HUMAN] = f"{self.walks:,} walks by {self.users:,} users"
        return plot_panels(panels, "step", {name: _COLOURS.get(name, name) for name in lines}, notes)


def _plain(curve: Curve) -> dict[str, list[float]]:
    return {"mean": curve.mean.tolist(), "stderr": curve.stderr.tolist()}


def compare_growth(
    graph: Graph,
    walks: Trajectories,
    *,
    nulls: Sequence[str] = ("rewired", "random-walk", "unbiased", "shuffled"),
    steps: int = 10,
    most: int = 1000,
    replicates: int = 10,
    seed: int = 0,
    engine: EngineName | Engine = "local",
    workers: int | None = None,
    address: str | None = None,
    run: PathLike | None = None,
    progress: Progress = no_progress,
) -> GrowthComparison:
    """Compare how walks of people grow with null models, walk by walk.

    Parameters
    ----------
    nulls : "rewired", the same nodes on graphs in which every node keeps its degree and edges are drawn at random;
        "random-walk", walks from the same starts to candidates like those that people took: of the same tenth of all
        nodes by degree, or of the nearest; "unbiased", walks from the same starts to any candidate; "shuffled", the
        same nodes in random order.
    steps : distinct nodes of each walk that are measured, in order of first visit; shorter walks are left out.
    most : walks that are measured; beyond, they are drawn from the seed.
    replicates : how often each null model is drawn.
    engine : "local", processes of this machine; or "ray", a cluster. The result is the same.
    workers : tasks at a time; None for as many as pay off.
    address : of the cluster; without it one is started on this machine for the job.
    run : folder that keeps what is finished: a killed job goes on where it stopped.
    progress : called with how far it is.

    >>> from curiograph.graph.toys import library
    >>> walks = Trajectories.from_walks([["music", "physics", "chemistry", "biology"]], graph=library())
    >>> compare_growth(library(), walks, nulls=["unbiased"], steps=4).walks
    1
    """
    steps = check_integer("steps", steps, 2, "measure walks of 2 nodes or more")
    most = check_integer("most", most, 1, "measure 1 walk or more")
    replicates = check_integer("replicates", replicates, 1, "draw each null model once or more")
    used_engine = resolve_engine(engine, workers, address, run)
    _check_names(nulls)
    visits, users = _first_visits(align_walks(graph, walks), steps)
    rng = np.random.default_rng(check_seed(seed))
    drawn = np.sort(rng.choice(len(visits), min(most, len(visits)), replace=False))
    visits = visits[drawn]
    people, user_of = np.unique(users[drawn], return_inverse=True)
    tasks = [
        (HUMAN, 0),
        *((name, each) for place, name in enumerate(nulls) for each in _seeds(seed, place, replicates)),
    ]
    human, *drawn_walks = run_job(_job(graph, visits, tasks), used_engine, progress)
    found = {}
    for place, name in enumerate(nulls):
        mine = drawn_walks[place * replicates : (place + 1) * replicates]
        null = {quantity: np.mean([each[quantity] for each in mine], axis=0) for quantity in _QUANTITIES}
        found[name] = _compared(name, human, null, user_of, seed)
    curves = {quantity: _curve(human[quantity], user_of, seed) for quantity in _QUANTITIES}
    return GrowthComparison(found, curves, len(visits), len(people), steps, replicates)


def _seeds(seed: int, place: int, replicates: int) -> list[int]:
    """Of the replicates of a null model."""
    made: list[int] = np.random.SeedSequence([check_seed(seed), place]).generate_state(replicates, np.uint64).tolist()
    return made


def _job(graph: Graph, visits: Int32, tasks: Sequence[tuple[str, int]]) -> Job:
    """Walks of people, and each draw of a null model, measured."""
    return Job(
        name="growth",
        function=_measured,
        shared=(graph, visits),
        tasks=tasks,
        key=lambda: {"graph": hash_graph(graph), "visits": hash_values(visits), "tasks": tasks},
        describe_task=lambda task: f"{task[0]}, seed {task[1]}",
        unit="draws",
        fix="measure fewer walks (most), or draw null models less often (replicates)",
    )


def _measured(shared: tuple[Graph, Int32], task: tuple[str, int]) -> Result:
    (graph, visits), (name, seed) = shared, task
    return measure_growth(graph, visits) if name == HUMAN else measure_growth(*NULL_MODELS[name](graph, visits, seed))


def _check_names(nulls: Any) -> None:
    if isinstance(nulls, str) or not isinstance(nulls, Sequence) or not nulls:
        raise SettingError(f"nulls is {quote_value(nulls)}; give a list of null models, at least one.")
    for name in nulls:
        if name not in NULL_MODELS:
            raise UnknownNameError(
                f"there is no null model {quote_value(name)}; the null models are {', '.join(NULL_MODELS)}."
            )


def _first_visits(walks: Trajectories, steps: int) -> tuple[Int32, Int64]:
    """The first `steps` distinct nodes of every walk that has as many, and who took it."""
    rows, users = [], []
    for number, user in enumerate(walks.users.tolist()):
        nodes = list(dict.fromkeys(walks.walk(number).tolist()))
        if len(nodes) >= steps:
            rows.append(nodes[:steps])
            users.append(user)
    if not rows:
        raise WalkError(f"none of the {len(walks)} walks has {steps} distinct nodes; measure fewer steps.")
    return np.asarray(rows, np.int32), np.asarray(users, np.int64)


def measure_growth(graph: Graph, visits: Int32) -> Grown:
    """Gaps and bits of walks (walks x steps, positions, -1 beyond the end) after every step.

    A walk that had nowhere to go stays as it is.

    >>> from curiograph.graph.toys import cycle
    >>> measure_growth(cycle(4), np.array([[0, 1, 2, 3], [0, 1, -1, -1]], np.int32))["gaps"].tolist()
    [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0]]
    """
    stack = GraphBatch.of([graph])
    gaps, bits = np.empty(visits.shape), np.empty(visits.shape)
    lengths = np.count_nonzero(visits >= 0, axis=1)
    tracker = GapTracker(stack, np.full_like(visits, -1), np.zeros(len(visits), np.int64))
    for t in range(visits.shape[1]):
        tracker.advance(visits[:, t].copy())
        gaps[:, t] = tracker.values()
        bits[:, t] = CompressibilityTracker(stack, visits, np.minimum(lengths, t + 1)).values()
    return {"gaps": gaps, "bits": bits}


def _curve(values: Float64, user_of: Int64, seed: int) -> Curve:
    sums, counts = sum_by_user(values, user_of, int(user_of.max()) + 1), np.bincount(user_of)
    return Curve(values.mean(axis=0), resample_means(sums, counts, seed).std(axis=0))


def _compared(name: str, human: Grown, null: Grown, user_of: Int64, seed: int) -> NullModel:
    counts = np.bincount(user_of)
    excess, area = {}, {}
    for quantity in _QUANTITIES:
        more = human[quantity] - null[quantity]
        columns = np.column_stack([more, more.mean(axis=1)])
        *excess[quantity], area[quantity] = estimate_means(sum_by_user(columns, user_of, len(counts)), counts, seed)
    curves = {quantity: _curve(null[quantity], user_of, seed) for quantity in _QUANTITIES}
    return NullModel(name, curves, excess, area)


# ---- null models: from a graph, walks and a seed to the graph and the walks to measure -----------------------------


def rewire_graph(graph: Graph, visits: Int32, seed: int) -> tuple[Graph, Int32]:
    """The same nodes on a graph with other edges but the same degrees.

    >>> from curiograph.graph.toys import library
    >>> other, _ = rewire_graph(library(), np.empty((0, 2), np.int32), seed=0)
    >>> bool(np.all(other.degrees == library().degrees)), other == library()
    (True, False)
    """
    rows = graph.skeleton
    swapped = kernels.rewire.swap_edges(rows.indptr, rows.indices, _SWAPS * rows.num_edges, np.uint64(seed))
    return Graph(rows.indptr, swapped, names=graph.names), visits


def walk_degree_matched(graph: Graph, visits: Int32, seed: int) -> tuple[Graph, Int32]:
    """Walks from the same starts to candidates whose degree is like that of the nodes that people went to."""
    groups = group_by_degree(graph)
    return graph, _walked(graph, visits, seed, lambda nodes, theirs: -np.abs(groups[nodes] - groups[theirs]))


def walk_unbiased(graph: Graph, visits: Int32, seed: int) -> tuple[Graph, Int32]:
    """Walks from the same starts to any candidate."""
    return graph, _walked(graph, visits, seed, lambda nodes, theirs: np.zeros(len(nodes)))


def shuffle_walks(graph: Graph, visits: Int32, seed: int) -> tuple[Graph, Int32]:
    """The same nodes in random order."""
    return graph, np.random.default_rng(seed).permuted(visits, axis=1)


NULL_MODELS: dict[str, Callable[[Graph, Int32, int], tuple[Graph, Int32]]] = {
    "rewired": rewire_graph,
    "random-walk": walk_degree_matched,
    "unbiased": walk_unbiased,
    "shuffled": shuffle_walks,
}


def group_by_degree(graph: Graph) -> Int64:
    """The tenth of all nodes, by degree in either direction, that each belongs to; equal degrees stay together."""
    degrees = graph.skeleton.degrees
    bounds = np.quantile(degrees, np.arange(1, _GROUPS) / _GROUPS)
    return np.searchsorted(bounds, degrees, side="right")


def _walked(graph: Graph, visits: Int32, seed: int, likeness: Callable[[Int32, Int32], Any]) -> Int32:
    """Walks from the same starts that go to any of the candidates most like the node that the person went to."""
    walks = begin([graph], [visits[:, 0].astype(np.int64)], "igt", visits.shape[1], seed=seed)
    for t in range(1, walks.steps):
        c = walks.candidates
        scores = np.asarray(likeness(c.nodes, visits[c.walks, t]), np.float64)
        walks = walks.step(walks.best(scores))
    return walks.nodes
