"""The file of precomputed parts: safetensors, one group of arrays per curious component, whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save

from curiograph.centrality.parts import CuriousRanker, Part
from curiograph.errors import FileFormatError
from curiograph.graph.container import Graph
from curiograph.graph.storage import PathLike, check_file, replacing, usable

_KINDS = {"starts": np.int32, "totals": np.float64, "offsets": np.int64, "nodes": np.int32, "visits": np.float32}


def save_parts(path: PathLike, graph: Graph, rankers: Mapping[str, CuriousRanker]) -> None:
    """Write what the rankers know about a graph."""
    arrays = {
        f"{name}.{kind}": array
        for name, ranker in rankers.items()
        for kind, array in _packed(ranker.kept.get(graph, {})).items()
    }
    about = {name: json.dumps(ranker.about(graph)) for name, ranker in rankers.items()}
    with replacing(path) as stream:
        stream.write(save(arrays, metadata=about))


def load_parts(path: PathLike, graph: Graph, rankers: Mapping[str, CuriousRanker]) -> None:
    """Let the rankers know what a file says about a graph."""
    path = check_file(path)
    found: dict[str, dict[int, Part]] = {}
    with usable(path, "parts"), safe_open(path, framework="numpy") as file:
        about = file.metadata() or {}
        for name in rankers:
            if name in about:
                arrays = {kind: file.get_tensor(f"{name}.{kind}") for kind in _KINDS}
                found[name] = _unpacked(graph, arrays)
    for name, ranker in rankers.items():
        _check_about(path, name, about.get(name), ranker.about(graph))
        ranker.kept.setdefault(graph, {}).update(found[name])


def _check_about(path: Path, name: str, given: str | None, wanted: dict[str, Any]) -> None:
    """Raise where a file is about something else."""
    way_out = "give the name of a new file, and the parts will be computed"
    if given is None:
        raise FileFormatError(f"{path}: holds no parts for {name!r}; {way_out}.")
    with usable(path, "parts"):
        known = dict(json.loads(given))
    for what, value in wanted.items():
        if known.get(what) != value:
            raise FileFormatError(
                f"{path}: its parts for {name!r} are of {what} {known.get(what)!r}, not {value!r}; {way_out}."
            )


def _packed(parts: Mapping[int, Part]) -> dict[str, NDArray[Any]]:
    starts = sorted(parts)
    some = [parts[v] for v in starts]
    values = {
        "starts": starts,
        "totals": [part.total for part in some],
        "offsets": np.cumsum([0, *(len(part.nodes) for part in some)]),
        "nodes": np.concatenate([part.nodes for part in some]) if some else [],
        "visits": np.concatenate([part.visits for part in some]) if some else [],
    }
    return {kind: np.asarray(values[kind], dtype) for kind, dtype in _KINDS.items()}


def _unpacked(graph: Graph, arrays: dict[str, NDArray[Any]]) -> dict[int, Part]:
    """The parts that arrays hold; ValueError where they do not fit together, or do not fit the graph."""
    for kind, dtype in _KINDS.items():
        if arrays[kind].dtype != dtype or arrays[kind].ndim != 1:
            raise ValueError(f"its {kind} are not a list of {np.dtype(dtype).name}")
    starts, totals, offsets, nodes, visits = (arrays[kind] for kind in _KINDS)
    ordered = len(offsets) > 0 and offsets[0] == 0 and bool(np.all(np.diff(offsets) >= 0))
    fitting = len(starts) == len(totals) == len(offsets) - 1 and len(nodes) == len(visits)
    if not ordered or not fitting or offsets[-1] != len(nodes):
        raise ValueError("its arrays do not fit together")
    for positions in (starts, nodes):
        if len(positions) and not 0 <= positions.min() <= positions.max() < graph.num_nodes:
            raise ValueError("it names nodes that the graph does not have")
    if not (np.all(np.isfinite(visits)) and np.all(np.isfinite(totals)) and np.all(totals > 0)):
        raise ValueError("it holds numbers that are not finite and above zero")
    bounds = offsets.tolist()
    return {
        int(start): Part(nodes[a:b], visits[a:b], float(total))
        for start, total, a, b in zip(starts, totals, bounds[:-1], bounds[1:], strict=True)
    }
