"""Permissions people can understand: rules, modes, scopes, and why a call is asked about.

`check` and `explain` tell what the CLI will do with a call and by which rule; `Guard` is the
host's own policy; `always_choices` is what "always" can mean; `load_settings` and `write_update`
keep the CLI's files; `AuditRecord` is what remains of a decision.
Knows the wire's spelling of a PermissionUpdate and nothing else of the protocol.
"""

from fairlead.permissions.audit import AuditRecord, Decider, Outcome, audited, input_sha256
from fairlead.permissions.audit_log import AuditLog
from fairlead.permissions.book import RuleBook, SourcedDirectory, SourcedMode, SourcedRule
from fairlead.permissions.choices import Choice, always_choices
from fairlead.permissions.decisions import Decision, Reason, ToolCall
from fairlead.permissions.families import (
    CLASSIC,
    CURRENT,
    FAMILIES,
    FIRST,
    LATE,
    MIDDLE,
    Family,
    family_of,
)
from fairlead.permissions.guard import Guard, Verdict
from fairlead.permissions.modes import Mode, parse_mode
from fairlead.permissions.paths import Place
from fairlead.permissions.policy import check, explain
from fairlead.permissions.rules import Rule
from fairlead.permissions.scopes import Behaviour, Scope
from fairlead.permissions.settings import (
    SettingsFiles,
    load_settings,
    place_of,
    read_settings,
    write_update,
)
from fairlead.permissions.suggestions import suggestions
from fairlead.permissions.updates import (
    DirectoryUpdate,
    ModeUpdate,
    PermissionUpdate,
    RuleUpdate,
    UnknownUpdate,
    apply_update,
    from_wire,
    to_wire,
    with_destination,
)

__all__ = [
    "CLASSIC",
    "CURRENT",
    "FAMILIES",
    "FIRST",
    "LATE",
    "MIDDLE",
    "AuditLog",
    "AuditRecord",
    "Behaviour",
    "Choice",
    "Decider",
    "Decision",
    "DirectoryUpdate",
    "Family",
    "Guard",
    "Mode",
    "ModeUpdate",
    "Outcome",
    "PermissionUpdate",
    "Place",
    "Reason",
    "Rule",
    "RuleBook",
    "RuleUpdate",
    "Scope",
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
    "from_wire",
    "input_sha256",
    "load_settings",
    "parse_mode",
    "place_of",
    "read_settings",
    "suggestions",
    "to_wire",
    "with_destination",
    "write_update",
]
