"""Published sets of graphs without walks: those of the paper, and sixteen real networks; their files and hashes."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

_FIRST = "7c98e81e5fdb27170d8f78f7cea0f60609d92e41/Environments"
_SECOND = "65e2d05b4aef9457c30ad3fdc3ca6215dc3f5810/Environments"
PAPER_FILES = {
    f"{_FIRST}/synthetic_BA_medium.json": "872cf1f6b52c2c63141c295da807aa8845d198e72eb10f61793b2ec4796cff3a",
    f"{_FIRST}/synthetic_ER_medium.json": "e6dac8a8ec1b2e466c467b3cf0d61862e485a58e0214b4864a13144a24e395c3",
    f"{_FIRST}/synthetic_RG_medium.json": "64999d20b2c83b22df17cda6baad8c53817627c4dfa2057ad179411751f5dfef",
    f"{_SECOND}/synthetic_WS_medium.json": "c601198217eee5545350c02408d3ec78d3183c6a87510013b2860bd1094d274c",
}
"""Hashes of the files of the paper's graphs by commit and path in their repository."""
NETWORK_FILES = (
    *(f"graphs_{family}_samples_undirected.mat" for family in ("Animal", "Citation", "Music", "Protein")),
    *(f"graphs_{family}_samples_directed.mat" for family in ("Semantic", "Social", "Transportation", "Web")),
)
"""MATLAB files with samples of real networks; each variable is a cell array of adjacency matrices."""
REAL_NETWORKS = {
    "animal-dolphins.tsv": "3fb910d224163d758d5606fe1aa7d4bdf25c37d140412101365cafc8436494bd",
    "animal-lake.tsv": "742df07bd0cb1cf90b741dda68b752808f4fc8ad3b55eeca6ad9355bc44e5eae",
    "animal-macaques.tsv": "52ae521836265554699c8be5ccffab3777941aa63222f83d3105415a9ba82e72",
    "animal-sheep.tsv": "26d255633b8cec51c839da46853a2fd400c3145b76fc04c2d5430836e2ce9092",
    "animal-zebras.tsv": "172b146b772dce3dc18570819a175926fa68232284e23dd73e1e1018d215add2",
    "citation-cora.tsv": "408cfde3f76cdb325d110cf9e711efca1006976f681ca2c7d7b034e4d8be0440",
    "citation-dblp.tsv": "232b0c46a7840d53b795735922bbb2ea155ec6a13b350307e2102b9105ed7c6d",
    "music-africa.tsv": "fb82056b90a9c25f99ba2a650d772666a6ef99cd94b31205c575942b2b691816",
    "music-beethoven.tsv": "bcbeb2f9e3fe584f7371b9679e6f9ddeb26b9916849ac35347b346a6ee8c8a69",
    "music-mozart.tsv": "a67b737945b449b6114db6d36f78a49d58e4adaf7f43a79f2caa5078c2c6705f",
    "protein-celegans.tsv": "1acd4fa85bb129dcf22a9f4afe09080f45fd0d0e81a03a9ba9cc90b88846047f",
    "semantic-odlis-directed.tsv": "2eeac01c3320e4fd1e594b0378a8bc9fb83357bf51e7231e6e076cba906ab470",
    "semantic-roget-directed.tsv": "0b450f0f4603ab14215bb698f4de5503c5be791ead532251b6f60588eadce364",
    "social-highschool-directed.tsv": "77fd631ceeb494f42ae1b6c860be52a7676875361fefc17c6e03bf33034826bf",
    "transportation-chicago-directed.tsv": "3ac77dd7427d1f210857aa0bb7ee8c44af59d846fbb8e6a0bb1ba5739054bd39",
    "web-blogs-directed.tsv": "08cfcb392c13a4e0d60d5218f0e66beb4d8da840250bc15373a9ba262c6ddeb8",
}
"""Hashes of the edge lists of the sixteen real networks by file; NAME-directed.tsv is directed."""


def extract_networks(files: Iterable[Path], out: Path) -> None:
    """Find the sixteen real networks among the samples of MATLAB files by their hashes, and write their edge lists."""
    from scipy.io import loadmat

    missing = {digest: name for name, digest in REAL_NETWORKS.items()}
    out.mkdir()
    for file in files:
        cells = [cell for cell in loadmat(file).values() if isinstance(cell, np.ndarray) and cell.dtype == object]
        for matrix in (matrix for cell in cells for matrix in cell.flat):
            text = format_links(matrix, directed=file.stem.endswith("_directed"))
            if name := missing.pop(sha256(text).hexdigest(), None):
                (out / name).write_bytes(text)
    if missing:
        raise ValueError(f"its files have no {', '.join(missing.values())}")


def format_links(matrix: Any, directed: bool) -> bytes:
    """Format the edge list of the largest weakly connected component of an adjacency matrix, without loops and weights.

    Nodes are numbered in the order of the matrix; links are sorted, and an undirected one is listed once.

    >>> format_links([[1, 2, 0], [2, 0, 0], [0, 0, 3]], directed=False)
    b'0\\t1\\n'
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    links = csr_array(matrix)
    component = connected_components(links, directed=True, connection="weak")[1]
    kept = np.flatnonzero(component == np.bincount(component).argmax())
    source, target = links[kept][:, kept].nonzero()
    listed = source != target if directed else source < target
    pairs = sorted(zip(source[listed].tolist(), target[listed].tolist(), strict=True))
    return "".join(f"{u}\t{v}\n" for u, v in pairs).encode()
