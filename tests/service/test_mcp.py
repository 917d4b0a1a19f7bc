"""A session with `curiograph mcp`, by the client of the package mcp: numbers, names, changes, what is refused."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client, StdioServerParameters, stdio_client

import curiograph as cg
from curiograph.graph.io.markdown import read_vault
from curiograph.service.mcp_server import MAX_ANSWER

LINKS = """Tea Cup Water; Cup Clay Kiln; Clay Water Earth; Kiln Fire Earth; Fire Tea Water; Earth Honey; Honey Tea Bee;
Bee Earth Nowhere; Water Nowhere; drinks/Index Tea Cup; stones/Index Clay Earth Marble"""
Call = Callable[..., Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("here") / "notes"
    for line in LINKS.replace("\n", " ").split(";"):
        name, *links = line.split()
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.md").write_text(" ".join(f"[[{link}]]" for link in links))
    (folder.parent / "secret.csv").write_text("hidden,treasure\ntreasure,map\n")
    (folder / "link.csv").symlink_to(folder.parent / "secret.csv")
    (folder / "circle.csv").symlink_to(folder / "circle.csv")
    cg.write_graph(cg.toys.complete(12), folder / "complete.csv")
    cg.write_graph(cg.Graph.from_edges([(i, i + 1) for i in range(40)]), folder / "chain.csv")
    ring = [("-".join([str(i)] * 200), "-".join([str((i + 1) % 40)] * 200)) for i in range(40)]
    cg.write_graph(cg.Graph.from_edges(ring), folder / "long.csv")
    nodes = [{"id": i, "label": "b" if i == "a" else "twin"} for i in "abcd"]
    links = [{"source": s, "target": t} for s, t in ("ab", "bc", "cd", "da")]
    (folder / "twins.json").write_text(json.dumps({"nodes": nodes, "links": links}))
    return folder


@pytest.fixture(scope="module")
def call(folder: Path) -> Iterator[Call]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = ["-m", "curiograph", "mcp", str(folder)]
    server = StdioServerParameters(command=sys.executable, args=command, env=environment)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(stdio_client(server))) as client:

        def call(tool: str, **arguments: Any) -> Any:
            result = portal.call(partial(client.call_tool, tool, arguments))
            text = result.content[0].text
            assert len(text.encode()) <= MAX_ANSWER
            assert "\n" not in text
            return text if result.is_error else json.loads(text)

        yield call


def test_session_agrees_with_the_library(call: Call, folder: Path):
    vault = read_vault(folder)
    g, title = vault.graph, {label: vault.graph.title(i) for i, label in enumerate(vault.graph.labels)}
    label = {name: each for each, name in title.items()}
    opened = call("open_graph", path="notes")
    assert (opened["nodes"], opened["links"], opened["gaps"]) == (g.num_nodes, g.num_edges, cg.betti(g, dim=1))
    assert opened["best_linked"][0] in {title[v] for v in g.labels if g.degrees[g.position(v)] == g.degrees.max()}
    assert (opened["missing_notes"], opened["most_wanted"][0]["note"]) == (2, "Nowhere")

    found = call("gaps", graph="notes")
    assert [[label[v] for v in gap["loop"]] for gap in found["gaps"]] == cg.gaps(g).columns()["loop"]
    edges = list(g.to_networkx().edges)
    ways = [[pair] for gap in found["gaps"] if gap["length"] == 4 for pair in gap["links"]]
    ways += [[(each["node"], v) for v in each["needs_links_to"]] for gap in found["gaps"] for each in gap["nodes"]]
    assert len(ways) > 3
    for links in ways:  # each closes its gap
        more = [(label[u], label[v]) for u, v in links]
        assert cg.betti(cg.Graph.from_edges(edges + more), dim=1) < found["total"]

    walk = ["Tea", "Cup", "Clay", "Earth"]
    shown = call("look", graph=str(folder), walk=walk)
    assert shown["open_gaps"] == (before := cg.betti(g.subgraph(walk), dim=1))
    assert {label[row["node"]] for row in shown["next"]} == set(g.neighbors("Earth")) - set(walk)
    changes = [row["opens"] - row["closes"] for row in shown["next"]]
    assert changes == [cg.betti(g.subgraph([*walk, label[row["node"]]]), dim=1) - before for row in shown["next"]]
    assert changes == sorted(changes, reverse=True)
    assert max(changes) > 0

    top = cg.recommend(g, walk, k=3)
    rows = call("recommend", graph="notes", history=walk, k=3)["recommendations"]
    assert [(label[row["node"]], row["reason"]) for row in rows] == [(why.node, why.sentence) for why in top.reasons]
    grown = call("growth", graph="notes", walk=[*walk, "Water", "Kiln"], last=2)
    growth = cg.measure(g, [*walk, "Water", "Kiln"])
    assert [row["gaps"] for row in grown["steps"]] == growth.beta1[-2:].tolist()
    assert [row["bits"] for row in grown["steps"]] == pytest.approx(growth.compressibility[-2:].tolist(), abs=1e-3)
    assert "still gains" in grown["sentence"]


def test_reading_that_adds_nothing_has_stopped_gaining(call: Call):
    ring = call("open_graph", path="long.csv")["best_linked"]
    assert "too few" in call("growth", graph="long.csv", walk=ring[:5])["sentence"]
    assert "still gains" in call("growth", graph="complete.csv", walk=list(range(12)))["sentence"]
    assert "has stopped gaining" in call("growth", graph="chain.csv", walk=list(range(30)))["sentence"]


def test_names_denote_one_node_and_answers_are_short(call: Call):
    named = call("open_graph", path="twins.json")["best_linked"]
    assert named == ["a", "b", "c", "d"]  # the title of a is the label of another node, and the others share theirs
    # one loop of 40 nodes, with names of 400 bytes or more
    assert call("gaps", graph="long.csv") == {"total": 1, "gaps": [], "left_out": 1}


def test_changes_are_read(call: Call, folder: Path):
    before = call("open_graph", path="notes")
    (folder / "Salt.md").write_text("[[Water]]")
    after = call("open_graph", path="notes")
    assert (after["nodes"], after["links"]) == (before["nodes"] + 1, before["links"] + 1)
    (folder / "Salt.md").unlink()
    assert call("open_graph", path="notes") == before


def test_nothing_outside_is_read(call: Call, folder: Path):
    secret = str(folder.parent / "secret.csv")
    for path in ("../secret.csv", "link.csv", secret, "..", "/", "/etc/passwd", "a/../../secret.csv", "../none.csv"):
        assert "may read does not include" in call("open_graph", path=path)  # the same if it does not exist
    for path in ("~/notes", "nothing.csv", "circle.csv", "a\0.csv", "x" * 5000, "Tea.md", "drinks/", "."):
        assert isinstance(call("open_graph", path=path), dict) == (path in ("drinks/", "."))
    assert "'gone.csv'; try notes, chain.csv, c" in call("gaps", graph="gone.csv")


@pytest.mark.parametrize(
    ("tool", "arguments", "quoted"),
    [
        ("gaps", {"limit": 10**9}, "1000000000"),
        ("look", {"walk": ["Tea"] * 10_000}, "10000"),
        ("look", {"walk": []}, "0"),
        ("look", {"walk": ["Tea", None]}, "None"),
        ("look", {"walk": ["Tea", "Cup", "Tea"]}, "'Tea'"),
        ("look", {"walk": ["Watr"]}, "'Water'"),
        ("recommend", {"history": ["x" * 100_000]}, "'xxx"),
        ("growth", {"walk": ["Tea"], "last": 0}, "0"),
    ],
)
def test_bad_arguments_are_named_in_one_sentence(call: Call, tool: str, arguments: dict[str, Any], quoted: str):
    message = call(tool, **({"graph": "notes"} | arguments))
    assert isinstance(message, str)
    assert (quoted in message, len(message) < 500) == (True, True)
