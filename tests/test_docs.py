"""The documentation: what is generated for the site, and the site itself."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

import curiograph as cg
from curiograph.paper.experiment import redraw_figures
from curiograph.plotting import COLORS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def hook(name: str) -> ModuleType:
    return script(DOCS / "hooks" / f"{name}.py")


def script(path: Path) -> ModuleType:
    name = path.stem
    sys.path.append(str(DOCS))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_formulas_become_mathml() -> None:
    made = hook("formulas").on_page_content(r'<p><span class="arithmatex">\(a &lt; b_1\)</span></p>')
    assert 'class="formula"' in made
    assert "<msub><mi>b</mi><mn>1</mn></msub>" in made
    assert 'display="inline"' in made
    assert "arithmatex" not in made


def test_pictures_link_to_themselves() -> None:
    made = hook("pictures").on_page_content('<p><img alt="walks" src="results/walks.png" /></p>')
    assert made.startswith('<p><a class="picture" href="results/walks.png"><img alt="walks"')


def test_docstrings_are_brought_to_numpy_style() -> None:
    text = "Add.\n\nParameters\n----------\na : a number,\n    or two.\n\nNever fails.\n\n>>> 1 + 1\n2"
    parameters = "Parameters\n----------\na\n    a number,\n    or two."
    made = hook("docstrings").readable(text)
    assert made == f"Add.\n\nNever fails.\n\n{parameters}\n\nExamples\n--------\n>>> 1 + 1\n2"
    assert hook("docstrings").readable("Add.") == "Add."


def test_reference_has_every_public_name() -> None:
    reference = hook("reference")
    shown = "\n".join(reference.page(group) for group in reference.GROUPS)
    told = reference.contents()
    for name in {*cg.__all__, *cg.human.__all__} - {"__version__", "human"}:
        assert re.search(rf"^::: curiograph\.\S*\b{name}$", shown, re.MULTILINE), name
    for name in {*cg._HOME_OF, *cg.human.__all__}:
        assert re.search(rf"^\| \[`{name}`\]\(\w+\.md#curiograph\.\S+\.{name}\) \| \S", told, re.MULTILINE), name


def test_site_has_the_colours_of_the_pictures() -> None:
    sheet = hook("colours").style_sheet()
    assert all(f": {colour};" in sheet for colour in COLORS.values())
    used = set(re.findall(r"var\(--((?!md-)[\w-]+)\)", (DOCS / "stylesheets" / "site.css").read_text()))
    assert {"igt", "cpt", "human"} <= used <= set(re.findall(r"--([\w-]+):", sheet))


def test_page_of_an_example(tmp_path: Path) -> None:
    (tmp_path / "drawn.png").write_bytes(b"")
    (tmp_path / "printed.txt").write_text("42\n")
    gallery = hook("gallery")
    example = gallery.Example("answer", '"""The answer.\n\nTo all.\n"""\nprint(42)\n', tmp_path)
    page = gallery.page(example)
    assert page.startswith("# The answer\n\nTo all.\n\n![The answer](answer.png)\n")
    assert "```text\n42\n```" in page
    assert "print(42)\n```" in page
    assert '<a href="answer.html"><img src="answer.png" alt="">The answer</a>' in gallery.contents([example])


def test_bench_page_has_every_ratio() -> None:
    stored = json.loads((DOCS / "results" / "bench.json").read_text())
    page = hook("results").bench_page()
    for result in stored["results"]:
        assert (f"| {result['what']} | {result['size']} |" in page) == (result["ratio"] is not None)


def test_results_get_a_heading_and_lose_nothing() -> None:
    text = "r: this line looks like a setting of the page\n\n| a table |"
    page = hook("results").headed("table2", "Table 2", text)
    assert page.startswith("---\nhide: [toc]\n---\n\n# Table 2\n\nMade by `curiograph reproduce table2`")
    assert "[table2.json](table2.json)" in page
    assert page.endswith(f"![Table 2](table2.png)\n\n{text}")
    assert "`make ablation`" in hook("results").headed("ablation", "Choices", "")


def test_differences_are_gathered_from_all_pages() -> None:
    differences = hook("differences")
    page = differences.contents()
    saying = {path.stem for path in DOCS.glob("*.md") if "## What differs from the paper" in path.read_text()}
    assert saying == set(differences.PAGES)
    assert all(differences.section(name) in page for name in saying)


def test_stored_runs_are_drawn_as_they_were_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr("curiograph.paper.table1.Table1.save_plot", lambda table, path: drawn.extend(table.cells))
    (tmp_path / "table1.json").write_text((DOCS / "results" / "table1.json").read_text())
    assert list(redraw_figures(tmp_path)) == ["table1"]
    for cell, kept in zip(drawn, json.loads((tmp_path / "table1.json").read_text())["cells"], strict=True):
        for name, result in cell.results.items():
            assert result.mean == pytest.approx(kept["results"][name]["mean"])
            assert result.sem_by_graph == pytest.approx(kept["results"][name]["sem_by_graph"])


def test_a_run_that_is_not_stored_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    show = script(DOCS / "show_results.py")
    monkeypatch.setattr(show, "DOCS", tmp_path / "docs")
    monkeypatch.setattr(show, "RESULTS", tmp_path / "docs" / "results")
    assert show.stored("load") is None
    assert "there is no docs/results/load.json" in capsys.readouterr().err


# ---- the site itself -----------------------------------------------------------------------------------------------


class Links(HTMLParser):
    """What a page loads, and what it links to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.linked: list[str] = []
        self.ids: set[str] = set()
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids.add(given.get("id", ""))
        if "src" in given:
            self.loaded.append(given["src"])
        if tag == "link" and given.get("rel") != "canonical":
            self.loaded.append(given["href"])
        if tag == "a" and "href" in given:
            self.linked.append(given["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.long
def test_site_needs_no_internet(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 40
    for page in pages:
        outside = [address for address in Links(page).loaded if urlsplit(address).netloc]
        assert not outside, f"{page.name} loads {outside}"
    for sheet in site.rglob("*.css"):
        addresses = re.findall(r"(?:url\(|@import )[\"']?(?:https?:)?//[^\"')]+", sheet.read_text())
        assert not addresses, f"{sheet.name} loads {addresses}"


@pytest.mark.long
def test_links_of_the_site_lead_somewhere(site: Path) -> None:
    for page in set(site.rglob("*.html")) - {site / "404.html"}:
        links = Links(page)
        for address in links.loaded + links.linked:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc or not parts.path:
                continue
            assert (page.parent / unquote(parts.path)).exists(), f"{page.name}: {address}"


@pytest.mark.long
def test_reference_shows_every_public_name(site: Path) -> None:
    shown: set[str] = set()
    for page in (site / "reference").glob("*.html"):
        shown |= Links(page).ids
    for names in hook("reference").public_names().values():
        assert not set(names) - shown


@pytest.mark.long
def test_results_are_shown_whole(site: Path) -> None:
    for stored in (DOCS / "results").glob("*.md"):
        first = re.split(r"[&<`]", stored.read_text().partition("\n")[0].strip("|* "))[0].partition(" | ")[0]
        shown = (site / "results" / f"{stored.stem}.html").read_text()
        assert first in shown, stored.name


@pytest.mark.long
def test_site_draws_formulas_and_pictures(site: Path) -> None:
    for page in ("measure", "explore", "learning", "ranking", "prediction", "hypotheses", "reproduce"):
        text = (site / f"{page}.html").read_text()
        assert "<math" in text, page
        assert "arithmatex" not in text, page
        assert re.search(r'<img [^>]*src="[^"]+\.png"', text), page
