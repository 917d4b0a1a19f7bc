"""Ablation of the gnn agent on validation graphs.

Every variant changes one setting (or is the paper's configuration), trains for the same number of steps from the same
seed, and is compared by its last validation return on one family per reward. With a run folder, finished trainings are
kept.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from curiograph.graph.generators import generate_split
from curiograph.training.trainer import LOG_FILE, train
from reproduction.report import Report, Setup, number

CELLS = (("igt", "ba"), ("cpt", "ws"))
"""Rewards and families."""
VARIANTS: dict[str, dict[str, Any]] = {
    "ours": {},
    "features as in the paper (no logarithm)": {"log_features": False},
    "without triangles inside the subgraph": {"inner_triangles": False},
    "without degree and triangles inside it": {"inner_triangles": False, "inner_degree": False},
    "mean over neighbors instead of sum": {"aggregation": "mean"},
    "1-step targets": {"returns": 1},
    "1-step targets, double": {"returns": 1, "double": True},
    "discount 0.75": {"discount": 0.75},
    "the paper's setting": {"preset": "paper"},
}
"""Changed settings of `cg.train`."""


def compute(setup: Setup, steps: int = 2000) -> dict[str, Any]:
    """Train all variants."""
    tasks = [(name, reward, family) for name in VARIANTS for reward, family in CELLS]
    key = [VARIANTS, steps, setup.seed]
    found = setup.engine.map(
        _train_variant, (steps, setup.seed), tasks, name="ablation", key=key, unit="trainings", progress=setup.progress
    )
    rows = {name: {"variant": name} for name in VARIANTS}
    for (name, reward, family), result in zip(tasks, found, strict=True):
        rows[name][f"{reward}-{family}"] = result["validation"]
    return {"rows": list(rows.values())}


def _train_variant(shared: tuple[int, int], task: tuple[str, str, str]) -> dict[str, Any]:
    (steps, seed), (name, reward, family) = shared, task
    settings = {"train_steps": steps, "validate_every": max(1, steps // 4), "validation_walks": 50, **VARIANTS[name]}
    with TemporaryDirectory() as folder:
        train(generate_split(family, test=0, seed=seed), reward, seed=seed, out=folder, **settings)
        last = json.loads(Path(folder, LOG_FILE).read_text().splitlines()[-1])
    return {"validation": last["validation"]}


def report(document: dict[str, Any]) -> Report:
    """Show the last validation return of every variant."""
    frame = pd.DataFrame(document["rows"])
    for column in frame.columns[1:]:
        frame[column] = frame[column].map(number)
    return Report(tables={"Validation return after training": frame}, text=__doc__ or "")
