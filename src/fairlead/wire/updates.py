"""Changes to the CLI's permission rules, in suggestions and in answers.

Both `permission_suggestions` (incoming) and `updatedPermissions` (outgoing) have this form. An
incoming update that is not valid becomes an `UnknownUpdate` as a whole: a rule that is read in part
would have another meaning. Outgoing updates are checked strictly (`check` raises), because 2.1.38
treats an unknown destination as a denial of the whole call (CLI-305).
`permissions/rules/updates` applies them to rules.
"""

from typing import Any, TypeAlias

import msgspec
from msgspec import Struct, field, structs

from fairlead.errors import UsageError
from fairlead.wire import decoders
from fairlead.wire.blocks import NEVER
from fairlead.wire.modes import MODES

__all__ = [
    "BEHAVIORS",
    "DESTINATIONS",
    "AddDirectories",
    "AddRules",
    "KnownUpdate",
    "PermissionUpdate",
    "RemoveDirectories",
    "RemoveRules",
    "ReplaceRules",
    "RuleValue",
    "SetMode",
    "UnknownUpdate",
    "check",
    "read",
    "with_destination",
]

DESTINATIONS = ("session", "localSettings", "projectSettings", "userSettings", "cliArg")
BEHAVIORS = ("allow", "deny", "ask")


class RuleValue(
    Struct, frozen=True, rename="camel", omit_defaults=True, forbid_unknown_fields=True
):
    """One rule: a tool and a content; without a content, the rule is for the whole tool.

    Read completely or not at all: if an unreadable content or an unknown field were ignored, the
    rule would allow more than intended.
    """

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
    """Replace the rules of one behavior in one scope."""

    rules: tuple[RuleValue, ...]
    behavior: str
    destination: str


class RemoveRules(Struct, frozen=True, kw_only=True, tag_field="type", tag="removeRules"):
    """Remove rules from one scope."""

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
    """Remove folders again."""

    directories: tuple[str, ...]
    destination: str


class UnknownUpdate(
    Struct, frozen=True, tag_field="type", tag=f"{NEVER}update", forbid_unknown_fields=True
):
    """A suggestion of an unknown type; it can be shown but not sent."""

    type_name: str = ""
    data: Any = field(default=None)
    problem: str = ""


KnownUpdate: TypeAlias = (
    AddRules | ReplaceRules | RemoveRules | SetMode | AddDirectories | RemoveDirectories
)
"""An update of a known type; its values may still be unknown."""

PermissionUpdate: TypeAlias = (
    AddRules
    | ReplaceRules
    | RemoveRules
    | SetMode
    | AddDirectories
    | RemoveDirectories
    | UnknownUpdate
)


def read(plain: Any) -> PermissionUpdate:
    """Read an update from plain JSON values: whole, or as an `UnknownUpdate`. Never fails."""
    try:
        update: PermissionUpdate = decoders.convert(plain, PermissionUpdate)
    except (msgspec.ValidationError, RecursionError) as error:
        name = plain.get("type") if isinstance(plain, dict) else None
        return UnknownUpdate(name if isinstance(name, str) else "", plain, str(error))
    return update


def with_destination(update: PermissionUpdate, destination: str) -> PermissionUpdate:
    """The same change in another scope, for example `session`."""
    if isinstance(update, UnknownUpdate):
        return update
    return structs.replace(update, destination=destination)


def check(update: PermissionUpdate) -> None:
    """Raise `UsageError` unless every CLI version applies this update as intended."""
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
    if not isinstance(values, tuple) or not all(isinstance(item, kind) and item for item in values):
        raise UsageError(f"{name} of a permission update is a tuple of {kind.__name__}")


def _check_rule(rule: RuleValue) -> None:
    if not rule.tool_name or not isinstance(rule.tool_name, str):
        raise UsageError("a permission rule needs the name of a tool")
    if rule.rule_content is not None and not isinstance(rule.rule_content, str):
        raise UsageError(f"the content of a permission rule is a text, not {rule.rule_content!r}")
