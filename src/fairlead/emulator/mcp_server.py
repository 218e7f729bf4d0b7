"""One MCP server as the session knows it: what it offers, and how its greeting went. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from fairlead.emulator.strands import Strand

__all__ = ["PROTOCOL", "Connection", "Server"]

PROTOCOL = "2025-11-25"
"""The version of MCP that is spoken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """How the greeting of a server went."""

    info: Mapping[str, Any] = field(default_factory=dict)
    tools: tuple[Mapping[str, Any], ...] = ()
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    problem: str | None = None

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
        )


@dataclass(slots=True, kw_only=True)
class Server:
    """A server and what it offers."""

    name: str
    config: Mapping[str, Any]
    scope: str = "dynamic"
    status: str = "pending"
    info: Mapping[str, Any] = field(default_factory=dict)
    tools: list[Mapping[str, Any]] = field(default_factory=list)
    has_resources: bool = False
    resources: list[Mapping[str, Any]] | None = None
    """Once somebody has asked for them."""
    is_enabled: bool = True
    is_late: bool = False
    """Named in `initialize`: the old version connects it with the first prompt."""
    next_id: int = 0
    work: list[Strand[None]] = field(default_factory=list)
    """Handshakes that were begun; the last one decides."""

    @property
    def is_sdk(self) -> bool:
        return self.config.get("type") == "sdk"

    @property
    def source(self) -> str:
        return "sdk" if self.is_sdk else self.scope

    def take_id(self) -> int:
        self.next_id += 1
        return self.next_id - 1

    def take(self, opened: Connection) -> None:
        """What came of a greeting."""
        self.info, self.tools = opened.info, list(opened.tools)
        self.has_resources = isinstance(opened.capabilities.get("resources"), dict)
        self.status = "connected" if opened.problem is None else "failed"


def _problem(opened: Mapping[str, Any]) -> str:
    error = opened.get("error")
    return str(error.get("message")) if isinstance(error, dict) else "it did not answer"
