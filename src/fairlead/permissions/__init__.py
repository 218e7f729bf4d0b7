"""Permissions people can understand: rules, modes, scopes, and why a call is asked about.

`check` and `explain` tell what the CLI will do with a call and by which rule; `Guard` is the
host's own policy; `always_choices` is what "always" can mean; `load_settings` and `write_update`
keep the CLI's files; `AuditRecord` is what remains of a decision.
Of the protocol it uses the PermissionUpdate, and nothing else.

Names are loaded when they are first used, because an idle server needs few of them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairlead.permissions.audit import AuditRecord, Decider, Outcome, audited, input_sha256
    from fairlead.permissions.audit_log import AuditLog
    from fairlead.permissions.choices import Choice, always_choices
    from fairlead.permissions.cli_suggestions import suggestions
    from fairlead.permissions.guard import Guard, Verdict
    from fairlead.permissions.model.families import (
        CLASSIC,
        CURRENT,
        FAMILIES,
        FIRST,
        LATE,
        MIDDLE,
        Family,
        family_of,
    )
    from fairlead.permissions.model.modes import Mode, parse_mode
    from fairlead.permissions.model.scopes import Behavior, Scope
    from fairlead.permissions.policy import check, explain
    from fairlead.permissions.rules.book import RuleBook, SourcedDirectory, SourcedMode, SourcedRule
    from fairlead.permissions.rules.decisions import Decision, Reason, ToolCall
    from fairlead.permissions.rules.paths import PathContext
    from fairlead.permissions.rules.rule import Rule
    from fairlead.permissions.rules.settings import (
        SettingsFiles,
        load_settings,
        place_of,
        read_settings,
        write_update,
    )
    from fairlead.permissions.rules.updates import (
        apply_update,
        problem_of,
        read_update,
        rule_values,
        rules_of,
    )
    from fairlead.wire.updates import (
        AddDirectories,
        AddRules,
        PermissionUpdate,
        RemoveDirectories,
        RemoveRules,
        ReplaceRules,
        RuleValue,
        SetMode,
        UnknownUpdate,
        with_destination,
    )

    Place = PathContext

_HOME: dict[str, tuple[str, ...]] = {
    "fairlead.permissions.audit": (
        "AuditRecord",
        "Decider",
        "Outcome",
        "audited",
        "input_sha256",
    ),
    "fairlead.permissions.audit_log": ("AuditLog",),
    "fairlead.permissions.choices": (
        "Choice",
        "always_choices",
    ),
    "fairlead.permissions.guard": (
        "Guard",
        "Verdict",
    ),
    "fairlead.permissions.model.families": (
        "CLASSIC",
        "CURRENT",
        "FAMILIES",
        "FIRST",
        "LATE",
        "MIDDLE",
        "Family",
        "family_of",
    ),
    "fairlead.permissions.model.modes": (
        "Mode",
        "parse_mode",
    ),
    "fairlead.permissions.model.scopes": (
        "Behavior",
        "Scope",
    ),
    "fairlead.permissions.policy": (
        "check",
        "explain",
    ),
    "fairlead.permissions.rules.book": (
        "RuleBook",
        "SourcedDirectory",
        "SourcedMode",
        "SourcedRule",
    ),
    "fairlead.permissions.rules.decisions": (
        "Decision",
        "Reason",
        "ToolCall",
    ),
    "fairlead.permissions.rules.paths": ("PathContext",),
    "fairlead.permissions.rules.rule": ("Rule",),
    "fairlead.permissions.rules.settings": (
        "SettingsFiles",
        "load_settings",
        "place_of",
        "read_settings",
        "write_update",
    ),
    "fairlead.permissions.rules.updates": (
        "apply_update",
        "problem_of",
        "read_update",
        "rule_values",
        "rules_of",
    ),
    "fairlead.permissions.cli_suggestions": ("suggestions",),
    "fairlead.wire.updates": (
        "AddDirectories",
        "AddRules",
        "PermissionUpdate",
        "RemoveDirectories",
        "RemoveRules",
        "ReplaceRules",
        "RuleValue",
        "SetMode",
        "UnknownUpdate",
        "with_destination",
    ),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "CLASSIC",
    "CURRENT",
    "FAMILIES",
    "FIRST",
    "LATE",
    "MIDDLE",
    "AddDirectories",
    "AddRules",
    "AuditLog",
    "AuditRecord",
    "Behavior",
    "Choice",
    "Decider",
    "Decision",
    "Family",
    "Guard",
    "Mode",
    "Outcome",
    "PathContext",
    "PermissionUpdate",
    "Place",
    "Reason",
    "RemoveDirectories",
    "RemoveRules",
    "ReplaceRules",
    "Rule",
    "RuleBook",
    "RuleValue",
    "Scope",
    "SetMode",
    "SettingsFiles",
    "SourcedDirectory",
    "SourcedMode",
    "SourcedRule",
    "ToolCall",
    "UnknownUpdate",
    "Verdict",
    "always_choices",
    "apply_update",
    "audited",
    "check",
    "explain",
    "family_of",
    "input_sha256",
    "load_settings",
    "parse_mode",
    "place_of",
    "problem_of",
    "read_settings",
    "read_update",
    "rule_values",
    "rules_of",
    "suggestions",
    "with_destination",
    "write_update",
]

_OLD_NAMES = {"Place": "PathContext"}


def __getattr__(name: str) -> Any:
    now = _OLD_NAMES.get(name, name)
    if now not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_MODULE_OF[now]), now)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
