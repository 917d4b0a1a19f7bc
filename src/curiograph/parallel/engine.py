"""Where tasks run: in processes of this machine, or on a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, get_args

from curiograph.errors import SettingError, UnknownNameError
from curiograph.messages import quote_value
from curiograph.validation import resolve_workers

EngineName = Literal["local", "ray"]


@dataclass(frozen=True)
class Engine:
    """Who works, and how many of them.

    >>> resolve_engine("local", workers=2)
    Engine(name='local', workers=2, address=None)
    """

    name: EngineName = "local"
    workers: int | None = None
    """Most tasks at a time. None: on this machine as many processes as pay off, one per processor at most; on a cluster
    one per processor of it."""
    address: str | None = None
    """Of a cluster; None starts one on this machine for the job."""

    @contextmanager
    def ready(self) -> Iterator[None]:
        """A block whose jobs share one cluster, which takes ten seconds to start."""
        if self.name == "local":
            yield
            return
        from curiograph.parallel.ray_backend import connect_cluster

        with connect_cluster(self.address, self.workers):
            yield


IN_PROCESS = Engine("local", 1)
"""In this process, one task after another."""


def resolve_engine(engine: Any = "local", workers: int | None = None, address: str | None = None) -> Engine:
    """An engine from what a user gives, checked: is everything that it needs installed?"""
    if isinstance(engine, Engine):
        if workers is not None or address is not None:
            raise SettingError("the engine says who works; leave workers and address out.")
        return engine
    if not isinstance(engine, str) or engine not in get_args(EngineName):
        raise UnknownNameError(
            f"the engine is {quote_value(engine)}; the engines are {', '.join(get_args(EngineName))}."
        )
    if workers is not None:
        resolve_workers(workers)
    if address is not None and engine != "ray":
        raise SettingError(f"address is {quote_value(address)}, but the engine is {engine}; only ray has an address.")
    if address is not None and (not isinstance(address, str) or not address.strip()):
        raise SettingError(f"address is {quote_value(address)}; give that of a cluster, such as 10.0.0.1:6379.")
    if engine == "ray":
        from curiograph.parallel.ray_backend import ray_itself

        ray_itself()
        return Engine("ray", workers, address)
    return Engine("local", workers)
