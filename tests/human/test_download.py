"""Downloads from a server of our own: interrupted, wrong, hostile."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from curiograph.errors import CuriographError, FileFormatError, GraphError, UnknownNameError
from curiograph.human.data import registry
from curiograph.human.data.download import get_dataset
from curiograph.human.data.load import find_dataset, load_dataset

RATINGS = b"userId,movieId,rating,timestamp\n7,2,3.0,20\n7,1,3.0,10\n"
NAME = "movielens-latest-small"
FILE = "/ml-latest-small.zip"


@dataclass
class Shelf:
    """What the server has, how far it gets, and what it was asked."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    breaks_after: int | None = None
    promises: int = 0
    ranges: bool = True
    asked: list[tuple[str, str | None]] = field(default_factory=list)


def handler(shelf: Shelf) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.headers.get("Range")
            shelf.asked.append((self.path, asked))
            if self.path not in shelf.files:
                self.send_error(404)
                return
            whole = shelf.files[self.path]
            first = int(asked.removeprefix("bytes=").rstrip("-")) if asked and shelf.ranges else 0
            if first and first >= len(whole):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(whole)}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.send_response(206 if first else 200)
            if first:
                self.send_header("Content-Range", f"bytes {first}-{len(whole) - 1}/{len(whole)}")
            self.send_header("Content-Length", str(len(whole) - first + shelf.promises))
            self.end_headers()
            self.wfile.write(whole[first : None if shelf.breaks_after is None else first + shelf.breaks_after])

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Shelf]:
    """A server in place of the publishers."""
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.delenv("CURIOGRAPH_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = Shelf()
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(made))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    made.url = f"http://127.0.0.1:{server.server_port}"
    for name, source in registry.SOURCES.items():
        monkeypatch.setitem(
            registry.SOURCES,
            name,
            replace(source, url=f"{made.url}/{source.url.rpartition('/')[2]}", max_unpacked_megabytes=1),
        )
    yield made
    server.shutdown()
    thread.join()
    server.server_close()


def zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def taped(files: dict[str, bytes], link: str | None = None) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        if link is not None:
            info = tarfile.TarInfo(link)
            info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(info)
    return out.getvalue()


def offer(shelf: Shelf, archive: bytes | None = None) -> bytes:
    """Put a good archive with its sum on the shelf, or a given one."""
    content = zipped({"ml-latest-small/ratings.csv": RATINGS, "ml-latest-small/tags.csv": b"x"})
    shelf.files[FILE] = content if archive is None else archive
    shelf.files[f"{FILE}.md5"] = f"MD5 (ml.zip) = {hashlib.md5(shelf.files[FILE]).hexdigest()}\n".encode()
    return shelf.files[FILE]


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


# ---- downloads ------------------------------------------------------------------------------------------------------


def test_what_is_got_is_found_by_its_name(shelf, tmp_path):
    offer(shelf)
    said: list[tuple[str, float]] = []
    folder = get_dataset(NAME, progress=lambda message, share: said.append((message, share)))
    assert folder == tmp_path / "cache" / "curiograph" / "data" / "movielens" / "ml-latest-small"
    assert load_dataset("movielens").walks.labels(0) == ["1", "2"]
    assert everything(tmp_path) == [str((folder / "ratings.csv").relative_to(tmp_path))]  # the only file that is wanted
    assert said[-1] == ("0.0 of 0.0 MB", 1.0)
    shelf.asked.clear()
    assert get_dataset(NAME) == folder
    assert shelf.asked == []


def test_a_tar_and_a_plain_file(shelf, tmp_path):
    games = {f"w/{name}": b"a\n" for name in ("articles.tsv", "links.tsv", "paths_finished.tsv")}
    shelf.files["/wikispeedia_paths-and-graph.tar.gz"] = taped(games)
    assert len(everything(get_dataset("wikispeedia", tmp_path))) == 3
    shelf.files["/ratings_Books.csv"] = b"ann,x,,1\n"
    get_dataset("books", tmp_path)
    assert load_dataset("books", tmp_path).walks.labels(0) == ["x"]


def test_an_interrupted_download_goes_on(shelf, tmp_path):
    whole = offer(shelf)
    shelf.breaks_after = 100
    for _ in range(2):
        with pytest.raises(FileFormatError, match=r"rerun the command to resume"):
            get_dataset(NAME, tmp_path)
    part = tmp_path / ".downloads" / "ml-latest-small.zip.part"
    assert part.read_bytes() == whole[:200]
    shelf.breaks_after = None
    get_dataset(NAME, tmp_path)
    assert shelf.asked == [(FILE, None), (FILE, "bytes=100-"), (FILE, "bytes=200-"), (f"{FILE}.md5", None)]
    assert load_dataset("movielens", tmp_path).walks.labels(0) == ["1", "2"]


@pytest.mark.parametrize("ranges", [True, False])
@pytest.mark.parametrize("extra", [0, 50])
def test_a_part_that_is_whole_or_too_long(shelf, tmp_path, ranges, extra):
    whole, shelf.ranges = offer(shelf), ranges
    (tmp_path / ".downloads").mkdir()
    (tmp_path / ".downloads" / "ml-latest-small.zip.part").write_bytes(whole + b"x" * extra)
    get_dataset(NAME, tmp_path)
    assert load_dataset("movielens", tmp_path).walks.labels(0) == ["1", "2"]
    assert len(shelf.asked) == (3 if extra and ranges else 2)


def test_a_download_that_was_whole_is_not_fetched_again_after_a_kill(shelf, tmp_path):
    whole = offer(shelf)
    (tmp_path / ".downloads").mkdir()
    (tmp_path / ".downloads" / "ml-latest-small.zip").write_bytes(whole)
    half = tmp_path / "movielens" / ".ml-latest-small.0000.part"
    half.mkdir(parents=True)
    (half / "ratings.csv").write_bytes(RATINGS[:40])
    assert find_dataset("movielens", tmp_path) is None
    get_dataset(NAME, tmp_path)
    assert shelf.asked == []
    assert everything(tmp_path) == ["movielens/ml-latest-small/ratings.csv"]


def test_a_wrong_sum_is_thrown_away(shelf, tmp_path):
    offer(shelf)
    shelf.files[f"{FILE}.md5"] = b"MD5 (ml.zip) = " + b"0" * 32
    with pytest.raises(FileFormatError, match=r"has the md5 sum \w{32}, not the published 0{32}; rerun the command"):
        get_dataset(NAME, tmp_path)
    assert everything(tmp_path) == []
    shelf.files[f"{FILE}.md5"] = b"<html>"
    with pytest.raises(FileFormatError, match="contains no sum"):
        get_dataset(NAME, tmp_path)
    del shelf.files[f"{FILE}.md5"]
    with pytest.raises(FileFormatError, match=r"\.zip\.md5: cannot be downloaded"):
        get_dataset(NAME, tmp_path)


def test_a_wrong_size(shelf, tmp_path):
    size = len(offer(shelf))
    shelf.promises = 7
    with pytest.raises(FileFormatError, match=f"ended after {size} of {size + 7} bytes"):
        get_dataset(NAME, tmp_path)


def test_no_such_file_and_no_server(shelf, tmp_path, monkeypatch):
    with pytest.raises(
        FileFormatError, match=r"zip: cannot be downloaded \(the server responded with 404 Not Found\).*--from"
    ):
        get_dataset(NAME, tmp_path)
    lost = replace(registry.SOURCES[NAME], url="http://127.0.0.1:9/ml-latest-small.zip")
    monkeypatch.setitem(registry.SOURCES, NAME, lost)
    with pytest.raises(
        FileFormatError, match=r"^http://127.0.0.1:9/ml-latest-small.zip: cannot be down.* --from FILE.$"
    ):
        get_dataset(NAME, tmp_path)
    with pytest.raises(
        UnknownNameError, match="there is no dataset 'movielens' to get; the datasets are wikispeedia, "
    ):
        get_dataset("movielens", tmp_path)


# ---- archives -------------------------------------------------------------------------------------------------------


def linked() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        info = zipfile.ZipInfo("ratings.csv")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    return out.getvalue()


def damaged() -> bytes:
    content = bytearray(zipped({"ratings.csv": RATINGS}))
    content[45] ^= 255
    return bytes(content)


HOSTILE = {
    "up": (zipped({"../ratings.csv": RATINGS}), r"'../ratings.csv' leads out of the archive"),
    "deep": (zipped({"a/../../ratings.csv": RATINGS}), "leads out"),
    "root": (taped({"/ratings.csv": RATINGS}), "leads out"),
    "windows": (zipped({"..\\ratings.csv": RATINGS}), "leads out"),
    "drive": (zipped({"C:\\ratings.csv": RATINGS}), "leads out"),
    "after": (zipped({"ratings.csv": RATINGS, "../x": b""}), "leads out"),
    "zip link": (linked(), "is a link or a device"),
    "tar link": (taped({"ratings.csv": RATINGS}, link="movies.csv"), "is a link or a device"),
    "twice": (zipped({"a/ratings.csv": RATINGS, "b/ratings.csv": RATINGS}), "contains ratings.csv twice"),
    "bomb": (zipped({"ratings.csv": b"0" * 1_000_001}), "unpacks to more than this dataset can be"),
    "bombs": (zipped({"ratings.csv": b"0" * 600_000, "movies.csv": b"0" * 600_000}), "unpacks to more"),
    "other": (zipped({"letter.txt": b"dear"}), "contains no movielens; looked for ratings.csv"),
    "damaged": (damaged(), "cannot be unpacked"),
    "short": (taped({"ratings.csv": bytes(range(256)) * 500})[:-300], "cannot be unpacked"),
    "page": (b"<html>no</html>", "contains no movielens"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_archives_leave_nothing(shelf, tmp_path, case):
    archive, message = HOSTILE[case]
    offer(shelf, archive)
    cache = tmp_path / "a" / "b"
    with pytest.raises(FileFormatError, match=message):
        get_dataset(NAME, cache)
    assert everything(tmp_path) == []
    assert not list(cache.rglob(".*.part"))


# ---- copies ---------------------------------------------------------------------------------------------------------


def test_from_a_folder_an_archive_or_a_file(shelf, tmp_path):
    folder = tmp_path / "copy" / "ml-latest-small"
    folder.mkdir(parents=True)
    (folder / "ratings.csv").write_bytes(RATINGS)
    (folder / "private.txt").write_text("not wanted")
    archive = tmp_path / "any.zip"
    archive.write_bytes(zipped({"x/ratings.csv": RATINGS}))
    for number, origin in enumerate((folder, folder.parent, archive, folder / "ratings.csv")):
        got = get_dataset(NAME, tmp_path / str(number), origin)
        assert everything(got) == ["ratings.csv"]
    packed = tmp_path / "ratings_Books.csv.gz"
    packed.write_bytes(gzip.compress(b"ann,x,,1\n"))
    assert everything(get_dataset("books", tmp_path / "b", packed)) == ["ratings_Books.csv.gz"]
    assert shelf.asked == []


def test_bad_copies(shelf, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(FileFormatError, match=r"contains no movielens; looked for ratings.csv"):
        get_dataset(NAME, tmp_path, empty)
    with pytest.raises(FileFormatError, match="there is no such file"):
        get_dataset(NAME, tmp_path, tmp_path / "none")
    (tmp_path / "movielens" / "ml-latest-small").mkdir()
    (tmp_path / "movielens" / "ml-latest-small" / "notes").write_text("mine")
    (empty / "ratings.csv").write_bytes(RATINGS)
    with pytest.raises(GraphError, match="exists but contains no movielens; move it"):
        get_dataset(NAME, tmp_path, empty)


def test_a_cache_that_cannot_be_made(shelf, tmp_path):
    offer(shelf)
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CuriographError, match=r"cannot fill .* \(.*\); check permissions and space"):
        get_dataset(NAME, tmp_path / "file")
