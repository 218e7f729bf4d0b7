"""How `fairlead fleet` talks to the running gateway: a socket in the gateway's data folder.

Only the user who runs the gateway can use it. One line of JSON each way: `{"do": …}` with the
arguments, and the result or `{"error": …}`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fairlead.errors import FairleadError, UsageError
from fairlead.server.access.local_socket import is_own_user, listen_for_owner, short_path

__all__ = ["Commands", "NoGateway", "ask_gateway", "control_channel"]

log = logging.getLogger("fairlead")

SOCKET = "fleet.sock"
LINE_BYTES = 65_536
WAIT_S = 30.0

Commands = Mapping[str, Callable[[dict[str, Any]], Awaitable[Any]]]
"""What can be asked for, by name."""


class NoGateway(UsageError):
    """No gateway answers in this data folder."""

    exit_code = 1


@asynccontextmanager
async def control_channel(data: Path, commands: Commands) -> AsyncIterator[None]:
    """Carry out what callers ask for while the block runs."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(WAIT_S):
                reply = await _reply(reader, writer, commands)
                writer.write(json.dumps(reply).encode() + b"\n")
                await writer.drain()
        except (OSError, TimeoutError, ValueError) as problem:
            log.warning("a request of `fairlead fleet` was not answered: %s", problem)
        finally:
            writer.close()

    listener = listen_for_owner(data / SOCKET)
    if listener is None:
        yield
        return
    async with await asyncio.start_unix_server(answer, sock=listener, limit=LINE_BYTES):
        try:
            yield
        finally:
            (data / SOCKET).unlink(missing_ok=True)


async def _reply(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, commands: Commands
) -> dict[str, Any]:
    if not is_own_user(writer.get_extra_info("socket")):
        return {"error": "Only the user who runs the gateway can do this."}
    question = json.loads(await reader.readline())
    command = commands.get(str(question.pop("do", "")))
    if command is None:
        return {"error": "The gateway does not know this command. Is it an older version?"}
    try:
        return {"result": await command(question)}
    except FairleadError as problem:
        return {"error": str(problem)}


def ask_gateway(data: Path, command: str, **arguments: object) -> Any:
    """What the gateway of a data folder answers; raises `NoGateway` or `UsageError`."""
    with short_path(data) as folder, socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(WAIT_S)
        try:
            caller.connect(f"{folder}/{SOCKET}")
            caller.sendall(json.dumps({"do": command, **arguments}).encode() + b"\n")
            with caller.makefile("r", encoding="utf-8") as lines:
                reply = json.loads(lines.readline() or "{}")
        except PermissionError:
            raise UsageError(
                f"The gateway of {str(data)!r} runs as another user. Run this as that user."
            ) from None
        except (OSError, ValueError):
            raise NoGateway(
                f"No gateway is running with the data folder {str(data)!r}. Start one with "
                "`fairlead gateway`, or name its folder with --data."
            ) from None
    if "result" not in reply:
        raise UsageError(str(reply.get("error", "The gateway did not answer. Try again.")))
    return reply["result"]
