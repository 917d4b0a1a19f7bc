"""Hostile heads, bodies and uploads for the service, as large as its limits allow."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

MEGABYTE = 2**20
_PATHS = ("look", "measure", "explore", "rank", "recommend")


def create_bodies(size: int) -> Iterator[tuple[str, str, bytes]]:
    """Yield the name, the path and the content of bodies of at most `size` bytes."""

    def repeat(start: bytes, unit: bytes, end: bytes) -> bytes:
        return start + unit * ((size - len(start) - len(end)) // len(unit)) + end

    def fill(field: str, unit: bytes, last: bytes) -> bytes:
        return repeat(b'{"graph": "toy:library", "%b": [' % field.encode(), unit + b",", last + b"]}")

    units = {
        "empty lists": b"[]",
        "empty objects": b"{}",
        "nulls": b"null",
        "zeros": b"0",
        "labels": b'"music"',
        "unknown labels": b'"x"',
        "floats": b"1e-300",
        "huge integers": b"9" * 400,
        "nested lists": b"[" * 50 + b"]" * 50,
        "walks": b'["music"]',
        "escapes": b'"\\ud800\\u0000"',
    }
    for field in ("walk", "walks", "history", "histories", "exclude", "filter"):
        path = {"walk": "look", "walks": "measure"}.get(field, "recommend")
        for name, unit in units.items():
            yield f"{field} of {name}", path, fill(field, unit, unit)
    length = min(500, size // 5_000)
    for path, field in (("recommend", "histories"), ("measure", "walks")):
        for label in ('"1"', "1", '"music"', '"x"'):
            walk = f"[{','.join([label] * length)}]"
            walks = ",".join([walk] * min(1_000, size // (len(walk) + 2)))
            for graph in ("toy:library", "rg"):
                content = f'{{"graph": "{graph}", "{field}": [{walks}]}}'.encode()
                yield f"{field} of {length} labels {label} of {graph}", path, content
    many = json.dumps({f"field{i}": i for i in range(size // 25)}).encode()
    for path in _PATHS:
        yield f"many fields to {path}", path, many
        yield f"open brackets to {path}", path, b"[" * size
    deep = b'{"a":' * (size // 6)
    for path in ("look", "recommend"):
        yield f"open objects to {path}", path, deep
        yield f"blanks to {path}", path, b" " * size
        yield f"zero bytes to {path}", path, bytes(size)
        yield f"not UTF-8 to {path}", path, b"\xff" * size
        yield f"one string to {path}", path, repeat(b'{"graph": "', b"a", b'"}')
        yield f"one number to {path}", path, repeat(b'{"graph": "rg", "k": ', b"9", b"}")
        yield f"one name to {path}", path, repeat(b'{"', b"a", b'": 1}')
        yield f"the same name to {path}", path, repeat(b"{", b'"graph": "rg",', b'"graph": "rg"}')
    for field in ("agent", "reward", "candidates", "unknown", "fallback", "start"):
        yield f"long {field}", "explore", json.dumps({"graph": "rg", field: "+igt" * (size // 5)}).encode()[:size]


def create_heads(size: int) -> Iterator[tuple[str, list[bytes], float]]:
    """Yield the name, the pieces and the seconds between pieces of request lines and headers of `size` bytes."""
    start, piece = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n", 2**16
    yield "an endless request line", [b"GET /"] + [b"a" * piece] * (size // piece), 0.0
    yield "an endless header", [start + b"a: "] + [b"a" * piece] * (size // piece), 0.0
    yield "an endless name", [start] + [b"a" * piece] * (size // piece), 0.0
    yield "endless headers", [start] + [b"a: b\r\n" * (piece // 6)] * (size // piece), 0.0
    yield "slow headers", [start] + [b"a: b\r\n"] * 200, 0.1
    yield "an endless chunk", [start + b"Transfer-Encoding: chunked\r\n\r\n"] + [b"0" * piece] * (size // piece), 0.0


def create_uploads(size: int) -> Iterator[tuple[str, str, bytes]]:
    """Yield the name, the file name and the content of uploads of at most `size` bytes, or five times that."""
    numbers = np.random.default_rng(0).integers(0, 10**6, (size // 16, 2))
    edges = "".join(f"{u},{v}\n" for u, v in numbers.tolist()).encode()
    texts = {
        "long labels": b"".join(b"%0500d,%0500d\n" % (i, i + 1) for i in range(size // 200)),  # five times as large
        "too long labels": b"".join(b"%010000d,b\n" % i for i in range(size // 2_000)),
        "newlines": b"\n" * size,
        "blank lines": b" \t \n" * (size // 4),
        "comments": b"#\n" * (size // 2),
        "one line": b"a" * size,
        "one field after the other": b"a," * (size // 2),
        "random edges": edges,
        "the same edge": b"a,b\n" * (size // 4),
        "a star": b"".join(b"a,%07d\n" % i for i in range(size // 10)),
        "quoted names": b'"a""b","c"\n' * (size // 11),
        "an open quote": b'"' + b"a\n" * (size // 2 - 1),
        "quotes": b'"' * size,
        "zero bytes": bytes(size),
        "not UTF-8": b"\xff" * size,
        "carriage returns": b"a,b\r" * (size // 4),
        "long names": (b"a" * 90_000 + b"," + b"b" * 90_000 + b"\n") * (size // 180_002),
    }
    for name, content in texts.items():
        both = name in ("newlines", "comments", "the same edge", "blank lines", "quotes")
        for extension in (".csv", ".txt") if both else (".csv",):
            yield f"{name} as {extension}", f"a{extension}", content
    gml = b"graph [\n" + b"node [ id 1 ]\n" * (size // 14 - 1)
    xml = b'<graphml><graph edgedefault="undirected">' + b'<node id="a"/>' * (size // 14 - 4)
    entities = [f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10)]  # which expand to gigabytes
    yield from (
        ("open GML lists", "a.gml", b"graph [ a [" + b"a [ " * (size // 4 - 4)),
        ("one GML value", "a.gml", b"graph [ a " + b"9" * (size - 12) + b" ]"),
        ("GML strings", "a.gml", b'graph [ a "' + b"&#38;" * (size // 5 - 4) + b'" ]'),
        ("GML nodes", "a.gml", gml + b"]"),
        ("GML without an end", "a.gml", gml),
        ("GML newlines", "a.gml", b"\n" * size),
        ("XML nodes", "a.graphml", xml + b"</graph></graphml>"),
        ("open XML elements", "a.graphml", b"<a>" * (size // 3)),
        ("XML attributes", "a.graphml", b"<a " + b"".join(b'a%d="" ' % i for i in range(size // 12)) + b"/>"),
        ("XML entities", "a.graphml", f'<!DOCTYPE a [<!ENTITY a0 "a">{"".join(entities)}]><a>&a9;</a>'.encode()),
        ("open JSON lists", "a.json", b"[" * size),
        ("open JSON objects", "a.json", b'{"a":' * (size // 5)),
        ("JSON links", "a.json", b'{"nodes": [], "links": [' + b"{}," * (size // 3 - 20) + b"{}]}"),
        ("JSON nodes", "a.json", b'{"links": [], "nodes": [' + b'{"id":1},' * (size // 9 - 20) + b'{"id":2}]}'),
        ("JSON numbers", "a.json", b"[" + b"9" * (size - 2) + b"]"),
        ("own file", "a.safetensors", (size - 8).to_bytes(8, "little") + b"[" * (size - 8)),
        ("no extension", "a", b"a,b\n"),
        ("unknown extension", "a.exe", b"a,b\n"),
        ("two extensions", "a.csv.gz", b"\x1f\x8b" * (size // 2)),
    )
