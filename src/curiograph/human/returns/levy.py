"""Edge-reinforced Levy walks: simulate them, and fit them to the walks of every person."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from curiograph import kernels
from curiograph.arrays import Float64, Int64
from curiograph.bootstrap import Estimate, make_columns
from curiograph.errors import SettingError, WalkError
from curiograph.graph.graph import Graph, as_graph, require_edges
from curiograph.human.choices.choice_sets import align_walks
from curiograph.human.data.dataset import Dataset
from curiograph.human.motives.random_effects import PeopleLikelihood, fit_population
from curiograph.human.trajectories import Trajectories
from curiograph.messages import quote_value
from curiograph.notebook import render_result
from curiograph.optional import import_optional
from curiograph.validation import check_integer, check_seed

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

DEFAULT_MAX_DISTANCE = 5
"""Cap on distances; unreachable nodes count as this far."""
START_LOGS = np.log([1.0, 3.0])
"""Logarithms of a typical reinforcement and exponent, from which they are fitted."""
_MAX_RATIO = 100.0  # of the bounds of an interval of an identified parameter
_DIFFERENCE = 1e-3  # of the logarithms of the parameters, for derivatives


@dataclass(frozen=True, eq=False)
class LevySteps(PeopleLikelihood):
    """Steps of people, with what the likelihood of an edge-reinforced Levy walk depends on.

    From node u, node v is visited with a probability proportional to d(u, v)^-exponent (1 + reinforcement n), n being
    the number of times that this person went from u to v or from v to u before. The parameters are the logarithms of
    reinforcement and exponent.
    """

    distances: Int64
    """d(u, v) of each step from u to v."""
    crossings: Float64
    """n of each step from u to v: number of times that the person went from u to v or from v to u before."""
    nodes: Float64
    """Steps x distances: column d - 1 holds the number of nodes at distance d from u, the node the step starts from."""
    crossed: Float64
    """Steps x distances: column d - 1 holds the sum of n over the nodes at distance d from u."""
    bounds: Int64
    """Bounds of the people in the steps."""

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.bounds) - 1, 2

    def evaluate(self, points: Float64) -> Float64:
        person = np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))
        log_distances = np.log(np.arange(1.0, self.nodes.shape[1] + 1))
        log_nearest = log_distances[np.argmax(self.nodes > 0, axis=1)]  # relative to it nothing underflows
        log_step_distance = log_distances[self.distances - 1] - log_nearest
        log_node_distance = log_distances - log_nearest[:, None]
        values = np.empty(points.shape[:2])
        for number in range(points.shape[1]):
            reinforcement, exponent = np.exp(np.clip(points[:, number], -30.0, 10.0)).T
            rho, mu = reinforcement[person], exponent[person]
            decays = np.exp(np.minimum(-mu[:, None] * log_node_distance, 0.0))
            totals = np.einsum("sl,sl->s", self.nodes + rho[:, None] * self.crossed, decays)
            log_probabilities = np.log1p(rho * self.crossings) - mu * log_step_distance - np.log(totals)
            values[:, number] = np.bincount(person, log_probabilities, len(values))
        return values

    def expand(self, parameters: Float64) -> tuple[Float64, Float64, Float64]:
        """Return log-likelihood, gradient and information of each person, by differences in log rho and log mu."""
        moves = _DIFFERENCE * np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, -1]])
        here, rho_up, rho_down, mu_up, mu_down, both_up, both_down = self.evaluate(parameters[:, None, :] + moves).T
        gradient = np.column_stack([rho_up - rho_down, mu_up - mu_down]) / (2 * _DIFFERENCE)
        information = np.empty((len(here), 2, 2))
        information[:, 0, 0] = 2 * here - rho_up - rho_down
        information[:, 1, 1] = 2 * here - mu_up - mu_down
        mixed = (rho_up + rho_down + mu_up + mu_down - both_up - both_down - 2 * here) / 2
        information[:, 0, 1] = information[:, 1, 0] = mixed
        values, vectors = np.linalg.eigh(information / _DIFFERENCE**2)
        return here, gradient, np.einsum("imn,in,ikn->imk", vectors, np.maximum(values, 0.0), vectors)


@dataclass(frozen=True, eq=False)
class LevyWalks:
    """Edge-reinforced Levy walks fitted to people: the reinforcement of edges and the exponent of distances.

    Examples
    --------
    >>> import curiograph as cg
    >>> g = cg.generate("ws", nodes=60, seed=0)
    >>> walks = simulate_levy_walks(g, reinforcement=[2.0] * 20, exponent=[4.0] * 20, steps=80)
    >>> fit_levy_walks(g, walks)
    LevyWalks(20 users, 1,580 steps; reinforcement 1.8 (1.4... to 2...), exponent 4.0... (3.7... to 4.3...))
    """

    reinforcement: Estimate
    """Median of the population of the reinforcement: a crossing adds this much to the weight 1 of an edge."""
    exponent: Estimate
    """Median of the population of the exponent: the larger, the fewer jumps, and the shorter."""
    reinforcement_spread: Estimate
    """Standard deviation of the logarithm of the reinforcement over the population."""
    exponent_spread: Estimate
    """Standard deviation of the logarithm of the exponent over the population."""
    max_distance: int
    """Cap on distances; unreachable nodes count as this far."""
    users: list[Hashable]
    """Users with a step."""
    user_steps: Int64
    """Number of steps of each user."""
    user_reinforcement: list[Estimate]
    """Reinforcement of each user, shrunk toward the population, with its 95 % interval."""
    user_exponent: list[Estimate]
    """Exponent of each user, shrunk toward the population, with its 95 % interval."""
    user_columns: Mapping[str, Sequence[Any]]
    """Values of further columns of the log by the name of the column, one value per user of `users`."""
    remarks: list[str]
    """Sentences about parameters that the steps do not identify, or whose estimation has not converged."""

    def columns(self) -> dict[str, list[Any]]:
        """Return one entry per user and quantity; bounds of 95 % intervals are called `exponent_low` etc."""
        return {
            "user": self.users,
            **{name: list(values) for name, values in self.user_columns.items()},
            "steps": self.user_steps.tolist(),
            **make_columns("reinforcement", self.user_reinforcement),
            **make_columns("exponent", self.user_exponent),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one row per user as a pandas frame (`pip install curiograph[frame]`)."""
        return import_optional("pandas", "frame", "Frames").DataFrame(self.columns())

    def per_user(self) -> pd.DataFrame:
        """Return one row per user as a pandas frame, the same as `to_frame`."""
        return self.to_frame()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        names = ("reinforcement", "exponent", "reinforcement_spread", "exponent_spread")
        columns = self.columns()
        return {
            "users": len(self.users),
            "steps": int(self.user_steps.sum()),
            "max_distance": self.max_distance,
            **{name: asdict(getattr(self, name)) for name in names},
            "remarks": self.remarks,
            "per_user": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
        }

    def plot(self) -> Figure:
        """Plot reinforcement and exponent of every user, and the medians of the population with 95 % intervals."""
        from curiograph.plotting import COLORS, create_figure

        figure, ax = create_figure(5.0, 4.0)
        rho, mu = ([each.value for each in values] for values in (self.user_reinforcement, self.user_exponent))
        ax.plot(rho, mu, ".", color=COLORS["igt"], alpha=0.4, markersize=4, markeredgewidth=0)
        x, y = self.reinforcement, self.exponent
        ax.plot([x.low, x.high], [y.value, y.value], color=COLORS["text"], linewidth=2)
        ax.plot([x.value, x.value], [y.low, y.high], color=COLORS["text"], linewidth=2)
        ax.set_xscale("log")
        ax.set_xlabel("reinforcement of an edge by a crossing")
        ax.set_ylabel("exponent of the distance")
        ax.spines[["top", "right"]].set_visible(False)
        return figure

    def __repr__(self) -> str:
        users = f"{len(self.users):,} user{'' if len(self.users) == 1 else 's'}"
        steps = f"{int(self.user_steps.sum()):,} steps"
        shown = [f"{name} {getattr(self, name)}" for name in ("reinforcement", "exponent")]
        return " ".join([f"LevyWalks({users}, {steps}; {', '.join(shown)})", *self.remarks])

    def _repr_html_(self) -> str:
        return render_result(repr(self), self.columns())


def fit_levy_walks(
    graph: Graph, walks: Trajectories | Dataset, *, max_distance: int = DEFAULT_MAX_DISTANCE, seed: int = 0
) -> LevyWalks:
    """Fit an edge-reinforced Levy walk to the steps of every person.

    From node u, a person goes to node v with a probability proportional to d(u, v)^-exponent (1 + reinforcement n). d
    is the number of links of the shortest path, and n the number of times that this person went from u to v or from v
    to u before, in any of their walks. The parameters of people are log-normally distributed over the population.

    Parameters
    ----------
    graph : Graph
        Graph on which people walked. Steps need not follow links.
    walks : Trajectories or Dataset
        Walks on the graph, with all returns.
    max_distance : int
        Cap on distances; unreachable nodes count as this far. Distances are searched up to it from every visited node.
    seed : int
        Seed of the draws behind the intervals.

    Returns
    -------
    LevyWalks
        Reinforcement and exponent of the population and of every person, with 95 % intervals. A warning, and an entry
        of `remarks`, says if an interval of the population spans more than two orders of magnitude.

    Examples
    --------
    >>> import curiograph as cg
    >>> g = cg.toys.library()
    >>> walks = cg.human.Trajectories.from_walks([["music", "physics", "music", "physics"]] * 3, graph=g)
    >>> fit_levy_walks(g, walks).user_steps.tolist()
    [3, 3, 3]
    """
    max_distance = _check_max_distance(max_distance)
    walks = align_walks(graph, walks)
    users, steps = collect_steps(graph, walks, max_distance)
    if len(users) == 0:
        raise WalkError("the walks have no step; give walks of 2 nodes or more.")
    fit = fit_population(steps, START_LOGS, check_seed(seed))

    def list_people(column: int) -> list[Estimate]:
        bounds = np.exp(np.stack([fit.people, fit.people_low, fit.people_high])[:, :, column])
        return [Estimate(*values) for values in bounds.T.tolist()]

    def transform(estimate: Estimate) -> Estimate:
        return Estimate(*np.exp([estimate.value, estimate.low, estimate.high]).tolist())

    reinforcement, exponent = (transform(mean) for mean in fit.mean)
    remarks = fit.remarks
    for name, estimate in (("reinforcement", reinforcement), ("exponent", exponent)):
        if estimate.high > _MAX_RATIO * estimate.low:
            remarks.append(
                f"The steps do not identify the {name}: its interval, {estimate.low:.2g} to {estimate.high:.2g}, spans "
                "more than two orders of magnitude."
            )
    for remark in remarks:
        warnings.warn(remark, stacklevel=2)
    return LevyWalks(
        reinforcement=reinforcement,
        exponent=exponent,
        reinforcement_spread=fit.spread[0],
        exponent_spread=fit.spread[1],
        max_distance=max_distance,
        users=[walks.user_names[int(user)] for user in users],
        user_steps=np.diff(steps.bounds),
        user_reinforcement=list_people(0),
        user_exponent=list_people(1),
        user_columns={name: [values[int(user)] for user in users] for name, values in walks.user_columns.items()},
        remarks=remarks,
    )


def collect_steps(graph: Graph, walks: Trajectories, max_distance: int) -> tuple[Int64, LevySteps]:
    """Return the users with a step, and what the likelihood of their steps depends on; walks are on the graph."""
    users = np.unique(walks.users[walks.lengths > 1])
    sources: list[int] = []
    targets: list[int] = []
    repeats: list[int] = []
    edges: list[tuple[int, int, int]] = []  # step, node that an edge leads to, crossings
    bounds = [0]
    walks_of = np.argsort(walks.users, kind="stable")
    first, stop = (np.searchsorted(walks.users[walks_of], users, side) for side in ("left", "right"))
    for begin, end in zip(first.tolist(), stop.tolist(), strict=True):
        crossings: dict[int, dict[int, int]] = {}
        for number in walks_of[begin:end].tolist():
            nodes = walks.walk(number).tolist()
            for source, target in pairwise(nodes):
                known = crossings.setdefault(source, {})
                edges.extend((len(sources), node, count) for node, count in known.items())
                repeats.append(known.get(target, 0))
                sources.append(source)
                targets.append(target)
                back = crossings.setdefault(target, {})
                known[target] = back[source] = known.get(target, 0) + 1
        bounds.append(len(sources))
    step_of, ends, counts = np.array(edges, np.int64).reshape(-1, 3).T
    begins = np.array(sources, np.int64)
    asked_sources = np.concatenate([begins, begins[step_of]])
    asked_targets = np.concatenate([np.array(targets, np.int64), ends])
    order = np.argsort(asked_sources, kind="stable")
    distinct, starts = np.unique(asked_sources[order], return_index=True)
    by_source, sorted_distances = kernels.shortest_paths.compute_bounded_distances(
        graph.indptr, graph.indices, distinct, np.append(starts, len(order)), asked_targets[order], max_distance
    )
    distances = np.empty(len(order), np.int64)
    distances[order] = sorted_distances
    crossed = np.zeros((len(begins), max_distance))
    np.add.at(crossed, (step_of, distances[len(begins) :] - 1), counts)
    return users, LevySteps(
        distances=distances[: len(begins)],
        crossings=np.array(repeats, np.float64),
        nodes=by_source[np.searchsorted(distinct, begins), 1:].astype(np.float64),
        crossed=crossed,
        bounds=np.array(bounds),
    )


def simulate_levy_walks(
    graph: Graph,
    reinforcement: Sequence[float],
    exponent: Sequence[float],
    steps: int = 100,
    *,
    max_distance: int = DEFAULT_MAX_DISTANCE,
    seed: int = 0,
) -> Trajectories:
    """Simulate one edge-reinforced Levy walk for each person, from random nodes; see `fit_levy_walks`.

    Parameters
    ----------
    graph : Graph
        Graph to walk on. The distances between all nodes are stored.
    reinforcement, exponent : sequences of floats
        Parameters of each person, zero or above.
    steps : int
        Number of nodes of each walk.
    max_distance : int
        Cap on distances; unreachable nodes count as this far.
    seed : int
        Random seed.

    Examples
    --------
    >>> import curiograph as cg
    >>> simulate_levy_walks(cg.toys.library(), reinforcement=[0.0, 5.0], exponent=[2.0, 2.0], steps=20)
    Trajectories(2 walks by 2 users, 40 visits of 12 nodes)
    """
    require_edges(as_graph(graph))
    max_distance = _check_max_distance(max_distance)
    steps = check_integer("steps", steps, 2, "a walk has 2 nodes or more")
    parameters = [np.asarray(values, np.float64) for values in (reinforcement, exponent)]
    for name, values in zip(("reinforcement", "exponent"), parameters, strict=True):
        if values.ndim != 1 or not np.all((values >= 0) & (values < np.inf)) or len(values) != len(parameters[0]):
            raise SettingError(f"{name} is {quote_value(values)}; give a number, zero or above, for each person.")
    size = graph.num_nodes
    everything = np.arange(size)
    _, distances = kernels.shortest_paths.compute_bounded_distances(
        graph.indptr, graph.indices, everything, size * np.arange(size + 1), np.tile(everything, size), max_distance
    )
    logs = np.log(np.maximum(distances.reshape(size, size), 1))
    lists = []
    for person, (rho, mu) in enumerate(zip(*parameters, strict=True)):
        rng = np.random.default_rng([check_seed(seed), person])
        walk = [int(rng.integers(size))]
        crossings: dict[int, Float64] = {}
        while len(walk) < steps:
            here = walk[-1]
            known = crossings.setdefault(here, np.zeros(size))
            weights = np.exp(-mu * logs[here]) * (1 + rho * known)
            weights[here] = 0.0
            totals = np.cumsum(weights)
            there = int(np.searchsorted(totals, rng.random() * totals[-1], side="right"))
            known[there] += 1
            crossings.setdefault(there, np.zeros(size))[here] += 1
            walk.append(there)
        lists.append([graph.label(node) for node in walk])
    return Trajectories.from_walks(lists, graph=graph)


def _check_max_distance(max_distance: Any) -> int:
    return check_integer("max_distance", max_distance, 2, "give a number of links, 2 or more")
