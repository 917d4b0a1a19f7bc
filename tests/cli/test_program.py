"""What all commands have in common: options, JSON, quiet mode, messages, exit codes, interruption."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command

import curiograph as cg
from curiograph.cli.main import create_app


def list_commands(group: Any = None, before: str = "") -> Iterator[tuple[str, set[str]]]:
    for name, command in (group or get_command(create_app())).commands.items():
        if hasattr(command, "commands"):
            yield from list_commands(command, f"{before}{name} ")
        else:
            yield before + name, {each.opts[0] for each in command.params if each.opts[0].startswith("-")}


COMMANDS = dict(list_commands())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_the_common_options_and_few_others(name):
    assert {"--seed", "--out", "--json", "--quiet"} <= COMMANDS[name]
    assert len(COMMANDS[name] | {"--help"}) <= 18


def start(*arguments: str, **more: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "curiograph", *arguments]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": environment}
    return subprocess.Popen(command, **(pipes | more))


def test_help_imports_no_slow_package_and_names_every_command():
    code = (
        "import sys\nsys.argv = ['curiograph', '--help']\nfrom curiograph.cli.main import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print([m for m in ('numba', 'torch', 'pandas', 'scipy', 'networkx', 'matplotlib') if m in sys.modules])"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.splitlines()[-1] == "[]"
    assert all(name.split()[0] in done.stdout for name in COMMANDS)


def test_module_is_the_program(run):
    out, err = start("--version").communicate()
    assert (out, err) == (f"curiograph {cg.__version__}\n", "")
    assert "Usage" in run().out
    assert "Usage" in run("data").out


CHEAP = [
    "measure links.tsv --walk a,b,c",
    "measure toy:library --walks events.csv",
    "profile toy:library people.txt",
    "profile toy:library events.csv --group condition --measure structure",
    "explore links.tsv --steps 9",
    "evaluate --family ws --agent greedy --graphs 1 --episodes 2",
    "evaluate --graph links.tsv --agent random --episodes all",
    "rank links.tsv",
    "rank links.tsv --agent random --history a --max-walks 10",
    "recommend links.tsv --history a -k 9",
    "recommend toy:library --histories events.csv -k 1",
    "recommend links.tsv --parts parts.safetensors --prepare --history a",
    "graph likes.csv --user who --item what --time when --out items.graphml",
    "evaluate-recommender likes.csv --user who --item what --split last --method popularity --method markov",
    "hypotheses toy:library people.txt",
    "data list",
]


@pytest.mark.parametrize("line", CHEAP)
def test_json_is_one_document_quiet_is_quiet_and_files_hold_the_same(run, here, line):
    loud = run(*line.split(), "--json")
    assert isinstance(loud.document, dict)
    assert all(text.startswith("curiograph: ") for text in loud.err.splitlines())
    has_file = "--out" not in line
    again = run(*line.split(), "--json", *(["--out", "result.json"] if has_file else []))
    assert again.document == loud.document  # the same seed gives the same result
    quiet = run(*line.split(), "--quiet", *(["--out", "RESULT.CSV"] if has_file else []))
    assert (quiet.code, quiet.err) == (0, "")
    for sign in ("\x1b", "[bold", "{'", "['", "np.", "Path(", "None", "nan"):  # tables hold words and numbers only
        assert sign not in quiet.out
    assert max(map(len, quiet.out.splitlines())) <= 200 or "answer" in loud.document
    if has_file:
        assert json.loads((here / "result.json").read_text()) == loud.document
        header, *rows = (here / "RESULT.CSV").read_text().splitlines()
        assert rows
        assert header.count(",") >= 1
    assert not [path.name for path in here.iterdir() if path.suffix == ".part"]


@pytest.mark.parametrize("ending", ["png", "svg", "pdf", "gif"])
@pytest.mark.parametrize("line", ["measure toy:library --walk music,physics,logic", "explore toy:library --steps 4"])
def test_walks_are_drawn(run, here, line, ending):
    ran = run(*line.split(), "--out", f"walk.{ending}", "--json")
    assert ran.document
    begin = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF", "gif": b"GIF89a"}[ending]
    assert (here / f"walk.{ending}").read_bytes().startswith(begin)


@pytest.mark.parametrize(
    "line",
    [
        "measure toy:library --walks people.txt",
        "profile toy:library people.txt",
        "profile toy:library events.csv --group condition",
        "rank toy:library --history music",
        "hypotheses toy:library people.txt",
    ],
)
def test_other_results_are_drawn(run, here, line):
    assert run(*line.split(), "--out", "picture.png", "--quiet").code == 0
    assert (here / "picture.png").stat().st_size > 5000


BAD = [
    ("explore links.tsv --start aa", "'aa'"),
    ("explore links.tsv --steps 0", "--steps is 0"),
    ("explore links.tsv --seed -1", "'-1'"),
    ("explore links.tsv --out x.docx", ".docx"),
    ("explore links.tsv --out no/such/folder/x.json", "no/such/folder"),
    ("explore broken.json", "broken.json"),
    ("explore wikispeedia", "wikispeedia is not in"),
    ("explore", "GRAPH"),
    ("explore links.tsv --nonsense", "--nonsense"),
    ("nonsense", "'nonsense'"),
    ("measure links.tsv", "--walk"),
    ("measure links.tsv --walks people.txt", "15 walks"),
    ("measure toy:library --walks people.txt --out walks.gif", "gif"),
    ("evaluate", "--family"),
    ("evaluate --family rg --graph links.tsv", "--family"),
    ("evaluate --suite --family rg", "--suite"),
    ("evaluate --suite --steps 5", "--steps"),
    ("evaluate --verify broken.json", "broken.json"),
    ("evaluate --family rg --nodes 2", "--nodes is 2"),
    ("evaluate --family rg --workers spark", "'spark'"),
    ("train --reward igt", "--family"),
    ("train --family ws --set discount", "'discount'"),
    ("rank links.tsv --alpha 1", "--alpha is 1"),
    ("rank links.tsv -k 0", "is 0"),
    ("rank links.tsv --reward cpt", "--agent"),
    ("recommend links.tsv", "--history"),
    ("recommend links.tsv --history a --weights igt", "'igt'"),
    ("recommend links.tsv --history a --prepare", "--parts"),
    ("recommend links.tsv --history a --parts broken.safetensors", "broken.safetensors"),
    ("evaluate-recommender likes.csv --user who --item what --method magic", "'magic'"),
    ("predict nowhere", "'nowhere'"),
    ("hypotheses people.txt --agent greedy", "--agent"),
    ("hypotheses people.txt --user who", "columns"),
    ("graph likes.csv --user who --item what", "--out"),
    ("graph likes.csv --user who --item what --out items.tsv --fewest 1000", "--fewest is 1000"),
]


@pytest.mark.parametrize(("line", "value"), BAD)
def test_bad_input_gets_one_sentence_and_exit_code_2(run, here, line, value):
    (here / "x.json").write_text("old")
    before = {path.name: path.is_file() and path.read_bytes() for path in here.iterdir()}
    ran = run(*line.split())
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("curiograph: ")
    assert len(ran.err.splitlines()) == 1, ran.err
    assert value in ran.err
    assert {path.name: path.is_file() and path.read_bytes() for path in here.iterdir()} == before


def test_missing_package_is_named(run, here, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    ran = run("explore", "toy:library", "--out", "walk.png")
    assert (ran.code, ran.out) == (2, "")
    assert "curiograph[plot]" in ran.err


@pytest.mark.parametrize("sign", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_interrupted_command_says_what_is_kept(here, sign):
    long = "evaluate --family rg --agent beam --graphs 200 --nodes 200 --steps 60 --workers 2 --run kept --json"
    program = start(*long.split(), preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    while not list(here.glob("kept/evaluate-*")) and program.poll() is None:
        pass
    program.send_signal(sign)
    out, err = program.communicate(timeout=120)
    assert (program.returncode, out) == (130, "")
    assert err.splitlines()[-1].startswith("curiograph: stopped")
    assert str(here / "kept") in err
    assert "Traceback" not in err


def test_stdout_that_is_closed_or_full(here):
    with start("explore", "links.tsv", "--json") as program:
        program.stdout.close()
        assert "Traceback" not in program.stderr.read()
    with open("/dev/full", "w") as full:
        program = start("explore", "links.tsv", "--json", stdout=full)
        assert "Traceback" not in program.communicate()[1]
    assert program.returncode != 0
