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

PAPER = {
    "cpt": {"rg": 9.271, "ws": 7.174, "ba": 8.556, "er": 7.880},
    "igt": {"rg": 2.308, "ws": 3.303, "ba": 21.970, "er": 24.058},
}
"""Returns of the GNN in Table 1 of the paper."""
FAMILIES = tuple(PAPER["cpt"])
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
ONE_CHANGE: dict[str, Variant] = {
    '`preset="paper"`': Variant(),
    "epsilon 0.1 after warm-up": Variant(epsilon="drop"),
    "initial weights of SAGEConv": Variant(weights="sageconv"),
    "dead ends anywhere": Variant(fallback="anywhere"),
    "model chosen as published": Variant(select="published"),
    "buffer that keeps everything": Variant({"buffer": 2_000_000}),
    "Xavier initial weights": Variant(weights="xavier"),
    "50 published training graphs": Variant(graphs="published"),
    "trained without self-loops": Variant(self_loops=False),
    "trained on the change of compressibility": Variant(progress=True),
}
VARIANTS = ONE_CHANGE | {
    "published code": PUBLISHED,
    "published code, Xavier initial weights": replace(PUBLISHED, weights="xavier"),
    "published code, buffer that keeps everything": replace(PUBLISHED, settings={"buffer": 2_000_000}),
}
TRAININGS = [
    ("published code, Xavier initial weights", "cpt", "ws", 20_000),
    ("published code", "cpt", "ba", 10_000),
    ("published code", "cpt", "er", 10_000),
    ("published code, Xavier initial weights", "cpt", "rg", 10_000),
    ("buffer that keeps everything", "cpt", "ws", 10_000),
    ("dead ends anywhere", "cpt", "ws", 10_000),
    ('`preset="paper"`', "cpt", "rg", 10_000),
    ("epsilon 0.1 after warm-up", "cpt", "rg", 10_000),
]
"""Variant, reward, family and steps of every training."""


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

    def __init__(self, variant: Variant, settings: DqnSettings, graphs: list[Graph], reward: str, seed: int) -> None:
        super().__init__(settings, graphs, as_reward(reward) if variant.self_loops else PlainCompressibility(), seed)
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
    agent: Agent, graphs: list[Graph], reward: str, episodes: Episodes, fallback: Fallback, seed: int = 0
) -> Evaluation:
    """Return the evaluation of 10-node walks, run in this process."""
    rollouts = Rollouts.create(agent, graphs, reward, 10, episodes, fallback, seed)
    return rollouts.summarize([rollouts.run(0, len(rollouts.initial.lengths))])


def train_variant(
    variant: Variant, reward: str, family: str, published: Split, steps: int, seed: int
) -> dict[str, Any]:
    """Train a variant and return its validation and test returns after every 1,000 steps."""
    sets = published if variant.graphs == "published" else cg.generate_split(family, test=0, seed=seed)
    settings = replace(DqnSettings.paper(), train_steps=steps, **variant.settings)
    curve: list[dict[str, float]] = []
    rule = partial(find_candidates, fallback=variant.fallback)
    with use_one_torch_thread(), limit_blas_threads(), patch.object(dqn, "find_candidates", rule):
        learner = GapLearner(variant, settings, sets.train, reward, seed)
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
            validation = evaluate_agent(validated, sets.val, reward, episodes, variant.fallback, step).mean
            test = evaluate_agent(kept, published.test, reward, "all", variant.fallback).mean
            curve.append({"step": step, "validation": validation, "test": test})
            print(f"{reward} {family} {step} {validation:.3f} {test:.3f}", flush=True)
    best = max(curve, key=lambda point: point["validation"])
    return {"reward": reward, "family": family, "steps": steps, "seed": seed, "chosen": best, "curve": curve}


def test_shipped_agents(environments: dict[str, Split]) -> list[dict[str, Any]]:
    """Return the cpt returns of baselines and of our shipped agents under the rules of the published evaluation."""
    rows: list[dict[str, Any]] = [{"agent": "GNN of the paper, on other test graphs", **PAPER["cpt"]}]

    def add(name: str, agent: str, fallback: Fallback = "anywhere", epsilon: float = 0.0) -> None:
        row: dict[str, Any] = {"agent": name}
        for family, sets in environments.items():
            chosen = as_agent(agent.format(family))
            chosen = EpsilonGreedy(chosen, epsilon, 0) if epsilon else chosen
            result = evaluate_agent(chosen, sets.test, "cpt", "all", fallback)
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
        "One training each (seed 0): return of the model chosen by validation. Every variant differs from",
        '`preset="paper"` only in what its name says; "published code" combines the four known differences. In',
        "parentheses, the first of the steps 1,000, 2,000, ... at which the model reaches the return of the paper.",
        "",
    ]
    columns = sorted({(run["reward"], run["steps"], run["family"]) for run in runs}, key=rank_column)
    rows = []
    for name in VARIANTS:
        found = {(run["reward"], run["steps"], run["family"]): run for run in runs if run["variant"] == name}
        if found:
            rows.append([name, *(format_run(found.get(column)) for column in columns)])
    rows.append(["GNN of the paper", *(f"*{PAPER[reward][family]:.2f}*" for reward, _, family in columns)])
    titles = [f"{reward} {family.upper()}, {steps:,} steps" for reward, steps, family in columns]
    lines += [
        *format_table(["variant", *titles], rows),
        "",
        "Test return during the training of the published code.",
        "",
    ]
    curves = [run for run in runs if run["variant"] == "published code"]
    curves = sorted(curves, key=lambda run: rank_column((run["reward"], run["steps"], run["family"])))
    rows = []
    for step in (1000, 2000, 3000, 4000, 5000, 6000, 8000, 10000, 15000, 20000, 30000, 40000, 50000):
        points = [[point for point in run["curve"] if point["step"] == step] for run in curves]
        if any(points):
            rows.append([f"{step:,}", *(f"{found[0]['test']:.2f}" if found else "" for found in points)])
    rows.append(["GNN of the paper", *(f"*{PAPER[run['reward']][run['family']]:.2f}*" for run in curves)])
    titles = [f"{run['reward']} {run['family'].upper()}, {run['steps']:,} steps" for run in curves]
    return "\n".join([*lines, *format_table(["step", *titles], rows), ""])


def rank_column(column: tuple[str, int, str]) -> tuple[str, int, int]:
    """Return the sort key of a column: reward, steps, and family in the order of the paper."""
    reward, steps, family = column
    return reward, steps, FAMILIES.index(family)


def format_run(run: dict[str, Any] | None) -> str:
    """Return the test return of the chosen model and the step at which the training reached that of the paper."""
    if run is None:
        return ""
    paper = PAPER[run["reward"]][run["family"]]
    reached = next((f"{point['step']:,}" for point in run["curve"] if point["test"] >= paper), "never")
    return f"{run['chosen']['test']:.2f} ({reached})"


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
    for name, reward, family, steps in TRAININGS:
        path = options.runs / f"{make_slug(name)}-{reward}-{family}-{steps}.json"
        if not path.is_file():
            run = train_variant(VARIANTS[name], reward, family, environments[family], steps, seed=0)
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
