"""Prepared parts of rankers: compute those of many nodes, in memory or in a file, and read the file back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.errors import FileFormatError, quote_value
from curiograph.files import PathLike, as_path, check_file, hash_chunks, open_atomic
from curiograph.graph.graph import Graph
from curiograph.parallel import Engine
from curiograph.progress import Progress
from curiograph.recommendation.parts import PartRanker, Parts
from curiograph.tensors import ArrayChunks, hash_data, map_tensors, open_tensors, stream_tensors

Arrays = dict[str, NDArray[Any]]
Rankers = Mapping[str, PartRanker]

_VERSION = 5  # of the computation and of the file
_TASK_NODES = 128  # prepared in one task; a stopped preparation loses at most the tasks that are running
_DTYPES = {"starts": np.int32, "totals": np.float64, "offsets": np.int64, "nodes": np.int32, "visits": np.float32}
_HEADER_KEY = "curiograph parts"
_FIX = "prepare the nodes again, in a new file (curiograph recommend GRAPH --prepare --parts FILE)"


def prepare_parts(graph: Graph, rankers: Rankers, nodes: Sequence[int], engine: Engine, progress: Progress) -> None:
    """Compute the parts of some positions, which an engine with a run folder resumes."""
    for _, result in _compute_tasks(graph, rankers, nodes, engine, progress):
        for name, ranker in rankers.items():
            kept = ranker.kept.setdefault(graph, {})
            kept.update(Parts({kind: result[f"{name}.{kind}"] for kind in _DTYPES}))


def prepare_file(
    path: PathLike,
    graph: Graph,
    rankers: Rankers,
    nodes: Sequence[int],
    engine: Engine,
    progress: Progress,
    settings: Mapping[str, Any] | None = None,
) -> None:
    """Compute the parts of some positions, in ascending order, into a file; memory holds only those of a few tasks.

    `settings` are the arguments that make the `Recommender`.
    """
    descriptions = {name: ranker.describe(graph) for name, ranker in rankers.items()}
    if as_path(path).exists():
        _read_header(check_file(path))  # only a file of parts is replaced
    with open_atomic(path) as stream, TemporaryFile(dir=as_path(path).absolute().parent) as spool:
        places: dict[tuple[int, str], tuple[int, int]] = {}  # of the arrays of each task in the file
        for index, result in _compute_tasks(graph, rankers, nodes, engine, progress):
            for key, array in result.items():
                places[index, key] = spool.tell(), len(array)
                spool.write(np.ascontiguousarray(array).data)

        def read_chunks(key: str, dtype: Any) -> Iterator[NDArray[Any]]:
            for index in range(-(-len(nodes) // _TASK_NODES)):
                place, length = places[index, key]
                spool.seek(place)
                yield np.frombuffer(spool.read(length * np.dtype(dtype).itemsize), dtype)

        flat = {}
        for name in rankers:
            sizes = [np.diff(bounds) for bounds in read_chunks(f"{name}.offsets", np.int64)]
            offsets = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
            flat[f"{name}.offsets"] = ArrayChunks(np.int64, len(offsets), [offsets])
            lengths = {"starts": len(nodes), "totals": len(nodes), "nodes": offsets[-1], "visits": offsets[-1]}
            for kind, length in lengths.items():
                key, dtype = f"{name}.{kind}", _DTYPES[kind]
                flat[key] = ArrayChunks(dtype, int(length), read_chunks(key, dtype))

        def make_metadata(data: str) -> dict[str, str]:
            content = {"settings": settings, "rankers": descriptions}
            header = {"version": _VERSION, "checksum": _hash_content(content, data), **content}
            return {_HEADER_KEY: json.dumps(header, sort_keys=True)}

        stream_tensors(stream, flat, make_metadata)


def _compute_tasks(
    graph: Graph, rankers: Rankers, nodes: Sequence[int], engine: Engine, progress: Progress
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield number and result of each task as they finish."""
    tasks = [list(nodes[first : first + _TASK_NODES]) for first in range(0, len(nodes), _TASK_NODES)]
    in_process = engine.backend == "local" and engine.workers == 1
    settings = {
        name: replace(ranker, kept={}, workers=ranker.workers if in_process else 1) for name, ranker in rankers.items()
    }
    return engine.iterate(
        _compute_task,
        (graph, settings),
        tasks,
        name="prepare",
        key=[{name: ranker.describe(graph) for name, ranker in rankers.items()}] if engine.run else [],
        unit="nodes",
        sizes=[len(task) for task in tasks],
        progress=progress,
    )


def _compute_task(shared: tuple[Graph, Rankers], nodes: list[int]) -> Arrays:
    """Task function: the parts of some positions, ascending, for every ranker, as arrays."""
    graph, rankers = shared
    arrays = {}
    for name, ranker in rankers.items():
        part_nodes, visits, totals, _ = zip(*ranker.compute_parts(graph, nodes), strict=True)
        offsets = [0, *accumulate(map(len, part_nodes))]
        columns = (nodes, totals, offsets, np.concatenate(part_nodes), np.concatenate(visits))
        for (kind, dtype), column in zip(_DTYPES.items(), columns, strict=True):
            arrays[f"{name}.{kind}"] = np.asarray(column, dtype)
    return arrays


def load_parts(path: PathLike, graph: Graph, rankers: Rankers) -> None:
    """Load the parts of a graph into the rankers; raise FileFormatError, and load nothing, if any of them is wrong."""
    path = check_file(path)
    content, checksum = _read_header(path)
    arrays, descriptions = map_tensors(path, "parts file", _FIX)[1], content["rankers"]
    if checksum != _hash_content(content, hash_data(path)):
        raise FileFormatError(f"{path}: is damaged; {_FIX}.")
    if missing := [name for name in rankers if name not in descriptions]:
        raise FileFormatError(f"{path}: holds no parts for {', '.join(missing)}; {_FIX}.")
    for name, ranker in rankers.items():
        for entry, value in ranker.describe(graph).items():
            found = descriptions[name].get(entry)
            if found != value:
                raise FileFormatError(
                    f"{path}: its parts for {name!r} are of {entry} {quote_value(found)}, not {value!r}; {_FIX}."
                )
    for name, ranker in rankers.items():
        parts = Parts({kind: arrays[f"{name}.{kind}"] for kind in _DTYPES})
        parts.update(ranker.kept.get(graph, {}))
        ranker.kept[graph] = parts


def read_settings(path: PathLike) -> dict[str, Any]:
    """Return the arguments of the `Recommender` that a file was prepared with: ranker, alpha, weights and seed."""
    settings: dict[str, Any] | None = _read_header(check_file(path))[0]["settings"]
    if settings is None:
        raise FileFormatError(f"{path}: was prepared for a ranker that was made in Python; load it there.")
    return settings


def _read_header(path: Path) -> tuple[dict[str, Any], str]:
    """Return the settings and the descriptions of the rankers in a file, and the checksum."""
    with open_tensors(path, "parts file", _FIX) as file:
        metadata = file.metadata() or {}
    try:
        header = json.loads(metadata[_HEADER_KEY])
        version, checksum = header["version"], header["checksum"]
    except (KeyError, TypeError, ValueError):
        raise FileFormatError(f"{path}: is not a parts file; {_FIX}.") from None
    if version != _VERSION:
        raise FileFormatError(f"{path}: is of version {quote_value(version)}, not {_VERSION}; {_FIX}.")
    return {key: header[key] for key in ("settings", "rankers")}, checksum


def _hash_content(content: Any, data: str) -> str:
    return hash_chunks([json.dumps(content, sort_keys=True), data])
