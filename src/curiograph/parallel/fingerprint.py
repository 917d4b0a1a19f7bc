"""What tells a graph, an agent or a reward from all others, the same in every process: results are found by it."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.errors import SettingError
from curiograph.graph.graph import Graph
from curiograph.graph.labels import IntegerLabels, Labels, RangeLabels, TextLabels


def hash_values(*arrays: NDArray[Any] | None) -> str:
    """A short name for the content of arrays.

    >>> hash_values(np.arange(3)) == hash_values(np.array([0, 1, 2])), hash_values(np.arange(3)) == hash_values(np.arange(4))
    (True, False)
    """
    made = hashlib.sha256()
    for array in arrays:
        made.update(b"" if array is None else np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return made.hexdigest()[:16]


def hash_graph(graph: Graph) -> str:
    """A short name for a graph: its edges and weights, and its labels, which agents and rewards of one's own see."""
    directed = np.asarray([graph.directed])
    return hash_values(directed, graph.indptr, graph.indices, graph.weights, *_labels(graph.names))


def _labels(names: Labels) -> list[NDArray[Any]]:
    if isinstance(names, RangeLabels):
        return []
    if isinstance(names, IntegerLabels):
        return [names.values]
    if isinstance(names, TextLabels):
        return [names.offsets, names.blob]
    made = hashlib.sha256()
    for label in names:
        made.update(f"{label!r}\n".encode(errors="surrogatepass"))
    return [np.frombuffer(made.digest(), np.uint8)]


def fingerprint(kind: str, thing: Any) -> str:
    """A name for an agent or a reward.

    Ours are told by name, shape and network; of one's own only its author knows when it has become another.

    >>> class Mine:
    ...     name, fingerprint = "mine", "2"
    >>> fingerprint("agent", Mine())
    'mine 2'
    """
    ours = type(thing).__module__.startswith("curiograph.") and not hasattr(thing, "fingerprint")
    if not ours and getattr(thing, "fingerprint", None) is None:
        raise SettingError(
            f"the {kind} {thing.name!r} is your own, so a file cannot tell whether it is still the same; give it an "
            "attribute `fingerprint`, a text that changes whenever it does."
        )
    if not ours:
        return f"{thing.name} {thing.fingerprint}"
    if hasattr(thing, "guide"):
        return f"{thing.name} {fingerprint(kind, thing.guide)}"
    if not hasattr(thing, "network"):
        return str(thing.name)
    arrays = [thing.network[name] for name in sorted(thing.network)]  # a file may hold them in another order
    return f"{thing.name} {thing.shape} {hash_values(*arrays)}"
