"""A folder with graphs and logs, good and messy, in which the commands are run."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import people

WALKS = [
    "music,physics,chemistry,biology,philosophy,logic",
    "dance,music,mathematics,logic,computing,philosophy",
    "poetry,music,mathematics,computing,logic,philosophy",
]
EVENTS = """Reader;Page;Date;condition
ann;music;2026-05-31T10:00;guided
ann;physics;2026-05-31T10:01;guided
ann;physics;2026-05-31T10:02;guided
bob;dance;2026-05-31T09:00;free
bob;music;2026-05-31T09:05;free
ann;mathematics;2026-05-31T10:03;guided
ann;;2026-05-31T10:04;guided
bob;nowhere;2026-05-31T09:06;free
bob;poetry;soon;free
bob;mathematics;2026-06-02;free
cid;logic;2026-05-31;free
cid;computing;2026-06-01;free
dora;biology;2026-05-31;guided
dora;chemistry;2026-06-01;guided
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: a graph, a log of events with bad rows, walks, items that users like, and bad files."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CURIOGRAPH_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")  # no download
    monkeypatch.delenv("no_proxy", raising=False)
    (tmp_path / "data").mkdir()
    (tmp_path / "cache").mkdir()
    (tmp_path / "links.tsv").write_text("source\ttarget\na\tb\nb\tc\nc\td\nd\ta\nd\te\n")
    (tmp_path / "people.txt").write_text("\n".join(WALKS * 5) + "\n")
    (tmp_path / "events.csv").write_text("\ufeff" + EVENTS.replace("\n", "\r\n"))
    likes = [f"{user},{item},{time}" for user, item, time in people.tastes(users=30, items=20, visits=12)]
    (tmp_path / "likes.csv").write_text("\n".join(["who,what,when", *likes]) + "\n")
    (tmp_path / "broken.json").write_text('{"nodes": [')
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "broken.safetensors").write_text("broken")
    return tmp_path
