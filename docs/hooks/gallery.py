"""Generate the gallery from the scripts and notebooks in examples/: their text, figures, output and code.

They are run while the site is built. Their output is cached until one of them or the package changes.
"""

from __future__ import annotations

import ast
import base64
import hashlib
import html
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
CACHE = ROOT / ".cache" / "gallery"
NOT_RUN = ("maskable_ppo", "train_an_agent")
"""Scripts that need torch and are shown without their output."""


@dataclass(frozen=True)
class Example:
    """A script and its output."""

    name: str
    """The file name without the ending."""
    code: str
    """The source code."""
    outputs: Path | None
    """The folder of the files that the script wrote; None if it was not run."""

    @property
    def title(self) -> str:
        """The first line of the docstring, without the full stop."""
        return self._docstring.partition("\n")[0].rstrip(".")

    @property
    def text(self) -> str:
        """The rest of the docstring."""
        return self._docstring.partition("\n")[2].strip()

    @property
    def _docstring(self) -> str:
        return ast.get_docstring(ast.parse(self.code)) or self.name

    @property
    def figure(self) -> Path | None:
        """The first figure that the script wrote, or None."""
        figures = [] if self.outputs is None else sorted(self.outputs.glob("*.png"))
        return figures[0] if figures else None

    @property
    def printed(self) -> str:
        """The text that the script printed."""
        return "" if self.outputs is None else (self.outputs / "printed.txt").read_text()


@dataclass(frozen=True)
class Notebook:
    """A notebook that was run."""

    name: str
    """The file name without the ending."""
    cells: list[dict[str, Any]]
    """The cells with their outputs."""
    outputs: Path
    """The folder of the figures in the outputs."""

    @property
    def title(self) -> str:
        """The heading of the first cell."""
        return "".join(self.cells[0]["source"]).partition("\n")[0].lstrip("# ")

    @property
    def figure(self) -> Path | None:
        """The last figure, or None."""
        figures = sorted(self.outputs.glob("*.png"))
        return figures[-1] if figures else None


def run_examples() -> list[Example | Notebook]:
    """Run all scripts, except those in `NOT_RUN`, and all notebooks, and return them."""
    version = hashlib.sha256()
    for source in sorted((ROOT / "src").rglob("*.py")):
        version.update(source.read_bytes())
    examples: list[Example | Notebook] = []
    for path in list_examples():
        code, folder = path.read_text(), None
        if path.stem not in NOT_RUN:
            digest = hashlib.sha256(version.digest() + code.encode()).hexdigest()[:16]
            folder = CACHE / f"{path.stem}-{digest}"
            if not folder.exists():
                run_example(path, folder)
        if path.suffix == ".ipynb" and folder is not None:
            cells = json.loads((folder / path.name).read_text())["cells"]
            examples.append(Notebook(path.stem, cells, folder))
        else:
            examples.append(Example(path.stem, code, folder))
    return examples


def list_examples() -> list[Path]:
    """Return all scripts and notebooks, sorted by name."""
    return sorted([*EXAMPLES.glob("*.py"), *EXAMPLES.glob("*.ipynb")], key=lambda path: path.stem)


def run_example(path: Path, folder: Path) -> None:
    """Run a script or a notebook, move its complete output to the folder, and remove the output of older versions."""
    CACHE.mkdir(parents=True, exist_ok=True)
    for old in CACHE.glob(f"{path.stem}-*"):
        if old != folder:
            shutil.rmtree(old, ignore_errors=True)
    with TemporaryDirectory(dir=CACHE, prefix="incomplete-") as parent:
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


def build_notebook_page(notebook: Notebook) -> str:
    """Return the page of a notebook: text, code, and outputs as HTML, figures or text."""
    lines = []
    for cell in notebook.cells:
        source = "".join(cell["source"])
        lines += [source, ""] if cell["cell_type"] == "markdown" else ["```python", source, "```", ""]
        for result in cell.get("outputs", []):
            data = result.get("data", {})
            text = "".join(result.get("text", data.get("text/plain", ""))).rstrip()
            if "figure" in data:
                lines += [f"![{notebook.title}]({notebook.name}/{data['figure']})", ""]
            elif "text/html" in data:
                markup = "".join(data["text/html"]).replace("\n", " ")
                lines += [f'<div class="output" markdown="0">{markup}</div>', ""]
            else:
                lines += ["```text", text, "```", ""]
    return "\n".join([*lines, f"The notebook: [examples/{notebook.name}.ipynb]({notebook.name}.ipynb).", ""])


def build_page(example: Example | Notebook) -> str:
    """Return the page of one example."""
    if isinstance(example, Notebook):
        return build_notebook_page(example)
    lines = [f"# {example.title}", "", example.text, ""]
    if example.figure is not None:
        lines += [f"![{example.title}]({example.name}.png)", ""]
    if example.printed:
        lines += ["Output:", "", "```text", example.printed.rstrip(), "```", ""]
    return "\n".join([*lines, f"## examples/{example.name}.py", "", "```python", example.code.rstrip(), "```", ""])


def build_index(examples: Sequence[Example | Notebook]) -> str:
    """Return the page with a card for each example, those with a figure first."""
    cards = []
    for example in sorted(examples, key=lambda example: example.figure is None):
        image = f'<img src="{example.name}.png" alt="">' if example.figure is not None else ""
        cards.append(f'<a href="{example.name}.html">{image}{html.escape(example.title)}</a>')
    return "\n".join(
        [
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
            '<div class="cards" markdown="0">',
            *cards,
            "</div>",
            "",
        ]
    )


def on_config(config: Any) -> Any:
    """Add a page for each script and notebook to the navigation."""
    names = [path.stem for path in list_examples()]
    pages = [{name.replace("_", " ").capitalize(): f"gallery/{name}.md"} for name in names]
    for entry in config.nav:
        if "Gallery" in entry:
            entry["Gallery"] = ["gallery/index.md", *pages]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add pages and figures to the site."""
    examples = run_examples()
    files.append(File.generated(config, "gallery/index.md", content=build_index(examples)))
    for example in examples:
        files.append(File.generated(config, f"gallery/{example.name}.md", content=build_page(example)))
        if example.figure is not None:
            figure = File.generated(config, f"gallery/{example.name}.png", abs_src_path=str(example.figure))
            files.append(figure)
        if isinstance(example, Notebook):
            for picture in sorted(example.outputs.glob("*.png")):
                address = f"gallery/{example.name}/{picture.name}"
                files.append(File.generated(config, address, abs_src_path=str(picture)))
            source = EXAMPLES / f"{example.name}.ipynb"
            files.append(File.generated(config, f"gallery/{source.name}", abs_src_path=str(source)))
    return files
