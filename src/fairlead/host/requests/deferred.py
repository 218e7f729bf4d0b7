"""Requests that wait for `session.answer`: the handler `answer_later` and the answers to it.

A program that cannot answer from within a handler, such as one that answers by HTTP, gives
`answer_later` as its handler. The request then stays open, and the decision is handled like
that of any other handler, including the policy and the audit log of the session, if any.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import Any

from fairlead.errors import UsageError

__all__ = ["DeferredAnswers", "Unanswerable", "answer_later", "current_answers"]

current_answers: ContextVar[DeferredAnswers | None] = ContextVar(
    "fairlead_deferred_answers", default=None
)
"""The deferred answers of the session whose request is being handled."""


class Unanswerable(Exception):
    """A request can only be answered with an error."""


class DeferredAnswers:
    """The open requests of one session that wait for an answer from outside."""

    def __init__(self) -> None:
        self._open: dict[str, asyncio.Future[Any]] = {}
        self._expected: dict[str, asyncio.Future[None]] = {}

    async def wait(self, request_id: str) -> Any:
        """Wait for the answer to a request."""
        answer = self._open[request_id] = asyncio.get_running_loop().create_future()
        registered = self._expected.get(request_id)
        if registered is not None and not registered.done():
            registered.set_result(None)
        try:
            return await answer
        finally:
            self._open.pop(request_id, None)

    async def answer(self, request_id: str, reply: Any, handler_task: asyncio.Task[None]) -> bool:
        """Answer a request once its handler waits; False if the handling ends without waiting."""
        if request_id not in self._open:
            # The request is new, and the policy of the session may still be judging it.
            registered = asyncio.get_running_loop().create_future()
            self._expected[request_id] = registered
            try:
                await asyncio.wait([registered, handler_task], return_when=asyncio.FIRST_COMPLETED)
            finally:
                del self._expected[request_id]
                registered.cancel()
        answer = self._open.get(request_id)
        if answer is None or answer.done():
            return False
        answer.set_result(reply)
        await asyncio.wait([handler_task])
        return True


async def answer_later(request: Any) -> Any:
    """A handler that leaves the request open until `session.answer(request.id, …)` is called.

    Give it as `on_permission`, `on_question`, `on_plan`, `on_elicitation` or `on_dialog`;
    `session.pending` lists what is open.
    """
    deferred = current_answers.get()
    if deferred is None:
        raise UsageError("answer_later is a handler for Options, not a function to call")
    return await deferred.wait(request.id)
