"""The decision of the policy about a call, with its reasons, as values for users and programs.

Neighbors: `policy` creates them, `guard` and `audit` pass them on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from fairlead.permissions.model.scopes import Behavior
from fairlead.permissions.rules.book import SourcedRule

__all__ = ["Decision", "Reason", "ToolCall"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool and its input, as the model requests it."""

    tool: str
    input: Mapping[str, Any] = field(default_factory=dict)
    mcp_server: str | None = None
    """The server of an MCP tool, if the CLI names it."""

    def text(self, key: str) -> str:
        """One field of the input if it is text, otherwise an empty string."""
        value = self.input.get(key)
        return value if isinstance(value, str) else ""


class Reason(StrEnum):
    """Why a decision was made."""

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
    """Allow, may ask, ask or deny, with the reason as a value and as text."""

    behavior: Behavior
    reason: Reason
    words: str
    rule: SourcedRule | None = None
    """The rule that decided, if one did."""
    blocked_path: str | None = None
    """The file that the call may not access, if this is the reason."""
    trail: tuple[str, ...] = ()
    """Every step of the decision, as text."""

    def after(self, *steps: str) -> Decision:
        """The same decision with earlier steps before its own."""
        return replace(self, trail=(*steps, *self.trail))

    def __str__(self) -> str:
        return f"{self.behavior.in_words}: {self.words}"
