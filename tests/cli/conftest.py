"""Fixtures of the tests of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def links(tmp_path: Path) -> Path:
    """An edge list of five nodes."""
    path = tmp_path / "links.tsv"
    path.write_text("source\ttarget\na\tb\nb\tc\nc\td\nd\ta\nd\te\n")
    return path


@pytest.fixture
def bad_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with a graph and files that cannot be used."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "links.tsv").write_text("a\tb\nb\tc\n")
    (tmp_path / "negative.csv").write_text("source,target,weight\na,b,-1\n")
    (tmp_path / "alone.json").write_text('{"nodes": [{"id": "a"}, {"id": "b"}], "links": []}')
    (tmp_path / "unknown.txt").write_text("a,b\na,zz\n")
    (tmp_path / "empty.txt").write_text("a,b\n,,\n")
    (tmp_path / "nothing.txt").write_text("# no walks\n")
    (tmp_path / "broken.safetensors").write_text("broken")
    return tmp_path
