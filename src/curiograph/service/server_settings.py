"""Settings of the service, from which the options of `curiograph serve` derive."""

from __future__ import annotations

import ipaddress
import re
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from curiograph.errors import SettingError, quote_value
from curiograph.service.error_responses import TooLargeError

LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")
MAX_BODY = 2 * 2**20
"""Bytes of a request other than an upload."""
MAX_WALKS = 1_000
"""Walks or histories of one request."""
MAX_HISTORY = 500
"""Last visited nodes of a history that count."""
MAX_K = 1_000
"""Nodes listed in one response."""
MAX_BEAM = 256
"""Width of a beam."""
MAX_NODES, MAX_EDGES = 200_000, 2_000_000
"""Size of an uploaded graph."""
MAX_FILES = 20_000
"""Notes of an uploaded folder."""
MAX_LABEL = 500
"""Characters of a label, in uploads and requests."""
MAX_ANSWER = 32 * 2**20
"""Bytes of a response."""
_MIN_TOKEN = 16
"""Characters of the token."""


@dataclass(frozen=True)
class ServiceSettings:
    """Settings of a service."""

    host: str = "127.0.0.1"
    """Address to listen on; one that other machines can reach needs a token."""
    graphs: Mapping[str, Path] = field(default_factory=dict)
    """Graph files to serve, by name."""
    directed: bool = False
    """Whether edge lists in `graphs` are directed."""
    parts: Mapping[str, Path] = field(default_factory=dict)
    """Files of prepared nodes, by the name of their graph."""
    token: str | None = None
    """Token that clients must send; None to allow any client."""
    no_token: bool = False
    """Whether other machines are served without a token."""
    allowed_hosts: Sequence[str] = ()
    """Host names of requests besides those of this machine; all if empty and other machines are served."""
    root_path: str = ""
    """Prefix of all paths, if a proxy adds one."""
    store: Path | None = None
    """Folder that keeps uploads after the service ends; created if missing. None to keep them until then."""
    seconds: int = 30
    """Maximum time to answer a request."""
    steps: int = 500
    """Maximum number of nodes of a walk."""
    requests: int = 64
    """Maximum number of requests that compute or wait."""
    upload_bytes: int = 16 * 2**20
    """Maximum size of an uploaded file, or of all files of a folder."""
    uploads: int = 256
    """Uploaded graphs kept; a further one replaces the client's own least recently used one, if it has any."""
    uploads_per_client: int = 16
    """Uploaded graphs kept of one client."""

    def __post_init__(self) -> None:
        if self.token is not None and not (len(self.token.strip()) >= _MIN_TOKEN and self.token.isascii()):
            found, fix = len(self.token.strip()), f"give {_MIN_TOKEN} or more, such as {secrets.token_urlsafe(24)}"
            raise SettingError(f"the token has {found} characters, or others than ASCII; {fix}.")
        if self.root_path and not re.fullmatch("(/[A-Za-z0-9._~-]+)+", self.root_path):
            raise SettingError(f"--root-path is {quote_value(self.root_path)}; write it as in /curiograph.")
        if self.token is not None and self.no_token:
            raise SettingError("there is a token (--token or CURIOGRAPH_TOKEN) and --no-token; leave one of them out.")
        if not (self.is_loopback or self.token or self.no_token):
            raise SettingError(
                f"--host {self.host} can be reached from other machines: set CURIOGRAPH_TOKEN (or give --token TOKEN), "
                "or --no-token to allow access without a token."
            )

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the service."""
        with suppress(ValueError):
            return ipaddress.ip_address(self.host).is_loopback
        return self.host in LOOPBACK_HOSTS

    def check_walks(self, walks: Sequence[Sequence[object]]) -> None:
        """Raise if there are too many walks, or if one is too long."""
        check_number(walks)
        longest = max(map(len, walks), default=0)
        if longest > self.steps:
            raise TooLargeError(f"a walk has {longest:,} entries; at most {self.steps:,} are allowed.")


def check_number(walks: Sequence[Sequence[object]]) -> None:
    """Raise if there are too many walks or histories."""
    if len(walks) > MAX_WALKS:
        raise TooLargeError(f"there are {len(walks):,} walks or histories; at most {MAX_WALKS:,} are allowed.")


def check_count(name: str, value: int, maximum: int) -> None:
    """Raise if a number of a request exceeds its limit."""
    if value > maximum:
        raise SettingError(f"{name} is {value:,}; at most {maximum:,} is allowed here.")
