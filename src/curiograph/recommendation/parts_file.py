"""Prepared parts of curious rankers: compute those of many nodes, write them to a file, and read them back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.errors import FileFormatError, quote_value
from curiograph.files import PathLike, as_path, check_file
from curiograph.graph.graph import Graph
from curiograph.parallel import Engine
from curiograph.parallel.fingerprint import hash_values
from curiograph.progress import Progress
from curiograph.recommendation.curious_ranker import CuriousRanker, Part
from curiograph.tensors import map_tensors, open_tensors, write_tensors

Arrays = dict[str, NDArray[Any]]

_VERSION = 3  # of the computation and of the file
_TASK_NODES = 16  # prepared in one task; a stopped preparation loses at most the tasks that are running
_DTYPES = {
    "starts": np.int32,
    "totals": np.float64,
    "offsets": np.int64,
    "nodes": np.int32,
    "visits": np.float32,
    "errors": np.float32,
}
_HEADER_KEY = "curiograph parts"  # the only entry of the header, since the order of several would vary
_FIX = "give the name of a new file, and the parts will be computed"


def prepare_parts(
    graph: Graph, rankers: Mapping[str, CuriousRanker], nodes: Sequence[int], engine: Engine, progress: Progress
) -> None:
    """Compute the parts of some positions, which an engine with a run folder resumes."""
    tasks = [list(nodes[first : first + _TASK_NODES]) for first in range(0, len(nodes), _TASK_NODES)]
    threads = None if engine.backend == "local" and engine.workers == 1 else 1  # of each process
    settings = {name: replace(ranker, kept={}, workers=threads or ranker.workers) for name, ranker in rankers.items()}
    results = engine.map(
        _compute_task,
        (graph, settings),
        tasks,
        name="prepare",
        key=[{name: ranker.describe(graph) for name, ranker in rankers.items()}] if engine.run else [],
        unit="nodes",
        sizes=[len(task) for task in tasks],
        progress=progress,
    )
    for result in results:
        for name, ranker in rankers.items():
            parts = _unpack_parts({kind: result[f"{name}.{kind}"] for kind in _DTYPES})
            ranker.kept.setdefault(graph, {}).update(parts)


def _compute_task(shared: tuple[Graph, Mapping[str, CuriousRanker]], nodes: list[int]) -> Arrays:
    """Task function: the parts of some positions for every ranker, as arrays."""
    graph, rankers = shared
    return {
        f"{name}.{kind}": array
        for name, ranker in rankers.items()
        for kind, array in _pack_parts(dict(zip(nodes, ranker.compute_parts(graph, nodes), strict=True))).items()
    }


# ---- files ----------------------------------------------------------------------------------------------------------


def save_parts(path: PathLike, graph: Graph, rankers: Mapping[str, CuriousRanker]) -> None:
    """Write the parts of a graph to a .safetensors file; those of other rankers on this graph that it holds stay."""
    descriptions = {name: ranker.describe(graph) for name, ranker in rankers.items()}
    arrays = {name: _pack_parts(ranker.kept.get(graph, {})) for name, ranker in rankers.items()}
    same_graph = next(iter(descriptions.values()))["graph"]
    if as_path(path).exists():
        for name, (description, group) in _read_file(check_file(path)).items():
            if name not in rankers and description["graph"] == same_graph:
                descriptions[name], arrays[name] = description, group
    flat = {f"{name}.{kind}": array for name, group in arrays.items() for kind, array in group.items()}
    header = {"version": _VERSION, "checksum": _hash_content(descriptions, flat), "rankers": descriptions}
    write_tensors(path, flat, {_HEADER_KEY: json.dumps(header, sort_keys=True)})


def load_parts(path: PathLike, graph: Graph, rankers: Mapping[str, CuriousRanker]) -> None:
    """Load the parts of a graph into the rankers; raise FileFormatError, and load nothing, if any of them is wrong."""
    path = check_file(path)
    groups = {name: group for name, group in _read_file(path).items() if name in rankers}
    if not groups:
        raise FileFormatError(f"{path}: holds no parts for {', '.join(rankers)}; {_FIX}.")
    for name, (description, _) in groups.items():
        for entry, value in rankers[name].describe(graph).items():
            if description[entry] != value:
                found = quote_value(description[entry])
                raise FileFormatError(f"{path}: its parts for {name!r} are of {entry} {found}, not {value!r}; {_FIX}.")
    for name, (_, arrays) in groups.items():
        rankers[name].kept.setdefault(graph, {}).update(_unpack_parts(arrays))


def read_alpha(path: PathLike) -> float:
    """Return the alpha that the parts of a file were prepared with."""
    with open_tensors(check_file(path), "parts file", _FIX) as file:
        rankers = json.loads((file.metadata() or {})[_HEADER_KEY])["rankers"]
        return float(next(iter(rankers.values()))["alpha"])


def _read_file(path: Path) -> dict[str, tuple[dict[str, Any], Arrays]]:
    """Return the description and the arrays of every ranker in a file; the arrays are mapped into memory."""
    metadata, flat = map_tensors(path, "parts file", _FIX)
    try:
        header = json.loads(metadata[_HEADER_KEY])
        version, descriptions, checksum = (header[key] for key in ("version", "rankers", "checksum"))
    except (KeyError, TypeError, ValueError):
        raise FileFormatError(f"{path}: is not a parts file; {_FIX}.") from None
    if version != _VERSION or checksum != _hash_content(descriptions, flat):
        raise FileFormatError(f"{path}: is damaged or of version {quote_value(version)}, not {_VERSION}; {_FIX}.")
    return {name: (each, {kind: flat[f"{name}.{kind}"] for kind in _DTYPES}) for name, each in descriptions.items()}


def _hash_content(descriptions: Any, flat: Arrays) -> str:
    text = json.dumps(descriptions, sort_keys=True).encode()
    return hash_values(np.frombuffer(text, np.uint8), *(flat[name] for name in sorted(flat)))


def _pack_parts(parts: Mapping[int, Part]) -> Arrays:
    starts = sorted(parts)
    ordered = [parts[v] for v in starts]
    values = {
        "starts": starts,
        "totals": [part.total for part in ordered],
        "offsets": np.cumsum([0, *(len(part.nodes) for part in ordered)]),
        "nodes": np.concatenate([np.empty(0, np.int32), *(part.nodes for part in ordered)]),
        "visits": np.concatenate([np.empty(0, np.float32), *(part.visits for part in ordered)]),
        "errors": np.concatenate([np.empty(0, np.float32), *(part.errors for part in ordered)]),
    }
    return {kind: np.asarray(values[kind], dtype) for kind, dtype in _DTYPES.items()}


def _unpack_parts(arrays: Arrays) -> dict[int, Part]:
    starts, totals, offsets, nodes, visits, errors = (arrays[kind] for kind in _DTYPES)
    bounds = pairwise(offsets.tolist())
    return {
        start: Part(nodes[a:b], visits[a:b], errors[a:b], total)
        for start, total, (a, b) in zip(starts.tolist(), totals.tolist(), bounds, strict=True)
    }
