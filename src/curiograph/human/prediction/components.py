"""What a prediction is mixed from: scores of the candidates of every choice by PageRank, curious walkers and counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.arrays import Float64, Int32
from curiograph.centrality.history import make_uniform_teleport
from curiograph.centrality.mixture import normalize_weights
from curiograph.centrality.pagerank import compute_flow_scales, compute_pagerank_rows
from curiograph.exploration.mdp import Candidates
from curiograph.graph.features import Float32
from curiograph.graph.graph import Graph
from curiograph.human.choices.metrics import ChoiceRanks, choice_ranks
from curiograph.human.choices.windows import Windows
from curiograph.human.prediction.protocol import Study
from curiograph.parallel import IN_PROCESS, Engine, Job, Result, run_job
from curiograph.parallel.fingerprint import hash_graph, hash_values
from curiograph.progress import Progress, no_progress
from curiograph.recommendation.rankers import Ranker

PAGERANK = "pagerank"
ALPHAS = (0.01, 0.05, 0.15, 0.3, 0.45, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.97, 0.99)
"""What alpha is fitted on."""
_HISTORIES = 256
"""Solved together: bounds the memory."""


@dataclass(frozen=True)
class Mixture:
    """What is fitted: how the components are walked, and how they are mixed."""

    weights: Mapping[str, float]
    """By component; only their proportions matter."""
    alpha: float = 0.85
    steps: int = 8
    """Most steps of curious walkers between two teleports."""
    scaled: bool = False
    """Whether components are first brought to mean 0 and spread 1 among the candidates of each choice: needed where
    they are not all chances."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, the weights on the unit sphere."""
        unit = normalize_weights(self.weights, self.weights)
        return {"alpha": self.alpha, "steps": self.steps, "scaled": self.scaled, "weights": unit}


@dataclass(frozen=True, eq=False)
class Components:
    """Scores of the candidates of some choices."""

    windows: Windows
    candidates: Candidates
    pagerank: Float32
    """Alphas x candidates."""
    walkers: Mapping[str, Float32]
    """Of each kind, steps x candidates: the chance to be there then."""
    counted: Mapping[str, Float64]
    """Of rankers without parameters."""

    def rows(self, which: NDArray[np.bool_]) -> Components:
        """Those of some choices."""
        kept = which[self.candidates.walks]
        offsets = np.concatenate([[0], np.cumsum(self.candidates.counts[which])])
        return Components(
            self.windows.rows(which),
            Candidates(offsets, self.candidates.nodes[kept]),
            self.pagerank[:, kept],
            {name: table[:, kept] for name, table in self.walkers.items()},
            {name: scores[kept] for name, scores in self.counted.items()},
        )

    def part(self, name: str, alpha: float, steps: int) -> Float64:
        """Scores of one component. Walkers teleport after `steps` steps, if not before."""
        if name == PAGERANK:
            return np.asarray(self.pagerank[ALPHAS.index(alpha)], np.float64)
        if name in self.counted:
            return self.counted[name]
        powers = alpha ** np.arange(steps + 1)
        table = self.walkers[name][:steps]
        return np.asarray((powers[1:].astype(np.float32) @ table) / powers.sum(), np.float64)

    def scores(self, mix: Mixture) -> Float64:
        """Scores of a mixture."""
        unit = normalize_weights(mix.weights, mix.weights)
        total = np.zeros(len(self.candidates.nodes))
        for name, weight in unit.items():
            if weight:
                part = self.part(name, mix.alpha, mix.steps)
                total += weight * (self._scaled(part) if mix.scaled else part)
        return total

    def ranks(self, mix: Mixture) -> ChoiceRanks:
        """How high a mixture places what people chose."""
        return choice_ranks(self.scores(mix), self.candidates, self.windows.nexts)

    def spread(self, name: str, alpha: float, steps: int) -> float:
        """How much a component tells candidates apart: the mean over choices of its standard deviation."""
        return float(self._spreads(self._centred(self.part(name, alpha, steps))).mean())

    def _scaled(self, scores: Float64) -> Float64:
        centred = self._centred(scores)
        spread = self._spreads(centred)
        return centred / np.where(spread > 0, spread, 1)[self.candidates.walks]

    def _centred(self, scores: Float64) -> Float64:
        return scores - self._means(scores)[self.candidates.walks]

    def _spreads(self, centred: Float64) -> Float64:
        return np.sqrt(self._means(centred**2))

    def _means(self, scores: Float64) -> Float64:
        counts = self.candidates.counts
        return np.asarray(np.bincount(self.candidates.walks, scores, len(counts)) / np.maximum(counts, 1))


def score_candidates(
    study: Study, among: str, walkers: Mapping[str, Float32], pagerank: Float32, counting: Sequence[Ranker]
) -> Components:
    """Score the candidates of a study, "last" or "all", also by rankers that count."""
    windows, candidates = study.choices[among], study.candidates[among]
    histories = list(windows.histories)
    counted = {ranker.name: ranker.scores(study.graph, histories, candidates) for ranker in counting}
    return Components(windows, candidates, pagerank, walkers, counted)


def score_pagerank(study: Study, engine: Engine = IN_PROCESS, progress: Progress = no_progress) -> dict[str, Float32]:
    """PageRank of the candidates by candidate set, alphas x candidates, as a job."""
    sets = {among: (windows.histories, study.candidates[among]) for among, windows in study.choices.items()}
    tasks = [(among, alpha) for among in sets for alpha in ALPHAS]
    job = Job(
        name="pagerank",
        function=_pagerank,
        shared=(study.graph, sets),
        tasks=tasks,
        key=lambda: {
            "graph": hash_graph(study.graph),
            "alphas": ALPHAS,
            "choices": {among: hash_values(histories, c.offsets, c.nodes) for among, (histories, c) in sets.items()},
        },
        describe_task=lambda task: f"alpha {task[1]} ({task[0]})",
        fix="predict fewer choices (windows, all_windows)",
    )
    found = dict(zip(tasks, run_job(job, engine, progress), strict=True))
    return {among: np.stack([found[among, alpha]["scores"] for alpha in ALPHAS]) for among in sets}


def _pagerank(shared: tuple[Graph, Mapping[str, tuple[Int32, Candidates]]], task: tuple[str, float]) -> Result:
    """PageRank of the candidates for one alpha: for a history, the flows from its nodes added up.

    Where walks end at dead ends and start again, the flow from a node is its PageRank over how often that happens.
    """
    (graph, sets), (among, alpha) = shared, task
    histories, candidates = sets[among]
    starts, place = np.unique(histories, return_inverse=True)
    places = np.asarray(place).reshape(histories.shape).T
    table = np.empty((len(starts), graph.num_nodes), np.float32)
    for first in range(0, len(starts), _HISTORIES):
        some = starts[first : first + _HISTORIES]
        table[first : first + len(some)] = compute_pagerank_rows(
            graph, alpha, [make_uniform_teleport(np.asarray([node], np.int32)) for node in some]
        )
    flows = compute_flow_scales(graph, alpha, table)
    total = flows[places].sum(axis=0)[candidates.walks]
    found = np.zeros(len(candidates.nodes), np.float32)
    for column in places:
        mine = column[candidates.walks]
        found += table[mine, candidates.nodes] * (flows[mine] / total)
    return {"scores": found}
