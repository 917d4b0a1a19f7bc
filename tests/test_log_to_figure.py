"""The page "From a log to a figure": its code and its commands run as shown and give the same files."""

from __future__ import annotations

import csv
import re
import runpy
import shlex
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from support.program import Run

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "log-to-figure.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
COMMANDS = re.findall(r"^curiograph .+$", re.findall(r"```shell\n(.*?)```", PAGE, re.DOTALL)[0], re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A current folder with the messy log and its links."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["reading_log.py"])
    runpy.run_path(str(ROOT / "examples" / "reading_log.py"), run_name="__main__")
    capsys.readouterr()
    return tmp_path


def read_rows(path: Path) -> list[dict[str, str]]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_page_keeps_its_promise() -> None:
    lines = [line for line in BLOCKS[0].splitlines() if line.strip()]
    assert len(lines) <= 10
    assert len(COMMANDS) <= 3


def test_code_and_commands_give_the_same_files(folder: Path, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    exec(compile(BLOCKS[0], "log-to-figure.md", "exec"), names)
    printed = capsys.readouterr().out
    log = read_rows(folder / "log.csv")
    blank, outside = (sum(row["article"] == title for row in log) for title in ("", "Main Page"))
    assert f"no item: {blank}, outside the graph: {outside}" in printed

    people, groups, picture = (folder / name for name in ("people.csv", "groups.csv", "groups.svg"))
    assert len(read_rows(people)) == 40
    assert {row["sessions"] for row in read_rows(people)} == {"3"}
    assert [row["measure"] for row in read_rows(groups)] == ["nodes", "beta1", "compressibility", "gap_lifetime"]
    assert ElementTree.parse(picture).getroot().tag.endswith("svg")
    assert "seekers (20 people)" in picture.read_text()

    from_python = [path.rename(folder / f"python-{path.name}") for path in (people, groups, picture)]
    for command in COMMANDS:
        done = run(*shlex.split(command)[1:])
        assert done.code == 0, done.err
        assert f"outside the graph: {outside}" in done.err
        assert done.out
    assert picture.read_bytes() == from_python[2].read_bytes()
    for one, other in zip((people, groups), from_python, strict=False):
        for mine, theirs in zip(read_rows(one), read_rows(other), strict=True):
            assert list(mine) == list(theirs)
            for name, value in mine.items():
                try:
                    assert float(value) == pytest.approx(float(theirs[name]), nan_ok=True)
                except ValueError:
                    assert value.replace("nan", "") == theirs[name]


def test_other_code_of_the_page_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile("\n".join(BLOCKS), "log-to-figure.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "inf (" in printed  # the median lifetime
    assert "slope_p" in printed
    assert (folder / "survival.pdf").read_bytes().startswith(b"%PDF")


def test_picture_of_the_page_is_vector_and_editable() -> None:
    root = ElementTree.parse(ROOT / "docs" / "results" / "log_to_figure.svg").getroot()
    texts = {"".join(element.itertext()) for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"information gaps", "compressibility (bits)", "share of gaps still open", "browsers (20 people)"} <= texts
