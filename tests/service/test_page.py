"""The page in a real browser: Debian's chromium."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import networkx
import pytest

import curiograph as cg
from support.serving import start_server

CHROMIUM = shutil.which("chromium")
playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install 'curiograph[test]'")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium: `make browser` installs Debian's")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
playwright.expect.set_options(timeout=60_000)  # long enough for a busy machine
HOSTILE = "<img src=x onerror=window.injected=1>"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with start_server() as (found, _):
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


class Visitor:
    """A visitor of the page; records messages of the console and requests to other servers."""

    def __init__(self, browser: Any, address: str, **context: Any) -> None:
        self.context = browser.new_context(
            **{"viewport": {"width": 1400, "height": 900}, "accept_downloads": True} | context
        )
        self.page = self.context.new_page()
        self.address = address
        self.problems: list[str] = []
        self.elsewhere: list[str] = []
        self.page.on("console", lambda m: self.problems.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", self._record_request)

    def _record_request(self, request: Any) -> None:
        if not request.url.startswith((self.address, self.address.replace("http", "ws"), "data:", "blob:")):
            self.elsewhere.append(request.url)

    def open(self, path: str = "/?graph=toy:library") -> None:
        self.page.goto(self.address + path)
        self.page.locator("canvas").first.wait_for()
        self.page.locator("body[data-listening]").wait_for()

    @property
    def status(self) -> str:
        return str(self.page.locator("[role=status]").inner_text())

    def expect_status(self, pattern: str) -> None:
        playwright.expect(self.page.locator("[role=status]")).to_have_text(re.compile(pattern))

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def walk_to(self, node: str) -> None:
        self.page.get_by_role("button", name=f"go to {node}", exact=True).click()

    @property
    def picture(self) -> str:
        """Description of the picture for screen readers."""
        return str(self.page.locator(".cg-picture").get_attribute("aria-label"))

    def expect_walk(self, nodes: list[Any]) -> None:
        """Check that the link contains exactly this walk."""
        walk = re.escape(urlencode([("walk", node) for node in nodes]))
        playwright.expect(self.page).to_have_url(re.compile(rf"seed=0&{walk}(&by=\w+)?$"))


@pytest.fixture
def visitor(browser: Any, address: str) -> Iterator[Visitor]:
    visitor = Visitor(browser, address)
    yield visitor
    visitor.context.close()
    assert visitor.problems == []
    assert visitor.elsewhere == []  # works with no internet


def read_characters() -> cg.Graph:
    return cg.Graph.from_edges(list(networkx.les_miserables_graph().edges))


def save_screenshot(visitor: Visitor, name: str, **how: Any) -> None:
    """Save a screenshot for the documentation if CURIOGRAPH_SCREENSHOTS is a folder (`make screenshots`)."""
    folder = os.environ.get("CURIOGRAPH_SCREENSHOTS")
    if folder:
        visitor.page.wait_for_timeout(600)  # wait for the animation
        visitor.page.screenshot(path=str(Path(folder) / f"{name}.png"), **how)


def test_steps_equal_explore(visitor: Visitor) -> None:
    visitor.open("/?graph=les-miserables&walk=Valjean&agent=greedy")
    assert visitor.status.startswith("Start: Valjean")
    expected = cg.explore(read_characters(), "greedy", "igt", "Valjean", 8, seed=0)
    for count in range(2, 9):
        visitor.press("Step")
        visitor.expect_status(rf"^{count}\. {re.escape(str(expected.nodes[count - 1]))}, chosen by greedy")
    visitor.expect_walk(expected.nodes)
    playwright.expect(visitor.page.locator(".cg-picture")).to_have_attribute(
        "aria-label", re.compile(f"8 nodes visited, .* {int(expected.rewards[-1])} open gaps")
    )
    visitor.press("Undo")
    visitor.expect_status(r"^7\. ")
    visitor.press("Restart")
    visitor.expect_status("Start: Valjean")
    visitor.expect_walk(["Valjean"])


def test_own_walk_and_comparison(visitor: Visitor) -> None:
    visitor.open("/?graph=toy:library&walk=music&agent=greedy")
    seen = cg.explore(cg.toys.library(), "greedy", "igt", "music", 2, seed=0)
    choices = visitor.page.locator("[aria-label='choices of the agent and the motives']")
    playwright.expect(choices).to_contain_text(f"greedy, for igt: {seen.nodes[1]}")
    text = choices.inner_text()
    assert "PageRank: " in text
    assert "most links: mathematics" in text
    for node in ("poetry", "history", "philosophy"):
        visitor.walk_to(node)
        visitor.expect_status(f"{node}, chosen by you")
    visitor.page.get_by_role("tab", name="compare").click()
    panel = visitor.page.get_by_role("tabpanel").last
    panel.get_by_text("Closest to").wait_for()
    text = panel.inner_text()
    assert "information gaps" in text
    assert "greedy, for igt" in text
    assert "Returns of 4 nodes from the same start" in text
    save_screenshot(visitor, "page-compare")


def test_gaps_open_and_close(visitor: Visitor) -> None:
    walk = cg.explore(read_characters(), "beam:16", "igt", "Valjean", 14, seed=0).nodes
    visitor.open("/?graph=les-miserables&agent=beam:16&" + urlencode([("walk", node) for node in walk]))
    for _ in range(2):
        last = visitor.status
        visitor.press("Step")
        playwright.expect(visitor.page.locator("[role=status]")).not_to_have_text(last)
    visitor.page.locator(".cg-table button").nth(1).click()
    visitor.expect_status(r"^17\. .*, chosen by you")
    walk = parse_qs(urlsplit(visitor.page.url).query)["walk"]
    growth = cg.measure(read_characters(), walk)
    closed = sum(gap.closed_at is not None for gap in growth.gaps)
    visitor.page.get_by_role("tab", name="gaps").click()
    visitor.page.get_by_text(f"{len(growth.gaps) - closed} open, {closed} closed").wait_for()
    newest = growth.gaps[-1]
    around = cg.gap_loops(read_characters(), walk)[-1]
    line = f"step {newest.opened_at}: {' - '.join([*around, around[0]])}"
    assert visitor.page.get_by_text(line).count() == 1


def test_recommendations_have_reasons(visitor: Visitor) -> None:
    visitor.open("/?graph=toy:library&walk=music&walk=physics")
    visitor.page.get_by_role("tab", name="recommend").click()
    first = visitor.page.locator(".cg-reason").first
    first.wait_for()
    top = cg.recommend(cg.toys.library(), ["music", "physics"], 5, candidates="last")
    assert first.inner_text().split("\n")[0] == f"1. {top[0][0]}"
    assert str(top.reasons[0]) in first.inner_text()
    save_screenshot(visitor, "page-recommend")
    first.get_by_role("button").click()
    visitor.expect_status(f"3. {top[0][0]}, chosen by you")


def test_link_opens_the_same_walk(visitor: Visitor) -> None:
    visitor.open("/?graph=toy:library&walk=music&reward=cpt")
    visitor.press("Step")
    visitor.expect_status(r"^2\. ")
    visitor.page.locator(".cg-table button").nth(1).click()
    visitor.expect_status(r"^3\. ")
    visitor.press("share this walk")
    shared = visitor.page.get_by_label("address").input_value()
    playwright.expect(visitor.page.locator(".cg-picture")).to_have_attribute("aria-label", re.compile("^3 nodes"))
    status, picture = visitor.status, visitor.picture
    other = visitor.context.new_page()
    other.goto(shared)
    other.locator("canvas").first.wait_for()
    playwright.expect(other.locator("[role=status]")).to_have_text(status)
    playwright.expect(other.locator(".cg-picture")).to_have_attribute("aria-label", picture)


def test_downloads(visitor: Visitor) -> None:
    visitor.open("/?graph=toy:library&walk=music&walk=physics&by=y")
    with visitor.page.expect_download() as got:
        visitor.press("download the walk")
    document = json.loads(Path(got.value.path()).read_text())
    assert document["nodes"] == ["music", "physics"]
    assert document["by"] == ["start", "you"]
    assert document["compressibility"][1] == pytest.approx(
        cg.measure(cg.toys.library(), ["music", "physics"]).compressibility[1]
    )
    with visitor.page.expect_download() as got:
        visitor.press("download the picture")
    assert Path(got.value.path()).read_bytes().startswith(b"\x89PNG")
    assert Path(got.value.path()).stat().st_size > 5_000


def test_upload_bad_and_good_file(visitor: Visitor) -> None:
    visitor.open("/?graph=toy:library&walk=music")
    chooser = visitor.page.locator("input[type=file]")
    chooser.set_input_files({"name": "bad.csv", "mimeType": "text/csv", "buffer": b"a,b\nonly one field\n"})
    visitor.page.get_by_text("bad.csv, line 2").wait_for()
    assert visitor.status.startswith("Start: music")
    content = f"{HOSTILE},b\nb,c\nc,{HOSTILE}\n{HOSTILE},d\n"
    chooser.set_input_files({"name": "mine.csv", "mimeType": "text/csv", "buffer": content.encode()})
    visitor.expect_status(f"Start: {HOSTILE}")
    visitor.press("Step")
    visitor.expect_status("chosen by planner")
    visitor.page.locator(".cg-picture").hover()
    assert visitor.page.evaluate("window.injected") is None


def test_shortcuts(visitor: Visitor) -> None:
    visitor.open("/?graph=toy:library&walk=music")
    keys = visitor.page.keyboard
    keys.press("ArrowRight")
    visitor.expect_status(r"^2\. .* by planner")
    keys.press("2")
    visitor.expect_status(r"^3\. .* by you")
    keys.press("ArrowLeft")
    visitor.expect_status(r"^2\. ")
    keys.press("p")
    visitor.expect_status(r"^4\. ")
    keys.press("p")
    playwright.expect(visitor.page.get_by_role("button", name="Play")).to_be_visible()
    keys.press("r")
    visitor.expect_status("Start: music")
    keys.press("/")
    visitor.page.get_by_label("search a start").fill("poe")
    visitor.page.get_by_role("button", name="poetry", exact=True).wait_for()
    keys.press("Enter")
    visitor.expect_status("Start: poetry")


def test_shortcuts_are_inactive_in_dialogs(visitor: Visitor) -> None:
    visitor.open("/?graph=toy:library&walk=music")
    visitor.page.keyboard.press("?")
    visitor.page.get_by_text("let the agent take a step").wait_for()
    visitor.page.keyboard.press("n")
    visitor.page.keyboard.press("Escape")
    visitor.page.get_by_text("let the agent take a step").wait_for(state="hidden")
    assert visitor.status.startswith("Start: music")


def test_second_click_on_a_candidate_does_nothing(visitor: Visitor) -> None:
    visitor.open("/?graph=toy:library&walk=music")
    visitor.page.get_by_role("button", name="go to dance", exact=True).dblclick()
    visitor.expect_status(r"^2\. dance, chosen by you")
    visitor.expect_walk(["music", "dance"])


def test_invalid_link_shows_a_message(visitor: Visitor) -> None:
    visitor.open("/?graph=toy:library&walk=musik")
    visitor.page.get_by_text("'musik'").first.wait_for()
    assert visitor.status.startswith("Start: ")


def test_phone_and_dark(browser: Any, address: str) -> None:
    visitor = Visitor(browser, address, viewport={"width": 390, "height": 844}, color_scheme="dark", has_touch=True)
    visitor.open("/?graph=rg&walk=7&walk=23")
    playwright.expect(visitor.page.locator("body")).to_have_class(re.compile("body--dark"))
    assert visitor.page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    visitor.press("Step")
    visitor.expect_status(r"^3\. ")
    save_screenshot(visitor, "page-phone", full_page=True)
    assert visitor.problems == []
    visitor.context.close()


@pytest.mark.long
@pytest.mark.skipif("CURIOGRAPH_DATA" not in os.environ, reason="needs Wikispeedia in CURIOGRAPH_DATA")
def test_wikispeedia_is_the_default(browser: Any) -> None:
    with start_server("--data", os.environ["CURIOGRAPH_DATA"]) as (address, _):
        visitor = Visitor(browser, address)
        visitor.open("/?walk=Music")
        for count in range(2, 11):
            visitor.press("Step")
            visitor.expect_status(rf"^{count}\. .* by planner")
        visitor.page.locator(".cg-table button").nth(1).click()
        visitor.expect_status(r"^11\. .* by you")
        save_screenshot(visitor, "page")
        assert visitor.problems == []
        visitor.context.close()
