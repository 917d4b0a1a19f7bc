"""A Ray cluster of two nodes on this machine, in a network of its own that has nothing but loopback.

`on_cluster(script)` runs a Python script as the driver of such a cluster. This file is also the program inside the
network: it starts the nodes, runs the driver, and kills a node where that is asked for. It is the first process of a
process namespace, so that the system ends all others with it.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import os
import secrets
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ADDRESS = "127.0.0.1:6379"
_OWN = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
_START = 90  # seconds in which a node has to be there
_CPUS = 2  # of every node


@dataclass(frozen=True)
class Driven:
    """What the driver left."""

    code: int
    out: str
    err: str


def missing() -> str | None:
    """Why there can be no cluster here; None where there can."""
    if importlib.util.find_spec("ray") is None:
        return "ray is not installed (pip install 'curiograph[ray]')"
    if shutil.which("unshare") is None or subprocess.run([*_OWN, "true"], capture_output=True).returncode:
        return (
            f"a network of its own is not allowed here ({' '.join(_OWN)}), and elsewhere Ray would listen to everybody"
        )
    return None


def on_cluster(
    script: str,
    kill_after: float | None = None,
    *,
    nodes: int = 2,
    kill: str = "node",
    token: str = "same",
    store: int | None = None,
    timeout: float = 300,
) -> Driven:
    """Run a script as a driver on a cluster at `ADDRESS`.

    Parameters
    ----------
    script : Python source. A file in the folder that it finds in the environment's CLUSTER_FOLDER outlives the driver.
    kill_after : seconds from the moment the script makes a file `begun` in that folder until somebody is killed.
    nodes : machines of the cluster; with none, the network is there and nobody in it.
    kill : who is killed: the second "node", or the "driver", which then runs once more.
    token : the driver's: the "same" as the cluster's, a "wrong" one, or "none".
    store : bytes of every node's object store.
    """
    folder = Path(tempfile.mkdtemp(prefix="cg", dir="/dev/shm" if os.path.isdir("/dev/shm") else None))  # short
    try:
        (folder / "driver.py").write_text(script)
        for name in ("token", "wrong"):
            (folder / name).write_text(secrets.token_hex(16))
        messages = [str(nodes), str(kill_after or ""), kill, token, str(store or "")]
        command = [*_OWN, sys.executable, str(Path(__file__).resolve()), str(folder), *messages]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=_environment(folder))
        return Driven(ran.returncode, ran.stdout, ran.stderr)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _environment(folder: Path) -> dict[str, str]:
    return os.environ | {
        "CLUSTER_FOLDER": str(folder),
        "CLUSTER_ADDRESS": ADDRESS,
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN_PATH": str(folder / "token"),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_TMPDIR": str(folder),
    }


def _loopback_up() -> None:
    """What `ip link set lo up` does, where there is no ip."""
    with socket.socket() as any_socket:
        flags = struct.unpack("16sh", fcntl.ioctl(any_socket, 0x8913, struct.pack("16sh", b"lo", 0)))[1]
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh", b"lo", flags | 1))


def _node(folder: Path, number: int, store: str) -> subprocess.Popen[bytes]:
    place = ["--head", "--port=6379", "--include-dashboard=false"] if number == 0 else [f"--address={ADDRESS}"]
    place += [f"--temp-dir={folder}"] if number == 0 else []
    place += [f"--object-store-memory={store or 2**27}"]
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", f"--num-cpus={_CPUS}", *place]
    with open(folder / f"node{number}.log", "wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)


def _listening() -> bool:
    with contextlib.suppress(OSError):
        socket.create_connection(("127.0.0.1", 6379), 1).close()
        return True
    return False


def _all_there(nodes: int) -> bool:
    """Whether so many nodes are alive, as the cluster itself counts them."""
    script = (
        "import ray, sys\n"
        f"ray.init(address={ADDRESS!r}, log_to_driver=False, logging_level=40)\n"
        f"sys.exit(sum(node['Alive'] for node in ray.nodes()) != {nodes})"
    )
    return subprocess.run([sys.executable, "-c", script], capture_output=True).returncode == 0


def _wait_for(condition: Callable[[], bool], folder: Path) -> None:
    begun = time.monotonic()
    while time.monotonic() - begun < _START:
        if condition():
            return
        time.sleep(0.2)
    logs = "\n".join(path.read_text(errors="replace") for path in sorted(folder.glob("node*.log")))
    sys.exit(f"the cluster did not start within {_START} s\n{logs}")


def _drive(folder: Path, token: str) -> subprocess.Popen[bytes]:
    environment = dict(os.environ)
    if token == "wrong":
        environment["RAY_AUTH_TOKEN_PATH"] = str(folder / "wrong")
    if token == "none":
        del environment["RAY_AUTH_TOKEN_PATH"], environment["RAY_AUTH_MODE"]
        environment["HOME"] = str(folder)  # Ray looks for a token there, too
    return subprocess.Popen([sys.executable, str(folder / "driver.py")], env=environment)


def _main(folder: Path, nodes: int, kill_after: str, kill: str, token: str, store: str) -> int:
    _loopback_up()
    started = []
    for number in range(nodes):
        started.append(_node(folder, number, store))
        _wait_for(_listening, folder)
    if nodes:
        _wait_for(lambda: _all_there(nodes), folder)
    driver = _drive(folder, token)
    if kill_after:
        while not (folder / "begun").exists() and driver.poll() is None:
            time.sleep(0.02)
        time.sleep(float(kill_after))
        if kill == "node":
            os.killpg(started[-1].pid, signal.SIGKILL)
        else:
            driver.kill()
            driver.wait()
            driver = _drive(folder, token)
    return driver.wait()


if __name__ == "__main__":
    sys.exit(_main(Path(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]))
