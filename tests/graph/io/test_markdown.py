"""Folders of Markdown notes: which links there are, where they lead, and what a folder may hold."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

import curiograph as cg
from curiograph.errors import FileFormatError
from curiograph.files import list_data_folders
from curiograph.graph.graph import Graph
from curiograph.graph.io.formats import read_graph
from curiograph.graph.io.markdown import list_aliases, list_links, read_vault
from curiograph.graph.labels import LabelReader


def write_vault(folder, notes):
    """Write notes by name."""
    for name, text in notes.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    return folder


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("[[a]] ![[b]] [[c|x]] [[d#h]] [[e#h|x]] [[f#^block]] [[g/h]] [[#h]] [[#^b|x]]", "a b c d e f g/h"),
        ("| [[a\\|x]] | [[b]] |", "a b"),
        ("[x](a.md) [x](b%20c.md#h) [x](<d e.md>) [x](f_(g).md 'title') ![](h.md)", "a.md|b c.md|d e.md|f_(g).md|h.md"),
        ("[x](https://a.md) [x](mailto:a) [x](//a/b.md) [x](#h) [x]() [x]( ) [[]] [[ ]] [a] (b.md)", ""),
        ("```\n[[x]]\n```\n[[a]]\n~~~~ python\n[[x]]\n~~~\n[[x]]\n~~~~~\n[[b]]\n> ```\n> [[x]]\n> ```\n[[c]]", "a b c"),
        ("- ```js\n  [[x]]\n  ```\n- [[a]]\n```` md\n```\n[[x]]\n````\n[[b]]\n```\n[[x]] to the end", "a b"),
        ("`[[x]]` [[a]] ``[[x]] ` [[x]]`` [[b]] a stray `\n[[c]] and ` another; ```[[x]]``` [[d]]", "a b c d"),
        ("%% [[x]] %% [[a]] %%\n[[x]]\n%%\n[[b]] <!-- [[x]]\n[[x]] --> [[c]] 100%% [[d]]", "a b c d"),
        ("Code:\n\n    [[x]]\n\n\t[[x]]\nText [[a]]\n- item\n\n    [[b]] in it\n\n1. [[c]]\n\n    [[d]]\n", "a b c d"),
        ("---\nup: '[[a]]'\n---\n[[b]]\r\n[[c]]", "a b c"),
    ],
)  # fmt: skip
def test_links(text, targets):
    expected = targets.split("|" if "|" in targets else None)
    assert [target for target, _ in list_links(text)] == expected


@pytest.mark.parametrize(
    ("front", "aliases"),
    [
        ("aliases: Chai", ["Chai"]),
        ("alias: 'Chai'", ["Chai"]),
        ("tags: [x]\naliases:\n  - Chai\n  - \"Tea, black\"\nother:\n  - no", ["Chai", "Tea, black"]),
        ("aliases:\n- Chai\n- Té", ["Chai", "Té"]),
        ("aliases: [Chai, 'Tea, black', \"x\"]", ["Chai", "Tea, black", "x"]),
        ("aliases: [\n  Chai,\n  x\n]", ["Chai", "x"]),
        ("aliases: []\nnoaliases: x", []),
        ("aliases:", []),
    ],
)  # fmt: skip
def test_aliases(front, aliases):
    assert list_aliases(f"---\n{front}\n---\naliases: not here") == aliases
    assert list_aliases(f"text\n---\n{front}\n---\n") == []


def test_where_links_lead(tmp_path):
    notes = {
        "Tea.md": "---\naliases: [Chai]\n---\n[[cup]] [[CUP]] [[Tea]] [[Missing|x]] ![[p.png]] ![[x.gif]] [[pot.csv]]",
        "a/Cup.md": "[[Chai]] [up](../Tea.md) [[missing#h]] [x](Gone.md) [x](page)",
        "a/Plan.md": "[[b/Plan]] [here](Plan.md)",
        "a/b/Plan.md": "[[Plan]] [[/a/Plan]] [here](Plan) [[./Plan]] [[../Plan]]",
        "z/c/d/Deep.md": "[[Plan]] [[tea.md]] [[Café au\u00a0lait]]",
        "z/Cafe\u0301 au lait.md": b"\xff\xfe [[Deep]]",
        "Alone.md": "",
        "pot.csv": "1",
        "p.png": b"",
        ".obsidian/hidden.md": "[[Tea]]",
        "a/.trash/Old.md": "[[Tea]]",
    }
    vault = read_vault(write_vault(tmp_path, notes), directed=True)
    labels = ["Alone", "Tea", "a/Cup", "a/Plan", "a/b/Plan", "z/Café au lait", "z/c/d/Deep"]
    assert vault.graph.labels == labels
    assert vault.graph.titles == ("Alone", "Tea", "Cup", "a/Plan", "a/b/Plan", "Café au lait", "Deep")
    links = {label: vault.graph.neighbors(label) for label in labels}
    assert links == {
        "Alone": [],
        "Tea": ["a/Cup"],
        "a/Cup": ["Tea"],
        "a/Plan": ["a/b/Plan"],
        "a/b/Plan": ["a/Plan"],
        "z/c/d/Deep": ["Tea", "a/Plan", "z/Café au lait"],
        "z/Café au lait": ["z/c/d/Deep"],
    }
    assert vault.unresolved == {"Missing": ["Tea", "a/Cup"], "a/Gone": ["a/Cup"]}
    undirected = read_graph(tmp_path)
    assert undirected == read_vault(tmp_path).graph
    assert (undirected.directed, undirected.num_edges, undirected.weights) == (False, 5, None)
    assert LabelReader(undirected).walk(["Cup", "a/Plan", "Tea"]) == ["a/Cup", "a/Plan", "Tea"]


def test_symbolic_links_and_special_files_are_not_read(tmp_path):
    outside = write_vault(tmp_path / "outside", {"secret.md": "[[in]]"})
    vault = write_vault(tmp_path / "vault", {"in.md": "[[secret]]"})
    (vault / "secret.md").symlink_to(outside / "secret.md")
    (vault / "folder").symlink_to(outside)
    (vault / "loop").symlink_to(vault)
    os.mkfifo(vault / "pipe.md")
    assert read_vault(vault).graph.labels == ["in"]


def test_folders_without_notes(tmp_path):
    for folder in (tmp_path, write_vault(tmp_path / "x", {"g.csv": "a,b", ".git/x.md": ""}), tmp_path / "none"):
        with pytest.raises(FileFormatError, match=str(folder)):
            read_vault(folder)


names = st.sampled_from(["a", "A", "b", "c d", "x/a", "x/b", "y/x/a", "y/é"])


@given(st.dictionaries(names, st.lists(names, max_size=4), min_size=1), st.randoms())
def test_order_of_files_does_not_matter(tmp_path_factory, notes, random):
    """Notes written in another order give the same graph and the same unresolved links."""
    found = []
    for _ in range(2):
        folder = tmp_path_factory.mktemp("vault")
        listed = list(notes.items())
        random.shuffle(listed)
        write_vault(folder, {f"{name}.md": " ".join(f"[[{link}]]" for link in links) for name, links in listed})
        found.append(read_vault(folder, directed=True))
    assert repr((found[0].graph.get_edges(), found[0])) == repr((found[1].graph.get_edges(), found[1]))
    graph = found[0].graph
    for name, links in notes.items():  # an exact path always leads there
        assert set(graph.neighbors(name)) >= {link for link in links if link in notes and link != name}


def find_data(name):
    """Return the folder of a dataset, or skip the test."""
    for folder in list_data_folders():
        if (folder / name).is_dir():
            return folder / name
    return pytest.skip(f"{name} is not installed")


def test_help_of_obsidian():
    vault = read_vault(find_data("obsidian-help") / "vault")
    assert vault.graph.num_nodes == 173
    assert set(vault.unresolved) == {
        "Example",
        "Linking notes and files/Example",
    }  # which the text itself calls missing
    sync = vault.graph.position(LabelReader(vault.graph).label("Mobile app"))
    assert vault.graph.title(sync) == "Mobile app"


def test_json_of_graphify():
    for path in sorted(find_data("knowledge-graphs").glob("*.json")):
        graph, document = read_graph(path), json.loads(path.read_text())
        assert graph.labels == [node["id"] for node in document["nodes"]]
        titles = [node.get("label", node["id"]) for node in document["nodes"]]
        assert graph.titles == tuple(titles)


def test_sentences_show_titles():
    plain = cg.toys.cycle(4).to_networkx()
    for node in plain:
        plain.nodes[node]["label"] = "ABCD"[node]
    (top,) = cg.recommend(Graph.from_networkx(plain), [0, 1, 2], ranker="pagerank").reasons
    assert (top.node, top.sentence) == (3, "Because of A (35 %) and C (35 %).")
