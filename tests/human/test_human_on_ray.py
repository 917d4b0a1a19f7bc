"""Prediction, hypotheses and growth on a Ray cluster of two nodes: bit-identical to this process."""

from __future__ import annotations

import pytest

from support import ray_cluster

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(ray_cluster.missing() is not None, reason=str(ray_cluster.missing())),
]

HYPOTHESES = """
import os
from support import people
from curiograph.human.motives.hypotheses import hypotheses
from curiograph.human.people.growth_comparison import compare_growth
from curiograph.parallel import Engine

data = people.walkers(users=200)
there = {"engine": "ray", "address": os.environ["CLUSTER_ADDRESS"]}
one, other = (hypotheses(data.graph, data.walks, agents=["igt-rg"], **how) for how in ({"workers": 1}, there))
assert repr(one.to_dict()) == repr(other.to_dict()) and one.user_gains.tobytes() == other.user_gains.tobytes()
engines = Engine(workers=1), Engine("ray", address=there["address"])
one, other = (compare_growth(data.graph, data.walks, steps=4, engine=engine) for engine in engines)
assert one.to_dict() == other.to_dict()
print("same")
"""

PREDICTION = """
import os
from pathlib import Path
from support import people
from curiograph.human.prediction.predict import Effort, predict
from curiograph.human.prediction.protocol import Recipe

small = Effort(splits=2, trials=3, train_steps=4, walkers=20, trained_walkers=10, steps=2, windows=40, all_windows=10)
data = people.ratings(people.tastes(users=40, items=30, visits=12))
run = Path(os.environ["CLUSTER_FOLDER"]) / "run"
there = {"engine": "ray", "address": os.environ["CLUSTER_ADDRESS"], "run": run}
recipe = Recipe(item_users=3, neighbors=6)
one, other = (predict(data, recipe=recipe, effort=small, **how) for how in ({"workers": 1}, there))
assert one.to_dict() == other.to_dict()
assert all(one["last"][method].tobytes() == other["last"][method].tobytes() for method in one["last"])
assert len(list(run.glob("agent-*/agent.safetensors"))) == 2
print("same")
"""


@pytest.mark.parametrize("script", [HYPOTHESES, PREDICTION], ids=["hypotheses", "prediction"])
def test_ray_gives_the_same_result(script: str) -> None:
    ran = ray_cluster.on_cluster(script)
    assert (ran.code, ran.out) == (0, "same\n"), ran.err
