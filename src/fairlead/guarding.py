"""A host's policy before its people: rules answer first, and every answer is written down.

Puts `permissions.guard` and `permissions.audit` around the handlers of a session, which know
nothing of them. A request that a rule of the host decides never reaches a person; one that a
person or the program decides is written down as such, and so is one that the CLI took back.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fairlead.host.decisions import Allow, Decision, Deny, PermissionRequest
from fairlead.host.options import Options
from fairlead.host.plans import Approve, PlanRequest
from fairlead.host.questions import QuestionRequest
from fairlead.host.reception import call
from fairlead.permissions.audit import Decider, Outcome, audited
from fairlead.permissions.audit_log import AuditLog
from fairlead.permissions.decisions import Decision as Judgement
from fairlead.permissions.decisions import Reason, ToolCall
from fairlead.permissions.guard import Guard, Verdict
from fairlead.permissions.paths import Place
from fairlead.permissions.scopes import Behaviour
from fairlead.permissions.settings import place_of

__all__ = ["Guarding", "judge"]

NOBODY = "Nobody can answer for {tool} here, and no rule of this program allows it."


def judge(guard: Guard, request: PermissionRequest, place: Place, spent_usd: float) -> Verdict:
    """What the host's policy says to a request."""
    return guard.answer(ToolCall(tool=request.tool_name, input=request.input), place, spent_usd)


class Guarding:
    """The handlers of a session with a policy in front and an audit log behind."""

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
        home = options.env.get("HOME") or "~"
        self._place = place_of(str(options.cwd), home)

    def options(self) -> Options:
        """The same options with the policy in front of their handlers."""
        given = self._options
        return replace(
            given,
            on_permission=self._permission,
            on_question=self._question if given.on_question is not None else None,
            on_plan=self._plan if given.on_plan is not None else None,
        )

    async def _permission(self, request: PermissionRequest) -> Decision:
        verdict = judge(self._guard, request, self._place, self._spent_usd())
        if verdict.final:
            allowed = verdict.behaviour is Behaviour.ALLOW
            await self._write(request, allowed, verdict.decider, verdict.decision)
            return Allow() if allowed else Deny(f"Not allowed here: {verdict.words}.")
        if self._options.on_permission is None:
            await self._write(request, False, Decider.NOBODY, verdict.decision)
            return Deny(NOBODY.format(tool=request.tool_name))
        decision: Decision = await self._ask(self._options.on_permission, request, request)
        await self._write(request, isinstance(decision, Allow), Decider.PROGRAM)
        return decision

    async def _question(self, request: QuestionRequest) -> Any:
        reply = await self._ask(self._options.on_question, request, request.permission)
        await self._write(request.permission, not isinstance(reply, Deny), Decider.PROGRAM)
        return reply

    async def _plan(self, request: PlanRequest) -> Any:
        reply = await self._ask(self._options.on_plan, request, request.permission)
        await self._write(request.permission, isinstance(reply, Approve), Decider.PROGRAM)
        return reply

    async def _ask(self, handler: Any, request: Any, asked: PermissionRequest) -> Any:
        try:
            return await call(handler, request)
        except asyncio.CancelledError:
            await asyncio.shield(self._keep(asked, Outcome.CANCELLED, Decider.CLI, _ASKED))
            raise
        except Exception:
            await self._write(asked, False, Decider.NOBODY)
            raise

    async def _write(
        self,
        request: PermissionRequest,
        allowed: bool,
        decider: Decider,
        why: Judgement | None = None,
    ) -> None:
        outcome = Outcome.ALLOWED if allowed else Outcome.DENIED
        await self._keep(request, outcome, decider, why or _ASKED)

    async def _keep(
        self, request: PermissionRequest, outcome: Outcome, decider: Decider, why: Judgement
    ) -> None:
        if self._audit is None:
            return
        record = audited(
            why,
            at=time.time(),
            session_id=self._session_id() or "",
            request_id=request.id,
            tool=request.tool_name,
            tool_input=request.input,
            outcome=outcome,
            decider=decider,
        )
        await asyncio.to_thread(self._audit.append, record)


_ASKED = Judgement(
    behaviour=Behaviour.ASK, reason=Reason.NO_RULE, words="the handler of the program was asked"
)
