"""Bad input for `rank` and `recommend`, and a check that it is rejected without side effects."""

from __future__ import annotations

from pathlib import Path

import curiograph as cg
from support.program import Run


def write_agent_with_wrong_features(folder: Path) -> None:
    """Write an agent whose header names other features than its weights use."""
    from safetensors import safe_open
    from safetensors.numpy import save

    from curiograph.agents.pretrained import save_agent

    file = folder / "other.safetensors"
    save_agent(cg.load_agent("igt-rg"), file)
    with safe_open(file, framework="numpy") as stream:
        arrays = {name: stream.get_tensor(name) for name in stream.keys()}  # noqa: SIM118
        header = stream.metadata()
    widest = next(name for name, array in arrays.items() if array.ndim == 2)
    arrays[widest] = arrays[widest][:, :-1].copy()
    file.write_bytes(save(arrays, metadata=header))


BAD_HISTORIES = [
    (["--history", "a,zz"], "the graph has no node 'zz'"),
    (["--history", ""], "is empty"),
    (["--history", ","], "is empty; write labels separated by commas"),
    (["--history", "a", "--alpha", "1"], "alpha is 1.0; give a number from 0 up to, but not including, 1"),
    (["--history", "a", "--alpha", "-0.1"], "alpha is -0.1"),
    (["--history", "a", "-k", "0"], "k is 0"),
    (["--history", "a", "--out", "x.docx"], "cannot write .docx"),
    (["--history", "a", "--out", "none/x.json"], "does not exist"),
    (["--history", "a", "--seed", "-1"], "Invalid value for '--seed'"),
]
"""Arguments that both commands reject, and the message."""


def check_rejected(run: Run, folder: Path, arguments: list[str], message: str) -> None:
    """Check for exit code 2 with one message, and that no file changes."""
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    done = run(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert message in done.err
    assert done.err.startswith("curiograph: ")
    assert len(done.err.strip().splitlines()) == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
