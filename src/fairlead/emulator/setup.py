"""All that an engine needs to begin, as one value. `startup` makes it from the outside world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fairlead.emulator.mcp_server import Server
from fairlead.emulator.scenario import Scenario
from fairlead.emulator.session import Session
from fairlead.permissions.book import RuleBook
from fairlead.permissions.paths import Place

__all__ = ["Setup"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The beginning of a session."""

    session: Session
    scenario: Scenario
    book: RuleBook
    permission_place: Place
    servers: Mapping[str, Server] = field(default_factory=dict)
    server_problems: tuple[Mapping[str, Any], ...] = ()
    history: tuple[dict[str, Any], ...] = ()
    """Messages of the session that is resumed."""
    seen: frozenset[str] = frozenset()
    """Uuids of its prompts."""
    parent: str | None = None
    """The record that the next one follows."""
