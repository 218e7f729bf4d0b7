"""How `fairlead link` asks the running server for a link: a socket in the data folder.

Only the user who runs the server can use it: the folder and the socket belong to this user alone,
and the server also checks the user of each caller if the system reports it. A client sends one
line with the role that it wants and gets one line of JSON. No secret is in a command line or an
environment variable. The lock of the data folder ensures that there is only one server.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from fairlead.errors import UsageError
from fairlead.server.access.local_socket import is_own_user, listen_for_owner, short_path

__all__ = ["SOCKET", "NoServer", "ask_for_link", "owner_channel"]

log = logging.getLogger("fairlead")

MakeLink = Callable[[str], str | Awaitable[str]]
"""Creates a link for a role."""

SOCKET = "owner.sock"
LINE_BYTES = 256
WAIT_S = 10.0
"""How long either side waits for the other's line."""


class NoServer(UsageError):
    """No server answers in this data folder."""

    exit_code = 1


@asynccontextmanager
async def owner_channel(data: Path, link: MakeLink) -> AsyncIterator[None]:
    """Answer callers with links while the block runs; `link` creates one for a role."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(WAIT_S):
                writer.write(json.dumps(await _reply(reader, writer, link)).encode() + b"\n")
                await writer.drain()
        except (OSError, TimeoutError, ValueError) as problem:
            log.warning("a request for a link was not answered: %s", problem)
        finally:
            writer.close()

    listener = listen_for_owner(data / SOCKET)
    if listener is None:
        log.warning("`fairlead link` will not work in %s", data)
        yield
        return
    async with await asyncio.start_unix_server(answer, sock=listener, limit=LINE_BYTES):
        try:
            yield
        finally:
            (data / SOCKET).unlink(missing_ok=True)


async def _reply(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, link: MakeLink
) -> dict[str, str]:
    if not is_own_user(writer.get_extra_info("socket")):
        return {"error": "Only the user who runs the server can get a link."}
    role = (await reader.readline()).decode("utf-8", "replace").strip()
    try:
        made = link(role)
        return {"link": made if isinstance(made, str) else await made}
    except UsageError as problem:
        return {"error": str(problem)}


def ask_for_link(data: Path, role: str) -> str:
    """A new link of the server that uses this data folder; raises `NoServer` or `UsageError`."""
    with short_path(data) as folder, socket.socket(socket.AF_UNIX) as caller:
        caller.settimeout(WAIT_S)
        try:
            caller.connect(f"{folder}/{SOCKET}")
            caller.sendall(f"{role}\n".encode())
            with caller.makefile("r", encoding="utf-8") as answer:
                reply = json.loads(answer.readline() or "{}")
        except PermissionError:
            raise UsageError(
                f"The server of {str(data)!r} runs as another user. Ask that user for a link."
            ) from None
        except (OSError, ValueError):
            raise NoServer(
                f"No server is running with the data folder {str(data)!r}. Start one with "
                "`fairlead serve`, or name its folder with --data."
            ) from None
    if "link" not in reply:
        raise UsageError(str(reply.get("error", "The server did not answer. Try again.")))
    return str(reply["link"])
