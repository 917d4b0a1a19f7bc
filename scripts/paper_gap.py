"""Compare `preset="paper"` with the published training code on cpt; run by `make paper-gap`.

Our agents of the published setting earn more cpt than the paper reports. Every variant below replaces one choice of
ours by that of the published code (or by another possible cause), trains from the same seed, and is tested without
exploration on the published test graphs, from every node. Finished trainings are kept in the folder of runs.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal
from unittest.mock import patch

import numpy as np
import torch
from torch import nn

import curiograph as cg
from curiograph import kernels
from curiograph.agents.base import Agent
from curiograph.agents.evaluate import Rollouts
from curiograph.agents.gnn import GnnAgent
from curiograph.agents.layers import limit_blas_threads
from curiograph.agents.registry import as_agent
from curiograph.arrays import Float64, Int32, Int64
from curiograph.exploration.mdp import Exploration, Fallback
from curiograph.files import open_atomic
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph
from curiograph.graph.splits import Split, read_split
from curiograph.rewards.base import Reward, Tracker
from curiograph.rewards.cpt import build_entropy_table
from curiograph.rewards.registry import as_reward
from curiograph.training import dqn
from curiograph.training.config import DqnSettings
from curiograph.training.networks import view_weights
from curiograph.training.trainer import use_one_torch_thread

PAPER = {"rg": 9.271, "ws": 7.174, "ba": 8.556, "er": 7.880}
"""cpt returns of the GNN in Table 1 of the paper."""
VALIDATE_EVERY = 1000


@dataclass(frozen=True)
class Variant:
    """One training; the defaults are those of `preset="paper"`."""

    settings: dict[str, Any] = field(default_factory=dict)
    """Changed settings."""
    epsilon: Literal["decay", "drop"] = "decay"
    """Exploration: the schedule of the settings, or 1 during warm-up and 0.1 afterwards."""
    weights: Literal["ours", "sageconv", "xavier"] = "ours"
    """Initial weights of the message layers: one linear layer for both inputs, or one each as in SAGEConv of PyTorch
    Geometric; or the Xavier initialization that the published code defines but does not call."""
    fallback: Fallback = "frontier"
    """Candidates at a dead end, in training and in the test."""
    self_loops: bool = True
    """Whether the training reward counts a self-loop on every node; the test reward always does."""
    progress: bool = False
    """Whether the training reward is the change of compressibility instead of compressibility."""
    select: Literal["ours", "published"] = "ours"
    """Choice of the model: 20 greedy walks per validation graph and the target network, or 10 walks with epsilon and
    the online network."""
    graphs: Literal["generated", "published"] = "generated"
    """Training and validation graphs: 100 and 10 generated ones, or the 50 and 5 of the published file."""


PUBLISHED = Variant(epsilon="drop", weights="sageconv", fallback="anywhere", select="published")
VARIANTS: dict[str, Variant] = {
    "`preset=\"paper\"`": Variant(),
    "epsilon 0.1 after warm-up": Variant(epsilon="drop"),
    "epsilon 0.1 from half of the run": Variant({"epsilon_steps": 0.5}),
    "initial weights of SAGEConv": Variant(weights="sageconv"),
    "Xavier initial weights": Variant(weights="xavier"),
    "dead ends anywhere": Variant(fallback="anywhere"),
    "buffer 500,000": Variant({"buffer": 500_000}),
    "model chosen as published": Variant(select="published"),
    "published training graphs (50)": Variant(graphs="published"),
    "trained without self-loops": Variant(self_loops=False),
    "trained on the change of compressibility": Variant(progress=True),
    "published code": PUBLISHED,
    "published code, buffer 500,000": replace(PUBLISHED, settings={"buffer": 500_000}),
    "published code, Xavier initial weights": replace(PUBLISHED, weights="xavier"),
    "published code, trained without self-loops": replace(PUBLISHED, self_loops=False),
}


class PlainTracker(Tracker):
    """Compressibility of the visited subgraph without self-loops."""

    def values(self) -> Float64:
        return np.array([self._compute(self.nodes[i, :n]) for i, n in enumerate(self.lengths)])

    def candidate_values(self, offsets: Int64, candidates: Int32) -> Float64:
        walks = np.repeat(np.arange(len(self.lengths)), np.diff(offsets))
        walked = [np.append(self.nodes[i, : self.lengths[i]], v) for i, v in zip(walks, candidates, strict=True)]
        return np.array([self._compute(nodes) for nodes in walked])

    def _compute(self, nodes: Int32) -> float:
        csr, nodes, size = self.stack.skeleton, np.sort(nodes), len(nodes)
        work = kernels.compressibility.allocate_workspace(size)
        for row, node in enumerate(nodes):
            work[0][row] = np.isin(nodes, csr.indices[csr.indptr[node] : csr.indptr[node + 1]])
        rates, merges = np.empty(size, np.int64), np.empty((size, 2), np.int64)
        table, unit = build_entropy_table(size**2)
        total = kernels.compressibility.compute_curve(size, table, work, rates, merges)
        return float(np.mean(rates[0] - rates) * unit / total) if total else 0.0


@dataclass(frozen=True)
class PlainCompressibility:
    """The cpt reward without self-loops."""

    name: str = "cpt-plain"

    def track(self, stack: GraphBatch, nodes: Int32, lengths: Int64) -> Tracker:
        return PlainTracker(stack, nodes, lengths)


class GapLearner(dqn.DqnLearner):
    """DqnLearner with the choices of a variant."""

    def __init__(self, variant: Variant, settings: DqnSettings, graphs: list[Graph], seed: int) -> None:
        reward: Reward = as_reward("cpt") if variant.self_loops else PlainCompressibility()
        super().__init__(settings, graphs, reward, seed)
        self.variant = variant
        self.exploration = replace(self.exploration, fallback=variant.fallback)  # kept by all later walks
        initialize_weights(self.network, variant.weights)
        self.target.load_state_dict(self.network.state_dict())
        self.online_agent = GnnAgent(settings.shape, view_weights(self.network))

    @property
    def epsilon(self) -> float:
        if self.variant.epsilon == "decay":
            return super().epsilon
        return 1.0 if self.step_number < self.settings.warmup else self.settings.epsilon_last

    def _store_transitions(self, moved: Int64) -> None:
        walks = self.exploration
        if self.variant.progress:
            changes = np.diff(walks.rewards, axis=1, prepend=0.0)
            self.exploration = replace(walks, rewards=changes)
        super()._store_transitions(moved)
        self.exploration = walks


def initialize_weights(network: nn.Module, rule: str) -> None:
    """Change the initial weights of our network to those of another rule, with the same random numbers."""
    with torch.no_grad():
        for name, weight in network.named_parameters():
            layer = "layers" in name
            if rule == "sageconv" and layer:
                weight *= math.sqrt(2)  # uniform within 1 / sqrt(inputs) of each of two matrices, not of both together
            elif rule == "xavier" and name.endswith("bias"):
                weight.zero_()
            elif rule == "xavier":
                outputs, inputs = weight.shape
                own = inputs // 2 if layer else inputs
                weight *= math.sqrt(2) * math.sqrt(6 / (own + outputs)) * math.sqrt(inputs)


class EpsilonGreedy(Agent):
    """Choose at random with probability epsilon, otherwise as another agent does."""

    name = "epsilon-greedy"

    def __init__(self, agent: Agent, epsilon: float, seed: int) -> None:
        self.agent, self.epsilon, self.random = agent, epsilon, np.random.default_rng(seed)

    def scores(self, exploration: Exploration) -> Float64:
        scores = self.agent.scores(exploration)
        explore = self.random.random(len(exploration.lengths)) < self.epsilon
        return np.where(explore[exploration.candidates.walks], self.random.random(len(scores)), scores)


def compute_return(agent: Agent, graphs: list[Graph], episodes: Any, fallback: Fallback, seed: int = 0) -> float:
    """Return the mean cpt return of 10-node walks."""
    rollouts = Rollouts.create(agent, graphs, "cpt", 10, episodes, fallback, seed)
    return float(rollouts.run(0, len(rollouts.initial.lengths))["returns"].mean())


def train_variant(
    variant: Variant, family: str, published: Split, steps: int, seed: int, report: Callable[[str], None]
) -> dict[str, Any]:
    """Train a variant and return its validation and test returns after every 1,000 steps."""
    sets = published if variant.graphs == "published" else cg.generate_split(family, test=0, seed=seed)
    settings = replace(DqnSettings.paper(), train_steps=steps, **variant.settings)
    curve: list[dict[str, float]] = []
    rule = partial(dqn.find_candidates, fallback=variant.fallback)
    with use_one_torch_thread(), limit_blas_threads(), patch.object(dqn, "find_candidates", rule):
        learner = GapLearner(variant, settings, sets.train, seed)
        while learner.step_number < steps:
            learner.step()
            if learner.step_number % VALIDATE_EVERY:
                continue
            if variant.select == "ours":
                agent, judged, episodes = learner.agent, learner.agent, 20
            else:
                agent, episodes = learner.online_agent, 10
                judged = EpsilonGreedy(learner.agent, learner.epsilon, learner.step_number)  # type: ignore[assignment]
            validation = compute_return(judged, sets.val, episodes, variant.fallback, learner.step_number)
            test = compute_return(agent, published.test, "all", variant.fallback)
            curve.append({"step": learner.step_number, "validation": validation, "test": test})
            report(f"{family} {learner.step_number} {validation:.3f} {test:.3f}")
    best = max(curve, key=lambda point: point["validation"])
    return {"family": family, "steps": steps, "seed": seed, "best": best, "last": curve[-1], "curve": curve}


def test_shipped(environments: dict[str, Split]) -> dict[str, dict[str, float]]:
    """Return the test returns of baselines and of our shipped agents under the rules of the published evaluation."""
    rows: dict[str, dict[str, float]] = {"paper's GNN": PAPER}

    def add(name: str, agent: str, fallback: Fallback = "frontier", epsilon: float = 0.0) -> None:
        rows[name] = {}
        for family, sets in environments.items():
            chosen = as_agent(agent.format(family))
            chosen = EpsilonGreedy(chosen, epsilon, 0) if epsilon else chosen
            rows[name][family] = compute_return(chosen, sets.test, "all", fallback)

    for name in ("random", "greedy"):
        add(name, name)
    add("shipped agent", "cpt-{}-paper")
    add("dead ends anywhere", "cpt-{}-paper", "anywhere")
    add("epsilon 0.1 in the test", "cpt-{}-paper", "anywhere", 0.1)
    for family in environments:
        add(f"trained on {family.upper()}", f"cpt-{family}-paper", "anywhere")
    add("trained for igt", "igt-{}-paper", "anywhere")
    return rows


def main() -> None:
    """Train the variants that are not finished and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("environments", type=Path, help="folder of the published synthetic_*_small.json")
    parser.add_argument("--runs", type=Path, default=Path("runs/paper-gap"), help="folder for finished trainings")
    parser.add_argument("--out", type=Path, default=Path("docs/results"), help="folder for paper_gap.md and .json")
    parser.add_argument("--train", nargs="*", default=[], metavar="VARIANT:FAMILY:STEPS", help="variants by number")
    parser.add_argument("--seed", type=int, default=0, help="seed of all trainings")
    options = parser.parse_args()
    environments = {
        family: read_split(options.environments / f"synthetic_{family.upper()}_small.json") for family in PAPER
    }
    options.runs.mkdir(parents=True, exist_ok=True)
    names = list(VARIANTS)
    for task in options.train:
        number, family, steps = task.split(":")
        path = options.runs / f"{int(number):02d}-{family}-{steps}-{options.seed}.json"
        if path.is_file():
            continue
        name = names[int(number)]
        run = train_variant(
            VARIANTS[name], family, environments[family], int(steps), options.seed, lambda line: print(line, flush=True)
        )
        with open_atomic(path) as stream:
            stream.write(json.dumps({"variant": name, "choices": asdict(VARIANTS[name]), **run}, indent=1).encode())


if __name__ == "__main__":
    main()
