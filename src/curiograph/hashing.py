"""The hash function of all checksums and identifiers: SHA-256."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable


def hash_chunks(chunks: Iterable[str | bytes | memoryview]) -> str:
    """Return the SHA-256 of texts and buffers, one after the other, in hexadecimal.

    >>> hash_chunks(["curio", b"graph"]) == hash_chunks(["curiograph"])
    True
    """
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk.encode(errors="surrogatepass") if isinstance(chunk, str) else chunk)
    return digest.hexdigest()
