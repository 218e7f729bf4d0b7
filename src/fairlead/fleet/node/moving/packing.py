"""Writes and reads the file of a package (`protocol/move_package`). Blocks: call it in a thread."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from fairlead.fleet.protocol.move_package import (
    END,
    HEADER_BYTES,
    MANIFEST,
    Manifest,
    Part,
    UnreadablePackage,
    decode_manifest,
    encode_part,
    read_header,
)

__all__ = ["PackageWriter", "PartReader", "read_package", "remove_folder"]

CHUNK = 1024 * 1024


class PackageWriter:
    """Writes a package to a new file that only the user can read."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        self._file = os.fdopen(os.open(path, flags, 0o600), "wb")
        self.add(MANIFEST, msgspec.json.encode(manifest))

    def add(self, kind: str, content: bytes, name: str = "") -> None:
        """Add a part."""
        self._file.write(encode_part(kind, content, name))

    def add_file(self, kind: str, path: Path, name: str = "") -> None:
        """Add a file as a part."""
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            self._file.write(msgspec.json.encode(Part(kind=kind, name=name, size=size)) + b"\n")
            left = size
            while left and (content := file.read(min(CHUNK, left))):
                self._file.write(content)
                left -= len(content)
            if left:
                raise OSError(f"{path} became shorter while it was read")

    def close(self) -> None:
        """Write the end."""
        self.add(END, b"")
        self._file.close()


class PartReader:
    """One part of a package, which is read or skipped before the next."""

    def __init__(self, part: Part, file: BinaryIO) -> None:
        self.kind = part.kind
        self.name = part.name
        self.size = part.size
        self._file = file
        self._left = part.size

    def read(self, limit: int) -> bytes:
        """The whole content; raises `UnreadablePackage` if it is larger than the limit."""
        if self.size > limit:
            raise UnreadablePackage(
                f"A part of the package ({self.kind}) has {self.size:,} bytes; "
                f"at most {limit:,} are accepted."
            )
        return b"".join(self._chunks())

    def copy_to(self, path: Path) -> None:
        """Write the content to a new file."""
        with path.open("xb") as target:
            for chunk in self._chunks():
                target.write(chunk)

    def skip(self) -> None:
        """Go to the end of the part."""
        for _ in self._chunks():
            pass

    def _chunks(self) -> Iterator[bytes]:
        while self._left:
            chunk = self._file.read(min(CHUNK, self._left))
            if not chunk:
                raise UnreadablePackage("The package of the session is cut off. Move it again.")
            self._left -= len(chunk)
            yield chunk


def read_package(path: Path) -> Iterator[Manifest | PartReader]:
    """The manifest of a package, then its other parts; raises `UnreadablePackage`."""
    with path.open("rb") as file:
        first = True
        while True:
            part = PartReader(read_header(file.readline(HEADER_BYTES)), file)
            if first != (part.kind == MANIFEST):
                raise UnreadablePackage("The package of the session is damaged: no manifest.")
            if part.kind == END:
                return
            if first:
                first = False
                yield decode_manifest(part.read(CHUNK))
                continue
            yield part
            part.skip()


def remove_folder(folder: Path) -> None:
    """Delete a folder that this package made, if it exists."""
    shutil.rmtree(folder, ignore_errors=True)
