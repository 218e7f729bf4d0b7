"""One session of the server: a transcript that follows its log, and a CLI while one runs.

Everything the CLI does goes into the journal, and from there, once it is stored, into the
transcript and to whoever watches (`published`). What somebody wants is stored first and only
then done. Prompts wait here and are given to the CLI when it is idle. Knows neither clients nor
other sessions; `sessions` keeps many of these.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any

from fairlead.errors import FairleadError
from fairlead.guarding import judge
from fairlead.host import plans
from fairlead.host.client import Client
from fairlead.host.decisions import Allow, Decision, Deny, PermissionRequest
from fairlead.host.elicitations import DialogRequest, ElicitationReply, ElicitationRequest
from fairlead.host.options import Options
from fairlead.host.prompts import PromptMoved, PromptState
from fairlead.permissions.audit import input_sha256
from fairlead.permissions.guard import Guard
from fairlead.permissions.scopes import Behaviour
from fairlead.permissions.settings import place_of
from fairlead.server.dialogs import DIALOGS
from fairlead.server.journal import EventStore, Journal
from fairlead.server.limits import Limits
from fairlead.server.prompts import HeldPrompts
from fairlead.server.refusal import Refusal
from fairlead.server.requests import Requests
from fairlead.store.audit import AuditRecord
from fairlead.store.intents import IntentOutcome
from fairlead.store.log import StoreUnavailable
from fairlead.transcript.changes import Change
from fairlead.transcript.facts import (
    Decided,
    PlanShown,
    ProcessExited,
    ProcessStarted,
    PromptCancelled,
    PromptEdited,
    PromptHeld,
    PromptsReordered,
)
from fairlead.transcript.reduce import Fed
from fairlead.transcript.transcript import Transcript
from fairlead.wire.decode import AnyMessage
from fairlead.wire.inputs import Input, Prompt

__all__ = ["LiveSession"]

SPAWN_STEP_S = 0.01
"""How often a stop looks whether a start has come to its process, which takes moments."""

UNREAD = 1
"""Nobody reads the client's own turns here: the log has everything, and they keep nothing."""


class LiveSession:
    """A session that is loaded, and runs while `live`."""

    def __init__(
        self,
        session: str,
        store: EventStore,
        limits: Limits,
        *,
        transcript: Transcript | None = None,
        seq: int = 0,
        published: Callable[[LiveSession, int, Sequence[Change]], None],
        settled: Callable[[LiveSession], None] | None = None,
        exited: Callable[[LiveSession, ProcessExited], None] | None = None,
        clock: Callable[[], float] = time.time,
        guard: Guard | None = None,
    ) -> None:
        self.id = session
        self._guard = guard
        self.transcript = transcript or Transcript()
        self.seq = seq
        """The number of the last event that is stored and shown."""
        self.prompts = HeldPrompts()
        self.requests = Requests()
        self.client: Client | None = None
        self.active = clock()
        """When something last happened here."""
        self._limits = limits
        self._published = published
        self._exited = exited
        self._clock = clock
        self._starting = False
        self._stopping = False
        self._start: asyncio.Task[None] | None = None
        self._given: dict[str, Prompt] = {}
        """Prompts that the client was given and has not written."""
        self._tasks: set[asyncio.Task[None]] = set()
        self.journal = Journal(
            session,
            store,
            self._stored,
            limits,
            on_full=lambda: self._signal(signal.SIGSTOP),
            on_room=lambda: self._signal(signal.SIGCONT),
            on_batch=(lambda: settled(self)) if settled is not None else None,
        )

    # Life

    @property
    def live(self) -> bool:
        """Whether a CLI runs, or is being started."""
        return self._starting or (self.client is not None and not self.client.ended)

    @property
    def busy(self) -> bool:
        """Whether it works, waits for an answer, or has something left to do."""
        working = self.client is not None and self.client.busy
        waiting = bool(self.transcript.pending or len(self.prompts))
        return self._starting or (self.live and (working or waiting or self._background()))

    def reserve(self) -> None:
        """Count as live from now on, because it will be started; refuses if it runs."""
        if self.live:
            raise Refusal("conflict", "this session runs already")
        self._starting = True

    def release(self) -> None:
        """It will not be started after all."""
        self._starting = False

    async def start(self, options: Options) -> None:
        """Start a CLI after `reserve`; what waits is given to it. Raises as `Client.start` does.

        Goes on if the caller does not wait: half a start would leave a process behind.
        """
        self._starting, self._stopping = True, False
        self._start = asyncio.create_task(self._start_client(options))
        self._start.add_done_callback(lambda task: task.cancelled() or task.exception())
        await asyncio.shield(self._start)

    async def _start_client(self, options: Options) -> None:
        self.requests = Requests()
        client = Client(
            replace(
                options,
                on_permission=self._asked,
                on_elicitation=self._elicited,
                on_dialog=self._shown_dialog,
                stream=replace(options.stream, dialog_kinds=tuple(DIALOGS)),
                reader_limit=UNREAD,
            )
        )
        client.observe(_Witness(self, client))
        self.client = client
        resumed = options.resume or ("latest" if options.continue_latest else None)
        self.note([ProcessStarted(resumed=resumed)])
        try:
            await client.start()
        except FairleadError as problem:
            if client.pid is None:
                self._gone(ProcessExited(stderr=str(problem)))
            raise
        finally:
            self._starting = False
        self.pump()

    async def stop(self) -> None:
        """End the CLI, and wait until its end is stored. The session can be resumed."""
        self._stopping = True
        start = self._start
        while (
            start is not None and not start.done() and (self.client is None or not self.client.pid)
        ):
            await asyncio.wait([start], timeout=SPAWN_STEP_S)
        client = self.client
        if client is not None and not client.ended:
            self._signal(signal.SIGCONT)
            await client.close()
        if start is not None:
            await asyncio.wait([start])
        if self.journal.problem is None:
            await self.journal.flush()

    async def close(self) -> None:
        """Let everything go."""
        await self.stop()
        for task in tuple(self._tasks):
            task.cancel()
        await self.journal.close()

    # What happened

    def note(self, fed: list[Fed]) -> None:
        """Something happened."""
        self.active = self._clock()
        self.journal.note(fed, self.active)

    def _stored(self, seq: int, fed: Fed, at: float) -> None:
        changes = self.transcript.feed(fed, at)
        self.seq = seq
        self._published(self, seq, changes)

    def _gone(self, fact: ProcessExited) -> None:
        self.note([fact])
        # What the client had not written goes first when a CLI runs again.
        for prompt in reversed(self._given.values()):
            self.prompts.put_back(prompt)
        self._given.clear()
        if self._exited is not None:
            self._exited(self, fact)

    def process_gone(self, client: Client, returncode: int) -> None:
        """The CLI has ended; `_Witness` tells."""
        if client is not self.client:
            return
        expected = self._stopping
        self._gone(ProcessExited(returncode=returncode, expected=expected, stderr=client.stderr))

    def prompt_moved(self, move: PromptMoved) -> None:
        """The client's own queue moved; `_Witness` tells."""
        uuid = move.prompt.uuid
        if move.state is PromptState.SENT:
            self._given.pop(uuid, None)
        elif move.state is PromptState.CANCELLED and uuid in self._given:
            # If the process ends, `process_gone` follows at once and puts the prompt back.
            asyncio.get_running_loop().call_soon(self._taken_back, uuid)

    def _taken_back(self, uuid: str) -> None:
        if self._given.pop(uuid, None) is not None:
            self.note([PromptCancelled(uuid)])

    # Prompts

    async def hold(
        self,
        prompt: Prompt,
        *,
        at_once: bool = False,
        intent: IntentOutcome | None = None,
    ) -> None:
        """Take a prompt: stored, shown as held, and written as soon as may be."""
        known = self.transcript.item(prompt.uuid) is not None
        if known or prompt.uuid in self.prompts or prompt.uuid in self._given:
            raise Refusal("conflict", f"the prompt {prompt.uuid} was given to this session before")
        if len(self.prompts) >= self._limits.prompts_held:
            raise Refusal("too_many", f"{self._limits.prompts_held} prompts wait already")
        self.prompts.add(prompt)
        try:
            await self.record([PromptHeld(prompt)], intent)
        except StoreUnavailable:
            self.prompts.take(prompt.uuid)
            raise
        if at_once and self._is_ready():
            self.give(prompt.uuid, at_once=True)
        self.pump()

    async def edit(self, prompt: Prompt, intent: IntentOutcome | None = None) -> None:
        """Other words for a prompt that waits."""
        before = self.prompts.get(prompt.uuid)
        if before is None or not self.prompts.edit(prompt):
            raise _too_late(prompt.uuid)
        try:
            await self.record([PromptEdited(prompt)], intent)
        except StoreUnavailable:
            self.prompts.edit(before)
            raise

    async def reorder(self, uuids: tuple[str, ...], intent: IntentOutcome | None = None) -> None:
        """Another order for the prompts that wait."""
        before = self.prompts.uuids
        if not self.prompts.reorder(uuids):
            raise Refusal("conflict", "other prompts wait than the ones you named", waiting=before)
        try:
            await self.record([PromptsReordered(uuids)], intent)
        except StoreUnavailable:
            self.prompts.reorder(before)
            raise

    async def cancel(self, uuid: str, intent: IntentOutcome | None = None) -> None:
        """Take a prompt back that waits here, or, where a CLI can, inside it."""
        prompt = self.prompts.take(uuid)
        if prompt is None:
            if self._is_ready() and await self.running().cancel(uuid):
                return
            raise _too_late(uuid)
        try:
            await self.record([PromptCancelled(uuid)], intent)
        except StoreUnavailable:
            self.prompts.put_back(prompt)
            raise

    def give(self, uuid: str, *, at_once: bool) -> bool:
        """Give a waiting prompt to the client."""
        prompt = self.prompts.take(uuid)
        if prompt is None:
            return False
        client = self.running()
        self._given[uuid] = prompt
        self._spawn(self._send(client, prompt, at_once))
        return True

    def pump(self) -> None:
        """Give the next prompt to a CLI that is idle."""
        if not self._is_ready() or self._given:
            return
        client = self.running()
        if not client.busy and len(self.prompts):
            self.give(self.prompts.uuids[0], at_once=False)

    async def _send(self, client: Client, prompt: Prompt, at_once: bool) -> None:
        try:
            await client.send(
                list(prompt.content), at_once=at_once, uuid=prompt.uuid, priority=prompt.priority
            )
        except FairleadError:
            if self._given.pop(prompt.uuid, None) is not None:
                self.prompts.put_back(prompt)  # The CLI ended; it goes with the next one.

    # Decisions

    async def _asked(self, request: PermissionRequest) -> Decision:
        ruled = await self._by_rule(request)
        if ruled is not None:
            return ruled
        if request.tool_name == plans.TOOL_NAME and "plan" not in request.input:
            self._spawn(self._show_plan(request.id))
        decision: Decision = await self.requests.ask(request)
        return decision

    async def _by_rule(self, request: PermissionRequest) -> Decision | None:
        """What the operator's own rules say, written down before the CLI hears of it."""
        if self._guard is None or self.client is None:
            return None
        options = self.client.options
        place = place_of(str(options.cwd), options.env.get("HOME") or "~")
        verdict = judge(self._guard, request, place, self.transcript.ledger.cost_usd)
        if not verdict.final:
            return None
        details = {
            "request_id": request.id,
            "tool": request.tool_name,
            "input_sha256": input_sha256(request.input),
            "decision": verdict.behaviour.value,
            "decider": verdict.decider.value,
            "words": verdict.words,
        }
        record = AuditRecord(
            at=self._clock(), action="ruled", session=self.id, device=None, details=details
        )
        await self.record([Decided(request.id, "rule")], audit=(record,))
        allowed = verdict.behaviour is Behaviour.ALLOW
        return Allow() if allowed else Deny(f"Not allowed here: {verdict.words}.")

    async def _elicited(self, request: ElicitationRequest) -> ElicitationReply:
        reply: ElicitationReply = await self.requests.ask(request)
        return reply

    async def _shown_dialog(self, request: DialogRequest) -> Any:
        return await self.requests.ask(request)

    async def _show_plan(self, request_id: str) -> None:
        try:
            plan = await self.running().plan()
        except FairleadError:
            return  # This version has no such request, or has just ended: the row shows no plan.
        if plan:
            self.note([PlanShown(request_id, plan)])

    # The rest

    def running(self) -> Client:
        """The client of the CLI that runs; refuses if there is none."""
        if self.client is None or self._starting or self.client.ended or self.client.closing:
            raise Refusal("unavailable", "no agent runs in this session; resume it first")
        return self.client

    async def record(
        self,
        fed: list[Fed],
        intent: IntentOutcome | None = None,
        audit: Sequence[AuditRecord] = (),
    ) -> None:
        """Store something that somebody wants; raises `StoreUnavailable`."""
        self.active = self._clock()
        await self.journal.record(fed, self.active, intent=intent, audit=audit)

    def _is_ready(self) -> bool:
        client = self.client
        if client is None or self._starting or self._stopping:
            return False
        return not client.ended and not client.closing

    def _background(self) -> bool:
        return self.transcript.status.background > 0

    def _signal(self, number: int) -> None:
        """Stop a CLI whose words cannot be stored, or let it go on; nothing it says is lost."""
        pid = self.client.pid if self.client is not None else None
        if pid is not None and self.client is not None and not self.client.ended:
            try:
                os.killpg(pid, number)
            except (ProcessLookupError, PermissionError):
                pass

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class _Witness:
    """Sees everything that one client does, and notes it."""

    def __init__(self, session: LiveSession, client: Client) -> None:
        self._session = session
        self._client = client

    def received(self, messages: list[AnyMessage], at: float) -> None:
        """The CLI wrote these."""
        self._session.note(list(messages))
        if len(self._session.prompts):
            asyncio.get_running_loop().call_soon(self._session.pump)

    def sent(self, message: Input, line: bytes, at: float) -> None:
        """The host wrote this."""
        self._session.note([message])

    def prompt_moved(self, move: PromptMoved, at: float) -> None:
        """The client's queue moved."""
        self._session.prompt_moved(move)

    def exited(self, returncode: int, at: float) -> None:
        """The process is gone."""
        self._session.process_gone(self._client, returncode)


def _too_late(uuid: str) -> Refusal:
    return Refusal("stale", f"the prompt {uuid} does not wait any more")
