"""Tests of README and docs: code, commands, links, stored tables, and the built site."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from typer.main import get_command

import curiograph as cg
from curiograph.cli.main import create_app

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
REPOSITORY = "https://github.com/curiograph/curiograph/blob/main/"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
LONG = ("learning.md", "prediction.md", "serve.md")


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.long] * (page.name in LONG)) for page in PAGES],
    ids=lambda page: page.name,
)
def test_python_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "\n".join(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
    monkeypatch.chdir(tmp_path)
    if "log.csv" in code:
        monkeypatch.setattr(sys, "argv", ["reading_log.py"])
        runpy.run_path(str(ROOT / "examples" / "reading_log.py"))
    exec(compile(code, page.name, "exec"), {})


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_commands_of_a_page_exist(page: Path) -> None:
    text = page.read_text().replace("\\\n", " ")
    commands = get_command(create_app()).commands  # type: ignore[attr-defined]
    for command, rest in re.findall(r"(?<!\S)`?curiograph ([a-z][a-z-]*)([^`\n|#]*)", text):
        found = commands.get(command)
        if found is None:  # prose, such as "curiograph computes"
            assert "--" not in rest, f"curiograph {command}{rest}"
            continue
        for name in rest.split()[:1] if command == "data" else ():
            found = found.commands[name]
        known = {option for parameter in found.params for option in (*parameter.opts, *parameter.secondary_opts)}
        assert set(re.findall(r"--[a-z][a-z-]*", rest)) - {"--help"} <= known, f"curiograph {command}{rest}"
    for name in set(re.findall(r"python -m reproduction (\w+)", text)) - {"NAME"}:
        assert (ROOT / "reproduction" / f"{name}.py").exists(), name
    for name in re.findall(r"^\|.*?`([\w/]+\.py)`", text, re.MULTILINE):
        assert (ROOT / "src" / "curiograph" / name).exists(), name
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(re.findall(r"`make ([a-z-]+)`", text)) <= set(targets)


@pytest.mark.parametrize("page", [*ROOT.glob("*.md"), *DOCS.glob("*.md")], ids=lambda page: page.name)
def test_links_of_a_page_exist(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        address = urlsplit(link)
        if link.startswith(REPOSITORY):
            assert (ROOT / link.removeprefix(REPOSITORY)).exists(), link
        elif not address.scheme:
            target = page.parent / address.path if address.path else page
            assert target.exists(), link
            headings = re.findall(r"^#+ (.+)$", target.read_text().lower(), re.MULTILINE) if address.fragment else []
            anchors = {re.sub(r"[^\w -]", "", heading).replace(" ", "-") for heading in headings}
            assert not address.fragment or address.fragment in anchors, link


def test_tables_are_those_of_the_stored_runs() -> None:
    script = runpy.run_path(str(DOCS / "insert_results.py"))
    for page in script["list_pages"]():
        assert script["fill_page"](page.read_text()) == page.read_text(), "run docs/insert_results.py"


def test_prose_of_the_replication_follows_from_the_stored_run() -> None:
    run = json.loads((DOCS / "results" / "table2.json").read_text())
    for each in run["predictions"]:
        if each["recipe"]["keep"] == "highest" or each["name"] == "wikispeedia":
            rows = {row["method"]: row for row in each["methods"] if row["candidates"] == "last"}
            assert rows["igt+cpt"]["r_low"] > 0, "curious walkers predict better than PageRank"
            assert rows["memory"]["r"] > rows["igt+cpt"]["r"] / 2, "most of the gain is not due to curiosity"
            assert rows["igt+cpt"]["r"] < rows["igt"]["r"] + rows["cpt"]["r"]


def test_reference_and_navigation_are_complete() -> None:
    listed = set(re.findall(r"^::: curiograph\.(\S+)$", (DOCS / "reference.md").read_text(), re.MULTILINE))
    assert {name for name in cg.__all__ if not hasattr(cg.errors, name)} - {"agents", "human", "__version__"} <= listed
    assert {f"agents.{name}" for name in cg.agents.__all__} <= listed
    assert {f"human.{name}" for name in cg.human.__all__} - {"human.FULL", "human.QUICK"} <= listed
    pages = set(re.findall(r"^ *- (?:.+: )?(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    assert pages == {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")}


class Links(HTMLParser):
    """The files that a page loads, and its links."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.linked: list[str] = []
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.loaded += [given["src"]] if "src" in given else []
        if "href" in given and given.get("rel") != "canonical":
            (self.linked if tag == "a" else self.loaded).append(given["href"])


@pytest.mark.long
def test_site_is_complete_and_needs_no_internet(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for page in set(tmp_path.rglob("*.html")) - {tmp_path / "404.html"}:
        links = Links(page)
        assert not [address for address in links.loaded if urlsplit(address).netloc], page.name
        for address in map(urlsplit, links.loaded + links.linked):
            if address.path and not address.scheme:
                assert (page.parent / unquote(address.path)).exists(), f"{page.name}: {address.path}"
    assert 'id="curiograph.measure"' in (tmp_path / "reference.html").read_text()
