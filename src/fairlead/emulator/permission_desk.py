"""Permissions of the session: the rules in force, the verdicts, the answers of the host.

Holds the rule book, asks the host where a verdict says so, together with the PermissionRequest
hooks in the order of the version, and takes in the updates of an answer (TRUTH 1.3, 1.8).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fairlead.emulator.host_line import Asked, HostAnswer
from fairlead.emulator.strands import Interrupted, Pending, Strand
from fairlead.emulator.verdict import Meta, Verdict, verdict_of
from fairlead.emulator.voice import timestamp
from fairlead.permissions.book import RuleBook
from fairlead.permissions.decisions import Decision, Reason, ToolCall
from fairlead.permissions.modes import Mode, parse_mode
from fairlead.permissions.paths import Place
from fairlead.permissions.policy import check
from fairlead.permissions.scopes import Behaviour, Scope
from fairlead.permissions.suggestions import suggestions
from fairlead.permissions.tools import INTERACTIVE
from fairlead.permissions.updates import UnknownUpdate, from_wire

if TYPE_CHECKING:
    from fairlead.emulator.engine import Engine
    from fairlead.emulator.tool_call import Use

__all__ = ["PermissionDesk", "Ruling"]

REMIND_AFTER_S = 6.0
"""How long a request may be open before a Notification hook is told of it."""
INVALID = (
    "The canUseTool callback returned an invalid permission result. Expected {behavior: 'allow', "
    "updatedInput?: object} or {behavior: 'deny', message: string}."
)
USER_REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected. "
    "Stop and wait for the user to say how to go on."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """The end of the matter for one call."""

    is_allowed: bool
    meta: Meta | None = None
    input: Mapping[str, Any] | None = None
    message: str = ""
    kind: str = "permission-rule"
    interrupts: bool = False
    is_unreadable: bool = False


class PermissionDesk:
    """Decides about calls, with the host's help."""

    def __init__(self, engine: Engine, book: RuleBook, place: Place) -> None:
        self._engine = engine
        self.book = book
        self._place = place
        self._has_warned = False

    def judge(self, call: ToolCall) -> Verdict:
        """What the rules and the mode say."""
        session = self._engine.session
        mode = parse_mode(session.mode) or Mode.DEFAULT
        automatic = mode is Mode.AUTO
        book = self.book.with_mode(Mode.ACCEPT_EDITS if automatic else mode)
        decision = check(call, book, self._place)
        if decision.behaviour is Behaviour.ALLOW and decision.reason is not Reason.MODE:
            decision = self._by_exact_rule(call, decision)
        unanswered = decision.behaviour is Behaviour.ASK and call.tool not in INTERACTIVE
        if automatic and unanswered:
            decision = Decision(
                behaviour=Behaviour.DENY, reason=Reason.CLASSIFIER, words="there is no classifier"
            )
        return verdict_of(decision, call, session.profile, session.place.cwd)

    def _by_exact_rule(self, call: ToolCall, decision: Decision) -> Decision:
        """A rule for just this command is named before anything else (rec 2.1.325/rules)."""
        for entry in self.book.of_behaviour(Behaviour.ALLOW):
            same = entry.rule.content == call.text("command")
            if call.tool == "Bash" and entry.rule.tool == "Bash" and same:
                return replace(decision, reason=Reason.RULE, rule=entry)
        return decision

    async def rule(self, use: Use, verdict: Verdict) -> Ruling:
        """Let a verdict take its course: it stands, or somebody is asked."""
        if verdict.behaviour is Behaviour.ALLOW:
            return Ruling(is_allowed=True, meta=verdict.accepted())
        if verdict.behaviour is Behaviour.DENY:
            return self._deny(use, verdict)
        if not self._engine.session.asks_host:
            return self._deny(use, verdict)
        return await self._ask(use, verdict)

    def _deny(self, use: Use, verdict: Verdict) -> Ruling:
        modern = self._engine.session.profile.is_modern
        if verdict.kind == "automode-unavailable" and not self._has_warned:
            self._has_warned = True
            self._engine.voice.system(
                "informational",
                content="Auto mode cannot check actions in this session.",
                isMeta=False,
                timestamp=timestamp(self._engine.session.now()),
                level="warning",
                tag="auto-mode",
            )
        if modern and not verdict.is_unreadable:
            typed = {"decision_reason_type": verdict.reason_type} if verdict.reason_type else {}
            self._engine.voice.system(
                "permission_denied",
                tool_name=use.name,
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
        beside = self._engine.session.profile.permission_hook_runs_beside_request
        name = use.hook_name(modern=self._engine.session.profile.is_modern)
        hooked = self._engine.hooks.has("PermissionRequest", name)
        if hooked and not beside:
            decided = await self._hook(use, offered)
            if decided is not None:
                return decided
        asked = self._engine.host.ask("can_use_tool", **request)
        reminder = self._engine.loom.spawn(self._remind(name))
        try:
            if hooked and beside:
                return await self._race(use, asked, offered)
            return await self._answer(use, asked)
        finally:
            reminder.stop()

    async def _remind(self, name: str) -> None:
        """Hooks are told of a request that nobody answers (measured on 2.1.325 alone)."""
        engine, kind = self._engine, "permission_prompt"
        if not engine.session.profile.is_modern or not engine.hooks.has("Notification", kind):
            return
        fields = {
            "message": f"Claude needs your permission to use {name}",
            "notification_type": kind,
        }
        try:
            await engine.sleep(REMIND_AFTER_S)
            await engine.hooks.run("Notification", fields, subject=kind)
        except Interrupted:
            return

    def _request(self, use: Use, verdict: Verdict) -> dict[str, Any]:
        session = self._engine.session
        modern = session.profile.is_modern
        request: dict[str, Any] = {"tool_name": use.name}
        if modern:
            request |= self._engine.mcp.request_meta(use.name)
        request["input"] = use.shown_input(modern=modern)
        offered = self._offered(use, verdict)
        if offered is not None:
            request["permission_suggestions"] = offered
        fields = dict(verdict.request)
        request |= {**fields, "tool_use_id": use.id}
        if use.agent_id is not None:
            request["agent_id"] = use.agent_id
        return request

    def _offered(self, use: Use, verdict: Verdict) -> list[dict[str, Any]] | None:
        if not verdict.offers:
            return None
        mode = parse_mode(self._engine.session.mode) or Mode.DEFAULT
        return suggestions(use.call, self._trusted().with_mode(mode), self._place)

    def _trusted(self) -> RuleBook:
        """The rules without those that wait for the workspace to be trusted (TRUTH 1.3)."""
        if self._place.trusted or not self._place.family.project_needs_trust:
            return self.book
        kept = [
            entry
            for entry in self.book.rules
            if entry.scope is not Scope.PROJECT or entry.behaviour is not Behaviour.ALLOW
        ]
        return replace(self.book, rules=tuple(kept))

    async def _answer(self, use: Use, asked: Asked) -> Ruling:
        self._engine.state_changed("requires_action")
        try:
            answer = await asked.answer
        except Interrupted:
            self._engine.host.forget(asked)
            raise
        finally:
            self._engine.state_changed("running")
        return self._read(use, answer)

    async def _race(self, use: Use, asked: Asked, offered: Any) -> Ruling:
        """The hook and the host are asked at once; who speaks first decides (rec hooks_allow)."""
        first: Pending[Ruling] = Pending()
        hook: Strand[None] = self._engine.loom.spawn(self._hook_first(use, offered, first))
        host: Strand[None] = self._engine.loom.spawn(self._host_first(use, asked, first))
        try:
            ruling = await first
        except Interrupted:
            hook.stop()
            host.stop()
            self._engine.host.forget(asked)
            raise
        self._engine.host.withdraw(asked)
        host.stop()
        return ruling

    async def _hook_first(self, use: Use, offered: Any, first: Pending[Ruling]) -> None:
        decided = await self._hook(use, offered)
        if decided is not None:
            first.settle(decided)

    async def _host_first(self, use: Use, asked: Asked, first: Pending[Ruling]) -> None:
        first.settle(self._read(use, await asked.answer))

    async def _hook(self, use: Use, offered: Any) -> Ruling | None:
        name = use.hook_name(modern=self._engine.session.profile.is_modern)
        fields: dict[str, Any] = {"tool_name": name, "tool_input": dict(use.input)}
        if offered is not None:
            fields["permission_suggestions"] = offered
        word = await self._engine.hooks.run(
            "PermissionRequest", fields, subject=name, tool_use_id=use.id, talk=use.talk
        )
        decision = word.permission
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
        modern = self._engine.session.profile.is_modern
        refused = {"decision": "reject", "source": "config", "reason_type": "other"}
        if answer.body is None:
            text = f"Tool permission request failed: Error: {answer.error}"
            return Ruling(is_allowed=False, meta=refused, message=text)
        body = answer.body
        if body.get("behavior") == "allow" and (
            modern or isinstance(body.get("updatedInput"), dict)
        ):
            return self._allow(use, body)
        if body.get("behavior") == "deny" and isinstance(body.get("message"), str):
            return self._host_denies(body)
        text = INVALID if modern else f"Tool permission request failed: ZodError: {INVALID}"
        return Ruling(is_allowed=False, meta=refused, message=text)

    def _allow(self, use: Use, body: Mapping[str, Any]) -> Ruling:
        updates = body.get("updatedPermissions")
        if not self._engine.session.profile.is_modern and not _are_known(updates):
            text = "Tool permission request failed: ZodError: unknown destination"
            return Ruling(is_allowed=False, meta=None, message=text)
        self._update(updates)
        given = body.get("updatedInput")
        modern = self._engine.session.profile.is_modern
        if not isinstance(given, dict) or (modern and not given):
            given = None  # the new version goes on with what the model asked (TRUTH 1.2)
        return Ruling(
            is_allowed=True, meta={"decision": "accept", "source": "user_temporary"}, input=given
        )

    def _host_denies(self, body: Mapping[str, Any]) -> Ruling:
        interrupts = body.get("interrupt") is True
        message = str(body["message"])
        if interrupts and self._engine.session.profile.is_modern:
            return Ruling(
                is_allowed=False, message=USER_REJECTED, kind="user-rejected", interrupts=True
            )
        meta = {"decision": "reject", "source": "user_reject"}
        return Ruling(is_allowed=False, meta=meta, message=message, interrupts=interrupts)

    def _update(self, updates: Any) -> None:
        if isinstance(updates, list) and updates:
            self._engine.apply_updates(updates)


def _are_known(updates: Any) -> bool:
    """Whether every update names a place that exists: to the old version all or nothing."""
    if not isinstance(updates, list):
        return updates is None
    found = [from_wire(update) for update in updates if isinstance(update, dict)]
    return all(
        not isinstance(update, UnknownUpdate) and update.destination.is_destination
        for update in found
    )
