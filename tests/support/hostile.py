"""Hostile files: every reader with sound files of ours, ways to spoil them, and the only outcomes that are allowed."""

from __future__ import annotations

import gzip
import io
import json
import random
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import scipy.io
import scipy.sparse

import curiograph as cg
from curiograph.agents.gnn import GnnAgent, GnnShape
from curiograph.agents.planner import PlannerAgent, PlannerShape
from curiograph.agents.pretrained import save_agent
from curiograph.graph.io.write import write_graph
from curiograph.human.data.books import read_books
from curiograph.human.data.dataset import Dataset
from curiograph.human.data.movielens import read_movielens
from curiograph.human.data.texts import read_texts
from curiograph.human.data.trajectory_file import read_trajectories
from curiograph.human.data.wikispeedia import read_wikispeedia
from curiograph.human.trajectories import Trajectories

LONGEST_MESSAGE = 700
"""Letters of a message, its path aside: a sentence or two that name a bad value."""


@dataclass(frozen=True)
class Reader:
    """Something that reads a file, and sound files for it."""

    file: str
    """What the file is called; its ending counts."""
    write: Callable[[Path], Sequence[bytes]]
    """Sound files, made in an empty folder by our own writers where there are any."""
    read: Callable[[Path], Any]
    """Reads the file and asserts that the outcome is sound."""
    beside: Sequence[tuple[str, str]] = ()
    """Files that it needs in the same folder, and what is in them."""

    def samples(self, folder: Path) -> list[bytes]:
        """Sound files, after the files beside them are written."""
        for name, text in self.beside:
            (folder / name).write_text(text)
        return list(self.write(folder))

    def outcome(self, data: bytes, folder: Path) -> str | None:
        """Read these bytes: None where they are sound, else the sentence that refuses them; all else is a failure."""
        path = folder / self.file
        path.write_bytes(data)
        try:
            self.read(path)
        except cg.CuriographError as error:
            return one_sentence(str(error), folder)
        return None


def one_sentence(message: str, folder: Path) -> str:
    """A message, after a look at whether a person would want to read it."""
    bare = message.replace(f"{folder}/", "")
    assert "\n" not in bare, message
    assert 10 < len(bare) < LONGEST_MESSAGE, f"{len(bare)} letters: {bare[:1000]}"
    assert bare.endswith("."), message
    bare.encode()  # whatever was quoted can be printed
    return message


# ---- what is sound ---------------------------------------------------------------------------------------------------


def sound_graph(graph: cg.Graph) -> None:
    """Rows fit, are sorted without repeats and name nodes that exist; an undirected graph is its own mirror image."""
    indptr, indices, size = graph.indptr, graph.indices, graph.num_nodes
    assert indptr[0] == 0
    assert indptr[-1] == len(indices)
    assert np.all(np.diff(indptr) >= 0)
    rows = np.repeat(np.arange(size), np.diff(indptr))
    keys = rows * size + indices
    assert np.all(np.diff(keys) > 0)
    assert len(indices) == 0 or 0 <= indices.min() <= indices.max() < size
    assert not np.any(rows == indices)
    if not graph.directed:
        assert np.array_equal(np.sort(indices.astype(np.int64) * size + rows), keys)
    if graph.weights is not None:
        assert len(graph.weights) == len(indices)
        assert np.all(np.isfinite(graph.weights) & (graph.weights >= 0))
    assert len(set(graph.labels)) == size
    for position in range(min(size, 5)):
        assert graph.position(graph.label(position)) == position


def sound_walks(walks: Trajectories) -> None:
    """Flat arrays that fit, over names that are distinct."""
    assert walks.offsets[0] == 0
    assert walks.offsets[-1] == len(walks.nodes)
    assert np.all(np.diff(walks.offsets) >= 0)
    assert len(walks.users) == len(walks.sessions) == len(walks)
    numbered = ((walks.nodes, walks.names), (walks.users, walks.user_names), (walks.sessions, walks.session_names))
    for values, names in numbered:
        assert len(values) == 0 or 0 <= values.min() <= values.max() < len(names)
        assert len(set(names)) == len(names)
    for number in range(min(len(walks), 5)):
        walks.labels(number)


def sound_data(data: Dataset) -> None:
    sound_walks(data.walks)
    if data.graph is not None:
        sound_graph(data.graph)


def sound_agent(path: Path) -> None:
    """Finite weights of the shape that the card says, in an agent that walks."""
    agent = cg.load_agent(path)
    assert {name: array.shape for name, array in agent.network.items()} == agent.shape.weights()
    assert all(np.all(np.isfinite(array)) for array in agent.network.values())
    with np.errstate(all="ignore"):  # weights near the largest number overflow
        if max(float(np.abs(array).max()) for array in agent.network.values()) < 1e3:
            assert len(cg.explore(cg.toys.library(), agent, "igt", steps=3)) >= 1


# ---- sound files -----------------------------------------------------------------------------------------------------


def _graphs(ending: str) -> Callable[[Path], list[bytes]]:
    def write(folder: Path) -> list[bytes]:
        found = []
        plain = cg.Graph.from_edges([("a", "b"), ("b", "c"), ("a", "c"), ("ü", "a")])
        weighted = cg.Graph.from_edges([(3, 10**9, 0.5), (7, 3, 2.0)], directed=True)
        ranged = cg.Graph.from_edges([(0, 1), (1, 2)])
        for graph in (plain, weighted, ranged):
            write_graph(graph, folder / f"sound{ending}")
            found.append((folder / f"sound{ending}").read_bytes())
        return found

    return write


def _gexf(folder: Path) -> list[bytes]:
    found = []
    for graph in (networkx.path_graph(3), networkx.DiGraph([("a", "b", {"weight": 2.5}), ("b", "ü")])):
        made = io.BytesIO()
        networkx.write_gexf(graph, made)
        found.append(made.getvalue())
    return found


def _matrices(folder: Path) -> list[bytes]:
    found = []
    ring = np.roll(np.eye(5), 1, axis=0)
    for matrix in (ring + ring.T, (ring * 2).astype(np.int16), scipy.sparse.csc_array(ring)):
        for packed in (False, True):
            made = io.BytesIO()
            scipy.io.savemat(made, {"A": matrix, "name": "ring", "x": [[1, 2]]}, do_compression=packed)
            found.append(made.getvalue())
    return found


def _split(folder: Path) -> list[bytes]:
    graph = json.loads(_graphs(".json")(folder)[0])
    return [json.dumps({"train": {"0": graph, "1": graph}, "val": {"a": graph}, "test": {}}).encode()]


def _trajectories(folder: Path) -> list[bytes]:
    Trajectories.from_walks([["a", "b", "c"], ["b", "ü"]], users=["ann", "bob"]).save(folder / "sound.npz")
    return [(folder / "sound.npz").read_bytes()]


def _agents(folder: Path) -> list[bytes]:
    found = []
    for made, shape in ((GnnAgent, GnnShape(width=2)), (PlannerAgent, PlannerShape())):
        chance = np.random.default_rng(0)
        weights = {name: chance.normal(size=size).astype(np.float32) for name, size in shape.weights().items()}
        save_agent(made(shape, weights, "small"), folder / "sound.safetensors", {"reward": "igt"})
        found.append((folder / "sound.safetensors").read_bytes())
    return found


def recommender() -> cg.Recommender:
    """One whose parts take no time."""
    return cg.Recommender(cg.toys.library(), cg.CuriousRanker("max-degree", walks=20))


def _parts(folder: Path) -> list[bytes]:
    made = recommender()
    made.prepare(["music", "logic"])
    made.save(folder / "sound.safetensors")
    return [(folder / "sound.safetensors").read_bytes()]


@cache
def _reader_of_parts() -> cg.Recommender:
    return recommender()


def _load_parts(path: Path) -> None:
    _reader_of_parts().load(path)


def _texts(*texts: str) -> Callable[[Path], list[bytes]]:
    return lambda folder: [text.encode() for text in texts]


def _packed(*texts: str) -> Callable[[Path], list[bytes]]:
    return lambda folder: [gzip.compress(text.encode(), mtime=0) for text in texts]


_ARTICLES = "# articles\nA\nB%20b\n%C3%89ire\n"
_LINKS = "# links\nA\tB%20b\nB%20b\t%C3%89ire\n%C3%89ire\tA\n"
_GAMES = "# games\nann\t1297\t88\tA;B%20b;<;B%20b;%C3%89ire\tNULL\nNULL\tNULL\t3\tA;B%20b\t3\n"
_RATINGS = "userId,movieId,rating,timestamp\n1,10,4.0,964\n1,20,3.5,965\n2,10,5,1\n"
_TITLES = 'movieId,title,genres\n10,"Emma, again (1996)",Drama\n20,Heat,Crime\n'
_REVIEWS = (
    '{"user_id": "ann", "parent_asin": "B1", "timestamp": 3}\n{"user_id": "ann", "asin": "B2", "timestamp": 4.5}\n'
)
_CLICKS = "ID,TimeOrder,SourceName,TargetName\n1,1,,a\n1,2,a,b\n1,3,NA,c\n2,1,a,b\n"
_INTERACTIONS = "user_id:token\titem_id:token\tsession_id:token\ttimestamp:float\n1\ta\ts\t2.5\n2\tb\ts\t1\n"
_EVENTS = "user,page,time\nann,b,2\nann,a,1\nbob,c,1e3\n"
_WALKS = "# walks\na;b;c\nb;ü\n"


def _wikispeedia(file: str, text: str) -> Reader:
    others = {"articles.tsv": _ARTICLES, "links.tsv": _LINKS, "paths_finished.tsv": _GAMES}
    beside = [item for item in others.items() if item[0] != file]
    return Reader(file, _texts(text), lambda path: sound_data(read_wikispeedia(path.parent)), beside)


def _movielens(file: str, text: str, *beside: tuple[str, str]) -> Reader:
    return Reader(file, _texts(text), lambda path: sound_data(read_movielens(path.parent)), beside)


def _graph(ending: str) -> Reader:
    return Reader(f"g{ending}", _graphs(ending), lambda path: sound_graph(cg.read_graph(path)))


def _each(sets: cg.Split) -> None:
    for graph in [*sets.train, *sets.val, *sets.test]:
        sound_graph(graph)


READERS = {
    **{kind: _graph(f".{kind}") for kind in ("tsv", "csv", "txt", "edges", "graphml", "gml", "json", "npz")},
    "gexf": Reader("g.gexf", _gexf, lambda path: sound_graph(cg.read_graph(path))),
    "mat": Reader("g.mat", _matrices, lambda path: sound_graph(cg.read_graph(path))),
    "split": Reader("split.json", _split, lambda path: _each(cg.read_split(path))),
    "trajectories": Reader("t.npz", _trajectories, lambda path: sound_walks(Trajectories.load(path))),
    "events": Reader("e.csv", _texts(_EVENTS, _WALKS), lambda path: sound_data(read_trajectories(path, lenient=True))),
    "knot": Reader("k.csv", _texts(_CLICKS), lambda path: sound_data(read_trajectories(path, lenient=True))),
    "inter": Reader("e.inter", _texts(_INTERACTIONS), lambda path: sound_data(read_trajectories(path, lenient=True))),
    "packed": Reader("e.csv.gz", _packed(_EVENTS, _WALKS), lambda path: sound_data(read_trajectories(path))),
    "articles": _wikispeedia("articles.tsv", _ARTICLES),
    "links": _wikispeedia("links.tsv", _LINKS),
    "categories": _wikispeedia("categories.tsv", "# categories\nA\tsubject.B.C_D\n%C3%89ire\tsubject.E\n"),
    "games": _wikispeedia("paths_finished.tsv", _GAMES),
    "texts": Reader("texts.tsv", _texts("node\ttext\n0\tred apple\n%31\tpear\n", '0,red\n1,"a, b"\n'),
                    lambda path: read_texts(path, cg.toys.cycle(4), lenient=True)),
    "ratings": _movielens("ratings.csv", _RATINGS, ("movies.csv", _TITLES)),
    "titles": _movielens("movies.csv", _TITLES, ("ratings.csv", _RATINGS)),
    "ratings-100k": _movielens("u.data", "1\t10\t4\t964\n1\t20\t3\t965\n"),
    "titles-1m": _movielens("movies.dat", "10::Emma (1996)::Drama\n", ("ratings.dat", "1::10::4::964\n")),
    "books": Reader("Books.csv", _texts("ann,B1,5,1\nann,B2,4,2\n", "user_id,parent_asin,rating,timestamp\na,B,1,2\n"),
                    lambda path: sound_data(read_books(path, lenient=True))),
    "reviews": Reader("Books.jsonl", _texts(_REVIEWS), lambda path: sound_data(read_books(path, lenient=True))),
    "agent": Reader("agent.safetensors", _agents, sound_agent),
    "parts": Reader("parts.safetensors", _parts, _load_parts),
}  # fmt: skip
"""Everything that reads a file which might come from elsewhere, or be damaged, by name."""


# ---- ways to spoil a file --------------------------------------------------------------------------------------------

ODD = (
    b"", b"\0", b"\xff" * 8, b"\xff\xfe", b"\xef\xbb\xbf", b"\n", b"\r", b"\t", b",", b'"', b";", b"#", b"[" * 3000,
    b'{"a":' * 3000, b"(" * 300, b"9" * 10_000, b"-1", b"1e999", b"NaN", b"nan", b"null", b"true", b"\xed\xa0\x80",
    rb"\ud800", b"&#xD800;", b"&#55296;", b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b",
    (2**62).to_bytes(8, "little"), (2**31).to_bytes(4, "little"), b"4611686018427387904", b"(4611686018427387904,)",
    b"x" * 5000, b"[1]", b"{}", b"%ED%A0%80", b"<", b"\\", b"'O'", b"|O", b"-0", b"0x10", b"1_000",
)  # fmt: skip
"""Pieces that readers stumble over."""


def spoiled(data: bytes, chance: random.Random) -> bytes:
    """A few changes, each of one kind: bits, bytes, pieces cut, doubled, moved, or something odd put in."""
    packs = data[:2] in (b"PK", b"\x1f\x8b") or data[8:10] == b'{"'
    if packs and chance.randrange(2):
        try:
            return _inside(data, chance)
        except Exception:  # it was spoiled before, in one of the ways that make libraries stumble
            pass
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        _SPOILERS[chance.randrange(len(_SPOILERS))](changed, chance)
    return bytes(changed)


def _inside(data: bytes, chance: random.Random) -> bytes:
    """Spoil what is packed, and pack it again so that lengths and checksums are right: no damage, but malice."""
    if data[:4] == b"PK\x03\x04":
        return _zipped(data, chance)
    if data[:2] == b"\x1f\x8b":
        return gzip.compress(spoiled(gzip.decompress(data), chance), mtime=0)
    size = int.from_bytes(data[:8], "little")
    if data[8:10] == b'{"' and size < len(data):
        header, body = data[8 : 8 + size], data[8 + size :]
        if chance.randrange(3):
            header = spoiled(header, chance)
        else:
            body = spoiled(body, chance)
        return len(header).to_bytes(8, "little") + header + body
    return spoiled(data, chance)


def _zipped(data: bytes, chance: random.Random) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    place = chance.randrange(len(members))
    name, content = members[place]
    numbers = content.find(b"\n") + 1
    if chance.randrange(2):  # the header that numpy writes, or what follows
        content = content[:numbers] + spoiled(content[numbers:], chance)
    else:
        content = spoiled(content, chance)
    members[place] = name, content
    if not chance.randrange(8):
        del members[chance.randrange(len(members))]
    made = io.BytesIO()
    with zipfile.ZipFile(
        made, "w", chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    ) as to:
        for name, content in members:
            to.writestr(zipfile.ZipInfo(name), content)
    return made.getvalue()


def _span(data: bytearray, chance: random.Random) -> slice:
    begin = chance.randrange(len(data) + 1)
    return slice(begin, min(len(data), begin + chance.choice((1, 2, 4, 8, 30, 200))))


def _flip(data: bytearray, chance: random.Random) -> None:
    if data:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def _set(data: bytearray, chance: random.Random) -> None:
    if data:
        data[chance.randrange(len(data))] = chance.randrange(256)


def _cut_off(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(len(data) + 1) :]


def _cut_out(data: bytearray, chance: random.Random) -> None:
    del data[_span(data, chance)]


def _double(data: bytearray, chance: random.Random) -> None:
    piece = data[_span(data, chance)]
    place = chance.randrange(len(data) + 1)
    data[place:place] = piece


def _move(data: bytearray, chance: random.Random) -> None:
    span = _span(data, chance)
    piece = data[span]
    del data[span]
    place = chance.randrange(len(data) + 1)
    data[place:place] = piece


def _put_in(data: bytearray, chance: random.Random) -> None:
    data[_span(data, chance)] = chance.choice(ODD)


def _digits(data: bytearray, chance: random.Random) -> None:
    places = [place for place, byte in enumerate(data) if 48 <= byte < 58]
    if places:
        place = chance.choice(places)
        data[place : place + 1] = chance.choice((b"0", b"9", b"-7", b"99999999999999999999", b"1.5", b"x"))


_SPOILERS = (_flip, _set, _cut_off, _cut_out, _double, _move, _put_in, _digits)
