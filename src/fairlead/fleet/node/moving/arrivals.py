"""Sessions that arrive at this machine: unpack, wait until the gateway activates them, and take over.

    receiving ──► unpacking ──► ready ──► activated
        └─────────────┴───────────┴────► discarded, failed

Until it is activated, a session that arrived has no row: clients do not see it, and nothing starts it. Its
log is in the database, its files are in their own folder, and a small file lists what belongs to the
move. A machine that is killed while it receives deletes the rest when it starts again;
one that is killed when it is ready keeps everything, and can still be told to take over. Activation is
one transaction, and a repeated one does nothing.

What another machine sent is not trusted: names are checked, and the account, the servers, the hooks
and the permissions of the session are those of this machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
import uuid
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from fairlead.errors import FairleadError
from fairlead.fleet.node.moving.packing import PartReader, read_package, remove_folder
from fairlead.fleet.node.moving.rebuilt_file import rebuilt_file
from fairlead.fleet.protocol.log_batch import LogBatch, decode_batch
from fairlead.fleet.protocol.move_package import (
    BUNDLE,
    CLI_FILE,
    EVENTS,
    OUTCOMES,
    Manifest,
    UnreadablePackage,
)
from fairlead.git.bundles import BundledWork, unbundle
from fairlead.server.intents.resuming import resumable
from fairlead.server.refusal import Refusal
from fairlead.server.sessions.sessions import Sessions
from fairlead.store.cli_files.transfer import UnsafeName, put_file, with_folder
from fairlead.store.log import NewEvent, StoreUnavailable
from fairlead.store.tables.audit import AuditRecord
from fairlead.store.tables.devices import Device
from fairlead.store.tables.intents import IntentOutcome
from fairlead.store.tables.sessions import Origin, SessionRow

__all__ = ["Arrivals"]

log = logging.getLogger("fairlead.fleet")

MOST_BYTES = 4 * 1024 * 1024 * 1024
PART_BYTES = 128 * 1024 * 1024
"""Most bytes of a part that is held in memory."""
FILE_BYTES = 1024 * 1024 * 1024
"""Most bytes of a file of the CLI."""
OUTCOMES_MOST = 100_000

KEPT_S = 24 * 3_600.0
"""How long a session that is ready waits for the word of a gateway."""

ANSWERS_KEPT = 16
"""Moves whose answer is kept: a gateway that completes a move asks within a minute."""

KEPT_OPTIONS = ("model", "effort", "max_turns", "max_budget_usd", "disallowed_tools")
"""Options of a session that are not about its former machine, and give it no permission."""

MOVED_FOLDER = "moved"
"""The folder for repositories that arrive, below a folder in which sessions may work."""


class Arrived(Struct, kw_only=True):
    """What a move has left on this machine; stored next to the package."""

    move: str
    device: str
    state: str = "receiving"
    problem: str = ""
    folder: str = ""
    """The repository that was made for the session; empty if it uses an existing folder."""
    session: str = ""
    row: SessionRow | None = None
    node: str = ""
    name: str = ""
    resume: bool = False
    files: list[str] = []
    """The files of the CLI that were made."""
    remembers: bool = True
    """Whether the CLI's own file came along, or could be made from the log."""
    fork: bool = False


class Arrivals:
    """The sessions that arrive at one node."""

    def __init__(self, sessions: Sessions, folder: Path) -> None:
        self._sessions = sessions
        self._folder = folder
        self._arrived: dict[str, Arrived] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._activating = asyncio.Lock()
        self._activations: dict[str, asyncio.Task[dict[str, Any]]] = {}
        """By move: a second gateway that completes a move gets the answer that the first one got."""

    async def start(self) -> None:
        """Delete what an earlier process received in part, and keep what was ready."""
        for path in await asyncio.to_thread(_folders, self._folder):
            arrived = await asyncio.to_thread(_load, path / "arrived.json")
            if arrived is None or arrived.state != "ready":
                await self._clean(arrived, path)
            else:
                self._arrived[arrived.move] = arrived

    async def close(self) -> None:
        """Stop unpacking; the next start deletes what is not ready."""
        tasks = (*self._tasks.values(), *self._activations.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def run(self) -> None:
        """Delete the sessions that no gateway wants any more."""
        while True:
            await asyncio.sleep(60.0)
            for move, arrived in list(self._arrived.items()):
                path = self._folder / move / "arrived.json"
                with contextlib.suppress(OSError):
                    if time.time() - path.stat().st_mtime > KEPT_S:
                        log.warning("the session %s never arrived; deleting it", arrived.session)
                        await self.discard(move)

    # For gateways

    async def receive(
        self, move: str, device: Device, body: AsyncIterator[bytes], folder: str
    ) -> dict[str, Any]:
        """Store a package and begin to unpack it. `folder` is an existing one for the session."""
        if move in self._arrived:
            raise Refusal("conflict", "This package was received already.")
        arrived = self._arrived[move] = Arrived(move=move, device=device.id)
        below = self._folder / move
        try:
            await asyncio.to_thread(below.mkdir, 0o700, True, False)
            await self._note(arrived)
            await _spool(body, below / "package")
        except BaseException:
            await self._clean(arrived, below)
            raise
        arrived.state = "unpacking"
        self._tasks[move] = asyncio.create_task(self._unpack(arrived, folder))
        return {"state": arrived.state}

    def status(self, move: str) -> dict[str, Any]:
        """How far a session is."""
        arrived = self._find(move)
        return {
            "state": arrived.state,
            "problem": arrived.problem,
            "folder": "" if arrived.row is None else arrived.row.cwd,
            "session": arrived.session,
        }

    async def activate(self, move: str, session: str, generation: int) -> dict[str, Any]:
        """Take a session over: from now on it belongs to this machine."""
        task = self._activations.get(move)
        if task is None:
            if len(self._activations) >= ANSWERS_KEPT:
                del self._activations[next(iter(self._activations))]
            task = asyncio.create_task(self._activate(move, session, generation))
            self._activations[move] = task
            task.add_done_callback(partial(self._activated, move))
        return await asyncio.shield(task)

    def _activated(self, move: str, task: asyncio.Task[dict[str, Any]]) -> None:
        if task.cancelled() or task.exception() is not None:
            self._activations.pop(move, None)  # A later attempt may succeed.

    async def _activate(self, move: str, session: str, generation: int) -> dict[str, Any]:
        async with self._activating:
            arrived = self._arrived.get(move)
            known = self._sessions.rows.get(session)
            if arrived is None and known is not None and known.generation >= generation > 0:
                live = self._sessions.loaded(session)  # An earlier process activated it.
                is_resumed = live is not None and live.live
                return {"session": session, "cwd": known.cwd, "resume": is_resumed}
            if arrived is None:
                raise Refusal("not_found", "This machine does not have the session of this move.")
            if arrived.state != "ready" or arrived.row is None:
                raise Refusal("conflict", "The session has not arrived completely.")
            row = arrived.row
            await self._sessions.unload(row.id)
            record = AuditRecord(
                at=self._sessions.clock(),
                action="adopt_session" if not arrived.node else "receive_session",
                session=row.id,
                device=arrived.device,
                details={"from": arrived.node, "name": arrived.name, "cwd": row.cwd},
            )
            await self._sessions.store.put_session(row, audit=[record])
            self._sessions.rows[row.id] = row
            self._sessions.catalog.show(row.id)
            del self._arrived[move]
            await asyncio.to_thread(remove_folder, self._folder / move)
        live = await self._sessions.load(row.id)
        self._sessions.catalog.index_again(row.id, live.transcript.item_ids)
        self._sessions.catalog.turn_over(live, "stopped")
        answer = {"session": row.id, "cwd": row.cwd, "remembers": arrived.remembers}
        return {**answer, **await self._resume(row.id, wanted=arrived.resume)}

    async def discard(self, move: str) -> dict[str, Any]:
        """Delete what arrived with a move that was cancelled."""
        task = self._tasks.pop(move, None)
        if task is not None and not task.done():
            task.cancel()
            await asyncio.wait([task])
        async with self._activating:
            await self._clean(self._arrived.pop(move, None), self._folder / move)
        return {}

    # Within

    def _find(self, move: str) -> Arrived:
        arrived = self._arrived.get(move)
        if arrived is None:
            raise Refusal("not_found", "This machine does not have the session of this move.")
        return arrived

    async def _resume(self, session: str, *, wanted: bool) -> dict[str, Any]:
        if not wanted:
            return {"resume": False}
        live = await self._sessions.load(session)
        try:
            options = await resumable(self._sessions, live, repair=False)
            if not live.live:
                await self._sessions.starter.start(live, options)
        except Refusal as refusal:
            return {"resume": False, "problem": refusal.message}
        return {"resume": True}

    async def _unpack(self, arrived: Arrived, folder: str) -> None:
        try:
            await self._unpack_all(arrived, folder)
            arrived.state = "ready"
            await self._note(arrived)
        except asyncio.CancelledError:
            raise
        except (FairleadError, OSError, StoreUnavailable, UnsafeName) as problem:
            arrived.state, arrived.problem = "failed", str(problem)
        except Exception:
            log.exception("the session of move %s cannot be unpacked", arrived.move)
            arrived.state = "failed"
            arrived.problem = "The machine failed because of an internal error. See its log."

    async def _unpack_all(self, arrived: Arrived, folder: str) -> None:
        below = self._folder / arrived.move
        parts = read_package(below / "package")
        manifest = await asyncio.to_thread(next, parts)
        assert isinstance(manifest, Manifest)
        if manifest.move != arrived.move:
            raise UnreadablePackage("The package belongs to another move.")
        arrived.fork = manifest.fork
        arrived.node, arrived.name = manifest.node, manifest.name
        arrived.resume = manifest.resume
        arrived.session = str(uuid.uuid4()) if manifest.fork else _uuid(manifest.row.id)
        own = self._sessions.rows.get(arrived.session)
        if own is not None and own.moved is None:
            arrived.session = ""  # What is here must not be deleted with the rest of the move.
            raise Refusal("conflict", "This machine has the session already.")
        await self._note(arrived)
        log_of = _LogTaker(self._sessions, arrived.session)
        await log_of.begin()
        outcomes: list[IntentOutcome] = []
        files: list[tuple[str, Path]] = []
        while (part := await asyncio.to_thread(next, parts, None)) is not None:
            assert isinstance(part, PartReader)
            if part.kind == EVENTS:
                content = await asyncio.to_thread(part.read, PART_BYTES)
                await log_of.take(await asyncio.to_thread(decode_batch, content))
            elif part.kind == OUTCOMES:
                content = await asyncio.to_thread(part.read, PART_BYTES)
                outcomes = msgspec.msgpack.decode(content, type=list[IntentOutcome])
            elif part.kind == CLI_FILE and part.size <= FILE_BYTES:
                file = below / f"file-{len(files)}"
                await asyncio.to_thread(part.copy_to, file)
                files.append((part.name, file))
            elif part.kind == BUNDLE:
                await asyncio.to_thread(part.copy_to, below / "work.bundle")
        if log_of.last != manifest.last:
            raise UnreadablePackage("The log of the session is not complete. Move it again.")
        cwd, top = await self._working_folder(arrived, manifest, folder)
        row = self._row(arrived, manifest, cwd)
        await self._put_files(arrived, manifest, row, files, top)
        if not manifest.fork:
            for outcome in outcomes[:OUTCOMES_MOST]:
                await self._sessions.store.put_intent_result(
                    outcome.client, outcome.n, outcome.result
                )
        arrived.row = row
        await asyncio.to_thread(os.unlink, below / "package")

    async def _working_folder(
        self, arrived: Arrived, manifest: Manifest, folder: str
    ) -> tuple[str, str]:
        """The folder of the session, and the root of its repository if it came along."""
        policy, git = self._sessions.policy, manifest.git
        if git is None or manifest.fork:
            cwd = await asyncio.to_thread(policy.check_folder, folder)
            return cwd, cwd
        parent = folder or str(policy.folders[0] / MOVED_FOLDER)
        if not folder:
            await asyncio.to_thread(Path(parent).mkdir, 0o777, True, True)
        parent = await asyncio.to_thread(policy.check_folder, parent)
        top = await asyncio.to_thread(_free_folder, Path(parent), git.name)
        arrived.folder = str(top)
        await self._note(arrived)
        work = BundledWork(
            branch=git.branch, head=git.head, index=git.index, work=git.work, remote=git.remote
        )
        await unbundle(self._folder / arrived.move / "work.bundle", top, work)
        inside = await asyncio.to_thread((top / git.inside).resolve)
        if not inside.is_relative_to(top) or not inside.is_dir():
            inside = top
        return await asyncio.to_thread(policy.check_folder, str(inside)), str(top)

    def _row(self, arrived: Arrived, manifest: Manifest, cwd: str) -> SessionRow:
        """The row of the session here. It gets no permission from the other machine."""
        sessions, former = self._sessions, manifest.row
        options = {key: former.options[key] for key in KEPT_OPTIONS if key in former.options}
        mode = former.mode if former.mode and sessions.policy.allows_mode(former.mode) else None
        row = structs.replace(
            former,
            id=arrived.session,
            cwd=cwd,
            mode=mode or sessions.policy.mode,
            agent=str(sessions.options.agent),
            state="stopped",
            source="fairlead",
            generation=manifest.generation,
            moved=None,
            worktree=None,
            options=options,
            cli_session_id=None if former.cli_session_id is None else _uuid(former.cli_session_id),
        )
        if not manifest.fork:
            return row
        past = row.origin or (row.cli_session_id and Origin(cli_session_id=row.cli_session_id))
        return structs.replace(
            row,
            parent=former.id,
            origin=past or None,
            cli_session_id=str(uuid.uuid4()),
            generation=0,
            created=sessions.clock(),
            pinned=False,
            archived=False,
        )

    async def _put_files(
        self,
        arrived: Arrived,
        manifest: Manifest,
        row: SessionRow,
        files: list[tuple[str, Path]],
        top: str,
    ) -> None:
        cli = None if self._sessions.cli is None else self._sessions.cli.of("")
        past = row.cli_session_id if row.origin is None else row.origin.cli_session_id
        if cli is None or past is None or not row.turns:
            return
        old = manifest.git.top if manifest.git is not None else manifest.row.cwd
        if not files:
            rebuilt = await rebuilt_file(self._sessions.store, arrived.session, past, row.cwd)
            arrived.remembers = bool(rebuilt)
            if rebuilt:
                path = self._folder / arrived.move / "rebuilt"
                await asyncio.to_thread(path.write_bytes, rebuilt)
                files = [(f"{past}.jsonl", path)]
        for name, path in files:
            content = await asyncio.to_thread(path.read_bytes)
            if name.endswith(".jsonl"):
                content = await asyncio.to_thread(with_folder, content, old, top, row.cwd)
            made = await asyncio.to_thread(put_file, cli.projects, row.cwd, past, name, content)
            arrived.files.append(str(made))
        await cli.refresh()

    async def _note(self, arrived: Arrived) -> None:
        path = self._folder / arrived.move / "arrived.json"
        await asyncio.to_thread(_store, path, msgspec.json.encode(arrived))

    async def _clean(self, arrived: Arrived | None, below: Path) -> None:
        """Delete what a move left behind; a session with a row stays."""
        if arrived is not None:
            self._arrived.pop(arrived.move, None)
            if arrived.folder:
                await asyncio.to_thread(remove_folder, Path(arrived.folder))
            for name in arrived.files:
                with contextlib.suppress(OSError):
                    await asyncio.to_thread(os.unlink, name)
            if arrived.session and arrived.session not in self._sessions.rows:
                with contextlib.suppress(StoreUnavailable):
                    await self._sessions.store.erase_session(arrived.session)
        await asyncio.to_thread(remove_folder, below)


class _LogTaker:
    """Stores the log of a session with its numbers."""

    def __init__(self, sessions: Sessions, session: str) -> None:
        self._sessions = sessions
        self._session = session
        self.last = 0

    async def begin(self) -> None:
        """Delete the log of an earlier stay, which may differ from what happened elsewhere since."""
        if await self._sessions.store.last_seq(self._session):
            await self._sessions.unload(self._session)
            self._sessions.catalog.forget(self._session)
            await self._sessions.store.erase_session(self._session)

    async def take(self, batch: LogBatch) -> None:
        """Store the next events."""
        if batch.after != self.last:
            raise UnreadablePackage("The log of the session has a gap. Move it again.")
        new = [NewEvent(each.direction, each.line, each.at) for each in batch.events]
        if new:
            self.last = await self._sessions.store.append(self._session, new)


async def _spool(body: AsyncIterator[bytes], path: Path) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        size = 0
        async for chunk in body:
            size += len(chunk)
            if size > MOST_BYTES:
                raise Refusal("too_large", f"A session can have at most {MOST_BYTES:,} bytes.")
            await asyncio.to_thread(file.write, chunk)


def _uuid(text: str) -> str:
    try:
        return str(uuid.UUID(text))
    except ValueError:
        raise UnreadablePackage(f"{text!r:.80} is not the id of a session.") from None


def _free_folder(parent: Path, name: str) -> Path:
    """A folder that does not exist yet, named like the repository."""
    plain = "".join(each if each.isalnum() or each in "._-" else "-" for each in name)[:60]
    plain = plain.strip(".-") or "repository"
    for number in range(1, 10_000):
        path = parent / (plain if number == 1 else f"{plain}-{number}")
        if not os.path.lexists(path):
            return path
    raise Refusal("conflict", f"There are too many folders named {plain!r} in {str(parent)!r}.")


def _folders(folder: Path) -> list[Path]:
    try:
        return [each for each in folder.iterdir() if each.is_dir()]
    except OSError:
        return []


def _load(path: Path) -> Arrived | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Arrived)
    except (OSError, msgspec.DecodeError):
        return None


def _store(path: Path, content: bytes) -> None:
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
