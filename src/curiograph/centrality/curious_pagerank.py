"""`curious_pagerank`: PageRank whose walkers follow an agent, with error bars, for every alpha at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.agents.registry import AgentLike, as_agent
from curiograph.arrays import Float64, Int32, Int64
from curiograph.centrality.history import (
    Teleport,
    check_alpha,
    is_history_batch,
    make_teleport_or_uniform,
    make_teleports,
)
from curiograph.centrality.rank_transition import check_p_g
from curiograph.centrality.scores import find_top_nodes, label_scores, plot_top_scores
from curiograph.centrality.swarm import States, SwarmLimits, WalkerPolicy, simulate_swarm
from curiograph.centrality.visits import Visits, combine_visits
from curiograph.errors import SettingError, UnknownNameError
from curiograph.exploration.mdp import Fallback, Streams, check_fallback
from curiograph.files import PathLike
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph, as_graph, require_edges
from curiograph.messages import quote_value
from curiograph.parallel import Engine, EngineName, Job, Result, resolve_engine, run_job
from curiograph.parallel.fingerprint import fingerprint, hash_graph, hash_values
from curiograph.parallel.memory import check_memory
from curiograph.progress import Progress, no_progress
from curiograph.rewards.registry import RewardLike, as_reward
from curiograph.validation import check_integer, check_seed, is_number, resolve_workers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Memory = Literal["path", "history"]

FIRST_SIZE = 256
"""Paths that each group follows at first; if the error is too large, further simulations follow more."""
_MOST_PATHS = 1_000_000
"""An exact answer is refused beyond."""
_REACHED = 20_000
"""Nodes that walkers reach from a history, about."""
_SWARM = 2**28
"""Bytes that the walkers of one history take at most: measured, rounded up."""


@dataclass(frozen=True, eq=False)
class CuriousPageRank:
    """Scores of all nodes, with standard errors."""

    scores: Float64
    """One number per node, adding up to 1: (histories x) (alphas x) nodes where several were given."""
    stderr: Float64
    """Standard error of every score, from the spread of eight independent swarms; zero where they agree, as they do
    where nothing was drawn. Steps that are left out (see `tolerance`) are not in it."""
    converged: bool | NDArray[np.bool_]
    """Whether the standard errors of the highest scores are within the tolerance; one answer per history and alpha."""
    exact: bool
    """Whether all paths were followed, so that no score depends on a draw."""
    walks: int
    """Walkers that were drawn and followed, also where that led on to following all paths."""
    paths: int
    """Distinct paths that the agent was asked about."""
    agent: str
    alpha: float | Float64
    p_g: float
    graph: Graph = field(repr=False)

    def top(self, k: int = 10) -> Any:
        """The `k` best nodes as (label, score), best first; lists of such lists for several histories or alphas."""
        return find_top_nodes(self.graph, self.scores, k)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Bars of the best scores with standard errors; for several alphas, the best scores against alpha."""
        return plot_top_scores(self.graph, self.scores, self.stderr, self.alpha, self.agent, ax)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, scores by label."""
        return {
            "agent": self.agent,
            "alpha": np.asarray(self.alpha).tolist(),
            "p_g": self.p_g,
            "converged": np.asarray(self.converged).tolist(),
            "exact": self.exact,
            "walks": self.walks,
            "paths": self.paths,
            "scores": label_scores(self.graph, self.scores),
            "stderr": label_scores(self.graph, self.stderr),
        }


def curious_pagerank(
    graph: Graph,
    agent: AgentLike = "greedy",
    alpha: float | Sequence[float] | Float64 = 0.85,
    history: Any = None,
    *,
    p_g: float = 0.5,
    weights: Any = None,
    reward: RewardLike = "igt",
    remember: Memory = "path",
    fallback: Fallback = "frontier",
    tolerance: float = 0.05,
    top: int = 20,
    max_walks: int = 100_000,
    exact: bool = False,
    seed: int = 0,
    engine: EngineName | Engine = "local",
    workers: int | None = None,
    address: str | None = None,
    run: PathLike | None = None,
    progress: Progress = no_progress,
) -> CuriousPageRank:
    """PageRank walked by an agent: walkers remember their path, and prefer the candidates that the agent prefers.

    With chance `alpha` a walker goes on, to a candidate by the rank transition; otherwise it teleports to the history,
    as does a walker that has no candidate left, and forgets its path. Where the paths from the history are few, all are
    followed and the scores are exact. Otherwise walkers are drawn, in growing numbers, until the standard error of each
    of the `top` scores is at most `tolerance` of the score.

    Parameters
    ----------
    agent : whatever `explore` takes: a name, a shipped agent, a path, or an object of your own. It must be a function
        of the state alone; many states are scored on several threads.
    alpha : one number in [0, 1), or several: they cost one simulation, which stops when the largest has converged.
    history : labels of visited nodes; None for all nodes alike; a list of lists for several users.
    p_g : 0 always takes the agent's best candidate, 1 any candidate alike. Weights of the graph's edges play no part.
    weights : one number per entry of the history, for a teleport that is not uniform.
    reward : what agents that look at rewards (greedy, horizon) are after.
    remember : "path", what was visited since the last teleport; or "history", all that the user visited as well.
    fallback : at a dead end, as in `explore`.
    tolerance : relative standard error to reach. Once walkers are drawn, steps that would hold less than a fiftieth of
        it of all visits are left out.
    top : how many of the highest scores have to reach it.
    max_walks : most walkers to draw; if they do not suffice, `converged` is False.
    exact : follow all paths, however many (up to a million).
    engine : who answers for several histories: "local", processes of this machine; or "ray", a cluster. The result is
        the same.
    workers : histories at a time, and for a single one threads; None for as many as pay off.
    address : of the cluster; without it one is started on this machine for the job.
    run : folder that keeps what is finished: a killed job goes on where it stopped.

    >>> from curiograph.graph.toys import library
    >>> eta = curious_pagerank(library(), "greedy", history=["music", "logic"], reward="igt", exact=True)
    >>> eta.top(3)[0][0], eta.exact, round(float(eta.scores.sum()), 12)
    ('music', True, 1.0)
    """
    require_edges(as_graph(graph))
    made, used_engine = as_agent(agent), resolve_engine(engine, workers, address, run)
    alphas = _alphas(alpha)
    if remember not in get_args(Memory):
        raise UnknownNameError(f"remember is {quote_value(remember)}; the choices are {', '.join(get_args(Memory))}.")
    if remember == "history" and history is None:
        raise SettingError("remember is 'history' but there is no history; give one, or remember the path.")
    many = is_history_batch(graph, history)
    threads = 1 if many else resolve_workers(workers)
    how = _Simulation(
        WalkerPolicy(
            GraphBatch.of([graph]), made, as_reward(reward), check_p_g(p_g), check_fallback(fallback), threads
        ),
        alphas,
        _tolerance(tolerance),
        check_integer("top", top, 1, "give the number of scores whose error counts, 1 or more"),
        check_integer("max_walks", max_walks, 1, "give the most walkers to draw, 1 or more"),
        exact,
        remember,
        check_seed(seed),
    )
    starts = make_teleports(graph, history, weights) if many else [make_teleport_or_uniform(graph, history, weights)]
    found = _answers(how, starts, used_engine, progress) if many else [how.answer(starts[0])]
    shape = (len(found),) * many + (len(alphas),) * (np.ndim(alpha) > 0) + (graph.num_nodes,)
    converged = np.stack([f.converged for f in found]).reshape(shape[:-1])
    return CuriousPageRank(
        _everywhere(found, "scores", graph.num_nodes).reshape(shape),
        _everywhere(found, "stderr", graph.num_nodes).reshape(shape),
        converged if converged.ndim else bool(converged),
        all(f.exact for f in found),
        sum(f.walks for f in found),
        sum(f.paths for f in found),
        made.name,
        alphas if np.ndim(alpha) > 0 else float(alphas[0]),
        how.bias.p_g,
        graph,
    )


def _answers(how: _Simulation, starts: Sequence[Teleport], engine: Engine, progress: Progress) -> list[_Answer]:
    """Answer for all histories, with a task for each."""
    graph = how.bias.stack.graphs[0]
    job = Job(
        name="curious-pagerank",
        function=_answered,
        shared=how,
        tasks=starts,
        key=lambda: (
            how.about() | {"histories": [[len(q.nodes), hash_values(q.nodes, q.chances, q.visited)] for q in starts]}
        ),
        describe_task=lambda q: f"the history {quote_value([graph.label(int(v)) for v in q.visited])}",
        unit="histories",
        fix="rank fewer histories at a time, or use pagerank_top or recommend, which need no score for every node",
    )
    check_memory(2 * 8 * len(starts) * len(how.alphas) * graph.num_nodes, job.fix)
    return [_Answer(**result) for result in run_job(job, engine, progress)]


def _answered(how: _Simulation, q: Teleport) -> Result:
    return vars(how.answer(q))


@dataclass(frozen=True, eq=False)
class _Answer:
    """For one history, and the nodes that walkers reached from it."""

    nodes: Int64
    scores: Float64
    """Alphas x nodes."""
    stderr: Float64
    converged: NDArray[np.bool_]
    exact: bool
    walks: int
    paths: int


def _everywhere(found: Sequence[_Answer], name: str, num_nodes: int) -> Float64:
    """Scores or errors of all nodes: histories x alphas x nodes."""
    values = np.zeros((len(found), len(found[0].converged), num_nodes))
    for row, answer in zip(values, found, strict=True):
        row[:, answer.nodes] = getattr(answer, name)
    return values


@dataclass(frozen=True, eq=False)
class _Simulation:
    """How to answer for any history."""

    bias: WalkerPolicy
    alphas: Float64
    tolerance: float
    top: int
    max_walks: int
    exact: bool
    remember: Memory
    seed: int

    def about(self) -> dict[str, Any]:
        """What tells its answers from those of any other."""
        bias = self.bias
        return {
            "graph": hash_graph(bias.stack.graphs[0]),
            "agent": fingerprint("agent", bias.agent),
            "reward": fingerprint("reward", bias.reward),
            "settings": [bias.p_g, bias.fallback, self.tolerance, self.top, self.max_walks, self.exact],
            "alphas": self.alphas.tolist(),
            "remember": self.remember,
            "seed": self.seed,
        }

    def answer(self, q: Teleport) -> _Answer:
        """Simulate until the error is small enough, or the walks are used up.

        Errors fall at least like one over the root of the walkers, which says how many more it takes; but at most half
        as many again at a time: a large error is often that of a node that got among the highest by chance.
        """
        states = make_start_states(q.nodes, self.seed, q.visited if self.remember == "history" else None)
        seed = int(_mixed(self.seed, q.nodes))
        from_history = partial(simulate_swarm, self.bias, states, q.chances)
        largest = float(self.alphas.max())
        if self.exact:
            reach = SwarmLimits(_MOST_PATHS, largest, most_paths=_MOST_PATHS)  # so large that nothing is drawn
            visits = [from_history(reach, _streams(seed, 0))]
            return _answer(*combine_visits(visits, self.alphas), np.ones(len(self.alphas), bool), visits)
        visits, left, size = [], self.max_walks, FIRST_SIZE
        while True:
            reach = SwarmLimits(min(size, max(1, left // SwarmLimits.groups)), largest, tail=self.tolerance / 50)
            visits.append(from_history(reach, _streams(seed, len(visits))))
            left -= visits[-1].walks
            # where the last one followed all paths, those before have nothing to add but their errors
            counted = visits if visits[-1].drawn else visits[-1:]
            nodes, scores, stderr = combine_visits(counted, self.alphas)
            excess = self._errors(scores, stderr) / self.tolerance
            largest_excess = float(excess[self.alphas.argmax()])
            if largest_excess <= 1 or left < SwarmLimits.groups:
                return _answer(nodes, scores, stderr, excess <= 1, visits)
            size = int(sum(v.size for v in visits) * np.clip(largest_excess**2 - 1, 0.25, 0.5))

    def _errors(self, scores: Float64, stderr: Float64) -> Float64:
        """The largest relative error of the highest scores, by alpha."""
        top = np.argsort(-scores, axis=1, kind="stable")[:, : self.top]
        highest, errors = np.take_along_axis(scores, top, 1), np.take_along_axis(stderr, top, 1)
        relative = np.divide(errors, highest, out=np.zeros_like(errors), where=highest > 0)
        return np.asarray(relative.max(axis=1))


def _answer(
    nodes: Int64, scores: Float64, stderr: Float64, converged: NDArray[np.bool_], visits: Sequence[Visits]
) -> _Answer:
    walks, paths = sum(v.walks for v in visits), sum(v.paths for v in visits)
    return _Answer(nodes, scores, stderr, converged, not visits[-1].drawn, walks, paths)


def _streams(seed: int, task: int) -> Streams:
    streams: Streams = kernels.random.make_streams(np.uint64(seed), task, SwarmLimits.groups)
    return streams


def _mixed(seed: int, nodes: Int32) -> np.uint64:
    """A seed for a history, so that errors for different users are independent."""
    mixed = np.asarray([seed], np.uint64)
    for place, node in enumerate(nodes):
        mixed = kernels.random.branch_streams(mixed, np.uint64(place), np.asarray([node]))
    return np.uint64(mixed[0])


def make_start_states(nodes: Int32, seed: int, visited: Int32 | None = None) -> States:
    """The states in which walkers start: one per node, which stands last in it, after what else counts as visited."""
    streams = kernels.random.branch_streams(np.full(len(nodes), seed, np.uint64), np.uint64(0), nodes)
    if visited is None:
        return States(nodes[:, None], streams)
    rows = [np.append(visited[visited != node], node) for node in nodes]
    return States(np.asarray(rows, np.int32), streams)


def _alphas(alpha: Any) -> Float64:
    if np.ndim(alpha) == 0:
        return np.asarray([check_alpha(alpha)])
    if np.ndim(alpha) > 1 or len(alpha) == 0:
        raise SettingError(f"alpha is {quote_value(alpha)}; give one number, or a list of them.")
    return np.asarray([check_alpha(each) for each in alpha])


def _tolerance(tolerance: Any) -> float:
    if not is_number(tolerance) or not 0 < tolerance < 1:
        raise SettingError(f"tolerance is {quote_value(tolerance)}; give the relative error to allow, such as 0.05.")
    return float(tolerance)
