"""Connections to the database file, and the settings that every one of them has.

The only module that calls `sqlite3.connect`. Tests pass another `Connect` function to observe
statements or to make them fail.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote

__all__ = ["BUSY_WAIT_S", "Connect", "connect"]

BUSY_WAIT_S = 0.05
"""How long SQLite itself waits for a lock; `writer` handles longer waits."""

Connect: TypeAlias = Callable[[Path, bool], sqlite3.Connection]
"""Path of the database, and whether it is opened read-only -> a connection."""


def connect(path: Path, read_only: bool) -> sqlite3.Connection:
    """Open a database that exists; transactions are begun and ended by hand."""
    mode = "ro" if read_only else "rw"
    return sqlite3.connect(
        f"file:{quote(str(path.absolute()))}?mode={mode}",
        uri=True,
        timeout=BUSY_WAIT_S,
        isolation_level=None,
        # It may be closed by another thread, but is never used by two at once.
        check_same_thread=False,
    )
