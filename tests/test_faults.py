"""Faults of the machine: a full disk."""

from __future__ import annotations

import errno
import os
from typing import NoReturn

import pytest

import curiograph as cg


def save_parts(path):
    recommender = cg.Recommender(cg.toys.library())
    recommender.prepare(["music"], file=path)


WRITERS = {
    "agent.safetensors": lambda path: cg.save_agent(cg.load_agent("igt-rg"), path),
    "parts.safetensors": save_parts,
    "walk.gif": lambda path: cg.explore(cg.toys.library(), "max-degree", steps=3).animate(path),
} | {
    f"graph{end}": lambda path: cg.write_graph(cg.toys.library(), path)
    for end in (".safetensors", ".tsv", ".csv", ".graphml", ".gml", ".json")
}


def fill_disk(descriptor: int) -> NoReturn:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("name", WRITERS)
def test_full_disk_is_reported_and_the_old_file_kept(name, tmp_path, monkeypatch):
    WRITERS[name](tmp_path / name)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    monkeypatch.setattr(os, "fsync", fill_disk)
    with pytest.raises(cg.CuriographError, match="the disk is full"):
        WRITERS[name](tmp_path / name)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_full_disk_gets_one_sentence_and_exit_code_2(run, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", fill_disk)
    ran = run("explore", "toy:library", "--agent", "max-degree", "--out", tmp_path / "out.json")
    assert (ran.code, ran.err.count("\n"), list(tmp_path.iterdir())) == (2, 1, [])
    assert "the disk is full" in ran.err
