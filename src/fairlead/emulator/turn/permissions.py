"""Permissions of the session: the rules in force, the verdicts, the answers of the host.

Holds the rule book, asks the host if a verdict requires it, runs the PermissionRequest hooks in
the order of the version, and applies the updates of an answer (CLI-300, CLI-811).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from msgspec import Struct, structs

from fairlead.emulator.mcp.client import McpClient
from fairlead.emulator.protocol.output import timestamp
from fairlead.emulator.state.effects import SaveSettings
from fairlead.emulator.state.ports import Ask, Effects, HostAnswer, OpenRequest, Output
from fairlead.emulator.state.scheduler import Interrupted, Job, Pending
from fairlead.emulator.state.session import Session
from fairlead.emulator.turn.hook_calls import Hooks
from fairlead.emulator.turn.use import Use
from fairlead.emulator.turn.verdict import (
    NOT_CHECKED,
    Meta,
    Verdict,
    is_exact,
    leaves_it_open,
    verdict_of,
)
from fairlead.permissions.cli_suggestions import suggestions
from fairlead.permissions.model.modes import Mode, parse_mode
from fairlead.permissions.model.scopes import Behavior, Scope
from fairlead.permissions.policy import check
from fairlead.permissions.rules.book import RuleBook
from fairlead.permissions.rules.decisions import Decision, Reason, ToolCall
from fairlead.permissions.rules.paths import PathContext
from fairlead.permissions.rules.tools import INTERACTIVE, READERS
from fairlead.permissions.rules.updates import apply_update, read_update, scope_of
from fairlead.wire.updates import DESTINATIONS, AddDirectories, SetMode, UnknownUpdate

__all__ = ["Permissions", "Ruling"]

REMIND_AFTER_S = 6.0
"""How long a request is open before Notification hooks run."""
INVALID = (
    "The canUseTool callback returned an invalid permission result. Expected {behavior: 'allow', "
    "updatedInput?: object} or {behavior: 'deny', message: string}."
)
USER_REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected. "
    "Stop and wait for the user to say how to continue."
)


class Ruling(Struct, frozen=True, kw_only=True):
    """The final decision about one call."""

    is_allowed: bool
    meta: Meta | None = None
    input: Mapping[str, Any] | None = None
    message: str = ""
    kind: str = "permission-rule"
    interrupts: bool = False
    is_unreadable: bool = False
    is_counted: bool = True
    """Whether a denial appears in the result of the turn."""


class Permissions:
    """Decides about calls, and asks the host."""

    def __init__(
        self,
        session: Session,
        output: Output,
        effects: Effects,
        ask: Ask,
        hooks: Hooks,
        mcp: McpClient,
        *,
        book: RuleBook,
        path_context: PathContext,
    ) -> None:
        self._session = session
        self._output = output
        self._effects = effects
        self._host = ask
        self._hooks = hooks
        self._mcp = mcp
        self.book = book
        self._path_context = path_context
        self._has_warned = False
        self._granted = RuleBook()
        """Rules of the command or skill that the turn runs."""

    def grant(self, rules: Iterable[str]) -> None:
        """Allow the tools of a command or skill until the end of the turn (CLI-1619)."""
        book = RuleBook.of(allow=rules, scope=Scope.COMMAND)
        self._granted = replace(book, modes=())

    def judge(self, call: ToolCall) -> Verdict:
        """The verdict of the rules and the mode."""
        session = self._session
        mode = parse_mode(session.mode) or Mode.DEFAULT
        if mode is Mode.PLAN and session.allows_bypass and session.profile.plan_keeps_bypass:
            mode = Mode.BYPASS
        automatic = mode is Mode.AUTO
        book = self.book.joined(self._granted).with_mode(Mode.ACCEPT_EDITS if automatic else mode)
        # A session that may bypass permissions asks in plan mode instead (CLI-1614).
        asks = session.allows_bypass or (mode is Mode.PLAN and session.plan_asks)
        place = replace(self._path_context, classifier=self._path_context.classifier or asks)
        decision = check(call, book, place)
        if decision.behavior is Behavior.ALLOW and decision.reason is not Reason.MODE:
            decision = self._by_exact_rule(call, decision)
        has_classifier = place.family.classifier_in_plan and not place.classifier
        judges = has_classifier and mode in (Mode.PLAN, Mode.AUTO)
        if judges and _is_read_outside(call, decision):
            # These modes read everywhere, unless a rule asks (CLI-1634).
            decision = replace(decision, behavior=Behavior.ALLOW, reason=Reason.MODE)
        unanswered = decision.behavior is Behavior.ASK and call.tool not in INTERACTIVE
        if automatic and unanswered:
            decision = Decision(
                behavior=Behavior.DENY, reason=Reason.CLASSIFIER, words="there is no classifier"
            )
        bypasses = mode in (Mode.BYPASS, Mode.AUTO)
        cwd = session.workspace.cwd
        own = self._own_question(call, decision, book, place)
        if own is not None and decision.rule is not None:
            verdict = verdict_of(own, call, session.profile, cwd)
            return verdict.matching(decision.rule) if decision.rule.whole_tool else verdict
        return verdict_of(decision, call, session.profile, cwd, bypasses=bypasses)

    def _own_question(
        self, call: ToolCall, decision: Decision, book: RuleBook, place: PathContext
    ) -> Decision | None:
        """The tool's own reason to ask, in addition to an ask rule for the whole tool (CLI-1714)."""
        entry = decision.rule
        asks = decision.behavior is Behavior.ASK and decision.reason is Reason.RULE
        if entry is None or not asks:
            return None
        if self._session.profile.ask_rules_precede_paths:
            if not entry.whole_tool:
                return None
            remaining = [e for e in book.rules if not e.whole_tool or e.behavior is Behavior.DENY]
        else:
            # The old version checks the paths of a command first (CLI-1624).
            if call.tool != "Bash" or entry.whole_tool:
                return None
            remaining = [e for e in book.rules if e.behavior is not Behavior.ASK]
        own = check(call, replace(book, rules=tuple(remaining)), place)
        cwd = self._session.workspace.cwd
        asks_itself = own.behavior is Behavior.ASK and not leaves_it_open(own, call, cwd)
        return own if asks_itself else None

    def may_read(self, path: str) -> bool:
        """Whether a file can be read without a question (CLI-1621)."""
        call = ToolCall(tool="Read", input={"file_path": path})
        return self.judge(call).behavior is not Behavior.ASK

    def _by_exact_rule(self, call: ToolCall, decision: Decision) -> Decision:
        """A rule for exactly this command is reported before any other (rec 2.1.325/rules)."""
        for entry in self.book.of_behavior(Behavior.ALLOW):
            same = entry.rule.tool == "Bash" and is_exact(entry.rule, call)
            if call.tool == "Bash" and same:
                return replace(decision, reason=Reason.RULE, rule=entry)
        return decision

    async def rule(self, use: Use, verdict: Verdict) -> Ruling:
        """Apply a verdict: allow, deny, or ask the host."""
        if verdict.behavior is Behavior.ALLOW:
            return Ruling(is_allowed=True, meta=verdict.accepted())
        if verdict.behavior is Behavior.DENY or not self._session.asks_host:
            events = 2 if verdict.reason_type == "classifier" else use.preparation
            events = 0 if verdict.is_unreadable else events
            await use.passes(events)
            use.result_events = 1 if verdict.is_unreadable and use.is_edit else events + 2
            return self._deny(use, verdict)
        events = use.preparation
        if use.name == "Bash":
            # A path, a rule or an expansion is found before the command as a whole is judged.
            is_early = verdict.reason_type in (None, "rule") or verdict.reason == NOT_CHECKED
            events = 2 if is_early else 3
        await use.passes(events)
        return await self._ask(use, verdict)

    def _deny(self, use: Use, verdict: Verdict) -> Ruling:
        profile = self._session.profile
        if verdict.kind == "automode-unavailable" and not self._has_warned:
            self._has_warned = True
            self._output.system(
                "informational",
                content="Auto mode cannot check actions in this session.",
                isMeta=False,
                timestamp=timestamp(self._session.now()),
                level="warning",
                tag="auto-mode",
            )
        if profile.reports_denials and not verdict.is_unreadable:
            typed = {"decision_reason_type": verdict.reason_type} if verdict.reason_type else {}
            self._output.system(
                "permission_denied",
                tool_name=use.hook_name(profile),
                tool_use_id=use.id,
                **typed,
                **verdict.extra,
                message=verdict.message,
            )
        return Ruling(
            is_allowed=False,
            meta=verdict.rejected(),
            message=verdict.message,
            kind=verdict.kind,
            is_unreadable=verdict.is_unreadable,
        )

    # Asking

    async def _ask(self, use: Use, verdict: Verdict) -> Ruling:
        request = self._request(use, verdict)
        offered = request.get("permission_suggestions")
        in_parallel = self._session.profile.permission_hook_runs_during_request
        name = use.hook_name(self._session.profile)
        hooked = self._hooks.has("PermissionRequest", name)
        if hooked and "server_policy_ask_only" in request:
            request["server_policy_ask_only"] = False  # A hook could allow it too (CLI-1655).
        if hooked and not in_parallel:
            decided = await self._hook(use, offered)
            if decided is not None:
                return decided
        self._output.state_changed("requires_action", repeats=True)
        open_request = self._host.ask("can_use_tool", **request)
        reminder = self._effects.spawn(self._remind(name))
        try:
            if hooked and in_parallel:
                ruling = await self._race(use, open_request, offered)
            else:
                ruling = await self._answer(use, open_request)
        except Interrupted:
            reminder.stop()
            self._report_running()
            # All requests of the message are over before the first result is written.
            await self._effects.yield_now()
            raise
        reminder.stop()
        self._report_running()
        return ruling

    def _report_running(self) -> None:
        """The last open request is over: report it for each request (CLI-1631)."""
        if not self._host.pending("can_use_tool"):
            self._output.state_changed("running", repeats=True)

    async def _remind(self, name: str) -> None:
        """Run Notification hooks for a request that stays open (measured on 2.1.325)."""
        kind = "permission_prompt"
        if not self._session.profile.reminds_of_requests or not self._hooks.has(
            "Notification", kind
        ):
            return
        fields = {
            "message": f"Claude needs your permission to use {name}",
            "notification_type": kind,
        }
        try:
            await self._effects.sleep(REMIND_AFTER_S)
            await self._hooks.run("Notification", fields, subject=kind)
        except Interrupted:
            return

    def _request(self, use: Use, verdict: Verdict) -> dict[str, Any]:
        session = self._session
        profile = session.profile
        request: dict[str, Any] = {"tool_name": use.hook_name(profile)}
        if profile.labels_requests:
            request |= self._mcp.request_meta(use.name)
        request["input"] = use.shown_input(profile)
        offered = self._offered(use, verdict)
        if offered is not None:
            request["permission_suggestions"] = offered
        fields = dict(verdict.request)
        if use.name == "Skill" and profile.labels_requests:
            fields["description"] = session.custom_about.get(str(use.input.get("skill", "")), "")
        request |= {**fields, "tool_use_id": use.id}
        if use.agent_id is not None:
            request["agent_id"] = use.agent_id
        return request

    def _offered(self, use: Use, verdict: Verdict) -> list[dict[str, Any]] | None:
        if not verdict.offers:
            return None
        mode = parse_mode(self._session.mode) or Mode.DEFAULT
        if mode is Mode.PLAN and self._session.plan_asks:
            mode = Mode.DEFAULT  # It offers what mode default offers (CLI-1727).
        offered = suggestions(use.call, self._trusted().with_mode(mode), self._path_context)
        if offered is None or not self._session.profile.offers_other_modes_only:
            return offered
        return [update for update in offered if update.get("mode") != self._session.mode]

    def _trusted(self) -> RuleBook:
        """The rules without those that need a trusted workspace (CLI-323)."""
        if self._path_context.trusted or not self._path_context.family.project_needs_trust:
            return self.book
        remaining = [
            entry
            for entry in self.book.rules
            if entry.scope is not Scope.PROJECT or entry.behavior is not Behavior.ALLOW
        ]
        return replace(self.book, rules=tuple(remaining))

    async def _answer(self, use: Use, open_request: OpenRequest) -> Ruling:
        try:
            answer = await open_request.answer
        except Interrupted:
            self._host.forget(open_request)
            raise
        return self._read(use, answer)

    async def _race(self, use: Use, open_request: OpenRequest, offered: Any) -> Ruling:
        """Ask the hook and the host at once; the first answer decides (rec hooks_allow)."""
        first: Pending[Ruling] = Pending()
        hook: Job[None] = self._effects.spawn(self._hook_first(use, offered, first))
        host: Job[None] = self._effects.spawn(self._host_first(use, open_request, first))
        try:
            ruling = await first
        except Interrupted:
            hook.stop()
            host.stop()
            self._host.forget(open_request)
            raise
        self._host.withdraw(open_request)
        host.stop()
        return ruling

    async def _hook_first(self, use: Use, offered: Any, first: Pending[Ruling]) -> None:
        await use.passes(1)
        decided = await self._hook(use, offered)
        if decided is not None:
            first.settle(decided)

    async def _host_first(
        self, use: Use, open_request: OpenRequest, first: Pending[Ruling]
    ) -> None:
        first.settle(self._read(use, await open_request.answer))

    async def _hook(self, use: Use, offered: Any) -> Ruling | None:
        name = use.hook_name(self._session.profile)
        fields: dict[str, Any] = {"tool_name": name, "tool_input": dict(use.input)}
        if offered is not None:
            fields["permission_suggestions"] = offered
        report = await self._hooks.run(
            "PermissionRequest",
            fields,
            subject=name,
            tool_use_id=use.id,
            conversation=use.conversation,
        )
        decision = report.permission
        if decision is None:
            return None
        if decision.get("behavior") == "allow":
            updated = decision.get("updatedInput")
            meta = {"decision": "accept", "source": "hook", "reason_type": "hook"}
            self._update(decision.get("updatedPermissions"))
            return Ruling(is_allowed=True, meta=meta, input=updated)
        meta = {"decision": "reject", "source": "hook", "reason_type": "hook"}
        return Ruling(is_allowed=False, meta=meta, message=str(decision.get("message", "")))

    # Answers

    def _read(self, use: Use, answer: HostAnswer) -> Ruling:
        profile = self._session.profile
        refused = {"decision": "reject", "source": "config", "reason_type": "other"}
        if answer.body is None:
            text = f"Tool permission request failed: Error: {answer.error}"
            return Ruling(is_allowed=False, meta=refused, message=text)
        body = answer.body
        if body.get("behavior") == "allow" and (
            profile.allow_needs_no_input or isinstance(body.get("updatedInput"), dict)
        ):
            return self._allow(use, body)
        if body.get("behavior") == "deny" and isinstance(body.get("message"), str):
            return self._host_denies(body)
        text = (
            INVALID
            if profile.hides_validator_errors
            else f"Tool permission request failed: ZodError: {INVALID}"
        )
        return Ruling(is_allowed=False, meta=refused, message=text)

    def _allow(self, use: Use, body: Mapping[str, Any]) -> Ruling:
        updates = body.get("updatedPermissions")
        if not self._session.profile.ignores_unknown_destinations and not _are_known(updates):
            text = "Tool permission request failed: ZodError: unknown destination"
            return Ruling(is_allowed=False, meta=None, message=text)
        self._update(updates)
        updated_input = body.get("updatedInput")
        profile = self._session.profile
        if not isinstance(updated_input, dict) or (
            profile.allow_needs_no_input and not updated_input
        ):
            updated_input = None  # the new version runs the input of the model (CLI-216)
        return Ruling(
            is_allowed=True,
            meta={"decision": "accept", "source": "user_temporary"},
            input=updated_input,
        )

    def _host_denies(self, body: Mapping[str, Any]) -> Ruling:
        interrupts = body.get("interrupt") is True
        message = str(body["message"])
        if interrupts and self._session.profile.interrupting_denial_has_fixed_text:
            return Ruling(
                is_allowed=False, message=USER_REJECTED, kind="user-rejected", interrupts=True
            )
        meta = {"decision": "reject", "source": "user_reject"}
        return Ruling(is_allowed=False, meta=meta, message=message, interrupts=interrupts)

    def apply_updates(self, updates: Iterable[Any]) -> None:
        """Apply permission updates at once, and save those for a settings file."""
        for raw in updates:
            update = read_update(raw)
            if isinstance(update, UnknownUpdate) or update.destination not in DESTINATIONS:
                continue
            if isinstance(update, SetMode):
                if update.mode != self._session.mode:
                    self._session.mode = update.mode
                    self._session.plan_asks = update.mode == "plan"
                    self._output.mode_changed()
            else:
                self.book = apply_update(self.book, update)
            if isinstance(update, AddDirectories):
                # It counts at once, also if the project's settings are not trusted (CLI-1655).
                self.book = apply_update(self.book, structs.replace(update, destination="session"))
                self._session.added_directories += update.directories
            if not scope_of(update).in_memory:
                self._effects.do(SaveSettings(update))

    def _update(self, updates: Any) -> None:
        if isinstance(updates, list) and updates:
            self.apply_updates(updates)


def _is_read_outside(call: ToolCall, decision: Decision) -> bool:
    """Whether a call asks because it reads a file outside of the working directories."""
    asks = decision.behavior is Behavior.ASK and decision.reason is Reason.WORKING_DIRECTORY
    return asks and call.tool in READERS


def _are_known(updates: Any) -> bool:
    """Whether every update has a known destination: else the old version rejects all of them."""
    if not isinstance(updates, list):
        return updates is None
    decoded = [read_update(update) for update in updates if isinstance(update, dict)]
    return all(
        not isinstance(update, UnknownUpdate) and update.destination in DESTINATIONS
        for update in decoded
    )
