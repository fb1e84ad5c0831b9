"""Sockets that are listened on before anything else is started, so that a taken port is told at once."""

import errno
import socket
from contextlib import suppress

from gateway.cli.answers import CommandFailed

BACKLOG = 1024


class PortTaken(CommandFailed):
    """Something listens on that address and port already."""


def listen(address: str, port: int) -> socket.socket:
    """A socket that listens on the address and port; 0 is a free port.

    Raises PortTaken, and CommandFailed for an address or port that can't be had.
    """
    family, kind, protocol, _, place = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        # A port that was given up a moment ago is free again at once.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        # At once: of two sockets that are bound and do not listen yet, both would believe to have the port.
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise PortTaken(f"Something already listens on {address}:{port}") from error
        raise CommandFailed(f"{address}:{port} can't be listened on: {error.strerror}") from error
    listener.setblocking(False)
    return listener


def listen_nearby(address: str, port: int) -> tuple[socket.socket, bool]:
    """The same, on a free port where the wished one is taken; whether it is the wished one."""
    with suppress(PortTaken):
        return listen(address, port), True
    return listen(address, 0), False


def url_of(listener: socket.socket) -> str:
    """The URL under which this machine reaches a listener."""
    address, port = listener.getsockname()[:2]
    if address in ("0.0.0.0", "::"):  # noqa: S104 (compared, not bound)
        address = "127.0.0.1" if address == "0.0.0.0" else "::1"  # noqa: S104
    return f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"
