"""Tests of the public API and the import rules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import curiograph as cg

ROOT = Path(__file__).parent.parent


def test_public_api() -> None:
    g = cg.Graph.from_edges([(0, 1), (1, 2)])
    assert cg.Graph.from_networkx(g.to_networkx()) == g
    g = cg.generate("rg", nodes=50, seed=0)
    sets = cg.generate_split("ba", nodes=50, train=2, val=1, test=1, seed=0)
    assert (len(sets.train), len(sets.val), len(sets.test)) == (2, 1, 1)
    assert cg.betti(g, dim=1) >= 0
    assert cg.compressibility(g) == pytest.approx(cg.rate_distortion(g).compressibility)
    curve = cg.rate_distortion(g)
    assert len(curve.scale) == len(curve.upper) == len(curve.lower) == len(curve.clusters) == 50
    growth = cg.measure(g, [0, 1, 2])
    assert len(growth.beta0) == len(growth.beta1) == len(growth.compressibility) == len(growth.to_frame()) == 3
    walk = cg.explore(g, agent="greedy", reward="igt", start=0, steps=10, seed=0)
    assert (len(walk.nodes), len(walk.rewards), walk.total) == (10, 9, sum(walk.rewards))
    result = cg.evaluate("beam", [g], reward="igt", steps=10, episodes=3, seed=0)
    assert result.mean == pytest.approx(np.concatenate(result.returns).mean())
    assert result.sem > 0
    agent = cg.load_agent("igt-rg")
    assert cg.explore(g, agent=agent, reward="igt", start=0, steps=10, seed=0).agent == "igt-rg"
    eta = cg.pagerank(g, alpha=0.85, history=[3, 7])
    assert eta.scores.shape == (50,)
    assert (eta.scores.sum(), eta.residual < 1e-9, eta.iterations > 0) == (pytest.approx(1), True, True)
    eta = cg.curious_pagerank(g, agent, alpha=0.85, history=[3, 7], p_g=0.5, seed=0)
    assert eta.scores.shape == eta.stderr.shape == (50,)
    assert (eta.scores.sum(), eta.converged) == (pytest.approx(1), True)
    top = cg.recommend(g, history=[3, 7], k=10)
    assert isinstance(top, list)
    assert len(top) == 10
    assert not {3, 7} & {node for node, score in top}
    assert [score for node, score in top] == sorted((score for node, score in top), reverse=True)


def test_every_public_name_exists_and_is_documented() -> None:
    for name in cg.__all__:
        assert getattr(cg, name).__doc__, name
    with pytest.raises(AttributeError, match="nonsense"):
        _ = cg.nonsense


def test_import_is_light() -> None:
    code = "import sys, curiograph; print(sorted({'numba', 'scipy', 'networkx', 'torch'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_import_rules() -> None:
    linter = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run([linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_kernels_compile_without_a_writable_cache(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    code = "from curiograph import kernels; print(kernels.adjacency.get_map_size(5))"
    environment = {"NUMBA_CACHE_DIR": str(blocked / "cache"), "PATH": ""}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "16"
