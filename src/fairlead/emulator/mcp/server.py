"""One MCP server as the session knows it: its tools, and the outcome of its handshake. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from msgspec import Struct, field, structs

from fairlead.emulator.state.ports import OpenRequest
from fairlead.emulator.state.scheduler import Job

__all__ = ["PROTOCOL", "Connection", "Server"]

PROTOCOL = "2025-11-25"
"""The version of MCP."""


class Connection(Struct, frozen=True, kw_only=True):
    """The outcome of a handshake."""

    info: Mapping[str, Any] = field(default_factory=dict)
    tools: tuple[Mapping[str, Any], ...] = ()
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    problem: str | None = None
    code: int | None = None
    """The code of a JSON-RPC error."""

    def without_program(self, program: str) -> Self:
        """The same outcome; an error about the program does not name it."""
        if self.problem is None or not program:
            return self
        return structs.replace(self, problem=self.problem.replace(f"'{program}'", "'stdio'"))

    @classmethod
    def of(cls, opened: Mapping[str, Any], listed: Mapping[str, Any]) -> Self:
        """From the answers to `initialize` and `tools/list`."""
        hello = opened.get("result") or {}
        capabilities = hello.get("capabilities")
        return cls(
            info=hello.get("serverInfo") or {},
            tools=tuple((listed.get("result") or {}).get("tools") or ()),
            capabilities=capabilities if isinstance(capabilities, dict) else {},
            problem=None if "result" in opened else _problem(opened),
            code=(opened.get("error") or {}).get("code"),
        )


class Server(Struct, kw_only=True):
    """A server and what it offers."""

    name: str
    config: Mapping[str, Any]
    scope: str = "dynamic"
    status: str = "pending"
    problem: str = ""
    """Why the connection failed."""
    code: int | None = None
    info: Mapping[str, Any] = field(default_factory=dict)
    tools: list[Mapping[str, Any]] = field(default_factory=list)
    has_resources: bool = False
    resources: list[Mapping[str, Any]] | None = None
    """Set once they were requested."""
    is_enabled: bool = True
    was_set: bool = False
    """Configured by the host itself: by `mcp_set_servers`, or as JSON on the command line."""
    was_added: bool = False
    """Whether the host added it by `mcp_set_servers`: it has only one handshake (CLI-828)."""
    is_late: bool = False
    """Named in `initialize`: the old version connects it with the first prompt."""
    next_id: int = 0
    work: list[Job[None]] = field(default_factory=list)
    """Handshakes that were started; the last one counts."""
    handshake_requests: dict[int, OpenRequest] = field(default_factory=dict)
    """The last request of a handshake under each id."""

    @property
    def is_sdk(self) -> bool:
        return self.config.get("type") == "sdk"

    @property
    def source(self) -> str:
        return "sdk" if self.is_sdk else self.scope

    def error(self, *, with_code: bool) -> str:
        """Why the connection failed, as the version reports it."""
        shows = with_code and self.code is not None
        return f"MCP error {self.code}: {self.problem}" if shows else self.problem

    def take_id(self) -> int:
        self.next_id += 1
        return self.next_id - 1

    def take(self, opened: Connection) -> None:
        """Apply the outcome of a handshake."""
        self.info, self.tools = opened.info, list(opened.tools)
        self.has_resources = isinstance(opened.capabilities.get("resources"), dict)
        self.status = "connected" if opened.problem is None else "failed"
        self.problem, self.code = opened.problem or "", opened.code


def _problem(opened: Mapping[str, Any]) -> str:
    error = opened.get("error")
    return str(error.get("message")) if isinstance(error, dict) else "it did not answer"
