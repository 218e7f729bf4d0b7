"""Answers the CLI's requests with the caller's handlers, even if these fail.

Every request gets exactly one answer: from its handler, from the lack of one (a denial that
says so), or from the handler's failure. This is the one place where any exception of the
caller's code is caught, because the CLI would otherwise wait forever for an answer.
It knows the handlers and the encoding of answers; the client sends them. The modules of the
kinds of requests are imported when the first request of the kind comes: most programs get few
kinds, and each module takes as long to import as a session takes to read hundreds of lines.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from fairlead.errors import UsageError
from fairlead.host.mcp.endpoint import ACKNOWLEDGMENT, McpEndpoint
from fairlead.host.requests.deferred import DeferredAnswers, Unanswerable, current_answers
from fairlead.host.requests.tool_names import PLAN_TOOL, QUESTION_TOOL
from fairlead.wire.control import (
    CanUseTool,
    CliRequest,
    Elicitation,
    HookCallback,
    McpMessage,
    RequestUserDialog,
)

if TYPE_CHECKING:
    from fairlead.host.requests.decisions import Decision, PermissionHandler, PermissionRequest
    from fairlead.host.requests.elicitations import (
        DialogHandler,
        DialogRequest,
        ElicitationHandler,
        ElicitationRequest,
    )
    from fairlead.host.requests.hooks import Hook
    from fairlead.host.requests.plans import PlanHandler
    from fairlead.host.requests.questions import QuestionHandler

__all__ = ["RequestDispatcher"]

log = logging.getLogger("fairlead")


class RequestDispatcher(Struct, kw_only=True, eq=False):
    """The caller's handlers, and the answers to requests that have none."""

    on_permission: PermissionHandler | None = None
    on_question: QuestionHandler | None = None
    on_plan: PlanHandler | None = None
    on_elicitation: ElicitationHandler | None = None
    on_dialog: DialogHandler | None = None
    hooks: Mapping[str, Hook] = field(default_factory=dict)
    """By callback id."""
    servers: Mapping[str, McpEndpoint] = field(default_factory=dict)
    """By name."""
    fetch_plan: Callable[[], Awaitable[str | None]]
    deferred: DeferredAnswers = field(default_factory=DeferredAnswers)
    """Where `answer_later` waits for `session.answer`."""

    async def answer(self, request_id: str, request: CliRequest) -> dict[str, Any]:
        """The answer to a request; raises `Unanswerable` if it must be an error."""
        current_answers.set(self.deferred)  # In the context of this task alone.
        if isinstance(request, CanUseTool):
            from fairlead.host.requests.decisions import PermissionRequest

            return await self._permission(PermissionRequest.of(request_id, request))
        if isinstance(request, HookCallback):
            return await self._hook(request)
        if isinstance(request, McpMessage):
            return await self._mcp(request)
        if isinstance(request, Elicitation):
            from fairlead.host.requests.elicitations import ElicitationRequest

            return await self._elicitation(ElicitationRequest.of(request_id, request))
        if isinstance(request, RequestUserDialog):
            from fairlead.host.requests.elicitations import DialogRequest

            return await self._dialog(DialogRequest.of(request_id, request))
        raise Unanswerable(
            f"this host does not know the request {request.subtype_name!r}. {request.problem}".strip()
        )

    def check_reply(self, request_id: str, request: CliRequest, reply: Any) -> None:
        """Raise `UsageError` unless this could be the reply of the request's handler."""
        if isinstance(request, CanUseTool):
            from fairlead.host.requests import plans, questions
            from fairlead.host.requests.decisions import PermissionRequest, write_decision

            permission = PermissionRequest.of(request_id, request)
            if permission.tool_name == QUESTION_TOOL and self.on_question is not None:
                reply = questions.decide(questions.QuestionRequest.of(permission), reply)
            elif permission.tool_name == PLAN_TOOL and self.on_plan is not None:
                reply = plans.decide(reply)
            write_decision(permission, reply)
        elif isinstance(request, Elicitation):
            from fairlead.host.requests.elicitations import write_elicitation_reply

            write_elicitation_reply(reply)
        elif not isinstance(request, RequestUserDialog):
            kind = type(request).__name__
            raise UsageError(f"a {kind} request is answered by Fairlead itself, not by a caller")

    async def _permission(self, request: PermissionRequest) -> dict[str, Any]:
        from fairlead.host.requests.decisions import Deny, write_decision

        try:
            decision = await self._decide(request)
            return write_decision(request, decision)
        except Exception as problem:
            log.exception("the handler for %s failed", request.tool_name)
            return write_decision(request, Deny(_failure("permission handler", problem)))

    async def _decide(self, request: PermissionRequest) -> Decision:
        if request.tool_name == QUESTION_TOOL and self.on_question is not None:
            from fairlead.host.requests import questions

            question_request = questions.QuestionRequest.of(request)
            return questions.decide(
                question_request, await call(self.on_question, question_request)
            )
        if request.tool_name == PLAN_TOOL and self.on_plan is not None:
            from fairlead.host.requests import plans

            plan_request = plans.PlanRequest(
                id=request.id, plan=await self._plan(request), permission=request
            )
            return plans.decide(await call(self.on_plan, plan_request))
        if self.on_permission is None:
            from fairlead.host.requests.decisions import Deny

            return Deny(
                f"Permission to use {request.tool_name} was denied: this program has no "
                "permission handler. Continue without it, or say what you need."
            )
        return await call(self.on_permission, request)  # type: ignore[no-any-return]

    async def _plan(self, request: PermissionRequest) -> str | None:
        plan = request.input.get("plan")
        return plan if isinstance(plan, str) else await self.fetch_plan()

    async def _hook(self, request: HookCallback) -> dict[str, Any]:
        hook = self.hooks.get(request.callback_id)
        if hook is None:
            raise Unanswerable(f"no hook {request.callback_id!r} is registered")
        from fairlead.host.requests.hooks import ANSWER_MARGIN, HookCall, check_output, failed

        hook_call = HookCall(
            event=hook.event, input=request.input or {}, tool_use_id=request.tool_use_id
        )
        try:
            async with asyncio.timeout(hook.timeout * ANSWER_MARGIN):
                return check_output(await call(hook.handler, hook_call))
        except TimeoutError:
            return failed(hook.event, f"the {hook.event} hook took more than {hook.timeout:g} s")
        except Exception as problem:
            log.exception("the %s hook failed", hook.event)
            return failed(hook.event, _failure(f"{hook.event} hook", problem))

    async def _mcp(self, request: McpMessage) -> dict[str, Any]:
        server = self.servers.get(request.server_name)
        if server is None:
            raise Unanswerable(f"there is no MCP server {request.server_name!r} in this process")
        answer = await server.handle(request.message)
        # Notifications have no answer of their own, but the CLI waits for one (CLI-802).
        return {"mcp_response": answer or dict(ACKNOWLEDGMENT)}

    async def _elicitation(self, request: ElicitationRequest) -> dict[str, Any]:
        from fairlead.host.requests.elicitations import Cancel, Decline, write_elicitation_reply

        if self.on_elicitation is None:
            return write_elicitation_reply(Decline())
        try:
            return write_elicitation_reply(await call(self.on_elicitation, request))
        except Exception:
            log.exception("the elicitation handler failed")
            return write_elicitation_reply(Cancel())

    async def _dialog(self, request: DialogRequest) -> dict[str, Any]:
        from fairlead.host.requests.elicitations import Cancel, write_dialog_reply

        if self.on_dialog is None:
            return write_dialog_reply(Cancel())
        try:
            return write_dialog_reply(await call(self.on_dialog, request))
        except Exception:
            log.exception("the dialog handler failed")
            return write_dialog_reply(Cancel())


async def call(handler: Callable[[Any], Any], request: Any) -> Any:
    """Run a handler; a plain function runs in a thread, so it may wait for a person."""
    if inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(
        getattr(handler, "__call__", None)  # noqa: B004 - an object with an async __call__
    ):
        return await handler(request)
    reply = await asyncio.to_thread(handler, request)
    return await reply if inspect.isawaitable(reply) else reply


def _failure(handler_name: str, problem: BaseException) -> str:
    return f"The {handler_name} of this program failed ({type(problem).__name__}: {problem})."
