"""`compare_growth`: compare the growth of human walks, as each theory measures it, with null models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from curiograph.arrays import Float64, Int32, Int64
from curiograph.errors import SettingError, UnknownNameError, WalkError
from curiograph.files import PathLike
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph
from curiograph.human.choices.choice_sets import align_walks
from curiograph.human.null_models.models import NULL_MODELS
from curiograph.human.null_models.results import HUMAN, QUANTITIES, Curve, GrowthComparison, NullModel
from curiograph.human.trajectories import Trajectories
from curiograph.messages import quote_value
from curiograph.parallel import Engine, EngineName, Job, Result, resolve_engine, run_job
from curiograph.parallel.fingerprint import hash_graph, hash_values
from curiograph.progress import Progress, no_progress
from curiograph.rewards.cct import FlexibilityTracker
from curiograph.rewards.cpt import CompressibilityTracker
from curiograph.rewards.igt import GapTracker
from curiograph.statistics.bootstrap import estimate_means, resample_means, sum_by_user
from curiograph.validation import check_integer, check_seed

DEFAULT_NULLS = ("rewired", "random-walk", "unbiased", "shuffled")
"""Names of the null models that are compared by default."""


def compare_growth(
    graph: Graph,
    walks: Trajectories,
    *,
    nulls: Sequence[str] = DEFAULT_NULLS,
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
    """Compare the growth of human walks with that of null models, walk by walk, by all three theories.

    Parameters
    ----------
    graph : Graph
        Graph that the walks are measured on.
    walks : Trajectories
        Human walks; all their nodes must be in the graph.
    nulls : sequence of str
        Names of null models, listed below. Default: the first four.
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
        Mapping from the name of a null model to the comparison with it, in `gaps` (igt), `bits` (cpt) and `conformable`
        degrees of freedom (cct).

    Notes
    -----
    Null models of the graph: "rewired", the same nodes on graphs with random edges and the same degrees; "latticized",
    the same nodes on graphs whose edges are as short as possible along a ring of all nodes in random order, with the
    same degrees.

    Null models of the walk: "random-walk", random walks from the same starts, to candidates with a degree in the same
    tenth of all nodes as the node that the user visited, or in the nearest tenth; "unbiased", random walks from the
    same starts to any candidate; "shuffled", the same nodes in random order.

    Null models of the network of each walk, its visited subgraph, whose nodes keep their order of visit:
    "network-rewired" and "network-latticized", the same network with swapped edges as above; "constant",
    "proportional" and "preferential", growing networks with the same numbers of nodes and edges. In "constant" every
    pair of nodes is linked with the same probability; in "proportional" the probability is proportional to the number
    of the later node; in "preferential" every node has, on arrival, links to the same number of earlier nodes, drawn
    with a probability proportional to their degree.

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
        key=lambda: {
            "graph": hash_graph(graph),
            "visits": hash_values(visits),
            "tasks": tasks,
            "quantities": list(QUANTITIES),
        },
        describe_task=lambda task: f"{task[0]}, seed {task[1]}",
        unit="draws",
        fix="measure fewer walks (most), or draw null models less often (replicates)",
    )
    human, *drawn = run_job(job, used_engine, progress)
    found = {}
    for number, name in enumerate(nulls):
        replicated = drawn[number * replicates : (number + 1) * replicates]
        curves, excess, area = {}, {}, {}
        for quantity in QUANTITIES:
            null = np.mean([growth[quantity] for growth in replicated], axis=0)
            curves[quantity] = _make_curve(null, users, seed)
            difference = human[quantity] - null
            sums = sum_by_user(np.column_stack([difference, difference.mean(axis=1)]), users)
            *excess[quantity], area[quantity] = estimate_means(sums, counts, seed)
        found[name] = NullModel(name=name, curves=curves, excess=excess, area=area)
    return GrowthComparison(
        nulls=found,
        human={quantity: _make_curve(human[quantity], users, seed) for quantity in QUANTITIES},
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
    """Return `gaps`, `bits` and `conformable` (walks x steps) of walks after every step.

    `visits` (walks x steps) holds positions, and -1 after the end of a walk, whose values then stay the same.

    >>> from curiograph.graph.toys import cycle
    >>> measure_growth(cycle(4), np.array([[0, 1, 2, 3], [0, 1, -1, -1]], np.int32))["gaps"].tolist()
    [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0]]
    """
    batch = GraphBatch.of([graph])
    growth = {quantity: np.empty(visits.shape) for quantity in QUANTITIES}
    lengths = np.count_nonzero(visits >= 0, axis=1)
    empty = np.full_like(visits, -1), np.zeros(len(visits), np.int64)
    trackers = {"gaps": GapTracker(batch, *empty), "conformable": FlexibilityTracker(batch, *empty)}
    for step in range(visits.shape[1]):
        for quantity, tracker in trackers.items():
            tracker.advance(visits[:, step].copy())
            growth[quantity][:, step] = tracker.values()
        so_far = CompressibilityTracker(batch, visits, np.minimum(lengths, step + 1))
        growth["bits"][:, step] = so_far.values()
    return growth


def _make_curve(values: Float64, users: Int64, seed: int) -> Curve:
    samples = resample_means(sum_by_user(values, users), np.bincount(users), seed)
    return Curve(values.mean(axis=0), samples.std(axis=0))
