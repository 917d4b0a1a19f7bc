"""Every fuzzing target runs for a few seconds and finds nothing; `make fuzz` gives them longer."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from support.hostile import READERS

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        importlib.util.find_spec("atheris") is None, reason="needs atheris, which `make fuzz` installs where it can"
    ),
]


@pytest.mark.parametrize("name", READERS)
def test_fuzzing_finds_nothing(name, tmp_path):
    target = Path(__file__).with_name("targets.py")
    options = ["-max_total_time=3", f"-artifact_prefix={tmp_path}/"]
    done = subprocess.run(
        [sys.executable, str(target), name, *options], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Done " in done.stderr


@pytest.mark.parametrize(
    ("given", "message"),
    [([], "give a reader: python"), (["tvs"], "there is no reader 'tvs'; the readers are tsv, csv")],
)
def test_unknown_reader_gets_a_clear_error(given, message):
    target = Path(__file__).with_name("targets.py")
    done = subprocess.run([sys.executable, str(target), *given], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(message)
