"""One transcript file of the CLI, read only, from where it was left off.

The CLI appends whole lines; another process may be writing while we read, so a line counts when
its end is there. Broken lines are passed by and counted. What the records mean as a transcript
is `transcript.history`; here is only what a list of sessions shows.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec
from msgspec import Struct

from fairlead.store.import_index import IndexedFile
from fairlead.transcript import plain
from fairlead.transcript.branch import seconds
from fairlead.transcript.commands import is_output, typed
from fairlead.transcript.messages import INTERRUPTED
from fairlead.wire.framing import LineSplitter, Oversized
from fairlead.wire.json_text import NotJson, parse

__all__ = ["FileTail", "read_object", "read_records", "scan"]

CHUNK_BYTES = 1024 * 1024
MARK_BYTES = 256
"""How much before the place where we stopped is compared, to see that it is the same file."""
TEXT_LIMIT = 200
"""Characters of a title or a first prompt in the list."""


class _Head(Struct, rename="camel"):
    """The few fields of a record that the list needs; the rest is skipped unread."""

    type: Any = None
    timestamp: Any = None
    cwd: Any = None
    version: Any = None
    git_branch: Any = None
    is_meta: Any = None
    is_sidechain: Any = None
    is_compact_summary: Any = None
    custom_title: Any = None
    ai_title: Any = None
    title: Any = None
    summary: Any = None
    message: msgspec.Raw = msgspec.Raw(b"null")


_head = msgspec.json.Decoder(_Head).decode


class _Lines:
    """Complete lines of an open file from an offset on; `offset` then is where the next begins."""

    def __init__(self, descriptor: int, offset: int) -> None:
        self.descriptor = descriptor
        self.offset = offset
        self.rest = b""
        """What follows the last line end: a line that is still being written."""

    def __iter__(self) -> Iterator[bytes | Oversized]:
        splitter = LineSplitter()
        place = self.offset
        while chunk := os.pread(self.descriptor, CHUNK_BYTES, place):
            place += len(chunk)
            lines = splitter.feed(chunk)
            self.offset = place - splitter.pending
            yield from lines
        self.rest = b"".join(one for one in splitter.finish() if isinstance(one, bytes))


class FileTail:
    """Follows one file: each `read` gives the records that were completed since the last.

    `restarted` says that the file was replaced or cut, and everything is given again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.offset = 0
        self.restarted = False
        self._inode = 0
        self._mark = 0

    def read(self) -> list[dict[str, Any]]:
        """New records; raises `OSError` if the file cannot be read."""
        descriptor = _open(self.path)
        try:
            found = os.fstat(descriptor)
            same = found.st_ino == self._inode and self._mark == _mark(descriptor, self.offset)
            self.restarted = self.offset > 0 and not same
            lines = _Lines(descriptor, self.offset if same else 0)
            records = [one for line in lines if (one := _record(line)) is not None]
            self.offset, self._inode = lines.offset, found.st_ino
            self._mark = _mark(descriptor, self.offset)
            return records
        finally:
            os.close(descriptor)


def read_records(path: Path) -> list[dict[str, Any]]:
    """All records of a file, also a last one without its line end if it is whole."""
    descriptor = _open(path)
    try:
        lines = _Lines(descriptor, 0)
        records = [one for line in lines if (one := _record(line)) is not None]
        last = _record(lines.rest)
        return [*records, last] if last is not None else records
    finally:
        os.close(descriptor)


def read_object(path: Path) -> dict[str, Any]:
    """A file that is one JSON object; an empty one if it is not there or something else."""
    try:
        descriptor = _open(path)
    except OSError:
        return {}
    with open(descriptor, "rb") as file:
        return _record(file.read()) or {}


def scan(root: Path, path: str, before: IndexedFile | None) -> IndexedFile:
    """What the list shows of a file; reads only what was added since `before`."""
    descriptor = _open(root / path)
    try:
        found = os.fstat(descriptor)
        if (
            before is None
            or before.inode != found.st_ino
            or before.mark != _mark(descriptor, before.offset)
        ):
            before = IndexedFile(path=path, inode=found.st_ino, size=0, modified_ns=0)
        lines = _Lines(descriptor, before.offset)
        summary = _Summary(before)
        for line in lines:
            summary.take(line)
        return msgspec.structs.replace(
            before,
            **summary.fields,
            size=found.st_size,
            modified_ns=found.st_mtime_ns,
            offset=lines.offset,
            mark=_mark(descriptor, lines.offset),
        )
    finally:
        os.close(descriptor)


class _Summary:
    """Collects what the list shows, record by record."""

    def __init__(self, before: IndexedFile) -> None:
        self.fields: dict[str, Any] = {
            name: getattr(before, name)
            for name in before.__struct_fields__
            if name not in ("path", "inode", "size", "modified_ns", "offset", "mark")
        }

    def take(self, line: bytes | Oversized) -> None:
        """Learn from one line."""
        head = _head_of(line)
        if head is None:
            self.fields["broken"] += 1 if isinstance(line, Oversized) or line.strip() else 0
            return
        self._describe(head)
        if head.type in ("user", "assistant") and not (head.is_sidechain or head.is_meta):
            self._count(head)

    def _describe(self, head: _Head) -> None:
        fields = self.fields
        at = seconds({"timestamp": head.timestamp})
        if at is not None:
            fields["created"] = min(fields["created"] or at, at)
            fields["last_activity"] = max(fields["last_activity"], at)
        for name, value in (
            # A session may move to another folder; what counts is where it would be resumed.
            ("cwd", head.cwd),
            ("version", head.version),
            ("git_branch", head.git_branch),
        ):
            fields[name] = plain.text(value) or fields[name]
        fields["custom_title"] = _short(head.custom_title) or fields["custom_title"]
        if head.type in ("ai-title", "summary"):
            fields["title"] = _short(head.ai_title or head.title or head.summary) or fields["title"]

    def _count(self, head: _Head) -> None:
        fields = self.fields
        message = plain.mapping(_plain(head.message))
        if head.type == "assistant":
            name = plain.text(message.get("id"))
            fields["messages"] += not name or name != fields["last_message"]
            fields["last_message"] = name
            return
        text = _prompt(message.get("content"))
        if text and not head.is_compact_summary:
            fields["messages"] += 1
            fields["first_prompt"] = fields["first_prompt"] or _short(text)


def _prompt(content: Any) -> str:
    """What a person asked in a user record; empty for a tool's result or a command's output."""
    text = content if isinstance(content, str) else ""
    for block in plain.rows(content):
        if block.get("type") == "tool_result":
            return ""
        text = text or plain.text(block.get("text"))
    if is_output(text) or text.startswith((INTERRUPTED, "<task-notification>")):
        return ""
    return typed(text).strip() or ("(image)" if plain.rows(content) else "")


def _short(value: Any) -> str:
    """One line of text, not too long."""
    return " ".join(plain.text(value)[: TEXT_LIMIT * 4].split())[:TEXT_LIMIT]


def _head_of(line: bytes | Oversized) -> _Head | None:
    if isinstance(line, Oversized):
        return None
    try:
        return _head(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        record = _record(line)
        if record is None:
            return None
        # Lone surrogates and the like: parsed slowly, written clean, read again.
        return _head(msgspec.json.encode(record))


def _plain(raw: msgspec.Raw) -> Any:
    try:
        return parse(bytes(raw))
    except NotJson:
        return None


def _record(line: bytes | Oversized) -> dict[str, Any] | None:
    if isinstance(line, Oversized):
        return None
    try:
        found = parse(line)
    except NotJson:
        return None
    return found if isinstance(found, dict) else None


def _open(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)


def _mark(descriptor: int, offset: int) -> int:
    """A checksum of the bytes before an offset; 0 at the start, and for a file that is shorter."""
    start = max(offset - MARK_BYTES, 0)
    found = os.pread(descriptor, offset - start, start)
    return crc32(found, offset) if len(found) == offset - start else 0
