"""Generate the gallery from the scripts in examples/: their text, figures, output and code.

Scripts are run while the site is built. Their output is cached until a script or the package changes.
"""

from __future__ import annotations

import ast
import hashlib
import html
import shutil
import subprocess
import sys
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


def run_examples() -> list[Example]:
    """Run all scripts, except those in `NOT_RUN`, and return them."""
    version = hashlib.sha256()
    for source in sorted((ROOT / "src").rglob("*.py")):
        version.update(source.read_bytes())
    examples = []
    for path in sorted(EXAMPLES.glob("*.py")):
        code, folder = path.read_text(), None
        if path.stem not in NOT_RUN:
            digest = hashlib.sha256(version.digest() + code.encode()).hexdigest()[:16]
            folder = CACHE / f"{path.stem}-{digest}"
            if not folder.exists():
                run_script(path, folder)
        examples.append(Example(path.stem, code, folder))
    return examples


def run_script(path: Path, folder: Path) -> None:
    """Run a script, move its output to the folder when it is complete, and remove the output of older versions."""
    CACHE.mkdir(parents=True, exist_ok=True)
    for old in CACHE.glob(f"{path.stem}-*"):
        if old != folder:
            shutil.rmtree(old, ignore_errors=True)
    with TemporaryDirectory(dir=CACHE, prefix="incomplete-") as parent:
        output = Path(parent) / path.stem
        output.mkdir()
        done = subprocess.run([sys.executable, path, output], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{path.name} failed while the gallery was built:\n{done.stderr}")
        (output / "printed.txt").write_text(done.stdout)
        with suppress(OSError):  # a concurrent build has created the folder
            output.rename(folder)


def build_page(example: Example) -> str:
    """Return the page of one example."""
    lines = [f"# {example.title}", "", example.text, ""]
    if example.figure is not None:
        lines += [f"![{example.title}]({example.name}.png)", ""]
    if example.printed:
        lines += ["Output:", "", "```text", example.printed.rstrip(), "```", ""]
    return "\n".join([*lines, f"## examples/{example.name}.py", "", "```python", example.code.rstrip(), "```", ""])


def build_index(examples: list[Example]) -> str:
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
            "Short scripts to start from. Each runs without changes, on data that comes with the package:",
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
    """Add a page for each script to the navigation."""
    names = [path.stem for path in sorted(EXAMPLES.glob("*.py"))]
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
    return files
