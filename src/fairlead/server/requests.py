"""What a CLI has asked and nobody has answered: the first valid answer wins, once it is stored.

A handler of the host waits in `ask`; a device settles it by `settle`. Two answers at the same
time never race to the CLI: the first holds the request while it is being stored, the others
wait and are then told by whom it was answered and how, or take their turn if it was not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from fairlead.host.decisions import Deny, PermissionRequest
from fairlead.host.elicitations import Cancel, DialogRequest, ElicitationRequest
from fairlead.server.decisions import Ruling
from fairlead.server.refusal import Refusal

__all__ = ["Request", "Requests"]

Request: TypeAlias = PermissionRequest | ElicitationRequest | DialogRequest

REUSED = "This request id was used before; ask again under a new one."
KEPT = 1_000
"""Answers remembered for those who come late; older ones are in the transcript."""


class _Open:
    __slots__ = ("held", "reply", "request")

    def __init__(self, request: Request) -> None:
        self.request = request
        self.reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.held: asyncio.Future[None] | None = None
        """Done when the answer that is being stored is stored, or could not be."""


class Requests:
    """The open requests of one CLI process."""

    def __init__(self) -> None:
        self._open: dict[str, _Open] = {}
        self._seen: set[str] = set()
        self._answered: dict[str, tuple[str, str]] = {}

    def __len__(self) -> int:
        return len(self._open)

    async def ask(self, request: Request) -> Any:
        """Wait for an answer, however long; cancelled if the CLI withdraws the request."""
        if request.id in self._seen:
            # Nobody was shown the second one: answering it would be answering unseen (F-19).
            return Deny(REUSED) if isinstance(request, PermissionRequest) else Cancel()
        self._seen.add(request.id)
        waiting = self._open[request.id] = _Open(request)
        try:
            return await waiting.reply
        finally:
            self._open.pop(request.id, None)

    async def settle(
        self,
        request_id: str,
        rule: Callable[[Request], Ruling],
        store: Callable[[Ruling], Awaitable[None]],
        by: str,
    ) -> Ruling:
        """Answer a request; raises `Refusal`, also if somebody else was first."""
        while True:
            waiting = self._open.get(request_id)
            if waiting is None or waiting.reply.done():
                raise self._too_late(request_id)
            if waiting.held is None:
                break
            await asyncio.wait([waiting.held])
        ruling = rule(waiting.request)
        waiting.held = held = asyncio.get_running_loop().create_future()
        try:
            await store(ruling)
            if not waiting.reply.done():
                waiting.reply.set_result(ruling.decision)
            self._remember(request_id, by, ruling.name)
        finally:
            waiting.held = None
            held.set_result(None)
        return ruling

    def how(self, request_id: str) -> str | None:
        """The name of the decision that was taken, if one was."""
        answered = self._answered.get(request_id)
        return None if answered is None else answered[1]

    def _remember(self, request_id: str, by: str, name: str) -> None:
        self._answered[request_id] = by, name
        while len(self._answered) > KEPT:
            del self._answered[next(iter(self._answered))]

    def _too_late(self, request_id: str) -> Refusal:
        answered = self._answered.get(request_id)
        if answered is None:
            return Refusal("not_found", f"there is no open request {request_id!r}")
        by, decision = answered
        said = f"{by} has answered this already: {decision}"
        return Refusal("already_resolved", said, by=by, decision=decision)
