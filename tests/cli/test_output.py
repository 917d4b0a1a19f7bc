"""Tables and files that commands write."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import sys
from pathlib import Path

import pytest

from curiograph.cli.output import show_table
from support.program import Run

COLUMNS = ["node", "score", "by pagerank", "why"]
ROWS = [["Washington, D.C. [city]", 0.0008684, 3, "it opens a gap between " + "many " * 30], ["Rome", 0.5, 1, None]]


def show_on_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> list[str]:
    """Lines of a table on a terminal of that width."""
    master, slave = pty.openpty()
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm-256color")
    with open(slave, "w") as terminal, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", terminal)
        show_table("next", COLUMNS, ROWS)
    text = b""
    with contextlib.suppress(OSError):  # raised when the other end is closed
        while part := os.read(master, 65536):
            text += part
    os.close(master)
    return text.decode().splitlines()


def test_colors_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[1m" in "".join(show_on_terminal(monkeypatch, 80))  # bold
    show_table("next", COLUMNS, ROWS)
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize("width", [30, 80])
def test_a_table_folds_between_words_or_becomes_paragraphs(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in show_on_terminal(monkeypatch, width)]
    text = "\n".join(lines)
    assert max(map(len, lines)) <= width
    assert ("┃" in text) == (width == 80)
    for word in ("next", "Washington", "[city]", "0.0008684", "pagerank", "Rome"):
        assert word in text
    assert text.count("many") == 30


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_commands_write_pictures(run: Run, links: Path, tmp_path: Path, ending: str) -> None:
    for command in (["measure", "--walk", "a,b,c,d"], ["explore", "--start", "a", "--steps", "4"]):
        path = tmp_path / f"{command[0]}.{ending}"
        assert run(command[0], str(links), *command[1:], "--out", str(path)).code == 0
        assert path.stat().st_size > 1000


def test_nothing_is_written_after_an_error(run: Run, links: Path, tmp_path: Path) -> None:
    out = tmp_path / "walk.json"
    out.write_text("precious")
    assert run("explore", str(links), "--start", "zz", "--out", str(out)).code == 2
    assert out.read_text() == "precious"
    assert {path.name for path in tmp_path.iterdir()} == {"links.tsv", "walk.json"}
