"""Compare `preset="paper"` with the published training code on cpt; run by `make paper-gap`.

Our agents of the published setting earn more cpt than the paper reports. Every variant below replaces one choice of
ours by that of the published code (or by another possible cause), trains from the same seed, and is tested without
exploration on the published test graphs, from every node. Finished trainings are kept in the folder of runs.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from dataclasses import asdict, dataclass, replace
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
from curiograph.agents.evaluate import Episodes, Evaluation, Rollouts
from curiograph.agents.gnn import GnnAgent
from curiograph.agents.layers import limit_blas_threads
from curiograph.agents.registry import as_agent
from curiograph.arrays import Float64, Int32, Int64
from curiograph.exploration.mdp import Exploration, Fallback, find_candidates
from curiograph.files import open_atomic
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph
from curiograph.graph.splits import Split, read_split
from curiograph.rewards.base import Tracker
from curiograph.rewards.cpt import build_entropy_table
from curiograph.rewards.registry import as_reward
from curiograph.training import dqn
from curiograph.training.config import DqnSettings
from curiograph.training.networks import view_weights
from curiograph.training.trainer import use_one_torch_thread

PAPER = {"rg": 9.271, "ws": 7.174, "ba": 8.556, "er": 7.880}
"""cpt returns of the GNN in Table 1 of the paper."""
FAMILIES = tuple(PAPER)
VALIDATE_EVERY = 1000


@dataclass(frozen=True)
class Variant:
    """One training; the defaults are those of `preset="paper"`."""

    epsilon: Literal["decay", "drop"] = "decay"
    """Exploration: linear decay over the run, or 1 during warm-up and 0.1 afterwards."""
    weights: Literal["ours", "sageconv", "xavier"] = "ours"
    """Initial weights of the message layers: one linear layer for both inputs, or one each as in SAGEConv of PyTorch
    Geometric; or the Xavier initialization that the published code defines but does not call."""
    fallback: Fallback = "frontier"
    """Candidates at a dead end, in training and in the test."""
    self_loops: bool = True
    """Whether the training reward counts a self-loop on every node; the test reward always does."""
    select: Literal["ours", "published"] = "ours"
    """Choice of the model: 20 greedy walks per validation graph and the target network, or 10 walks with epsilon and
    the online network."""


PUBLISHED = Variant(epsilon="drop", weights="sageconv", fallback="anywhere", select="published")
VARIANTS: dict[str, Variant] = {
    '`preset="paper"`': Variant(),
    "epsilon 0.1 after warm-up": Variant(epsilon="drop"),
    "initial weights of SAGEConv": Variant(weights="sageconv"),
    "trained without self-loops": Variant(self_loops=False),
    "Xavier initial weights": Variant(weights="xavier"),
    "published code": PUBLISHED,
    "published code, Xavier initial weights": replace(PUBLISHED, weights="xavier"),
}
TRAININGS = [
    *((name, "ws", 10_000) for name in list(VARIANTS)[:5]),
    *(
        ("published code", family, steps)
        for family, steps in zip(FAMILIES, (20_000, 20_000, 10_000, 10_000), strict=True)
    ),
    ("published code, Xavier initial weights", "ws", 20_000),
]
"""Variant, family and steps of every training."""


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
        super().__init__(settings, graphs, as_reward("cpt") if variant.self_loops else PlainCompressibility(), seed)
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


def initialize_weights(network: nn.Module, rule: str) -> None:
    """Change the initial weights of our network to those of another rule, with the same random numbers."""
    with torch.no_grad():
        for name, weight in network.named_parameters():
            layer = "layers" in name
            if rule == "sageconv" and layer:
                weight.mul_(
                    math.sqrt(2)
                )  # uniform within 1 / sqrt(inputs) of each of two matrices, not of both together
            elif rule == "xavier" and name.endswith("bias"):
                weight.zero_()
            elif rule == "xavier":
                outputs, inputs = weight.shape
                own = inputs // 2 if layer else inputs
                weight.mul_(math.sqrt(2) * math.sqrt(6 / (own + outputs)) * math.sqrt(inputs))


class EpsilonGreedy(Agent):
    """Choose at random with probability epsilon, otherwise as another agent does."""

    name = "epsilon-greedy"

    def __init__(self, agent: Agent, epsilon: float, seed: int) -> None:
        self.agent, self.epsilon, self.random = agent, epsilon, np.random.default_rng(seed)

    def scores(self, exploration: Exploration) -> Float64:
        scores = self.agent.scores(exploration)
        explore = self.random.random(len(exploration.lengths)) < self.epsilon
        return np.where(explore[exploration.candidates.walks], self.random.random(len(scores)), scores)


def evaluate_agent(
    agent: Agent, graphs: list[Graph], episodes: Episodes, fallback: Fallback, seed: int = 0
) -> Evaluation:
    """Return the cpt returns of 10-node walks, run in this process."""
    rollouts = Rollouts.create(agent, graphs, "cpt", 10, episodes, fallback, seed)
    return rollouts.summarize([rollouts.run(0, len(rollouts.initial.lengths))])


def train_variant(variant: Variant, family: str, test: list[Graph], steps: int, seed: int) -> dict[str, Any]:
    """Train a variant and return its validation and test returns after every 1,000 steps."""
    sets = cg.generate_split(family, test=0, seed=seed)
    settings = replace(DqnSettings.paper(), train_steps=steps)
    curve: list[dict[str, float]] = []
    rule = partial(find_candidates, fallback=variant.fallback)
    with use_one_torch_thread(), limit_blas_threads(), patch.object(dqn, "find_candidates", rule):
        learner = GapLearner(variant, settings, sets.train, seed)
        while learner.step_number < steps:
            learner.step()
            step = learner.step_number
            if step % VALIDATE_EVERY:
                continue
            kept: Agent = learner.agent
            validated, episodes = kept, 20
            if variant.select == "published":
                kept, episodes = learner.online_agent, 10
                validated = EpsilonGreedy(learner.agent, learner.epsilon, step)
            validation = evaluate_agent(validated, sets.val, episodes, variant.fallback, step).mean
            tested = evaluate_agent(kept, test, "all", variant.fallback).mean
            curve.append({"step": step, "validation": validation, "test": tested})
            print(f"{family} {step} {validation:.3f} {tested:.3f}", flush=True)
    best = max(curve, key=lambda point: point["validation"])
    return {"family": family, "steps": steps, "seed": seed, "chosen": best, "curve": curve}


def test_shipped_agents(environments: dict[str, Split]) -> list[dict[str, Any]]:
    """Return the cpt returns of baselines and of our shipped agents under the rules of the published evaluation."""
    rows: list[dict[str, Any]] = [{"agent": "GNN of the paper, on other test graphs", **PAPER}]

    def add(name: str, agent: str, fallback: Fallback = "anywhere", epsilon: float = 0.0) -> None:
        row: dict[str, Any] = {"agent": name}
        for family, sets in environments.items():
            chosen = as_agent(agent.format(family))
            chosen = EpsilonGreedy(chosen, epsilon, 0) if epsilon else chosen
            result = evaluate_agent(chosen, sets.test, "all", fallback)
            row |= {family: result.mean, f"{family} sem": result.sem_by_graph}
        rows.append(row)

    add("random", "random")
    add("greedy", "greedy")
    add("`cpt-*-paper`, as shipped", "cpt-{}-paper", "frontier")
    add("... dead ends anywhere", "cpt-{}-paper")
    add("... and epsilon 0.1 in the test", "cpt-{}-paper", epsilon=0.1)
    for family in environments:
        add(f"... trained on {family.upper()}", f"cpt-{family}-paper")
    add("... trained for igt", "igt-{}-paper")
    return rows


def format_page(shipped: list[dict[str, Any]], runs: list[dict[str, Any]]) -> str:
    """Return the tables as Markdown."""
    heads = [family.upper() for family in FAMILIES]
    lines = [
        "cpt, mean return of 10-node walks from every node of the published test graphs (5 per family; the paper tests",
        "on 10 others). Standard errors over graphs are in the JSON document.",
        "",
        "Without training: baselines, and our shipped agents under other rules.",
        "",
        *format_table(["agent", *heads], [[row["agent"], *(f"{row[f]:.2f}" for f in FAMILIES)] for row in shipped]),
        "",
        'One training each (seed 0, training graphs of the shipped agents). A variant differs from `preset="paper"`',
        'only in what its name says; "published code" is our learner with the epsilon, initial weights, dead ends and',
        "validation of the published code.",
        "",
    ]
    rows = []
    for run in runs:
        paper, chosen, last = PAPER[run["family"]], run["chosen"], run["curve"][-1]
        reached = next((f"{point['step']:,}" for point in run["curve"] if point["test"] >= paper), "not")
        values = [f"{chosen['test']:.2f} at {chosen['step']:,}", f"{last['test']:.2f} at {last['step']:,}", reached]
        rows.append([run["variant"], run["family"].upper(), *values, f"{paper:.2f}"])
    columns = ["variant", "family", "chosen by validation", "last", "reaches the paper at step", "paper"]
    lines += [*format_table(columns, rows), "", "Test return during the training of the published code.", ""]
    curves = [run["curve"] for run in runs if run["variant"] == "published code"]
    families = [run["family"] for run in runs if run["variant"] == "published code"]
    rows = []
    for step in (*range(1000, 10_001, 1000), 15_000, 20_000):
        points = [[point for point in curve if point["step"] == step] for curve in curves]
        rows.append([f"{step:,}", *(f"{found[0]['test']:.2f}" if found else "" for found in points)])
    rows.append(["GNN of the paper", *(f"*{PAPER[family]:.2f}*" for family in families)])
    return "\n".join([*lines, *format_table(["step", *(family.upper() for family in families)], rows), ""])


def make_slug(name: str) -> str:
    """Return the name of a variant as part of a file name."""
    return "-".join(re.findall(r"[a-z0-9.]+", name.lower()))


def format_table(heads: list[str], rows: list[list[str]]) -> list[str]:
    """Return the lines of a Markdown table."""
    return [f"| {' | '.join(row)} |" for row in [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]]


def main() -> None:
    """Train the variants that are not finished and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("environments", type=Path, help="folder of the published synthetic_*_small.json")
    parser.add_argument("--runs", type=Path, default=Path("runs/paper-gap"), help="folder for finished trainings")
    parser.add_argument("--out", type=Path, default=Path("docs/results"), help="folder for paper_gap.md and .json")
    options = parser.parse_args()
    environments = {
        family: read_split(options.environments / f"synthetic_{family.upper()}_small.json") for family in FAMILIES
    }
    options.runs.mkdir(parents=True, exist_ok=True)
    runs = []
    for name, family, steps in TRAININGS:
        path = options.runs / f"{make_slug(name)}-{family}-{steps}.json"
        if not path.is_file():
            run = train_variant(VARIANTS[name], family, environments[family].test, steps, seed=0)
            with open_atomic(path) as stream:
                stream.write(json.dumps({"variant": name, **run}).encode())
        runs.append(json.loads(path.read_text()))
    shipped = test_shipped_agents(environments)
    document = {"shipped": shipped, "variants": {n: asdict(v) for n, v in VARIANTS.items()}, "trainings": runs}
    for name, text in (
        ("paper_gap.md", format_page(shipped, runs)),
        ("paper_gap.json", json.dumps(document, indent=1) + "\n"),
    ):
        with open_atomic(options.out / name) as stream:
            stream.write(text.encode())


if __name__ == "__main__":
    main()
