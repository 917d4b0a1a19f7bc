"""Ablation of the gnn agent on validation graphs.

Every variant changes one setting (or is the paper's configuration), trains for the same number of steps from the same
seed, and is compared by its last validation return on one family per reward.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from curiograph.agents.evaluate import evaluate
from curiograph.agents.layers import limit_blas_threads
from curiograph.graph.generators import generate_split
from curiograph.rewards.reward_names import as_reward
from curiograph.training.dqn import DqnLearner, PaperDqnLearner
from curiograph.training.trainer import use_one_torch_thread
from curiograph.training.training_settings import make_settings
from reproduction.report import Report, Setup, number

CELLS = (("igt", "ba"), ("cpt", "ws"))
PAPER = "the paper's setting"
VARIANTS: dict[str, dict[str, Any]] = {
    "ours": {},
    "features as in the paper (no logarithm)": {"shape": {"log_features": False}},
    "without triangles inside the subgraph": {"shape": {"inner_triangles": False}},
    "without degree and triangles inside it": {"shape": {"inner_triangles": False, "inner_degree": False}},
    "mean over neighbors instead of sum": {"shape": {"aggregation": "mean"}},
    "1-step targets": {"returns": 1},
    "discount 0.75": {"discount": 0.75},
    PAPER: {},
}
"""What a variant changes: the shape of the network, the rewards of an n-step return, the discount."""


def compute(setup: Setup, steps: int = 2000) -> dict[str, Any]:
    """Train all variants; with a run folder, finished trainings are kept."""
    tasks = [(name, reward, family) for name in VARIANTS for reward, family in CELLS]
    key, shared = [VARIANTS, steps, setup.seed], (steps, setup.seed)
    found = setup.engine.map(_train_variant, shared, tasks, name="ablation", key=key, progress=setup.progress)
    rows = {name: {"variant": name} for name in VARIANTS}
    for (name, reward, family), result in zip(tasks, found, strict=True):
        rows[name][f"{reward}-{family}"] = result["validation"]
    return {"rows": list(rows.values())}


def _train_variant(shared: tuple[int, int], task: tuple[str, str, str]) -> dict[str, Any]:
    (steps, seed), (name, reward, family) = shared, task
    changes, sets = dict(VARIANTS[name]), generate_split(family, test=0, seed=seed)
    shape, discount = changes.pop("shape", {}), {key: changes.pop(key) for key in ("discount",) if key in changes}
    base = PaperDqnLearner if name == PAPER else DqnLearner
    learner_type: Any = type("Variant", (base,), {"shape": replace(base.shape, **shape), **changes})
    settings = make_settings("gnn", "paper" if name == PAPER else "best", {"train_steps": steps, **discount})
    with use_one_torch_thread(), limit_blas_threads():
        learner = learner_type(settings, sets.train, as_reward(reward), seed)
        while learner.step_number < steps:
            learner.step()
        found = evaluate(learner.agent, sets.val, reward, settings.walk_nodes, 50, seed=seed)
    return {"validation": found.mean}


def report(document: dict[str, Any]) -> Report:
    """Show the last validation return of every variant."""
    frame = pd.DataFrame(document["rows"])
    for column in frame.columns[1:]:
        frame[column] = frame[column].map(number)
    return Report(tables={"Validation return after training": frame}, text=__doc__ or "")
