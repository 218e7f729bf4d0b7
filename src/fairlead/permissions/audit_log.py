"""The audit log on disk: one JSON line per decision, append-only.

The file is the owner's alone (0600). Each record is one write to a file opened for appending, so
that several processes may share a log. Neighbor: `audit` makes the records.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from fairlead.permissions.audit import AuditRecord

__all__ = ["AuditLog"]


class AuditLog:
    """An append-only file of audit records."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def append(self, record: AuditRecord) -> None:
        """Write one record, and have it on disk before returning."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        line = (record.to_json() + "\n").encode("utf-8", "surrogatepass")
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, line)
            os.fsync(handle)
        finally:
            os.close(handle)

    def records(self) -> Iterator[AuditRecord]:
        """Every record that can be read; a line torn by a crash is passed over."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            for line in file:
                try:
                    yield AuditRecord.from_json(line.decode("utf-8", "surrogatepass"))
                except ValueError:
                    continue
