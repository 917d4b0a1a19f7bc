"""Downloads from a local server that is interrupted, wrong or hostile."""

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
class ServerState:
    """Files of the server, its faults, and the requests it received."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    breaks_after: int | None = None
    extra_length: int = 0
    ranges: bool = True
    broken_chunks: bool = False
    requests: list[tuple[str, str | None]] = field(default_factory=list)


def make_handler(server: ServerState) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            given_range = self.headers.get("Range")
            server.requests.append((self.path, given_range))
            if self.path not in server.files:
                self.send_error(404)
                return
            whole = server.files[self.path]
            first = int(given_range.removeprefix("bytes=").rstrip("-")) if given_range and server.ranges else 0
            if first and first >= len(whole):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(whole)}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            if server.broken_chunks:
                self.send_response(200)
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                self.wfile.write(b"5\r\n" + whole[:5] + b"\r\nnonsense")
                return
            self.send_response(206 if first else 200)
            if first:
                self.send_header("Content-Range", f"bytes {first}-{len(whole) - 1}/{len(whole)}")
            self.send_header("Content-Length", str(len(whole) - first + server.extra_length))
            self.end_headers()
            self.wfile.write(whole[first : None if server.breaks_after is None else first + server.breaks_after])

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ServerState]:
    """A server that replaces those of the publishers."""
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.delenv("CURIOGRAPH_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    state = ServerState()
    http_server = ThreadingHTTPServer(("127.0.0.1", 0), make_handler(state))
    thread = threading.Thread(target=http_server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{http_server.server_port}"
    for name, source in registry.SOURCES.items():
        monkeypatch.setitem(
            registry.SOURCES,
            name,
            replace(source, url=f"{state.url}/{source.url.rpartition('/')[2]}", max_unpacked_megabytes=1),
        )
    yield state
    http_server.shutdown()
    thread.join()
    http_server.server_close()


def make_zip(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def make_tar(files: dict[str, bytes], link: str | None = None) -> bytes:
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


def serve_archive(server: ServerState, archive: bytes | None = None) -> bytes:
    """Serve a good archive, or a given one, with its md5 sum."""
    content = make_zip({"ml-latest-small/ratings.csv": RATINGS, "ml-latest-small/tags.csv": b"x"})
    server.files[FILE] = content if archive is None else archive
    server.files[f"{FILE}.md5"] = f"MD5 (ml.zip) = {hashlib.md5(server.files[FILE]).hexdigest()}\n".encode()
    return server.files[FILE]


def list_files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


# ---- downloads ------------------------------------------------------------------------------------------------------


def test_downloaded_dataset_is_found_by_name(server, tmp_path):
    serve_archive(server)
    reported: list[tuple[str, float]] = []
    folder = get_dataset(NAME, progress=lambda message, share: reported.append((message, share)))
    assert folder == tmp_path / "cache" / "curiograph" / "data" / "movielens" / "ml-latest-small"
    assert load_dataset("movielens").walks.labels(0) == ["1", "2"]
    assert list_files(tmp_path) == [str((folder / "ratings.csv").relative_to(tmp_path))]  # the only wanted file
    assert reported[-1] == ("0.0 of 0.0 MB", 1.0)
    server.requests.clear()
    assert get_dataset(NAME) == folder
    assert server.requests == []


def test_tar_archive_and_plain_file(server, tmp_path):
    games = {f"w/{name}": b"a\n" for name in ("articles.tsv", "links.tsv", "paths_finished.tsv")}
    server.files["/wikispeedia_paths-and-graph.tar.gz"] = make_tar(games)
    assert len(list_files(get_dataset("wikispeedia", tmp_path))) == 3
    server.files["/ratings_Books.csv"] = b"ann,x,,1\n"
    get_dataset("books", tmp_path)
    assert load_dataset("books", tmp_path).walks.labels(0) == ["x"]


def test_interrupted_download_resumes(server, tmp_path):
    whole = serve_archive(server)
    server.breaks_after = 100
    for _ in range(2):
        with pytest.raises(FileFormatError, match=r"rerun the command to resume"):
            get_dataset(NAME, tmp_path)
    part = tmp_path / ".downloads" / "ml-latest-small.zip.part"
    assert part.read_bytes() == whole[:200]
    server.breaks_after = None
    get_dataset(NAME, tmp_path)
    assert server.requests == [(FILE, None), (FILE, "bytes=100-"), (FILE, "bytes=200-"), (f"{FILE}.md5", None)]
    assert load_dataset("movielens", tmp_path).walks.labels(0) == ["1", "2"]


@pytest.mark.parametrize("ranges", [True, False])
@pytest.mark.parametrize("extra", [0, 50])
def test_part_that_is_complete_or_too_long(server, tmp_path, ranges, extra):
    whole, server.ranges = serve_archive(server), ranges
    (tmp_path / ".downloads").mkdir()
    (tmp_path / ".downloads" / "ml-latest-small.zip.part").write_bytes(whole + b"x" * extra)
    get_dataset(NAME, tmp_path)
    assert load_dataset("movielens", tmp_path).walks.labels(0) == ["1", "2"]
    assert len(server.requests) == (3 if extra and ranges else 2)


def test_complete_download_is_kept_after_an_interruption(server, tmp_path):
    whole = serve_archive(server)
    (tmp_path / ".downloads").mkdir()
    (tmp_path / ".downloads" / "ml-latest-small.zip").write_bytes(whole)
    half = tmp_path / "movielens" / ".ml-latest-small.0000.part"
    half.mkdir(parents=True)
    (half / "ratings.csv").write_bytes(RATINGS[:40])
    assert find_dataset("movielens", tmp_path) is None
    get_dataset(NAME, tmp_path)
    assert server.requests == []
    assert list_files(tmp_path) == ["movielens/ml-latest-small/ratings.csv"]


def test_download_with_wrong_md5_sum_is_deleted(server, tmp_path):
    serve_archive(server)
    server.files[f"{FILE}.md5"] = b"MD5 (ml.zip) = " + b"0" * 32
    with pytest.raises(FileFormatError, match=r"has the md5 sum \w{32}, not the published 0{32}; rerun the command"):
        get_dataset(NAME, tmp_path)
    assert list_files(tmp_path) == []
    server.files[f"{FILE}.md5"] = b"<html>"
    with pytest.raises(FileFormatError, match="contains no sum"):
        get_dataset(NAME, tmp_path)
    del server.files[f"{FILE}.md5"]
    with pytest.raises(FileFormatError, match=r"\.zip\.md5: cannot be downloaded"):
        get_dataset(NAME, tmp_path)


def test_wrong_size(server, tmp_path):
    size = len(serve_archive(server))
    server.extra_length = 7
    with pytest.raises(FileFormatError, match=f"ended after {size} of {size + 7} bytes"):
        get_dataset(NAME, tmp_path)


def test_broken_transfer(server, tmp_path):
    serve_archive(server)
    server.broken_chunks = True
    with pytest.raises(FileFormatError, match=r"\.zip: was interrupted \(.+\); rerun the command to resume\.$"):
        get_dataset(NAME, tmp_path)
    server.broken_chunks = False
    get_dataset(NAME, tmp_path)
    assert server.requests[1] == (FILE, "bytes=5-")
    assert load_dataset("movielens", tmp_path).walks.labels(0) == ["1", "2"]


def test_missing_file_and_missing_server(server, tmp_path, monkeypatch):
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


def make_zip_with_link() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        info = zipfile.ZipInfo("ratings.csv")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    return out.getvalue()


def make_damaged_zip() -> bytes:
    content = bytearray(make_zip({"ratings.csv": RATINGS}))
    content[45] ^= 255
    return bytes(content)


HOSTILE = {
    "up": (make_zip({"../ratings.csv": RATINGS}), r"'../ratings.csv' leads out of the archive"),
    "deep": (make_zip({"a/../../ratings.csv": RATINGS}), "leads out"),
    "root": (make_tar({"/ratings.csv": RATINGS}), "leads out"),
    "windows": (make_zip({"..\\ratings.csv": RATINGS}), "leads out"),
    "drive": (make_zip({"C:\\ratings.csv": RATINGS}), "leads out"),
    "after": (make_zip({"ratings.csv": RATINGS, "../x": b""}), "leads out"),
    "zip link": (make_zip_with_link(), "is a link or a device"),
    "tar link": (make_tar({"ratings.csv": RATINGS}, link="movies.csv"), "is a link or a device"),
    "twice": (make_zip({"a/ratings.csv": RATINGS, "b/ratings.csv": RATINGS}), "contains ratings.csv twice"),
    "bomb": (make_zip({"ratings.csv": b"0" * 1_000_001}), "unpacks to more than the size of this dataset"),
    "bombs": (make_zip({"ratings.csv": b"0" * 600_000, "movies.csv": b"0" * 600_000}), "unpacks to more"),
    "other": (make_zip({"letter.txt": b"dear"}), "contains no movielens; looked for ratings.csv"),
    "damaged": (make_damaged_zip(), "cannot be unpacked"),
    "short": (make_tar({"ratings.csv": bytes(range(256)) * 500})[:-300], "cannot be unpacked"),
    "page": (b"<html>no</html>", "contains no movielens"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_archives_leave_no_files(server, tmp_path, case):
    archive, message = HOSTILE[case]
    serve_archive(server, archive)
    cache = tmp_path / "a" / "b"
    with pytest.raises(FileFormatError, match=message):
        get_dataset(NAME, cache)
    assert list_files(tmp_path) == []
    assert not list(cache.rglob(".*.part"))


# ---- copies ---------------------------------------------------------------------------------------------------------


def test_copy_from_folder_archive_or_file(server, tmp_path):
    folder = tmp_path / "copy" / "ml-latest-small"
    folder.mkdir(parents=True)
    (folder / "ratings.csv").write_bytes(RATINGS)
    (folder / "private.txt").write_text("not wanted")
    archive = tmp_path / "any.zip"
    archive.write_bytes(make_zip({"x/ratings.csv": RATINGS}))
    for number, origin in enumerate((folder, folder.parent, archive, folder / "ratings.csv")):
        got = get_dataset(NAME, tmp_path / str(number), origin)
        assert list_files(got) == ["ratings.csv"]
    packed = tmp_path / "ratings_Books.csv.gz"
    packed.write_bytes(gzip.compress(b"ann,x,,1\n"))
    assert list_files(get_dataset("books", tmp_path / "b", packed)) == ["ratings_Books.csv.gz"]
    assert server.requests == []


def test_bad_origins(server, tmp_path):
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


def test_cache_that_cannot_be_filled(server, tmp_path):
    serve_archive(server)
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(CuriographError, match=r"cannot write to .* \(.*\); check permissions and space"):
        get_dataset(NAME, tmp_path / "file")
