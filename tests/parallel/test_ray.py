"""Jobs on a Ray cluster of two nodes: the same bytes as here, also when a node is killed midway."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import curiograph as cg

pytest.importorskip("ray")
pytestmark = pytest.mark.long

SCRIPT = """
import sys
import curiograph as cg
from ray.cluster_utils import Cluster
from parallel.test_ray import compute

cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
node = cluster.add_node(num_cpus=2)

def report(message, share=None):
    global node
    if sys.argv[1] == "kill" and share and share > 0.2 and node:
        cluster.remove_node(node, allow_graceful=False)
        node = None

engine = cg.Engine("ray", address=cluster.address)
print(compute(engine, report))
"""


def compute(engine, progress=None):
    graph = cg.generate("ws", 400, seed=1)
    more = {} if progress is None else {"progress": progress}
    returns = cg.evaluate("igt-ws", [graph], "igt", 6, 1000, seed=3, engine=engine, **more).returns
    histories = [[node, (3 * node + 5) % 400] for node in range(0, 200, 5)]
    eta = cg.curious_pagerank(graph, "greedy", 0.85, histories, max_walks=2_000, seed=4, engine=engine)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "parts.safetensors")
        cg.Recommender(graph).prepare(file=file, engine=engine)
        parts = hashlib.sha256(file.read_bytes()).digest()
    return b"".join([returns[0].tobytes(), eta.scores.tobytes(), eta.stderr.tobytes()]).hex()[::97] + parts.hex()


@pytest.mark.parametrize("what", ["run", "kill"])
def test_two_nodes_give_identical_results_even_if_one_is_killed(what):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "RAY_USAGE_STATS_ENABLED": "0"}
    command = [sys.executable, "-c", SCRIPT, what]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1] == compute(cg.Engine(workers=1))


def test_missing_cluster_is_reported():
    engine = cg.Engine("ray", address="127.0.0.1:1")
    with pytest.raises(cg.SettingError, match=r"'127\.0\.0\.1:1'"):
        engine.map(lambda shared, task: {"task": task}, None, [1], name="tasks")
