"""The scripts in examples/ run as they stand."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(*command: str) -> dict[str, float]:
    """The figure printed beside each name."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / command[0]), *command[1:]], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return {name: float(figure) for name, figure in re.findall(r"^(.+?) +([0-9.]+)", done.stdout, re.MULTILINE)}


def test_own_agent() -> None:
    means = run("own_agent.py")
    assert means["random"] < means["greedy"] < means["pioneer"] < means["beam:64"]


@pytest.mark.long
@pytest.mark.skipif(find_spec("sb3_contrib") is None, reason="needs sb3-contrib: pip install 'curiograph[sb3]'")
def test_maskable_ppo() -> None:
    means = run("maskable_ppo.py", "--timesteps", "512")
    assert list(means) == ["random", "greedy", "beam", "ppo, untrained", "ppo, trained"]
