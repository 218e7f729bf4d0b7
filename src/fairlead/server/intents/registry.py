"""Serves the clients: documents to follow, and intents, each carried out once.

    async with Registry(store, agent, limits, policy) as registry:
        result = await registry.act(device, client, n, intent)

An intent is carried out once for each (device, client, n), however often it arrives and whatever
fails: a repeated intent waits for the same task, or gets the stored result. The intent modules
carry out intents, `sessions` knows which sessions run, and `hub` sends changes to clients.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from fairlead.errors import FairleadError
from fairlead.host.options.options import Options
from fairlead.server.access.revocations import Revocations, Revoked
from fairlead.server.access.roles import require
from fairlead.server.hub.hub import Hub
from fairlead.server.intents import decision as decision_intents
from fairlead.server.intents import fork as fork_intents
from fairlead.server.intents import git as git_intents
from fairlead.server.intents import inquiry as inquiry_intents
from fairlead.server.intents import order as order_intents
from fairlead.server.intents import prompt as prompt_intents
from fairlead.server.intents import review as review_intents
from fairlead.server.intents import session as session_intents
from fairlead.server.intents import switch as switch_intents
from fairlead.server.intents import terminal as terminal_intents
from fairlead.server.intents import worktree as worktree_intents
from fairlead.server.intents.context import IntentContext, check_number, client_key, stored_result
from fairlead.server.intents.handlers import Handler, Result
from fairlead.server.intents.limit_holds import LimitHolds
from fairlead.server.intents.order import check_open
from fairlead.server.limit_book import LimitBook
from fairlead.server.limits import Limits
from fairlead.server.policy import Policy
from fairlead.server.profiles.profiles import Profiles
from fairlead.server.protocol.intents import Intent, RevokeDevice
from fairlead.server.protocol.lobby_rows import ProfileRow, StoreInfo
from fairlead.server.protocol.messages import LOBBY, IntentResult
from fairlead.server.refusal import Refusal
from fairlead.server.sessions.cli_documents import CliDocuments
from fairlead.server.sessions.sessions import Sessions, Upload
from fairlead.server.view.lobby import Lobby
from fairlead.server.view.presence import Presence
from fairlead.server.view.session_view import SessionView
from fairlead.store.cli_files.imports import CliSessions
from fairlead.store.database.state import StoreState
from fairlead.store.log import StoreUnavailable
from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables.devices import Device
from fairlead.store.tables.intents import CLIENTS, KEPT

if TYPE_CHECKING:
    from fairlead.server.terminal.terminals import TerminalRegistry

__all__ = ["Registry"]

log = logging.getLogger("fairlead")

NOT_STORED = (
    "The device is disconnected. The revocation is not stored yet, because the database cannot be written; "
    "it is in a file next to it and will be stored as soon as possible."
)
NOT_DURABLE = (
    "The device is disconnected. The revocation is not stored, and a restart of the server would forget it: "
    "free disk space before you restart."
)

TOO_MANY_CLIENTS = (
    f"This device has used {CLIENTS} client ids within the last hour. Use one client id for each "
    "program or page, and reuse it for all intents."
)

REFUSALS_CACHED = 4_096
"""Refusals that are repeated for a resent intent; after an older one it is decided again."""

CLIENTS_CACHED = 4_096
"""Clients whose highest number is in memory."""


class Registry:
    """All sessions, and everything that clients can do with them."""

    def __init__(
        self,
        store: SqliteStore,
        agent: str = "claude",
        limits: Limits | None = None,
        policy: Policy | None = None,
        *,
        options: Options | None = None,
        profiles: Profiles | None = None,
        cli: CliSessions | None = None,
        upload: Upload | None = None,
        revoke: Callable[[str], Awaitable[Revoked]] | None = None,
        terminals: TerminalRegistry | None = None,
        version: str = "",
        lists_files: bool = True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`agent` is the CLI's name or path; `options` apply to every session.

        `cli` lists the CLI's own sessions of the default profile, `upload` returns an upload as a block
        of a prompt, and `revoke` revokes a device's token and closes its sockets. Without `terminals`
        no shell can be started. `lists_files` tells whether the CLI's own sessions are listed.
        """
        self.limits = limits or Limits()
        self.policy = policy or Policy()
        self.hub = Hub(self.limits)
        self._store = store
        self._clock = clock
        self._revoke = (
            revoke or Revocations(store, None, clock=clock, retry_s=self.limits.store_retry_s).store
        )
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
            profiles=profiles,
            cli=cli,
            upload=upload,
            clock=clock,
        )
        self._presence = Presence(self.lobby, clock)
        self._cli = CliDocuments(self.sessions)
        self._lists_files = lists_files
        self.sessions.profiles.changed = self._profiles_changed
        self._use_profiles()
        self.sessions.deletions.list_file = self._cli.list_again
        if terminals is not None:
            self.sessions.deletions.end_terminals = terminals.session_deleted
        self._acting: dict[tuple[str, str, int], asyncio.Task[IntentResult]] = {}
        self._highest: dict[str, int] = {}
        """The highest number of each client in memory."""
        self._refused: dict[tuple[str, int], IntentResult] = {}
        """The last refusals, for clients that resend an intent."""
        self._maintenance: asyncio.Task[None] | None = None
        self._ticking: asyncio.Task[None] | None = None
        self._unsubscribe_state: Callable[[], None] | None = None
        self.limit_book = LimitBook()
        self.limit_holds = LimitHolds(
            self.sessions, self.limit_book, clock=clock, jitter=self._reset_jitter
        )
        self._handlers = self._all_handlers(terminals)
        self.lobby.set_server(
            agent=str(base.agent),
            version=version,
            mode_ceiling=self.policy.mode_ceiling,
            roots=tuple(str(root) for root in self.policy.roots),
            terminal=terminals is not None,
        )

    def _all_handlers(self, terminals: TerminalRegistry | None) -> dict[type, Handler]:
        """Kind of intent -> its handler."""
        return {
            **self.limit_holds.handlers,
            **session_intents.HANDLERS,
            **fork_intents.HANDLERS,
            **order_intents.HANDLERS,
            **worktree_intents.HANDLERS,
            **prompt_intents.HANDLERS,
            **review_intents.handlers(),
            **git_intents.handlers(),
            **decision_intents.HANDLERS,
            **switch_intents.HANDLERS,
            **inquiry_intents.HANDLERS,
            **terminal_intents.handlers(terminals),
            RevokeDevice: self._revoke_device,
        }

    # Start and end

    async def start(self) -> Registry:
        """List the sessions, end those that an earlier server left running, and start maintenance."""
        self._store_changed(self._store.state)
        self._unsubscribe_state = self._store.on_state(self._store_changed)
        await self.sessions.recover()
        await self.limit_holds.recover()
        for device in await self._store.devices():
            if device.revoked is None:
                self._presence.known(device)
        if self._lists_files:
            self._cli.start()
        self._maintenance = asyncio.create_task(self._maintain())
        self._ticking = asyncio.create_task(self._tick())
        return self

    async def close(self) -> None:
        """End every session; the caller closes the store."""
        for loop in (self._maintenance, self._ticking):
            if loop is not None:
                loop.cancel()
                await asyncio.wait([loop])
        if self._unsubscribe_state is not None:
            self._unsubscribe_state()
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

        Subscribe in the same step, without awaiting: a document without subscribers may be dropped.
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

    async def load_older(self, document: str, before: str, count: int) -> None:
        """Does nothing: an open document has all its items."""

    def source(self, document: str) -> SessionView | None:
        """A loaded session as its clients see it."""
        own = self.sessions.loaded(document)
        return self._cli.source(document) if own is None else self.sessions.source(document)

    def arrived(self, device: Device, socket: str) -> None:
        """A device connected."""
        self._presence.arrived(device, socket)

    def left(self, device: Device, socket: str) -> None:
        """One connection of a device closed."""
        self._presence.left(device, socket)

    def paired(self, device: Device) -> None:
        """A device was paired and may connect."""
        self._presence.known(device)

    def revoked(self, device: str) -> None:
        """A device was revoked; its drafts are no longer offered."""
        self._presence.revoked(device)
        for row in self.lobby.sessions():
            if any(draft.device == device for draft in row.drafts):
                drafts = tuple(draft for draft in row.drafts if draft.device != device)
                self.lobby.update("sessions", row.id, drafts=drafts)

    def renamed(self, device: str, name: str) -> None:
        """A device was renamed."""
        self._presence.renamed(device, name)

    # Intents

    async def act(
        self, device: Device, client: str, n: int, intent: Intent, node: str = ""
    ) -> IntentResult:
        """Carry out an intent, once for each (device, client, n).

        It continues if the caller does not wait. `node` is for the gateways of a fleet.
        """
        try:
            check_number(client, n)
        except Refusal as refusal:
            return _failed(n, refusal)
        key = (device.id, client, n)
        task = self._acting.get(key)
        if task is None:
            task = asyncio.create_task(self._act(_context(device, client, n, intent), intent))
            self._acting[key] = task
            task.add_done_callback(lambda _: self._acting.pop(key, None))
        return await asyncio.shield(task)

    async def last_intent(self, device: Device, client: str) -> int:
        """The highest n of a device's client that was carried out."""
        return await self._store.last_intent(client_key(device, client))

    async def _act(self, context: IntentContext, intent: Intent) -> IntentResult:
        """Turns every error into a message."""
        try:
            return await self._once(context, intent)
        except Refusal as refusal:
            return self._cache_refusal(context, refusal)
        except StoreUnavailable as problem:
            message = (
                f"Nothing was done, because the server cannot store anything now: {problem.reason}"
            )
            return _failed(context.n, Refusal("unavailable", message, store=problem.code))
        except FairleadError as problem:
            return self._cache_refusal(context, Refusal("agent_failed", str(problem)))
        except Exception:
            log.exception("intent %s failed", type(intent).__name__)
            return _failed(
                context.n,
                Refusal(
                    "internal",
                    "The server failed to do this because of an internal error. See its log.",
                ),
            )

    async def _once(self, context: IntentContext, intent: Intent) -> IntentResult:
        require(context.role, type(intent).role, str(intent.__struct_config__.tag))
        if isinstance(intent, RevokeDevice) and intent.device in self.lobby.ids("devices"):
            return await self._revoke_first(context, intent)
        if not await self._is_new(context):
            refused = self._refused.get((context.client_key, context.n))
            if refused is not None:
                return refused
            stored = await self._store.intent_result(context.client_key, context.n)
            if stored is not None:
                return stored_result(context.device, stored)
            if context.n <= await self._store.last_intent(context.client_key) - KEPT:
                raise Refusal(
                    "stale",
                    "This intent is too old: the server no longer knows whether it carried it out.",
                )
        state = self._store.state
        if not state.ok:
            raise state.error()
        check_open(self.sessions, intent)
        result = await self._handlers[type(intent)](self.sessions, context, intent)
        done = IntentResult(n=context.n, ok=True, result=result)
        if not context.carried:
            await self._store_result(context, done)
        return done

    async def _revoke_first(self, context: IntentContext, intent: RevokeDevice) -> IntentResult:
        """Revoke before any read of the store, which may be full, locked or damaged."""
        done = IntentResult(n=context.n, ok=True, result=await self.revoke(intent.device))
        await self._store_result(context, done)
        return done

    async def _revoke_device(
        self, sessions: Sessions, context: IntentContext, intent: RevokeDevice
    ) -> Result:
        return await self.revoke(intent.device)

    async def _is_new(self, context: IntentContext) -> bool:
        """Whether n is higher than any number of this client, so that no result can be stored.

        The store is read once for each client, so that an intent need not wait for two reads.
        """
        highest = self._highest.get(context.client_key)
        if highest is None:
            stored = await self._store.last_intent(context.client_key)
            if not stored and not await self._store.make_room_for_intents(context.client_key):
                raise Refusal("too_many", TOO_MANY_CLIENTS)
            while len(self._highest) >= CLIENTS_CACHED:
                del self._highest[next(iter(self._highest))]
            highest = self._highest.setdefault(context.client_key, stored)
        self._highest[context.client_key] = max(highest, context.n)
        return context.n > highest

    def _cache_refusal(self, context: IntentContext, refusal: Refusal) -> IntentResult:
        """In memory only: a refused intent uses up no number and makes no other one stale."""
        failed = _failed(context.n, refusal)
        if refusal.code != "unavailable":
            while len(self._refused) >= REFUSALS_CACHED:
                del self._refused[next(iter(self._refused))]
            self._refused[context.client_key, context.n] = failed
        return failed

    async def _store_result(self, context: IntentContext, result: IntentResult) -> None:
        outcome = context.stored(result)
        try:
            await self._store.put_intent_result(outcome.client, outcome.n, outcome.result)
        except StoreUnavailable:
            log.warning(
                "the result of intent %d of client %s could not be stored",
                context.n,
                context.client,
            )

    async def revoke(self, device: str) -> Result:
        """Revoke and disconnect a device; works without the store, and says if it is stored yet."""
        listed = device in self.lobby.ids("devices")
        revocation = await self._revoke(device)
        if not listed and not (revocation.stored and revocation.found):
            raise Refusal("not_found", f"Device {device!r:.200} not found.")
        self.revoked(device)
        if revocation.stored:
            return {"stored": True}
        return {"stored": False, "message": NOT_STORED if revocation.durable else NOT_DURABLE}

    # Profiles

    def _profiles_changed(self) -> None:
        self._use_profiles()
        if self._lists_files:
            self.sessions.spawn(self._cli.use_folders())
        self.sessions.catalog.show_resume_problems()

    def _use_profiles(self) -> None:
        """Offer the present profiles to clients, and look for sessions in their folders."""
        sessions = self.sessions
        profiles = sessions.profiles.all()
        rows = tuple(ProfileRow(name=each.name, label=each.label) for each in profiles)
        self.lobby.set_server(profiles=rows)
        if sessions.cli is None:
            return
        for name in sessions.cli.profiles.keys() - {"", *(each.name for each in profiles)}:
            sessions.cli.drop(name)
        for profile in profiles:
            projects = Path(profile.config_dir, "projects")
            known = sessions.cli.of(profile.name)
            if known is None or known.projects != projects:
                sessions.cli.put(CliSessions(projects, self._store, profile.name))

    # Maintenance

    def _store_changed(self, state: StoreState) -> None:
        self.lobby.set_server(store=StoreInfo(state.code, state.reason))
        if state.ok:
            self.sessions.store_changed()

    def _reset_jitter(self) -> float:
        return random.uniform(*self.limits.reset_jitter_s)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(self.limits.tick_every_s)
            await self.limit_holds.tick(self._clock())

    async def _maintain(self) -> None:
        if self._lists_files:
            await self._cli.look_for_folders()
        while True:
            await asyncio.sleep(self.limits.cull_every_s)
            await self.sessions.cull()
            if self._lists_files:
                await self._cli.cull()


def _context(device: Device, client: str, n: int, intent: Intent) -> IntentContext:
    return IntentContext(device, client, n, str(getattr(intent, "session", None) or ""))


def _failed(n: int, refusal: Refusal) -> IntentResult:
    return IntentResult(
        n=n, ok=False, code=refusal.code, message=refusal.message, result=_plain(refusal.facts)
    )


def _plain(facts: dict[str, Any]) -> dict[str, Any]:
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in facts.items()
    }
