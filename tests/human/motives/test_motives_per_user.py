"""Motives of single users."""

from __future__ import annotations

import numpy as np
import pytest

import curiograph as cg
from curiograph.graph.toys import library


def test_motives_per_user():
    graph = library()
    walks = [
        cg.explore(graph, "greedy", "cpt", start, 6, seed=seed).nodes for seed in range(4) for start in graph.labels
    ]
    users = [f"u{number % 6}" for number in range(len(walks))]
    people = cg.human.Trajectories.from_walks(
        walks, users=users, graph=graph, user_columns={"group": {f"u{n}": "ab"[n % 2] for n in range(6)}}
    )
    found = cg.human.hypotheses(graph, people, motives=["uniform", "cpt", "degree"], burn_in=2)
    frame = found.per_user()
    assert len(frame) == 6 * 3
    assert frame.columns.tolist() == [
        "user", "group", "motive", "choices", "gain", "gain_low", "gain_high", "probability"
    ]  # fmt: skip
    rows = frame[frame["motive"] == "cpt"].set_index("user")
    assert (rows["gain"] * rows["choices"]).sum() / rows["choices"].sum() == pytest.approx(found["cpt"].gain.value)
    assert ((rows["gain_low"] < rows["gain"]) & (rows["gain"] < rows["gain_high"])).all()
    np.testing.assert_allclose(frame.groupby("user")["probability"].sum(), 1)
    uniform = frame[frame["motive"] == "uniform"]
    assert (uniform[["gain", "gain_low", "gain_high"]] == 0).all(axis=None)
    ratio = rows["probability"] / uniform.set_index("user")["probability"]
    np.testing.assert_allclose(np.log2(ratio), rows["gain"] * rows["choices"])
    assert {row["user"] for row in found.to_dict()["per_user"]} == set(users)
