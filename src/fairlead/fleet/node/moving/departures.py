"""Sessions that leave this machine: drain the turn, stop the CLI, pack, and hand over.

    draining ──► packing ──► ready ──► committed
        └───────────┴──────────┴─────► released, failed

Until it is committed, the session belongs to this machine: the gateway may cancel the move, and if
the gateway falls silent for `SILENT_S`, the session is released and can be resumed here. `commit`
stores in this machine's own database that the session was moved; from then on nothing starts it
here, whatever happens to the bus or to the gateway. So a gateway that was paused and continues later
finds the move gone and is refused.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from fairlead.errors import FairleadError
from fairlead.fleet.node.moving.packing import PackageWriter, remove_folder
from fairlead.fleet.protocol.log_batch import LogBatch, encode_batch
from fairlead.fleet.protocol.move_package import (
    BUNDLE,
    CLI_FILE,
    EVENTS,
    OUTCOMES,
    GitWork,
    Manifest,
)
from fairlead.git.bundles import BundledWork, bundle_work, preview_work
from fairlead.git.errors import GitError
from fairlead.git.reader import GitReader
from fairlead.git.repository import Repository, find_repository
from fairlead.server.refusal import Refusal
from fairlead.server.session.live_session import LiveSession
from fairlead.server.sessions.sessions import Sessions
from fairlead.server.working_files import shown_path
from fairlead.store.cli_files.transfer import session_paths
from fairlead.store.log import StoreUnavailable
from fairlead.store.tables.audit import AuditRecord
from fairlead.store.tables.devices import Device
from fairlead.store.tables.sessions import MovedTo, SessionRow

__all__ = ["Departure", "Departures"]

log = logging.getLogger("fairlead.fleet")

SILENT_S = 60.0
"""How long a gateway may be silent before the session is released."""

LOOK_S = 0.1
"""How often it looks whether the turn is over."""

READ_AT_ONCE = 1_000
BATCH_BYTES = 4 * 1024 * 1024
CHUNK = 256 * 1024

MOST_BYTES = 4 * 1024 * 1024 * 1024
"""Most bytes of a package."""

NO_GIT = (
    "The folder of this session is not in a git repository, so its files cannot be moved. "
    "You can fork the session on the other machine without its files."
)


class Target(Struct, frozen=True, kw_only=True):
    """The machine that a session goes to."""

    node: str
    name: str
    link: str = ""


class Departure:
    """One session on its way out."""

    def __init__(self, move: str, session: str, device: str, target: Target, fork: bool) -> None:
        self.move = move
        self.session = session
        self.device = device
        self.target = target
        self.fork = fork
        self.state = "draining"
        self.problem = ""
        self.size = 0
        self.waiting = ""
        """What the end of the turn waits for."""
        self.generation = 0
        self.was_live = False
        self.heard = time.monotonic()
        self.task: asyncio.Task[None] | None = None

    def status(self) -> dict[str, Any]:
        """What the gateway is told."""
        return {
            "state": self.state,
            "problem": self.problem,
            "size": self.size,
            "waiting": self.waiting,
            "generation": self.generation,
        }


class Departures:
    """The sessions that are leaving one node."""

    def __init__(self, sessions: Sessions, folder: Path, node: str, name: str) -> None:
        """`folder` is for packages; it is emptied at the start."""
        self._sessions = sessions
        self._folder = folder
        self._node = node
        self._name = name
        self._departures: dict[str, Departure] = {}
        remove_folder(folder)

    # For gateways

    async def preview(self, session: str) -> dict[str, Any]:
        """What would travel with a session, and what would stay."""
        row = self._movable(session)
        live = self._sessions.loaded(session)
        answer: dict[str, Any] = {
            "busy": live is not None and _in_turn(live),
            "background": 0 if live is None else live.transcript.status.background,
            "events": await self._sessions.store.last_seq(session),
            "git": None,
            "problem": None,
        }
        repository = await asyncio.to_thread(find_repository, row.cwd)
        if repository is None:
            return {**answer, "problem": NO_GIT}
        try:
            work = await preview_work(GitReader(repository))
        except GitError as problem:
            return {**answer, "problem": str(problem)}
        return {
            **answer,
            "git": {
                "name": repository.top.name,
                "branch": work.branch,
                "head": work.head,
                "commits": work.commits,
                "bytes": work.history_bytes + work.file_bytes,
                "files": [shown_path(name) for name in work.files],
                "more_files": work.more_files,
                "ignored": [shown_path(name) for name in work.ignored],
                "more_ignored": work.more_ignored,
            },
        }

    async def begin(
        self, move: str, session: str, device: Device, target: Target, *, fork: bool
    ) -> dict[str, Any]:
        """Begin to drain and pack a session; repeated, it tells the state."""
        known = self._departures.get(move)
        if known is not None:
            return self._state_of(known)
        row = self._movable(session)
        if session in self._sessions.catalog.moving:
            raise Refusal("conflict", "This session is being moved already.")
        repository = await asyncio.to_thread(find_repository, row.cwd)
        if repository is None and not fork:
            raise Refusal("conflict", NO_GIT, check="no_git", offers=["fork"])
        departure = Departure(move, session, device.id, target, fork)
        self._departures[move] = departure
        self._sessions.catalog.moving[session] = False
        departure.task = asyncio.create_task(
            self._run(departure, None if fork else repository), name=f"move {session}"
        )
        return self._state_of(departure)

    def status(self, move: str) -> dict[str, Any]:
        """How far a move is; this also tells that the gateway still works on it."""
        return self._state_of(self._find(move))

    async def package(self, move: str) -> AsyncIterator[bytes]:
        """The package of a session that is ready."""
        departure = self._find(move)
        if departure.state != "ready":
            raise Refusal("conflict", "The package of this session is not ready.")
        with self._path(departure).open("rb") as file:
            while chunk := await asyncio.to_thread(file.read, CHUNK):
                departure.heard = time.monotonic()
                yield chunk

    async def commit(self, move: str, session: str, generation: int) -> dict[str, Any]:
        """Give a session up for good: the other machine has everything."""
        row = self._sessions.row(session)
        if row.moved is not None and row.moved.move == move:
            return {"generation": row.moved.generation}
        departure = self._find(move)
        if departure.state != "ready" or departure.session != session or departure.fork:
            raise Refusal("conflict", "This move was cancelled. The session stays where it is.")
        now, target = self._sessions.clock(), departure.target
        moved = MovedTo(
            node=target.node, name=target.name, generation=generation, move=move,
            link=target.link, at=now,
        )  # fmt: skip
        record = AuditRecord(
            at=now,
            action="move_session",
            session=session,
            device=departure.device,
            details={"to": target.node, "name": target.name, "generation": generation},
        )
        departure.state = "committed"  # A timer that fires meanwhile must not release it.
        try:
            await self._sessions.store.put_session(
                structs.replace(row, moved=moved, state="stopped"), audit=[record]
            )
        except StoreUnavailable:
            departure.state = "ready"
            raise
        self._sessions.rows[session] = structs.replace(row, moved=moved, state="stopped")
        self._forget(departure)
        return {"generation": generation}

    async def release(self, move: str) -> dict[str, Any]:
        """Cancel a move; the session stays here and can be resumed."""
        departure = self._departures.get(move)
        if departure is not None and departure.state != "committed":
            await self._release(departure)
        return {}

    async def reopen(self, move: str, session: str) -> dict[str, Any]:
        """Take a session back that the other machine has lost before it began to run it."""
        row = self._sessions.row(session)
        if row.moved is None or row.moved.move != move:
            return {}
        record = AuditRecord(
            at=self._sessions.clock(),
            action="reopen_session",
            session=session,
            details={"from": row.moved.node, "move": move},
        )
        back = structs.replace(row, moved=None, generation=row.moved.generation + 1)
        await self._sessions.store.put_session(back, audit=[record])
        self._sessions.rows[session] = back
        self._sessions.catalog.show(session)
        return {"generation": back.generation}

    async def run(self) -> None:
        """Release the sessions whose gateway is silent."""
        while True:
            await asyncio.sleep(1.0)
            now = time.monotonic()
            for departure in list(self._departures.values()):
                if departure.state != "committed" and now - departure.heard > SILENT_S:
                    log.warning("the move of session %s is given up", departure.session)
                    await self._release(departure)

    async def close(self) -> None:
        """Give up all moves."""
        for departure in list(self._departures.values()):
            if departure.state != "committed":
                await self._release(departure)

    # Within

    def _find(self, move: str) -> Departure:
        departure = self._departures.get(move)
        if departure is None:
            raise Refusal("not_found", "This move was cancelled. The session stays where it is.")
        return departure

    def _state_of(self, departure: Departure) -> dict[str, Any]:
        departure.heard = time.monotonic()
        return departure.status()

    def _movable(self, session: str) -> SessionRow:
        row = self._sessions.row(session)
        if row.source != "fairlead":
            raise Refusal("conflict", "Only sessions that were started in Fairlead can be moved.")
        if row.moved is not None:
            raise Refusal("conflict", f"This session was moved to {row.moved.name} already.")
        catalog = self._sessions.catalog
        if session in catalog.deleting or session in catalog.closing:
            raise Refusal("conflict", "This session is being deleted.")
        return row

    async def _run(self, departure: Departure, repository: Repository | None) -> None:
        try:
            live = await self._sessions.load(departure.session)
            departure.was_live = live.live
            live.prompts.closed = True
            await self._drain(departure, live)
            self._sessions.catalog.moving[departure.session] = True
            if live.live and not departure.fork:
                live.note_stop(departure.target.name)
                await live.stop()
            await live.journal.flush()
            departure.state = "packing"
            await self._pack(departure, repository)
            departure.state = "ready"
        except asyncio.CancelledError:
            raise
        except (FairleadError, OSError, StoreUnavailable) as problem:
            departure.problem = str(problem)
            await self._let_go(departure, "failed")
        except Exception:
            log.exception("the move of session %s failed", departure.session)
            departure.problem = "The machine failed because of an internal error. See its log."
            await self._let_go(departure, "failed")

    async def _drain(self, departure: Departure, live: LiveSession) -> None:
        while _in_turn(live):
            pending = live.transcript.count("pending")
            departure.waiting = "answer" if pending else "turn"
            await asyncio.sleep(LOOK_S)
        departure.waiting = ""

    async def _pack(self, departure: Departure, repository: Repository | None) -> None:
        sessions, session = self._sessions, departure.session
        row = sessions.row(session)
        folder = self._folder / departure.move
        await asyncio.to_thread(folder.mkdir, 0o700, True, True)
        work: BundledWork | None = None
        if repository is not None:
            work = await bundle_work(repository, folder / "work.bundle")
        departure.generation = row.generation + 1
        manifest = Manifest(
            move=departure.move,
            row=row,
            generation=departure.generation,
            node=self._node,
            name=self._name,
            resume=departure.was_live and not departure.fork,
            fork=departure.fork,
            last=await sessions.store.last_seq(session),
            git=None if work is None or repository is None else _git(repository, row.cwd, work),
        )
        path = self._path(departure)
        writer = await asyncio.to_thread(PackageWriter, path, manifest)
        after = 0
        while events := await sessions.store.read(session, after, READ_AT_ONCE):
            batch = LogBatch(
                session=session,
                epoch=sessions.store.epoch,
                generation=row.generation,
                after=after,
                events=tuple(events),
            )
            await asyncio.to_thread(writer.add, EVENTS, encode_batch(batch))
            after = events[-1].seq
        outcomes = await sessions.store.intent_results(session)
        writer.add(OUTCOMES, msgspec.msgpack.encode(outcomes))
        await asyncio.to_thread(_add_files, writer, await self._cli_files(row), folder)
        departure.size = path.stat().st_size
        if departure.size > MOST_BYTES:
            raise Refusal(
                "too_large",
                f"The session and its repository have {departure.size:,} bytes; at most "
                f"{MOST_BYTES:,} can be moved. Push the branch and fork the session without files.",
            )

    async def _cli_files(self, row: SessionRow) -> list[tuple[str, Path]]:
        cli = None if self._sessions.cli is None else self._sessions.cli.of(row.profile)
        wanted = row.cli_session_id if row.origin is None else row.origin.cli_session_id
        if cli is None or not wanted:
            return []
        return await asyncio.to_thread(session_paths, cli.projects, wanted)

    async def _release(self, departure: Departure) -> None:
        if departure.task is not None and not departure.task.done():
            departure.task.cancel()
            await asyncio.wait([departure.task])
        await self._let_go(departure, "released")
        self._departures.pop(departure.move, None)

    async def _let_go(self, departure: Departure, state: str) -> None:
        """The session is free again; if its CLI was stopped, it can be resumed."""
        departure.state = state
        session = departure.session
        self._sessions.catalog.moving.pop(session, None)
        live = self._sessions.loaded(session)
        if live is not None:
            live.prompts.closed = False
            live.prompts.write_next()
        if session in self._sessions.rows:
            self._sessions.catalog.show(session)
        await asyncio.to_thread(remove_folder, self._folder / departure.move)

    def _forget(self, departure: Departure) -> None:
        self._departures.pop(departure.move, None)
        self._sessions.catalog.moving.pop(departure.session, None)
        self._sessions.catalog.show(departure.session)
        with contextlib.suppress(OSError):
            remove_folder(self._folder / departure.move)

    def _path(self, departure: Departure) -> Path:
        return self._folder / departure.move / "package"


def _in_turn(live: LiveSession) -> bool:
    """Whether the CLI works or waits for an answer; prompts in the queue travel."""
    client = live.client
    working = client is not None and not client.ended and client.busy
    return live.lifecycle.starting or (live.live and (working or bool(live.transcript.pending)))


def _git(repository: Repository, cwd: str, work: BundledWork) -> GitWork:
    inside = Path(cwd).relative_to(repository.top)
    return GitWork(
        name=repository.top.name,
        top=str(repository.top),
        inside="" if str(inside) == "." else str(inside),
        branch=work.branch,
        head=work.head,
        index=work.index,
        work=work.work,
        remote=work.remote,
    )


def _add_files(writer: PackageWriter, files: list[tuple[str, Path]], folder: Path) -> None:
    for name, path in files:
        writer.add_file(CLI_FILE, path, name)
    bundle = folder / "work.bundle"
    if bundle.exists():
        writer.add_file(BUNDLE, bundle)
        bundle.unlink()
    writer.close()
