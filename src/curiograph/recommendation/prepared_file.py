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

from curiograph.errors import FileFormatError
from curiograph.files import PathLike, as_path, check_file, open_atomic, wrap_parse_errors
from curiograph.graph.graph import Graph
from curiograph.messages import quote_value
from curiograph.recommendation.prepared import CuriousRanker, Part

_KINDS = {
    "starts": np.int32,
    "totals": np.float64,
    "offsets": np.int64,
    "nodes": np.int32,
    "visits": np.float32,
    "errors": np.float32,
}
_KEY = "curiograph parts"
"""Of the header's only entry: what each component's parts depend on. Several entries would come in any order."""

_WAY_OUT = "give the name of a new file, and the parts will be computed"

Arrays = dict[str, NDArray[Any]]


def save_parts(path: PathLike, graph: Graph, rankers: Mapping[str, CuriousRanker]) -> None:
    """Write what the rankers know about a graph; what a file holds of it stays. A file of another graph, or of the same
    component with other settings, is left as it is."""
    about = {name: ranker.about(graph) for name, ranker in rankers.items()}
    arrays = {name: _packed(ranker.kept.get(graph, {})) for name, ranker in rankers.items()}
    for name, (others, group) in _there(path).items():
        if others == about.get(name):
            with wrap_parse_errors(path, "parts"):
                arrays[name] = _packed(_unpacked(graph, group) | rankers[name].kept.get(graph, {}))
        else:
            wanted = about.get(name) or {"graph": next(iter(about.values()))["graph"]}
            _check_about(as_path(path), name, others, wanted)
            about[name], arrays[name] = others, group
    flat = {f"{name}.{kind}": array for name, group in arrays.items() for kind, array in group.items()}
    with open_atomic(path) as stream:
        stream.write(save(flat, metadata={_KEY: json.dumps(about, sort_keys=True)}))


def load_parts(path: PathLike, graph: Graph, rankers: Mapping[str, CuriousRanker]) -> None:
    """Let the rankers know what a file says about a graph: all of it, or nothing where anything is wrong."""
    path = check_file(path)
    groups = {name: group for name, group in _read(path).items() if name in rankers}
    if not groups:
        raise FileFormatError(f"{path}: holds no parts for {', '.join(rankers)}; {_WAY_OUT}.")
    found = {}
    for name, (about, arrays) in groups.items():
        _check_about(path, name, about, rankers[name].about(graph))
        with wrap_parse_errors(path, "parts"):
            found[name] = _unpacked(graph, arrays)
    for name, parts in found.items():
        rankers[name].kept.setdefault(graph, {}).update(parts)


def _there(path: PathLike) -> dict[str, tuple[dict[str, Any], Arrays]]:
    """What a file that is about to be replaced holds; one that is anything else is not overwritten."""
    if not as_path(path).exists():
        return {}
    try:
        return _read(check_file(path))
    except FileFormatError as error:
        raise FileFormatError(f"{error} It is left as it is; remove it, or give the name of a new file.") from None


def _read(path: Path) -> dict[str, tuple[dict[str, Any], Arrays]]:
    """Of every component in a file what its parts depend on, and their arrays."""
    with wrap_parse_errors(path, "parts"), safe_open(path, framework="numpy") as file:
        header = file.metadata() or {}
        if _KEY not in header:
            raise ValueError("its header does not say what its parts are of")
        about = {str(name): dict(each) for name, each in json.loads(header[_KEY]).items()}
        return {
            name: (each, {kind: file.get_tensor(f"{name}.{kind}") for kind in _KINDS}) for name, each in about.items()
        }


def _check_about(path: Path, name: str, given: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Raise where a file is about something else."""
    for what, value in wanted.items():
        if given.get(what) != value:
            known = quote_value(given.get(what))
            raise FileFormatError(f"{path}: its parts for {name!r} are of {what} {known}, not {value!r}; {_WAY_OUT}.")


def _packed(parts: Mapping[int, Part]) -> Arrays:
    starts = sorted(parts)
    some = [parts[v] for v in starts]
    values = {
        "starts": starts,
        "totals": [part.total for part in some],
        "offsets": np.cumsum([0, *(len(part.nodes) for part in some)]),
        "nodes": np.concatenate([part.nodes for part in some]) if some else [],
        "visits": np.concatenate([part.visits for part in some]) if some else [],
        "errors": np.concatenate([part.errors for part in some]) if some else [],
    }
    return {kind: np.asarray(values[kind], dtype) for kind, dtype in _KINDS.items()}


def _unpacked(graph: Graph, arrays: Arrays) -> dict[int, Part]:
    """The parts that arrays hold; ValueError where they do not fit together, or do not fit the graph."""
    for kind, dtype in _KINDS.items():
        if arrays[kind].dtype != dtype or arrays[kind].ndim != 1:
            raise ValueError(f"its {kind} are not a list of {np.dtype(dtype).name}")
    starts, totals, offsets, nodes, visits, errors = (arrays[kind] for kind in _KINDS)
    ordered = len(offsets) > 0 and offsets[0] == 0 and bool(np.all(np.diff(offsets) >= 0))
    fitting = len(starts) == len(totals) == len(offsets) - 1 and len(nodes) == len(visits) == len(errors)
    if not ordered or not fitting or offsets[-1] != len(nodes):
        raise ValueError("its arrays do not fit together")
    for positions in (starts, nodes):
        if len(positions) and not 0 <= positions.min() <= positions.max() < graph.num_nodes:
            raise ValueError("it names nodes that the graph does not have")
    if not (_ascending(starts, np.array([0, len(starts)])) and _ascending(nodes, offsets)):
        raise ValueError("its nodes are not in order")
    for numbers in (visits, totals):
        if not (np.all(np.isfinite(numbers)) and np.all(numbers > 0)):
            raise ValueError("it holds numbers that are not finite and above zero")
    if not (np.all(np.isfinite(errors)) and np.all(errors >= 0)):
        raise ValueError("it holds errors that are not finite, or negative")
    bounds = offsets.tolist()
    return {
        int(start): Part(nodes[a:b], visits[a:b], errors[a:b], float(total))
        for start, total, a, b in zip(starts, totals, bounds[:-1], bounds[1:], strict=True)
    }


def _ascending(nodes: NDArray[Any], offsets: NDArray[Any]) -> bool:
    """Whether the nodes between any two offsets are distinct and in order."""
    rises = np.diff(nodes) > 0
    rises[offsets[1:-1][(offsets[1:-1] > 0) & (offsets[1:-1] < len(nodes))] - 1] = True
    return bool(np.all(rises))
