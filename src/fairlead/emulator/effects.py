"""What the engine wants done outside: values that the program carries out, one file per meaning.

An effect that has an answer carries a number; the program gives the answer back with
`engine.finish(number, value)`. The others are done in the order in which they were drained.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fairlead.permissions.updates import PermissionUpdate

__all__ = [
    "Append",
    "CallServer",
    "CheckTool",
    "Connect",
    "Disconnect",
    "Drop",
    "Effect",
    "Exit",
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


@dataclass(frozen=True, slots=True)
class Write:
    """One line for stdout."""

    message: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Tell:
    """A text for stderr."""

    text: str


@dataclass(frozen=True, slots=True)
class Exit:
    """The end of the process."""

    code: int


@dataclass(frozen=True, slots=True)
class Drop:
    """The answer of an effect is no longer wanted: stop it."""

    number: int


@dataclass(frozen=True, slots=True)
class Append:
    """Records for the transcript of a session."""

    session_id: str
    records: tuple[Mapping[str, Any], ...]
    agent_id: str | None = None


@dataclass(frozen=True, slots=True)
class SaveSettings:
    """Rules or directories for a settings file."""

    update: PermissionUpdate


@dataclass(frozen=True, slots=True)
class Sleep:
    """Answered with None after so many seconds."""

    number: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTool:
    """Answered with an `Outcome`."""

    number: int
    name: str
    input: Mapping[str, Any]
    tool_use_id: str
    session_id: str
    owner: str = ""
    """Id of the subagent that uses the tool; each has a memory of its own of what it read."""
    prompt: str = ""
    """Uuid of the prompt whose turn this is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckTool:
    """Whether a tool can work with its input, before anybody is asked; answered as RunTool is.

    The answer is None where nothing speaks against it.
    """

    number: int
    name: str
    input: Mapping[str, Any]
    owner: str = ""


@dataclass(frozen=True, slots=True)
class WatchTask:
    """Answered with a `TaskEnd` when a background command is over."""

    number: int
    task_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHook:
    """A command hook of the settings; answered with a `HookRun`."""

    number: int
    command: str
    input: Mapping[str, Any]
    timeout: float


@dataclass(frozen=True, slots=True)
class Connect:
    """Start a stdio MCP server; answered with a `Connection`."""

    number: int
    name: str
    config: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallServer:
    """A JSON-RPC request to a stdio server; answered with its response."""

    number: int
    name: str
    method: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReadFile:
    """Answered with the text of a file; None if it cannot be read."""

    number: int
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewind:
    """Put files back to what they were before a prompt; answered with what came of it."""

    number: int
    prompt: str
    dry_run: bool


@dataclass(frozen=True, slots=True)
class Suggest:
    """Answered with the files of the project whose names hold a text."""

    number: int
    query: str


@dataclass(frozen=True, slots=True)
class Disconnect:
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
    | Suggest
    | Rewind
)
