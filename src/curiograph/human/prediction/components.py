"""Components of a prediction: scores of the candidates by PageRank, curious walkers and count-based baselines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float32, Float64, Int32
from curiograph.centrality.history import make_uniform_teleport
from curiograph.centrality.mixture import normalize_weights
from curiograph.centrality.pagerank import compute_flow_scales, compute_pagerank_rows
from curiograph.graph.graph import Graph
from curiograph.human.choices.choice_sets import ChoiceSet
from curiograph.human.choices.metrics import ChoiceRanks
from curiograph.parallel import IN_PROCESS, Engine, Job, Result, run_job
from curiograph.parallel.fingerprint import hash_graph, hash_values
from curiograph.progress import Progress, no_progress

REWARDS = ("igt", "cpt")
"""Rewards of the curious walkers."""
PAGERANK = "pagerank"
"""Name of the PageRank component, and of the method that uses it alone."""
ALPHAS = (0.01, 0.05, 0.15, 0.3, 0.45, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.97, 0.99)
"""Values of alpha among which one is fitted."""
Name = TypeVar("Name", bound=str)
_PAGERANK_BATCH = 256  # nodes from which PageRank is solved at a time: bounds the memory


@dataclass(frozen=True)
class Mixture:
    """Weights and parameters of a weighted sum of components, fitted to training users."""

    weights: Mapping[str, float]
    """Weight of each component, up to a common factor."""
    alpha: float = 0.85
    """Damping factor of PageRank and of the walkers."""
    steps: int = 8
    """Maximum number of steps of walkers between two teleports."""
    scaled: bool = False
    """Whether to standardize components among the candidates of each choice; needed unless all are probabilities."""

    @property
    def unit_weights(self) -> dict[str, float]:
        """Weights scaled to unit Euclidean norm."""
        return normalize_weights(self.weights, self.weights)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, with the weights scaled to unit Euclidean norm."""
        return {"alpha": self.alpha, "steps": self.steps, "scaled": self.scaled, "weights": self.unit_weights}


@dataclass(frozen=True, eq=False)
class Components:
    """Scores of the candidates of a choice set by every component."""

    choices: ChoiceSet
    """Choices and their candidates."""
    pagerank: Float32
    """PageRank, alphas x candidates."""
    walkers: Mapping[str, Float32]
    """Probability that the walkers of each component are at a candidate after each step, steps x candidates."""
    baselines: Mapping[str, Float64]
    """Scores of the candidates by each count-based baseline."""

    def rows(self, which: NDArray[np.bool_]) -> Components:
        """Select choices by a mask."""
        kept = which[self.choices.candidates.walks]
        return Components(
            choices=self.choices.rows(which),
            pagerank=self.pagerank[:, kept],
            walkers={name: table[:, kept] for name, table in self.walkers.items()},
            baselines={name: scores[kept] for name, scores in self.baselines.items()},
        )

    def compute_component(self, name: str, alpha: float, steps: int) -> Float64:
        """Return the scores of one component; walkers teleport with probability 1 - alpha and after `steps` steps."""
        if name == PAGERANK:
            return np.asarray(self.pagerank[ALPHAS.index(alpha)], np.float64)
        if name in self.baselines:
            return self.baselines[name]
        powers = alpha ** np.arange(steps + 1)
        table = self.walkers[name][:steps]
        return np.asarray((powers[1:].astype(np.float32) @ table) / powers.sum(), np.float64)

    def compute_spread(self, name: str, alpha: float, steps: int) -> float:
        """Return the standard deviation of a component among the candidates of a choice, averaged over choices."""
        return float(self._center(self.compute_component(name, alpha, steps))[1].mean())

    def score_mixture(self, mixture: Mixture) -> Float64:
        """Return the scores of a mixture."""
        total = np.zeros(len(self.choices.candidates.nodes))
        for name, weight in mixture.unit_weights.items():
            if weight:
                component = self.compute_component(name, mixture.alpha, mixture.steps)
                if mixture.scaled:
                    centered, spreads = self._center(component)
                    component = centered / np.where(spreads > 0, spreads, 1)[self.choices.candidates.walks]
                total += weight * component
        return total

    def rank_choices(self, mixture: Mixture) -> ChoiceRanks:
        """Rank the chosen nodes by a mixture."""
        return self.choices.rank(self.score_mixture(mixture))

    def _center(self, scores: Float64) -> tuple[Float64, Float64]:
        """Subtract the mean of each choice; return the centered scores and the standard deviation of each choice."""
        rows, counts = self.choices.candidates.walks, self.choices.candidates.counts
        divisor = np.maximum(counts, 1)
        centered = scores - (np.bincount(rows, scores, len(counts)) / divisor)[rows]
        return centered, np.sqrt(np.bincount(rows, centered**2, len(counts)) / divisor)


def score_pagerank(
    choices: Mapping[Name, ChoiceSet], engine: Engine = IN_PROCESS, progress: Progress = no_progress
) -> dict[Name, Float32]:
    """Compute the PageRank of all candidates for every alpha; return an array alphas x candidates by choice set.

    The histories of a choice set must have equal lengths, as those of `Trajectories.windows`.
    """
    job = Job(
        name="pagerank",
        function=_score_pagerank_task,
        shared=choices,
        tasks=list(ALPHAS),
        key=lambda: {
            "graph": hash_graph(next(iter(choices.values())).graph),
            "alphas": ALPHAS,
            "choices": {
                among: hash_values(each.windows.histories, each.candidates.offsets, each.candidates.nodes)
                for among, each in choices.items()
            },
        },
        describe_task=lambda alpha: f"alpha {alpha}",
        fix="predict fewer choices (windows, all_windows)",
    )
    results = run_job(job, engine, progress)
    return {name: np.stack([result[name] for result in results]) for name in choices}


def _score_pagerank_task(choices: Mapping[str, ChoiceSet], alpha: float) -> Result:
    """Task function: compute the PageRank of the candidates of all choice sets for one alpha.

    The PageRank of a history is a weighted mean of the PageRanks of its nodes. The weight of a node is the expected
    number of visits before the first teleport, which is smaller if walks reach dead ends.
    """
    starts = np.unique(np.concatenate([each.windows.histories.ravel() for each in choices.values()]))
    table, flows = solve_from_nodes(next(iter(choices.values())).graph, alpha, starts)
    scored = {}
    for name, each in choices.items():
        candidates, columns = each.candidates, np.searchsorted(starts, each.windows.histories).T
        total = flows[columns].sum(axis=0)[candidates.walks]
        scores = np.zeros(len(candidates.nodes), np.float32)
        for column in columns:
            rows = column[candidates.walks]
            scores += table[rows, candidates.nodes] * (flows[rows] / total)
        scored[name] = scores
    return scored


def solve_from_nodes(graph: Graph, alpha: float, starts: Int32) -> tuple[Float32, Float64]:
    """Return the PageRank from each of some nodes (starts x nodes), and the weight of each in that of a history."""
    table = np.empty((len(starts), graph.num_nodes), np.float32)
    for first in range(0, len(starts), _PAGERANK_BATCH):
        teleports = [
            make_uniform_teleport(np.asarray([node], np.int32)) for node in starts[first : first + _PAGERANK_BATCH]
        ]
        table[first : first + len(teleports)] = compute_pagerank_rows(graph, alpha, teleports)
    return table, compute_flow_scales(graph, alpha, table)
