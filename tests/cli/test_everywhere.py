"""What holds for every command: its options, one JSON document, quiet, and tables that can be read."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.main import get_command

from curiograph.cli.main import app, main
from curiograph.cli.output import show_table
from curiograph.errors import JobStopped
from support.program import Run

NO_CHANCE = {"convert", "warmup", "doctor", "data list", "data get", "serve"}
NO_FILE = {"warmup", "serve"}  # neither has a result that is worth a file
NAMES_ITS_FILE = {"convert"}  # as an argument


def commands(group=None, before: str = "") -> Iterator[tuple[str, set[str]]]:
    for name, command in (group or get_command(app)).commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{before}{name} ")
        else:
            yield before + name, {option for each in command.params for option in each.opts}


@pytest.mark.parametrize(("name", "options"), list(commands()), ids=[name for name, _ in commands()])
def test_every_command_takes_what_all_take(name: str, options: set[str]) -> None:
    assert "--quiet" in options
    assert "--json" in options
    assert "--seed" in options or name in NO_CHANCE
    assert "--out" in options or name in NO_FILE | NAMES_ITS_FILE


def test_help_names_doctors_exit_codes(run: Run) -> None:
    assert "0 without problems and 1 with" in " ".join(run("doctor", "--help").out.split())


@pytest.mark.parametrize(("stop", "said"), [(JobStopped("they are kept"), "curiograph: they are kept\n"),
                                             (KeyboardInterrupt(), "")])  # fmt: skip
def test_how_to_go_on_is_said_even_when_quiet(run: Run, monkeypatch, stop: BaseException, said: str) -> None:
    def stopped() -> None:
        raise stop

    monkeypatch.setattr("curiograph.warmup.warm_up", stopped)
    done = run("warmup", "--quiet")
    assert (done.code, done.err) == (130, said)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CURIOGRAPH_DATA", str(tmp_path))
    (tmp_path / "ratings_Books.csv").write_text("ann,x,,1\n")
    (tmp_path / "links.csv").write_text("a,b\nb,c\nc,a\na,a\nc,d\n")  # with a self-loop to be told about
    (tmp_path / "walks.txt").write_text("a,b,c,d\nb,c,a\n")
    people = ["music,physics,chemistry,biology,philosophy", "dance,music,mathematics,logic,computing"]
    (tmp_path / "people.txt").write_text("\n".join(people * 4) + "\n")
    return tmp_path


CHEAP = [
    "measure links.csv --walk a,b,c",
    "measure links.csv --walks walks.txt",
    "explore links.csv --steps 9",
    "evaluate --family ws --agent greedy --agent random --graphs 1 --episodes 2",
    "evaluate --graph links.csv --episodes all",
    "rank links.csv",
    "rank links.csv --agent random --history a --max-walks 10",
    "recommend links.csv --history a -k 9",
    "recommend links.csv --parts parts.safetensors --prepare",
    "hypotheses toy:library people.txt --burn-in 2 --steps 3",
    "convert links.csv links.npz",
    "generate ws --nodes 100 --mean-degree 4 --out ring.npz",
    "data list",
    "data get books --from ratings_Books.csv --cache cache",
]


@pytest.mark.parametrize("line", CHEAP)
def test_json_is_one_document_and_quiet_is_quiet(run: Run, here: Path, line: str) -> None:
    loud = run(*line.split(), "--json")
    assert loud.code == 0
    assert isinstance(json.loads(loud.out), dict)
    assert all(text.startswith("curiograph: ") for text in loud.err.splitlines())
    quiet = run(*line.split(), "--quiet")
    assert (quiet.code, quiet.err) == (0, "")
    for sign in ("\x1b", "[bold", "{'", "['", "np.", "Path(", "None", "<"):  # tables hold words and numbers only
        assert sign not in quiet.out


@pytest.mark.long
@pytest.mark.parametrize(
    "line",
    [
        "warmup",
        "doctor",
        "train --family ws --graphs 2 --nodes 20 --train-steps 20 --out run",
        "predict people.txt --graph toy:library --quick --splits 1 --burn-in 2 --igt greedy --cpt greedy --workers 1",
        "reproduce table1 --graphs 2 --episodes 2 --beam-episodes 2",
    ],
)
def test_the_same_of_slow_commands(here: Path, line: str) -> None:
    command = [sys.executable, "-m", "curiograph", *line.split(), "--json", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert isinstance(json.loads(done.stdout), dict)


def test_the_variable_is_as_good_as_the_option(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "1 self-loops dropped" in run("convert", "links.csv", "links.npz").err
    monkeypatch.setenv("CURIOGRAPH_QUIET", "1")
    with pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code
    assert capsys.readouterr() == ("", "")


COLUMNS = ["node", "score", "by pagerank", "why"]
ROWS = [["Washington, D.C. [city]", 0.0008684, 3, "it opens a gap between " + "many " * 30], ["Rome", 0.5, 1, None]]


def shown_on_a_terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> list[str]:
    """Lines of a table on a terminal of that width."""
    master, slave = pty.openpty()
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm-256color")
    with open(slave, "w") as terminal, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", terminal)
        show_table("next", COLUMNS, ROWS)
    text = b""
    with contextlib.suppress(OSError):  # how a terminal says that nobody writes to it any more
        while part := os.read(master, 65536):
            text += part
    os.close(master)
    return text.decode().splitlines()


def test_colours_only_on_a_terminal_that_wants_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[1m" in "".join(shown_on_a_terminal(monkeypatch, 80))  # bold
    show_table("next", COLUMNS, ROWS)
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize("width", [30, 80])
def test_a_table_folds_between_words_or_becomes_paragraphs(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in shown_on_a_terminal(monkeypatch, width)]
    text = "\n".join(lines)
    assert max(map(len, lines)) <= width
    assert ("┃" in text) == (width == 80)
    for word in ("next", "Washington", "[city]", "0.0008684", "pagerank", "Rome"):
        assert word in text
    assert text.count("many") == 30


def test_recommendations_fit_a_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = []
    monkeypatch.setattr("curiograph.cli.rank.show_table", lambda title, columns, rows: shown.append((columns, rows)))
    assert run("recommend", "toy:library", "--history", "music,physics", "-k", "2").code == 0
    ((columns, rows),) = shown
    assert columns == ["rank", "node", "score", "by pagerank, igt, cpt", "gaps", "bits", "why"]
    assert " ± " in rows[0][2]
    assert rows[0][3] == "1, 1, 1"


def test_a_table_of_visits_is_as_good_as_a_file_of_walks(run: Run, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("user,page,time\nann,physics,2\nann,music,1\nbob,logic,1\n")
    document = run("measure", "toy:library", "--walks", tmp_path / "log.csv", "--json").document
    assert [walk["node"] for walk in document["walks"]] == [["music", "physics"], ["logic"]]
    (tmp_path / "log.csv").write_text("user,page,time\nann,nowhere,2\n")
    ran = run("measure", "toy:library", "--walks", tmp_path / "log.csv")
    assert (ran.code, "log.csv: " in ran.err, "nowhere" in ran.err) == (2, True, True)


def test_a_data_set_is_as_good_as_the_file_of_its_graph(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CURIOGRAPH_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    ran = run("explore", "wikispeedia")
    assert (ran.code, "is not on this machine" in ran.err) == (2, True)
    (tmp_path / "ratings_Books.csv").write_text("ann,x,,1\nann,y,,2\n")
    ran = run("explore", "books")
    assert (ran.code, "has walks but no graph" in ran.err) == (2, True)
    (tmp_path / "wikispeedia").mkdir()
    files = {"articles": "Oslo\nRome\n", "links": "Oslo\tRome\n", "paths_finished": "ip1\t30\t9\tOslo;Rome\t3\n"}
    for name, text in files.items():
        (tmp_path / "wikispeedia" / f"{name}.tsv").write_text(f"# FORMAT\n\n{text}")
    assert run("explore", "wikispeedia", "--start", "Oslo", "--steps", "2", "--json").document["nodes"] == [
        "Oslo",
        "Rome",
    ]
