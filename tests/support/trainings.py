"""Trainings that take seconds: graphs, settings, and a script that trains in another process."""

from __future__ import annotations

import pytest

import curiograph as cg
from curiograph.training import logging, trainer

SETS = cg.generate_split("er", nodes=14, train=4, val=2, test=0, seed=3)
GNN = {"walk_nodes": 6, "warmup": 4, "batch": 8, "buffer": 200, "validate_every": 4, "validation_walks": 3}
HORIZON = GNN | {"walks": 3, "beam": 2, "far_nodes": 9, "layers": 2, "width": 8, "near": 6}
PLANNER = GNN | {"walks": 4, "beam": 4, "updates": 2, "options": 4, "far_nodes": 9, "fan": 8}
SETTINGS = {"gnn": GNN, "horizon": HORIZON, "planner": PLANNER}
_OPTIONS = [word for name, value in GNN.items() for word in ("--set", f"{name}={value}")]
COMMAND = ["train", "--family", "ws", "--nodes", "14", "--graphs", "3", "--train-steps", "8", *_OPTIONS]
"""Command line of a training of `gnn`."""
SCRIPT = """
import sys
import curiograph as cg
from curiograph.training import trainer
trainer._CHECKPOINT_SECONDS = 0.0
sets = cg.generate_split("er", nodes=14, train=4, val=2, test=0, seed=3)
"""
"""Start of a script that trains on `sets` and writes a checkpoint at every report."""


def skip_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip the plot and TensorBoard, which take half of the time of a short training."""
    monkeypatch.setattr(trainer, "save_curves", lambda *given: None)
    monkeypatch.setattr(logging, "_open_tensorboard", lambda *given: None)
