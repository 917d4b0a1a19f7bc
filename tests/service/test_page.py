"""The page in a real browser: Debian's chromium."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

import networkx
import numpy as np
import pytest
from PIL import Image

import curiograph as cg
from support.serving import start_server

CHROMIUM = shutil.which("chromium")
playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install 'curiograph[test]'")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium: `make browser` installs Debian's")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
playwright.expect.set_options(timeout=60_000)  # long enough for a busy machine
HOSTILE = "<img src=x onerror=window.injected=1>"
VAULT = Path(os.environ.get("CURIOGRAPH_DATA", ".")) / "obsidian-help" / "vault"
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


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
        usual = {"viewport": {"width": 1440, "height": 900}, "accept_downloads": True, "reduced_motion": "reduce"}
        self.context = browser.new_context(**usual | context)
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.address = address
        self.problems: list[str] = []
        self.elsewhere: list[str] = []
        self.page.on("console", lambda m: self.problems.append(m.text) if m.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", self._record_request)

    def _record_request(self, request: Any) -> None:
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.elsewhere.append(request.url)

    def open(self, fragment: str = "") -> None:
        self.page.goto(f"{self.address}/{fragment}")
        self.page.locator("body[data-ready]").wait_for()

    def open_walk(self, graph: str, nodes: list[Any], **more: Any) -> None:
        self.open("#" + urlencode([("graph", graph), *(("walk", node) for node in nodes), *more.items()]))

    def expect_walk(self, length: int) -> None:
        """Wait until a walk of this length is shown."""
        playwright.expect(self.page.locator("body")).to_have_attribute("data-ready", str(length))

    def press(self, action: str) -> None:
        self.page.locator(f"[data-do={action}]").click()

    def go_to(self, node: Any) -> None:
        self.page.locator("#panel [data-node]").filter(has_text=re.compile(f"^{re.escape(str(node))}")).first.click()

    def open_tab(self, name: str) -> None:
        self.page.get_by_role("tab", name=name).click()

    def bring(self, path: Path) -> None:
        """Upload a file, or a folder of notes."""
        self.press("bring")
        with self.page.expect_file_chooser() as chooser:
            name = "Choose a folder of notes" if path.is_dir() else "Choose a file"
            self.page.get_by_role("button", name=name).click()
        chooser.value.set_files(path)

    def ask(self, script: str) -> Any:
        """Evaluate a script in the page."""
        return self.page.evaluate(script)

    @property
    def walk(self) -> list[str]:
        """The walk in the address."""
        return parse_qs(self.page.url.partition("#")[2]).get("walk", [])

    @property
    def sentence(self) -> str:
        return str(self.page.locator("#sentence").inner_text())

    @property
    def count(self) -> int:
        return int(self.page.locator("#count").inner_text())


@pytest.fixture
def visitor(browser: Any, address: str) -> Iterator[Visitor]:
    visitor = Visitor(browser, address)
    yield visitor
    visitor.context.close()
    assert visitor.problems == []
    assert visitor.elsewhere == []  # works with no internet


def read_characters() -> cg.Graph:
    return cg.Graph.from_edges(list(networkx.les_miserables_graph().edges))


def save_screenshot(visitor: Visitor, name: str) -> None:
    """Save a screenshot for the documentation if CURIOGRAPH_SCREENSHOTS is a folder (`make screenshots`)."""
    folder = os.environ.get("CURIOGRAPH_SCREENSHOTS")
    if folder:
        visitor.page.wait_for_timeout(300)
        taken = Image.open(io.BytesIO(visitor.page.screenshot())).convert("RGB")
        taken.quantize(256, Image.Quantize.FASTOCTREE).save(Path(folder) / f"{name}.png", optimize=True)


def find_candidate(visitor: Visitor, node: str) -> tuple[float, float]:
    """Return the place of a next node in the picture, in pixels."""
    x, y = visitor.ask(
        f"(() => {{ const at = curiograph.picture.drawn.find(({{candidate}}) => candidate.node === {json.dumps(node)});"
        " return [at.x, at.y]; })()"
    )
    return float(x), float(y)


def test_first_click_opens_a_gap(visitor: Visitor) -> None:
    visitor.open()
    assert visitor.count == 0
    assert "Click tea" in visitor.sentence
    visitor.ask("document.querySelectorAll('option:not(:checked)').forEach(each => each.remove())")  # not on the screen
    words = visitor.ask("document.body.innerText").split()
    assert len(words) < 50
    assert not {"igt", "bits", "Planner", "planner", "compression"} & set(words)
    visitor.page.mouse.click(*find_candidate(visitor, "tea"))
    visitor.expect_walk(6)
    assert visitor.count == 1
    assert "information gap" in visitor.sentence
    (gap,) = visitor.ask("curiograph.view.gaps.map(gap => gap.loop.map(step => curiograph.view.walk[step]))")
    assert sorted(gap) == ["cloud", "kettle", "lemon", "steam", "sun", "tea"]
    save_screenshot(visitor, "page")


def test_the_picture_has_most_of_the_screen(browser: Any, address: str) -> None:
    for name, context, share in (("desktop", {}, 0.75), ("phone", PHONE, 0.6)):
        visitor = Visitor(browser, address, **context)
        visitor.open()
        cards = visitor.ask(
            "[...document.querySelectorAll('.card')].map(each => each.getBoundingClientRect())"
            ".map(box => [box.left, box.top, box.right, box.bottom])"
        )
        width, height = visitor.ask("[innerWidth, innerHeight]")
        free = np.ones((height, width), bool)
        for left, top, right, bottom in np.round(cards).astype(int):
            free[top:bottom, left:right] = False
        assert free.mean() >= share, name
        visitor.context.close()


def test_steps_of_the_agent_equal_explore(visitor: Visitor) -> None:
    visitor.open_walk("les-miserables", ["Valjean"], agent="greedy")
    expected = cg.explore(read_characters(), "greedy", "igt", "Valjean", 8, seed=0)
    for length in range(2, 9):
        visitor.page.keyboard.press("ArrowRight")
        visitor.expect_walk(length)
        assert str(expected.nodes[length - 1]) in visitor.sentence
    assert visitor.walk == expected.nodes
    assert visitor.count == expected.rewards[-1]
    assert "8 nodes visited" in str(visitor.page.locator("#picture").get_attribute("aria-label"))


def test_watch_the_agent_play_and_pause(visitor: Visitor) -> None:
    visitor.open_walk("les-miserables", ["Valjean"])
    visitor.press("play")
    visitor.expect_walk(3)
    visitor.page.get_by_role("button", name="Pause").click()
    visitor.page.get_by_role("button", name="Play").wait_for()
    assert set(parse_qs(visitor.page.url)["by"][0]) == {"a"}


def test_back_undoes_everything(visitor: Visitor) -> None:
    visitor.open_walk("toy:library", ["music"])
    visitor.go_to("physics")
    visitor.expect_walk(2)
    visitor.press("step")
    visitor.expect_walk(3)
    before = visitor.walk
    visitor.press("race")  # restarts the walk
    visitor.expect_walk(1)
    visitor.page.go_back()
    visitor.expect_walk(3)
    visitor.page.locator("#graph").select_option("toy:everyday")
    visitor.expect_walk(1)
    visitor.press("back")
    visitor.expect_walk(3)
    assert visitor.walk == before
    visitor.page.keyboard.press("ArrowLeft")
    visitor.expect_walk(2)
    visitor.page.go_forward()
    visitor.expect_walk(3)
    assert visitor.walk == before


def test_address_shows_the_same_picture(visitor: Visitor) -> None:
    visitor.open_walk("les-miserables", ["Valjean", "Fantine"])
    visitor.press("step")
    visitor.expect_walk(3)
    places = "JSON.stringify([curiograph.view.places, curiograph.picture.camera])"
    sentence, shown = visitor.sentence, visitor.ask(places)
    other = visitor.context.new_page()
    other.goto(visitor.page.url)
    other.locator("body[data-ready='3']").wait_for()
    assert other.locator("#sentence").inner_text() == sentence
    assert other.evaluate(places) == shown
    visitor.page.goto(f"{visitor.address}/?graph=toy:library&walk=music")  # also as a query
    visitor.page.locator("body[data-ready='1']").wait_for()
    assert "music" in visitor.sentence


def test_gaps_are_listed_and_lit_both_ways(visitor: Visitor) -> None:
    graph = read_characters()
    walk = cg.explore(graph, "planner", "igt", "Valjean", 14, seed=0).nodes
    visitor.open_walk("les-miserables", walk)
    visitor.open_tab("Gaps")
    growth = cg.measure(graph, walk)
    closed = sum(gap.closed_at is not None for gap in growth.gaps)
    visitor.page.get_by_text(f"{len(growth.gaps) - closed} open, {closed} closed").wait_for()
    assert visitor.count == growth.beta1[-1]
    row = visitor.page.locator("#panel [data-gap]").first
    row.hover()
    index = int(str(row.get_attribute("data-gap")))
    assert visitor.ask("curiograph.picture.lit") == index
    loop = visitor.ask(f"curiograph.view.gaps[{index}].loop.map(step => curiograph.view.walk[step])")
    assert loop == cg.gap_loops(graph, walk)[index]
    point = visitor.ask(  # a point of the picture where only gaps are
        """(() => {
          for (let x = 400; x < 1000; x += 7) {
            for (let y = 100; y < 800; y += 7) {
              const found = curiograph.picture.find(x, y);
              if (found?.kind === "gap") return [x, y, found.index];
            }
          }
        })()"""
    )
    visitor.page.mouse.move(point[0], point[1])
    lit = visitor.page.locator("#panel .row.lit")
    playwright.expect(lit).to_have_attribute("data-gap", str(point[2]))
    playwright.expect(visitor.page.locator("#tip")).to_contain_text("gap")


def test_gaps_of_the_whole_graph(visitor: Visitor) -> None:
    visitor.open_walk("toy:library", ["music"])
    visitor.open_tab("Gaps")
    visitor.page.get_by_role("button", name="Whole graph").click()
    found = cg.gaps(cg.toys.library())
    rows = visitor.page.get_by_label("gaps of the graph").locator("[data-gap]")
    playwright.expect(rows).to_have_count(found.total)
    assert [str(row.get_attribute("title")) for row in rows.all()] == [
        gap.replace(" - ", " \N{EN DASH} ") for gap in found.columns()["gap"]
    ]
    rows.first.hover()
    assert visitor.ask("curiograph.picture.lit") == 0
    visitor.page.get_by_role("button", name="dismiss").first.click()
    playwright.expect(rows).to_have_count(found.total - 1)
    visitor.page.reload()
    visitor.open_tab("Gaps")
    visitor.page.get_by_role("button", name="Whole graph").click()
    playwright.expect(rows).to_have_count(found.total - 1)  # remembered
    visitor.page.get_by_role("button", name="Show all").click()
    playwright.expect(rows).to_have_count(found.total)


def test_effects_and_reasons_agree_with_measure(visitor: Visitor) -> None:
    graph = read_characters()
    walk = cg.explore(graph, "planner", "igt", "Valjean", 12, seed=0).nodes
    visitor.open_walk("les-miserables", walk)
    candidates = visitor.ask("curiograph.view.candidates")
    assert {each["node"] for each in candidates} <= set(graph.labels) - set(walk)
    now = cg.measure(graph, walk).beta1[-1]
    for each in candidates:
        growth = cg.measure(graph, [*walk, each["node"]])
        opened = sum(gap.opened_at == len(walk) + 1 for gap in growth.gaps)
        assert (each["opens"], each["opens"] - each["closes"]) == (opened, growth.beta1[-1] - now)
    visitor.press("step")
    visitor.expect_walk(13)
    first = candidates[0]
    for verb in ("opens", "closes"):
        said = re.search(rf"{verb} (a|\d+) gap", visitor.sentence)
        assert (0 if said is None else int(said[1].replace("a", "1"))) == first[verb]


def test_race_ends_with_a_result_to_share(visitor: Visitor) -> None:
    visitor.open_walk("toy:everyday", ["tea"])
    visitor.press("race")
    visitor.expect_walk(1)
    assert visitor.page.get_by_role("button", name="Step").is_disabled()
    assert "opens" not in visitor.page.locator("#panel").inner_text()  # effects are hidden
    assert visitor.page.get_by_role("button", name="More").is_disabled()
    for length in range(2, 12):
        visitor.page.locator("#panel [data-node]").first.click()
        visitor.expect_walk(length)
    graph = cg.toys.everyday()
    own = int(cg.measure(graph, visitor.walk).beta1[1:].sum())
    other = int(cg.explore(graph, "planner", "igt", "tea", 11, seed=0).total)
    dialog = visitor.page.get_by_role("dialog")
    playwright.expect(dialog).to_contain_text(re.compile(rf"{own} you\s*{other} agent"))
    with visitor.page.expect_download() as got:
        dialog.get_by_role("button", name="Picture").click()
    assert Path(got.value.path()).read_bytes().startswith(b"\x89PNG")
    shared = visitor.page.url
    again = visitor.context.new_page()
    again.goto(shared)
    playwright.expect(again.locator("#sentence")).to_contain_text(f"{own} to {other}")


def test_recommendations_have_reasons(visitor: Visitor) -> None:
    visitor.open_walk("toy:library", ["music", "physics"])
    visitor.open_tab("Recommend")
    rows = visitor.page.get_by_label("recommended nodes").locator("li")
    playwright.expect(rows.first).to_be_visible()
    top = cg.recommend(cg.toys.library(), ["music", "physics"], 6)
    assert [text.split("\n")[0] for text in rows.all_inner_texts()] == [node for node, _ in top]
    next_nodes = visitor.ask("curiograph.view.candidates.map(({node}) => node)")
    node = next(node for node, _ in top if node in next_nodes)
    rows.filter(has_text=str(node)).get_by_role("button").click()
    visitor.expect_walk(3)
    assert visitor.walk[-1] == node


def test_choices_are_compared_from_five_on(visitor: Visitor) -> None:
    visitor.open_walk("toy:library", ["music"])
    visitor.open_tab("You")
    assert "Choose 5 nodes" in visitor.page.locator("#panel").inner_text()
    visitor.open_tab("Next")
    for length in range(2, 7):
        visitor.page.keyboard.press("1")
        visitor.expect_walk(length)
    visitor.open_tab("You")
    playwright.expect(visitor.page.locator("#panel")).to_contain_text("Of 5 choices of yours")
    shares = [int(text) for text in re.findall(r"(\d+) %", visitor.page.locator(".bars").inner_text())]
    assert len(shares) == 5
    assert max(shares) <= 100
    graph, walk = cg.toys.library(), visitor.walk
    expected = []
    for step in range(1, 6):
        last = [node for node in graph.neighbors(walk[step - 1]) if node not in walk[:step]]
        degrees = {node: len(graph.neighbors(node)) for node in last}
        mine = degrees[walk[step]]
        if len(last) > 1:
            below, equal = sum(d < mine for d in degrees.values()), sum(d == mine for d in degrees.values()) - 1
            expected.append((below + equal / 2) / (len(last) - 1))
    assert shares[-1] == pytest.approx(100 * sum(expected) / len(expected), abs=0.51)


def test_more_shows_all_motives_and_agents(visitor: Visitor) -> None:
    visitor.open_walk("toy:library", ["music", "physics"])
    visitor.page.keyboard.press("m")
    head = visitor.page.locator("#panel th")
    playwright.expect(head).to_have_text(["next node", "gaps", "compression", "flexibility", "PageRank", "links"])
    visitor.page.get_by_label("what the agent seeks").select_option("cpt")
    playwright.expect(visitor.page).to_have_url(re.compile("reward=cpt"))
    visitor.page.keyboard.press("m")
    playwright.expect(visitor.page.locator("#panel table")).to_have_count(0)


def test_bring_a_file(visitor: Visitor, tmp_path: Path) -> None:
    visitor.open()
    file = tmp_path / "links.csv"
    file.write_text("source;target;weight\na;b;1\nb;c;2\nc;d;1\nd;a;1\n")
    visitor.bring(file)
    playwright.expect(visitor.page.locator("#toast")).to_have_text(
        re.compile("links.csv: 4 nodes, 4 links, undirected, weighted")
    )
    for length in range(2, 5):
        visitor.page.keyboard.press("1")
        visitor.expect_walk(length)
    assert visitor.count == 1
    assert visitor.page.locator("#graph").evaluate("each => each.selectedOptions[0].text") == "links.csv"
    visitor.page.go_back()
    visitor.expect_walk(3)
    file = tmp_path / "broken.csv"
    file.write_text("a,b,c\nd\n")
    visitor.bring(file)
    playwright.expect(visitor.page.locator("#toast")).to_contain_text("broken.csv")
    assert len(visitor.walk) == 3  # nothing is lost
    assert len(visitor.problems) == 1  # the browser logs the refusal
    visitor.problems.clear()


def test_bring_a_folder_of_notes(visitor: Visitor, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    (vault / "sub").mkdir(parents=True)
    for name, text in {"a": "[[b]]", "b": "to [[c|see]]", "sub/c": "[d](../d.md)", "d": "[[a]]"}.items():
        (vault / f"{name}.md").write_text(text)
    visitor.open()
    visitor.bring(vault)
    playwright.expect(visitor.page.locator("#toast")).to_contain_text("4 nodes, 4 links, undirected, unweighted")
    for length in range(2, 5):
        visitor.page.keyboard.press("1")
        visitor.expect_walk(length)
    assert visitor.count == 1
    assert "sub/c" in visitor.walk
    assert "sub/" not in visitor.page.locator("body").inner_text()  # titles are shown


@pytest.mark.skipif(not VAULT.is_dir(), reason="needs obsidian-help/vault in CURIOGRAPH_DATA")
def test_gaps_of_a_real_vault(visitor: Visitor) -> None:
    visitor.open()
    visitor.bring(VAULT)
    visitor.expect_walk(1)
    visitor.open_tab("Gaps")
    visitor.page.get_by_role("button", name="Whole graph").click()
    playwright.expect(visitor.page.locator("#count")).to_have_text(str(cg.gaps(cg.read_graph(VAULT)).total))
    visitor.page.locator("#panel [data-gap]").nth(1).hover()
    visitor.ask("document.getElementById('toast').hidden = true")
    save_screenshot(visitor, "page-vault")


def test_labels_never_overlap_and_hostile_ones_are_text(visitor: Visitor, tmp_path: Path) -> None:
    names = [HOSTILE, *(f"a rather long name of the node number {i}" for i in range(60))]
    file = tmp_path / "graph.json"
    graph = networkx.relabel_nodes(networkx.connected_watts_strogatz_graph(61, 4, 0.2, seed=1), dict(enumerate(names)))
    file.write_text(json.dumps(networkx.node_link_data(graph)))
    visitor.open()
    visitor.bring(file)
    visitor.expect_walk(1)
    for length in range(2, 9):
        visitor.page.keyboard.press("ArrowRight")
        visitor.expect_walk(length)
    visitor.page.wait_for_timeout(100)
    labels = visitor.ask("curiograph.picture.labels.map(({box, text}) => [...box, text])")
    assert len(labels) > 8
    assert all(a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1] for a, b in combinations(labels, 2))
    assert all(len(label[4]) <= 24 for label in labels)
    assert any("…" in label[4] for label in labels)
    visitor.page.locator("#start").fill("<img")
    visitor.page.locator("#start").press("Enter")
    visitor.expect_walk(1)
    assert HOSTILE in visitor.sentence
    assert visitor.ask("window.injected") is None


def test_start_elsewhere_by_name(visitor: Visitor) -> None:
    visitor.open_walk("les-miserables", ["Valjean"])
    visitor.page.keyboard.press("/")
    visitor.page.keyboard.type("fant")
    visitor.page.keyboard.press("Enter")
    playwright.expect(visitor.page.locator("#sentence")).to_contain_text("Fantine")
    visitor.page.keyboard.press("/")
    visitor.page.keyboard.type("nobody")
    visitor.page.keyboard.press("Enter")
    playwright.expect(visitor.page.locator("#toast")).to_contain_text("nobody")


@pytest.mark.parametrize(
    ("fragment", "quoted"),
    [
        ("#graph=nothing", "nothing"),
        ("#graph=toy:library&walk=musik", "musik"),
        ("#graph=toy:library&agent=xyz", "xyz"),
    ],
)
def test_bad_address_is_explained(visitor: Visitor, fragment: str, quoted: str) -> None:
    visitor.page.goto(f"{visitor.address}/{fragment}")
    playwright.expect(visitor.page.locator("#toast")).to_contain_text(quoted)
    visitor.page.locator("body[data-ready]").wait_for()
    assert visitor.count == 0
    visitor.problems.clear()


def test_dense_graph_has_its_own_layout(visitor: Visitor, tmp_path: Path) -> None:
    file = tmp_path / "dense.csv"
    file.write_text("".join(f"{a},{b}\n" for a, b in networkx.gnm_random_graph(300, 9_000, seed=0).edges))
    visitor.open()
    visitor.bring(file)
    visitor.expect_walk(1)
    assert visitor.ask("curiograph.picture.graph.dense")
    for length in range(2, 12):
        visitor.page.keyboard.press("ArrowRight")
        visitor.expect_walk(length)
    places = visitor.ask("curiograph.view.places")
    assert len(places) > 11
    assert len(visitor.ask("curiograph.view.map")) == 11
    assert min(abs(a[0] - b[0]) + abs(a[1] - b[1]) for a, b in combinations(places[:11], 2)) > 0.1


def test_strict_policy_and_small_download(visitor: Visitor) -> None:
    sizes = []
    visitor.page.on("response", lambda each: sizes.append(each.request.sizes()["responseBodySize"]))
    response = visitor.page.goto(visitor.address)
    visitor.page.locator("body[data-ready]").wait_for()
    assert "default-src 'self'" in response.headers["content-security-policy"]
    assert "unsafe" not in response.headers["content-security-policy"]
    assert sum(sizes) < 60_000


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["desktop", "phone"])
def test_accessible(browser: Any, address: str, scheme: str, kind: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    visitor = Visitor(browser, address, color_scheme=scheme, **(PHONE if kind == "phone" else {}))
    walk = cg.explore(read_characters(), "planner", "igt", "Valjean", 12, seed=0).nodes
    visitor.open_walk("les-miserables", walk)
    if (kind, scheme) == ("phone", "light"):
        save_screenshot(visitor, "page-phone")
    for action in (None, "Gaps", "help"):
        if action == "help":
            visitor.page.keyboard.press("?")
        elif action:
            visitor.open_tab(action)
        found = Axe().run(visitor.page).response["violations"]
        assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []
    visitor.context.close()
    assert visitor.problems == []


def test_pan_zoom_and_fit(visitor: Visitor) -> None:
    visitor.open()
    first = visitor.ask("({...curiograph.picture.camera})")
    visitor.page.mouse.move(700, 800)
    visitor.page.mouse.wheel(0, -300)
    visitor.page.wait_for_function(f"curiograph.picture.camera.scale > {first['scale'] * 1.2}")
    visitor.page.mouse.move(640, 120)
    visitor.page.mouse.down()
    visitor.page.mouse.move(700, 160, steps=3)
    visitor.page.mouse.up()
    assert len(visitor.walk) == 0  # nothing was clicked
    visitor.page.keyboard.press("0")
    visitor.page.keyboard.press("0")
    assert visitor.ask("({...curiograph.picture.camera})") == first
