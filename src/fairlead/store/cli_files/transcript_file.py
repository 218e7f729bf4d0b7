"""Reads one transcript file of the CLI incrementally.

The CLI appends whole lines. Another process may be writing, so a line counts once its line end is
there. Broken lines are skipped and counted. `transcript.history` converts records to a
transcript; this module extracts only what a list of sessions shows.
"""

from __future__ import annotations

import errno
import os
import stat
from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec
from msgspec import Struct

from fairlead.store.tables.import_index import IndexedFile
from fairlead.transcript.history.branch import seconds
from fairlead.transcript.reducers.commands import is_output, typed
from fairlead.transcript.reducers.messages import INTERRUPTED
from fairlead.transcript.state import plain
from fairlead.wire.framing import LineSplitter, Oversized
from fairlead.wire.json_text import NotJson, parse

__all__ = ["FileTail", "read_object", "read_records", "scan"]

CHUNK_BYTES = 1024 * 1024
MARK_BYTES = 256
"""Bytes before the last offset that are compared, to see whether it is the same file."""
OBJECT_BYTES = 1024 * 1024
"""Limit of a small file next to a session's file; a larger one is not from the CLI."""
FILE_BYTES = 1024 * 1024 * 1024
"""Limit of a session's file; a larger one is listed as damaged and not read."""
TEXT_LIMIT = 200
"""Characters of a title or a first prompt in the list."""


class _Head(Struct, rename="camel"):
    """The fields of a record that the list needs; the others are not decoded."""

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
        """The bytes after the last line end: a line that is still being written."""

    def __iter__(self) -> Iterator[bytes | Oversized]:
        splitter = LineSplitter()
        position = self.offset
        while chunk := os.pread(self.descriptor, CHUNK_BYTES, position):
            position += len(chunk)
            lines = splitter.feed(chunk)
            self.offset = position - splitter.pending
            yield from lines
        self.rest = b"".join(line for line in splitter.finish() if isinstance(line, bytes))


class FileTail:
    """Follows one file: each `read` returns the records that were completed since the last.

    `restarted` is True if the file was replaced or truncated; all records are then returned again.
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
            status = os.fstat(descriptor)
            same = status.st_ino == self._inode and self._mark == _mark(descriptor, self.offset)
            self.restarted = self.offset > 0 and not same
            lines = _Lines(descriptor, self.offset if same else 0)
            records = [record for line in lines if (record := _record(line)) is not None]
            self.offset, self._inode = lines.offset, status.st_ino
            self._mark = _mark(descriptor, self.offset)
            return records
        finally:
            os.close(descriptor)


def read_records(path: Path) -> list[dict[str, Any]]:
    """All records of a file, including a complete last one without a line end."""
    descriptor = _open(path)
    try:
        lines = _Lines(descriptor, 0)
        records = [record for line in lines if (record := _record(line)) is not None]
        last = _record(lines.rest)
        return [*records, last] if last is not None else records
    finally:
        os.close(descriptor)


def read_object(path: Path) -> dict[str, Any]:
    """A file with one JSON object; {} if it is missing or has other content."""
    try:
        descriptor = _open(path)
    except OSError:
        return {}
    with open(descriptor, "rb") as file:
        content = file.read(OBJECT_BYTES + 1)
    return {} if len(content) > OBJECT_BYTES else _record(content) or {}


def scan(root: Path, path: str, before: IndexedFile | None) -> IndexedFile:
    """The index row of a file; reads only what was added since `before`."""
    descriptor = _open(root / path)
    try:
        status = os.fstat(descriptor)
        if (
            before is None
            or before.problem
            or before.inode != status.st_ino
            or before.mark != _mark(descriptor, before.offset)
        ):
            before = IndexedFile(path=path, inode=status.st_ino, size=0, modified_ns=0)
        lines = _Lines(descriptor, before.offset)
        summary = _Summary(before)
        for line in lines:
            summary.take(line)
        return msgspec.structs.replace(
            before,
            **summary.fields,
            size=status.st_size,
            modified_ns=status.st_mtime_ns,
            offset=lines.offset,
            mark=_mark(descriptor, lines.offset),
        )
    finally:
        os.close(descriptor)


class _Summary:
    """Collects the fields of an index row, record by record."""

    def __init__(self, before: IndexedFile) -> None:
        self.fields: dict[str, Any] = {
            name: getattr(before, name)
            for name in before.__struct_fields__
            if name not in ("path", "inode", "size", "modified_ns", "offset", "mark")
        }

    def take(self, line: bytes | Oversized) -> None:
        """Update the fields from one line."""
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
            # A session may move to another folder; it would be resumed in the last one.
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
    """The user's text in a user record; empty for a tool's result or a command's output."""
    text = content if isinstance(content, str) else ""
    for block in plain.rows(content):
        if block.get("type") == "tool_result":
            return ""
        text = text or plain.text(block.get("text"))
    if is_output(text) or text.startswith((INTERRUPTED, "<task-notification>")):
        return ""
    return typed(text).strip() or ("(image)" if plain.rows(content) else "")


def _short(value: Any) -> str:
    """The text as one line, shortened."""
    return " ".join(plain.text(value)[: TEXT_LIMIT * 4].split())[:TEXT_LIMIT]


def _head_of(line: bytes | Oversized) -> _Head | None:
    if isinstance(line, Oversized) or not _may_be_record(line):
        return None
    try:
        return _head(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        record = _record(line)
    if record is None:
        return None
    try:
        # For example lone surrogates: parsed by the slow path and encoded again.
        return _head(msgspec.json.encode(record))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def _plain(raw: msgspec.Raw) -> Any:
    try:
        return parse(bytes(raw))
    except NotJson:
        return None


def _may_be_record(line: bytes) -> bool:
    """Whether a line begins like a JSON object, perhaps after a byte order mark.

    A parser that refuses a line takes 20 microseconds to say so, and a hostile file of 1 MB has
    half a million lines.
    """
    return line.lstrip()[:1] == b"{" or line.startswith(BOM_UTF8)


def _record(line: bytes | Oversized) -> dict[str, Any] | None:
    if isinstance(line, Oversized) or not _may_be_record(line):
        return None
    try:
        record = parse(line)
    except NotJson:
        return None
    return record if isinstance(record, dict) else None


def _open(path: Path) -> int:
    """Open a plain file; `OSError` for anything else, and for one that is too large to read."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode) and status.st_size <= FILE_BYTES:
        return descriptor
    os.close(descriptor)
    if stat.S_ISREG(status.st_mode):
        raise OSError(errno.EFBIG, f"it is larger than {FILE_BYTES // 1024**2} MiB", str(path))
    raise OSError(errno.EINVAL, "it is not a plain file", str(path))


def _mark(descriptor: int, offset: int) -> int:
    """A checksum of the bytes before an offset; 0 at the start, and for a file that is shorter."""
    start = max(offset - MARK_BYTES, 0)
    before = os.pread(descriptor, offset - start, start)
    return crc32(before, offset) if len(before) == offset - start else 0
