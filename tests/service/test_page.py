"""The page, driven in a real browser as a person would: Debian's chromium, or any that playwright is told of."""

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
from support.serving import server

CHROMIUM = shutil.which("chromium")
playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install 'curiograph[test]'")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium: `make browser` installs Debian's")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
HOSTILE = "<img src=x onerror=window.hurt=1>"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with server() as (found, _):
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


class Visitor:
    """Someone at the page, who also notices what it says to the console and where it calls."""

    def __init__(self, browser: Any, address: str, **context: Any) -> None:
        self.context = browser.new_context(
            **{"viewport": {"width": 1400, "height": 900}, "accept_downloads": True} | context
        )
        self.page = self.context.new_page()
        self.address = address
        self.troubles: list[str] = []
        self.elsewhere: list[str] = []
        self.page.on("console", lambda m: self.troubles.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("request", self._note)

    def _note(self, request: Any) -> None:
        if not request.url.startswith((self.address, self.address.replace("http", "ws"), "data:", "blob:")):
            self.elsewhere.append(request.url)

    def open(self, path: str = "/?graph=toy:library") -> None:
        self.page.goto(self.address + path)
        self.page.locator("canvas").first.wait_for()
        self.page.locator("body[data-listening]").wait_for()

    @property
    def status(self) -> str:
        return str(self.page.locator("[role=status]").inner_text())

    def says(self, pattern: str) -> None:
        playwright.expect(self.page.locator("[role=status]")).to_have_text(re.compile(pattern))

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def walk_to(self, node: str) -> None:
        self.page.get_by_role("button", name=f"go to {node}", exact=True).click()

    @property
    def picture(self) -> str:
        """The picture in words, as a screen reader has it."""
        return str(self.page.locator(".cg-picture").get_attribute("aria-label"))

    def has_walked(self, nodes: list[Any]) -> None:
        """The address says where the walk has gone, and nothing more."""
        walk = re.escape(urlencode([("walk", node) for node in nodes]))
        playwright.expect(self.page).to_have_url(re.compile(rf"seed=0&{walk}(&by=\w+)?$"))


@pytest.fixture
def visitor(browser: Any, address: str) -> Iterator[Visitor]:
    came = Visitor(browser, address)
    yield came
    came.context.close()
    assert came.troubles == []
    assert came.elsewhere == []  # works with no internet


def characters() -> cg.Graph:
    return cg.Graph.from_edges(list(networkx.les_miserables_graph().edges))


def screenshot(visitor: Visitor, name: str, **how: Any) -> None:
    """Kept for the docs where CURIOGRAPH_SCREENSHOTS names a folder (`make screenshots`)."""
    folder = os.environ.get("CURIOGRAPH_SCREENSHOTS")
    if folder:
        visitor.page.wait_for_timeout(600)  # moving nodes come to rest
        visitor.page.screenshot(path=str(Path(folder) / f"{name}.png"), **how)


def test_steps_as_explore_does(visitor: Visitor) -> None:
    visitor.open("/?graph=les-miserables&walk=Valjean")
    assert visitor.status.startswith("Start: Valjean")
    expected = cg.explore(characters(), "greedy", "igt", "Valjean", 8, seed=0)
    for count in range(2, 9):
        visitor.press("Step")
        visitor.says(rf"^{count}\. {re.escape(str(expected.nodes[count - 1]))}, chosen by greedy")
    visitor.has_walked(expected.nodes)
    playwright.expect(visitor.page.locator(".cg-picture")).to_have_attribute(
        "aria-label", re.compile(f"8 nodes visited, .* {int(expected.rewards[-1])} open gaps")
    )
    visitor.press("Undo")
    visitor.says(r"^7\. ")
    visitor.press("Restart")
    visitor.says("Start: Valjean")
    visitor.has_walked(["Valjean"])


def test_walk_yourself_and_compare(visitor: Visitor) -> None:
    visitor.open("/?graph=toy:library&walk=music")
    seen = cg.explore(cg.toys.library(), "greedy", "igt", "music", 2, seed=0)
    choices = visitor.page.locator("[aria-label='what each motive would choose']")
    playwright.expect(choices).to_contain_text(f"greedy, for igt: {seen.nodes[1]}")
    told = choices.inner_text()
    assert "PageRank: " in told
    assert "most links: mathematics" in told
    for node in ("poetry", "history", "philosophy"):
        visitor.walk_to(node)
        visitor.says(f"{node}, chosen by you")
    visitor.page.get_by_role("tab", name="compare").click()
    panel = visitor.page.get_by_role("tabpanel").last
    panel.get_by_text("Closest to").wait_for()
    text = panel.inner_text()
    assert "information gaps" in text
    assert "greedy, for igt" in text
    assert "What 4 nodes from the same start collect" in text
    screenshot(visitor, "page-compare")


def test_gaps_open_and_close(visitor: Visitor) -> None:
    walk = cg.explore(characters(), "beam:16", "igt", "Valjean", 14, seed=0).nodes
    visitor.open("/?graph=les-miserables&agent=beam:16&" + urlencode([("walk", node) for node in walk]))
    for _ in range(2):
        last = visitor.status
        visitor.press("Step")
        playwright.expect(visitor.page.locator("[role=status]")).not_to_have_text(last)
    visitor.page.locator(".cg-table button").nth(1).click()
    visitor.says(r"^17\. .*, chosen by you")
    walk = parse_qs(urlsplit(visitor.page.url).query)["walk"]
    growth = cg.measure(characters(), walk)
    closed = sum(gap.closed_at is not None for gap in growth.gaps)
    visitor.page.get_by_role("tab", name="gaps").click()
    visitor.page.get_by_text(f"{len(growth.gaps) - closed} open, {closed} closed").wait_for()
    newest = growth.gaps[-1]
    around = cg.gap_loops(characters(), walk)[-1]
    said = f"step {newest.opened_at}: {' - '.join([*around, around[0]])}"
    assert visitor.page.get_by_text(said).count() == 1


def test_recommendations_have_reasons(visitor: Visitor) -> None:
    visitor.open("/?graph=toy:library&walk=music&walk=physics")
    visitor.page.get_by_role("tab", name="recommend").click()
    first = visitor.page.locator(".cg-reason").first
    first.wait_for()
    top = cg.recommend(cg.toys.library(), ["music", "physics"], 5, candidates="last")
    assert first.inner_text().split("\n")[0] == f"1. {top[0][0]}"
    assert str(top.reasons[0]) in first.inner_text()
    screenshot(visitor, "page-recommend")
    first.get_by_role("button").click()
    visitor.says(f"3. {top[0][0]}, chosen by you")


def test_share_opens_the_same_walk(visitor: Visitor) -> None:
    visitor.open("/?graph=toy:library&walk=music&reward=cpt")
    visitor.press("Step")
    visitor.says(r"^2\. ")
    visitor.page.locator(".cg-table button").nth(1).click()
    visitor.says(r"^3\. ")
    visitor.press("share this walk")
    shared = visitor.page.get_by_label("address").input_value()
    playwright.expect(visitor.page.locator(".cg-picture")).to_have_attribute("aria-label", re.compile("^3 nodes"))
    said, picture = visitor.status, visitor.picture
    other = visitor.context.new_page()
    other.goto(shared)
    other.locator("canvas").first.wait_for()
    playwright.expect(other.locator("[role=status]")).to_have_text(said)
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


def test_a_bad_file_is_refused_and_a_good_one_walked(visitor: Visitor) -> None:
    visitor.open("/?graph=toy:library&walk=music")
    chooser = visitor.page.locator("input[type=file]")
    chooser.set_input_files({"name": "bad.csv", "mimeType": "text/csv", "buffer": b"a,b\nonly one field\n"})
    visitor.page.get_by_text("bad.csv, line 2").wait_for()
    assert visitor.status.startswith("Start: music")
    content = f"{HOSTILE},b\nb,c\nc,{HOSTILE}\n{HOSTILE},d\n"
    chooser.set_input_files({"name": "mine.csv", "mimeType": "text/csv", "buffer": content.encode()})
    visitor.says(f"Start: {HOSTILE}")
    visitor.press("Step")
    visitor.says("chosen by greedy")
    visitor.page.locator(".cg-picture").hover()
    assert visitor.page.evaluate("window.hurt") is None


def test_keys(visitor: Visitor) -> None:
    visitor.open("/?graph=toy:library&walk=music")
    keys = visitor.page.keyboard
    keys.press("ArrowRight")
    visitor.says(r"^2\. .* by greedy")
    keys.press("2")
    visitor.says(r"^3\. .* by you")
    keys.press("ArrowLeft")
    visitor.says(r"^2\. ")
    keys.press("p")
    visitor.says(r"^4\. ")
    keys.press("p")
    playwright.expect(visitor.page.get_by_role("button", name="Play")).to_be_visible()
    keys.press("r")
    visitor.says("Start: music")
    keys.press("/")
    visitor.page.get_by_label("search a start").fill("poe")
    visitor.page.get_by_role("button", name="poetry", exact=True).wait_for()
    keys.press("Enter")
    visitor.says("Start: poetry")


def test_keys_leave_controls_and_dialogs_alone(visitor: Visitor) -> None:
    visitor.open("/?graph=toy:library&walk=music")
    visitor.page.keyboard.press("?")
    visitor.page.get_by_text("the agent takes a step").wait_for()
    visitor.page.keyboard.press("n")
    visitor.page.keyboard.press("Escape")
    visitor.page.get_by_text("the agent takes a step").wait_for(state="hidden")
    assert visitor.status.startswith("Start: music")


def test_a_second_click_on_what_has_gone_does_nothing(visitor: Visitor) -> None:
    visitor.open("/?graph=toy:library&walk=music")
    visitor.page.get_by_role("button", name="go to dance", exact=True).dblclick()
    visitor.says(r"^2\. dance, chosen by you")
    visitor.has_walked(["music", "dance"])


def test_an_address_that_cannot_be_is_explained(visitor: Visitor) -> None:
    visitor.open("/?graph=toy:library&walk=musik")
    visitor.page.get_by_text("'musik'").first.wait_for()
    assert visitor.status.startswith("Start: ")


def test_phone_and_dark(browser: Any, address: str) -> None:
    came = Visitor(browser, address, viewport={"width": 390, "height": 844}, color_scheme="dark", has_touch=True)
    came.open("/?graph=rg&walk=7&walk=23")
    playwright.expect(came.page.locator("body")).to_have_class(re.compile("body--dark"))
    assert came.page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    came.press("Step")
    came.says(r"^3\. ")
    screenshot(came, "page-phone", full_page=True)
    assert came.troubles == []
    came.context.close()


@pytest.mark.long
@pytest.mark.skipif("CURIOGRAPH_DATA" not in os.environ, reason="needs Wikispeedia in CURIOGRAPH_DATA")
def test_wikispeedia_comes_first(browser: Any) -> None:
    with server("--data", os.environ["CURIOGRAPH_DATA"]) as (address, _):
        came = Visitor(browser, address)
        came.open("/?walk=Music")
        for count in range(2, 11):
            came.press("Step")
            came.says(rf"^{count}\. .* by greedy")
        came.page.locator(".cg-table button").nth(1).click()
        came.says(r"^11\. .* by you")
        screenshot(came, "page")
        assert came.troubles == []
        came.context.close()
