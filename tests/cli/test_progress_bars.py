"""Progress: on a terminal a bar on stderr, elsewhere a line a minute; stdout stays clean; Ctrl-C ends it."""

from __future__ import annotations

import fcntl
import io
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import numpy as np
import pytest

from curiograph.agents.evaluate import Rollouts
from curiograph.cli import train
from curiograph.cli.output import show_progress
from curiograph.graph.toys import library
from curiograph.growth.measure import measure
from curiograph.paper import curves, table1
from curiograph.paper.lengths import Settings, run

BAR = "━"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def stderr_is_a_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Called by a test, no fixture: pytest puts its own stderr back when a test begins."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    return screen


def frames(text: str) -> list[str]:
    """The lines that were drawn over each other, without colours."""
    return [frame.strip() for frame in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).split("\r") if frame.strip()]


def test_a_bar_says_what_is_done_and_how_long_it_takes(monkeypatch, capsys):
    terminal = stderr_is_a_terminal(monkeypatch)
    with show_progress(quiet=False) as say:
        say("reading")
        time.sleep(0.15)
        for share in (0.125, 0.375, 0.625):
            say("walking [all] the way", share)
            time.sleep(0.15)
        print("the result")
    drawn = frames(terminal.getvalue())
    assert any(frame.startswith("reading") for frame in drawn)
    lengths = [len(bar.group(1)) for frame in drawn if (bar := re.match(r"walking \[all\] the way (━+)╸", frame))]
    assert list(dict.fromkeys(lengths)) == [2, 7, 12]  # of 20
    assert re.search(r" 0:00:0\d 0:00:0\d$", drawn[-1])
    assert "\x1b[?25h" in terminal.getvalue()  # the cursor is back
    assert terminal.getvalue().endswith("\x1b[2K")  # and the line gone
    assert capsys.readouterr().out == "the result\n"


def test_a_share_that_falls_begins_anew_and_long_messages_are_cut(monkeypatch):
    terminal = stderr_is_a_terminal(monkeypatch)
    with show_progress(quiet=False) as say:
        for share in (0.9, 0.1, None, 0.5):
            say("a message that is much too long for a terminal of eighty columns, really " * 2, share)
            time.sleep(0.12)
    drawn = frames(terminal.getvalue())
    assert max(map(len, drawn)) <= 80
    assert "…" in drawn[-1]


@pytest.mark.parametrize("quiet", [True, False])
def test_nothing_is_shown_when_quiet_or_not_on_a_terminal(monkeypatch, quiet):
    screen = Terminal() if quiet else io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    with show_progress(quiet) as say:
        say("walking", 0.5)
    assert screen.getvalue() == ""


def test_a_log_gets_a_line_a_minute(monkeypatch, capsys):
    clock = iter([0.0, 1.0, 12.0, 60.0, 73.0, 140.0])
    monkeypatch.setattr("curiograph.cli.output.time.monotonic", lambda: next(clock))
    with show_progress(quiet=False) as say:
        for share in (0.1, 0.2, 0.3, 0.5, None):
            say("walking", share)
    lines = ["walking, about 88 s left", "walking, about 2 min left", "walking"]
    assert capsys.readouterr().err.splitlines() == [f"curiograph: {line}" for line in lines]


# ---- what work tells ------------------------------------------------------------------------------------------------


class Told(list[float]):
    """The shares that were told."""

    def __call__(self, message: str, share: float | None = None) -> None:
        assert message
        assert share is not None
        self.append(share)


def test_experiments_tell_even_shares(monkeypatch):
    told = Told()
    monkeypatch.setattr(curves, "_walked", lambda shared, task: {})
    run(Settings(graphs=2, lengths=(5, 10)), told)
    assert told == [done / 16 for done in range(2 * 2 * 4 + 1)]
    told.clear()
    monkeypatch.setattr(
        Rollouts, "run", lambda _, first, last: {"returns": np.zeros(last - first), "lengths": np.zeros(last - first)}
    )
    table1.run(table1.Settings(graphs=2), progress=told)
    assert len(told) > 8
    assert told[0] == 0
    assert told == sorted(told)  # by walks, of which tasks hold more or less


def test_measuring_many_walks_tells_how_many_are_done(monkeypatch):
    told = Told()
    monkeypatch.setattr("curiograph.growth.measure._TASK_COST", 1e-9)
    measure(library(), [["music"], ["music", "physics"], ["music", "physics", "logic", "dance", "poetry"]],
            workers=1, progress=told)  # fmt: skip
    assert told == [0, pytest.approx(1 / 3), pytest.approx(2 / 3), 1]


def test_training_tells_its_share_of_the_steps():
    told = Told()
    train._tell({"step": 30, "seconds": 6.0, "left": 14.0}, told, quiet=True)
    assert told == [pytest.approx(0.3)]


# ---- the whole program on a terminal --------------------------------------------------------------------------------


def on_a_terminal(*arguments: str, interrupt: bool = False) -> tuple[int, str, str]:
    """Exit code, stdout, and what a terminal of 80 columns shows as stderr; interrupted once a bar is there."""
    loud = {name: value for name, value in os.environ.items() if name != "CURIOGRAPH_QUIET"}  # as earlier tests may set
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    program = subprocess.Popen(
        [sys.executable, "-m", "curiograph", *arguments],
        stdout=subprocess.PIPE,
        stderr=slave,
        env=loud | {"TERM": "xterm-256color"},
        text=True,
    )
    os.close(slave)
    shown, end = b"", time.monotonic() + 60
    while time.monotonic() < end:
        try:
            ready = select.select([master], [], [], 0.1)[0]
            shown += os.read(master, 65536) if ready else b""
        except OSError:  # the other side has been closed
            break
        if interrupt and BAR.encode() in shown:
            program.send_signal(signal.SIGINT)
            interrupt = False
    else:
        program.kill()
    out, _ = program.communicate()
    os.close(master)
    return program.returncode, out, shown.decode()


def test_stdout_stays_clean_and_ctrl_c_ends_with_130():
    long = ["evaluate", "--family", "rg", "--agent", "beam", "--agent", "greedy", "--episodes", "all", "--json"]
    code, out, shown = on_a_terminal(*long, "--graphs", "100", "--steps", "40", interrupt=True)
    assert (code, out) == (130, "")
    assert BAR in shown
    assert "Traceback" not in shown
    assert "\x1b[?25h" in shown  # the cursor is back
    assert frames(shown)[-1].startswith("curiograph: stopped")  # on a line of its own, and what would have been kept


@pytest.mark.long
def test_a_bar_on_a_terminal_and_one_document_on_stdout():
    some = ["--agent", "greedy", "--agent", "random", "--agent", "beam:8", "--graphs", "4", "--json"]
    code, out, shown = on_a_terminal("evaluate", "--family", "rg", *some)
    assert code == 0
    assert [result["agent"] for result in json.loads(out)["results"]] == ["greedy", "random", "beam:8"]
    assert any(frame.startswith("greedy on 4 graphs") for frame in frames(shown))
