"""Files that clients uploaded for a prompt, stored in the data folder until they are used.

The server assigns the id of an upload and never uses a path from the client. The first bytes
determine the kind, not the client. The oldest uploads are deleted when all together are too large.
"""

from __future__ import annotations

import os
import uuid
from pathlib import Path

from msgspec import Struct

from fairlead.errors import UsageError
from fairlead.host.attachments import document, image
from fairlead.server.limits import Limits
from fairlead.server.refusal import Refusal
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
        """Store an upload; raises `UsageError` for a file that no prompt can contain."""
        kind = _kind(content)
        self._check_size(kind, len(content))
        upload = Upload(id=uuid.uuid4().hex, size=len(content), kind=kind)
        try:
            self._write(upload.id, content)
        except OSError as problem:
            raise Refusal(
                "unavailable",
                f"The file cannot be stored now ({problem.strerror or problem}). Make room in the "
                "server's data folder and send it again.",
            ) from problem
        return upload

    def _write(self, name: str, content: bytes) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._make_room(len(content))
        path = self._folder / name
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
                file.write(content)
        except OSError:
            path.unlink(missing_ok=True)
            raise

    def content(self, upload_id: str) -> bytes:
        """The bytes of an upload."""
        if not upload_id.isalnum():
            raise UsageError("Upload not found. Send the file again.")
        try:
            return (self._folder / upload_id).read_bytes()
        except OSError:
            raise UsageError("Upload not found. Send the file again.") from None

    def block(self, upload_id: str, name: str = "") -> Block:
        """An upload as a block of a prompt."""
        content = self.content(upload_id)
        kind = _kind(content)
        if kind == "image":
            return image(content)
        if kind == "document":
            return document(content, title=name or None)
        heading = f"{name}:\n\n" if name else ""
        return TextBlock(text=heading + content.decode())

    def _check_size(self, kind: str, size: int) -> None:
        limits = self._limits
        most, advice = {
            "image": (limits.image_bytes, "Make it smaller."),
            "text": (limits.prompt_bytes, "Mention its path with @ if the agent can read it."),
        }.get(kind, (limits.upload_bytes, "Leave parts of it out."))
        if size > most:
            what = {"image": "An image", "text": "A text file"}.get(kind, "A document")
            raise UsageError(f"{what} can have at most {most / MIB:g} MB. {advice}")

    def _make_room(self, needed: int) -> None:
        files = sorted(self._folder.iterdir(), key=lambda path: path.stat().st_mtime)
        total = sum(path.stat().st_size for path in files)
        for path in files:
            if total + needed <= self._limits.uploads_bytes:
                return
            total -= path.stat().st_size
            path.unlink()


def _kind(content: bytes) -> str:
    # A WAV file also starts with RIFF.
    if content.startswith(IMAGES) or (content[:4] == b"RIFF" and content[8:12] == b"WEBP"):
        return "image"
    if content.startswith(PDF):
        return "document"
    try:
        content.decode()
    except UnicodeDecodeError:
        raise UsageError("A prompt can contain images, PDF files and text.") from None
    if not content:
        raise UsageError("The file is empty.")
    return "text"
