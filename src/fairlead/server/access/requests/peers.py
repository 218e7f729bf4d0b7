"""Which user of this machine is at the other end of a connection, if the system reports it.

Linux lists the owner of every TCP socket in /proc. A code that is bound to the user who started
the server is checked with this (abuse case T-36). A caller who is not in the tables is unknown
(None) and treated like another user; on a system without the tables all callers are UNKNOWABLE.
"""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Iterable
from pathlib import Path

from fairlead.server.access.codes import UNKNOWABLE

__all__ = ["user_of"]

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
LOCAL, REMOTE, USER = 1, 2, 7
"""Columns of the tables."""


def user_of(
    client: tuple[str, int], server_port: int, tables: Iterable[Path] = TABLES
) -> int | None:
    """The user whose socket is connected from `client` to this port; None if it is not listed."""
    readable = False
    wanted = _table_addresses(*client)
    port = f":{server_port:04X}"
    for table in tables:
        try:
            lines = table.read_text().splitlines()[1:]
        except OSError:
            continue
        readable = True
        for line in lines:
            columns = line.split()
            if columns[LOCAL] in wanted and columns[REMOTE].endswith(port):
                return int(columns[USER])
    return None if readable else UNKNOWABLE


def _table_addresses(host: str, port: int) -> set[str]:
    """An address as the tables contain it: words of 32 bits in the machine's byte order."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return set()
    forms = [address]
    if address.version == 4:
        forms.append(ipaddress.ip_address(f"::ffff:{address}"))
    return {f"{_words(form.packed)}:{port:04X}" for form in forms}


def _words(packed: bytes) -> str:
    return "".join(f"{word:08X}" for word in struct.unpack(f"={len(packed) // 4}I", packed))
