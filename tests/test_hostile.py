"""Files that are damaged or lie: every reader gives something sound or one sentence, in bounded time and memory."""

from __future__ import annotations

import io
import json
import os
import random
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from hypothesis import given, settings
from hypothesis import strategies as st

from support.hostile import ODD, READERS, spoiled

pytestmark = pytest.mark.filterwarnings("ignore:.*was taken for a comment")

EVERY = pytest.mark.parametrize("name", READERS)


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    """A folder for every reader, with what it needs beside its file."""
    return {name: tmp_path_factory.mktemp("hostile") for name in READERS}


@pytest.fixture(scope="module")
def samples(folders) -> dict[str, list[bytes]]:
    return {name: reader.samples(folders[name]) for name, reader in READERS.items()}


@EVERY
def test_valid_files_are_read(name, folders, samples):
    for sample in samples[name]:
        assert READERS[name].outcome(sample, folders[name]) is None


@EVERY
@settings(max_examples=30)
@given(seed=st.integers(0, 2**32))
def test_mutated_files_raise_clear_errors(name, seed, folders, samples):
    chance = random.Random(seed)
    READERS[name].outcome(spoiled(chance.choice(samples[name]), chance), folders[name])


@EVERY
@settings(max_examples=15)
@given(pieces=st.lists(st.one_of(st.binary(max_size=40), st.sampled_from(ODD)), max_size=5))
def test_arbitrary_bytes_raise_clear_errors(name, pieces, folders, samples):
    READERS[name].outcome(b"".join(pieces), folders[name])


@pytest.mark.long
@EVERY
def test_many_mutated_files_raise_clear_errors(name, folders, samples):
    chance = random.Random(0)
    for _ in range(5000):
        READERS[name].outcome(spoiled(chance.choice(samples[name]), chance), folders[name])


@pytest.mark.long
@EVERY
def test_files_truncated_at_every_length(name, folders, samples):
    for sample in samples[name]:
        for length in range(len(sample)):
            READERS[name].outcome(sample[:length], folders[name])


# ---- what claims to be huge ------------------------------------------------------------------------------------------

Cases = Iterator[tuple[str, str, bytes]]


def tensors(samples: dict[str, list[bytes]]) -> Cases:
    """Headers of safetensors that claim more than there is, and cards of megabytes."""
    for name in ("agent", "parts", "checkpoint"):
        data = samples[name][0]
        (size,) = struct.unpack("<Q", data[:8])
        header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
        first = next(key for key in header if key != "__metadata__")
        for claimed in (2**60, 2**40, 2**33, 10**8):
            yield name, f"a header of {claimed} bytes", struct.pack("<Q", claimed) + data[8:]
        for shape in ([2**62], [2**40], [2**31, 2**31], [2**62, 4], [0, 2**62]):
            yield name, f"an array of {shape}", packed(header | {first: header[first] | {"shape": shape}}, body)
        for what, text in {
            "nested cards": "[" * 100_000,
            "long words": json.dumps({"format": "x" * 10**6, "kind": "y" * 10**6, "shape": {"z" * 10**6: 1}}),
            "many digits": '{"format": ' + "9" * 10_000 + "}",
            "half a character": '{"format": 1, "kind": "\\ud800", "shape": {}}',
        }.items():
            yield name, what, packed(header | {"__metadata__": dict.fromkeys(header["__metadata__"], text)}, body)
        yield name, "a nested header", struct.pack("<Q", 10**6 + 16) + b'{"__metadata__":' + b"[" * 10**6
        yield name, "an array of a long name", packed(header | {"x" * 10**6: header[first]}, body)


def packed(header: dict, body: bytes) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def archives(samples: dict[str, list[bytes]]) -> Cases:
    """Arrays of shapes that no memory holds, bombs, and directories that lie."""
    for name, array, text in (("npz", "indices", "meta"),):
        data = samples[name][0]
        shapes = (
            "(4611686018427387904,)", "(1099511627776,)", "(17179869184,)", "(2147483648, 2147483648)", "(-1,)",
            f"({'9' * 4000},)", "(" * 90 + ")" * 90,
        )  # fmt: skip
        for shape in shapes:
            yield name, f"shape {shape[:40]}", changed(data, array, npy("<i4", shape, bytes(64)))
        yield name, "a pickle", changed(data, array, npy("|O", "(1,)", b"\x80\x04."))
        yield name, "nested names", changed(data, text, npy("|u1", "(2097152,)", b"[" * 2**21))
        end = data.rfind(b"PK\x05\x06")
        yield name, "many members", data[: end + 8] + b"\xff" * 4 + data[end + 12 :]
        numbers = struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, 2**60, 2**60, 2**60, 2**62)
        zip64 = b"PK\x06\x06" + numbers + b"PK\x06\x07" + struct.pack("<IQI", 0, end, 1)
        yield name, "zip64", data[:end] + zip64 + b"PK\x05\x06" + bytes(4) + b"\xff" * 12 + bytes(2)


def npy(kind: str, shape: str, numbers: bytes) -> bytes:
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + numbers


def changed(data: bytes, name: str, content: bytes) -> bytes:
    """An archive with another content for one of its members."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(made, "w") as to:
        for member in archive.namelist():
            to.writestr(member, content if member == f"{name}.npy" else archive.read(member))
    return made.getvalue()


def texts(samples: dict[str, list[bytes]]) -> Cases:
    """Nesting, digits and names beyond all measure, and characters that are none."""
    long = "x" * 10**6
    for name in ("json", "split", "run", "log", "reviews"):
        yield name, "nested lists", b'{"nodes":' + b"[" * 10**5
        yield name, "nested objects", b'{"a":' * 10**5
        yield name, "many digits", b'{"nodes":[{"id":' + b"9" * 10_000 + b'}],"links":[]}'
    yield "json", "a long name twice", json.dumps({"nodes": [{"id": long}, {"id": long}], "links": []}).encode()
    ends = [{"source": long, "target": "a"}]
    yield "json", "a long name that is missing", json.dumps({"nodes": [{"id": "a"}], "links": ends}).encode()
    yield "json", "a long direction", json.dumps({"directed": long, "nodes": [], "links": []}).encode()
    yield "json", "half a character twice", b'{"nodes":[{"id":"\\ud800"},{"id":"\\ud800"}],"links":[]}'
    yield "json", "a line break", b'{"nodes":[{"id":"a\\nb"},{"id":"a\\nb"}],"links":[]}'
    yield "split", "a long key", json.dumps({long: 1}).encode()
    yield "split", "half a character", b'{"train":{"\\ud800\\n":1},"val":{},"test":{}}'
    yield "split", "a long graph", json.dumps({"train": {long: 1}, "val": {}, "test": {}}).encode()
    inside = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{}</graphml>'
    yield "graphml", "nested tags", inside.format("<a>" * 10**5 + "</a>" * 10**5).encode()
    yield "graphml", "nested graphs", inside.format("<graph>" * 10**4 + "</graph>" * 10**4).encode()
    deep = inside.format("<graph><node id='a'>" * 10**4 + "</node></graph>" * 10**4)
    yield "graphml", "graphs in nodes", deep.encode()
    yield "gml", "nested lists", b"graph [ a [" * 10**4
    yield "gml", "many digits", b"graph [ node [ id " + b"9" * 10**5 + b" ] ]"
    yield "gml", "half a character twice", b'graph [ node [ id 1 label "&#55296;" ] node [ id 2 label "&#55296;" ] ]'
    yield "gml", "an open text", b'graph [ a "' + b"x\n" * 10**5
    for name, mark in (("tsv", "\t"), ("csv", ","), ("txt", " "), ("edges", " ")):
        yield name, "many digits", f"a{mark}b{mark}{'9' * 10**5}\n".encode()
        yield name, "a long number", f"{'9' * 10**5}{mark}b\n{'a' * 10**6}{mark}c\n".encode()
        yield name, "many fields", mark.join("ab" * 10**5).encode()
    yield "csv", "a long quote", b'"' + b"x" * 200_000 + b'",b\n'
    yield "csv", "an open quote", b'"' + b"x\n" * 10**5
    yield "articles", "half a character", b"%ED%A0%80\nA\n"
    yield "games", "many clicks", b"ann\t1\t1\t" + b"A;" * 10**5 + b"A\tNULL\n"
    yield "ratings", "two long columns", b"userId,userId,rating,timestamp" + b"x" * 10**6 + b"\n"
    yield "titles", "a long name twice", b"movieId,title,genres\n" + 2 * (b"1" * 500_000 + b",Heat,x\n")


def bombs(samples: dict[str, list[bytes]]) -> Cases:
    """Files of megabytes that unpack to gigabytes."""
    zeros = io.BytesIO()
    scipy.io.savemat(zeros, {"A": np.zeros((2, 2))})
    head, body = zeros.getvalue()[:128], zeros.getvalue()[136:]
    sizes = struct.pack("<ii", 8000, 8000)
    bomb = body[:24] + sizes + body[32:48] + struct.pack("<II", 9, 8 * 8000**2)
    packer = zlib.compressobj(1)
    blocks = [packer.compress(struct.pack("<II", 14, 2**31) + bomb)]
    blocks += [packer.compress(bytes(2**24)) for _ in range(191)]
    packed_bomb = b"".join([*blocks, packer.flush()])
    yield "mat", "a bomb of zeros", head + struct.pack("<II", 15, len(packed_bomb)) + packed_bomb


CHILD = """
import json, resource, sys, time, warnings
from pathlib import Path
from support.hostile import READERS
warnings.simplefilter("ignore")
folder = Path(sys.argv[1])
for name, reader in READERS.items():
    (folder / name).mkdir(exist_ok=True)
    reader.outcome(reader.samples(folder / name)[0], folder / name)  # whatever it loads is loaded
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for file in sorted(folder.glob("*.case")):
    name = file.name.split(" ")[0]
    begun = time.process_time()
    try:
        outcome = READERS[name].outcome(file.read_bytes(), folder / name)
    except BaseException as error:
        outcome = f"FAILED {type(error).__name__}: {str(error)[:300]}"
    print(json.dumps([file.name, outcome, time.process_time() - begun]), flush=True)
print(json.dumps(["peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 0]))
"""


def judged(cases: Cases, folder: Path, megabytes: int) -> dict[str, str | None]:
    """What a process of its own says to every case, after a look at its time and memory; None is sound."""
    for number, (name, what, data) in enumerate(cases):
        (folder / f"{name} {number:03d} {what}.case").write_bytes(data)
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(folder)], capture_output=True, text=True, timeout=600, check=False,
        env=os.environ | {"PYTHONPATH": path},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    *rows, (_, peak, _) = map(json.loads, done.stdout.splitlines())
    assert [row for row in rows if str(row[1]).startswith("FAILED")] == []
    assert [row for row in rows if row[2] > 20] == []
    assert peak < megabytes * 1024
    return {name: outcome for name, outcome, _ in rows}


def test_headers_with_huge_sizes_are_rejected(samples, tmp_path):
    judged((case for kind in (tensors, archives) for case in kind(samples)), tmp_path, 300)


@pytest.mark.long
def test_oversized_texts_are_rejected(samples, tmp_path):
    judged(texts(samples), tmp_path, 1000)


@pytest.mark.long
def test_decompression_bombs_are_rejected(samples, tmp_path):
    refused = judged(bombs(samples), tmp_path, 1500)
    assert all(refused.values())
    assert sum("unpacks to" in str(message) for message in refused.values()) == 1
