"""The host's policy in front of its handlers, and an audit record of every answer.

Puts `permissions.guard` and `permissions.audit` around the handlers of a session, which do not
know them. If a rule of the host decides a request, no handler is called. Decisions of handlers
and requests that the CLI withdrew are recorded too. Long inputs are judged and hashed in a
thread, because a model writes them and the event loop serves other sessions meanwhile.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fairlead.host.options.environment import child_environment
from fairlead.host.options.options import Options
from fairlead.host.requests.decisions import Allow, Decision, Deny, PermissionRequest
from fairlead.host.requests.dispatch import call
from fairlead.host.requests.plans import Approve, PlanRequest
from fairlead.host.requests.questions import QuestionRequest
from fairlead.permissions.audit import Decider, Outcome, audited
from fairlead.permissions.audit_log import AuditLog
from fairlead.permissions.model.scopes import Behavior
from fairlead.permissions.rules.decisions import Decision as Judgment
from fairlead.permissions.rules.decisions import Reason, ToolCall
from fairlead.permissions.rules.paths import PathContext
from fairlead.permissions.rules.settings import place_of
from fairlead.wire.config_folder import config_folder
from fairlead.wire.input_hash import input_sha256, is_large

if TYPE_CHECKING:
    from fairlead.permissions.guard import Guard, Verdict

__all__ = ["Guarding", "hash_input", "judge", "place_for"]

NO_HANDLER = (
    "Permission to use {tool} was denied: this program has no permission handler, and none of "
    "its rules allows the tool."
)

JUDGED_IN_LOOP = 2_000
"""Characters of a text up to which a request is judged in the event loop (about 8 ms)."""


def place_for(options: Options) -> PathContext:
    """The folder, the home and the settings of a CLI with these options."""
    environment = child_environment(os.environ, options)
    home = environment.get("HOME") or os.path.expanduser("~")
    return place_of(str(options.cwd), home, config=config_folder(environment, home))


async def judge(
    guard: Guard, request: PermissionRequest, context: PathContext, spent_usd: float
) -> Verdict:
    """The verdict of the host's policy on a request; a long input is judged in a thread."""
    tool_call = ToolCall(tool=request.tool_name, input=request.input)
    texts = (value for value in request.input.values() if isinstance(value, str))
    if all(len(text) <= JUDGED_IN_LOOP for text in texts):
        return guard.answer(tool_call, context, spent_usd)
    return await asyncio.to_thread(guard.answer, tool_call, context, spent_usd)


async def hash_input(value: Mapping[str, Any]) -> str:
    """The SHA-256 of a tool's input; a large one is hashed in a thread."""
    if is_large(value):
        return await asyncio.to_thread(input_sha256, value)
    return input_sha256(value)


class Guarding:
    """The handlers of a session, with a policy in front and an audit log behind them."""

    def __init__(
        self,
        options: Options,
        guard: Guard,
        audit: AuditLog | None,
        *,
        session_id: Callable[[], str | None],
        spent_usd: Callable[[], float],
    ) -> None:
        self._options = options
        self._guard = guard
        self._audit = audit
        self._session_id = session_id
        self._spent_usd = spent_usd
        self._path_context = place_for(options)

    def options(self) -> Options:
        """A copy of the options whose handlers are called after the policy."""
        options = self._options
        return replace(
            options,
            on_permission=self._permission,
            on_question=self._question if options.on_question is not None else None,
            on_plan=self._plan if options.on_plan is not None else None,
        )

    async def _permission(self, request: PermissionRequest) -> Decision:
        verdict = await self._judge(request)
        if verdict.final:
            allowed = verdict.behavior is Behavior.ALLOW
            await self._write(request, allowed, verdict.decider, verdict.decision)
            return Allow() if allowed else Deny(f"Not allowed here: {verdict.words}.")
        if self._options.on_permission is None:
            await self._write(request, False, Decider.NOBODY, verdict.decision)
            return Deny(NO_HANDLER.format(tool=request.tool_name))
        decision: Decision = await self._ask(self._options.on_permission, request, request)
        await self._write(request, isinstance(decision, Allow), Decider.PROGRAM)
        return decision

    async def _judge(self, request: PermissionRequest) -> Verdict:
        try:
            return await judge(self._guard, request, self._path_context, self._spent_usd())
        except asyncio.CancelledError:
            await asyncio.shield(
                self._record(request, Outcome.CANCELLED, Decider.CLI, _DECIDED_BY_HANDLER)
            )
            raise

    async def _question(self, request: QuestionRequest) -> Any:
        reply = await self._ask(self._options.on_question, request, request.permission)
        await self._write(request.permission, not isinstance(reply, Deny), Decider.PROGRAM)
        return reply

    async def _plan(self, request: PlanRequest) -> Any:
        reply = await self._ask(self._options.on_plan, request, request.permission)
        await self._write(request.permission, isinstance(reply, Approve), Decider.PROGRAM)
        return reply

    async def _ask(self, handler: Any, request: Any, permission: PermissionRequest) -> Any:
        try:
            return await call(handler, request)
        except asyncio.CancelledError:
            await asyncio.shield(
                self._record(permission, Outcome.CANCELLED, Decider.CLI, _DECIDED_BY_HANDLER)
            )
            raise
        except Exception:
            await self._write(permission, False, Decider.NOBODY)
            raise

    async def _write(
        self,
        request: PermissionRequest,
        allowed: bool,
        decider: Decider,
        judgment: Judgment | None = None,
    ) -> None:
        outcome = Outcome.ALLOWED if allowed else Outcome.DENIED
        await self._record(request, outcome, decider, judgment or _DECIDED_BY_HANDLER)

    async def _record(
        self, request: PermissionRequest, outcome: Outcome, decider: Decider, judgment: Judgment
    ) -> None:
        if self._audit is None:
            return
        log, at, session_id = self._audit, time.time(), self._session_id() or ""

        def append() -> None:
            record = audited(
                judgment,
                at=at,
                session_id=session_id,
                request_id=request.id,
                tool=request.tool_name,
                tool_input=request.input,
                outcome=outcome,
                decider=decider,
            )
            log.append(record)

        await asyncio.to_thread(append)


_DECIDED_BY_HANDLER = Judgment(
    behavior=Behavior.ASK, reason=Reason.NO_RULE, words="a handler of the program decided"
)
