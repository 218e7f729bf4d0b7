"""What the policy says about a call, and why: the values that people and programs read.

Neighbours: `policy` makes them, `guard` and `audit` pass them on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from fairlead.permissions.book import SourcedRule
from fairlead.permissions.scopes import Behaviour

__all__ = ["Decision", "Reason", "ToolCall"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool and its input, as the model asks for it."""

    tool: str
    input: Mapping[str, Any] = field(default_factory=dict)
    mcp_server: str | None = None
    """The server of an MCP tool, where the CLI says it."""

    def text(self, key: str) -> str:
        """One field of the input, if it is text; else nothing."""
        value = self.input.get(key)
        return value if isinstance(value, str) else ""


class Reason(StrEnum):
    """What a decision rests on."""

    RULE = "rule"
    MODE = "mode"
    READ_ONLY = "readOnly"
    WORKING_DIRECTORY = "workingDirectory"
    PROTECTED = "protected"
    NOT_UNDERSTOOD = "notUnderstood"
    NEEDS_A_PERSON = "needsAPerson"
    HARMLESS = "harmless"
    DOCUMENTATION = "documentation"
    NO_RULE = "noRule"
    CLASSIFIER = "classifier"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Allow, ask or deny, with the reason in a word, in words, and by name."""

    behaviour: Behaviour
    reason: Reason
    words: str
    rule: SourcedRule | None = None
    """The rule that decided; None if none did."""
    blocked_path: str | None = None
    """The file that stopped the call, if one did."""
    trail: tuple[str, ...] = ()
    """Every step that was taken, in words."""

    def after(self, *steps: str) -> Decision:
        """The same decision, with steps that came before it."""
        return replace(self, trail=(*steps, *self.trail))

    def __str__(self) -> str:
        return f"{self.behaviour.value}: {self.words}"
