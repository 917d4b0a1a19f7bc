"""Measure the speed of the page in chromium without a window.

Times are measured by the clock of the browser: from the start of loading, or from the click, to the painted picture.
"""

from __future__ import annotations

import shutil
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from benchmarks.centrality import read_wikispeedia
from benchmarks.command import create_parser, exit_on_error, show_results
from benchmarks.load import run_server
from curiograph.agents.explore import explore
from curiograph.cli.output import show_progress
from curiograph.errors import SettingError
from curiograph.graph.generators import generate
from curiograph.optional import import_optional

COLUMNS = ("what", "median", "slowest", "target", "target met")

_FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
_STEPS = 20
_OPENINGS = 5
_LONG_WALK = 300
_PAINTED = """() => {
  const node = document.querySelector('.cg-picture [data-node]');
  return node !== null && node.getBoundingClientRect().width > 0 && performance.now();
}"""
_STEP = """async () => {
  const frame = () => new Promise(requestAnimationFrame);
  const label = () => document.querySelector('.cg-picture svg').getAttribute('aria-label');
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
class Timing:
    """Repeated times of one action, in milliseconds."""

    what: str
    times: list[float]
    target: float | None = None
    """Target for the median, if there is one."""

    @property
    def median(self) -> float:
        """Median time."""
        return statistics.median(self.times)

    @property
    def met(self) -> bool | None:
        """Whether the median meets the target; None if there is none."""
        return None if self.target is None else self.median <= self.target

    def to_dict(self) -> dict[str, Any]:
        """Plain values, under the keys of stored runs."""
        values = {"what": self.what, "times": self.times, "target": self.target}
        return values | {"median": self.median, "met": self.met}

    def list_cells(self) -> list[Any]:
        """Cells of a table row."""
        target = "" if self.target is None else f"{self.target:.0f} ms"
        return [self.what, f"{self.median:.0f} ms", f"{max(self.times):.0f} ms", target, self.met]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark from the command line."""
    args = create_parser(__doc__).parse_args(arguments)
    with exit_on_error(args):
        with show_progress(args.quiet) as progress:
            timings = run(args.seed, progress)
        rows = [each.list_cells() for each in timings]
        document = {"page": [each.to_dict() for each in timings]}
        show_results(args, document, "the page in chromium, without a window", COLUMNS, rows)


def run(seed: int, progress: Callable[[str], None]) -> list[Timing]:
    """Open the page and take steps, with few and with 300 nodes, on Wikispeedia if CURIOGRAPH_DATA has it."""
    driver = import_optional("playwright.sync_api", "test", "Driving a browser")
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SettingError("the page is timed in chromium, which is not installed: apt install chromium.")
    graph = read_wikispeedia()
    name = "er" if graph is None else "wikispeedia"
    graph = generate("er", nodes=50, seed=3) if graph is None else graph
    progress("starting the server")
    with run_server([]) as (address, _), driver.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=_FLAGS)
        progress("opening the page")
        opened = [_open_page(browser, f"{address}/?graph={name}")[1] for _ in range(_OPENINGS)]
        progress("stepping")
        short = _time_steps(browser, f"{address}/?graph={name}")
        progress(f"stepping with {_LONG_WALK} nodes")
        length = min(_LONG_WALK, graph.num_nodes - _STEPS - 1)  # leaves room for the timed steps
        walk = explore(graph, "random", "igt", steps=length, seed=seed).nodes
        parts = [("graph", name), ("agent", "random"), *(("walk", node) for node in walk)]  # random decides at once
        long = _time_steps(browser, f"{address}/?{urlencode(parts)}")
        browser.close()
    size = f"{len(walk):,} nodes and more"
    return [
        Timing("first picture, nothing cached", opened, 2_000),
        Timing(f"a step shown, walks of up to {_STEPS + 1} nodes", [each[0] for each in short], 200),
        Timing(f"a step shown, {size}", [each[0] for each in long], 200),
        Timing(f"mean frame time during the animation, {size}", [each[2] for each in long]),
        Timing(f"longest frame time during the animation, {size}", [each[1] for each in long]),
    ]


def _open_page(browser: Any, address: str) -> tuple[Any, float]:
    """Open a page with an empty cache; return it and the time at which its picture was painted."""
    page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
    page.on("pageerror", _raise_page_error)
    page.on("console", lambda message: _raise_page_error(message.text) if message.type == "error" else None)
    page.goto(address)
    return page, float(page.wait_for_function(_PAINTED, polling="raf", timeout=60_000).json_value())


def _raise_page_error(error: Any) -> None:
    raise SettingError(f"the page reports an error: {error}")


def _time_steps(browser: Any, address: str) -> list[list[float]]:
    page, _ = _open_page(browser, address)
    page.wait_for_timeout(1_000)
    return [page.evaluate(_STEP) for _ in range(_STEPS)]


if __name__ == "__main__":
    main()
