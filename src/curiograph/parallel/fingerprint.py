"""Identifiers of arrays, graphs, agents and rewards that are equal in every process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph.errors import SettingError
from curiograph.files import hash_chunks
from curiograph.graph.graph import Graph


def hash_values(*arrays: NDArray[Any] | None) -> str:
    """Return a short hash of the content of arrays.

    >>> hash_values(np.arange(3)) == hash_values(np.array([0, 1, 2]))
    True
    """
    contents = (np.ascontiguousarray(array).reshape(-1).view(np.uint8).data for array in arrays if array is not None)
    return hash_chunks(contents)[:16]


def fingerprint(kind: str, thing: Any) -> str:
    """Return a text that identifies an agent or a reward.

    Those of curiograph are identified by name, shape and network. A user's own needs an attribute `fingerprint`.

    >>> class Mine:
    ...     name, fingerprint = "mine", "2"
    >>> fingerprint("agent", Mine())
    'mine 2'
    """
    if hasattr(thing, "terms"):  # a sum of rewards
        return "+".join(f"{weight!r}*{fingerprint(kind, term)}" for weight, term in thing.terms)
    if getattr(thing, "fingerprint", None) is not None:
        return f"{thing.name} {thing.fingerprint}"
    if hasattr(thing, "fingerprint") or not type(thing).__module__.startswith("curiograph."):
        raise SettingError(
            f"the {kind} {thing.name!r} is your own, so stored results cannot be matched to it; give it an attribute "
            "`fingerprint`, a text that changes whenever it does."
        )
    if not hasattr(thing, "network"):
        return str(thing.name)
    arrays = [thing.network[name] for name in sorted(thing.network)]  # files may hold them in any order
    return f"{thing.name} {thing.shape} {hash_values(*arrays)}"


def hash_key(values: Sequence[Any]) -> str:
    """Return a short hash of graphs, arrays, agents, rewards, dataclasses and JSON values.

    >>> hash_key([np.arange(3), "igt", 0]) == hash_key([np.array([0, 1, 2]), "igt", 0])
    True
    """
    return hash_chunks(_describe(value) + "\n" for value in values)[:16]


def _describe(value: Any) -> str:
    if value is None or isinstance(value, str | int | float | np.generic):
        return repr(value)
    if isinstance(value, np.ndarray):
        return f"{value.dtype.str} {value.shape} {hash_values(value)}"
    if isinstance(value, Graph):
        labels = hash_chunks(f"{label!r}\n" for label in value.names)
        arrays = hash_values(value.indptr, value.indices, value.weights, value.loops)
        return f"directed {value.directed} {labels} {arrays}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {_describe(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_describe, value)) + "]"
    is_agent_or_reward = hasattr(value, "track") or (hasattr(value, "scores") and hasattr(value, "run"))
    if is_dataclass(value) and not isinstance(value, type) and not is_agent_or_reward:
        return type(value).__name__ + _describe([getattr(value, field.name) for field in fields(value)])
    return fingerprint("agent or reward", value)
