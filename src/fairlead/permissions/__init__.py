"""Permissions people can understand: rules, modes, scopes, and why a call is asked about.

`check` and `explain` tell what the CLI will do with a call and by which rule; `Guard` is the
host's own policy; `always_choices` is what "always" can mean; `load_settings` and `write_update`
keep the CLI's files; `AuditRecord` is what remains of a decision.
Of the protocol it uses the PermissionUpdate, and nothing else.
"""

from fairlead.permissions.audit import AuditRecord, Decider, Outcome, audited, input_sha256
from fairlead.permissions.audit_log import AuditLog
from fairlead.permissions.choices import Choice, always_choices
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
from fairlead.permissions.suggestions import suggestions
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

Place = PathContext
"""The old name of `PathContext`."""
