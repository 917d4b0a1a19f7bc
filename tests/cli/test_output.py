"""Tables that fit the terminal, and progress on stderr."""

from __future__ import annotations

import io
import re
import sys
from functools import partialmethod

import networkx
import pandas as pd
import pytest
from rich.progress import Progress as RichProgress

from curiograph.cli.options import Output
from curiograph.cli.output import emit, show_progress, show_table
from curiograph.graph.graph import Graph


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def read_lines(self) -> list[str]:
        """Return the lines, and what was drawn over each other, without colors."""
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.getvalue())
        return [line.rstrip() for line in re.split(r"[\r\n]", text) if line.strip()]


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(RichProgress, "update", partialmethod(RichProgress.update, refresh=True))


WIDE = pd.DataFrame({f"measure_{n}": [0.123456, 1e-18, None] for n in range(20)})


def test_table_shows_the_columns_that_fit(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    assert show_table("title", WIDE) == 7
    lines = screen.read_lines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "title"
    assert [line.split()[0] for line in lines[3:]] == ["0.1235", "0", "-"]
    assert "\x1b[1m" in screen.getvalue()  # bold


def test_nodes_are_shown_by_titles_that_no_other_node_has(capsys, tmp_path):
    links = networkx.path_graph(["n1", "n2", "n3"])
    networkx.set_node_attributes(links, {"n1": "Tea", "n2": "Cup", "n3": "Cup"}, "label")
    rows = [{"node": node, "count": 1} for node in links]
    output = Output(out=tmp_path / "t.csv")
    emit(output, {"rows": rows}, rows, graph=Graph.from_networkx(links))
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[2:]] == ["Tea", "n2", "n3"]
    assert pd.read_csv(output.out)["node"].tolist() == ["n1", "n2", "n3"]


def test_what_is_not_shown_is_said(capsys, tmp_path):
    emit(Output(out=tmp_path / "all.csv"), {"answer": "Yes."}, pd.concat([WIDE] * 100), columns=["measure_0"])
    shown = capsys.readouterr()
    assert shown.out.endswith("\nYes.\n")
    assert "\x1b" not in shown.out
    assert shown.err == "curiograph: 100 rows and 19 columns are not shown; --out FILE.csv writes all\n"
    assert len(pd.read_csv(tmp_path / "all.csv")) == 300


def test_bar_on_a_terminal(monkeypatch, capsys):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with show_progress(quiet=False) as progress:
        progress("reading")
        for share in (0.125, 0.375, 0.625):
            progress("walking [all] the way", share)
        progress("a message that is much too long for a terminal of eighty columns " * 2, 0.7)
        print("the result")
    lines = screen.read_lines()
    assert any(line.startswith("reading") for line in lines)
    bars = [len(bar.group(1)) for line in lines if (bar := re.match(r"walking \[all\] the way +(━+)╸", line))]
    assert list(dict.fromkeys(bars)) == [2, 7, 12]  # of 20
    assert max(map(len, lines)) <= 80
    assert screen.getvalue().endswith("\x1b[2K")  # the bar is removed
    assert capsys.readouterr().out == "the result\n"


@pytest.mark.parametrize("quiet", [True, False])
def test_no_bar_if_quiet_or_in_a_log(monkeypatch, quiet):
    screen = Terminal() if quiet else io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    with show_progress(quiet) as progress:
        progress("walking", 0.5)
    assert screen.getvalue() == ""
