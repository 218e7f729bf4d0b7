"""Deletes sessions: each can be restored for some seconds, and is then erased for good.

    requested ──(undo period)──► begun ──► files deleted ──► log erased, row gone
        └──► undone

Every step is stored before it takes effect, so that a process that is killed leaves a defined
state. A deletion that had not begun gets a new undo period when the next server starts; one that
had begun is completed then. Only what belongs to the named sessions is deleted: a file of the CLI
that another session still needs stays.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

from fairlead.server.limits import Limits
from fairlead.server.sessions.catalog import SessionCatalog
from fairlead.store.cli_files.folders import CliFolders
from fairlead.store.log import StoreUnavailable
from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables.audit import AuditRecord
from fairlead.store.tables.deletions import Deletion
from fairlead.store.tables.intents import IntentOutcome
from fairlead.store.tables.sessions import SessionRow

__all__ = ["Deletions"]

log = logging.getLogger("fairlead")


class Deletions:
    """The sessions that are to be deleted."""

    def __init__(
        self,
        store: SqliteStore,
        catalog: SessionCatalog,
        cli: CliFolders | None,
        *,
        limits: Limits,
        clock: Callable[[], float],
        unload: Callable[[str], Awaitable[None]],
        spawn: Callable[[Coroutine[Any, Any, Any]], None],
    ) -> None:
        self._store = store
        self._catalog = catalog
        self._cli = cli
        self._limits = limits
        self._clock = clock
        self._unload = unload
        self._spawn = spawn
        self._pending: dict[str, Deletion] = {}
        self.list_file: Callable[[str], None] = lambda _: None
        """Lists one of the CLI's own sessions again, by its id."""
        self.end_terminals: Callable[[str], Awaitable[None]] = _nothing
        """Ends the terminals of a session."""

    def _mark(self, sessions: Sequence[str]) -> None:
        """Show these sessions as being deleted, which refuses intents for them."""
        due = self._clock() + self._limits.delete_undo_s
        for session in sessions:
            self._catalog.deleting[session] = due
            self._show(session)

    async def request(
        self, sessions: Sequence[str], *, files: bool, device: str, intent: IntentOutcome
    ) -> None:
        """Store that sessions are to be deleted, and delete them after the undo period."""
        now = self._clock()
        wanted = [
            Deletion(session=session, at=now, files=files, device=device) for session in sessions
        ]
        await self._store.put_deletions(wanted, intent=intent)
        self._begin_period(wanted)

    async def undo(self, sessions: Sequence[str]) -> list[str]:
        """Restore sessions whose deletion has not begun; return them."""
        undone = await self._store.undo_deletions(sessions)
        for session in undone:
            self._pending.pop(session, None)
            self._catalog.deleting.pop(session, None)
            self._show(session)
        return undone

    async def recover(self) -> frozenset[str]:
        """Continue what an earlier server had to delete; return the sessions that are gone.

        Called before any session is loaded: a log that is erased in part cannot be read.
        """
        stored = await self._store.deletions()
        begun = [each for each in stored if each.begun]
        for deletion in begun:
            await self._erase(deletion)
        self._begin_period([each for each in stored if not each.begun])
        return frozenset(each.session for each in begun)

    def _begin_period(self, wanted: Sequence[Deletion]) -> None:
        self._mark([each.session for each in wanted])
        self._pending |= {each.session: each for each in wanted}
        if wanted:
            self._spawn(self._delete_later(wanted))

    async def _delete_later(self, wanted: Sequence[Deletion]) -> None:
        await asyncio.sleep(self._limits.delete_undo_s)
        for deletion in wanted:
            if self._pending.get(deletion.session) is deletion:
                await self._delete(deletion)

    async def _delete(self, deletion: Deletion) -> None:
        session = deletion.session
        while True:
            try:
                if not await self._store.begin_deletion(session):
                    return None  # It was undone in the same moment.
                self._pending.pop(session, None)
                await self.end_terminals(session)
                await self._unload(session)
                return await self._erase(deletion)
            except StoreUnavailable:
                # Stored as it is: if this server does not succeed, the next one continues.
                await asyncio.sleep(self._limits.store_retry_s)

    async def _erase(self, deletion: Deletion) -> None:
        session = deletion.session
        row = self._catalog.rows.get(session) or await self._store.session(session)
        cli_session = session if row is None else row.cli_session_id
        removed: list[str] = []
        if deletion.files and cli_session is not None and not self._needed(cli_session, session):
            removed = await self._remove_files(cli_session, row)
        record = AuditRecord(
            at=self._clock(),
            action="delete_session",
            session=session,
            device=deletion.device or None,
            details={"cli_session": cli_session, "files": removed},
        )
        await self._store.erase_session(session, [record])
        self._catalog.forget(session)
        if cli_session is not None:
            self.list_file(cli_session)

    async def _remove_files(self, cli_session: str, row: SessionRow | None) -> list[str]:
        if self._cli is None:
            return []
        if row is not None:
            profile = row.profile
        else:
            file = self._cli.find(cli_session)
            profile = "" if file is None else file.profile
        try:
            return await self._cli.remove(cli_session, profile)
        except OSError as problem:
            log.warning("the files of session %s could not be deleted: %s", cli_session, problem)
            return []

    def _needed(self, cli_session: str, session: str) -> bool:
        """Whether another session of the server continues this file, or was forked from it."""
        return any(
            cli_session == row.cli_session_id
            or (row.origin is not None and cli_session == row.origin.cli_session_id)
            for row in self._catalog.rows.values()
            if row.id != session
        )

    def _show(self, session: str) -> None:
        if session in self._catalog.rows:
            self._catalog.show(session)
        else:
            self.list_file(session)


async def _nothing(_: str) -> None:
    """A server without terminals."""
