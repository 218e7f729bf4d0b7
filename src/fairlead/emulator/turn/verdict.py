"""The decision of the permissions package about a call, in the form of the CLI.

Pure: turns a `Decision` into a `Verdict` with the fields of can_use_tool, the text of a denial and
the metadata of a tool result (CLI-307). `permissions` asks the host.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field, structs

from fairlead.emulator.state.profile import Profile
from fairlead.permissions.model.scopes import Behavior, Scope
from fairlead.permissions.rules.book import SourcedRule
from fairlead.permissions.rules.decisions import Decision, Reason, ToolCall
from fairlead.permissions.rules.rule import Rule
from fairlead.permissions.rules.tools import EDITORS, INTERACTIVE, READERS
from fairlead.permissions.shell.command_paths import EDIT_COMMANDS, command_paths
from fairlead.permissions.shell.commands import parse_command
from fairlead.permissions.shell.parts import parts_with_reserved_words

__all__ = ["Meta", "Verdict", "leaves_it_open", "verdict_of"]

Meta = dict[str, Any]

NOT_CHECKED = "A nested command in this command can't be checked before it runs"
NO_CLASSIFIER = (
    "Auto mode is unavailable: its safety check does not run for this session, "
    "so {tool} was not run. Finish what needs no check, and say what is left."
)


class Verdict(Struct, frozen=True, kw_only=True):
    """Allow, ask or deny, with the fields of the protocol."""

    behavior: Behavior
    reason_type: str | None = None
    reason: str | None = None
    source: str = "config"
    message: str = ""
    """The text for the model if the call is not allowed."""
    kind: str = "permission-rule"
    """non_execution_kind of a denial."""
    request: Mapping[str, Any] = field(default_factory=dict)
    """Fields of can_use_tool that depend on the decision."""
    offers: bool = True
    """Whether suggestions are made."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Fields of permission_denied."""
    is_unreadable: bool = False
    """A file that a rule forbids: refused by the tool itself, without a notice."""

    def accepted(self) -> Meta:
        """permission_decision of a call that needed no request."""
        meta: Meta = {"decision": "accept", "source": self.source}
        return meta if self.reason_type is None else {**meta, "reason_type": self.reason_type}

    def matching(self, entry: SourcedRule) -> Verdict:
        """The request of a tool that would ask anyway, in addition to an ask rule for the whole tool."""
        matched = {"source": entry.scope.value, "tool_name": entry.rule.tool}
        request = {**self.request, "matched_ask_rule": matched}
        if "server_policy_ask_only" in request:
            request["server_policy_ask_only"] = False
        return structs.replace(self, request=request, offers=False)

    def rejected(self) -> Meta:
        meta: Meta = {"decision": "reject", "source": self.source}
        return meta if self.reason_type is None else {**meta, "reason_type": self.reason_type}


def verdict_of(
    decision: Decision, call: ToolCall, profile: Profile, cwd: str, *, bypasses: bool = False
) -> Verdict:
    """The decision as this version reports it; `bypasses` in the modes that allow everything
    themselves."""
    if decision.behavior is Behavior.ALLOW:
        return _allowed(decision, call, bypasses=bypasses)
    if decision.behavior is Behavior.DENY:
        return _denied(decision, call)
    return _asked(decision, call, profile, cwd)


def leaves_it_open(decision: Decision, call: ToolCall, cwd: str) -> bool:
    """Whether the tool itself has no opinion, so that the CLI asks because no rule allows it."""
    if call.tool != "Bash":
        return call.tool.startswith("mcp__")
    if decision.reason in (Reason.NOT_UNDERSTOOD, Reason.RULE):
        return False
    return "blocked_path" not in _why_bash(decision, call, cwd)[2]


def _allowed(decision: Decision, call: ToolCall, *, bypasses: bool) -> Verdict:
    reason_type: str | None
    source = "config"
    if decision.reason is Reason.RULE and decision.rule is not None:
        exact = call.tool == "Bash" and is_exact(decision.rule.rule, call)
        if decision.rule.whole_tool or exact or call.tool != "Bash":
            reason_type, source = "rule", _source(decision)
        else:
            reason_type = "subcommandResults"
    elif decision.reason is Reason.MODE and call.tool == "Bash" and not bypasses:
        reason_type = "subcommandResults"
    elif decision.reason is Reason.MODE or call.tool in READERS:
        reason_type = "mode"
    elif call.tool == "Bash":
        reason_type = "subcommandResults"
    else:
        reason_type = None
    return Verdict(behavior=Behavior.ALLOW, reason_type=reason_type, source=source)


def is_exact(rule: Rule, call: ToolCall) -> bool:
    """Whether a rule is for exactly this command; `ls:*` is one for `ls` (CLI-1641)."""
    command = call.text("command")
    return rule.content in (command, f"{command}:*")


def _source(decision: Decision) -> str:
    scope = decision.rule.scope if decision.rule else None
    if scope is Scope.SESSION:
        return "user_temporary"
    return "user_permanent" if scope in (Scope.LOCAL, Scope.USER) else "config"


def _denied(decision: Decision, call: ToolCall) -> Verdict:
    if decision.reason is Reason.CLASSIFIER:
        return Verdict(
            behavior=Behavior.DENY,
            reason_type="classifier",
            kind="automode-unavailable",
            message=NO_CLASSIFIER.format(tool=call.tool),
            extra={
                "decision_reason_code": "auto_mode_no_check_in_session",
                "decision_reason": "Classifier unavailable",
            },
        )
    if decision.reason is Reason.MODE:
        return Verdict(
            behavior=Behavior.DENY,
            reason_type="mode",
            message=f"Permission to use {call.tool} has been denied because the mode is dontAsk.",
        )
    by_user = _source(decision) != "config"
    covers_tool = decision.rule is not None and decision.rule.whole_tool
    if (call.tool in READERS and not covers_tool) or (
        call.tool in EDITORS
        and decision.rule is not None
        and (decision.rule.rule.tool == "Read" or decision.rule.rule.content is not None)
    ):
        return Verdict(
            behavior=Behavior.DENY,
            reason_type="rule",
            source="user_reject" if by_user else "config",
            message="File is in a directory that is denied by your permission settings.",
            is_unreadable=True,
        )
    whole = decision.rule is not None and (
        decision.rule.whole_tool or is_exact(decision.rule.rule, call)
    )
    text = f" with command {call.text('command')}" if call.tool == "Bash" else ""
    return Verdict(
        behavior=Behavior.DENY,
        reason_type="rule" if whole or call.tool != "Bash" else "subcommandResults",
        source="user_reject" if by_user and (whole or call.tool != "Bash") else "config",
        message=f"Permission to use {call.tool}{text} has been denied.",
    )


def _asked(decision: Decision, call: ToolCall, profile: Profile, cwd: str) -> Verdict:
    reason_type, reason, request = _why(decision, call, cwd)
    if not profile.labels_requests and call.tool == "Bash" and reason == NOT_CHECKED:
        reason, request = _why_parts(call.text("command"), cwd, reason)
    if profile.labels_requests:
        request |= _labels(decision, call, cwd, reason_type)
        if reason_type is not None:
            request["decision_reason_type"] = reason_type
    if reason is not None:
        request["decision_reason"] = reason
    return Verdict(
        behavior=Behavior.ASK,
        reason_type=reason_type,
        reason=reason,
        message=_unasked_message(decision, call, cwd),
        kind="user-rejected",
        request=request,
        offers=_offers(decision, call, profile),
    )


def _why(
    decision: Decision, call: ToolCall, cwd: str
) -> tuple[str | None, str | None, dict[str, Any]]:
    """Type and text of the reason, and fields such as the blocked path."""
    if call.tool in INTERACTIVE:
        return None, None, {}
    if decision.reason is Reason.RULE:
        return "rule", None, {}
    if decision.reason is Reason.PROTECTED and call.tool in EDITORS:
        path = call.text("file_path") or call.text("notebook_path")
        text = f"Claude requested permissions to write to {path}, but you haven't granted it yet."
        return "safetyCheck", text, {}
    if decision.reason is Reason.MODE:
        return "mode", None, {}
    if call.tool == "Bash":
        return _why_bash(decision, call, cwd)
    if decision.reason is Reason.WORKING_DIRECTORY:
        return "workingDir", "Path is outside allowed working directories", {}
    return None, None, {}


def _why_bash(
    decision: Decision, call: ToolCall, cwd: str
) -> tuple[str | None, str | None, dict[str, Any]]:
    if decision.reason is Reason.NOT_UNDERSTOOD:
        return "other", NOT_CHECKED, {}
    path = _stopped_by(decision, call, cwd)
    if path is not None and not _has_several_writers(call.text("command")):
        return None, None, {"blocked_path": path}
    if len(parse_command(call.text("command")).commands) > 1:
        return "subcommandResults", None, {}
    return "other", "This command requires approval", {}


def _why_parts(command: str, cwd: str, reason: str) -> tuple[str | None, dict[str, Any]]:
    """The reason that an old version gives for loops and conditions, and the blocked path (CLI-1651)."""
    parts = parts_with_reserved_words(command)
    if not parts:
        return reason, {}
    for part in filter(lambda part: part.names_paths, parts):
        for simple in parse_command(part.text).commands:
            paths = command_paths(simple)
            written = paths.redirected or (paths.writes if paths.program in EDIT_COMMANDS else ())
            if written:
                path = posixpath.normpath(posixpath.join(cwd, written[0].value or ""))
                return None, {"blocked_path": path}
    return (None if len(parts) > 1 else "This command requires approval"), {}


def _has_several_writers(command: str) -> bool:
    """Whether more than one command of the line writes to a path: then no path is named."""
    targets = [command_paths(part) for part in parse_command(command).commands]
    return sum(paths.program in EDIT_COMMANDS and bool(paths.writes) for paths in targets) > 1


def _stopped_by(decision: Decision, call: ToolCall, cwd: str) -> str | None:
    """The path that a command is asked about: one it writes to, or one that lies outside."""
    line = parse_command(call.text("command"))
    targets = [command_paths(command) for command in line.commands]
    if decision.blocked_path is not None and all(paths.program != "tee" for paths in targets):
        return decision.blocked_path
    for paths in targets:
        if paths.program in EDIT_COMMANDS and paths.writes:
            return posixpath.normpath(posixpath.join(cwd, paths.writes[0].value or ""))
    return None


def _labels(
    decision: Decision, call: ToolCall, cwd: str, reason_type: str | None
) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if call.tool in INTERACTIVE:
        return {"requires_user_interaction": True}
    described = _description(call, cwd)
    if described is not None:
        fields["description"] = described
    if reason_type == "rule" and decision.rule is not None:
        fields["decision_reason_rule_source"] = decision.rule.scope.value
        fields["server_policy_ask_only"] = False
    elif reason_type == "safetyCheck":
        fields["classifier_approvable"] = True
    elif reason_type != "mode" and call.tool not in ("Bash", "WebFetch", "NotebookEdit", "Skill"):
        fields["server_policy_ask_only"] = True
    return fields


def _description(call: ToolCall, cwd: str) -> str | None:
    if call.tool == "Bash":
        return call.text("description") or None
    path = call.text("file_path") or call.text("notebook_path") or call.text("path")
    if path:
        return path.removeprefix(cwd.rstrip("/") + "/")
    return call.text("url") or None


def _offers(decision: Decision, call: ToolCall, profile: Profile) -> bool:
    if call.tool in INTERACTIVE or decision.reason is Reason.RULE:
        return False
    if decision.reason is Reason.MODE:
        return False
    is_protected = decision.reason is Reason.PROTECTED and call.tool != "Skill"
    return profile.offers_rules_for_protected or not is_protected


def _unasked_message(decision: Decision, call: ToolCall, cwd: str) -> str:
    if decision.blocked_path is not None:
        return f"'{decision.blocked_path}' needs approval. The working directory is '{cwd}'."
    return f"Claude requested permissions to use {call.tool}, but you haven't granted it yet."
