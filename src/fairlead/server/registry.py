"""The server's front to its clients' wishes: documents to follow, intents to carry out, once each.

    async with Registry(store, agent, limits, policy) as registry:
        result = await registry.act(device, client, n, intent)

An intent acts once for each (client, n), however often it comes and whatever breaks between:
the same task while it runs, the stored result afterwards. What is done by which intent is in
the intent modules; which session runs is `sessions`; who is told what is `hub`.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any

from fairlead.errors import FairleadError
from fairlead.host.options import Options
from fairlead.server import (
    decision_intents,
    fork_intents,
    inquiry_intents,
    prompt_intents,
    session_intents,
    switch_intents,
)
from fairlead.server.cli_documents import CliDocuments
from fairlead.server.decorate import SessionSource
from fairlead.server.deed import Deed, stored_result
from fairlead.server.handlers import Handler, Result
from fairlead.server.hub import Hub
from fairlead.server.intents import Intent, RevokeDevice
from fairlead.server.limits import Limits
from fairlead.server.lobby import Lobby
from fairlead.server.lobby_rows import StoreInfo
from fairlead.server.messages import LOBBY, IntentResult
from fairlead.server.policy import Policy
from fairlead.server.presence import Presence
from fairlead.server.refusal import Refusal
from fairlead.server.roles import require
from fairlead.server.sessions import Sessions, Upload
from fairlead.store.devices import Device
from fairlead.store.imports import CliSessions
from fairlead.store.intents import KEPT
from fairlead.store.log import StoreUnavailable
from fairlead.store.sqlite import SqliteStore
from fairlead.store.state import StoreState

__all__ = ["Registry"]

log = logging.getLogger("fairlead")

HIGHEST_N = 2**53
"""What a JavaScript client can count to."""


CLIENTS_KNOWN = 4_096
"""Clients whose highest number is kept in memory."""


class Registry:
    """All sessions, and everything that clients may do with them."""

    def __init__(
        self,
        store: SqliteStore,
        agent: str = "claude",
        limits: Limits | None = None,
        policy: Policy | None = None,
        *,
        options: Options | None = None,
        cli: CliSessions | None = None,
        upload: Upload | None = None,
        revoke: Callable[[str], Awaitable[bool]] | None = None,
        version: str = "",
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`agent` is the CLI's name or path; `options` what else every session starts with.

        `cli` lists the CLI's own sessions, `upload` gives an upload as a block of a prompt, and
        `revoke` takes a device's token away and cuts its sockets off.
        """
        self.limits = limits or Limits()
        self.policy = policy or Policy()
        self.hub = Hub(self.limits)
        self._store = store
        self._clock = clock
        self._revoke = revoke or store.revoke_device
        epoch = f"{store.epoch}.{uuid.uuid4().hex[:12]}"
        self.lobby = Lobby(self.hub, epoch, self.limits.lobby_every_s)
        base = options or Options(agent=agent)
        self.sessions = Sessions(
            store,
            self.hub,
            self.lobby,
            base,
            policy=self.policy,
            limits=self.limits,
            cli=cli,
            upload=upload,
            clock=clock,
        )
        self._presence = Presence(self.lobby, clock)
        self._cli = CliDocuments(self.sessions, cli)
        self._acting: dict[tuple[str, str, int], asyncio.Task[IntentResult]] = {}
        self._highest: dict[str, int] = {}
        """The highest number that each client has sent, as far as it is known."""
        self._keeper: asyncio.Task[None] | None = None
        self._forget_state: Callable[[], None] | None = None
        self._handlers: dict[type, Handler] = {
            **session_intents.HANDLERS,
            **fork_intents.HANDLERS,
            **prompt_intents.HANDLERS,
            **decision_intents.HANDLERS,
            **switch_intents.HANDLERS,
            **inquiry_intents.HANDLERS,
            RevokeDevice: self._revoke_device,
        }
        self.lobby.set_server(
            agent=str(base.agent),
            version=version,
            mode_ceiling=self.policy.mode_ceiling,
            roots=tuple(str(root) for root in self.policy.roots),
        )

    # Life

    async def start(self) -> Registry:
        """List what there is, end what a server before this one left, and begin to look after it."""
        self._store_changed(self._store.state)
        self._forget_state = self._store.on_state(self._store_changed)
        await self.sessions.recover()
        for device in await self._store.devices():
            if device.revoked is None:
                self._presence.known(device)
        self._cli.start()
        self._keeper = asyncio.create_task(self._keep())
        return self

    async def close(self) -> None:
        """End every session; the store stays open, it belongs to the caller."""
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait([self._keeper])
        if self._forget_state is not None:
            self._forget_state()
        for task in tuple(self._acting.values()):
            task.cancel()
        await self._cli.close()
        await self.sessions.close()

    async def __aenter__(self) -> Registry:
        return await self.start()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    # Documents

    async def open(self, document: str, device: Device | None = None) -> bool:
        """Make a document available to the hub; False if there is none.

        Subscribe in the same step, without waiting: a document that nobody follows may go.
        """
        if document == LOBBY:
            return True
        try:
            if document in self.sessions.rows:
                await self.sessions.load(document)
                return True
            return await self._cli.open(document)
        except StoreUnavailable:
            return False

    def source(self, document: str) -> SessionSource | None:
        """A session that is loaded, as its clients see it."""
        own = self.sessions.loaded(document)
        return self._cli.source(document) if own is None else self.sessions.source(document)

    def arrived(self, device: Device, socket: str) -> None:
        """A device is connected."""
        self._presence.arrived(device, socket)

    def left(self, device: Device, socket: str) -> None:
        """One connection of a device is gone."""
        self._presence.left(device, socket)

    def paired(self, device: Device) -> None:
        """A device may come from now on."""
        self._presence.known(device)

    def renamed(self, device: str, name: str) -> None:
        """A device was given another name."""
        self._presence.renamed(device, name)

    # Intents

    async def act(self, device: Device, client: str, n: int, intent: Intent) -> IntentResult:
        """Carry out an intent, once for each (client, n); goes on if the caller does not wait."""
        key = (device.id, client, n)
        task = self._acting.get(key)
        if task is None:
            task = asyncio.create_task(self._act(Deed(device, client, n), intent))
            self._acting[key] = task
            task.add_done_callback(lambda _: self._acting.pop(key, None))
        return await asyncio.shield(task)

    async def last_intent(self, client: str) -> int:
        """The highest n of a client that was acted on."""
        return await self._store.last_intent(client)

    async def _act(self, deed: Deed, intent: Intent) -> IntentResult:
        """The one place where what went wrong becomes a message."""
        try:
            return await self._once(deed, intent)
        except Refusal as refusal:
            return await self._keep_refusal(deed, refusal)
        except StoreUnavailable as problem:
            said = f"nothing can be stored now, so nothing was done: {problem.reason}"
            return _failed(deed.n, Refusal("unavailable", said, store=problem.code))
        except FairleadError as problem:
            return await self._keep_refusal(deed, Refusal("agent_failed", str(problem)))
        except Exception:
            log.exception("an intent %s failed", type(intent).__name__)
            return _failed(
                deed.n, Refusal("internal", "this failed inside the server; see its log")
            )

    async def _once(self, deed: Deed, intent: Intent) -> IntentResult:
        require(deed.role, type(intent).role, str(intent.__struct_config__.tag))
        if not deed.client or not 0 < deed.n < HIGHEST_N:
            raise Refusal("bad_message", "intents are counted from 1 on, under a client id")
        if not await self._is_new(deed):
            stored = await self._store.intent_result(deed.client, deed.n)
            if stored is not None:
                return stored_result(deed.device, stored)
            if deed.n <= await self._store.last_intent(deed.client) - KEPT:
                raise Refusal("stale", "this intent is too old to know whether it was acted on")
        state = self._store.state
        if not state.ok:
            raise state.error()
        result = await self._handlers[type(intent)](self.sessions, deed, intent)
        done = IntentResult(n=deed.n, ok=True, result=result)
        if not deed.carried:
            await self._keep_result(deed, done)
        return done

    async def _is_new(self, deed: Deed) -> bool:
        """Whether a client never sent so high a number, so that nothing can be stored of it.

        Asked of the store once for each client: an answer must not wait for two reads each time.
        """
        highest = self._highest.get(deed.client)
        if highest is None:
            stored = await self._store.last_intent(deed.client)
            while len(self._highest) >= CLIENTS_KNOWN:
                del self._highest[next(iter(self._highest))]
            highest = self._highest.setdefault(deed.client, stored)
        self._highest[deed.client] = max(highest, deed.n)
        return deed.n > highest

    async def _keep_refusal(self, deed: Deed, refusal: Refusal) -> IntentResult:
        failed = _failed(deed.n, refusal)
        if refusal.code != "unavailable":
            await self._keep_result(deed, failed)
        return failed

    async def _keep_result(self, deed: Deed, result: IntentResult) -> None:
        kept = deed.keep(result)
        try:
            await self._store.put_intent_result(kept.client, kept.n, kept.result)
        except StoreUnavailable:
            log.warning("the result of intent %d of %s was not kept", deed.n, deed.client)

    async def _revoke_device(self, sessions: Sessions, deed: Deed, intent: RevokeDevice) -> Result:
        if not await self._revoke(intent.device):
            raise Refusal("not_found", f"there is no device {intent.device!r}")
        self._presence.revoked(intent.device)
        return {}

    # Looking after

    def _store_changed(self, state: StoreState) -> None:
        self.lobby.set_server(store=StoreInfo(state.code, state.reason))
        if state.ok:
            self.sessions.store_changed()

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(self.limits.cull_every_s)
            await self.sessions.cull()
            await self._cli.cull()


def _failed(n: int, refusal: Refusal) -> IntentResult:
    return IntentResult(
        n=n, ok=False, code=refusal.code, message=refusal.message, result=_plain(refusal.facts)
    )


def _plain(facts: dict[str, Any]) -> dict[str, Any]:
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in facts.items()
    }
