"""Kernels that are compiled ahead of the first use of a command."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from curiograph.kernels import ahead

ROOT = Path(__file__).parents[2]

RUN = """
import json, sys
from curiograph import kernels
from curiograph.cli.main import create_app

create_app()(sys.argv[1:], prog_name="curiograph", standalone_mode=False)
calls, misses = [], 0
for name in kernels.__all__:
    for function, dispatcher in vars(sys.modules.get(f"curiograph.kernels.{name}", object)).items():
        if hasattr(dispatcher, "stats") and dispatcher.py_func.__module__ == f"curiograph.kernels.{name}":
            calls += [[f"{name}.{function}", str(types)] for types in dispatcher.stats.cache_hits]
            misses += len(dispatcher.stats.cache_misses)
print(json.dumps([misses, calls]), file=sys.stderr)
"""


def load_commands() -> dict[str, list[str]]:
    spec = importlib.util.spec_from_file_location("record_kernels", ROOT / "scripts" / "record_kernels.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.COMMANDS


@pytest.mark.parametrize(
    "task", ["measure", *(pytest.param(task, marks=pytest.mark.long) for task in ("read", "explore", "recommend"))]
)
def test_recorded_kernels_are_those_that_the_command_calls(task: str, tmp_path: Path) -> None:
    (tmp_path / "links.tsv").write_text("a\tb\nb\tc\n")
    misses, calls = 1, []
    while misses:  # compiled kernels are in the cache at the next run
        run = [sys.executable, "-c", RUN, *load_commands()[task], "--json"]
        done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True)
        misses, calls = json.loads(done.stderr.splitlines()[-1])
    # `get_map_size` is compiled with the kernels that call it
    called = {(name, types.replace("bool,", "boolean,").replace("bool)", "boolean)")) for name, types in calls}
    recorded = {(name, types) for name, types, _ in ahead.list_kernels([task])}
    assert recorded | {("csr.get_map_size", "(int64,)")} == called | {("csr.get_map_size", "(int64,)")}, (
        "run scripts/record_kernels.py"
    )


def test_calls_find_the_kernels_that_were_compiled_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    listed = "ahead.list_kernels = lambda tasks: [('csr.get_map_size', '(int64,)', 0.1)]"
    compiling = f"from curiograph.kernels import ahead; {listed}; ahead.compile_share(1, 0, ['measure'])"
    calling = "from curiograph.kernels.csr import get_map_size; print(get_map_size(5), get_map_size.stats.cache_hits)"
    subprocess.run([sys.executable, "-c", compiling], check=True)
    done = subprocess.run([sys.executable, "-c", calling], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "16 Counter({(int64,): 1})"


def test_all_processes_together_compile_every_kernel_once() -> None:
    kernels = ahead.list_kernels(["read", "measure", "explore", "recommend"])
    assert len({kernel[:2] for kernel in kernels}) == len(kernels)
    for processes in (1, 2, 4):
        assert sorted(each for share in ahead.split_kernels(kernels, processes) for each in share) == sorted(kernels)


def test_tasks_are_compiled_once_and_only_on_several_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []

    class Helper:
        def __init__(self, command: list[str], **_: Any) -> None:
            started.append(command[-3:])

        def wait(self) -> None:
            started.append("waited")

    monkeypatch.setattr(ahead, "get_cache_folder", lambda: tmp_path)
    monkeypatch.setattr(ahead.subprocess, "Popen", Helper)
    monkeypatch.setattr(ahead, "compile_share", lambda *share: started.append(share))
    for cores, expected in ((1, []), (2, [["1", "read", "measure"], (2, 0, ["read", "measure"]), "waited"]), (2, [])):
        started.clear()
        monkeypatch.setattr(ahead, "resolve_workers", lambda _, cores=cores: cores)
        ahead.compile_ahead("read", "measure")
        assert started == expected
    monkeypatch.setattr(ahead, "get_cache_folder", lambda: None)
    ahead.compile_ahead("explore")
    assert started == []
