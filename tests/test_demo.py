"""The demo of the front page of the docs: its gaps against the package, and the built demo in a real browser."""

from __future__ import annotations

import json
import runpy
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest

import curiograph as cg

CHROMIUM = shutil.which("chromium")
playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install 'curiograph[test]'")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium: `make browser` installs Debian's")
DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The demo, opened from the file system."""
    folder = tmp_path_factory.mktemp("demo")
    runpy.run_path(str(DOCS / "build_demo.py"))["build_demo"](folder)
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 720, "height": 620}, reduced_motion="reduce")
        problems: list[str] = []
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto((folder / "index.html").as_uri())
        page.locator("body[data-ready]").wait_for(timeout=60_000)
        yield page
        browser.close()
        assert problems == []


def draw_case(seed: int) -> tuple[cg.Graph, list[int]]:
    """Draw a graph and a walk on it; consecutive nodes need not be neighbors."""
    random = np.random.default_rng(seed)
    size = int(random.integers(4, 26))
    graph = networkx.gnp_random_graph(size, random.uniform(0.2, 0.5), seed=seed)
    walk = random.permutation(size)[seed % 3 :]
    return cg.Graph.from_edges(list(graph.edges), nodes=range(size)), walk.tolist()


def test_gaps_are_those_of_the_package(demo: Any) -> None:
    cases = [draw_case(seed) for seed in range(60)]
    given = [([graph.neighbors(v) for v in range(graph.num_nodes)], walk) for graph, walk in cases]
    module = (DOCS / "demo" / "gaps.js").read_text().replace("export ", "")
    answers = demo.evaluate(f"{module}; {json.dumps(given)}.map((each) => findGaps(...each))")
    num_separated = 0
    for (graph, walk), answer in zip(cases, answers, strict=True):
        growth = cg.measure(graph, walk)
        assert answer["beta1"] == growth.beta1.tolist()
        assert [(gap["opened_at"], gap["closed_at"]) for gap in answer["gaps"]] == [
            (gap.opened_at, gap.closed_at) for gap in growth.gaps
        ]
        assert [[walk[step] for step in gap["loop"]] for gap in answer["gaps"]] == cg.gap_loops(graph, walk)
        assert len(answer["links"]) == growth.edges[-1]
        fates = {(gap.opened_at, gap.closed_at) for gap in growth.gaps}
        num_separated += len(fates) - len({opened for opened, _ in fates})
    assert num_separated > 10  # gaps that one step opened and different steps closed


def test_first_click_opens_a_gap(demo: Any) -> None:
    assert demo.locator("#count").inner_text() == "0"
    at = demo.evaluate("curiograph.picture.drawn.find(({ candidate }) => candidate.node === 'tea')")
    demo.mouse.click(at["x"], at["y"])
    demo.locator("body[data-ready='6']").wait_for()
    assert demo.locator("#count").inner_text() == "1"
    assert "information gap" in demo.locator("#sentence").inner_text()
    for length in range(7, 13):
        demo.locator("[data-do=step]").click()
        demo.locator(f"body[data-ready='{length}']").wait_for()
    graph, view = cg.toys.everyday(), demo.evaluate("curiograph.view")
    walk = view["walk"]
    assert view["beta1"] == cg.measure(graph, walk).beta1.tolist()
    assert {each["node"] for each in view["candidates"]} == set(graph.neighbors(walk[-1])) - set(walk)
    for each in view["candidates"]:
        growth = cg.measure(graph, [*walk, each["node"]])
        opened = sum(gap.opened_at == len(walk) + 1 for gap in growth.gaps)
        assert (each["opens"], each["opens"] - each["closes"]) == (opened, growth.beta1[-1] - growth.beta1[-2])
        assert sorted(walk[step] for step in each["linked"]) == sorted(set(graph.neighbors(each["node"])) & set(walk))
    demo.locator("[data-do=back]").click()
    demo.locator("body[data-ready='11']").wait_for()
    for action in ("more", "bring"):
        demo.locator(f"[data-do={action}]").evaluate("each => each.click()")
        playwright.expect(demo.locator("#toast")).to_contain_text("Install curiograph to")
