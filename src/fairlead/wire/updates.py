"""Changes to the CLI's permission rules, as they travel in suggestions and in answers.

The same shapes come in (`permission_suggestions`) and go out (`updatedPermissions`). Coming in,
what does not fit is an `UnknownUpdate` as a whole: no field has a default, because a rule that
is read in part would say something else. Going out they are strict, because 2.1.38 takes an
unknown destination for a denial of the whole call (TRUTH 1.3): `check` raises.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import Struct, field, structs

from fairlead.errors import UsageError
from fairlead.wire.blocks import NEVER

__all__ = [
    "BEHAVIORS",
    "DESTINATIONS",
    "MODES",
    "AddDirectories",
    "AddRules",
    "PermissionUpdate",
    "RemoveDirectories",
    "RemoveRules",
    "ReplaceRules",
    "RuleValue",
    "SetMode",
    "UnknownUpdate",
    "check",
    "with_destination",
]

DESTINATIONS = ("session", "localSettings", "projectSettings", "userSettings", "cliArg")
BEHAVIORS = ("allow", "deny", "ask")
MODES = ("default", "acceptEdits", "plan", "dontAsk", "bypassPermissions", "auto")


class RuleValue(Struct, frozen=True, rename="camel", omit_defaults=True):
    """One rule: a tool, and what of it; no content means the whole tool."""

    tool_name: str
    rule_content: str | None = None

    def __str__(self) -> str:
        return (
            self.tool_name
            if self.rule_content is None
            else f"{self.tool_name}({self.rule_content})"
        )


class AddRules(Struct, frozen=True, kw_only=True, tag_field="type", tag="addRules"):
    """Add rules to one scope."""

    rules: tuple[RuleValue, ...]
    behavior: str
    destination: str


class ReplaceRules(Struct, frozen=True, kw_only=True, tag_field="type", tag="replaceRules"):
    """Replace the rules of one behaviour in one scope."""

    rules: tuple[RuleValue, ...]
    behavior: str
    destination: str


class RemoveRules(Struct, frozen=True, kw_only=True, tag_field="type", tag="removeRules"):
    """Take rules out of one scope."""

    rules: tuple[RuleValue, ...]
    behavior: str
    destination: str


class SetMode(Struct, frozen=True, kw_only=True, tag_field="type", tag="setMode"):
    """Change the permission mode."""

    mode: str
    destination: str


class AddDirectories(Struct, frozen=True, kw_only=True, tag_field="type", tag="addDirectories"):
    """Let tools work in more folders."""

    directories: tuple[str, ...]
    destination: str


class RemoveDirectories(
    Struct, frozen=True, kw_only=True, tag_field="type", tag="removeDirectories"
):
    """Take folders back."""

    directories: tuple[str, ...]
    destination: str


class UnknownUpdate(
    Struct, frozen=True, tag_field="type", tag=f"{NEVER}update", forbid_unknown_fields=True
):
    """A suggestion of a kind Fairlead does not know; it can be shown but not sent."""

    type_name: str = ""
    data: Any = field(default=None)
    problem: str = ""


PermissionUpdate: TypeAlias = (
    AddRules
    | ReplaceRules
    | RemoveRules
    | SetMode
    | AddDirectories
    | RemoveDirectories
    | UnknownUpdate
)


def with_destination(update: PermissionUpdate, destination: str) -> PermissionUpdate:
    """The same change in another scope; "only for this session" is `session`."""
    if isinstance(update, UnknownUpdate):
        return update
    return structs.replace(update, destination=destination)


def check(update: PermissionUpdate) -> None:
    """Raise `UsageError` unless every CLI version takes this update as it is meant."""
    if isinstance(update, UnknownUpdate):
        raise UsageError(f"a permission update of type {update.type_name!r} cannot be sent")
    if not isinstance(update, PermissionUpdate):
        raise UsageError(f"a {type(update).__name__} is not a permission update")
    _one_of("destination", update.destination, DESTINATIONS)
    if isinstance(update, SetMode):
        _one_of("mode", update.mode, MODES)
    elif isinstance(update, AddDirectories | RemoveDirectories):
        _filled("directories", update.directories, str)
    else:
        _one_of("behavior", update.behavior, BEHAVIORS)
        if update.rules or not isinstance(update, ReplaceRules):
            _filled("rules", update.rules, RuleValue)
        for rule in update.rules:
            _check_rule(rule)


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise UsageError(f"{name} {value!r} is not one of {', '.join(allowed)}")


def _filled(name: str, values: tuple[object, ...], kind: type) -> None:
    if not values:
        raise UsageError(f"a permission update without {name} changes nothing")
    if not isinstance(values, tuple) or not all(isinstance(one, kind) and one for one in values):
        raise UsageError(f"{name} of a permission update is a tuple of {kind.__name__}")


def _check_rule(rule: RuleValue) -> None:
    if not rule.tool_name or not isinstance(rule.tool_name, str):
        raise UsageError("a permission rule needs the name of a tool")
    if rule.rule_content is not None and not isinstance(rule.rule_content, str):
        raise UsageError(f"the content of a permission rule is a text, not {rule.rule_content!r}")
