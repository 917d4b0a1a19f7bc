"""Readers of published datasets on small files of their layouts, finding and downloading them."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import savemat
from scipy.sparse import csc_matrix

from curiograph.errors import FileFormatError, SettingError, UnknownNameError
from curiograph.human.data.datasets import SOURCES, find_dataset, get_dataset, load_dataset, make_unique_labels
from curiograph.human.data.graph_sets import PAPER_FILES, REAL_NETWORKS

RATINGS = "userId,movieId,rating,timestamp\n7,2,3.0,20\n8,1,3.0,5\n7,1,4.0,10\n"
BOOKS = "ann,0002,,1\nbob,0001,5.0,0\nann,0001,4.0,0\n"


@pytest.fixture
def no_datasets(monkeypatch, tmp_path):
    """Hide the datasets of this machine."""
    monkeypatch.delenv("CURIOGRAPH_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def write_files(folder: Path, files: dict[str, str], encoding: str = "utf-8") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding=encoding)
    return folder


# ---- MovieLens ------------------------------------------------------------------------------------------------------

U_ITEM = "|".join(["1", "Café (1995)", *[""] * 22]) + "\n" + "|".join(["2", "Heat: 2 (1995)", *["0"] * 22]) + "\n"
RELEASES = {
    "ml-100k": {"u.data": "7\t2\t3\t20\n8\t1\t3\t5\n7\t1\t4\t10\n", "u.item": U_ITEM},
    "ml-1m": {
        "ratings.dat": "7::2::3::20\n8::1::3::5\n7::1::4::10\n",
        "movies.dat": "1::Café (1995)::Drama\n2::Heat: 2 (1995)::Crime\n",
    },
    "ml-latest-small": {
        "ratings.csv": RATINGS,
        "movies.csv": 'movieId,title,genres\n1,"Café (1995)",Drama\n2,Heat: 2 (1995),Crime\n',
    },
}


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
@pytest.mark.parametrize("name", RELEASES)
def test_layouts_of_movielens(tmp_path, name, encoding):
    folder = write_files(tmp_path / name, RELEASES[name], encoding)
    ratings, titles = RELEASES[name]
    for data in (load_dataset(folder), load_dataset(folder / ratings), load_dataset("movielens", tmp_path)):
        assert data.name == "movielens"
        assert list(data.walks) == [["Café (1995)", "Heat: 2 (1995)"], ["Café (1995)"]]
        assert list(data.walks.user_names) == ["7", "8"]
        assert data.walks.times.tolist() == [10, 20, 5]
    (folder / titles).unlink()
    assert list(load_dataset(folder).walks) == [["1", "2"], ["1"]]


@given(st.dictionaries(st.sampled_from("1234"), st.sampled_from(["1", "a", "a [1]", "a [2]"])))
def test_no_two_films_share_a_label(titles):
    labels = make_unique_labels(titles, "12345")
    assert len({labels.get(item, item) for item in "12345"}) == 5


# ---- Amazon Books ---------------------------------------------------------------------------------------------------

LAYOUTS = {
    "ratings_Books.csv": BOOKS,
    "Books.csv": "user_id,parent_asin,rating,timestamp\nann,0002,5.0,1001\nbob,0001,5.0,7\nann,0001,4.0,1000\n",
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_of_books(tmp_path, name, packed):
    file = tmp_path / (f"{name}.gz" if packed else name)
    file.write_bytes(gzip.compress(LAYOUTS[name].encode()) if packed else LAYOUTS[name].encode())
    for data in (load_dataset(file), load_dataset(tmp_path), load_dataset("books", tmp_path)):
        assert list(data.walks) == [["0001", "0002"], ["0001"]]
        assert list(data.walks.user_names) == ["ann", "bob"]


# ---- finding datasets -----------------------------------------------------------------------------------------------


def test_given_folder_precedes_environment_variable_and_cache(no_datasets, tmp_path, monkeypatch):
    def put(folder: Path) -> Path:
        return write_files(folder, {"ratings_Books.csv": BOOKS}) / "ratings_Books.csv"

    cached = put(tmp_path / "cache" / "curiograph" / "data" / "amazon-books")
    assert find_dataset("books") == cached
    named = put(tmp_path / "data" / "amazon-books")
    monkeypatch.setenv("CURIOGRAPH_DATA", str(tmp_path / "data"))
    assert find_dataset("books") == find_dataset("books", tmp_path / "data") == named
    given_place = put(tmp_path / "given")
    assert find_dataset("books", tmp_path / "given") == given_place
    assert len(load_dataset("books", tmp_path / "given").walks) == 2
    monkeypatch.setenv("CURIOGRAPH_DATA", str(tmp_path / "none"))
    assert find_dataset("books") == cached


def test_movielens_releases(tmp_path):
    data = tmp_path / "movielens"
    small = write_files(data / "ml-latest-small", {"ratings.csv": RATINGS}) / "ratings.csv"
    assert find_dataset("movielens", tmp_path) == small
    assert find_dataset("movielens-25m", tmp_path) is None
    large = write_files(data / "ml-25m", {"ratings.csv": RATINGS}) / "ratings.csv"
    assert find_dataset("movielens-25m", tmp_path) == large
    assert find_dataset("movielens-25m", small.parent) == small
    with pytest.raises(FileFormatError, match="several movielens datasets"):
        load_dataset("movielens", tmp_path)


def test_load_by_path(tmp_path):
    walks = write_files(tmp_path, {"walks.txt": "a,b\n"}) / "walks.txt"
    assert load_dataset(walks).name == "walks.txt"
    folder = write_files(tmp_path / "mine" / "some", {"ratings.csv": RATINGS})
    assert load_dataset(tmp_path / "mine").name == "movielens"
    assert list(load_dataset(folder / "ratings.csv", item="rating").walks)[1] == ["3.0"]
    with pytest.raises(SettingError, match="'rating'"):
        load_dataset(folder, item="rating")
    write_files(tmp_path / "mine" / "read", {"ratings_Books.csv": BOOKS})
    with pytest.raises(FileFormatError, match="several datasets"):
        load_dataset(tmp_path / "mine")


def test_missing_datasets(no_datasets, tmp_path):
    with pytest.raises(FileFormatError, match="no dataset"):
        load_dataset(tmp_path)
    with pytest.raises(UnknownNameError, match="'movie-lens'"):
        load_dataset("movie-lens")
    with pytest.raises(FileFormatError, match="no such folder"):
        load_dataset("books", tmp_path / "none")
    for name, release in {"wikispeedia": "wikispeedia", "movielens": "movielens-latest-small"}.items():
        with pytest.raises(FileFormatError, match=f"`curiograph data get {release}`"):
            load_dataset(name)


@pytest.mark.skipif(not os.environ.get("CURIOGRAPH_DATA"), reason="CURIOGRAPH_DATA names no folder of datasets")
def test_published_counts():
    for name, hashes in {"paper-graphs": PAPER_FILES, "real-networks": REAL_NETWORKS}.items():
        for file, digest in hashes.items():
            data = (find_dataset(name) / Path(file).name).read_bytes()
            assert hashlib.sha256(data).hexdigest() == digest
    wiki = load_dataset("wikispeedia")
    assert wiki.graph is not None
    assert (wiki.graph.num_nodes, wiki.graph.num_edges + wiki.graph.cleaning.self_loops) == (4604, 119_882)
    assert len(wiki.walks) == 24_875 + 41_050
    steps = wiki.walks.windows(1)
    assert len(steps.along_links(wiki.graph)) > 0.999 * len(steps)  # back clicks resolved
    films = load_dataset("movielens")
    assert (len(films.walks), len(films.walks.nodes)) == (610, 100_836)
    books = load_dataset("books")
    assert (len(books.walks), len(books.walks.nodes)) == (45_868, 654_407)
    assert wiki.skipped.count == films.skipped.count == books.skipped.count == 0


# ---- downloads ------------------------------------------------------------------------------------------------------

NAME = "movielens-latest-small"


@pytest.fixture
def files(no_datasets, monkeypatch) -> Iterator[dict[str, bytes]]:
    """The files of a server that replaces those of the publishers."""
    served: dict[str, bytes] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path not in served:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(served[self.path])))
            self.end_headers()
            self.wfile.write(served[self.path])

        def log_message(self, format: str, *args: object) -> None:
            pass

    monkeypatch.setenv("no_proxy", "*")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    for name, source in SOURCES.items():
        url = f"http://127.0.0.1:{server.server_port}/{source.url.rpartition('/')[2]}"
        monkeypatch.setitem(SOURCES, name, source._replace(url=url))
    yield served
    server.shutdown()
    thread.join()
    server.server_close()


def make_zip(content: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in content.items():
            archive.writestr(name, text)
    return out.getvalue()


def make_tar(content: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, text in content.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    return out.getvalue()


def serve_zip(files: dict[str, bytes], content: bytes) -> None:
    files["/ml-latest-small.zip"] = content
    files["/ml-latest-small.zip.md5"] = f"{hashlib.md5(content).hexdigest()}  ml-latest-small.zip".encode()


def test_downloads_are_unpacked_and_found(files):
    serve_zip(files, make_zip({"ml-latest-small/ratings.csv": RATINGS}))
    files["/ratings_Books.csv"] = BOOKS.encode()
    pages = {"articles.tsv": "A\nB\n", "links.tsv": "A\tB\n", "paths_finished.tsv": "ip\t1\t2\tA;B\t3\n"}
    archive = {f"wikispeedia_paths-and-graph/{name}": text for name, text in pages.items()}
    files["/wikispeedia_paths-and-graph.tar.gz"] = make_tar(archive)
    messages = []
    for name, expected in {NAME: ["1", "2"], "books": ["0001", "0002"], "wikispeedia": ["A", "B"]}.items():
        folder = get_dataset(name, progress=lambda text, share=None: messages.append((text, share)))
        assert load_dataset(name).walks[0] == load_dataset(folder).walks[0] == expected
        assert not [path for path in folder.parent.iterdir() if path.name.startswith(".")]
    assert all(share is None or 0 < share <= 1 for _, share in messages)
    files.clear()
    assert get_dataset(NAME).is_dir()  # it is there already


def test_graphs_of_the_paper(files, tmp_path, monkeypatch):
    texts = {path: path.encode() for path in SOURCES["paper-graphs"].files}
    files |= {f"/{path}": text for path, text in texts.items()}
    with pytest.raises(FileFormatError, match="SHA256"):
        get_dataset("paper-graphs")
    known = {path: hashlib.sha256(text).hexdigest() for path, text in texts.items()}
    monkeypatch.setitem(SOURCES, "paper-graphs", SOURCES["paper-graphs"]._replace(files=known))
    folder = get_dataset("paper-graphs")
    assert find_dataset("paper-graphs") == folder
    assert sorted(path.read_bytes() for path in folder.iterdir()) == sorted(texts.values())
    moved = folder.rename(tmp_path / "paper-environments")
    assert find_dataset("paper-graphs", tmp_path) == find_dataset("paper-graphs", moved) == moved
    with pytest.raises(FileFormatError, match="no walks"):
        load_dataset("paper-graphs")


def test_real_networks_are_found_among_samples(files, monkeypatch):
    """Samples are matrices with loops, weights and small components, in cell arrays of several variables."""
    drawn = {
        "web-blogs-directed.tsv": nx.gn_graph(30, seed=1),
        "animal-lake.tsv": nx.connected_watts_strogatz_graph(20, 4, 0.3, seed=2),
        "music-mozart.tsv": nx.barabasi_albert_graph(40, 2, seed=3),
    }
    texts = {
        name: "".join(
            f"{u}\t{v}\n" for u, v in sorted(graph.edges if graph.is_directed() else map(sorted, graph.edges))
        )
        for name, graph in drawn.items()
    }
    hashes = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}
    monkeypatch.setattr("curiograph.human.data.graph_sets.REAL_NETWORKS", hashes)

    def make_matrix(graph: nx.Graph) -> np.ndarray:
        return np.pad(3 * nx.to_numpy_array(graph) + np.diag(np.arange(len(graph)) % 2), 2)

    def write_samples(*variables: list[np.ndarray]) -> bytes:
        out, cells = io.BytesIO(), [np.empty((len(matrices), 1), object) for matrices in variables]
        for cell, matrices in zip(cells, variables, strict=True):
            for row, matrix in zip(cell, matrices, strict=True):
                row[0] = csc_matrix(matrix)
        savemat(out, {f"G_{place}": cell for place, cell in enumerate(cells)})
        return out.getvalue()

    other, (blogs, lake, mozart) = make_matrix(nx.path_graph(9)), map(make_matrix, drawn.values())
    names = "x_samples_directed.mat", "x_samples_undirected.mat"
    source = SOURCES["real-networks"]._replace(files=dict.fromkeys(names))
    monkeypatch.setitem(SOURCES, "real-networks", source)
    files |= {f"/{names[0]}": write_samples([other]), f"/{names[1]}": write_samples([other, lake], [mozart, mozart])}
    with pytest.raises(FileFormatError, match=r"no web-blogs-directed\.tsv"):
        get_dataset("real-networks")
    files[f"/{names[0]}"] = write_samples([other, blogs])
    folder = get_dataset("real-networks")
    assert find_dataset("real-networks") == folder
    assert {path.name: path.read_text() for path in folder.iterdir()} == texts


@pytest.mark.parametrize(
    "content",
    [
        None,
        b"no archive",
        make_zip({"other.txt": "x"}),
        make_zip({"ml-latest-small/ratings.csv": RATINGS})[:-40],
        make_zip({"../ratings.csv": RATINGS}),
    ],
    ids=["missing", "no archive", "no dataset", "truncated", "leads out of the folder"],
)
def test_failed_downloads_leave_no_files(files, tmp_path, content):
    if content is not None:
        serve_zip(files, content)
    with pytest.raises(FileFormatError, match=r"ml-latest-small\.zip"):
        get_dataset(NAME, tmp_path / "data")
    assert not [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
