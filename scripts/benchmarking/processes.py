"""Servers in processes of their own: started, waited for, accounted for, ended."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from scripts.benchmarking.load import HOST

START_SECONDS = 60.0
END_SECONDS = 15.0
_POLL_SECONDS = 0.05
_MEGABYTE = 1e6


class ServerFailed(Exception):
    """A server did not start; the message holds the end of its log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a process and its children have used so far, and the memory that they hold now."""

    cpu_seconds: float
    resident_megabytes: float


def usage_of(pid: int) -> Usage:
    """The usage of a process with all its children, past ones included."""
    process = psutil.Process(pid)
    cpu_seconds, resident = 0.0, 0
    for each in (process, *process.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            times = each.cpu_times()
            cpu_seconds += _scheduled_seconds(each.pid) or times.user + times.system
            # A past child's time is counted by its parent, on systems that tell it.
            cpu_seconds += getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0)
            resident += each.memory_info().rss
    return Usage(cpu_seconds=cpu_seconds, resident_megabytes=resident / _MEGABYTE)


def _scheduled_seconds(pid: int) -> float:
    """The time of a process's threads by the scheduler's account, which is in nanoseconds; 0 where there is none.

    The usual account comes in hundredths of a second: too coarse for a short round over many processes.
    """
    nanoseconds = 0
    for account in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with suppress(FileNotFoundError, ProcessLookupError):
            nanoseconds += int(account.read_text().split()[0])
    return nanoseconds / 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A server that listens on a port of this machine."""

    name: str
    port: int
    pid: int

    def usage(self) -> Usage:
        """What it has used so far."""
        return usage_of(self.pid)


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def running_server(
    name: str, command: Sequence[str | Path], *, port: int, directory: Path, log: Path, variables: Mapping[str, str]
) -> Iterator[Server]:
    """Run a server until the block is left. Raises ServerFailed unless it listens within a minute."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("AGENT_MEMORY_", "PG", "NODE_")) and not name.lower().endswith("_proxy")
    }
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command,
            cwd=directory,
            env={**inherited, **variables},
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait_until_it_listens(name, process, port, log)
        yield Server(name=name, port=port, pid=process.pid)
    finally:
        process.terminate()
        try:
            process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_it_listens(name: str, process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    ends_at = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < ends_at:
        with suppress(ConnectionRefusedError), socket.create_connection((HOST, port), timeout=START_SECONDS):
            return
        time.sleep(_POLL_SECONDS)
    lines = log.read_text(errors="replace").splitlines()
    raise ServerFailed("\n".join([f"{name} did not start:", *lines[-20:]]))
