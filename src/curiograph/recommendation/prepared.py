"""Curious PageRank as a ranker, from parts that are computed once per node and can be saved.

Walkers forget their path at a teleport, so the expected visits from a history are the mean of those from its nodes.

A part of greedy walkers depends only on the links of its `sources`, the nodes that walkers moved on from. After links
have changed, only the affected parts are computed again, and the result is that of a full preparation, bit by bit.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from curiograph import kernels
from curiograph.agents.heuristics import GreedyAgent
from curiograph.agents.registry import AgentLike, as_agent
from curiograph.arrays import Float32, Float64, Int32, Int64
from curiograph.centrality.curious_pagerank import make_start_states
from curiograph.centrality.few_steps import make_group_streams, simulate_few_steps
from curiograph.centrality.history import check_alpha
from curiograph.centrality.rank_transition import check_p_g
from curiograph.centrality.swarm import SwarmLimits, WalkerPolicy, simulate_swarm
from curiograph.errors import FileFormatError, SettingError
from curiograph.exploration.mdp import Candidates, Fallback, check_fallback
from curiograph.files import PathLike, as_path, check_file, wrap_parse_errors
from curiograph.graph.batch import GraphBatch
from curiograph.graph.graph import Graph
from curiograph.messages import quote_value
from curiograph.parallel import IN_PROCESS, Engine, Job, Result, run_job
from curiograph.parallel.fingerprint import fingerprint, hash_values
from curiograph.progress import Progress, no_progress
from curiograph.recommendation.ranker import Ranker
from curiograph.rewards.cpt import Compressibility
from curiograph.rewards.igt import InformationGaps
from curiograph.rewards.registry import RewardLike, as_reward
from curiograph.tensors import open_tensors, write_tensors
from curiograph.validation import check_integer, check_seed, resolve_workers

_VERSION = 2
"""Version of the computation; parts of other versions are not used."""
_MIN_VISITS = 1e-7
"""Smallest expected visits that are kept, far below the precision of the simulation."""
_TAIL = 1e-2
"""Share of visits, the last ones, that sampled walkers omit: less than their error, and the most costly."""
_GROUPS = 4
"""Independent swarms per node, whose spread gives the standard error."""
_MAX_NODES = 1024
"""Largest number of nodes of a part, those of most visits; bounds the memory of a large catalog."""
_TASK_NODES = 16
"""Nodes that are prepared in one task; a stopped preparation loses at most the tasks that are running."""


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
    sources: Int32
    """Positions of the nodes whose links determine the part, ascending; empty if it depends on the whole graph."""


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
    steps: int | None = 3
    """Maximum number of steps between two teleports; None for no limit. People's choices support few steps, and greedy
    walkers of igt or cpt that take at most 6 are a hundred times faster."""
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
        if self.steps is not None:
            check_integer("steps", self.steps, 1, "give the steps between two teleports, 1 or more, or None")
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
        lengths = [len(history) for history in histories]
        visits = np.concatenate([*histories, np.empty(0, np.int32)])
        visited, numbers = np.unique(visits, return_inverse=True)
        kept = self._get_parts(graph, visited.astype(np.int32))
        parts = [kept[v] for v in visited.tolist()]
        sums: Float64 = kernels.parts.sum_parts(
            np.cumsum([0, *(len(part.nodes) for part in parts)]),
            np.concatenate([np.empty(0, np.int32), *(part.nodes for part in parts)]),
            np.concatenate([np.empty(0, np.float32), *(getattr(part, kind) for part in parts)]),
            np.cumsum([0, *lengths]),
            numbers.astype(np.int64),
            candidates.offsets.astype(np.int64),
            candidates.nodes.astype(np.int32),
            power == 2,
            graph.num_nodes,
        )
        totals = [sum(kept[v].total for v in history.tolist()) ** power for history in histories]
        return np.asarray(sums / np.repeat(totals, np.diff(candidates.offsets)))

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
            kept.update(zip(missing, self.compute_parts(graph, missing), strict=True))
        return kept

    def compute_parts(self, graph: Graph, nodes: Sequence[int]) -> list[Part]:
        """Simulate walkers from each of some positions, along all paths if they are few, otherwise sampled."""
        agent, reward, workers = as_agent(self.agent), as_reward(self.reward), resolve_workers(self.workers)
        is_greedy = type(agent) is GreedyAgent and type(reward) in _REWARD_CODES
        if is_greedy and self.steps is not None and self.steps < kernels.greedy_walkers.MAX_NODES:
            threads = min(workers, len(nodes) - 1)
            if threads <= 1:
                return self._simulate_few_steps(graph, nodes)
            # the first node in this thread: two threads that load kernels at once may wait for each other
            first, rest = self._simulate_few_steps(graph, nodes[:1]), nodes[1:]
            shares = [rest[number::threads] for number in range(threads)]
            with ThreadPoolExecutor(threads) as pool:
                computed = list(pool.map(lambda share: self._simulate_few_steps(graph, share), shares))
            return [*first, *(computed[number % threads][number // threads] for number in range(len(rest)))]
        policy = WalkerPolicy(
            stack=GraphBatch.of([graph]),
            agent=agent,
            reward=reward,
            p_g=self.p_g,
            fallback=self.fallback,
            workers=workers,
        )
        return [self._simulate_swarm(policy, node) for node in nodes]

    def _simulate_few_steps(self, graph: Graph, nodes: Sequence[int]) -> list[Part]:
        """Simulate greedy walkers of igt or cpt in a kernel, from each of some positions."""
        found = simulate_few_steps(
            graph,
            nodes,
            _REWARD_CODES[type(as_reward(self.reward))],
            steps=self.steps or 1,
            alpha=self.alpha,
            p_g=self.p_g,
            walks=self.walks,
            groups=_GROUPS,
            tail=_TAIL,
            least=_MIN_VISITS,
            fallback=self.fallback,
            seed=self.seed,
        )
        return [_trim_part(Part(*visits)) for visits in found]

    def _simulate_swarm(self, policy: WalkerPolicy, node: int) -> Part:
        start = make_start_states(np.asarray([node], np.int32), self.seed)
        limits = SwarmLimits(
            size=-(-self.walks // _GROUPS), alpha=self.alpha, tail=_TAIL, groups=_GROUPS, steps=self.steps
        )
        visits = simulate_swarm(policy, start, np.ones(1), limits, make_group_streams(node, _GROUPS, self.seed))
        by_group = visits.compute_expected(np.asarray([self.alpha]))[0]
        mean = by_group.mean(axis=0)
        errors = by_group.std(axis=0, ddof=1) / np.sqrt(len(by_group)) if visits.sampled else np.zeros(len(mean))
        kept = mean > _MIN_VISITS
        part = Part(
            nodes=visits.touched[kept].astype(np.int32),
            visits=mean[kept].astype(np.float32),
            errors=errors[kept].astype(np.float32),
            total=float(mean.sum()),
            sources=np.empty(0, np.int32),
        )
        return _trim_part(part)

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
            "steps": self.steps,
            "fallback": self.fallback,
            "seed": self.seed,
        }


_REWARD_CODES: dict[type, int] = {InformationGaps: 0, Compressibility: 1}
"""Rewards of the kernel `greedy_walkers`, by the values of its `GAPS` and `COMPRESSIBILITY`."""


def _trim_part(part: Part) -> Part:
    """Return the part without the nodes of fewest visits if it has many."""
    if len(part.nodes) <= _MAX_NODES:
        return part
    most = np.sort(np.argsort(-part.visits, kind="stable")[:_MAX_NODES])
    return replace(part, nodes=part.nodes[most], visits=part.visits[most], errors=part.errors[most])


# ---- many nodes -----------------------------------------------------------------------------------------------------


def find_missing(graph: Graph, rankers: Mapping[str, CuriousRanker], nodes: Iterable[int]) -> list[int]:
    """Return those of some positions that lack a part of some ranker."""
    kept = [ranker.kept.get(graph, {}) for ranker in rankers.values()]
    return [v for v in nodes if not all(v in parts for parts in kept)]


def prepare_parts(
    graph: Graph,
    rankers: Mapping[str, CuriousRanker],
    nodes: Sequence[int],
    engine: Engine = IN_PROCESS,
    progress: Progress = no_progress,
) -> None:
    """Compute the missing parts of some positions as a job, which an engine with a run folder resumes."""
    missing = find_missing(graph, rankers, nodes)
    tasks = [missing[first : first + _TASK_NODES] for first in range(0, len(missing), _TASK_NODES)]
    threads = None if engine.backend == "local" and engine.workers == 1 else 1  # of each process
    settings = {name: replace(ranker, kept={}, workers=threads or ranker.workers) for name, ranker in rankers.items()}
    job = Job(
        name="prepare",
        function=_compute_task,
        shared=(graph, settings),
        tasks=tasks,
        key=lambda: {
            "rankers": {name: ranker.describe(graph) for name, ranker in rankers.items()},
            "nodes": hash_values(np.asarray(missing, np.int64)),
        },
        describe_task=lambda some: f"the nodes at positions {some[0]} to {some[-1]}",
        unit="nodes",
        task_sizes=[len(task) for task in tasks],
        fix="prepare fewer nodes, those that most users visit",
    )
    for result in run_job(job, engine, progress):
        for name, ranker in rankers.items():
            group = {kind: result[f"{name}.{kind}"] for kind in _DTYPES}
            ranker.kept.setdefault(graph, {}).update(_unpack_parts(graph, group))


def _compute_task(shared: tuple[Graph, Mapping[str, CuriousRanker]], nodes: list[int]) -> Result:
    """Task function: the parts of some positions for every ranker, as arrays."""
    graph, rankers = shared
    return {
        f"{name}.{kind}": array
        for name, ranker in rankers.items()
        for kind, array in _pack_parts(dict(zip(nodes, ranker.compute_parts(graph, nodes), strict=True))).items()
    }


def find_unaffected(old: CSRArrays, graph: Graph, parts: Mapping[int, Part], fallback: Fallback) -> dict[int, Part]:
    """Return the parts of an earlier version of a graph that the changed links do not affect.

    Walkers move along the out-links of their sources, and a link between two other nodes counts if one is a source and
    the other a source or a candidate, which is an out-neighbor of a source. Nodes may have been added at the end; with
    the fallback "anywhere" they are candidates at dead ends, and all parts are affected.
    """
    if fallback == "anywhere" and len(old[0]) != len(graph.indptr):
        return {}
    before, after = (_to_sparse(arrays, graph.num_nodes) for arrays in (old, (graph.indptr, graph.indices)))
    changed = scipy.sparse.coo_array(abs(after - before))
    tails, heads = (ends[changed.data > 0] for ends in changed.coords)
    starts = [v for v, part in sorted(parts.items()) if len(part.sources)]
    if not starts:
        return {}
    sources = [parts[v].sources for v in starts]
    offsets = np.cumsum([0, *map(len, sources)])
    uses = scipy.sparse.csr_array(
        (np.ones(offsets[-1], np.int32), np.concatenate(sources), offsets), shape=(len(starts), graph.num_nodes)
    )
    columns = uses.tocsc()
    affected = np.zeros(len(starts), bool)
    affected[columns[:, np.unique(tails)].tocoo().coords[0]] = True
    found, number = np.unique(tails, return_inverse=True)  # nodes that may be candidates next to a changed head
    reach = (uses @ before.tocsc()[:, found]).tocsc() if len(found) else None
    for head, which in zip(heads.tolist(), number.tolist(), strict=True):
        with_head = columns.indices[columns.indptr[head] : columns.indptr[head + 1]]
        if reach is not None and fallback == "frontier":
            with_head = np.intersect1d(with_head, reach.indices[reach.indptr[which] : reach.indptr[which + 1]])
        affected[with_head] = True
    return {v: parts[v] for v, stale in zip(starts, affected.tolist(), strict=True) if not stale}


def _to_sparse(arrays: CSRArrays, num_nodes: int) -> Any:
    """Return the links of a graph as a sparse array of ones, with rows for `num_nodes` nodes."""
    indptr, indices = arrays
    rows = np.concatenate([indptr, np.full(num_nodes + 1 - len(indptr), indptr[-1])])
    return scipy.sparse.csr_array((np.ones(len(indices), np.int32), indices, rows), shape=(num_nodes, num_nodes))


# ---- files ----------------------------------------------------------------------------------------------------------

Arrays = dict[str, NDArray[Any]]
CSRArrays = tuple[Int64, Int32]

_DTYPES = {
    "starts": np.int32,
    "totals": np.float64,
    "offsets": np.int64,
    "nodes": np.int32,
    "visits": np.float32,
    "errors": np.float32,
    "source_offsets": np.int64,
    "sources": np.int32,
}
_GRAPH_ARRAYS = ("graph:indptr", "graph:indices")
"""Links of the graph, from which an update finds the changed ones."""
_HEADER_KEY = "curiograph parts"
"""Only entry of the header, since the order of several would vary: the descriptions of all components."""
_FIX = "give the name of a new file, and the parts will be computed"


def save_parts(path: PathLike, graph: Graph, rankers: Mapping[str, CuriousRanker], *, overwrite: bool = False) -> None:
    """Write the parts of a graph to a .safetensors file; parts of the same graph that it holds already are kept.

    Raise FileFormatError, and leave the file as it is, if it belongs to another graph or to other settings, unless
    `overwrite` is True: then those parts are replaced.
    """
    descriptions = {name: ranker.describe(graph) for name, ranker in rankers.items()}
    arrays = {name: _pack_parts(ranker.kept.get(graph, {})) for name, ranker in rankers.items()}
    existing = {}
    if as_path(path).exists():
        try:
            existing = _read_file(check_file(path))
        except FileFormatError as error:
            if not overwrite:
                fix = "It is left as it is; remove it, or give the name of a new file."
                raise FileFormatError(f"{error} {fix}") from None
    same_graph = {"graph": next(iter(descriptions.values()))["graph"]}
    for name, (description, group) in existing.items():
        if description == descriptions.get(name):
            with wrap_parse_errors(path, "parts"):
                arrays[name] = _pack_parts(_unpack_parts(graph, group) | rankers[name].kept.get(graph, {}))
        elif not overwrite:
            _check_description(as_path(path), name, description, descriptions.get(name) or same_graph)
            descriptions[name], arrays[name] = description, group
        elif name not in descriptions and description["graph"] == same_graph["graph"]:
            descriptions[name], arrays[name] = description, group
    flat = {f"{name}.{kind}": array for name, group in arrays.items() for kind, array in group.items()}
    flat |= dict(zip(_GRAPH_ARRAYS, (graph.indptr, graph.indices), strict=True))
    write_tensors(path, flat, {_HEADER_KEY: json.dumps(descriptions, sort_keys=True)})


def load_parts(path: PathLike, graph: Graph, rankers: Mapping[str, CuriousRanker]) -> None:
    """Load the parts of a graph into the rankers; raise FileFormatError, and load nothing, if any of them is wrong."""
    path = check_file(path)
    loaded = {}
    for name, (description, arrays) in _read_groups(path, rankers).items():
        _check_description(path, name, description, rankers[name].describe(graph))
        with wrap_parse_errors(path, "parts"):
            loaded[name] = _unpack_parts(graph, arrays)
    for name, parts in loaded.items():
        rankers[name].kept.setdefault(graph, {}).update(parts)


def load_unaffected_parts(path: PathLike, graph: Graph, rankers: Mapping[str, CuriousRanker]) -> int:
    """Load the parts of an earlier version of a graph that its changed links do not affect.

    Return the number of affected parts, which are left out: 0 if no links have changed, all if the earlier version had
    more nodes. Raise FileFormatError, and load nothing, if the settings differ.
    """
    path = check_file(path)
    groups = _read_groups(path, rankers)
    wanted = {name: rankers[name].describe(graph) for name in groups}
    if all(groups[name][0] == description for name, description in wanted.items()):
        load_parts(path, graph, rankers)
        return 0
    loaded: dict[str, dict[int, Part]] = {}
    affected = 0
    with open_tensors(path, "parts file", _FIX) as file:
        indptr, indices = (file.read(name) for name in _GRAPH_ARRAYS)
    for name, (description, arrays) in groups.items():
        _check_description(path, name, description | {"graph": wanted[name]["graph"]}, wanted[name])
        with wrap_parse_errors(path, "parts"):
            if len(indptr) < 2 or indptr[-1] != len(indices):
                raise ValueError("its arrays do not fit together")
            loaded[name] = {}
            if len(indptr) <= len(graph.indptr):
                parts = _unpack_parts(graph, arrays)
                loaded[name] = find_unaffected((indptr, indices), graph, parts, rankers[name].fallback)
        affected += len(arrays["starts"]) - len(loaded[name])
    for name, unaffected in loaded.items():
        rankers[name].kept.setdefault(graph, {}).update(unaffected)
    return affected


def _read_groups(path: Path, rankers: Mapping[str, CuriousRanker]) -> dict[str, tuple[dict[str, Any], Arrays]]:
    """Return the description and the arrays of the components that a file and the rankers have in common."""
    groups = {name: group for name, group in _read_file(path).items() if name in rankers}
    if not groups:
        raise FileFormatError(f"{path}: holds no parts for {', '.join(rankers)}; {_FIX}.")
    return groups


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
        "source_offsets": np.cumsum([0, *(len(part.sources) for part in ordered)]),
        "sources": np.concatenate([part.sources for part in ordered]) if ordered else [],
    }
    return {kind: np.asarray(values[kind], dtype) for kind, dtype in _DTYPES.items()}


def _unpack_parts(graph: Graph, arrays: Arrays) -> dict[int, Part]:
    """Return the parts in arrays; raise ValueError if they are inconsistent or do not fit the graph."""
    for kind, dtype in _DTYPES.items():
        if arrays[kind].dtype != dtype or arrays[kind].ndim != 1:
            raise ValueError(f"its {kind} are not a list of {np.dtype(dtype).name}")
    starts, totals, offsets, nodes, visits, errors, source_offsets, sources = (arrays[kind] for kind in _DTYPES)
    for bounds, values in ((offsets, nodes), (source_offsets, sources)):
        is_sorted = len(bounds) > 0 and bounds[0] == 0 and bool(np.all(np.diff(bounds) >= 0))
        if not is_sorted or len(bounds) - 1 != len(starts) or bounds[-1] != len(values):
            raise ValueError("its arrays do not fit together")
    if len(starts) != len(totals) or not len(nodes) == len(visits) == len(errors):
        raise ValueError("its arrays do not fit together")
    for positions in (starts, nodes, sources):
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
        int(start): Part(nodes[a:b], visits[a:b], errors[a:b], float(total), sources[c:d])
        for start, total, (a, b), (c, d) in zip(
            starts, totals, pairwise(offsets.tolist()), pairwise(source_offsets.tolist()), strict=True
        )
    }
