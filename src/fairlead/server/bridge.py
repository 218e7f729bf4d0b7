"""The bridge protocol of seed 002 §8 at /bridge, so that a client made for it works.

Eleven messages come in, ten kinds go out (`bridge_view`). It has no place for a token, so the
token comes in the upgrade itself: an `Authorization: Bearer` header, or a subprotocol
`fairlead.token.<token>` where headers cannot be set. What a message asks is carried out as the
same intents that every other client sends, with the same roles.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect

from fairlead.server import intents
from fairlead.server.bridge_view import BridgeView
from fairlead.server.doors import Doors
from fairlead.server.limits import Limits
from fairlead.server.registry import Registry
from fairlead.store.devices import Device

__all__ = ["Bridge"]

TOKEN_PROTOCOL = "fairlead.token."
UNAUTHENTICATED = 4401

Given = dict[str, Any]


class Bridge:
    """The /bridge endpoint."""

    def __init__(self, registry: Registry, doors: Doors, limits: Limits) -> None:
        self._registry = registry
        self._doors = doors
        self._limits = limits
        self._clients: dict[str, tuple[WebSocket, Device]] = {}

    async def cut_off(self, device: str) -> None:
        """Close every socket of a device whose token was taken away."""
        for websocket, theirs in tuple(self._clients.values()):
            if theirs.id == device:
                with contextlib.suppress(RuntimeError, WebSocketDisconnect, TimeoutError):
                    async with asyncio.timeout(1.0):
                        await websocket.close(UNAUTHENTICATED)

    async def serve(self, websocket: WebSocket) -> None:
        """One client, from its upgrade to its end."""
        token, protocol = _token_of(websocket)
        source = websocket.client.host if websocket.client else ""
        device = await self._doors.device_of(token, source) if token else None
        if device is None:
            await websocket.close(1008)  # Before the upgrade: an HTTP 403.
            return
        await websocket.accept(subprotocol=protocol)
        client = _BridgeClient(websocket, device, self._registry)
        pumping = asyncio.create_task(client.pump_forever(self._limits.flush_s))
        self._clients[client.id] = websocket, device
        try:
            with contextlib.suppress(WebSocketDisconnect, RuntimeError):
                while client.id in self._clients:
                    await client.take(await _receive(websocket))
        finally:
            self._clients.pop(client.id, None)
            pumping.cancel()
            client.leave()


class _BridgeClient:
    """What one connected client follows, and how its messages are carried out."""

    def __init__(self, websocket: WebSocket, device: Device, registry: Registry) -> None:
        self._websocket = websocket
        self._device = device
        self._registry = registry
        self.id = f"bridge-{uuid.uuid4().hex}"
        self._n = 0
        self._views: dict[str, BridgeView] = {}
        self._latest: str | None = None
        self._handlers: dict[str, Callable[[Given], Awaitable[None]]] = {
            "start": self._start,
            "input": self._input,
            "approve": lambda given: self._decide(given, "allow"),
            "approve_always": lambda given: self._decide(given, "always"),
            "reject": lambda given: self._decide(given, "deny"),
            "answer": self._answer,
            "list_sessions": self._list_sessions,
            "stop_session": self._stop_session,
            "get_history": self._get_history,
            "list_recent_sessions": self._list_recent,
            "resume_session": self._resume_session,
        }

    async def take(self, text: str | bytes) -> None:
        """Carry out one message; a bad one is answered, never fatal."""
        try:
            given = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError):
            given = None
        if not isinstance(given, dict):
            await self._fail("a message is a JSON object", "bad_message")
            return
        handler = self._handlers.get(str(given.get("type")))
        if handler is None:
            await self._fail(
                f"no message has the type {given.get('type')!r:.200}", "unsupported_message"
            )
            return
        try:
            await handler(given)
        except (KeyError, TypeError, ValueError) as problem:
            await self._fail(f"{given['type']}: {problem} is missing or wrong", "bad_message")

    async def pump_forever(self, every_s: float) -> None:
        """Send what is new of the sessions that are followed."""
        while True:
            await asyncio.sleep(every_s)
            for message in self._registry.hub.drain(self.id, time.monotonic()):
                view = self._views.get(getattr(message, "document", ""))
                if view is not None:
                    await self._send_all(view.take(message))

    def leave(self) -> None:
        """The client is gone."""
        self._registry.hub.drop(self.id)

    # The eleven messages

    async def _start(self, given: Given) -> None:
        wanted = given.get("sessionId")
        if wanted:
            await self._begin(intents.Resume(session=str(wanted)))
            return
        await self._begin(
            intents.NewSession(
                cwd=str(given["projectPath"]),
                continue_latest=given.get("continue") is True,
                mode=given.get("permissionMode"),
            )
        )

    async def _resume_session(self, given: Given) -> None:
        await self._begin(intents.Resume(session=str(given["sessionId"])))

    async def _begin(self, intent: intents.NewSession | intents.Resume) -> None:
        result = await self._act(intent)
        if result is None:
            return
        session = str(result["session"])
        self._latest = session
        await self._send({"type": "system", "subtype": "session_created", "sessionId": session})
        await self._follow(session)

    async def _input(self, given: Given) -> None:
        view = await self._view(given)
        if view is None:
            return
        prompt = intents.Send(session=view.session, text=str(given["text"]), uuid=str(uuid.uuid4()))
        # Told before it is carried out: a short turn can be over before the intent's result is.
        await self._send_all(view.sending())
        if await self._act(prompt) is None:
            await self._send_all(view.refused())

    async def _decide(self, given: Given, decision: str) -> None:
        found = await self._pending(given, str(given["id"]))
        if found is None:
            return
        view, row = found
        narrowest = _narrowest(row) if decision == "always" else ()
        await self._act(
            intents.Decide(
                session=view.session,
                request_id=row["id"],
                input_sha256=row["input_sha256"],
                # With nothing to offer, "always" is this once: never the whole tool.
                decision=decision if decision != "always" or narrowest else "allow",
                choices=narrowest,
                message=str(
                    given.get("message") or ("The user said no." if decision == "deny" else "")
                ),
            )
        )

    async def _answer(self, given: Given) -> None:
        found = await self._pending(given, str(given["toolUseId"]))
        if found is None:
            return
        view, row = found
        await self._act(
            intents.AnswerQuestions(
                session=view.session,
                request_id=row["id"],
                input_sha256=row["input_sha256"],
                answers=_answers(row, given["result"]),
            )
        )

    async def _list_sessions(self, given: Given) -> None:
        await self._send(
            {"type": "system", "subtype": "session_list", "sessions": self._rows(live=True)}
        )

    async def _list_recent(self, given: Given) -> None:
        limit = int(given.get("limit") or 20)
        rows = self._rows(live=False)[: max(1, min(limit, 500))]
        await self._send({"type": "system", "subtype": "recent_sessions", "sessions": rows})

    async def _stop_session(self, given: Given) -> None:
        await self._act(intents.Stop(session=str(given["sessionId"])))

    async def _get_history(self, given: Given) -> None:
        view = await self._view(given)
        if view is not None:
            history = {"type": "history", "messages": view.history(), "sessionId": view.session}
            await self._send(history)

    # Within

    def _rows(self, *, live: bool) -> list[dict[str, Any]]:
        chosen = [row for row in self._registry.lobby.sessions() if row.live or not live]
        chosen.sort(key=lambda row: row.last_activity, reverse=True)
        return [
            {
                "sessionId": row.id,
                "projectPath": row.cwd,
                "title": row.title,
                "status": row.status.state,
                "lastActivity": row.last_activity,
                "model": row.model,
            }
            for row in chosen
        ]

    async def _view(self, given: Given) -> BridgeView | None:
        session = str(given.get("sessionId") or self._latest or "")
        if session not in self._views and not await self._follow(session):
            await self._fail(f"there is no session {session!r:.200}; start one first", "not_found")
            return None
        return self._views[session]

    async def _follow(self, session: str) -> bool:
        if session in self._views:
            return True
        if not session or not await self._registry.open(session, self._device):
            return False
        view = self._views[session] = BridgeView(session)
        for message in self._registry.hub.subscribe(self.id, session, now=time.monotonic()):
            await self._send_all(view.take(message))
        return True

    async def _pending(
        self, given: Given, request: str
    ) -> tuple[BridgeView, dict[str, Any]] | None:
        view = await self._view(given)
        row = view.pending(request) if view is not None else None
        if view is not None and row is None:
            await self._fail("nothing with that id waits for an answer", "already_resolved")
        return (view, row) if view is not None and row is not None else None

    async def _act(self, intent: intents.Intent) -> dict[str, Any] | None:
        self._n += 1
        result = await self._registry.act(self._device, self.id, self._n, intent)
        if not result.ok:
            await self._fail(result.message or "that did not work", result.code or "internal")
            return None
        return result.result

    async def _fail(self, message: str, code: str) -> None:
        await self._send({"type": "error", "message": message, "errorCode": code})

    async def _send_all(self, messages: list[dict[str, Any]]) -> None:
        for message in messages:
            await self._send(message)

    async def _send(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(RuntimeError, WebSocketDisconnect):
            await self._websocket.send_text(msgspec.json.encode(message).decode())


async def _receive(websocket: WebSocket) -> str | bytes:
    """The next message, as text or as bytes: both may be JSON."""
    message = await websocket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1005))
    text = message.get("text")
    return str(text) if text is not None else bytes(message.get("bytes") or b"")


def _token_of(websocket: WebSocket) -> tuple[str, str | None]:
    """The token of an upgrade, and the subprotocol that carried it, which must be echoed."""
    scheme, _, token = websocket.headers.get("authorization", "").partition(" ")
    if scheme == "Bearer" and token:
        return token, None
    for protocol in websocket.scope.get("subprotocols", ()):
        if protocol.startswith(TOKEN_PROTOCOL):
            return protocol.removeprefix(TOKEN_PROTOCOL), protocol
    return "", None


def _narrowest(row: dict[str, Any]) -> tuple[int, ...]:
    """The first offer that is not the whole of a tool; they come narrowest first."""
    for choice in row.get("choices", ()):
        if not choice.get("wide"):
            return (int(choice["index"]),)
    return ()


def _answers(row: dict[str, Any], result: Any) -> dict[str, str | tuple[str, ...]]:
    """Answers by the text of the question, from a text or from an object of texts."""
    questions = [str(one.get("question")) for one in (row["input"] or {}).get("questions", ())]
    if isinstance(result, str):
        with contextlib.suppress(ValueError):
            loaded = json.loads(result)
            result = loaded if isinstance(loaded, dict) else result
    if isinstance(result, dict):
        return {
            str(text): tuple(map(str, answer)) if isinstance(answer, list) else str(answer)
            for text, answer in result.items()
        }
    return {questions[0]: str(result)} if questions else {}
