"""The files of a working tree, opened through the server's own checks (`files`)."""

from __future__ import annotations

import base64
import binascii
import os
from dataclasses import dataclass

from fairlead.server.files import Folders

__all__ = ["WorkingFiles", "id_of", "path_of_id", "shown_path"]


@dataclass(frozen=True, slots=True)
class WorkingFiles:
    """Files below a folder; links are not followed."""

    opening: Folders
    root: str

    def size(self, path: str) -> int | None:
        """Bytes of a regular file."""
        return self.opening.size(self.root, path.split("/"))

    def read(self, path: str, most: int) -> bytes | None:
        """The content of a regular file that has at most `most` bytes."""
        content = self.opening.read_plain(self.root, path.split("/"), most + 1)
        return None if content is None or len(content) > most else content

    def start(self, path: str, most: int) -> bytes | None:
        """The first `most` bytes of a regular file."""
        return self.opening.read_plain(self.root, path.split("/"), most)


def id_of(path: str) -> str:
    """A name for a path in addresses and JSON, where not every file name can stand."""
    return base64.urlsafe_b64encode(os.fsencode(path)).decode("ascii").rstrip("=")


def path_of_id(file: str) -> str | None:
    """The path that `id_of` gave this id for; None if it gave it for none."""
    try:
        return os.fsdecode(base64.b64decode(file + "=" * (-len(file) % 4), b"-_", validate=True))
    except (binascii.Error, ValueError):
        return None


def shown_path(path: str) -> str:
    """The path as text: bytes that are not UTF-8 are written as escapes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
