"""The answer to `list_permission_rules`: every rule, and in words what it covers (CLI-1656). Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fairlead.permissions.model.scopes import Behavior
from fairlead.permissions.rules.book import SourcedRule
from fairlead.permissions.rules.rule import Rule

__all__ = ["report_rules"]

ORDER = (Behavior.ALLOW, Behavior.ASK, Behavior.DENY)


def report_rules(rules: Iterable[SourcedRule]) -> list[dict[str, Any]]:
    """All rules: those that allow, that ask, that deny."""
    return [_entry(rule) for rule in sorted(rules, key=lambda rule: ORDER.index(rule.behavior))]


def _entry(rule: SourcedRule) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "behavior": rule.behavior.value,
        "source": rule.scope.value,
        "rule": str(rule.rule),
    }
    description = _description(rule.rule)
    if description is not None:
        entry["description"] = description
    return {**entry, "editability": "session" if rule.scope.in_memory else "persistent"}


def _description(rule: Rule) -> dict[str, str] | None:
    """What a rule for a whole tool or for a command covers; the CLI does not describe others."""
    if rule.content is None:
        return {"prefix": "Any use of the ", "emphasis": rule.tool, "suffix": " tool"}
    if rule.tool != "Bash":
        return None
    for end in (":*", " *"):
        if rule.content.endswith(end):
            command = rule.content.removesuffix(end)
            return {"prefix": "Any Bash command starting with ", "emphasis": command}
    return {"prefix": "The Bash command ", "emphasis": rule.content}
