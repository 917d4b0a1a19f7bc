"""Where curious walkers are, step by step, from each node on which they may start.

Walkers forget at a teleport, so the scores for a history are means over its nodes; and nothing here knows alpha or how
far walkers go, so one table answers for all of both.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from curiograph import kernels
from curiograph.agents.registry import AgentLike, as_agent
from curiograph.centrality.curious import start_states
from curiograph.centrality.ranks import greediness
from curiograph.centrality.swarm import Bias, Reach, simulate
from curiograph.exploration.batch import Candidates
from curiograph.extras import require
from curiograph.graph.container import Graph
from curiograph.graph.features import Float32
from curiograph.graph.rows import Int32, Int64
from curiograph.graph.stack import Stack
from curiograph.graph.storage import replacing
from curiograph.jobs.identity import fingerprint, graph_digest
from curiograph.rewards.registry import as_reward
from curiograph.settings import whole_number, worker_number

_STARTS = 64
"""Nodes of one task; fixed, so that what is kept does not depend on the workers."""
_ENTRIES = 2**24
"""Numbers of a dense block: bounds the memory."""


@dataclass(frozen=True)
class Walkers:
    """Who walks, and how."""

    agent: AgentLike
    """Wherever an agent is asked for; "random" for walkers that only remember their path."""
    reward: str = "igt"
    p_g: float = 0.8
    """0 always takes the agent's best candidate, 1 any candidate alike."""
    steps: int = 8
    """Most steps between two teleports."""
    count: int = 400
    """Paths that are followed from each node; all, where there are no more."""
    seed: int = 0

    def __post_init__(self) -> None:
        greediness(self.p_g)
        whole_number("steps", self.steps, 1, "give the steps between two teleports, 1 or more")
        whole_number("count", self.count, 1, "give the paths to follow, 1 or more")

    def about(self, graph: Graph) -> str:
        """What tells the table of these walkers on this graph from all others."""
        walks = [self.reward, self.p_g, self.steps, self.count, self.seed]
        return json.dumps(["walkers 1", graph_digest(graph), fingerprint("agent", as_agent(self.agent)), *walks])


@dataclass(frozen=True)
class _Steps(Reach):
    """As many walkers at every step, up to the last."""

    last: int = 1

    def goes_on(self, step: int, drawn: bool) -> bool:
        return step <= self.last

    def walkers(self, step: int, drawn: bool) -> int:
        return self.size


@dataclass(frozen=True, eq=False)
class StepVisits:
    """Chances to be at each node, by start and step."""

    steps: Sequence[Any]
    """A sparse array for every step from the first on: nodes x nodes. Rows of nodes that nobody starts at are empty."""

    def of(self, histories: Int32, candidates: Candidates) -> Float32:
        """Chances of the candidates of each history, whose nodes are starts alike: steps x candidates.

        >>> from curiograph.graph.toys import cycle
        >>> visits = step_visits(cycle(4), Walkers("random", steps=2), [0])
        >>> visits.of(np.array([[0]]), Candidates(np.array([0, 2]), np.array([1, 2]))).tolist()
        [[0.5, 0.0], [0.0, 1.0]]
        """
        count, size = len(histories), self.steps[0].shape[0]
        entries = np.full(histories.size, 1 / max(1, histories.shape[1]))
        visited = scipy.sparse.csr_array(
            (entries, histories.ravel(), np.arange(count + 1) * histories.shape[1]), shape=(count, size)
        )
        chances = np.empty((len(self.steps), len(candidates.nodes)), np.float32)
        at_once = max(1, _ENTRIES // size)
        for first in range(0, count, at_once):
            last = min(first + at_once, count)
            mine = slice(candidates.offsets[first], candidates.offsets[last])
            rows, nodes = candidates.walks[mine] - first, candidates.nodes[mine]
            for step, table in enumerate(self.steps):
                chances[step, mine] = (visited[first:last] @ table).toarray()[rows, nodes]
        return chances


def step_visits(
    graph: Graph,
    walkers: Walkers,
    starts: Sequence[int] | Int64,
    folder: Path | None = None,
    workers: int | None = None,
    tell: Callable[[int, int], None] = lambda done, all_of_them: None,
) -> StepVisits:
    """Let walkers start at each of some nodes.

    What is found is kept in `folder`, if there is one, and looked up there: a killed job goes on where it stopped.
    """
    starts = np.unique(np.asarray(starts, np.int64))
    shelf = _Shelf(folder, walkers.about(graph))
    missing = shelf.missing(starts)
    tasks = [missing[first : first + _STARTS] for first in range(0, len(missing), _STARTS)]
    done = len(starts) - len(missing)
    for table in _tables(graph, walkers, tasks, worker_number(workers)):
        shelf.add(table)
        done += len(table["starts"])
        tell(done, len(starts))
    return shelf.collected(graph.num_nodes, walkers.steps, starts)


def _tables(graph: Graph, walkers: Walkers, tasks: Sequence[Int64], workers: int) -> Iterator[dict[str, Any]]:
    if workers == 1 or len(tasks) < 2:
        yield from (_table(graph, walkers, task) for task in tasks)
        return
    joblib = require("joblib", "predict", "Several processes")
    yield from joblib.Parallel(workers, return_as="generator")(
        joblib.delayed(_table)(graph, walkers, task) for task in tasks
    )


def _table(graph: Graph, walkers: Walkers, starts: Int64) -> dict[str, Any]:
    """Chances from some starts, flat: of start i and step k, those at `bounds[i * steps + k]` and on."""
    bias = Bias(Stack.of([graph]), as_agent(walkers.agent), as_reward(walkers.reward), walkers.p_g, "frontier", 1)
    reach = _Steps(walkers.count, alpha=1.0, groups=1, last=walkers.steps)
    nodes, chances, counts = [], [], []
    for start in starts:
        first = start_states(np.asarray([start], np.int32), walkers.seed)
        streams = kernels.random.streams(first.streams[0], 0, 1)
        steps = simulate(bias, first, np.ones(1), reach, streams).steps[1:]
        for step in range(walkers.steps):
            held = step < len(steps)
            nodes.append(steps[step].indices if held else np.empty(0, np.int32))
            chances.append(steps[step].data if held else np.empty(0))
            counts.append(len(nodes[-1]))
    return {
        "starts": starts,
        "nodes": np.concatenate(nodes).astype(np.int32),
        "chances": np.concatenate(chances).astype(np.float32),
        "bounds": np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
    }


class _Shelf:
    """Tables found so far, in memory and, with a folder, in files that each appear whole."""

    def __init__(self, folder: Path | None, about: str) -> None:
        self._tables: list[dict[str, Any]] = []
        self._folder, self._about = folder, about
        if folder is None:
            return
        folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(folder.glob("visits-*.npz")):
            table = _opened(path, about)
            if table is not None:
                self._tables.append(table)

    def missing(self, starts: Int64) -> Int64:
        """Those of some starts that are not here."""
        known = [table["starts"] for table in self._tables]
        return np.setdiff1d(starts, np.concatenate([*known, np.empty(0, np.int64)]))

    def add(self, table: dict[str, Any]) -> None:
        self._tables.append(table)
        if self._folder is None:
            return
        named = hashlib.sha256(self._about.encode() + table["starts"].tobytes()).hexdigest()[:16]
        with replacing(self._folder / f"visits-{named}.npz") as stream:
            np.savez(stream, about=np.array(self._about), **table)

    def collected(self, size: int, steps: int, starts: Int64) -> StepVisits:
        """Those of some starts, by step."""
        found = {int(start): (table, row) for table in self._tables for row, start in enumerate(table["starts"])}
        made = []
        for step in range(steps):
            rows, nodes, chances = [np.empty(0, np.int64)], [np.empty(0, np.int32)], [np.empty(0, np.float32)]
            for start in starts.tolist():
                table, row = found[start]
                mine = slice(*table["bounds"][row * steps + step :][:2])
                nodes.append(table["nodes"][mine])
                chances.append(table["chances"][mine])
                rows.append(np.full(len(nodes[-1]), start))
            places = (np.concatenate(rows), np.concatenate(nodes))
            made.append(scipy.sparse.coo_array((np.concatenate(chances), places), shape=(size, size)).tocsr())
        return StepVisits(made)


def _opened(path: Path, about: str) -> dict[str, Any] | None:
    """A table of the same walkers; None for others and for a file that is not whole: it is computed again."""
    try:
        with np.load(path, allow_pickle=False) as held:
            if str(held["about"]) != about:
                return None
            return {name: held[name] for name in ("starts", "nodes", "chances", "bounds")}
    except (OSError, ValueError, KeyError, EOFError):
        return None
    except Exception as error:  # zipfile.BadZipFile and the like
        if type(error).__module__ in ("zipfile", "zlib"):
            return None
        raise
