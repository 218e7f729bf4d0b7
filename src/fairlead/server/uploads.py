"""Files that clients uploaded for a prompt, kept below the data folder until they are used.

An upload has an id of ours and never a path of the client's. The kind is told by the first bytes,
not by the client. Old uploads go when the whole is too large.
"""

from __future__ import annotations

import uuid
from pathlib import Path

from msgspec import Struct

from fairlead.errors import UsageError
from fairlead.host.attachments import document, image
from fairlead.server.limits import Limits
from fairlead.wire.blocks import Block, TextBlock

__all__ = ["Upload", "Uploads"]

IMAGES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8")
PDF = b"%PDF-"
MIB = 1024 * 1024


class Upload(Struct, frozen=True, kw_only=True):
    """A file that was received."""

    id: str
    size: int
    kind: str
    """image, document, or text."""


class Uploads:
    """The uploads of one server."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        self._folder = folder
        self._limits = limits

    def keep(self, content: bytes) -> Upload:
        """Store an upload; raises `UsageError` for what no prompt can carry."""
        kind = _kind(content)
        self._check_size(kind, len(content))
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._make_room(len(content))
        upload = Upload(id=uuid.uuid4().hex, size=len(content), kind=kind)
        path = self._folder / upload.id
        path.touch(mode=0o600)
        path.write_bytes(content)
        return upload

    def block(self, upload_id: str, name: str = "") -> Block:
        """An upload as a block of a prompt."""
        if not upload_id.isalnum():
            raise UsageError("there is no such upload")
        try:
            content = (self._folder / upload_id).read_bytes()
        except OSError:
            raise UsageError("there is no such upload; send the file again") from None
        kind = _kind(content)
        if kind == "image":
            return image(content)
        if kind == "document":
            return document(content, title=name or None)
        heading = f"{name}:\n\n" if name else ""
        return TextBlock(text=heading + content.decode())

    def _check_size(self, kind: str, size: int) -> None:
        limits = self._limits
        most, instead = {
            "image": (limits.image_bytes, "make it smaller"),
            "text": (limits.prompt_bytes, "name its path with @ instead, if the agent can read it"),
        }.get(kind, (limits.upload_bytes, "leave parts of it out"))
        if size > most:
            what = {"image": "an image", "text": "a text file"}.get(kind, "a document")
            raise UsageError(f"{what} may have {most / MIB:g} MB at most; {instead}")

    def _make_room(self, needed: int) -> None:
        files = sorted(self._folder.iterdir(), key=lambda path: path.stat().st_mtime)
        total = sum(path.stat().st_size for path in files)
        for path in files:
            if total + needed <= self._limits.uploads_bytes:
                return
            total -= path.stat().st_size
            path.unlink()


def _kind(content: bytes) -> str:
    # A sound file begins with RIFF as well.
    if content.startswith(IMAGES) or (content[:4] == b"RIFF" and content[8:12] == b"WEBP"):
        return "image"
    if content.startswith(PDF):
        return "document"
    try:
        content.decode()
    except UnicodeDecodeError:
        raise UsageError("a prompt can carry images, PDF files and text") from None
    if not content:
        raise UsageError("the file is empty")
    return "text"
