"""Real networks in a folder of edge lists."""

from __future__ import annotations

import os
from pathlib import Path

from curiograph.errors import FileFormatError, SettingError
from curiograph.files import PathLike, as_path
from curiograph.graph.graph import Graph
from curiograph.graph.io.read import read_graph

FOLDER = "real-networks"
"""Name of the folder of real networks in a folder of datasets."""
_DIRECTED = "-directed"


def find_networks(folder: PathLike | None = None) -> Path | None:
    """Return the folder of the real networks: `folder`, its subfolder real-networks, or that of CURIOGRAPH_DATA.

    Returns None if no folder is given and CURIOGRAPH_DATA has none; raises if a given folder has no networks.
    """
    given = os.environ.get("CURIOGRAPH_DATA") if folder is None else folder
    if not given:
        return None
    root = as_path(given)
    for place in (root / FOLDER, root) if folder is not None else (root / FOLDER,):
        if place.is_dir() and any(place.glob("*.tsv")):
            return place
    if folder is None:
        return None
    raise FileFormatError(f"{root}: has no edge lists (*.tsv) and no folder {FOLDER} with edge lists; check its name.")


def require_networks(folder: PathLike | None = None) -> Path:
    """Return the folder of the real networks as `find_networks` does; raise if there is none."""
    found = find_networks(folder)
    if found is None:
        raise SettingError(
            "there are no real networks: set CURIOGRAPH_DATA to a folder of datasets that contains "
            f"{FOLDER}, or give a folder of edge lists with --from DIR."
        )
    return found


def list_networks(folder: Path) -> dict[str, Path]:
    """Return the edge lists in a folder by name, without `-directed` and extension."""
    paths = {path.stem.removesuffix(_DIRECTED): path for path in sorted(folder.glob("*.tsv"))}
    if len(paths) < len(list(folder.glob("*.tsv"))):
        raise FileFormatError(f"{folder}: has a network both as NAME.tsv and as NAME{_DIRECTED}.tsv; remove one.")
    return paths


def read_network(path: Path) -> Graph:
    """Read an edge list; it is directed if its name ends in `-directed.tsv`."""
    return read_graph(path, directed=path.stem.endswith(_DIRECTED))
