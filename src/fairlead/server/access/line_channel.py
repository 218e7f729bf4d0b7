"""One line each way between a program of the same user and the running server.

The server answers at a socket in its data folder that only its own user can use (`local_socket`).
A caller sends one line and gets one line of JSON. `owner_channel` gives out links this way, and a
gateway carries out the commands of `fairlead fleet`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fairlead.server.access.local_socket import (
    is_own_user,
    listen_for_owner,
    remove_socket,
    short_path,
)

__all__ = ["Reply", "answering_lines", "ask_line"]

log = logging.getLogger("fairlead")

Reply = dict[str, Any]
"""What a caller gets: a result, or a sentence in `error`."""

Answer = Callable[[bytes], Awaitable[Reply]]
"""Answers one line."""


@asynccontextmanager
async def answering_lines(
    path: Path, answer: Answer, *, refusal: str, wait_s: float, line_bytes: int
) -> AsyncIterator[bool]:
    """Answer callers while the block runs; False if the file system has no sockets.

    A caller of another user gets the refusal. A caller that sends no line in time gets nothing.
    """

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(wait_s):
                if is_own_user(writer.get_extra_info("socket")):
                    reply = await answer(await reader.readline())
                else:
                    reply = {"error": refusal}
                writer.write(json.dumps(reply).encode() + b"\n")
                await writer.drain()
        except (OSError, TimeoutError, ValueError) as problem:
            log.warning("a caller at %s was not answered: %s", path.name, problem)
        finally:
            writer.close()

    listener = listen_for_owner(path)
    if listener is None:
        yield False
        return
    async with await asyncio.start_unix_server(serve, sock=listener, limit=line_bytes):
        try:
            yield True
        finally:
            remove_socket(path)


def ask_line(path: Path, line: bytes, wait_s: float) -> Reply:
    """What the server answers to one line.

    Raises `PermissionError` if the socket belongs to another user, and another `OSError` or a
    `ValueError` if no server answers.
    """
    with short_path(path.parent) as folder, socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(wait_s)
        caller.connect(f"{folder}/{path.name}")
        caller.sendall(line + b"\n")
        with caller.makefile("r", encoding="utf-8") as lines:
            reply: Reply = json.loads(lines.readline() or "{}")
            return reply
