"""The program and what all its commands have in common: options, JSON, quiet mode and exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.main import get_command

import curiograph as cg
from curiograph.cli.main import create_app, main
from curiograph.errors import JobStopped
from support.program import Run


def test_help_imports_neither_numba_nor_torch() -> None:
    code = (
        "import sys\nfrom curiograph.cli.main import create_app\n"
        "try: create_app()(['--help'])\nexcept SystemExit: pass\n"
        "print([m for m in ('numba', 'torch', 'matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")


def test_module_runs_the_same_program() -> None:
    done = subprocess.run([sys.executable, "-m", "curiograph", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"curiograph {cg.__version__}\n"


WITHOUT_SEED = {"graph", "suite", "convert", "warmup", "doctor", "data list", "data get", "serve"}
WITHOUT_FILE = {"warmup", "serve"}  # neither has a result that is worth a file  # they have no result to write
WITH_FILE_ARGUMENT = {"convert"}


def list_commands(group=None, before: str = "") -> Iterator[tuple[str, set[str]]]:
    for name, command in (group or get_command(create_app())).commands.items():
        if hasattr(command, "commands"):
            yield from list_commands(command, f"{before}{name} ")
        else:
            yield before + name, {option for each in command.params for option in each.opts}


@pytest.mark.parametrize(("name", "options"), list(list_commands()), ids=[name for name, _ in list_commands()])
def test_every_command_has_the_common_options(name: str, options: set[str]) -> None:
    assert "--quiet" in options
    assert "--json" in options
    assert "--seed" in options or name in WITHOUT_SEED
    assert "--out" in options or name in WITHOUT_FILE | WITH_FILE_ARGUMENT


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explore", "GRAPH", "--start", "aa"], "the graph has no node 'aa'; the nearest names are 'a'"),
        (["explore", "GRAPH", "--agent", "gready"], "there is no agent 'gready'; the agents are random"),
        (["explore", "GRAPH", "--agent", "beam:0"], "beam width is 0"),
        (["explore", "GRAPH", "--agent", "beam:x"], "'x'"),
        (["explore", "GRAPH", "--reward", "joy"], "there is no reward 'joy'; the rewards are igt, cpt"),
        (["explore", "GRAPH", "--steps", "0"], "steps is 0"),
        (["explore", "GRAPH", "--fallback", "home"], "fallback is 'home'; the choices are frontier, anywhere"),
        (["explore", "nowhere.tsv"], "nowhere.tsv: there is no such file"),
        (["explore", "GRAPH", "--out", "x.docx"], "cannot write .docx"),
        (["explore", "GRAPH", "--out", "no/such/folder/x.json"], "does not exist"),
        (["explore", "toy:moon"], "there is no toy graph 'moon'"),
        (["measure", "GRAPH"], "give one of --walk a,b,c, --walk-file FILE and --walks FILE"),
        (["measure", "GRAPH", "--walk", ","], "is empty"),
        (["evaluate", "--family", "xy"], "there is no family 'xy'; the families are rg, ws, ba, er"),
        (["evaluate"], "give one of --family NAME, --graph FILE or --environments FILE"),
        (["evaluate", "--family", "rg", "--episodes", "many"], "--episodes is 'many'"),
        (["evaluate", "--family", "rg", "--nodes", "2"], "nodes is 2"),
        (["explore", "GRAPH", "--steps", "1.5"], "Invalid value for '--steps'"),
        (["explore", "GRAPH", "--seed", "-1"], "Invalid value for '--seed'"),
        (["explore"], "Missing argument 'GRAPH'"),
        (["explore", "GRAPH", "--nonsense"], "No such option: --nonsense"),
        (["nonsense"], "No such command 'nonsense'"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(
    run: Run, links: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(links.parent)
    done = run(*[str(links) if argument == "GRAPH" else argument for argument in arguments])
    assert done.code == 2
    assert done.out == ""
    assert message in done.err
    assert len(done.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("stop", "message"), [(JobStopped("they are kept"), "curiograph: they are kept\n"), (KeyboardInterrupt(), "")]
)
def test_interrupted_job_prints_its_message_even_when_quiet(
    run: Run, monkeypatch: pytest.MonkeyPatch, stop: BaseException, message: str
) -> None:
    def interrupt() -> None:
        raise stop

    monkeypatch.setattr("curiograph.warmup.warm_up", interrupt)
    done = run("warmup", "--quiet")
    assert (done.code, done.err) == (130, message)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CURIOGRAPH_DATA", str(tmp_path))
    (tmp_path / "ratings_Books.csv").write_text("ann,x,,1\n")
    (tmp_path / "links.csv").write_text("a,b\nb,c\nc,a\na,a\nc,d\n")  # with a self-loop, which is reported
    (tmp_path / "walks.txt").write_text("a,b,c,d\nb,c,a\n")
    people = ["music,physics,chemistry,biology,philosophy", "dance,music,mathematics,logic,computing"]
    (tmp_path / "people.txt").write_text("\n".join(people * 4) + "\n")
    return tmp_path


CHEAP = [
    "measure links.csv --walk a,b,c",
    "measure links.csv --walks walks.txt",
    "profile links.csv --walks walks.txt",
    "explore links.csv --steps 9",
    "evaluate --family ws --agent greedy --agent random --graphs 1 --episodes 2",
    "evaluate --graph links.csv --episodes all",
    "rank links.csv",
    "rank links.csv --agent random --history a --max-walks 10",
    "recommend links.csv --history a -k 9",
    "recommend links.csv --parts parts.safetensors --prepare",
    "hypotheses toy:library people.txt --burn-in 2 --steps 3",
    "convert links.csv links.safetensors",
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
    ],
)
def test_json_is_one_document_of_slow_commands(here: Path, line: str) -> None:
    command = [sys.executable, "-m", "curiograph", *line.split(), "--json", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert isinstance(json.loads(done.stdout), dict)


def test_environment_variable_for_quiet(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "1 self-loops kept" in run("convert", "links.csv", "links.safetensors").err
    monkeypatch.setenv("CURIOGRAPH_QUIET", "1")
    with pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code
    assert capsys.readouterr() == ("", "")


def test_quiet_and_help_without_a_command(run: Run, links: Path) -> None:
    done = run("explore", str(links), "--steps", "9", "--quiet")
    assert done.err == ""
    assert "ended early after 5 of 9 nodes" in done.out
    assert "Usage" in run().out


def test_stdout_that_cannot_be_written(links: Path) -> None:
    command = [sys.executable, "-m", "curiograph", "explore", str(links), "--json"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
