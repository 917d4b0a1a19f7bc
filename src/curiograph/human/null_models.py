"""`compare_growth`: compare the growth of human walks, in gaps and compressibility, with null models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph import kernels
from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import SettingError, UnknownNameError, WalkError
from curiograph.exploration.mdp import begin
from curiograph.files import PathLike
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph
from curiograph.human.choices.choice_sets import align_walks
from curiograph.human.trajectories import Trajectories
from curiograph.messages import quote_value
from curiograph.notebook import render_result
from curiograph.optional import import_optional
from curiograph.parallel import Engine, EngineName, Job, Result, resolve_engine, run_job
from curiograph.parallel.fingerprint import hash_graph, hash_values
from curiograph.progress import Progress, no_progress
from curiograph.rewards.cpt import CompressibilityTracker
from curiograph.rewards.igt import GapTracker
from curiograph.skipped import Skipped
from curiograph.statistics.bootstrap import Estimate, estimate_means, make_columns, resample_means, sum_by_user
from curiograph.validation import check_integer, check_seed

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

HUMAN = "human"
"""Name of the curves of the human walks."""
_SWAPS_PER_EDGE = 10  # attempted swaps when a graph is rewired
_NUM_DEGREE_GROUPS = 10
_QUANTITIES = {"gaps": "information gaps", "bits": "compressibility (bits)"}
_COLORS = {"rewired": "beam", "random-walk": "max-degree", "unbiased": "random", "shuffled": "greedy"}


@dataclass(frozen=True, eq=False)
class Curve:
    """A quantity after every step."""

    mean: Float64
    """Mean over walks."""
    stderr: Float64
    """Standard error of the mean, by resampling users."""

    def __repr__(self) -> str:
        return f"Curve({len(self.mean)} steps, {self.mean[-1]:.3g} ± {self.stderr[-1]:.2g} at the end)"

    def to_dict(self) -> dict[str, list[float]]:
        """Return the arrays as lists."""
        return {"mean": self.mean.tolist(), "stderr": self.stderr.tolist()}


@dataclass(frozen=True, eq=False)
class NullModel:
    """Growth of the walks of a null model, compared with that of human walks."""

    name: str
    """Name of the null model."""
    curves: dict[str, Curve]
    """Curves of `gaps` and `bits`, averaged over the replicates of each walk."""
    excess: dict[str, list[Estimate]]
    """Mean difference between human walks and the null model after every step, walk by walk."""
    area: dict[str, Estimate]
    """Mean of the excess over all steps."""

    def __repr__(self) -> str:
        return f"NullModel({self.name}: {', '.join(f'excess of {name} {area}' for name, area in self.area.items())})"

    @property
    def answer(self) -> str:
        """The result in one sentence."""
        parts = []
        for quantity, area in self.area.items():
            if area.clear:
                size = Estimate(abs(area.value), *sorted((abs(area.low), abs(area.high))))
                parts.append(f"{size} {'more' if area.value > 0 else 'fewer'} {quantity}")
            else:
                parts.append(f"no clear difference in {quantity} ({area.low:.3g} to {area.high:.3g})")
        return f"Against {self.name}, human walks show {' and '.join(parts)}."


@dataclass(frozen=True, eq=False)
class GrowthComparison(Mapping[str, NullModel]):
    """Null models by name, and the growth of the human walks that they are compared with.

    >>> from curiograph.graph.toys import cycle
    >>> walks = Trajectories.from_walks([[0, 1, 2, 3], [2, 3, 0, 1]], graph=cycle(4))
    >>> found = compare_growth(cycle(4), walks, nulls=["shuffled"], steps=4)
    >>> found.human["gaps"].mean.tolist(), found["shuffled"].excess["gaps"][-1].value
    ([0.0, 0.0, 0.0, 1.0], 0.0)
    """

    nulls: dict[str, NullModel]
    """Null models by name."""
    human: dict[str, Curve]
    """Curves of `gaps` and `bits` of the human walks."""
    walks: int
    """Number of walks that were measured."""
    users: int
    """Number of users who took these walks."""
    steps: int
    """Number of nodes of each walk."""
    replicates: int
    """Number of times that each null model was drawn."""
    skipped: Skipped = field(default_factory=Skipped)
    """What was dropped when the walks were read and matched with the graph."""

    def __getitem__(self, name: str) -> NullModel:
        return self.nulls[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.nulls)

    def __len__(self) -> int:
        return len(self.nulls)

    def __repr__(self) -> str:
        size = f"{self.walks:,} walks by {self.users:,} users, {self.steps} nodes"
        return f"GrowthComparison({size}; null models: {', '.join(self)})"

    def _repr_html_(self) -> str:
        lines = {f"human {quantity}": self.human[quantity].mean.tolist() for quantity in _QUANTITIES}
        columns: dict[str, list[Any]] = {"null model": list(self)}
        for quantity in _QUANTITIES:
            columns[f"excess {quantity}"] = [str(null.area[quantity]) for null in self.values()]
        return render_result(repr(self), columns, lines)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def columns(self) -> dict[str, list[Any]]:
        """Return a table with one row per null model and step: both means, and the excess with its bounds."""
        columns: dict[str, list[Any]] = {
            "null": [name for name in self for _ in range(self.steps)],
            "step": list(range(1, self.steps + 1)) * len(self),
        }
        for quantity in _QUANTITIES:
            columns[f"human_{quantity}"] = self.human[quantity].mean.tolist() * len(self)
            columns[f"null_{quantity}"] = [
                mean for null in self.values() for mean in null.curves[quantity].mean.tolist()
            ]
            excesses = [estimate for null in self.values() for estimate in null.excess[quantity]]
            columns |= make_columns(f"excess_{quantity}", excesses)
        return columns

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "walks": self.walks,
            "users": self.users,
            "steps": self.steps,
            "replicates": self.replicates,
            "skipped": self.skipped.to_dict(),
            HUMAN: {name: self.human[name].to_dict() for name in _QUANTITIES},
            "nulls": [
                {
                    "null": null.name,
                    "answer": null.answer,
                    **{name: null.curves[name].to_dict() for name in _QUANTITIES},
                    "excess": {name: [asdict(estimate) for estimate in null.excess[name]] for name in _QUANTITIES},
                    "area": {name: asdict(null.area[name]) for name in _QUANTITIES},
                }
                for null in self.values()
            ],
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one row per null model and step as a pandas frame (`pip install curiograph[frame]`)."""
        return import_optional("pandas", "frame", "Frames").DataFrame(self.columns())

    def plot(self) -> Figure:
        """Plot gaps and compressibility, with a line for human walks and one for each null model."""
        from curiograph.plotting import plot_panels

        lines = {HUMAN: self.human} | {name: null.curves for name, null in self.items()}
        panels = {
            title: {name: (curves[quantity].mean, curves[quantity].stderr) for name, curves in lines.items()}
            for quantity, title in _QUANTITIES.items()
        }
        notes = dict.fromkeys(lines, f"{self.walks:,} walks, {self.replicates} times")
        notes[HUMAN] = f"{self.walks:,} walks by {self.users:,} users"
        return plot_panels(panels, "step", {name: _COLORS.get(name, name) for name in lines}, notes)


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
    """Compare the growth of human walks with that of null models, walk by walk.

    Parameters
    ----------
    graph : Graph
        Graph that the walks are measured on.
    walks : Trajectories
        Human walks; all their nodes must be in the graph.
    nulls : sequence of str
        Names of null models. "rewired": the same nodes on graphs with random edges and the same degrees. "random-walk":
        random walks from the same starts, to candidates with a degree in the same tenth of all nodes as the node that
        the user visited, or in the nearest tenth. "unbiased": random walks from the same starts to any candidate.
        "shuffled": the same nodes in random order.
    steps : int
        Number of distinct nodes of each walk to measure, in order of first visit; shorter walks are left out.
    most : int
        Maximum number of walks to measure; if there are more, they are sampled.
    replicates : int
        Number of times that each null model is drawn.
    seed : int
        Same seed, same result.
    engine : {"local", "ray"}
        Execution backend, "local" (processes) or "ray" (a cluster); the result is the same.
    workers : int, optional
        Number of parallel tasks. Default: chosen automatically.
    address : str, optional
        Address of the Ray cluster. Default: start one on this machine.
    run : str or path, optional
        Folder for finished tasks, from which an interrupted job resumes.
    progress : callable
        Called with the progress.

    Returns
    -------
    GrowthComparison
        Mapping from the name of a null model to the comparison with it.

    Examples
    --------
    >>> from curiograph.graph.toys import library
    >>> walks = Trajectories.from_walks([["music", "physics", "chemistry", "biology"]], graph=library())
    >>> compare_growth(library(), walks, nulls=["unbiased"], steps=4).walks
    1
    """
    steps = check_integer("steps", steps, 2, "measure walks of 2 nodes or more")
    most = check_integer("most", most, 1, "measure 1 walk or more")
    replicates = check_integer("replicates", replicates, 1, "draw each null model once or more")
    used_engine = resolve_engine(engine, workers, address, run)
    if isinstance(nulls, str) or not isinstance(nulls, Sequence) or not nulls:
        raise SettingError(f"nulls is {quote_value(nulls)}; give a list of null models, at least one.")
    for name in nulls:
        if name not in NULL_MODELS:
            raise UnknownNameError(
                f"there is no null model {quote_value(name)}; the null models are {', '.join(NULL_MODELS)}."
            )
    visits, users = _collect_first_visits(align_walks(graph, walks), steps)
    seed = check_seed(seed)
    sample = np.sort(np.random.default_rng(seed).choice(len(visits), min(most, len(visits)), replace=False))
    visits = visits[sample]
    users = np.unique(users[sample], return_inverse=True)[1]
    counts = np.bincount(users)
    tasks: list[tuple[str, int]] = [(HUMAN, 0)]
    for number, name in enumerate(nulls):
        seeds = np.random.SeedSequence([seed, number]).generate_state(replicates, np.uint64)
        tasks += [(name, task_seed) for task_seed in seeds.tolist()]
    job = Job(
        name="growth",
        function=_run_task,
        shared=(graph, visits),
        tasks=tasks,
        key=lambda: {"graph": hash_graph(graph), "visits": hash_values(visits), "tasks": tasks},
        describe_task=lambda task: f"{task[0]}, seed {task[1]}",
        unit="draws",
        fix="measure fewer walks (most), or draw null models less often (replicates)",
    )
    human, *drawn = run_job(job, used_engine, progress)
    found = {}
    for number, name in enumerate(nulls):
        replicated = drawn[number * replicates : (number + 1) * replicates]
        curves, excess, area = {}, {}, {}
        for quantity in _QUANTITIES:
            null = np.mean([growth[quantity] for growth in replicated], axis=0)
            curves[quantity] = _make_curve(null, users, seed)
            difference = human[quantity] - null
            sums = sum_by_user(np.column_stack([difference, difference.mean(axis=1)]), users)
            *excess[quantity], area[quantity] = estimate_means(sums, counts, seed)
        found[name] = NullModel(name=name, curves=curves, excess=excess, area=area)
    return GrowthComparison(
        nulls=found,
        human={quantity: _make_curve(human[quantity], users, seed) for quantity in _QUANTITIES},
        walks=len(visits),
        users=len(counts),
        steps=steps,
        replicates=replicates,
        skipped=walks.skipped,
    )


def _collect_first_visits(walks: Trajectories, steps: int) -> tuple[Int32, Int64]:
    """Return the first `steps` distinct nodes of every walk that has as many, and the user of each."""
    rows, users = [], []
    for number, user in enumerate(walks.users.tolist()):
        nodes = list(dict.fromkeys(walks.walk(number).tolist()))
        if len(nodes) >= steps:
            rows.append(nodes[:steps])
            users.append(user)
    if not rows:
        raise WalkError(f"none of the {len(walks)} walks has {steps} distinct nodes; measure fewer steps.")
    return np.asarray(rows, np.int32), np.asarray(users, np.int64)


def _run_task(shared: tuple[Graph, Int32], task: tuple[str, int]) -> Result:
    (graph, visits), (name, seed) = shared, task
    if name != HUMAN:
        graph, visits = NULL_MODELS[name](graph, visits, seed)
    return measure_growth(graph, visits)


def measure_growth(graph: Graph, visits: Int32) -> dict[str, Float64]:
    """Return `gaps` and `bits` (walks x steps) of walks after every step.

    `visits` (walks x steps) holds positions, and -1 after the end of a walk, whose values then stay the same.

    >>> from curiograph.graph.toys import cycle
    >>> measure_growth(cycle(4), np.array([[0, 1, 2, 3], [0, 1, -1, -1]], np.int32))["gaps"].tolist()
    [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0]]
    """
    batch = GraphBatch.of([graph])
    gaps, bits = np.empty(visits.shape), np.empty(visits.shape)
    lengths = np.count_nonzero(visits >= 0, axis=1)
    tracker = GapTracker(batch, np.full_like(visits, -1), np.zeros(len(visits), np.int64))
    for step in range(visits.shape[1]):
        tracker.advance(visits[:, step].copy())
        gaps[:, step] = tracker.values()
        bits[:, step] = CompressibilityTracker(batch, visits, np.minimum(lengths, step + 1)).values()
    return {"gaps": gaps, "bits": bits}


def _make_curve(values: Float64, users: Int64, seed: int) -> Curve:
    samples = resample_means(sum_by_user(values, users), np.bincount(users), seed)
    return Curve(values.mean(axis=0), samples.std(axis=0))


# ---- null models: from a graph, walks and a seed to the graph and the walks to measure -----------------------------


def rewire_graph(graph: Graph, visits: Int32, seed: int) -> tuple[Graph, Int32]:
    """Return a graph with random edges and the same degrees, and the same walks."""
    rows = graph.skeleton
    swaps = _SWAPS_PER_EDGE * rows.num_edges
    indices = kernels.rewire.swap_edges(rows.indptr, rows.indices, swaps, np.uint64(seed))
    return Graph(rows.indptr, indices, names=graph.names), visits


def walk_degree_matched(graph: Graph, visits: Int32, seed: int) -> tuple[Graph, Int32]:
    """Return random walks from the same starts to candidates with a degree like that of the visited nodes."""
    return graph, _walk_randomly(graph, visits, seed, group_by_degree(graph))


def walk_unbiased(graph: Graph, visits: Int32, seed: int) -> tuple[Graph, Int32]:
    """Return random walks from the same starts to any candidate."""
    return graph, _walk_randomly(graph, visits, seed, np.zeros(graph.num_nodes, np.int64))


def shuffle_walks(graph: Graph, visits: Int32, seed: int) -> tuple[Graph, Int32]:
    """Return the same nodes in random order."""
    return graph, np.random.default_rng(seed).permuted(visits, axis=1)


NULL_MODELS: dict[str, Callable[[Graph, Int32, int], tuple[Graph, Int32]]] = {
    "rewired": rewire_graph,
    "random-walk": walk_degree_matched,
    "unbiased": walk_unbiased,
    "shuffled": shuffle_walks,
}
"""Null models by name: functions of a graph, walks and a seed that return the graph and the walks to measure."""


def group_by_degree(graph: Graph) -> Int64:
    """Return the group of each node, one of ten groups of equal size by degree; nodes of equal degree share a group.

    The degree counts links in both directions.
    """
    degrees = graph.skeleton.degrees
    bounds = np.quantile(degrees, np.arange(1, _NUM_DEGREE_GROUPS) / _NUM_DEGREE_GROUPS)
    return np.searchsorted(bounds, degrees, side="right")


def _walk_randomly(graph: Graph, visits: Int32, seed: int, groups: Int64) -> Int32:
    """Return walks from the same starts to random candidates whose group is nearest to that of the visited node."""
    walks = begin([graph], [visits[:, 0].astype(np.int64)], "igt", visits.shape[1], seed=seed)
    for step in range(1, walks.steps):
        nodes, visited = walks.candidates.nodes, visits[walks.candidates.walks, step]
        walks = walks.step(walks.best(-np.abs(groups[nodes] - groups[visited]).astype(np.float64)))
    return walks.nodes
