"""The sockets that a server listens on.

Browsers resolve `localhost` to 127.0.0.1 or to ::1. If the server listened on only one of them,
another user could listen on the other and intercept connections. So on loopback the server listens
on both, and does not start if another program already listens on one of them.
"""

from __future__ import annotations

import errno
import socket

from fairlead.errors import UsageError

__all__ = ["LOOPBACK", "listen"]

LOOPBACK = ("127.0.0.1", "::1", "localhost")

REMEDIES = {
    errno.EADDRINUSE: "Another server may run there; stop it, or choose another --port.",
    errno.EADDRNOTAVAIL: "This machine does not have that address; choose another --host.",
    errno.EACCES: "Ports below 1024 are for the system; choose another --port.",
}

TRIES = 20
"""Attempts to find a port that is free on both addresses."""


def listen(host: str, port: int, backlog: int) -> list[socket.socket]:
    """Listen at an address; port 0 selects a free port."""
    hosts = ["127.0.0.1", "::1"] if host in LOOPBACK else [host]
    if "::1" in hosts and not _has_ipv6():
        hosts.remove("::1")
    for left in range(TRIES - 1, -1, -1):
        listeners: list[socket.socket] = []
        chosen = port
        try:
            for address in hosts:
                listeners.append(_listen(address, chosen, backlog))
                chosen = int(listeners[0].getsockname()[1])
        except UsageError:
            for listener in listeners:
                listener.close()
            if port != 0 or not left:
                raise
        else:
            return listeners
    raise AssertionError("the last try returns or raises")


def _listen(host: str, port: int, backlog: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6 and host == "::1":
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    try:
        listener.bind((host, port))
        # A browser that opens the printed link before the server accepts must not fail.
        listener.listen(backlog)
    except OSError as problem:
        listener.close()
        raise UsageError(
            f"cannot listen on {host}:{port}: {problem.strerror}. "
            + REMEDIES.get(problem.errno or 0, "Choose another --host or --port.")
        ) from None
    return listener


def _has_ipv6() -> bool:
    if not socket.has_ipv6:
        return False
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True
