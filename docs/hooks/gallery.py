"""Pages of the gallery, from the scripts in examples/: what they say, draw and print, and their code.

Scripts are run while the site is built, into a folder that is kept until a script or the package changes.
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
KEPT = ROOT / ".cache" / "gallery"
NOT_RUN = ("maskable_ppo", "train_an_agent")
"""These train with torch, which a site does not need."""


@dataclass(frozen=True)
class Example:
    """A script, and what running it left behind."""

    name: str
    code: str
    outputs: Path | None
    """The folder that it wrote to; None if it was not run."""

    @property
    def title(self) -> str:
        """The first sentence of its docstring, without the full stop."""
        return self._says[0].rstrip(".")

    @property
    def text(self) -> str:
        """The rest of its docstring."""
        return self._says[1]

    @property
    def _says(self) -> tuple[str, str]:
        first, _, rest = (ast.get_docstring(ast.parse(self.code)) or self.name).partition("\n")
        return first, rest.strip()

    @property
    def picture(self) -> Path | None:
        """What it drew, if anything."""
        drawn = [] if self.outputs is None else sorted(self.outputs.glob("*.png"))
        return drawn[0] if drawn else None

    @property
    def printed(self) -> str:
        """What it wrote to the terminal."""
        return "" if self.outputs is None else (self.outputs / "printed.txt").read_text()


def examples() -> list[Example]:
    """All scripts, run where they can be."""
    version = _package_version()
    return [_example(path, version) for path in sorted(EXAMPLES.glob("*.py"))]


def _example(path: Path, version: bytes) -> Example:
    code = path.read_text()
    folder = None
    if path.stem not in NOT_RUN:
        digest = hashlib.sha256(version + code.encode()).hexdigest()[:16]
        folder = KEPT / f"{path.stem}-{digest}"
        if not folder.exists():
            _run(path, folder)
    return Example(path.stem, code, folder)


def _package_version() -> bytes:
    """A digest of the sources: pictures change with them."""
    digest = hashlib.sha256()
    for source in sorted((ROOT / "src").rglob("*.py")):
        digest.update(source.read_bytes())
    return digest.digest()


def _run(path: Path, folder: Path) -> None:
    """Run a script into a folder, which appears once it is complete; what older versions left is removed."""
    KEPT.mkdir(parents=True, exist_ok=True)
    for old in KEPT.glob(f"{path.stem}-*"):
        if old != folder:
            shutil.rmtree(old, ignore_errors=True)
    with TemporaryDirectory(dir=KEPT, prefix="being-made-") as parent:
        made = Path(parent) / path.stem
        made.mkdir()
        done = subprocess.run([sys.executable, path, made], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{path.name} failed while the gallery was made:\n{done.stderr}")
        (made / "printed.txt").write_text(done.stdout)
        with suppress(OSError):  # another build was faster
            made.rename(folder)


def page(example: Example) -> str:
    """The page of one example."""
    lines = [f"# {example.title}", "", example.text, ""]
    if example.picture is not None:
        lines += [f"![{example.title}]({example.name}.png)", ""]
    if example.printed:
        lines += ["It prints:", "", "```text", example.printed.rstrip(), "```", ""]
    return "\n".join([*lines, f"## examples/{example.name}.py", "", "```python", example.code.rstrip(), "```", ""])


def contents(found: list[Example]) -> str:
    """A card for each example, those with a picture first."""
    cards = [_card(example) for example in sorted(found, key=lambda example: example.picture is None)]
    return "\n".join(
        [
            "---",
            "hide: [toc]",
            "---",
            "",
            "# Gallery",
            "",
            "Short scripts to start from. Each runs as it stands, on data that comes with the package:",
            "",
            "```",
            "python examples/click_log.py pictures     # writes to the folder that you name, here by default",
            "```",
            "",
            '<div class="cards" markdown="0">',
            *cards,
            "</div>",
            "",
        ]
    )


def _card(example: Example) -> str:
    title = html.escape(example.title)
    drawn = f'<img src="{example.name}.png" alt="">' if example.picture is not None else ""
    return f'<a href="{example.name}.html">{drawn}{title}</a>'


def on_config(config: Any) -> Any:
    """Put a page for each script below the gallery in the navigation."""
    names = [path.stem for path in sorted(EXAMPLES.glob("*.py"))]
    pages = [{name.replace("_", " ").capitalize(): f"gallery/{name}.md"} for name in names]
    for entry in config.nav:
        if "Gallery" in entry:
            entry["Gallery"] = ["gallery/index.md", *pages]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add pages and pictures to the site."""
    found = examples()
    files.append(File.generated(config, "gallery/index.md", content=contents(found)))
    for example in found:
        files.append(File.generated(config, f"gallery/{example.name}.md", content=page(example)))
        if example.picture is not None:
            picture = File.generated(config, f"gallery/{example.name}.png", abs_src_path=str(example.picture))
            files.append(picture)
    return files
