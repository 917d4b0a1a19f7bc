"""Tests of the documentation: generated pages, links, and the built site."""

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
from urllib.parse import unquote, urlsplit

import griffe
import pytest

import curiograph as cg
from curiograph.plotting import COLORS
from reproduction.__main__ import EXPERIMENTS, read_report

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BUILD = DOCS / "build_pages.py"


def load_script(path: Path) -> ModuleType:
    name = path.stem
    sys.path.append(str(DOCS))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # required by dataclasses
    spec.loader.exec_module(module)
    return module


def test_formulas_become_mathml_outside_of_code() -> None:
    made = load_script(BUILD).convert_page("With $a < b_1$ and `$HOME`:\n\n$$x^2$$\n\n```\n$PATH is $5\n```\n")
    assert "<msub><mi>b</mi><mn>1</mn></msub>" in made
    assert made.count("<math") == 2
    assert '\n<div class="formula"><math ' in made
    assert "`$HOME`" in made
    assert made.endswith("\n```\n$PATH is $5\n```\n")


def test_images_link_to_their_files() -> None:
    made = load_script(BUILD).convert_page("![walks](results/walks.png)\n")
    assert made == "[![walks](results/walks.png)](results/walks.png)\n"


def test_docstrings_are_converted_to_numpy_style() -> None:
    text = "Add.\n\nParameters\n----------\na : a number,\n    or two.\n\nNever fails.\n\n>>> 1 + 1\n2"
    parameters = "Parameters\n----------\na\n    a number,\n    or two."
    made = load_script(BUILD).convert_docstring(text)
    assert made == f"Add.\n\nNever fails.\n\n{parameters}\n\nExamples\n--------\n>>> 1 + 1\n2"
    assert load_script(BUILD).convert_docstring("Add.") == "Add."
    numpy_style = f"Add.\n\n{parameters}\nb : int\n    A number.\n\nReturns\n-------\nint\n    The sum."
    assert load_script(BUILD).convert_docstring(numpy_style) == numpy_style


def test_reference_has_every_public_name() -> None:
    build = load_script(BUILD)
    package = griffe.load("curiograph", search_paths=[ROOT / "src"])
    pages = "\n".join(build.build_reference_page(group, package) for group in build.GROUPS)
    index = build.build_reference_index()
    for name in {*cg.__all__, *cg.human.__all__} - {"__version__", "human", "toys"}:
        assert re.search(rf'^<a id="curiograph\.\S*\b{name}"></a>$', pages, re.MULTILINE), name
    for name in {*cg._HOME_OF, *cg.human.__all__}:
        assert re.search(rf"^\| \[`{name}`\]\(\w+\.md#curiograph\.\S+\.{name}\) \| \S", index, re.MULTILINE), name
    assert not re.search(r"^(Parameters|Returns|Examples)\n-+$", pages, re.MULTILINE)  # all sections are converted
    described = pages.partition('<a id="curiograph.growth.measure.measure"></a>')[2]
    assert "\n    walk: Any,\n    *,\n    max_dim: int = 1,\n" in described
    assert "- **max_dim** (`int`): Highest dimension of gaps" in described
    assert "\n```python\n>>> from curiograph.graph.toys import library\n" in described


def test_style_sheet_has_the_colors_of_figures() -> None:
    sheet = load_script(BUILD).build_style_sheet()
    assert all(f": {color};" in sheet for color in COLORS.values())
    used = set(re.findall(r"var\(--((?!md-)[\w-]+)\)", (DOCS / "stylesheets" / "site.css").read_text()))
    assert {"igt", "cpt", "human"} <= used <= set(re.findall(r"--([\w-]+):", sheet))


def test_page_of_an_example(tmp_path: Path) -> None:
    build = load_script(BUILD)
    code = '"""The answer.\n\nTo all.\n"""\nprint(42)\n'
    example = build.read_script("answer", code, "42\n", [tmp_path / "drawn.png"])
    assert example.text.startswith("# The answer\n\nTo all.\n\n![The answer](answer/drawn.png)\n")
    assert "```text\n42\n```" in example.text
    assert "print(42)\n```" in example.text
    assert "- [![](answer/drawn.png) The answer](answer.md)" in build.build_gallery_index([example])


def test_page_of_a_notebook(tmp_path: Path) -> None:
    build = load_script(BUILD)
    cells = [
        {"cell_type": "markdown", "source": ["# The answer\n", "\n", "To all."]},
        {
            "cell_type": "code",
            "source": "answer",
            "outputs": [{"data": {"text/html": ["<b>42</b>\n"], "text/plain": "42"}}],
        },
        {"cell_type": "code", "source": "plot", "outputs": [{"data": {"figure": "02.png"}}, {"text": "drawn\n"}]},
    ]
    notebook = build.read_notebook("answer", cells, [tmp_path / "01.png", tmp_path / "02.png"])
    assert notebook.text.startswith('# The answer\n\nTo all.\n\n```python\nanswer\n```\n\n<div class="output"')
    assert "<b>42</b>" in notebook.text
    assert "![The answer](answer/02.png)\n\n```text\ndrawn\n```" in notebook.text
    assert "- [![](answer/02.png) The answer](answer.md)" in build.build_gallery_index([notebook])


def test_navigation_has_every_page() -> None:
    build = load_script(BUILD)
    generated = {f"reference/{group}.md" for group in ("index", *build.GROUPS)}
    generated |= {f"gallery/{name}.md" for name in ("index", *(path.stem for path in build.list_examples()))}
    written = {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")}
    config = (ROOT / "mkdocs.yml").read_text()
    assert set(re.findall(r"^ *- (?:.+: )?(\S+\.md)$", config, re.MULTILINE)) == generated | written
    assert "hooks:" not in config


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_page_begins_with_its_use_and_a_picture_or_table(page: Path) -> None:
    title, text, *rest = page.read_text().partition("\n## ")[0].split("\n\n")
    assert title.startswith("# ")
    assert re.match(r"[`A-Z]", text), "the page begins with a sentence"
    assert any(part.startswith(("![", "| ", "<!-- ")) for part in rest), "the page shows no picture or table"


def test_bench_page_has_every_ratio() -> None:
    stored = json.loads((DOCS / "results" / "bench.json").read_text())
    page = (DOCS / "results" / "bench.md").read_text()
    assert page == "\n".join([*load_script(DOCS / "show_results.py").format_bench(stored), ""])
    for result in stored["results"]:
        assert (f"| {result['what']} | {result['size']} |" in page) == (result["ratio"] is not None)


def test_results_get_a_heading_and_keep_their_text() -> None:
    text = "r: this line looks like a setting of the page\n\n| a table |"
    page = load_script(BUILD).build_result_page("table2", "Table 2", text)
    assert page.startswith("---\nhide: [toc]\n---\n\n# Table 2\n\nComputed by `python -m reproduction table2`")
    assert "[table2.json](table2.json)" in page
    assert page.endswith(f"![Table 2](table2.png)\n\n{text}")
    assert "`make ablation`" in load_script(BUILD).build_result_page("ablation", "Choices", "")


def test_differences_are_collected_from_all_pages() -> None:
    build = load_script(BUILD)
    page = build.collect_differences((DOCS / "differences.md").read_text())
    names = {path.stem for path in DOCS.glob("*.md") if "\n## What differs from the paper" in path.read_text()}
    assert names == set(re.findall(r"^## \[.+\]\((\w+)\.md\)$", page, re.MULTILINE))
    assert all(build.read_differences(name) in page for name in names)
    for name in names:
        title = (DOCS / f"{name}.md").read_text().partition("\n")[0].removeprefix("# ")
        assert f"## [{title}]({name}.md)" in page


def test_site_links_replace_links_to_the_repository() -> None:
    rewrite_links = load_script(BUILD).convert_page
    assert rewrite_links("[a](../examples) [b](../examples/click_log.py)") == (
        "[a](gallery/index.md) [b](gallery/click_log.md)"
    )
    assert rewrite_links("[a](../src/curiograph/__init__.py) [b](../src/curiograph/errors.py)") == (
        "[a](reference/index.md) [b](reference/errors.md)"
    )
    assert rewrite_links("[a](../src/curiograph/agents)") == "[a](reference/agents.md)"


@pytest.mark.parametrize("page", [*ROOT.glob("*.md"), *DOCS.glob("*.md")], ids=lambda page: page.name)
def test_links_work_in_a_clone(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        address = urlsplit(link)
        if address.scheme:
            continue
        target = page.parent / address.path if address.path else page
        assert target.exists(), f"{page.name}: {link}"
        if address.fragment:
            headings = re.findall(r"^#+ (.+)$", target.read_text().lower(), re.MULTILINE)
            anchors = {re.sub(r"[^\w -]", "", heading).replace(" ", "-") for heading in headings}
            assert address.fragment in anchors, f"{page.name}: {link}"


def test_tables_of_pages_are_those_of_the_stored_runs() -> None:
    show = load_script(DOCS / "show_results.py")
    for marker, name, format_lines, page in show.TABLES:
        lines = format_lines(json.loads((DOCS / "results" / f"{name}.json").read_text()))
        block = "\n".join([f"<!-- {marker} -->", *lines, f"<!-- end of {marker} -->"])
        assert block in page.read_text(), f"run docs/show_results.py: {page.name} has an old table {marker!r}"


def test_prose_of_the_replication_follows_from_the_stored_run() -> None:
    show = load_script(DOCS / "show_replication.py")
    run = json.loads((DOCS / "results" / "table2.json").read_text())
    compared = [
        each for each in run["predictions"] if each["recipe"]["keep"] == "highest" or each["name"] == "wikispeedia"
    ]
    found = {each["name"]: each for each in compared}
    methods = {
        name: {row["method"]: row for row in each["methods"] if row["candidates"] == "last"}
        for name, each in found.items()
    }
    for name, rows in methods.items():
        assert rows["igt+cpt"]["r_low"] > 0, "curious walkers predict better than PageRank on all datasets"
        assert rows["memory"]["r"] > rows["igt+cpt"]["r"] / 2, "most of the gain is not due to curiosity"
        assert rows["igt+cpt"]["r"] < rows["igt"]["r"] + rows["cpt"]["r"], name
    assert show.compute_z(found["movielens"], "igt+cpt") > show.Z_LIMIT
    assert show.compute_z(found["wikispeedia"], "igt") < -4
    assert show.compute_z(found["wikispeedia"], "cpt") < -show.Z_LIMIT
    assert show.compute_z(found["wikispeedia"], "igt+cpt") > 0
    contrasts = json.loads((DOCS / "results" / "conditions.json").read_text())["contrasts"]
    clear = {
        (each["dataset"], each["condition"], each["base"], each["difference"]["value"] > 0)
        for each in contrasts
        if each["corrected_p"] is not None and each["corrected_p"] < 0.05
    }
    assert clear == {
        ("wikispeedia", "goal", "memory", False),
        ("wikispeedia", "goal", "pagerank", False),
        ("wikispeedia", "position", "pagerank", False),
    }
    table1 = json.loads((DOCS / "results" / "table1.json").read_text())
    for cell in table1["cells"]:
        if cell["reward"] == "cpt":
            assert cell["paper"]["gnn"]["mean"] < cell["paper"]["greedy"]["mean"]
            assert cell["results"]["gnn-paper"]["mean"] > cell["paper"]["gnn"]["mean"]


def test_stored_runs_can_be_shown_again() -> None:
    for name in EXPERIMENTS:
        if (DOCS / "results" / f"{name}.json").exists():
            assert read_report(name, DOCS / "results").to_markdown().count("|:--") > 0


def test_missing_run_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    show = load_script(DOCS / "show_results.py")
    monkeypatch.setattr(show, "DOCS", tmp_path / "docs")
    monkeypatch.setattr(show, "RESULTS", tmp_path / "docs" / "results")
    assert show.load_run("load") is None
    assert "no docs/results/load.json" in capsys.readouterr().err


# ---- the site itself -----------------------------------------------------------------------------------------------


class Links(HTMLParser):
    """The files that a page loads, its links and its ids."""

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
    subprocess.run([sys.executable, BUILD], cwd=ROOT, check=True)
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
def test_links_of_the_site_exist(site: Path) -> None:
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
    for names in load_script(BUILD).list_public_names().values():
        assert not set(names) - shown


@pytest.mark.long
def test_results_are_shown_completely(site: Path) -> None:
    for stored in (DOCS / "results").glob("*.md"):
        first = re.split(r"[&<`*\[]", stored.read_text().partition("\n")[0].strip("|* "))[0].partition(" | ")[0]
        shown = (site / "results" / f"{stored.stem}.html").read_text()
        assert first in shown, stored.name


@pytest.mark.long
def test_site_shows_formulas_and_figures(site: Path) -> None:
    for page in ("measure", "explore", "learning", "ranking", "prediction", "hypotheses", "reproduce"):
        text = (site / f"{page}.html").read_text()
        assert "<math" in text, page
        assert re.search(r'<img [^>]*src="[^"]+\.png"', text), page
