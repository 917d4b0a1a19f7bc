"""Curious PageRank as a ranker, from parts that are computed once per node and can be saved.

Walkers forget their path at a teleport, so the expected visits from a history are the mean of those from its nodes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.agents.registry import AgentLike, as_agent
from curiograph.arrays import Float32, Float64, Int32
from curiograph.centrality.curious_pagerank import make_start_states
from curiograph.centrality.history import check_alpha
from curiograph.centrality.rank_transition import check_p_g
from curiograph.centrality.swarm import SwarmLimits, WalkerPolicy, simulate_swarm
from curiograph.errors import FileFormatError, SettingError
from curiograph.exploration.mdp import Candidates, Fallback, check_fallback
from curiograph.files import PathLike, as_path, check_file, wrap_parse_errors
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph
from curiograph.messages import quote_value
from curiograph.parallel.fingerprint import fingerprint, hash_values
from curiograph.recommendation.ranker import Ranker
from curiograph.recommendation.rankers import look_up_values
from curiograph.rewards.registry import RewardLike, as_reward
from curiograph.tensors import open_tensors, write_tensors
from curiograph.validation import check_integer, check_seed, resolve_workers

_VERSION = 1
"""Version of the computation; parts of other versions are not used."""
_MIN_VISITS = 1e-7
"""Smallest expected visits that are kept, far below the precision of the simulation."""
_TAIL = 1e-2
"""Share of visits, the last ones, that sampled walkers omit: less than their error, and the most costly."""
_GROUPS = 4
"""Independent swarms per node, whose spread gives the standard error."""
_DENSE_RATIO = 8
"""If more than one in so many nodes is a candidate, sums are computed for all nodes at once."""


@dataclass(frozen=True, eq=False)
class Part:
    """Expected visits between teleports from one start node."""

    nodes: Int32
    """Positions, ascending."""
    visits: Float32
    """Expected visits of `nodes`."""
    errors: Float32
    """Standard errors of `visits`; zero if all paths were followed."""
    total: float
    """Sum of the expected visits of all nodes, including those not kept."""


@dataclass(frozen=True, eq=False)
class CuriousRanker(Ranker):
    """Curious PageRank of the candidates; the parts of visited nodes are kept for later users.

    Examples
    --------
    >>> import curiograph as cg
    >>> ranker = cg.CuriousRanker("greedy", reward="igt")
    >>> ranker.prepare(cg.toys.library(), cg.toys.library().labels)
    12
    """

    agent: AgentLike = "greedy"
    """Agent that biases the walkers."""
    reward: RewardLike = "igt"
    """Reward for agents that use one."""
    alpha: float = 0.85
    """Probability to continue instead of teleporting."""
    p_g: float = 0.5
    """Parameter of the rank transition: 0 always takes the best candidate, 1 takes all with equal probability."""
    walks: int = 256
    """Number of walkers per node of a history."""
    fallback: Fallback = "frontier"
    """Candidates at a dead end, as in `explore`."""
    seed: int = 0
    """Random seed."""
    name: str = "curious"
    """Name of the ranker."""
    zero_is_unreached = True
    workers: int | None = field(default=None, repr=False)
    """Number of threads. Default: one per processor."""
    kept: dict[Graph, dict[int, Part]] = field(default_factory=dict, repr=False)
    """Parts computed or loaded so far, by graph and position."""

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        check_p_g(self.p_g)
        check_fallback(self.fallback)
        check_seed(self.seed)
        check_integer("walks", self.walks, 1, "give the walkers per node, 1 or more")
        object.__setattr__(self, "agent", as_agent(self.agent))
        object.__setattr__(self, "reward", as_reward(self.reward))

    def scores(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        return self._sum_parts(graph, histories, candidates, "visits", 1)

    def errors(self, graph: Graph, histories: Sequence[Int32], candidates: Candidates) -> Float64:
        return np.sqrt(self._sum_parts(graph, histories, candidates, "errors", 2))

    def _sum_parts(
        self, graph: Graph, histories: Sequence[Int32], candidates: Candidates, kind: str, power: int
    ) -> Float64:
        """Sum a power of visits or errors over each history, divided by the same power of the total visits."""
        visited = np.unique(np.concatenate([*histories, np.empty(0, np.int32)])).astype(np.int32)
        all_parts = self._get_parts(graph, visited)
        sums = np.empty(len(candidates.nodes))
        for history, (a, b) in zip(histories, pairwise(candidates.offsets.tolist()), strict=True):
            parts, wanted = [all_parts[v] for v in history.tolist()], candidates.nodes[a:b]
            if _DENSE_RATIO * len(wanted) > graph.num_nodes and any(len(wanted) > len(part.nodes) for part in parts):
                nodes = np.concatenate([part.nodes for part in parts])
                values = np.concatenate([getattr(part, kind) for part in parts]).astype(np.float64)
                found = np.bincount(nodes, values**power, graph.num_nodes)[wanted]
            else:
                found = np.asarray(
                    sum(look_up_values(part.nodes, getattr(part, kind), wanted) ** power for part in parts)
                )
            sums[a:b] = found / sum(part.total for part in parts) ** power
        return sums

    def prepare(self, graph: Graph, labels: Sequence[Any]) -> int:
        """Compute the parts of some nodes in advance; return the number of parts of the graph."""
        if isinstance(labels, (str, bytes)):
            raise SettingError(f"the labels to prepare are {quote_value(labels)}; give a list of them.")
        return len(self._get_parts(graph, np.unique(graph.positions(labels)).astype(np.int32)))

    def _get_parts(self, graph: Graph, nodes: Int32) -> dict[int, Part]:
        """Return the kept parts of a graph, after computing the missing ones of `nodes`."""
        kept = self.kept.setdefault(graph, {})
        missing = [v for v in nodes.tolist() if v not in kept]
        if missing:
            policy = WalkerPolicy(
                stack=GraphBatch.of([graph]),
                agent=as_agent(self.agent),
                reward=as_reward(self.reward),
                p_g=self.p_g,
                fallback=self.fallback,
                workers=resolve_workers(self.workers),
            )
            kept.update((v, self._compute_part(policy, v)) for v in missing)
        return kept

    def _compute_part(self, policy: WalkerPolicy, node: int) -> Part:
        """Simulate walkers from a node: along all paths if they are few, otherwise sampled."""
        start = make_start_states(np.asarray([node], np.int32), self.seed)
        limits = SwarmLimits(size=-(-self.walks // _GROUPS), alpha=self.alpha, tail=_TAIL, groups=_GROUPS)
        streams = kernels.random.make_streams(start.streams[0], 0, _GROUPS)
        visits = simulate_swarm(policy, start, np.ones(1), limits, streams)
        by_group = visits.compute_expected(np.asarray([self.alpha]))[0]
        mean = by_group.mean(axis=0)
        errors = by_group.std(axis=0, ddof=1) / np.sqrt(len(by_group)) if visits.sampled else np.zeros(len(mean))
        kept = mean > _MIN_VISITS
        return Part(
            nodes=visits.touched[kept].astype(np.int32),
            visits=mean[kept].astype(np.float32),
            errors=errors[kept].astype(np.float32),
            total=float(mean.sum()),
        )

    def describe(self, graph: Graph) -> dict[str, Any]:
        """Return everything that determines the parts of a graph, as JSON values."""
        shape = np.array([graph.num_nodes, graph.directed])
        return {
            "version": _VERSION,
            "graph": hash_values(shape, graph.indptr, graph.indices, graph.weights),
            "agent": fingerprint("agent", as_agent(self.agent)),
            "reward": fingerprint("reward", as_reward(self.reward)),
            "alpha": self.alpha,
            "p_g": self.p_g,
            "walks": self.walks,
            "fallback": self.fallback,
            "seed": self.seed,
        }


# ---- files ----------------------------------------------------------------------------------------------------------

Arrays = dict[str, NDArray[Any]]

_DTYPES = {
    "starts": np.int32,
    "totals": np.float64,
    "offsets": np.int64,
    "nodes": np.int32,
    "visits": np.float32,
    "errors": np.float32,
}
_HEADER_KEY = "curiograph parts"
"""Only entry of the header, since the order of several would vary: the descriptions of all components."""
_FIX = "give the name of a new file, and the parts will be computed"


def save_parts(path: PathLike, graph: Graph, rankers: Mapping[str, CuriousRanker]) -> None:
    """Write the parts of a graph to a .safetensors file; parts of the same graph that it holds already are kept.

    Raise FileFormatError, and leave the file as it is, if it belongs to another graph or to other settings.
    """
    descriptions = {name: ranker.describe(graph) for name, ranker in rankers.items()}
    arrays = {name: _pack_parts(ranker.kept.get(graph, {})) for name, ranker in rankers.items()}
    if as_path(path).exists():
        try:
            existing = _read_file(check_file(path))
        except FileFormatError as error:
            raise FileFormatError(f"{error} It is left as it is; remove it, or give the name of a new file.") from None
        for name, (description, group) in existing.items():
            if description == descriptions.get(name):
                with wrap_parse_errors(path, "parts"):
                    arrays[name] = _pack_parts(_unpack_parts(graph, group) | rankers[name].kept.get(graph, {}))
            else:
                wanted = descriptions.get(name) or {"graph": next(iter(descriptions.values()))["graph"]}
                _check_description(as_path(path), name, description, wanted)
                descriptions[name], arrays[name] = description, group
    flat = {f"{name}.{kind}": array for name, group in arrays.items() for kind, array in group.items()}
    write_tensors(path, flat, {_HEADER_KEY: json.dumps(descriptions, sort_keys=True)})


def load_parts(path: PathLike, graph: Graph, rankers: Mapping[str, CuriousRanker]) -> None:
    """Load the parts of a graph into the rankers; raise FileFormatError, and load nothing, if any of them is wrong."""
    path = check_file(path)
    groups = {name: group for name, group in _read_file(path).items() if name in rankers}
    if not groups:
        raise FileFormatError(f"{path}: holds no parts for {', '.join(rankers)}; {_FIX}.")
    loaded = {}
    for name, (description, arrays) in groups.items():
        _check_description(path, name, description, rankers[name].describe(graph))
        with wrap_parse_errors(path, "parts"):
            loaded[name] = _unpack_parts(graph, arrays)
    for name, parts in loaded.items():
        rankers[name].kept.setdefault(graph, {}).update(parts)


def _read_file(path: Path) -> dict[str, tuple[dict[str, Any], Arrays]]:
    """Return the description and the arrays of every component in a file."""
    with open_tensors(path, "parts file", _FIX) as file:
        if _HEADER_KEY not in file.metadata:
            raise ValueError("its header does not describe parts")
        descriptions = {str(name): dict(each) for name, each in json.loads(file.metadata[_HEADER_KEY]).items()}
        return {
            name: (each, {kind: file.read(f"{name}.{kind}") for kind in _DTYPES}) for name, each in descriptions.items()
        }


def _check_description(path: Path, name: str, description: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Raise FileFormatError if the parts of a component have another description."""
    for entry, value in wanted.items():
        if description.get(entry) != value:
            found = quote_value(description.get(entry))
            raise FileFormatError(f"{path}: its parts for {name!r} are of {entry} {found}, not {value!r}; {_FIX}.")


def _pack_parts(parts: Mapping[int, Part]) -> Arrays:
    starts = sorted(parts)
    ordered = [parts[v] for v in starts]
    values = {
        "starts": starts,
        "totals": [part.total for part in ordered],
        "offsets": np.cumsum([0, *(len(part.nodes) for part in ordered)]),
        "nodes": np.concatenate([part.nodes for part in ordered]) if ordered else [],
        "visits": np.concatenate([part.visits for part in ordered]) if ordered else [],
        "errors": np.concatenate([part.errors for part in ordered]) if ordered else [],
    }
    return {kind: np.asarray(values[kind], dtype) for kind, dtype in _DTYPES.items()}


def _unpack_parts(graph: Graph, arrays: Arrays) -> dict[int, Part]:
    """Return the parts in arrays; raise ValueError if they are inconsistent or do not fit the graph."""
    for kind, dtype in _DTYPES.items():
        if arrays[kind].dtype != dtype or arrays[kind].ndim != 1:
            raise ValueError(f"its {kind} are not a list of {np.dtype(dtype).name}")
    starts, totals, offsets, nodes, visits, errors = (arrays[kind] for kind in _DTYPES)
    is_sorted = len(offsets) > 0 and offsets[0] == 0 and bool(np.all(np.diff(offsets) >= 0))
    lengths_fit = len(starts) == len(totals) == len(offsets) - 1 and len(nodes) == len(visits) == len(errors)
    if not is_sorted or not lengths_fit or offsets[-1] != len(nodes):
        raise ValueError("its arrays do not fit together")
    for positions in (starts, nodes):
        if len(positions) and not 0 <= positions.min() <= positions.max() < graph.num_nodes:
            raise ValueError("it names nodes that the graph does not have")
    ascending = np.diff(nodes) > 0
    inner = offsets[1:-1]
    ascending[inner[(inner > 0) & (inner < len(nodes))] - 1] = True  # between two parts
    if not (np.all(np.diff(starts) > 0) and np.all(ascending)):
        raise ValueError("its nodes are not in order")
    if not all(np.all(np.isfinite(numbers) & (numbers > 0)) for numbers in (visits, totals)):
        raise ValueError("it holds numbers that are not finite and above zero")
    if not np.all(np.isfinite(errors) & (errors >= 0)):
        raise ValueError("it holds errors that are not finite, or negative")
    return {
        int(start): Part(nodes[a:b], visits[a:b], errors[a:b], float(total))
        for start, total, (a, b) in zip(starts, totals, pairwise(offsets.tolist()), strict=True)
    }
