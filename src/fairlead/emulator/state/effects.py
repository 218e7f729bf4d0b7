"""What the engine asks the program to do: values, which the program carries out.

An effect that has an answer carries a number; the program returns the answer with
`engine.finish(number, value)`. The others are carried out in the order in which they were drained.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from fairlead.wire.updates import PermissionUpdate

__all__ = [
    "Append",
    "CallServer",
    "CheckTool",
    "Connect",
    "Disconnect",
    "Drop",
    "Effect",
    "Exit",
    "FindPath",
    "ReadFile",
    "Rewind",
    "RunHook",
    "RunTool",
    "SaveSettings",
    "Sleep",
    "Suggest",
    "Tell",
    "WatchTask",
    "Write",
]


class Write(Struct, frozen=True):
    """One line for stdout."""

    message: Mapping[str, Any]


class Tell(Struct, frozen=True):
    """A text for stderr."""

    text: str


class Exit(Struct, frozen=True):
    """End the process."""

    code: int


class Drop(Struct, frozen=True):
    """Cancel an effect whose answer is no longer needed."""

    number: int


class Append(Struct, frozen=True):
    """Records for the transcript of a session."""

    session_id: str
    records: tuple[Mapping[str, Any], ...]
    agent_id: str | None = None


class SaveSettings(Struct, frozen=True):
    """Rules or directories for a settings file."""

    update: PermissionUpdate


class Sleep(Struct, frozen=True):
    """Answered with None after this many seconds."""

    number: int
    seconds: float


class RunTool(Struct, frozen=True, kw_only=True):
    """Answered with an `Outcome`."""

    number: int
    name: str
    input: Mapping[str, Any]
    tool_use_id: str
    session_id: str
    owner: str = ""
    """Id of the subagent that uses the tool; the files that were read are recorded for each one."""
    prompt: str = ""
    """Uuid of the prompt whose turn this is."""


class CheckTool(Struct, frozen=True, kw_only=True):
    """Check the input of a tool before a permission is requested; answered as RunTool is.

    The answer is None if the tool can run.
    """

    number: int
    name: str
    input: Mapping[str, Any]
    owner: str = ""
    may_read: bool = True
    """Whether the file may be read without a question."""


class WatchTask(Struct, frozen=True):
    """Answered with a `TaskEnd` when a background command is over."""

    number: int
    task_id: str


class RunHook(Struct, frozen=True, kw_only=True):
    """A command hook of the settings; answered with a `HookRun`."""

    number: int
    command: str
    input: Mapping[str, Any]
    timeout: float


class Connect(Struct, frozen=True):
    """Start a stdio MCP server; answered with a `Connection`."""

    number: int
    name: str
    config: Mapping[str, Any]


class CallServer(Struct, frozen=True, kw_only=True):
    """A JSON-RPC request to a stdio server; answered with its response."""

    number: int
    name: str
    method: str
    params: Mapping[str, Any] = field(default_factory=dict)


class ReadFile(Struct, frozen=True):
    """Answered with the text of a file; None if it cannot be read."""

    number: int
    path: str


class Rewind(Struct, frozen=True, kw_only=True):
    """Put files back to what they were before a prompt; answered with the outcome."""

    number: int
    later: tuple[str, ...]
    """The prompt and all after it; empty if there is no such prompt."""
    dry_run: bool


class FindPath(Struct, frozen=True):
    """Answered with what is at a path: `folder`, `file`, or None."""

    number: int
    path: str


class Suggest(Struct, frozen=True):
    """Answered with the files of the project whose names contain a text."""

    number: int
    query: str


class Disconnect(Struct, frozen=True):
    """Stop a stdio MCP server."""

    name: str


Effect = (
    Write
    | Tell
    | Exit
    | Drop
    | Append
    | SaveSettings
    | Sleep
    | RunTool
    | CheckTool
    | WatchTask
    | RunHook
    | Connect
    | CallServer
    | Disconnect
    | ReadFile
    | FindPath
    | Suggest
    | Rewind
)
