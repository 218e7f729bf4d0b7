"""The protocol of NATS as a client speaks it: lines of text, and messages with their bytes. Pure.

https://docs.nats.io/reference/reference-protocols/nats-protocol
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

__all__ = [
    "DESCRIPTION",
    "PING",
    "PONG",
    "STATUS",
    "Control",
    "NatsMessage",
    "Operation",
    "ProtocolReader",
    "UnreadableBytes",
    "connecting",
    "published",
    "subscribed",
    "unsubscribed",
]

PING, PONG = b"PING\r\n", b"PONG\r\n"

STATUS, DESCRIPTION = "Status", "Description"
"""The names by which `NatsMessage.headers` has what the server says about a message without data."""

LINE_BYTES = 256 * 1024
"""Most bytes of a line; the greeting of a large cluster is the longest."""

MESSAGE_BYTES = 64 * 1024 * 1024
"""Most bytes of a message; a server allows 1 MiB unless it is told otherwise."""

HEADER_LINE = "NATS/1.0"
END = b"\r\n"

CONTROLS = frozenset({"INFO", "PING", "PONG", "+OK", "-ERR"})

SHOWN = 40
"""Bytes that an error shows of what cannot be read."""

_name = re.compile(r"[!-~]+").fullmatch
"""A subject, or the name of a header: visible characters of ASCII, so that no line is cut."""


class NatsMessage(Struct, frozen=True, gc=False):
    """A message of a subscription."""

    subscription: int
    subject: str
    reply: str
    """Where an answer is expected; empty if none is."""
    headers: dict[str, str] | None
    data: bytes


class Control(Struct, frozen=True, gc=False):
    """Anything else that a server sends."""

    verb: str
    """INFO, PING, PONG, +OK or -ERR."""
    text: bytes


Operation: TypeAlias = NatsMessage | Control


class UnreadableBytes(ValueError):
    """The other side does not speak this protocol."""


class ProtocolReader:
    """Finds the operations in the bytes of a server, however they are cut."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._needed = 0
        """With fewer bytes than this the next operation is not complete."""

    def feed(self, data: bytes) -> list[Operation]:
        """The operations that are complete now; raises `UnreadableBytes`."""
        if self._rest:
            self._rest += data
            if len(self._rest) < self._needed:
                return []
            data, self._rest = bytes(self._rest), bytearray()
        operations: list[Operation] = []
        at, end = 0, len(data)
        try:
            while at < end:
                line_end = data.find(END, at)
                if line_end < 0:
                    _check_length(end - at, LINE_BYTES)
                    self._needed = end - at + 1
                    break
                _check_length(line_end - at, LINE_BYTES)
                line = data[at:line_end]
                start = line_end + len(END)
                if line.startswith((b"MSG ", b"HMSG ")):
                    size = _number(line[line.rindex(b" ") + 1 :])
                    _check_length(size, MESSAGE_BYTES)
                    stop = start + size + len(END)
                    if stop > end:
                        self._needed = stop - at
                        break
                    if data[stop - len(END) : stop] != END:
                        raise ValueError("a message has another length than it says")
                    operations.append(_message(line, data[start : start + size]))
                    at = stop
                else:
                    operations.append(_control(line))
                    at = start
        except ValueError as problem:
            raise UnreadableBytes(
                "it is not a NATS server, or the connection is damaged: it sent "
                f"{data[at : at + SHOWN]!r}"
            ) from problem
        if at < end:
            self._rest += data[at:]
        return operations


def _check_length(size: int, most: int) -> None:
    if size > most:
        raise ValueError(size)


def _number(text: bytes | str) -> int:
    """A number of digits only; `int` accepts more."""
    if not text.isdigit():
        raise ValueError(text)
    return int(text)


def _control(line: bytes) -> Control:
    verb, _, text = line.partition(b" ")
    name = verb.decode("ascii").upper()
    if name not in CONTROLS:
        raise ValueError(name)
    return Control(name, text)


def _message(line: bytes, content: bytes) -> NatsMessage:
    """`MSG subject sid [reply] bytes`, or `HMSG subject sid [reply] header-bytes bytes`."""
    words = line.decode("ascii").split(" ")
    sizes = 1 if words[0] == "MSG" else 2
    if len(words) == 3 + sizes:
        reply = ""
    elif len(words) == 4 + sizes and words[3]:
        reply = words[3]
    else:
        raise ValueError(line)
    if sizes == 1:
        return NatsMessage(_number(words[2]), words[1], reply, None, content)
    size = _number(words[-2])
    _check_length(size, len(content))
    headers = _headers(content[:size].decode("utf-8", "replace"))
    return NatsMessage(_number(words[2]), words[1], reply, headers, content[size:])


def _headers(text: str) -> dict[str, str]:
    """The headers, and the status that the first line may have."""
    first, *lines = text.split("\r\n")
    if not first.startswith(HEADER_LINE):
        raise ValueError(first)
    headers: dict[str, str] = {}
    status, _, description = first.removeprefix(HEADER_LINE).strip().partition(" ")
    if status:
        headers[STATUS] = status
    if description:
        headers[DESCRIPTION] = description
    for line in lines:
        name, found, value = line.partition(":")
        if found:  # The last one counts: the server adds its own at the end.
            headers[name] = value.strip()
    return headers


def connecting(options: dict[str, Any]) -> bytes:
    """The answer to the greeting of a server."""
    return b"CONNECT " + msgspec.json.encode(options) + END


def published(
    subject: str, reply: str, payload: bytes, headers: dict[str, str] | None = None
) -> bytes:
    """A message; raises `ValueError` for a subject or a header that cannot be sent."""
    _check(subject)
    if reply:
        _check(reply)
    to = f"{subject} {reply}" if reply else subject
    if not headers:
        return b"PUB %b %d\r\n%b\r\n" % (to.encode(), len(payload), payload)
    lines = (f"{_check(name)}: {_check_value(value)}\r\n" for name, value in headers.items())
    head = f"{HEADER_LINE}\r\n{''.join(lines)}\r\n".encode()
    size = len(head) + len(payload)
    return b"HPUB %b %d %d\r\n%b%b\r\n" % (to.encode(), len(head), size, head, payload)


def subscribed(subject: str, number: int) -> bytes:
    """Messages with a subject come with this number from now on."""
    return f"SUB {_check(subject)} {number}\r\n".encode()


def unsubscribed(number: int) -> bytes:
    """Messages with this number come no longer."""
    return b"UNSUB %d\r\n" % number


def _check(name: str) -> str:
    if _name(name) is None:
        raise ValueError(f"{name!r} cannot be sent to a NATS server")
    return name


def _check_value(value: str) -> str:
    if "\r" in value or "\n" in value:
        raise ValueError(f"{value!r} cannot be a header of a message")
    return value
