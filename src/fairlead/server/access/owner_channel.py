"""How `fairlead link` asks the running server for a link: a socket in the data folder.

Only the user who runs the server can use it (`line_channel`). A client sends one line with the role
that it wants and gets one line of JSON. No secret is in a command line or an environment variable.
The lock of the data folder ensures that there is only one server.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from fairlead.errors import UsageError
from fairlead.server.access.line_channel import Reply, answering_lines, ask_line

__all__ = ["SOCKET", "NoServer", "ask_for_link", "owner_channel"]

log = logging.getLogger("fairlead")

MakeLink = Callable[[str], str | Awaitable[str]]
"""Creates a link for a role."""

SOCKET = "owner.sock"
LINE_BYTES = 256
WAIT_S = 10.0
"""How long either side waits for the other's line."""

REFUSAL = "Only the user who runs the server can get a link."


class NoServer(UsageError):
    """No server answers in this data folder."""

    exit_code = 1


@asynccontextmanager
async def owner_channel(data: Path, link: MakeLink) -> AsyncIterator[None]:
    """Answer callers with links while the block runs; `link` creates one for a role."""

    async def answer(line: bytes) -> Reply:
        role = line.decode("utf-8", "replace").strip()
        try:
            made = link(role)
            return {"link": made if isinstance(made, str) else await made}
        except UsageError as problem:
            return {"error": str(problem)}

    async with answering_lines(
        data / SOCKET, answer, refusal=REFUSAL, wait_s=WAIT_S, line_bytes=LINE_BYTES
    ) as listens:
        if not listens:
            log.warning("`fairlead link` will not work in %s", data)
        yield


def ask_for_link(data: Path, role: str) -> str:
    """A new link of the server that uses this data folder; raises `NoServer` or `UsageError`."""
    try:
        reply = ask_line(data / SOCKET, role.encode(), WAIT_S)
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
