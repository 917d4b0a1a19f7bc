"""Trainings that take seconds: graphs and settings."""

from __future__ import annotations

import curiograph as cg

SETS = cg.generate_split("er", nodes=14, train=4, val=2, test=0, seed=3)
GNN = {"walk_nodes": 6, "warmup": 4, "batch": 8, "buffer": 200, "validate_every": 4, "validation_walks": 3}
PLANNER = GNN | {"beam": 4, "far_nodes": 9}
SETTINGS = {"gnn": GNN, "planner": PLANNER}
COMMAND = [
    *["train", "--family", "ws", "--nodes", "14", "--graphs", "3", "--train-steps", "8"],
    *(word for name, value in GNN.items() for word in ("--set", f"{name}={value}")),
]
"""Command line of a training of `gnn`."""
