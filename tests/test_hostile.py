"""Damaged and forged graph files: every reader returns a sound graph or raises one sentence."""

from __future__ import annotations

import io
import random
from pathlib import Path

import networkx
import numpy as np
import pytest
import scipy.io
from hypothesis import given, settings
from hypothesis import strategies as st

import curiograph as cg

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

ODD = (
    b"", b"\0", b"\xff" * 8, b"\xef\xbb\xbf", b"\n", b"\r", b"\t", b",", b'"', b"#", b"[" * 3000, b'{"a":' * 3000,
    b"9" * 10_000, b"-1", b"1e999", b"NaN", b"null", rb"\ud800", b"&#xD800;", b"<!DOCTYPE a [<!ENTITY b 'c'>]>",
    b"PK\x03\x04", b"\x1f\x8b", (2**62).to_bytes(8, "little"), (2**31).to_bytes(4, "little"), b"x" * 5000, b"<",
)  # fmt: skip
"""Pieces that readers stumble over."""


def write_samples(ending: str, folder: Path) -> list[bytes]:
    """Return sound files of a format."""
    path = folder / f"sound{ending}"
    plain = cg.Graph.from_edges([("a", "b"), ("b", "c"), ("a", "c"), ("ü", "a")])
    weighted = cg.Graph.from_edges([(3, 10**9, 0.5), (7, 3, 2.0)], directed=True)
    found = []
    for graph in (plain, weighted):
        if ending == ".gexf":
            networkx.write_gexf(graph.to_networkx(), path)
        else:
            cg.write_graph(graph, path)
        found.append(path.read_bytes())
    return found


ENDINGS = [".tsv", ".csv", ".txt", ".graphml", ".gml", ".gexf", ".json", ".safetensors"]
"""Formats that the service accepts; scipy may crash on a damaged .mat."""


@pytest.fixture(scope="module")
def samples(tmp_path_factory) -> dict[str, list[bytes]]:
    return {ending: write_samples(ending, tmp_path_factory.mktemp("sound")) for ending in ENDINGS}


def spoil(data: bytes, chance: random.Random) -> bytes:
    """Cut out, double, replace or truncate pieces of a file."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4))):
        begin = chance.randrange(len(changed) + 1)
        span = slice(begin, begin + chance.choice((1, 2, 8, 30, 200)))
        piece = chance.choice((b"", bytes(changed[span]) * 2, chance.choice(ODD), chance.randbytes(1)))
        changed[span] = piece
        if not chance.randrange(8):
            del changed[chance.randrange(len(changed) + 1) :]
    return bytes(changed)


def check_outcome(path: Path) -> None:
    """Read a graph: its rows must be sound, or the error one short sentence."""
    try:
        graph = cg.read_graph(path)
    except cg.CuriographError as error:
        message = str(error).replace(str(path), "")
        if len(message) > 700 or "\n" in message:
            pytest.fail(f"the message is not one sentence: {message[:1000]}")
        return
    indptr, indices, size = graph.indptr, graph.indices, graph.num_nodes
    assert indptr[0] == 0
    assert indptr[-1] == len(indices)
    assert np.all(np.diff(indptr) >= 0)
    assert len(indices) == 0 or 0 <= indices.min() <= indices.max() < size
    assert len(set(graph.labels)) == size
    if graph.weights is not None:
        assert np.all(np.isfinite(graph.weights) & (graph.weights >= 0))


@pytest.mark.parametrize("ending", ENDINGS)
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32))
def test_damaged_files(tmp_path_factory, samples, ending, seed):
    chance = random.Random(seed)
    path = tmp_path_factory.getbasetemp() / f"damaged{ending}"
    path.write_bytes(spoil(chance.choice(samples[ending]), chance))
    check_outcome(path)


@pytest.mark.parametrize("ending", ENDINGS)
@settings(max_examples=15)
@given(pieces=st.lists(st.one_of(st.binary(max_size=40), st.sampled_from(ODD)), max_size=5))
def test_arbitrary_bytes(tmp_path_factory, ending, pieces):
    path = tmp_path_factory.getbasetemp() / f"any{ending}"
    path.write_bytes(b"".join(pieces))
    check_outcome(path)


def test_entities_do_not_expand(tmp_path):
    entities = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 12))
    bomb = f'<!DOCTYPE b [<!ENTITY a0 "{"lol" * 10}">{entities}]><graphml>&a11;</graphml>'
    for ending in ("graphml", "gexf"):
        (tmp_path / f"bomb.{ending}").write_text(bomb)
        with pytest.raises(cg.FileFormatError):
            cg.read_graph(tmp_path / f"bomb.{ending}")


def test_a_full_matrix_of_many_rows_is_not_unpacked(tmp_path):
    made = io.BytesIO()
    scipy.io.savemat(made, {"A": np.zeros((9000, 9000), np.uint8)}, do_compression=True)
    (tmp_path / "large.mat").write_bytes(made.getvalue())
    with pytest.raises(cg.FileFormatError, match="9,000 rows"):
        cg.read_graph(tmp_path / "large.mat")
