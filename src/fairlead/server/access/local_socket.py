"""Sockets in the data folder, by which programs of the same user talk to the running server.

The folder and the socket belong to this user alone, and the server also checks the user of each
caller if the system reports it.
"""

from __future__ import annotations

import logging
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["is_own_user", "listen_for_owner", "remove_socket", "short_path"]

log = logging.getLogger("fairlead")


def listen_for_owner(path: Path) -> socket.socket | None:
    """A socket that only this user can use; None on a file system without sockets."""
    listener = socket.socket(socket.AF_UNIX)
    previous = os.umask(0o177)
    try:
        # A server that was killed left it: this process holds the lock of the folder.
        remove_socket(path)
        with short_path(path.parent) as folder:
            listener.bind(f"{folder}/{path.name}")
        return listener
    except OSError as problem:
        listener.close()
        log.warning("no socket at %s: %s", path, problem)
        return None
    finally:
        os.umask(previous)


def remove_socket(path: Path) -> None:
    """Remove the file of a socket on which nobody listens any more."""
    path.unlink(missing_ok=True)


@contextmanager
def short_path(folder: Path) -> Iterator[str]:
    """A path of the folder that fits into the 108 bytes of a socket address."""
    plain = str(folder.absolute())
    if len(os.fsencode(plain)) < 80 or not os.path.isdir("/proc/self/fd"):
        yield plain
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        yield plain
        return
    try:
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)


def is_own_user(connection: socket.socket) -> bool:
    """Whether the caller is the user of this process; without SO_PEERCRED the file mode decides."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return True
    size = struct.calcsize("3i")
    _, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, option, size))
    return bool(user == os.getuid())
