"""Moves sessions from one machine to another, and has a machine adopt those of one that is gone.

Machines cannot reach each other, so a gateway asks for every step and passes the package through:

    source: begin … ready ──► package ──► target: receive … ready
    source: commit      (its own database says that the session is gone)
    bucket `owners`     (every machine and gateway learns it)
    target: activate    (its own database says that the session is here)

Before `commit` the session belongs to the source, whatever fails; after it to the target. If this
gateway dies in between, any gateway sees a source that says "moved" and a target without the session,
and activates it (`finish_moves`). If the target has lost the package by then, the source takes the
session back.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
import uuid
from collections.abc import AsyncIterator, Callable
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Struct

from fairlead.fleet.bus.bus import Bus, BusError, Conflict
from fairlead.fleet.gateway.directory import Directory
from fairlead.fleet.gateway.moving.adoption import Adoption
from fairlead.fleet.gateway.node_client import NodeClient
from fairlead.fleet.protocol.envelopes import HttpAsk, MoveAsk
from fairlead.fleet.protocol.owners import Owner, decode_owner, encode_owner
from fairlead.server.refusal import Refusal

__all__ = ["Move", "Moves"]

log = logging.getLogger("fairlead.fleet")

POLL_S = 0.3
FINISH_EVERY_S = 5.0
KEPT = 200
"""Moves that are remembered after their end."""

OWNER_TRIES = 5

ENDED = ("done", "failed", "cancelled")


class Move(Struct, kw_only=True):
    """One move, as clients see it."""

    id: str
    session: str
    """The name of the session at the gateway."""
    source: str
    target: str
    kind: str = "move"
    """`move`, `fork` or `adopt`."""
    state: str = "draining"
    """`draining`, `packing`, `sending`, `unpacking`, `committing`, `done`, `failed` or `cancelled`."""
    waiting: str = ""
    """While draining: `turn`, or `answer` if a request is open."""
    sent: int = 0
    size: int = 0
    problem: str = ""
    result: dict[str, Any] = {}


class Moves:
    """The moves that one gateway works on."""

    def __init__(
        self,
        bus: Bus,
        client: NodeClient,
        directory: Directory,
        adoption: Adoption,
        link: Callable[[str], str],
    ) -> None:
        """`link` gives the address of a session at this gateway."""
        self._owners = bus.bucket("owners")
        self._client = client
        self._directory = directory
        self._adoption = adoption
        self._link = link
        self._moves: dict[str, Move] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    # For clients

    def find(self, move: str) -> Move:
        """A move by its id."""
        known = self._moves.get(move)
        if known is None:
            raise Refusal(
                "not_found",
                "This gateway does not know the move. The session is where it is listed.",
            )
        return known

    async def preview(self, device: str, name: str) -> dict[str, Any]:
        """What would travel with a session."""
        node, session = self._directory.owner_of(name)
        if not self._directory.is_here(node):
            return {"away": True, **await self._adoption.preview(node, session)}
        ask = MoveAsk(step="preview", move="preview", device=device, session=session)
        return {"away": False, **await self._client.move(node, ask)}

    def begin(
        self, device: str, name: str, target: str, *, kind: str, folder: str, move: str = ""
    ) -> Move:
        """Begin a move; the same id again is the same move."""
        if move in self._moves:
            return self._moves[move]
        node, session = self._directory.owner_of(name)
        if not self._directory.is_here(target):
            raise Refusal("unavailable", self._directory.away(target))
        if node == target and kind != "fork":
            raise Refusal("conflict", "The session is on this machine already.")
        if any(
            each.session == name and each.state not in ENDED and each.kind != "fork"
            for each in self._moves.values()
        ):
            raise Refusal("conflict", "This session is being moved already.")
        if kind == "adopt" and self._directory.is_here(node):
            raise Refusal(
                "conflict", "The machine of this session is here. Move the session instead."
            )
        made = Move(
            id=move or uuid.uuid4().hex, session=name, source=node, target=target, kind=kind
        )
        self._forget_old()
        self._moves[made.id] = made
        task = asyncio.create_task(self._run(made, session, device, folder))
        self._tasks[made.id] = task
        task.add_done_callback(lambda _: self._tasks.pop(made.id, None))
        return made

    async def cancel(self, move: str) -> Move:
        """Cancel a move that is not committed; the session stays where it is."""
        known = self.find(move)
        task = self._tasks.get(move)
        if task is not None and known.state not in ("committing", *ENDED):
            task.cancel()
            await asyncio.wait([task])
        return known

    async def run(self) -> None:
        """Finish the moves that another gateway left unfinished."""
        while True:
            await asyncio.sleep(FINISH_EVERY_S)
            with contextlib.suppress(Refusal, BusError):
                await self.finish_moves()

    async def close(self) -> None:
        """Cancel what is not committed."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    # One move

    async def _run(self, move: Move, session: str, device: str, folder: str) -> None:
        try:
            if move.kind == "adopt":
                await self._adopt(move, session, device, folder)
            else:
                await self._move(move, session, device, folder)
            move.state = "done"
        except Refusal as refusal:
            move.problem = refusal.message
            await self._give_up(move, "failed")
        except asyncio.CancelledError:
            await self._give_up(move, "cancelled")
        except Exception:
            log.exception("the move of session %s failed", session)
            move.problem = "The gateway failed because of an internal error. See its log."
            await self._give_up(move, "failed")

    async def _move(self, move: Move, session: str, device: str, folder: str) -> None:
        target = self._directory.node(move.target)
        name = move.target if target is None else target.name
        link = self._link(move.session)
        begin = MoveAsk(
            step="begin", move=move.id, device=device, session=session, node=move.target,
            name=name, link=link, fork=move.kind == "fork",
        )  # fmt: skip
        status = await self._ask(move.source, begin)
        while status["state"] in ("draining", "packing"):
            move.state, move.waiting = status["state"], status["waiting"]
            await asyncio.sleep(POLL_S)
            status = await self._ask(move.source, MoveAsk(step="status", move=move.id))
        if status["state"] != "ready":
            raise Refusal("conflict", status["problem"] or "The machine has cancelled the move.")
        move.waiting, move.size = "", status["size"]
        path = f"/fleet/moves/{move.id}"
        package = await self._client.http(
            move.source, HttpAsk(transfer="", device=device, method="GET", path=path), _nothing()
        )
        if package.status != 200:
            raise _refused(await package.read())
        await self._send(move, device, package.body, folder)
        if move.kind == "fork":
            await self._ask(move.source, MoveAsk(step="release", move=move.id))
            move.state = "committing"
            move.result = await self._activate(move.target, move.id, "", 0)
            return
        commit = MoveAsk(
            step="commit", move=move.id, device=device, session=session,
            generation=status["generation"],
        )  # fmt: skip
        move.state = "committing"
        await asyncio.shield(self._complete(move, session, name, link, commit))

    async def _complete(
        self, move: Move, session: str, name: str, link: str, commit: MoveAsk
    ) -> None:
        """From here on a cancelled request does not stop the move."""
        await self._client.move(move.source, commit)
        owner = Owner(
            node=move.target, name=name, generation=commit.generation, move=move.id, link=link,
            at=time.time(),
        )  # fmt: skip
        try:
            await self._set_owner(session, owner)
            move.result = await self._activate(move.target, move.id, session, commit.generation)
        except (Refusal, BusError) as problem:
            # The source has given the session up. Any gateway completes this later.
            log.warning("the move of session %s is completed later: %s", session, problem)
            move.result = {"later": True, "problem": str(problem)}

    async def _adopt(self, move: Move, session: str, device: str, folder: str) -> None:
        move.state = "packing"
        entry = await self._owners.get(session)
        known = None if entry is None else decode_owner(entry.value)
        package = await self._adoption.package(
            move.id, move.source, session, 0 if known is None else known.generation
        )
        move.size = package.size
        await self._send(move, device, package.body(), folder)
        if self._directory.is_here(move.source):
            raise Refusal(
                "conflict", "The machine of this session is back. Move the session instead."
            )
        move.state = "committing"
        target = self._directory.node(move.target)
        owner = Owner(
            node=move.target,
            name=move.target if target is None else target.name,
            generation=package.generation,
            move=move.id,
            link=self._link(move.session),
            at=time.time(),
        )
        await self._set_owner(session, owner, new=True)
        result = await self._activate(move.target, move.id, session, package.generation)
        move.result = {**result, "incomplete": package.incomplete}

    async def _send(self, move: Move, device: str, body: AsyncIterator[bytes], folder: str) -> None:
        """Pass a package on to the target, and wait until it is unpacked there."""
        move.state = "sending"

        async def counted() -> AsyncIterator[bytes]:
            async for piece in body:
                move.sent += len(piece)
                yield piece

        query = f"folder={quote(folder, safe='')}" if folder else ""
        ask = HttpAsk(
            transfer="", device=device, method="PUT", path=f"/fleet/moves/{move.id}", query=query
        )
        response = await self._client.http(move.target, ask, counted())
        answer = await response.read()
        if response.status != 200:
            raise _refused(answer)
        move.state = "unpacking"
        while True:
            status = await self._ask(move.target, MoveAsk(step="arrived", move=move.id))
            if status["state"] == "ready":
                return
            if status["state"] == "failed":
                raise Refusal("conflict", status["problem"])
            if move.kind != "adopt":  # Tells the source that this gateway still works on it.
                await self._ask(move.source, MoveAsk(step="status", move=move.id))
            await asyncio.sleep(POLL_S)

    async def _activate(
        self, node: str, move: str, session: str, generation: int
    ) -> dict[str, Any]:
        ask = MoveAsk(step="activate", move=move, session=session, generation=generation)
        return await self._client.move(node, ask)

    async def _give_up(self, move: Move, state: str) -> None:
        """Leave the session where it is, and nothing on the target."""
        move.state = state
        steps = [(move.target, "discard")]
        if move.kind != "adopt":
            steps.append((move.source, "release"))
        for node, step in steps:
            with contextlib.suppress(Refusal, BusError):
                await self._client.move(node, MoveAsk(step=step, move=move.id))

    async def _ask(self, node: str, ask: MoveAsk) -> dict[str, Any]:
        try:
            return await self._client.move(node, ask)
        except Refusal as refusal:
            if refusal.code == "unsupported_message":
                entry = self._directory.node(node)
                name = node if entry is None else entry.name
                raise Refusal(
                    "conflict",
                    f"The version of Fairlead on {name} cannot move sessions. Update it.",
                ) from None
            raise

    async def _set_owner(self, session: str, owner: Owner, *, new: bool = False) -> None:
        """Raise the generation of a session; with `new`, refuse if another gateway did already."""
        for _ in range(OWNER_TRIES):
            entry = await self._owners.get(session)
            known = None if entry is None else decode_owner(entry.value)
            if known is not None and known.generation >= owner.generation:
                if new and known.move != owner.move:
                    raise Refusal("conflict", "Another machine has taken the session over already.")
                return
            try:
                if entry is None:
                    await self._owners.create(session, encode_owner(owner))
                else:
                    await self._owners.update(session, encode_owner(owner), entry.revision)
                return
            except Conflict:
                continue
            except BusError as problem:
                raise Refusal("unavailable", f"The bus cannot store the move: {problem}") from None
        raise Refusal("unavailable", "Several gateways move this session at the same time.")

    # Moves that were left unfinished

    async def finish_moves(self) -> None:
        """Activate the sessions that a source gave up and a target has not taken over."""
        own = {each.id for each in self._moves.values() if each.state not in ENDED}
        for entry in self._directory.nodes():
            if not entry.here:
                continue
            for row in list(entry.sessions().values()):
                moved = row.moved
                if moved is None or not moved.move or moved.move in own:
                    continue
                await self._finish(entry.id, row.id, moved.move, moved)
        await self._finish_adoptions(own)

    async def _finish(self, source: str, session: str, move: str, moved: Any) -> None:
        if self._has(moved.node, session, moved.generation):
            return
        owner = Owner(
            node=moved.node, name=moved.name, generation=moved.generation, move=move,
            link=moved.link, at=moved.at,
        )  # fmt: skip
        entry = await self._owners.get(session)
        known = None if entry is None else decode_owner(entry.value)
        if known is not None and known.generation > moved.generation:
            return  # It has moved on.
        if not self._lobby_known(moved.node):
            return
        await self._set_owner(session, owner)
        try:
            await self._activate(moved.node, move, session, moved.generation)
        except Refusal as refusal:
            if refusal.code != "not_found":
                return
            log.warning("session %s did not arrive; its machine takes it back", session)
            ask = MoveAsk(step="reopen", move=move, session=session)
            await self._client.move(source, ask)

    async def _finish_adoptions(self, own: set[str]) -> None:
        for entry in await self._owners.entries():
            owner = decode_owner(entry.value)
            if owner is None or owner.move in own or not self._lobby_known(owner.node):
                continue
            if self._has(owner.node, entry.key, owner.generation):
                continue
            with contextlib.suppress(Refusal):
                await self._activate(owner.node, owner.move, entry.key, owner.generation)

    def _lobby_known(self, node: str) -> bool:
        entry = self._directory.node(node)
        return entry is not None and entry.here and entry.lobby.is_known

    def _has(self, node: str, session: str, generation: int) -> bool:
        entry = self._directory.node(node)
        row = None if entry is None else entry.sessions().get(session)
        return row is not None and row.generation >= generation

    # Within

    def _forget_old(self) -> None:
        ended = [each.id for each in self._moves.values() if each.state in ENDED]
        for move in ended[: max(0, len(self._moves) - KEPT)]:
            del self._moves[move]


async def _nothing() -> AsyncIterator[bytes]:
    yield b""


def _refused(body: bytes) -> Refusal:
    try:
        refused = msgspec.json.decode(body)
        return Refusal(str(refused["code"]), str(refused["message"]))
    except (msgspec.DecodeError, LookupError, TypeError):
        return Refusal("internal", "The machine failed to answer.")
