"""Everything that an engine needs to start, as one value; `startup` creates it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from fairlead.emulator.mcp.server import Server
from fairlead.emulator.script.scenario import Scenario
from fairlead.emulator.state.session import Session
from fairlead.permissions.rules.book import RuleBook
from fairlead.permissions.rules.paths import PathContext

__all__ = ["Setup"]


class Setup(Struct, frozen=True, kw_only=True):
    """The start of a session."""

    session: Session
    scenario: Scenario
    book: RuleBook
    path_context: PathContext
    servers: Mapping[str, Server] = field(default_factory=dict)
    server_problems: tuple[Mapping[str, Any], ...] = ()
    unused_servers: frozenset[str] = frozenset()
    """Servers of `.mcp.json` that a setting or flag leaves out."""
    history: tuple[dict[str, Any], ...] = ()
    """Messages of the session that is resumed."""
    seen: frozenset[str] = frozenset()
    """Uuids of its prompts."""
    parent: str | None = None
    """The uuid of the last record of the transcript."""
