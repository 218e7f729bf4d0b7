"""All terminals of a server: opening and ending them within their limits, with an audit record each.

Exists only if the server was started with `--terminal`. Keystrokes and output are never stored: the
output is in memory, and the audit says who opened, joined and ended which terminal.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from fairlead.errors import ProcessError
from fairlead.host.options.environment import shell_environment
from fairlead.server.limits import Limits
from fairlead.server.protocol.terminal_messages import TerminalRow
from fairlead.server.refusal import Refusal
from fairlead.server.terminal.shell import shell_program
from fairlead.server.terminal.terminal import Terminal
from fairlead.store.log import StoreUnavailable
from fairlead.store.tables.audit import AuditRecord

__all__ = ["TerminalRegistry"]

log = logging.getLogger("fairlead")

Watcher = Callable[[str, tuple[TerminalRow, ...]], None]


class AuditLog(Protocol):
    """Stores audit records."""

    async def record_audit(self, record: AuditRecord) -> None:
        """Store one record."""


class TerminalRegistry:
    """The terminals of one server."""

    def __init__(
        self,
        store: AuditLog,
        limits: Limits,
        *,
        environment: Callable[[], Mapping[str, str]] = lambda: os.environ,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._limits = limits
        self._environment = environment
        self._clock = clock
        self._terminals: dict[str, Terminal] = {}
        self._numbers: dict[str, int] = {}
        self._watchers: dict[str, tuple[str, Watcher]] = {}
        """Clients that follow the list of a session, by their ids."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    # Intents

    async def open(self, session: str, folder: str, device: str, cols: int, rows: int) -> str:
        """Start a shell in a folder; returns the id of its terminal. Ended ones of the session go."""
        for ended in [each for each in self._of(session) if each.code is not None]:
            del self._terminals[ended.id]
        self._check_limits(session)
        number = self._numbers[session] = self._numbers.get(session, 0) + 1
        terminal = Terminal(
            id=uuid.uuid4().hex,
            number=number,
            session=session,
            device=device,
            scrollback_bytes=self._limits.terminal_scrollback_bytes,
            on_exit=self._exited,
        )
        variables = shell_environment(self._environment())
        program = shell_program(variables)
        self._terminals[terminal.id] = terminal  # Counts against the limits from now on.
        try:
            # Stored first: without a record there is no shell.
            await self._record("terminal_opened", terminal, device, shell=program, folder=folder)
            if self._closed:
                raise Refusal("unavailable", "The server is stopping.")
            terminal.start(program, cwd=folder, env=variables, cols=cols, rows=rows)
        except BaseException as problem:
            del self._terminals[terminal.id]
            if not isinstance(problem, ProcessError):
                raise
            await self._record("terminal_closed", terminal, device, code=None, reason="failed")
            raise Refusal("unavailable", f"{problem}. Check $SHELL and the folder.") from None
        self._changed(session)
        return terminal.id

    async def close_terminal(self, terminal: str, device: str) -> None:
        """End a terminal and forget its output."""
        known = self.terminal(terminal)
        known.hang_up(device, "closed")
        if known.code is None:
            await known.ended()
        self._terminals.pop(terminal, None)
        self._changed(known.session)

    def _check_limits(self, session: str) -> None:
        limits = self._limits
        if len(self._of(session)) >= limits.terminals_per_session:
            raise Refusal(
                "too_many",
                f"This session has {limits.terminals_per_session} terminals. Close one first.",
            )
        running = sum(1 for each in self._terminals.values() if each.code is None)
        if running >= limits.terminals:
            raise Refusal(
                "too_many", f"The server has {limits.terminals} terminals. Close one first."
            )

    # Clients

    def has(self, id: str) -> bool:
        """Whether there is such a terminal."""
        return id in self._terminals

    def terminal(self, id: str) -> Terminal:
        """A terminal by its id."""
        terminal = self._terminals.get(id)
        if terminal is None:
            raise Refusal("not_found", "This terminal was closed.")
        return terminal

    def joined(self, terminal: Terminal, device: str) -> None:
        """A device attached: noted once for each device that did not open the terminal."""
        if device not in terminal.seen_by:
            terminal.seen_by.add(device)
            self._spawn_record("terminal_joined", terminal, device)

    def watch(self, client: str, session: str, watcher: Watcher) -> None:
        """Tell a client the terminals of a session, now and whenever they change."""
        self._watchers[client] = session, watcher
        watcher(session, self.rows(session))

    def unwatch(self, client: str) -> None:
        """Tell a client no more."""
        self._watchers.pop(client, None)

    # Ends

    def revoked(self, device: str) -> None:
        """End the shells that a revoked device opened: it may have typed ahead."""
        for terminal in self._terminals.values():
            if terminal.device == device:
                terminal.hang_up(device, "revoked")

    async def session_deleted(self, session: str) -> None:
        """End the terminals of a session that is deleted."""
        for terminal in self._of(session):
            terminal.hang_up(terminal.device, "session deleted")
            if terminal.code is None:
                await terminal.ended()
            self._terminals.pop(terminal.id, None)
        self._numbers.pop(session, None)
        self._changed(session)

    async def close(self) -> None:
        """End all terminals, and start none from now on."""
        self._closed = True
        for terminal in tuple(self._terminals.values()):
            terminal.hang_up(terminal.device, "server stopped")
        for terminal in tuple(self._terminals.values()):
            if terminal.code is None:
                await terminal.ended()
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _exited(self, terminal: Terminal) -> None:
        device, reason = terminal.closed_by or (terminal.device, "exited")
        self._spawn_record("terminal_closed", terminal, device, code=terminal.code, reason=reason)
        self._changed(terminal.session)

    # Helpers

    def _of(self, session: str) -> list[Terminal]:
        return [each for each in self._terminals.values() if each.session == session]

    def rows(self, session: str) -> tuple[TerminalRow, ...]:
        """The terminals of a session, as clients see them."""
        return tuple(terminal.row for terminal in self._of(session))

    def _changed(self, session: str) -> None:
        for watched, watcher in tuple(self._watchers.values()):
            if watched == session:
                watcher(session, self.rows(session))

    async def _record(self, action: str, terminal: Terminal, device: str, **details: Any) -> None:
        await self._store.record_audit(
            AuditRecord(
                at=self._clock(),
                action=action,
                session=terminal.session,
                device=device,
                details={"terminal": terminal.id, **details},
            )
        )

    def _spawn_record(self, action: str, terminal: Terminal, device: str, **details: Any) -> None:
        async def record() -> None:
            try:
                await self._record(action, terminal, device, **details)
            except StoreUnavailable as problem:
                log.warning("%s of %s is not in the audit: %s", action, terminal.id, problem.reason)

        task = asyncio.create_task(record())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
