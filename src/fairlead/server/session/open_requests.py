"""The unanswered requests of a CLI: the first valid answer wins, once it is stored.

A handler of the host waits in `ask`; a device answers by `settle`. Two answers at the same time
never race to the CLI: the first one locks the request while it is stored. The others wait, and
then learn who answered and how, or take their turn if storing failed.

An answer may be held (`hold`): it is stored and shown to every device, but the CLI gets it only
when the undo period ends. Until then `undo` opens the request again and `confirm` writes the
answer now. A denial without `hold` wins over any held answer. An approval wins over a held
approval but not over a held denial: a click that was on its way must not overrule a "no". If the
CLI withdraws the request or ends, the held answer goes with it. If the server stops, a held denial
is written at once and a held approval is not (`finish`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeAlias

from fairlead.errors import FairleadError
from fairlead.host.requests.decisions import Deny, PermissionRequest
from fairlead.host.requests.elicitations import Cancel, DialogRequest, ElicitationRequest
from fairlead.server.refusal import Refusal
from fairlead.server.session.rulings import Ruling
from fairlead.server.view.seen import check_seen, is_large_request, request_sha256

__all__ = ["Request", "Requests"]

log = logging.getLogger("fairlead")

Request: TypeAlias = PermissionRequest | ElicitationRequest | DialogRequest
Rule: TypeAlias = Callable[[Request], Ruling]
Store: TypeAlias = Callable[[Ruling], Awaitable[None]]

StoreFor: TypeAlias = Callable[[str, Ruling], Awaitable[None]]

NOT_HELD = "No answer to this request is held. It may have been undone."
REUSED = "This request id was used before; ask again under a new one."
KEPT = 1_000
"""Answers remembered for devices that answer late; older ones are in the transcript."""


class _Held:
    """An answer in its undo period."""

    __slots__ = ("by", "ruling", "store", "timer")

    def __init__(self, ruling: Ruling, by: str, store: Store) -> None:
        self.ruling = ruling
        self.by = by
        self.store = store
        self.timer: asyncio.Task[None] | None = None

    def rule(self, request: Request) -> Ruling:
        """The ruling was made when the user answered."""
        return self.ruling


class _Open:
    __slots__ = ("_hashing", "held", "reply", "request", "sha256", "storing")

    def __init__(self, request: Request) -> None:
        self.request = request
        self.sha256: str | None = None
        """The hash that an answer must carry; None until the first answer needs it."""
        self._hashing: asyncio.Task[str] | None = None
        self.reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.storing: asyncio.Future[None] | None = None
        """Done when the answer that is being stored is stored, or could not be."""
        self.held: _Held | None = None

    async def hash(self) -> None:
        """Compute the hash once, however many answers need it; a large request in a thread."""
        if not is_large_request(self.request):
            self.sha256 = request_sha256(self.request)
            return
        if self._hashing is None:
            self._hashing = asyncio.create_task(asyncio.to_thread(request_sha256, self.request))
        self.sha256 = await asyncio.shield(self._hashing)


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
            # No device was shown the second one: an answer to it would be an answer to something
            # unseen (F-19).
            return Deny(REUSED) if isinstance(request, PermissionRequest) else Cancel()
        self._seen.add(request.id)
        waiting = self._open[request.id] = _Open(request)
        try:
            return await waiting.reply
        finally:
            self._open.pop(request.id, None)
            _stop_timer(waiting.held)

    async def settle(
        self, request_id: str, rule: Rule, store: Store, by: str, *, seen: str | None
    ) -> Ruling:
        """Answer a request; raises `Refusal`, also if another device was first.

        `seen` is the hash of what the user was shown; None if it was compared before.
        """
        waiting = await self._free(request_id)
        ruling = _ruled(waiting, rule, seen)
        held = waiting.held
        if held is not None and held.ruling.denies and not ruling.denies:
            text = f"{held.by} is denying this request. Undo the denial first."
            raise Refusal("conflict", text)
        await self._write(request_id, waiting, ruling, store, by)
        return ruling

    async def hold(
        self,
        request_id: str,
        rule: Rule,
        note: Store,
        store: Store,
        by: str,
        seconds: float,
        undone: Callable[[], None],
        *,
        seen: str,
    ) -> Ruling:
        """Answer a request after the undo period. `note` stores the hold, `store` the answer.

        `undone` is called if the answer could not be stored, for the request is open again then.
        """
        waiting = await self._free(request_id)
        ruling = _ruled(waiting, rule, seen)
        if waiting.held is not None:
            raise Refusal("conflict", f"{waiting.held.by} is answering this request already.")
        async with _locked(waiting):
            await note(ruling)
        waiting.held = held = _Held(ruling, by, store)
        if not waiting.reply.done():
            held.timer = asyncio.create_task(self._expire(request_id, held, seconds, undone))
        return ruling

    async def undo(self, request_id: str, note: Callable[[], Awaitable[None]]) -> None:
        """Take a held answer back; raises `Refusal` if none is held."""
        waiting = await self._free(request_id)
        if waiting.held is None:
            raise Refusal("conflict", NOT_HELD)
        async with _locked(waiting):
            await note()
        _stop_timer(waiting.held)
        waiting.held = None

    async def confirm(self, request_id: str) -> Ruling:
        """Write a held answer now; raises `Refusal` if none is held."""
        waiting = await self._free(request_id)
        held = waiting.held
        if held is None:
            raise Refusal("conflict", NOT_HELD)
        return await self.settle(request_id, held.rule, held.store, held.by, seen=None)

    async def finish(self) -> None:
        """Write every held denial now: the server or the session stops."""
        for request_id, waiting in tuple(self._open.items()):
            held = waiting.held
            if held is None or not held.ruling.denies or waiting.reply.done():
                continue
            try:
                await self.settle(request_id, held.rule, held.store, held.by, seen=None)
            except FairleadError as problem:
                log.warning("a held denial could not be written: %s", problem)

    async def settle_each(self, rule: Callable[[Request], Ruling | None], store: StoreFor) -> None:
        """Answer every open request that `rule` has an answer for and that no device answered."""
        for request_id, waiting in tuple(self._open.items()):
            ruling = rule(waiting.request)
            if ruling is None or waiting.storing is not None or waiting.reply.done():
                continue
            try:
                await self._write(request_id, waiting, ruling, partial(store, request_id), "rule")
            except FairleadError as problem:
                log.warning("a denial by a rule could not be stored: %s", problem)

    def how(self, request_id: str) -> str | None:
        """The name of the decision that was taken, if one was."""
        answered = self._answered.get(request_id)
        return None if answered is None else answered[1]

    async def _free(self, request_id: str) -> _Open:
        """The request, once no other answer to it is being stored."""
        while True:
            waiting = self._open.get(request_id)
            if waiting is None or waiting.reply.done():
                raise self._too_late(request_id)
            if waiting.storing is not None:
                await asyncio.wait([waiting.storing])
            elif waiting.sha256 is None:
                await waiting.hash()
            else:
                return waiting

    async def _write(
        self, request_id: str, waiting: _Open, ruling: Ruling, store: Store, by: str
    ) -> None:
        async with _locked(waiting):
            await store(ruling)
            _stop_timer(waiting.held)
            if not waiting.reply.done():
                waiting.reply.set_result(ruling.decision)
            self._remember(request_id, by, ruling.name)

    async def _expire(
        self, request_id: str, held: _Held, seconds: float, undone: Callable[[], None]
    ) -> None:
        await asyncio.sleep(seconds)
        try:
            waiting = await self._free(request_id)
            if waiting.held is held:
                held.timer = None  # It is past the point at which it could be stopped.
                await self._write(request_id, waiting, held.ruling, held.store, held.by)
        except Refusal:
            return  # Answered or withdrawn meanwhile.
        except FairleadError as problem:
            log.warning("a held answer could not be stored; the request is open again: %s", problem)
            waiting.held = None
            undone()

    def _remember(self, request_id: str, by: str, name: str) -> None:
        self._answered[request_id] = by, name
        while len(self._answered) > KEPT:
            del self._answered[next(iter(self._answered))]

    def _too_late(self, request_id: str) -> Refusal:
        answered = self._answered.get(request_id)
        if answered is None:
            return Refusal(
                "not_found",
                f"Request {request_id!r} is not open. It was answered or withdrawn, or never existed.",
            )
        by, decision = answered
        return Refusal(
            "already_resolved",
            f"Already answered by {by}: {decision}",
            by=by,
            decision=decision,
        )


class _locked:  # noqa: N801 (used as a function)
    """Keeps other answers to a request back while one is stored."""

    def __init__(self, waiting: _Open) -> None:
        self._waiting = waiting

    async def __aenter__(self) -> None:
        self._done = self._waiting.storing = asyncio.get_running_loop().create_future()

    async def __aexit__(self, *exc_info: object) -> None:
        self._waiting.storing = None
        self._done.set_result(None)


def _ruled(waiting: _Open, rule: Rule, seen: str | None) -> Ruling:
    if seen is not None:
        check_seen(waiting.sha256 or "", seen)
    return rule(waiting.request)


def _stop_timer(held: _Held | None) -> None:
    if held is not None and held.timer is not None:
        held.timer.cancel()
        held.timer = None
