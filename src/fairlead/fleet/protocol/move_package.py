"""A session on its way to another machine, as one stream of bytes. Pure.

A package consists of parts: a line of JSON that names the part and its size, and its content. The
first part is the manifest, and the last one is an empty `end`, so that a package that is cut off is
noticed. Another machine, which may be hostile, wrote everything in a package, so the machine that
unpacks it checks every name.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from fairlead.errors import FairleadError
from fairlead.store.tables.sessions import SessionRow

__all__ = [
    "BUNDLE", "CLI_FILE", "END", "EVENTS", "MANIFEST", "OUTCOMES",
    "GitWork", "Manifest", "Part", "UnreadablePackage", "decode_manifest", "encode_part",
    "read_header",
]  # fmt: skip

MANIFEST, EVENTS, OUTCOMES, CLI_FILE, BUNDLE, END = (
    "manifest", "events", "outcomes", "cli_file", "bundle", "end",
)  # fmt: skip
"""The kinds of parts: `EVENTS` is a batch of the log, `CLI_FILE` a file of the CLI's own."""

VERSION = 1

HEADER_BYTES = 4_096


class UnreadablePackage(FairleadError):
    """A package is cut off, damaged, or of a newer version."""


class GitWork(Struct, frozen=True, kw_only=True):
    """What is needed to make a working tree from the bundle of a package."""

    name: str
    """The name of the repository's folder."""
    top: str
    """The folder of the repository on the former machine."""
    inside: str
    """The folder of the session, relative to the repository; empty for its root."""
    branch: str | None
    head: str
    index: str
    work: str
    remote: str = ""


class Manifest(Struct, frozen=True, kw_only=True):
    """What a package contains."""

    version: int = VERSION
    move: str
    row: SessionRow
    generation: int
    """The generation of the session on the new machine."""
    node: str
    """The id of the former machine."""
    name: str
    """What people call it."""
    resume: bool = False
    """Whether its CLI ran, so that it is resumed."""
    fork: bool = False
    """Whether this becomes a new session, and the former one stays where it is."""
    last: int = 0
    """The number of the last event."""
    git: GitWork | None = None


class Part(Struct, frozen=True, kw_only=True):
    """The header of a part."""

    kind: str
    name: str = ""
    size: int = 0


_part = msgspec.json.Decoder(Part)
_manifest = msgspec.json.Decoder(Manifest)


def encode_part(kind: str, content: bytes = b"", name: str = "") -> bytes:
    """A part with its content."""
    return msgspec.json.encode(Part(kind=kind, name=name, size=len(content))) + b"\n" + content


def read_header(line: bytes) -> Part:
    """The header of a part from its line."""
    if not line.endswith(b"\n"):
        raise UnreadablePackage("The package of the session is cut off. Move it again.")
    try:
        part = _part.decode(line)
    except msgspec.DecodeError as problem:
        raise UnreadablePackage(f"The package of the session is damaged: {problem}.") from None
    if part.size < 0:
        raise UnreadablePackage("The package of the session is damaged: a size is negative.")
    return part


def decode_manifest(content: bytes) -> Manifest:
    """The manifest of a package."""
    try:
        manifest = _manifest.decode(content)
    except msgspec.DecodeError as problem:
        raise UnreadablePackage(f"The manifest of the session is damaged: {problem}.") from None
    if manifest.version > VERSION:
        raise UnreadablePackage(
            "The session comes from a newer version of Fairlead. Update Fairlead on this machine."
        )
    return manifest
