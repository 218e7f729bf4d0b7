"""Holds the prompt queues of sessions that a usage limit stopped, until the limit resets.

A session whose turn ended at a limit gets a hold if prompts are queued, or if its user wants it to
continue at the reset; then a prompt that tells the model to continue is queued first. The hold is
a fact in the session's log, stored together with that prompt, so it survives a kill of the server
at any moment; the row of the session names it, so that a restarted server finds it without reading
every log. The log forgets the hold when a prompt is written. A prompt that was written just before
a kill may be written again with the same uuid, which the CLI then drops (CLI-202).

Times come from `clock`, and `tick` is called with the present: nothing here sleeps.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable

from msgspec import structs

from fairlead.server.intents.context import IntentContext
from fairlead.server.intents.handlers import Handlers, Result
from fairlead.server.intents.resuming import resumable
from fairlead.server.limit_book import LimitBook
from fairlead.server.protocol.intents import ContinueAtReset, ContinueAtResetByDefault
from fairlead.server.refusal import Refusal
from fairlead.server.session.live_session import LiveSession
from fairlead.server.sessions.sessions import Sessions
from fairlead.store.log import StoreUnavailable
from fairlead.wire.blocks import TextBlock
from fairlead.wire.events import RateLimitInfo
from fairlead.wire.inputs import Prompt

__all__ = ["CONTINUE_TEXT", "LimitHolds"]

CONTINUE_TEXT = "Continue from where you left off."
"""The prompt that is sent at the reset, because the turn that the limit stopped is over."""

RETRY_S = 300.0
"""The next attempt if a session cannot be started, or if the CLI named a reset in the past."""

log = logging.getLogger("fairlead")


class LimitHolds:
    """The holds of all sessions of one server."""

    def __init__(
        self,
        sessions: Sessions,
        book: LimitBook,
        *,
        clock: Callable[[], float],
        jitter: Callable[[], float],
    ) -> None:
        """`jitter` gives the seconds between a reset and the next prompt, different for each hold."""
        self._sessions = sessions
        self._book = book
        self._clock = clock
        self._jitter = jitter
        self._due: dict[str, float] = {}
        """Session -> when its queue is released."""
        self._storing: set[str] = set()
        book.changed = self._show
        sessions.on_settled.append(self.settled)
        sessions.on_deleted.append(lambda session: self._due.pop(session, None))
        sessions.on_limit = self.reported
        sessions.keeps_queue = self._recover_queue
        self.handlers: Handlers = {
            ContinueAtReset: self.choose,
            ContinueAtResetByDefault: self.choose_default,
        }

    def reported(self, live: LiveSession, info: RateLimitInfo, at: float) -> None:
        """A CLI reported the usage of its account."""
        self._book.report(self._sessions.account_of(live.id), info, at)

    def settled(self, live: LiveSession) -> None:
        """Events of a session were stored: begin a hold that is due, and forget one that is over."""
        if live.transcript.queue_hold is not None:
            self._due.setdefault(live.id, live.transcript.queue_hold["until"])
        elif live.transcript.turn is not None or live.id in self._storing:
            return
        elif live.prompts.queue.limited and self._is_stopped(live) and self._keeps_queue(live):
            # Only what was queued when the limit was reached: a later prompt is a new attempt.
            self._storing.add(live.id)
            self._sessions.spawn(self._hold(live))
        else:
            # The queue may know of a limit whose report is not stored yet.
            if live.prompts.queue.limited and live.transcript.limit is not None:
                live.prompts.end_hold()
            self._forget(live.id)

    async def recover(self) -> None:
        """Find the holds that an earlier server stored."""
        for row in tuple(self._sessions.rows.values()):
            if row.options.get("hold"):
                live = await self._sessions.load(row.id)
                self._recover_queue(live)
                self.settled(live)
        self._show()

    async def tick(self, now: float) -> None:
        """Release the queues whose time has come."""
        for session, until in tuple(self._due.items()):
            if until <= now:
                # Until the prompt is written, a failed start is tried again.
                self._due[session] = now + RETRY_S
                try:
                    await self._release(session)
                except (Refusal, StoreUnavailable) as problem:
                    log.warning("session %s cannot continue yet: %s", session, problem)
        self._show()

    async def choose(
        self, sessions: Sessions, context: IntentContext, intent: ContinueAtReset
    ) -> Result:
        """Let a session continue when its limit resets, or cancel that."""
        live = await sessions.load(intent.session)
        row = sessions.row(live.id)
        options = {**row.options, "continue_at_reset": intent.on}
        await sessions.catalog.save(structs.replace(row, options=options))
        hold = live.transcript.queue_hold
        if hold is not None and not intent.on:
            queued = [prompt.uuid for prompt in live.prompts.queue.held if _continues(prompt)]
            await live.prompts.release(tuple(queued))
            self._forget(live.id)
        elif intent.on and self._is_stopped(live) and not self._has_continuation(live):
            self._due.pop(live.id, None)
            await self._hold(live)
        return {"on": intent.on, "continues_at": self._due.get(live.id)}

    async def choose_default(
        self, sessions: Sessions, context: IntentContext, intent: ContinueAtResetByDefault
    ) -> Result:
        """Set what sessions do at a limit that make no choice of their own."""
        try:
            self._book.set_default(continue_at_reset=intent.on)
        except OSError as problem:
            raise Refusal(
                "unavailable",
                "The choice applies until the server stops, but could not be stored: "
                f"{problem.strerror or problem}.",
            ) from problem
        return {"on": intent.on}

    def _wants(self, session: str) -> bool:
        chosen = self._sessions.row(session).options.get("continue_at_reset")
        return self._book.continue_at_reset if chosen is None else bool(chosen)

    def _is_stopped(self, live: LiveSession) -> bool:
        """Whether a limit stops the session whose reset is known."""
        limit = live.transcript.limit
        return limit is not None and limit["resets_at"] is not None

    def _keeps_queue(self, live: LiveSession) -> bool:
        """Whether the queue of a session waits for a reset, also after a kill of the server."""
        if live.transcript.queue_hold is not None:
            return True
        return self._is_stopped(live) and (len(live.prompts) > 0 or self._wants(live.id))

    def _recover_queue(self, live: LiveSession) -> bool:
        """Keep the queue of a session that an earlier server left, if it waits for a reset."""
        live.prompts.queue.limited = self._keeps_queue(live)
        return live.prompts.queue.limited

    def _has_continuation(self, live: LiveSession) -> bool:
        return any(_continues(prompt) for prompt in live.prompts.queue.held)

    async def _hold(self, live: LiveSession) -> None:
        limit = live.transcript.limit
        try:
            if limit is None:
                return
            now, resets_at = self._clock(), float(limit["resets_at"])
            until = (resets_at if resets_at > now else now + RETRY_S) + self._jitter()
            first = None
            if self._wants(live.id) and not self._has_continuation(live):
                words = (TextBlock(text=CONTINUE_TEXT),)
                first = Prompt(uuid=str(uuid.uuid4()), content=words, verbatim=True)
            row = self._sessions.row(live.id)
            options = {**row.options, "hold": {"until": until, "limit": limit["kind"]}}
            await self._sessions.catalog.save(structs.replace(row, options=options))
            await live.prompts.hold(until, limit["kind"], first)
        except StoreUnavailable as problem:
            log.warning("the queue of session %s could not be held: %s", live.id, problem)
        finally:
            self._storing.discard(live.id)
            self._sessions.catalog.show(live.id)

    async def _release(self, session: str) -> None:
        sessions = self._sessions
        live = await sessions.load(session)
        if live.transcript.queue_hold is None:
            self._forget(session)
            return
        if sessions.row(session).archived:
            await live.prompts.release(live.prompts.uuids)
            self._forget(session)
            return
        if live.live:
            live.prompts.end_hold()
            return
        options = await resumable(sessions, live, repair=False)
        async with sessions.starter.expecting(live):
            live.prompts.end_hold()
        if not live.live:
            sessions.starter.budget(session).refill()
            sessions.starter.start_soon(live, options)

    def _forget(self, session: str) -> None:
        self._due.pop(session, None)
        row = self._sessions.rows.get(session)
        if row is not None and row.options.get("hold"):
            options = {name: value for name, value in row.options.items() if name != "hold"}
            self._sessions.catalog.save_soon(structs.replace(row, options=options))

    def _show(self) -> None:
        self._sessions.lobby.set_server(
            limits=self._book.rows(self._clock()),
            continue_at_reset=self._book.continue_at_reset,
        )


def _continues(prompt: Prompt) -> bool:
    return prompt.text == CONTINUE_TEXT
