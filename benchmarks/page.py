"""`curiograph bench --page`: how quick the page is in a real browser, chromium without a window.

The browser's own clock tells: from the start of loading, or from the click, until the picture is on the screen.
"""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Callable, Hashable
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlencode

from benchmarks.centrality import wikispeedia
from benchmarks.load import served
from curiograph.agents.explore import explore
from curiograph.errors import SettingError
from curiograph.graph.generators import generate
from curiograph.graph.graph import Graph
from curiograph.optional import import_optional

COLUMNS = ("what", "median", "slowest", "promised", "as promised")

_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
_STEPS = 20
_OPENINGS = 5
_LONG = 300
_PAINTED = """() => {
  const canvas = document.querySelector('.cg-picture canvas');
  if (!canvas || !canvas.width) return false;
  const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  return pixels.some(value => value !== 0) && performance.now();
}"""
_STEP = """async () => {
  const frame = () => new Promise(requestAnimationFrame);
  const label = () => document.querySelector('.cg-picture').getAttribute('aria-label');
  const button = [...document.querySelectorAll('button')].find(each => each.innerText.includes('Step'));
  const before = label(), start = performance.now();
  button.click();
  while (label() === before) await frame();
  await frame();
  const shown = performance.now() - start, frames = [];
  let last = performance.now();
  while (last - start < shown + 400) {
    await frame();
    const now = performance.now();
    frames.push(now - last);
    last = now;
  }
  return [shown, Math.max(...frames), frames.reduce((a, b) => a + b, 0) / frames.length];
}"""


@dataclass(frozen=True)
class Timed:
    """One thing that was timed, in milliseconds."""

    what: str
    times: list[float]
    promised: float | None = None

    @property
    def median(self) -> float:
        """Half of the times are shorter."""
        return statistics.median(self.times)

    @property
    def kept(self) -> bool | None:
        """Whether the median is within what was promised."""
        return None if self.promised is None else self.median <= self.promised

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self) | {"median": self.median, "kept": self.kept}

    def row(self) -> list[Any]:
        """A line of the table."""
        promised = "" if self.promised is None else f"{self.promised:.0f} ms"
        return [self.what, f"{self.median:.0f} ms", f"{max(self.times):.0f} ms", promised, self.kept]


def run_page(seed: int, progress: Callable[[str], None]) -> list[Timed]:
    """Open the page, step, and step again with 300 nodes on it; on Wikispeedia where CURIOGRAPH_DATA has it."""
    driver = import_optional("playwright.sync_api", "test", "Driving a browser")
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SettingError("the page is timed in chromium, which is not installed: apt install chromium.")
    found = wikispeedia()
    name, graph = ("wikispeedia", found) if found is not None else ("er", generate("er", nodes=50, seed=3))
    progress("starting the server")
    with served([]) as (address, _), driver.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=_FLAGS)
        progress("opening the page")
        opened = [_opened(browser, f"{address}/?graph={name}")[1] for _ in range(_OPENINGS)]
        progress("stepping")
        short = _stepped(browser, f"{address}/?graph={name}")
        progress(f"stepping with {_LONG} nodes")
        walk = _long_walk(graph, seed)
        parts = [("graph", name), ("agent", "random"), *(("walk", node) for node in walk)]  # random: no time to think
        long = _stepped(browser, f"{address}/?{urlencode(parts)}")
        browser.close()
    many = f"{len(walk):,} nodes and more"
    return [
        Timed("first picture, nothing cached", opened, 2_000),
        Timed(f"a step shown, walks of up to {_STEPS + 1} nodes", [each[0] for each in short], 200),
        Timed(f"a step shown, {many}", [each[0] for each in long], 200),
        Timed(f"mean frame while they move, {many}", [each[2] for each in long]),
        Timed(f"longest frame while they move, {many}", [each[1] for each in long]),
    ]


def _opened(browser: Any, address: str) -> tuple[Any, float]:
    """A page in a browser that has never seen it, and when its picture was painted."""
    page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
    page.on("pageerror", _broken)
    page.on("console", lambda message: _broken(message.text) if message.type == "error" else None)
    page.goto(address)
    return page, float(page.wait_for_function(_PAINTED, polling="raf", timeout=60_000).json_value())


def _broken(error: Any) -> None:
    raise SettingError(f"the page complains: {error}")


def _stepped(browser: Any, address: str) -> list[list[float]]:
    page, _ = _opened(browser, address)
    page.wait_for_timeout(1_000)
    return [page.evaluate(_STEP) for _ in range(_STEPS)]


def _long_walk(graph: Graph, seed: int) -> list[Hashable]:
    """A walk that leaves room for the steps to be timed."""
    steps = min(_LONG, graph.num_nodes - _STEPS - 1)
    return explore(graph, "random", "igt", steps=steps, seed=seed).nodes
