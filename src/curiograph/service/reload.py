"""Hot reload: read graph files and files of prepared nodes again when they change, without downtime."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from curiograph.errors import CuriographError
from curiograph.graph.graph import require_edges
from curiograph.service.errors import LOG
from curiograph.service.graph_store import GraphStore, OpenGraph

Stamp: TypeAlias = tuple[tuple[int, int, int] | None, ...]
"""Inode, time of change and size of each file of a graph; None for a missing one."""


class Reloader:
    """Replaces graphs whose files changed; safe to use from several threads.

    A graph and its prepared nodes are read completely before they replace the old ones, so that requests in progress
    keep what they began with. If a new file cannot be used, the old graph stays, and the log says why.

    Parameters
    ----------
    store : GraphStore
        The graphs of the service.
    files : mapping from str to Path
        Graph files by id.
    parts : mapping from str to Path
        Files of prepared nodes by id.
    """

    def __init__(self, store: GraphStore, files: Mapping[str, Path], parts: Mapping[str, Path]) -> None:
        self._store, self._files, self._parts = store, dict(files), dict(parts)
        self._lock = threading.Lock()
        self._loaded = {name: self._get_stamp(name) for name in (*files, *parts)}
        self._tried = dict(self._loaded)
        self._seen = dict(self._loaded)

    def _get_stamp(self, name: str) -> Stamp:
        stamps: list[tuple[int, int, int] | None] = []
        for path in (self._files.get(name), self._parts.get(name)):
            try:
                found = None if path is None else path.stat()
                stamps.append(None if found is None else (found.st_ino, found.st_mtime_ns, found.st_size))
            except OSError:
                stamps.append(None)
        return tuple(stamps)

    def poll(self) -> list[str]:
        """Reload graphs whose files changed and are complete: equal in two polls; return their ids.

        A file that cannot be used is tried again when it changes.
        """
        with self._lock:
            seen = {name: self._get_stamp(name) for name in self._loaded}
            ready = [name for name, stamp in seen.items() if stamp == self._seen[name] != self._tried[name]]
            self._seen = seen
            return [name for name in ready if self._replace(name, seen[name])]

    def reload(self) -> dict[str, list[str]]:
        """Reload all graphs whose files changed; return the ids of those reloaded, failed and unchanged."""
        result: dict[str, list[str]] = {"reloaded": [], "failed": [], "unchanged": []}
        with self._lock:
            for name, loaded in self._loaded.items():
                stamp = self._get_stamp(name)
                if stamp == loaded:
                    result["unchanged"].append(name)
                else:
                    result["reloaded" if self._replace(name, stamp) else "failed"].append(name)
        return result

    def _replace(self, name: str, stamp: Stamp) -> bool:
        """Read a graph and its prepared nodes, then replace the old ones; on failure, log it and return False."""
        self._tried[name] = stamp
        entry = self._store.find(name)
        try:
            opened = load_graph(self._store, name, self._parts.get(name))
        except (CuriographError, OSError) as error:
            LOG.error("the graph %s was not reloaded, and the old one stays: %s", name, error)
            return False
        with entry.lock:
            entry.opened = opened
        self._loaded[name] = stamp
        LOG.warning("the graph %s was reloaded", name)  # the level that is shown by default
        return True


def load_graph(store: GraphStore, name: str, parts: Path | None) -> OpenGraph:
    """Read a graph of a store, and its prepared nodes, without changing the store."""
    opened = OpenGraph(store.find(name).read())
    require_edges(opened.graph)
    if parts is not None:
        opened.recommender.prepare(opened.recommender.load(parts))
    return opened
