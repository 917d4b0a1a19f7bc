"""Progress on stderr: a bar on a terminal, a line per minute otherwise; and interruption by Ctrl-C."""

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
from functools import partialmethod

import numpy as np
import pytest
from curiograph.paper import curves, lengths, table1
from rich.progress import Progress as RichProgress

from curiograph.agents.evaluate import Rollouts
from curiograph.cli import train
from curiograph.cli.output import show_progress
from curiograph.graph.toys import library
from curiograph.growth.measure import measure
from curiograph.human.motives.hypotheses import hypotheses
from curiograph.progress import RemainingTime, no_progress, split_progress
from support.people_styles import simulate_styles

BAR = "━"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def use_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Replace stderr by a terminal on which each update is drawn at once, however busy the machine is.

    Tests call this function, since pytest replaces stderr after fixtures have run.
    """
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(RichProgress, "update", partialmethod(RichProgress.update, refresh=True))
    return screen


def split_frames(text: str) -> list[str]:
    """Return the lines that were drawn over each other, without colors."""
    return [frame.strip() for frame in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).split("\r") if frame.strip()]


def test_bar_shows_message_share_and_remaining_time(monkeypatch, capsys):
    terminal = use_terminal(monkeypatch)
    with show_progress(quiet=False) as progress:
        progress("reading")
        for share in (0.125, 0.375, 0.625):
            progress("walking [all] the way", share)
        print("the result")
    drawn = split_frames(terminal.getvalue())
    assert any(frame.startswith("reading") for frame in drawn)
    lengths = [len(bar.group(1)) for frame in drawn if (bar := re.match(r"walking \[all\] the way +(━+)╸", frame))]
    assert list(dict.fromkeys(lengths)) == [2, 7, 12]  # of 20
    assert re.search(r" \d:\d\d:\d\d$", drawn[-1])  # no estimate in the last second
    assert "\x1b[?25h" in terminal.getvalue()  # the cursor is restored
    assert terminal.getvalue().endswith("\x1b[2K")  # and the line removed
    assert capsys.readouterr().out == "the result\n"


def test_falling_share_starts_a_new_bar_and_long_messages_are_cut(monkeypatch):
    terminal = use_terminal(monkeypatch)
    with show_progress(quiet=False) as progress:
        for share in (0.9, 0.1, None, 0.5):
            progress("a message that is much too long for a terminal of eighty columns, really " * 2, share)
    drawn = split_frames(terminal.getvalue())
    assert max(map(len, drawn)) <= 80
    assert "…" in drawn[-1]


@pytest.mark.parametrize("quiet", [True, False])
def test_no_bar_if_quiet_or_not_on_a_terminal(monkeypatch, quiet):
    screen = Terminal() if quiet else io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    with show_progress(quiet) as progress:
        progress("walking", 0.5)
    assert screen.getvalue() == ""


def test_log_gets_one_line_per_minute(monkeypatch, capsys):
    clock = iter([0.0, 1.0, 12.0, 60.0, 73.0, 140.0])
    monkeypatch.setattr("curiograph.cli.output.time.monotonic", lambda: next(clock))
    with show_progress(quiet=False) as progress:
        for share in (0.1, 0.2, 0.3, 0.5, None):
            progress("walking", share)
    lines = ["walking", "walking, about 2 min left", "walking"]
    assert capsys.readouterr().err.splitlines() == [f"curiograph: {line}" for line in lines]


def test_bar_with_an_estimate_fits_80_columns(monkeypatch):
    terminal = use_terminal(monkeypatch)
    clock = iter(range(0, 10**6, 100))
    monkeypatch.setattr("curiograph.cli.output.time.monotonic", lambda: float(next(clock)))
    with show_progress(quiet=False) as progress:
        for done in range(40):
            progress("measure: 12,000 of 100,000 walks (4,096 found in the run folder)", done / 100)
    drawn = split_frames(terminal.getvalue())
    assert max(map(len, drawn)) <= 80
    assert re.search(r"measure: .*… ━+.* \d+:\d\d:\d\d, about [\d.]+ (min|h) left$", drawn[-1])


def test_remaining_time_ignores_the_start_and_the_last_second():
    remaining, estimates = RemainingTime(), []
    for done in range(601):  # 14 s compile the kernels, and each of 600 tasks takes a tenth of a second
        now = 0.0 if done == 0 else 14.0 + 0.1 * done
        remaining.update(done / 600, now)
        estimates.append((done, remaining.estimate(now)))
    assert all(seconds is None for done, seconds in estimates if done <= 30 or done > 590)
    assert all(seconds == pytest.approx(60 - 0.1 * done) for done, seconds in estimates if 31 <= done <= 590)
    assert remaining.estimate(100.0) is None
    remaining.update(0.1, 80.0)  # another job
    assert remaining.estimate(80.0) is None


# ---- progress of computations ---------------------------------------------------------------------------------------


class Shares(list[float]):
    """Record the shares that are reported."""

    def __call__(self, message: str, share: float | None = None) -> None:
        assert message
        assert share is not None
        self.append(share)


def test_stages_report_the_share_of_the_whole_job():
    shares = Shares()
    first, without, last = split_progress(shares, [1, 0, 3])
    for stage, share in ((first, None), (first, 0.5), (first, 1.0), (without, 1.0), (last, 0.0), (last, 1.0)):
        stage("working", share)
    assert shares == [0.0, 0.125, 0.25, 0.25, 0.25, 1.0]
    assert split_progress(no_progress, [1, 1]) == [no_progress, no_progress]


def test_hypotheses_report_one_rising_share():
    shares = Shares()
    people = simulate_styles(library(), people=10, visits=12)
    hypotheses(library(), people, motives=["degree", "uniform"], weights=True, returns=True, workers=1, progress=shares)
    assert len(shares) > 5
    assert shares == sorted(shares)


def test_experiments_report_their_share(monkeypatch):
    shares = Shares()
    monkeypatch.setattr(curves, "_evaluate_place", lambda shared, task: {})
    lengths.run(lengths.Settings(graphs=2, lengths=(5, 10)), progress=shares)
    assert shares == [done / 16 for done in range(2 * 2 * 4 + 1)]
    shares.clear()
    monkeypatch.setattr(
        Rollouts, "run", lambda _, first, last: {"returns": np.zeros(last - first), "lengths": np.zeros(last - first)}
    )
    table1.run(table1.Settings(graphs=2), progress=shares)
    assert len(shares) > 8
    assert shares[0] == 0
    assert shares == sorted(shares)  # by walks; tasks have different numbers of them


def test_measuring_many_walks_reports_its_share(monkeypatch):
    shares = Shares()
    monkeypatch.setattr("curiograph.growth.measure._TASK_COST", 1e-9)
    measure(library(), [["music"], ["music", "physics"], ["music", "physics", "logic", "dance", "poetry"]],
            engine=IN_PROCESS, progress=shares)  # fmt: skip
    assert shares == [0, pytest.approx(1 / 3), pytest.approx(2 / 3), 1]


def test_training_reports_its_share_of_the_steps():
    shares = Shares()
    train._report_training({"step": 30, "seconds": 6.0, "left": 14.0}, shares, quiet=True)
    assert shares == [pytest.approx(0.3)]


# ---- the whole program on a terminal --------------------------------------------------------------------------------


def run_on_terminal(*arguments: str, interrupt: bool = False) -> tuple[int, str, str]:
    """Run the program with a terminal of 80 columns as stderr; return exit code, stdout and the text on the terminal.

    With `interrupt`, send SIGINT once a bar is drawn. The time limit only ends tests that hang.
    """
    environment = {name: value for name, value in os.environ.items() if name != "CURIOGRAPH_QUIET"}
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    program = subprocess.Popen(
        [sys.executable, "-m", "curiograph", *arguments],
        stdout=subprocess.PIPE,
        stderr=slave,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # nohup starts the tests with it ignored
        env=environment | {"TERM": "xterm-256color"},
        text=True,
    )
    os.close(slave)
    shown, end = b"", time.monotonic() + 1800
    while time.monotonic() < end:
        try:
            ready = select.select([master], [], [], 0.1)[0]
            shown += os.read(master, 65536) if ready else b""
        except OSError:  # the other end is closed
            break
        if interrupt and BAR.encode() in shown:
            program.send_signal(signal.SIGINT)
            interrupt = False
    else:
        program.kill()
    out, _ = program.communicate()
    os.close(master)
    return program.returncode, out, shown.decode()


def test_interrupt_removes_the_bar_and_exits_with_130():
    long = ["evaluate", "--family", "rg", "--agent", "beam", "--agent", "greedy", "--episodes", "all", "--json"]
    code, out, shown = run_on_terminal(*long, "--graphs", "100", "--steps", "40", interrupt=True)
    assert (code, out) == (130, "")
    assert BAR in shown
    assert "Traceback" not in shown
    assert "\x1b[?25h" in shown  # the cursor is restored
    assert split_frames(shown)[-1].startswith("curiograph: stopped")  # on its own line


@pytest.mark.long
def test_bar_on_a_terminal_and_one_document_on_stdout():
    some = ["--agent", "greedy", "--agent", "random", "--agent", "beam:8", "--graphs", "4", "--json"]
    code, out, shown = run_on_terminal("evaluate", "--family", "rg", *some)
    assert code == 0
    assert [result["agent"] for result in json.loads(out)["results"]] == ["greedy", "random", "beam:8"]
    assert any(frame.startswith("evaluate: 0 of 1,200 walks") for frame in split_frames(shown))
