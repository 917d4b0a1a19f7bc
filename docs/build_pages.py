"""Write the pages of the site as plain Markdown to `.cache/pages`; run by `make docs`.

The folder needs no plugins: any program that builds a site from Markdown can read it. The pages of `docs/` are copied
with links into the site and formulas as MathML; the gallery is generated from the scripts in `examples/`, and the
reference from docstrings. Pages of `docs/` link to scripts and packages of the repository, so that links also work in a
clone.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import inspect
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import griffe
from latex2mathml.converter import convert

import curiograph as cg
from curiograph.plotting import COLORS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
EXAMPLES = ROOT / "examples"
PAGES = ROOT / ".cache" / "pages"
GALLERY_CACHE = ROOT / ".cache" / "gallery"


# ---- pages of docs/ ------------------------------------------------------------------------------------------------

_CODE = re.compile(r"(^```.*?^```$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
_FORMULA = re.compile(r"\$\$(.+?)\$\$|\$(\S|\S.*?\S)\$")
_PICTURE = re.compile(r"^(!\[[^\]]*\]\(([^)]+)\))$", re.MULTILINE)
_EXAMPLE = re.compile(r"\]\(\.\./examples(?:/(\w+)\.py)?\)")
_PACKAGE = re.compile(r"\]\(\.\./src/curiograph/(\w+)(?:\.py)?\)")
_SECTION = re.compile(r"^## What differs from the paper\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_SECTION_LINK = re.compile(r"^- \[(.+)\]\(([\w-]+)\.md#what-differs-from-the-paper\)$", re.MULTILINE)

RESULT_COMMANDS = {
    "ablation": "make ablation",
    "bench": "make bench",
    "paper_gap": "scripts/paper_gap.py of commit e2f6410",
    "table2_knn": "python -m reproduction table2 --item-graph knn --only movielens books",
}
"""Commands of the results that are not computed by `python -m reproduction` and their name."""


def convert_page(text: str) -> str:
    """Return a page of `docs/` with links into the site, formulas as MathML, and images that link to their files."""
    text = _EXAMPLE.sub(lambda link: f"](gallery/{link[1] or 'index'}.md)", text)
    text = _PACKAGE.sub(lambda link: f"](reference/{link[1].replace('__init__', 'index')}.md)", text)
    text = _PICTURE.sub(r"[\1](\2)", text)
    parts = _CODE.split(text)  # every other part is code
    return "".join(part if number % 2 else _FORMULA.sub(_convert_formula, part) for number, part in enumerate(parts))


def _convert_formula(found: re.Match[str]) -> str:
    block, inline = found.groups()
    if block is not None:
        return f'<div class="formula">{convert(block, display="block")}</div>'
    return f'<span class="formula">{convert(inline)}</span>'


def read_differences(page: str) -> str:
    """Return the text of the section "What differs from the paper" of a page."""
    found = _SECTION.search((DOCS / f"{page}.md").read_text())
    if found is None:
        raise ValueError(f"docs/{page}.md has no section 'What differs from the paper'")
    return found[1].strip()


def collect_differences(text: str) -> str:
    """Replace every link to a section "What differs from the paper" by a heading and the section."""
    return _SECTION_LINK.sub(lambda link: f"## [{link[1]}]({link[2]}.md)\n\n{read_differences(link[2])}\n", text)


def build_result_page(stem: str, title: str, text: str) -> str:
    """Return the page of a stored result: its source, figure and text; without contents, as wide tables need space."""
    command = RESULT_COMMANDS.get(stem, f"python -m reproduction {stem}")
    stored = f"[{stem}.json]({stem}.json)" if stem != "leaderboard" else "`docs/results/suite`"
    source = f"Computed by `{command}` and stored in {stored}."
    figure = [f"![{title}]({stem}.png)", ""] if (DOCS / "results" / f"{stem}.png").exists() else []
    return "\n".join(["---", "hide: [toc]", "---", "", f"# {title}", "", source, "", *figure, text])


def build_style_sheet() -> str:
    """Return a style sheet with the colors of figures as variables, such as `--igt`."""
    lines = [f"  --{name.replace('+', '-')}: {color};" for name, color in COLORS.items()]
    return "\n".join([":root {", *lines, "}", ""])


# ---- gallery -------------------------------------------------------------------------------------------------------

NOT_RUN = ("maskable_ppo", "train_an_agent")
"""Scripts that need torch and are shown without their output."""


@dataclass(frozen=True)
class Example:
    """A script or notebook and its output."""

    name: str
    """The file name without the ending."""
    title: str
    """The first line of the docstring, or the heading of a notebook."""
    text: str
    """The page, in Markdown."""
    figures: Sequence[Path]
    """The figures that it drew."""

    @property
    def figure(self) -> Path | None:
        """The figure of its card: the first of a script, the last of a notebook; None if there is none."""
        return self.figures[-1] if self.figures else None


def run_examples() -> list[Example]:
    """Run all scripts, except those in `NOT_RUN`, and all notebooks; outputs are kept until a source file changes."""
    version = hashlib.sha256()
    for source in sorted((ROOT / "src").rglob("*.py")):
        version.update(source.read_bytes())
    examples = []
    for path in list_examples():
        digest = hashlib.sha256(version.digest() + path.read_bytes()).hexdigest()[:16]
        outputs = GALLERY_CACHE / f"{path.stem}-{digest}"
        if path.stem not in NOT_RUN and not outputs.exists():
            run_example(path, outputs)
        if path.suffix == ".ipynb":
            cells = json.loads((outputs / path.name).read_text())["cells"]
            examples.append(read_notebook(path.stem, cells, sorted(outputs.glob("*.png"))))
        else:
            printed = "" if path.stem in NOT_RUN else (outputs / "printed.txt").read_text()
            examples.append(read_script(path.stem, path.read_text(), printed, sorted(outputs.glob("*.png"))[:1]))
    return examples


def list_examples() -> list[Path]:
    """Return all scripts and notebooks, sorted by name."""
    return sorted([*EXAMPLES.glob("*.py"), *EXAMPLES.glob("*.ipynb")], key=lambda path: path.stem)


def run_example(path: Path, folder: Path) -> None:
    """Run a script or a notebook, move its complete output to the folder, and remove the output of older versions."""
    GALLERY_CACHE.mkdir(parents=True, exist_ok=True)
    for old in GALLERY_CACHE.glob(f"{path.stem}-*"):
        shutil.rmtree(old, ignore_errors=True)
    with TemporaryDirectory(dir=GALLERY_CACHE, prefix="incomplete-") as parent:
        output = Path(parent) / path.stem
        output.mkdir()
        if path.suffix == ".ipynb":
            run_notebook(path, output)
        else:
            done = subprocess.run([sys.executable, path, output], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise RuntimeError(f"{path.name} failed while the gallery was built:\n{done.stderr}")
            (output / "printed.txt").write_text(done.stdout)
        with suppress(OSError):  # a concurrent build has created the folder
            output.rename(folder)


def run_notebook(path: Path, output: Path) -> None:
    """Run a notebook next to a copy of all scripts; write it with its outputs, and its figures as files."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    with TemporaryDirectory() as folder:
        for script in EXAMPLES.glob("*.py"):
            shutil.copy(script, folder)
        NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()
    for number, cell in enumerate(notebook.cells):
        for result in cell.get("outputs", []):
            if "image/png" in result.get("data", {}):
                picture = result["data"].pop("image/png")
                (output / f"{number:02d}.png").write_bytes(base64.b64decode(picture))
                result["data"]["figure"] = f"{number:02d}.png"
    (output / path.name).write_text(json.dumps(notebook))


def read_script(name: str, code: str, printed: str, figures: Sequence[Path]) -> Example:
    """Return the page of a script: the text of its docstring, its figure, what it printed, and the code."""
    title, _, text = (ast.get_docstring(ast.parse(code)) or name).partition("\n")
    title = title.rstrip(".")
    lines = [f"# {title}", "", text.strip(), ""]
    lines += [line for figure in figures for line in (f"![{title}]({name}/{figure.name})", "")]
    if printed:
        lines += ["Output:", "", "```text", printed.rstrip(), "```", ""]
    lines += [f"## examples/{name}.py", "", "```python", code.rstrip(), "```", ""]
    return Example(name, title, "\n".join(lines), figures)


def read_notebook(name: str, cells: Sequence[dict[str, Any]], figures: Sequence[Path]) -> Example:
    """Return the page of a notebook: text, code, and outputs as HTML, figures or text."""
    title = "".join(cells[0]["source"]).partition("\n")[0].lstrip("# ")
    lines = []
    for cell in cells:
        source = "".join(cell["source"])
        lines += [source, ""] if cell["cell_type"] == "markdown" else ["```python", source, "```", ""]
        for result in cell.get("outputs", []):
            data = result.get("data", {})
            text = "".join(result.get("text", data.get("text/plain", ""))).rstrip()
            if "figure" in data:
                lines += [f"![{title}]({name}/{data['figure']})", ""]
            elif "text/html" in data:
                markup = "".join(data["text/html"]).replace("\n", " ")
                lines += [f'<div class="output">{markup}</div>', ""]
            else:
                lines += ["```text", text, "```", ""]
    lines += [f"The notebook: [examples/{name}.ipynb]({name}.ipynb).", ""]
    return Example(name, title, "\n".join(lines), figures)


def build_gallery_index(examples: Sequence[Example]) -> str:
    """Return the page with a card for each example, those with a figure first."""
    lines = [
        "---",
        "hide: [toc]",
        "---",
        "",
        "# Gallery",
        "",
        "Scripts and a notebook to start from. Each runs without changes, on data that comes with the package:",
        "",
        "```",
        "python examples/click_log.py pictures     # the output folder; default: the current folder",
        "```",
        "",
        '<div class="cards" markdown>',
        "",
    ]
    for example in sorted(examples, key=lambda example: example.figure is None):
        image = f"![]({example.name}/{example.figure.name}) " if example.figure else ""
        lines += [f"- [{image}{example.title}]({example.name}.md)"]
    return "\n".join([*lines, "", "</div>", ""])


# ---- reference -----------------------------------------------------------------------------------------------------

GROUPS = {
    "graph": "Graphs",
    "growth": "Growth",
    "rewards": "Rewards",
    "exploration": "Exploration",
    "agents": "Agents",
    "training": "Training",
    "centrality": "Centrality",
    "recommendation": "Recommendation",
    "human": "Human choices",
    "leaderboard": "Leaderboard",
    "errors": "Errors",
}
"""Packages with public names, in the order of their imports, and the titles of their pages."""

_MORE_NAMES = {
    "graph": [f"curiograph.graph.toys.{name}" for name in cg.toys.TOYS],
    "training": ["curiograph.training.config.DqnSettings", "curiograph.training.config.ExpertIterationSettings"],
}
"""Names shown in addition to the public ones: the toy graphs, and the settings that `train` takes as keywords."""

_PARAMETERS = re.compile(r"^Parameters\n-+\n(.*?)(?:\n\n|\Z)", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^\w+\n-{3,}$", re.MULTILINE)
_DESCRIBED = re.compile(r"^(\*{0,2}\w+(?:, \w+)*) : (?!\{|.{0,70}[^.,;:\n]\n +[A-Z`\x22])(?=\S)", re.MULTILINE)
"""A parameter followed by its description, not by a short type with an indented sentence below."""


def list_public_names() -> dict[str, list[str]]:
    """Return the full public names of every group, sorted by name."""
    groups: dict[str, list[str]] = {group: [] for group in GROUPS}
    for home, names in cg._HOMES.items():
        groups[home.partition(".")[0]] += [f"curiograph.{home}.{name}" for name in names]
    for home, names in cg.human._HOMES.items():
        groups["human"] += [f"curiograph.human.{home}.{name}" for name in names]
    return {group: sorted(names, key=lambda name: name.rpartition(".")[2].lower()) for group, names in groups.items()}


def _list_top_names(group: str) -> list[str]:
    """Return the public names of a group that `curiograph` itself has."""
    return [name for home, names in cg._HOMES.items() if home.partition(".")[0] == group for name in names]


def build_reference_index() -> str:
    """Return a table of all public names with the summaries of their docstrings."""
    lines = ["# Reference", "", "All public names. Each package imports only from packages above it.", ""]
    for group, names in list_public_names().items():
        lines += [f"## [{GROUPS[group]}]({group}.md)", "", "| name | summary |", "|---|---|"]
        for full in names:
            name = full.rpartition(".")[2]
            home = cg if name in _list_top_names(group) else cg.human
            summary = (inspect.getdoc(getattr(home, name)) or "").partition("\n\n")[0].replace("\n", " ")
            lines.append(f"| [`{name}`]({group}.md#{full}) | {summary.replace('|', '&#124;')} |")
        lines.append("")
    return "\n".join(lines)


def build_reference_page(group: str, package: griffe.Object) -> str:
    """Return the page of a group: signature, docstring and members of every public name."""
    prefix = "cg.human" if group == "human" else "cg"
    outside = [f", `{name}` as `cg.{name}`" for name in _list_top_names(group)] if group == "human" else []
    lines = [f"# {GROUPS[group]}", "", f"Use as `{prefix}.NAME`{''.join(outside)} after `import curiograph as cg`.", ""]
    for name in [*list_public_names()[group], *_MORE_NAMES.get(group, [])]:
        lines += describe(package[name.removeprefix("curiograph.")], level=2)
    return "\n".join(lines)


def describe(shown: griffe.Object, level: int) -> list[str]:
    """Describe a class with its documented members, a function or an attribute."""
    lines = [f'<a id="{shown.path}"></a>', "", f"{'#' * level} {shown.name}", ""]
    if isinstance(shown, griffe.Attribute):
        kind = "" if shown.annotation is None else f"`{shown.annotation}`: "
        return [*lines, kind + format_docstring(shown)]
    lines += ["```python", format_signature(shown), "```", "", format_docstring(shown)]
    if isinstance(shown, griffe.Class):
        members = [each for each in shown.members.values() if each.docstring and not each.name.startswith("_")]
        fields = [each for each in members if isinstance(each, griffe.Attribute)]
        lines += [f"- **{each.name}**{_format_type(each.annotation)}: {_join_lines(each.docstring)}" for each in fields]
        lines.append("")
        for each in members:
            if isinstance(each, griffe.Function):
                lines += describe(each, level + 1)
    return lines


def format_signature(shown: Any) -> str:
    """Return the signature of a function or class, on several lines if it is long."""
    parameters, last_kind = [], None
    for each in shown.parameters:
        if each.name in ("self", "cls"):
            continue
        kinds = griffe.ParameterKind
        if each.kind is kinds.keyword_only and last_kind not in (kinds.var_positional, kinds.keyword_only):
            parameters.append("*")
        last_kind = each.kind
        stars = {griffe.ParameterKind.var_positional: "*", griffe.ParameterKind.var_keyword: "**"}.get(each.kind, "")
        annotation = "" if each.annotation is None else f": {each.annotation}"
        default = "" if each.default is None or stars else f" = {each.default}" if annotation else f"={each.default}"
        parameters.append(f"{stars}{each.name}{annotation}{default}")
    returns = getattr(shown, "returns", None)
    end = ")" if returns is None or isinstance(shown, griffe.Class) else f") -> {returns}"
    line = f"{shown.name}({', '.join(parameters)}{end}"
    return line if len(line) <= 88 else "\n".join([f"{shown.name}(", *(f"    {each}," for each in parameters), end])


def format_docstring(shown: griffe.Object) -> str:
    """Return a docstring as Markdown: text, lists of parameters and results, and examples as code."""
    if shown.docstring is None:
        return ""
    lines: list[str] = []
    docstring = griffe.Docstring(convert_docstring(shown.docstring.value), parent=shown)
    for section in docstring.parse("numpy", warnings=False):
        kind = section.kind.value
        if kind == "text":
            lines += [section.value, ""]
        elif kind == "examples":
            lines += [line for what, text in section.value for line in _format_example(what.value, text)]
        elif kind == "admonition":
            lines += [f"**{section.title}**: {section.value.contents}", ""]
        else:
            lines += [f"**{kind.replace('_', ' ').capitalize()}**", ""]
            for item in section.value:
                named = f"**{item.name}**{_format_type(item.annotation)}" if getattr(item, "name", "") else None
                lines.append(f"- {named or f'`{item.annotation}`'}: {_join_lines(item.description)}")
            lines.append("")
    return "\n".join(lines)


def _format_example(kind: str, text: str) -> list[str]:
    return [text, ""] if kind == "text" else ["```python", text, "```", ""]


def _format_type(annotation: Any) -> str:
    return "" if annotation is None else f" (`{annotation}`)"


def _join_lines(text: Any) -> str:
    return " ".join(str(getattr(text, "value", text)).split())


def convert_docstring(text: str) -> str:
    """Put descriptions below parameter names, parameters after the text, and a heading above the example.

    Our docstrings may describe a parameter on the line of its name, continue with text after the parameters, and end
    with an example without a heading; griffe's NumPy parser reads neither.
    """
    if not re.search(r"^Examples\n-+$", text, re.MULTILINE):
        text = re.sub(r"^>>> ", "Examples\n--------\n>>> ", text, count=1, flags=re.MULTILINE)
    found = _PARAMETERS.search(text)
    if found is None:
        return text
    parameters = "Parameters\n----------\n" + _DESCRIBED.sub(r"\1\n    ", found[1])
    before, after = text[: found.start()], text[found.end() :]
    heading = _HEADING.search(after)
    end = len(after) if heading is None else heading.start()
    parts = (before, after[:end], parameters, after[end:])
    return "\n\n".join(part.strip() for part in parts if part.strip())


# ---- all pages -----------------------------------------------------------------------------------------------------


def build_pages(folder: Path) -> None:
    """Write all pages, and the files that they show, to a new folder."""
    titles = read_titles()
    shutil.copytree(DOCS, folder, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    (folder / "stylesheets" / "colors.css").write_text(build_style_sheet())
    for page in folder.glob("*.md"):
        text = page.read_text()
        page.write_text(convert_page(collect_differences(text) if page.stem == "differences" else text))
    for page in (folder / "results").glob("*.md"):
        page.write_text(convert_page(build_result_page(page.stem, titles[f"results/{page.name}"], page.read_text())))
    gallery = folder / "gallery"
    gallery.mkdir()
    examples = run_examples()
    (gallery / "index.md").write_text(build_gallery_index(examples))
    for example in examples:
        (gallery / f"{example.name}.md").write_text(_PICTURE.sub(r"[\1](\2)", example.text))
        for figure in example.figures:
            (gallery / example.name).mkdir(exist_ok=True)
            shutil.copy(figure, gallery / example.name)
    for notebook in EXAMPLES.glob("*.ipynb"):
        shutil.copy(notebook, gallery)
    reference = folder / "reference"
    reference.mkdir()
    package = griffe.load("curiograph", search_paths=[ROOT / "src"])
    (reference / "index.md").write_text(build_reference_index())
    for group in GROUPS:
        (reference / f"{group}.md").write_text(build_reference_page(group, package))


def read_titles() -> dict[str, str]:
    """Return the title of every page in the navigation of mkdocs.yml."""
    entries = re.findall(r"^ *- (.+): (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    return {path: title.strip('"') for title, path in entries}


if __name__ == "__main__":
    shutil.rmtree(PAGES, ignore_errors=True)
    build_pages(PAGES)
