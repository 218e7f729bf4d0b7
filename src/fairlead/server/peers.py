"""Which user of this machine is at the other end of a connection, where the system tells.

Linux lists the owner of every TCP socket in /proc. The code in the link that is given to the
browser stands in a command line, which every user of the machine can read; with this, only the
user who started the server can use it (abuse case T-36). Elsewhere nobody knows, and None says so.
"""

from __future__ import annotations

import ipaddress
import struct
from collections.abc import Iterable
from pathlib import Path

__all__ = ["user_of"]

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
LOCAL, REMOTE, USER = 1, 2, 7
"""Columns of the tables."""


def user_of(
    client: tuple[str, int], server_port: int, tables: Iterable[Path] = TABLES
) -> int | None:
    """The user whose socket is connected from `client` to our port; None if that is not known."""
    wanted = _written(*client)
    port = f":{server_port:04X}"
    for table in tables:
        try:
            lines = table.read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            columns = line.split()
            if columns[LOCAL] in wanted and columns[REMOTE].endswith(port):
                return int(columns[USER])
    return None


def _written(host: str, port: int) -> set[str]:
    """An address as the tables have it: words of 32 bits in the machine's own order."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return set()
    forms = [address]
    if address.version == 4:
        forms.append(ipaddress.ip_address(f"::ffff:{address}"))
    return {f"{_words(one.packed)}:{port:04X}" for one in forms}


def _words(packed: bytes) -> str:
    return "".join(f"{word:08X}" for word in struct.unpack(f"={len(packed) // 4}I", packed))
