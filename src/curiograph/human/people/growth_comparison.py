"""`compare_growth`: compare the growth of human walks, as each theory measures it, with null models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import norm

from curiograph import kernels
from curiograph.arrays import Float64, Int32
from curiograph.bootstrap import (
    Estimate,
    adjust_holm,
    compute_errors,
    compute_upper_p,
    describe_few,
    estimate_means,
    make_columns,
    sum_by_user,
)
from curiograph.errors import SettingError, UnknownNameError, WalkError, quote_value
from curiograph.graph.csr import freeze_array
from curiograph.graph.graph import Graph, as_graph, require_edges
from curiograph.growth.compute import compute_growth
from curiograph.growth.first_visits import place_walks, select_first_visits
from curiograph.human.trajectories import Trajectories, as_trajectories
from curiograph.parallel import Engine, EngineName, as_engine
from curiograph.progress import Progress, no_progress
from curiograph.results import Skipped, Table, to_plain
from curiograph.validation import check_integer, check_seed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HUMAN = "human"
"""Name of the curves of the human walks."""
QUANTITIES = {
    "gaps": "information gaps",
    "bits": "compressibility (bits)",
    "conformable": "conformable degrees of freedom",
}
"""Quantities that are compared, with their titles: one for each theory, igt, cpt and cct."""
_SWAPS = 10  # attempted swaps per edge
_NEWTON_STEPS = 20  # of the exponent of degrees
_MAX_EXPONENT = 5.0  # if all people always take the candidate of the highest or lowest degree

NullDraw = tuple[Graph, Int32]
"""The graph and the walks to measure."""


def walk_randomly(graph: Graph, visits: Int32, origins: Int32, seed: int, *, by_degree: bool) -> NullDraw:
    """Return random walks from the same starts, with links and jumps from the same places as in the human walks.

    Candidates have equal chances, or if `by_degree` chances proportional to a power of their degree, whose exponent is
    fitted to all links that people took.
    """
    rows = freeze_array(graph.indptr), freeze_array(graph.indices), freeze_array(visits), freeze_array(origins)
    logs = freeze_array(np.log(np.maximum(graph.skeleton.degrees, 1)))
    exponent = 0.0
    for _ in range(_NEWTON_STEPS if by_degree else 0):
        gradient, curvature = kernels.matched_walks.sum_preferences(*rows, logs, exponent)
        exponent = float(np.clip(exponent + gradient / max(curvature, 1e-9), -_MAX_EXPONENT, _MAX_EXPONENT))
    streams = freeze_array(kernels.random.make_streams(np.uint64(seed), 0, len(visits)))
    preferences = freeze_array(np.exp(exponent * logs))
    return graph, kernels.matched_walks.sample_matched_walks(*rows, preferences, streams)


def rewire_graph(graph: Graph, visits: Int32, origins: Int32, seed: int) -> NullDraw:
    """Swap random edges of the graph, so that all nodes keep their degrees; the walks stay the same."""
    rows = graph.skeleton
    bounds, streams = freeze_array(np.array([0, rows.num_nodes])), freeze_array(np.array([seed], np.uint64))
    indices = kernels.rewire.swap_edges(rows.indptr, rows.indices, bounds, _SWAPS, streams)
    return Graph(rows.indptr, indices, names=graph.names), visits


NULL_MODELS: dict[str, Callable[[Graph, Int32, Int32, int], NullDraw]] = {
    "rewired": rewire_graph,
    "unbiased": partial(walk_randomly, by_degree=False),
    "random-walk": partial(walk_randomly, by_degree=True),
    "shuffled": lambda graph, visits, origins, seed: (graph, np.random.default_rng(seed).permuted(visits, axis=1)),
}
"""Null models by name."""


@dataclass(frozen=True, eq=False, repr=False)
class GrowthComparison(Table):
    """Growth of human walks compared with null models: one row per null model and step.

    The columns of each quantity, `gaps`, `bits` and `conformable`, are the mean of the human walks (`human_gaps`), that
    of the null model (`null_gaps`), and their difference with its 95 % interval (`excess_gaps`).
    """

    means: dict[str, dict[str, Float64]]
    """Mean over walks of each quantity after every step, by null model; `human` for the human walks."""
    errors: dict[str, dict[str, Float64]]
    """Standard errors of these means over users; NaN for one user."""
    excess: dict[str, dict[str, list[Estimate]]]
    """Mean difference between human walks and each null model after every step, walk by walk."""
    area: dict[str, dict[str, Estimate]]
    """Mean of the excess over all steps, by null model and quantity."""
    p_holm: dict[str, dict[str, float]]
    """P-value of each area being zero, adjusted for the three quantities by the method of Holm."""
    walks: int
    """Number of walks that were measured."""
    users: int
    """Number of users who took these walks."""
    steps: int
    """Number of nodes of each walk."""
    replicates: int
    """Number of times that each null model was drawn."""
    jumps: float
    """Share of the new nodes that people reached without a link; null models of walks jump at the same places."""
    returns: float
    """Share of the new nodes that people reached by a link from an earlier node, to which they had returned."""
    skipped: Skipped
    """What was dropped when the walks were read and matched with the graph."""

    def columns(self) -> dict[str, Any]:
        """Return one row per null model and step: both means, and the excess with its bounds."""
        nulls = list(self.excess)
        columns: dict[str, Any] = {
            "null": [name for name in nulls for _ in range(self.steps)],
            "step": list(range(1, self.steps + 1)) * len(nulls),
        }
        for quantity in QUANTITIES:
            columns[f"human_{quantity}"] = np.tile(self.means[HUMAN][quantity], len(nulls))
            columns[f"null_{quantity}"] = np.concatenate([self.means[name][quantity] for name in nulls])
            estimates = [estimate for name in nulls for estimate in self.excess[name][quantity]]
            columns |= make_columns(f"excess_{quantity}", estimates)
        return columns

    @property
    def answers(self) -> list[str]:
        """The result in a sentence for each null model, after Holm's correction; then jumps, returns and few people."""
        answers = []
        for null, areas in self.area.items():
            parts = []
            for name, area in areas.items():
                quantity = QUANTITIES[name] if name == "conformable" else name
                if self.p_holm[null][name] < 0.05:
                    size = Estimate(abs(area.value), *sorted((abs(area.low), abs(area.high))))
                    parts.append(f"{size} {'more' if area.value > 0 else 'fewer'} {quantity}")
                else:
                    parts.append(f"no clear difference in {quantity}, {area}")
            answers.append(f"Against {null}, human walks show {', '.join(parts[:-1])} and {parts[-1]}.")
        if self.jumps or self.returns:
            answers.append(
                f"People reached {self.jumps:.0%} of new nodes by a jump without a link and {self.returns:.0%} after a "
                "return; random walks jump and return at the same places."
            )
        return answers + describe_few(self.users)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values: the facts, the answer and the areas of each null model, and the rows."""
        return {"answers": self.answers, "area": to_plain(self.area), "p_holm": self.p_holm, **super().to_dict()}

    def __repr__(self) -> str:
        size = f"{self.walks:,} walks by {self.users:,} users, {self.steps} nodes"
        return f"GrowthComparison({size}; null models: {', '.join(self.excess)})"

    def plot(self) -> Figure:
        """Plot a panel per theory, with a line for human walks and one for each null model."""
        from curiograph.plotting import plot_panels

        panels = {
            title: {name: (self.means[name][quantity], self.errors[name][quantity]) for name in self.means}
            for quantity, title in QUANTITIES.items()
        }
        notes = dict.fromkeys(self.means, f"{self.walks:,} walks, {self.replicates} times")
        notes[HUMAN] = f"{self.walks:,} walks by {self.users:,} users"
        return plot_panels(panels, "step", {name: name for name in self.means}, notes)


def compare_growth(
    graph: Graph,
    walks: Trajectories,
    *,
    nulls: Sequence[str] = tuple(NULL_MODELS),
    steps: int = 10,
    most: int = 1000,
    replicates: int = 10,
    seed: int = 0,
    engine: EngineName | Engine = "local",
    progress: Progress = no_progress,
) -> GrowthComparison:
    """Compare the growth of human walks with that of null models, walk by walk, by all three theories.

    Parameters
    ----------
    graph : Graph
        Graph that the walks are measured on.
    walks : Trajectories
        Human walks; visits of nodes outside the graph are dropped and counted in `skipped`.
    nulls : sequence of str
        Names of null models, listed below. Default: all.
    steps : int
        Number of distinct nodes of each walk to measure, in order of first visit; shorter walks are left out.
    most : int
        Maximum number of walks to measure; if there are more, they are sampled.
    replicates : int
        Number of times that each null model is drawn.
    seed : int
        Same seed, same result.
    engine : {"local", "ray"} or Engine
        Where null models are drawn and measured; the result is the same.
    progress : callable
        Called with the progress.

    Returns
    -------
    GrowthComparison
        One row per null model and step, in `gaps` (igt), `bits` (cpt) and `conformable` degrees of freedom (cct).

    Notes
    -----
    "rewired": the same nodes on graphs with random edges and the same degrees. "unbiased": random walks from the same
    starts, each candidate with the same probability. "random-walk": the same with a probability proportional to a power
    of the degree, whose exponent is fitted to the links that people took. "shuffled": the same nodes in random order.
    Where people jump to a node without a link, or return to an earlier node before they follow a link, random walks do
    so too.

    Examples
    --------
    >>> from curiograph.graph.toys import cycle
    >>> walks = Trajectories.from_walks([[0, 1, 2, 3], [2, 3, 0, 1]], graph=cycle(4))
    >>> found = compare_growth(cycle(4), walks, nulls=["shuffled"], steps=4)
    >>> found.to_frame()[["step", "human_gaps", "excess_gaps"]].tail(1)
       step  human_gaps  excess_gaps
    3     4         1.0          0.0
    """
    require_edges(as_graph(graph))
    steps = check_integer("steps", steps, 2, "measure walks of 2 nodes or more")
    most = check_integer("most", most, 1, "measure 1 walk or more")
    replicates = check_integer("replicates", replicates, 1, "draw each null model once or more")
    seed = check_seed(seed)
    if isinstance(nulls, str) or not isinstance(nulls, Sequence) or not nulls:
        raise SettingError(f"nulls is {quote_value(nulls)}; give a list of null models, at least one.")
    for name in nulls:
        if name not in NULL_MODELS:
            raise UnknownNameError(
                f"there is no null model {quote_value(name)}; the null models are {', '.join(NULL_MODELS)}."
            )
    people = place_walks(graph, as_trajectories(walks))
    nodes, offsets = select_first_visits(people.nodes, people.offsets)
    long = np.flatnonzero(np.diff(offsets) >= steps)
    if not len(long):
        raise WalkError(f"none of the {len(people)} walks has {steps} distinct nodes; measure fewer steps.")
    long = long[np.sort(np.random.default_rng(seed).choice(len(long), min(most, len(long)), replace=False))]
    visits = nodes[offsets[long][:, None] + np.arange(steps)]
    walked = people[long]
    rows = graph.indptr, graph.indices
    origins = kernels.matched_walks.find_origins(*rows, walked.nodes, walked.offsets, steps)
    users = np.unique(walked.users, return_inverse=True)[1]
    tasks: list[tuple[str, int]] = [(HUMAN, 0)]
    for number, name in enumerate(nulls):
        seeds = np.random.SeedSequence([seed, number]).generate_state(replicates, np.uint64)
        tasks += [(name, task_seed) for task_seed in seeds.tolist()]
    shared = graph, visits, origins
    human, *drawn = as_engine(engine).map(
        measure_null, shared, tasks, name="growth", key=shared, unit="draws", progress=progress
    )
    curves = {HUMAN: dict(human)}
    counts = np.bincount(users)
    excess: dict[str, dict[str, list[Estimate]]] = {name: {} for name in nulls}
    area: dict[str, dict[str, Estimate]] = {name: {} for name in nulls}
    p_holm: dict[str, dict[str, float]] = {}
    for number, name in enumerate(nulls):
        p_values, curves[name] = [], {}
        for quantity in QUANTITIES:
            values = np.array([each[quantity] for each in drawn[number * replicates : (number + 1) * replicates]])
            values = np.concatenate([values, values.mean(axis=2, keepdims=True)], axis=2)  # the last column is the area
            means = values.mean(axis=0)
            curves[name][quantity] = means[:, :-1]
            sums = sum_by_user(np.column_stack([human[quantity], human[quantity].mean(axis=1)]) - means, users)
            # if people walk like the null model, they vary as it does, even if a rare value does not occur among them
            spread = values.var(axis=0, ddof=1) * (1 + 1 / replicates) if replicates > 1 else np.zeros(means.shape)
            least = np.sqrt(spread.sum(axis=0)) / len(visits)
            *excess[name][quantity], area[name][quantity] = estimate_means(sums, counts, least)
            upper = compute_upper_p(sums, counts)[-1]
            by_null = norm.sf(abs(area[name][quantity].value) / least[-1]) if least[-1] > 0 else 0.0
            p_values.append(2 * max(min(upper, 1 - upper), by_null))
        p_holm[name] = dict(zip(QUANTITIES, adjust_holm(np.array(p_values)).tolist(), strict=True))
    return GrowthComparison(
        means={name: {each: values.mean(axis=0) for each, values in found.items()} for name, found in curves.items()},
        errors={
            name: {each: compute_errors(sum_by_user(values, users), counts)[0] for each, values in found.items()}
            for name, found in curves.items()
        },
        excess=excess,
        area=area,
        p_holm=p_holm,
        walks=len(visits),
        users=len(counts),
        steps=steps,
        replicates=replicates,
        jumps=float(np.mean(origins[:, 1:] < 0)),
        returns=float(np.mean((origins[:, 1:] >= 0) & (origins[:, 1:] < np.arange(steps - 1)))),
        skipped=people.skipped,
    )


def measure_null(shared: tuple[Graph, Int32, Int32], task: tuple[str, int]) -> dict[str, Float64]:
    """Return `gaps`, `bits` and `conformable` (walks x steps) of the human walks or of walks drawn by a null model."""
    (graph, visits, origins), (name, seed) = shared, task
    if name != HUMAN:
        graph, visits = NULL_MODELS[name](graph, visits, origins, seed)
    grown = compute_growth(graph, freeze_array(visits.ravel()), np.arange(len(visits) + 1) * visits.shape[1])
    found = {"gaps": grown.beta1, "bits": grown.bits, "conformable": grown.conformable}
    return {name: values.reshape(visits.shape).astype(np.float64) for name, values in found.items()}
