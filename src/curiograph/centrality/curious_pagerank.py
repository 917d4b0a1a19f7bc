"""Curious PageRank: PageRank whose walkers follow an agent, with standard errors, for all alphas at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.agents.agent_names import AgentLike, as_agent
from curiograph.arrays import Float64
from curiograph.centrality.history import Teleport, check_alpha, check_p_g, make_teleports
from curiograph.centrality.pagerank import NodeScores
from curiograph.centrality.swarm import States, SwarmLimits, SwarmVisits, WalkerPolicy, combine_visits, simulate_swarm
from curiograph.errors import SettingError, quote_value
from curiograph.exploration.mdp import Fallback, check_fallback
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph, as_graph, require_edges
from curiograph.parallel import Engine, EngineName, as_engine
from curiograph.progress import Progress, no_progress
from curiograph.rewards.reward_names import RewardLike, as_reward
from curiograph.validation import check_integer, check_seed, is_number, resolve_workers

_FIRST_SIZE = 256
"""Paths per group of the first simulation; if the error is too large, further simulations follow more."""
_MAX_PATHS = 1_000_000
"""Maximum number of paths of an exact result."""
_TOP = 20
"""Number of highest scores that must reach the tolerance."""


@dataclass(frozen=True, eq=False, repr=False)
class CuriousPageRank(NodeScores):
    """Curious PageRank of all nodes, with standard errors."""

    graph: Graph
    """Graph of the nodes."""
    agent: str
    """Name of the agent."""
    alpha: float | Float64
    """Probability to continue instead of teleporting."""
    p_g: float
    """Parameter of the rank transition."""
    scores: Float64
    """One number per node, which sum to 1; with axes for histories and alphas in front if several were given."""
    stderr: Float64
    """Standard error of every score, from the spread of eight independent swarms; zero where they agree. It does not
    include the omitted steps (see `tolerance`)."""
    converged: bool | NDArray[np.bool_]
    """Whether the standard errors of the highest scores are within the tolerance, for each history and alpha."""
    exact: bool
    """Whether all paths were followed, so that the scores are not random."""
    walks: int
    """Number of sampled walkers, including those of simulations that exact ones replaced."""
    paths: int
    """Number of distinct paths that the agent evaluated."""

    def __repr__(self) -> str:
        method = "exact" if self.exact else f"{self.walks:,} walks, largest standard error {self.stderr.max():.2g}"
        return f"CuriousPageRank(by {self.agent}, p_g {self.p_g}, scores {self.scores.shape}, {method})"

    def columns(self) -> dict[str, Any]:
        return super().columns() | {"stderr": self.stderr.ravel()}


def curious_pagerank(
    graph: Graph,
    agent: AgentLike = "greedy",
    alpha: float | Sequence[float] | Float64 = 0.85,
    history: Any = None,
    *,
    p_g: float = 0.5,
    reward: RewardLike = "igt",
    fallback: Fallback = "frontier",
    tolerance: float = 0.05,
    max_walks: int = 100_000,
    exact: bool = False,
    seed: int = 0,
    engine: EngineName | Engine = "local",
    progress: Progress = no_progress,
) -> CuriousPageRank:
    """Compute PageRank of walkers that remember their path and prefer the candidates that an agent prefers.

    With probability `alpha` a walker moves to a candidate by the rank transition. Otherwise, or if no candidate is
    left, it teleports to the history and forgets its path. If there are few paths from the history, all are followed
    and the scores are exact. Otherwise walkers are sampled, in growing numbers, until the standard error of each of the
    20 highest scores is at most `tolerance` times the score.

    Parameters
    ----------
    graph : Graph
        Graph with at least one edge. If it has weights, the probability of each candidate by the rank transition is
        multiplied by the weight of its link, and all are scaled to the sum 1.
    agent : str, Path or Agent
        Anything that `explore` accepts. The scores must be a function of the state; large batches of states are scored
        by several threads.
    alpha : float or list of float
        Probability to continue instead of teleporting, in [0, 1). Several values share one simulation, which stops when
        the largest has converged.
    history : list or mapping, optional
        Labels of visited nodes, or a mapping from labels to weights for a non-uniform teleport. Default: all nodes. A
        list of lists is a batch of histories.
    p_g : float
        Parameter in [0, 1]: 0 always takes the agent's best candidate, 1 takes all with equal probability.
    reward : str, Reward or callable
        Reward for agents that use one, such as greedy and planner.
    fallback : {"frontier", "anywhere"}
        Candidates at a dead end, as in `explore`.
    tolerance : float
        Relative standard error to reach. Sampled walks omit late steps with less than 2 % of it of all visits.
    max_walks : int
        Maximum number of walkers; if they are not enough, `converged` is False.
    exact : bool
        Follow all paths, up to a million.
    seed : int
        Random seed.
    engine : {"local", "ray"} or Engine
        Where the histories of a batch run; a single history uses the engine's number of workers as threads. The result
        is the same.
    progress : callable, optional
        Called with a message and the completed share.

    Returns
    -------
    CuriousPageRank
        Scores with standard errors.

    Examples
    --------
    >>> import curiograph as cg
    >>> eta = cg.curious_pagerank(cg.toys.library(), "greedy", history=["music", "logic"], reward="igt", exact=True)
    >>> eta.top(3)[0][0], eta.exact, round(float(eta.scores.sum()), 12)
    ('music', True, 1.0)
    """
    require_edges(as_graph(graph))
    agent, engine = as_agent(agent), as_engine(engine)
    if np.ndim(alpha) > 1 or np.size(alpha) == 0:
        raise SettingError(f"alpha is {quote_value(alpha)}; give one number, or a list of them.")
    listed: Any = alpha if np.ndim(alpha) else [alpha]
    alphas = np.asarray([check_alpha(each) for each in listed])
    if not is_number(tolerance) or not 0 < tolerance < 1:
        raise SettingError(f"tolerance is {quote_value(tolerance)}; give the relative error to allow, such as 0.05.")
    teleports, is_batch = make_teleports(graph, history)
    policy = WalkerPolicy(
        stack=GraphBatch.of([graph]),
        agent=agent,
        reward=as_reward(reward),
        p_g=check_p_g(p_g),
        fallback=check_fallback(fallback),
        workers=1 if is_batch else resolve_workers(engine.workers),
    )
    max_walks = check_integer("max_walks", max_walks, 1, "give the maximum number of walkers, 1 or more")
    settings = (alphas, float(tolerance), max_walks, exact, check_seed(seed))
    results: list[Mapping[str, Any]]
    if is_batch or engine.run is not None:
        results = engine.map(
            simulate_history, (policy, *settings), teleports, name="curious-pagerank", unit="histories",
            key=[graph, agent, policy.reward, policy.p_g, policy.fallback, *settings], progress=progress,
        )  # fmt: skip
    else:
        results = [simulate_history((policy, *settings), teleports[0])]
    shape = (len(results),) * is_batch + (len(alphas),) * np.ndim(alpha) + (graph.num_nodes,)
    scores, stderr = np.zeros((2, len(results), len(alphas), graph.num_nodes))
    for row, result in enumerate(results):
        scores[row][:, result["nodes"]] = result["scores"]
        stderr[row][:, result["nodes"]] = result["stderr"]
    converged = np.stack([result["converged"] for result in results]).reshape(shape[:-1])
    return CuriousPageRank(
        graph=graph,
        agent=agent.name,
        alpha=alphas if np.ndim(alpha) > 0 else float(alphas[0]),
        p_g=policy.p_g,
        scores=scores.reshape(shape),
        stderr=stderr.reshape(shape),
        converged=converged if converged.ndim else bool(converged),
        exact=all(result["exact"] for result in results),
        walks=sum(result["walks"] for result in results),
        paths=sum(result["paths"] for result in results),
    )


def simulate_history(shared: tuple[Any, ...], teleport: Teleport) -> dict[str, Any]:
    """Simulate walkers until the error is small enough or `max_walks` is reached.

    Return the scores and standard errors, alphas x nodes, of the nodes reached.

    The error decreases at least with the square root of the number of walkers, which gives the size of the next
    simulation. It is limited to half of the walkers so far: a large error is often that of a node that is among the
    highest by chance.
    """
    policy, alphas, tolerance, max_walks, exact, base_seed = shared
    states = States.start(teleport.nodes, base_seed)
    seed = np.asarray([base_seed], np.uint64)
    for place, node in enumerate(teleport.nodes):  # errors for different histories are independent
        seed = kernels.random.branch_streams(seed, np.uint64(place), np.asarray([node]))
    largest = float(alphas.max())
    visits: list[SwarmVisits] = []

    def simulate(limits: SwarmLimits) -> None:
        streams = kernels.random.make_streams(np.uint64(seed[0]), len(visits), SwarmLimits.groups)
        visits.append(simulate_swarm(policy, states, teleport.probabilities, limits, streams))

    if exact:
        simulate(SwarmLimits(_MAX_PATHS, largest, max_paths=_MAX_PATHS))  # so large that nothing is sampled
        nodes, scores, stderr = combine_visits(visits, alphas)
        converged = np.ones(len(alphas), bool)
    else:
        left, size = max_walks, _FIRST_SIZE
        while True:
            size = min(size, max(1, left // SwarmLimits.groups))
            simulate(SwarmLimits(size, largest, tail=tolerance / 50))
            left -= visits[-1].walks
            # If the last simulation followed all paths, the sampled ones before would only add errors.
            counted = visits if visits[-1].sampled else visits[-1:]
            nodes, scores, stderr = combine_visits(counted, alphas)
            top = np.argsort(-scores, axis=1, kind="stable")[:, :_TOP]
            highest, errors = np.take_along_axis(scores, top, 1), np.take_along_axis(stderr, top, 1)
            relative = np.divide(errors, highest, out=np.zeros_like(errors), where=highest > 0)
            excess = relative.max(axis=1) / tolerance
            converged = excess <= 1
            excess_at_largest = float(excess[alphas.argmax()])
            if excess_at_largest <= 1 or left < SwarmLimits.groups:
                break
            size = int(sum(v.size for v in visits) * np.clip(excess_at_largest**2 - 1, 0.25, 0.5))
    return {
        "nodes": nodes,
        "scores": scores,
        "stderr": stderr,
        "converged": converged,
        "exact": not visits[-1].sampled,
        "walks": sum(v.walks for v in visits),
        "paths": sum(v.paths for v in visits),
    }
