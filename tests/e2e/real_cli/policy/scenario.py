"""One scenario: a layout, rules, a mode, and the tool calls to be decided. Pure values.

Paths contain placeholders, so that a scenario can be stored and replayed in any folder: `@P` is
the project, `@O` a folder next to it, `@H` the home folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

__all__ = ["Call", "PlacedRule", "Scenario"]

PlacedRule = tuple[str, str, str]
"""Where (user, project, local, flag, allowedTools, disallowedTools), behavior, rule."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool and its input."""

    tool: str
    input: Mapping[str, Any]

    def __str__(self) -> str:
        command = self.input.get("command")
        return f"{self.tool}: {command if isinstance(command, str) else dict(self.input)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """What one process of the CLI is asked to decide."""

    seed: str
    mix: str
    """`wild` for everything that the generator knows, `everyday` for what people type."""
    layout: str
    mode: str
    mode_from: str = "flag"
    """Where the mode is set: `flag`, or `user`, `project`, `local` for `defaultMode`."""
    trusted: bool = True
    rules: tuple[PlacedRule, ...] = ()
    directories: tuple[tuple[str, str], ...] = ()
    """Where (as for rules, or `addDir`) and which additional directory."""
    bypass_disabled: str = ""
    """The scope whose settings disable the mode bypassPermissions; empty if none does."""
    calls: tuple[Call, ...] = ()

    def with_calls(self, *calls: Call) -> Scenario:
        """The same scenario with other calls."""
        return replace(self, calls=calls)

    def with_rules(self, *rules: PlacedRule) -> Scenario:
        """The same scenario with other rules."""
        return replace(self, rules=rules)

    def plain(self) -> dict[str, Any]:
        """The scenario as JSON data."""
        return asdict(self)

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Scenario:
        """A scenario from JSON data."""
        fields = dict(plain)
        fields["rules"] = tuple(
            (where, behavior, rule) for where, behavior, rule in fields["rules"]
        )
        fields["directories"] = tuple((where, path) for where, path in fields["directories"])
        fields["calls"] = tuple(Call(call["tool"], call["input"]) for call in fields["calls"])
        return cls(**fields)
