"""How `fairlead fleet` talks to the running gateway: a socket in the gateway's data folder.

Only the user who runs the gateway can use it (`line_channel`). One line of JSON each way:
`{"do": …}` with the arguments, and the result or `{"error": …}`.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fairlead.errors import FairleadError, UsageError
from fairlead.server.access.line_channel import Reply, answering_lines, ask_line

__all__ = ["Commands", "NoGateway", "ask_gateway", "control_channel"]

SOCKET = "fleet.sock"
LINE_BYTES = 65_536
WAIT_S = 30.0

REFUSAL = "Only the user who runs the gateway can do this."

Commands = Mapping[str, Callable[[dict[str, Any]], Awaitable[Any]]]
"""What can be asked for, by name."""


class NoGateway(UsageError):
    """No gateway answers in this data folder."""

    exit_code = 1


@asynccontextmanager
async def control_channel(data: Path, commands: Commands) -> AsyncIterator[None]:
    """Carry out what callers ask for while the block runs."""

    async def answer(line: bytes) -> Reply:
        question = json.loads(line)
        command = commands.get(str(question.pop("do", "")))
        if command is None:
            return {"error": "The gateway does not know this command. Is it an older version?"}
        try:
            return {"result": await command(question)}
        except FairleadError as problem:
            return {"error": str(problem)}

    async with answering_lines(
        data / SOCKET, answer, refusal=REFUSAL, wait_s=WAIT_S, line_bytes=LINE_BYTES
    ):
        yield


def ask_gateway(data: Path, command: str, **arguments: object) -> Any:
    """What the gateway of a data folder answers; raises `NoGateway` or `UsageError`."""
    question = json.dumps({"do": command, **arguments}).encode()
    try:
        reply = ask_line(data / SOCKET, question, WAIT_S)
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
