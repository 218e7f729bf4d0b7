"""The older bridge protocol at /bridge, for clients that were written for it.

It has eleven incoming messages and ten outgoing types (`bridge.messages`); `bridge.answers` turns
answers into intents. A client that first sends `client_capabilities`, as the current ccpocket app
does, gets lists and history in the forms of that app, and may interrupt and change the mode. The
protocol has no field for a token, so the upgrade request contains it: in an `Authorization: Bearer`
header, or as a subprotocol `fairlead.token.<token>` if the client cannot set headers. The messages
are carried out as the same intents that every other client sends, with the same roles.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

import msgspec
from starlette.websockets import WebSocket

from fairlead.server.access.devices import DeviceRegistry
from fairlead.server.bridge.answers import answered, approved, rejected
from fairlead.server.bridge.documents import BridgeDocuments
from fairlead.server.bridge.messages import history, listed
from fairlead.server.bridge.view import BridgeView, plain
from fairlead.server.limits import Limits
from fairlead.server.protocol import intents
from fairlead.server.protocol.messages import FromServer
from fairlead.server.refusal import Refusal
from fairlead.server.sockets.client_socket import ClientSocket
from fairlead.server.sockets.connections import SocketConnections
from fairlead.server.sockets.frames import Encoded
from fairlead.store.tables.devices import Device

__all__ = ["Bridge"]

TOKEN_PROTOCOL = "fairlead.token."

VIEWS = 16
"""Sessions that one client follows. The protocol has no message that ends it, and the server keeps
a part of each of them in memory for the client."""

Message = dict[str, Any]


class Bridge:
    """The /bridge endpoint."""

    def __init__(
        self,
        documents: BridgeDocuments,
        devices: DeviceRegistry,
        connections: SocketConnections,
        limits: Limits,
    ) -> None:
        self._documents = documents
        self._devices = devices
        self._connections = connections
        self._limits = limits

    async def serve(self, websocket: WebSocket) -> None:
        """Serve one client from its upgrade until it disconnects."""
        token, protocol = _token_of(websocket)
        source = websocket.client.host if websocket.client else ""
        device = await self._devices.device_of(token, source) if token else None
        if device is None:
            await websocket.close(1008)  # Before the upgrade: an HTTP 403.
            return
        await websocket.accept(subprotocol=protocol)
        socket = _BridgeSocket(websocket, device, "bridge", self._limits)
        client = _BridgeClient(socket, self._documents)
        socket.translate = client.translate
        try:
            await self._connections.serve(socket, client.begin, client.handle)
        finally:
            client.close()


class _BridgeSocket(ClientSocket):
    """A socket whose client uses the bridge protocol."""

    def __init__(self, websocket: WebSocket, device: Device, client: str, limits: Limits) -> None:
        super().__init__(websocket, device, client, limits)
        self.translate: Callable[[FromServer], list[str]] = lambda message: []
        """Turns a message of the hub into messages of the bridge protocol."""

    def messages(
        self, messages: Sequence[FromServer], encoded: Callable[[FromServer], Encoded]
    ) -> None:
        self.send_texts([text for message in messages for text in self.translate(message)])

    def send_pong(self) -> None:
        """The bridge protocol has no such message; WebSocket pings are sufficient."""

    def goodbye(self, reason: str, *, again: bool) -> str:
        code = "unavailable" if again else "not_authenticated"
        return _as_json({"type": "error", "message": reason, "errorCode": code})


class _BridgeClient:
    """Which sessions a client follows, and how its messages are carried out."""

    def __init__(self, socket: ClientSocket, documents: BridgeDocuments) -> None:
        self._socket = socket
        self._device = socket.device
        self._documents = documents
        self.id = socket.id
        self._n = 0
        self._views: dict[str, BridgeView] = {}
        self._fetching: dict[str, asyncio.Task[None]] = {}
        """Sessions whose messages wait for rows that another process has."""
        self._latest: str | None = None
        self._modern = False
        self._handlers: dict[str, Callable[[Message], Awaitable[None]]] = {
            "start": self._start,
            "input": self._input,
            "approve": self._approve,
            "approve_always": lambda message: self._approve(message, always=True),
            "reject": self._reject,
            "answer": self._answer,
            "list_sessions": self._list_sessions,
            "stop_session": self._stop_session,
            "get_history": self._get_history,
            "list_recent_sessions": self._list_recent,
            "resume_session": self._resume_session,
            "client_capabilities": self._capabilities,
            "interrupt": self._interrupt,
            "set_permission_mode": self._set_mode,
        }

    async def begin(self) -> None:
        """Send nothing before the client has requested something."""

    async def handle(self, text: bytes) -> None:
        """Carry out one message; an invalid message gets an error and is never fatal."""
        try:
            message = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError):
            message = None
        if not isinstance(message, dict):
            await self._fail("A message must be a JSON object.", "bad_message")
            return
        handler = self._handlers.get(str(message.get("type")))
        if handler is None:
            await self._fail(
                f"Unknown message type {message.get('type')!r:.200}.", "unsupported_message"
            )
            return
        try:
            await handler(message)
        except RecursionError:
            await self._fail(f"{message['type']}: nested too deeply.", "bad_message")
        except Refusal as refusal:
            await self._fail(refusal.message, refusal.code)
        except (KeyError, TypeError, ValueError) as problem:
            await self._fail(f"{message['type']}: {problem} is missing or invalid.", "bad_message")

    def translate(self, message: FromServer) -> list[str]:
        """A message of the hub about a followed session, as texts to send."""
        view = self._views.get(getattr(message, "document", ""))
        if view is None:
            return []
        view.take(message)
        return [_as_json(out) for out in self._new_messages(view)]

    def close(self) -> None:
        """The client has disconnected."""
        for task in self._fetching.values():
            task.cancel()

    # The eleven messages

    async def _start(self, message: Message) -> None:
        if message.get("sessionId"):
            await self._resume_session(message)
            return
        await self._begin(
            intents.NewSession(
                cwd=_text(message, "projectPath"),
                continue_latest=message.get("continue") is True,
                mode=_text(message, "permissionMode", needed=False),
                model=_text(message, "model", needed=False),
                effort=_text(message, "effort", needed=False),
                profile=_text(message, "profile", needed=False),
            )
        )

    async def _resume_session(self, message: Message) -> None:
        await self._begin(
            intents.Resume(
                session=_text(message, "sessionId"),
                cwd=_text(message, "projectPath", needed=False),
                mode=_text(message, "permissionMode", needed=False),
            )
        )

    async def _begin(self, intent: intents.NewSession | intents.Resume) -> None:
        result = await self._act(intent)
        if result is None:
            return
        session = str(result["session"])
        self._latest = session
        facts = await self._documents.facts(session)
        created = {
            "type": "system",
            "subtype": "session_created",
            "sessionId": session,
            "provider": "claude",
            "projectPath": facts.cwd,
            "permissionMode": facts.mode,
            "model": facts.model,
            "claudeSessionId": facts.cli_session_id,
            "profile": facts.profile or None,
        }
        await self._send({name: value for name, value in created.items() if value is not None})
        await self._follow(session)

    async def _input(self, message: Message) -> None:
        text = _text(message, "text")
        view = await self._view(message)
        if view is None:
            return
        prompt = intents.Send(
            session=view.session, text=text, uuid=str(uuid.uuid4()), verbatim=True
        )
        # Sent before the intent is carried out: a short turn can end before its result arrives.
        await self._send_all(view.sending())
        if await self._act(prompt) is None:
            await self._send_all(view.refused())

    async def _approve(self, message: Message, *, always: bool = False) -> None:
        open_request = await self._pending(message, _text(message, "id"))
        if open_request is not None:
            view, row = open_request
            await self._act(approved(view.session, row, always=always))

    async def _reject(self, message: Message) -> None:
        open_request = await self._pending(message, _text(message, "id"))
        if open_request is not None:
            view, row = open_request
            reason = _text(message, "message", needed=False) or ""
            await self._act(rejected(view.session, row, reason))

    async def _answer(self, message: Message) -> None:
        open_request = await self._pending(message, _text(message, "toolUseId"))
        if open_request is not None:
            view, row = open_request
            await self._act(answered(view.session, row, message["result"]))

    async def _list_sessions(self, message: Message) -> None:
        await self._send_list("session_list", self._rows(live=True))

    async def _list_recent(self, message: Message) -> None:
        limit = message.get("limit") or 20
        if not isinstance(limit, int):
            raise Refusal(
                "bad_message", "The field limit of list_recent_sessions must be a number."
            )
        rows = self._rows(live=False)
        first = rows[: max(1, min(limit, 500))]
        await self._send_list("recent_sessions", first, hasMore=len(first) < len(rows))

    async def _stop_session(self, message: Message) -> None:
        await self._act(intents.Stop(session=_text(message, "sessionId")))

    async def _get_history(self, message: Message) -> None:
        view = await self._view(message)
        if view is None:
            return
        whole = await self._documents.conversation(self._device, view.session)
        if whole is None:
            return
        parts = whole.items, whole.turns, view.state["pending"]

        def build() -> list[dict[str, Any]]:
            items, turns, pending = plain(parts)
            return list(history(items, turns, pending, modern=self._modern))

        # Building a long history takes time, so a thread does it; the rows never change.
        messages = await asyncio.to_thread(build)
        await self._send({"type": "history", "messages": messages, "sessionId": view.session})
        if self._modern:
            await self._send_all(view.status())

    # Messages of the current app

    async def _capabilities(self, message: Message) -> None:
        self._modern = True
        for view in self._views.values():
            view.modern = True

    async def _interrupt(self, message: Message) -> None:
        view = await self._view(message)
        if view is not None:
            await self._act(intents.Interrupt(session=view.session))

    async def _set_mode(self, message: Message) -> None:
        view = await self._view(message)
        if view is not None:
            await self._act(intents.SetMode(session=view.session, mode=_text(message, "mode")))

    # Helpers

    def _rows(self, *, live: bool) -> list[dict[str, Any]]:
        chosen = [row for row in self._documents.sessions() if row.live or not live]
        chosen.sort(key=lambda row: row.last_activity, reverse=True)
        return [listed(row) for row in chosen]

    async def _send_list(self, kind: str, rows: list[dict[str, Any]], **more: Any) -> None:
        shape = {"type": kind} if self._modern else {"type": "system", "subtype": kind}
        await self._send({**shape, "sessions": rows, **more})

    async def _view(self, message: Message) -> BridgeView | None:
        session = str(message.get("sessionId") or self._latest or "")
        if session not in self._views and not await self._follow(session):
            await self._fail(f"Session {session!r:.200} not found. Start one first.", "not_found")
            return None
        view = self._views[session] = self._views.pop(session)  # The last is the one used last.
        return view

    async def _follow(self, session: str) -> bool:
        if session in self._views:
            return True
        if not session or not await self._documents.open(session, self._device):
            return False
        while len(self._views) >= VIEWS:
            oldest = next(iter(self._views))
            del self._views[oldest]
            self._documents.hub.unsubscribe(self.id, oldest)
        view = self._views[session] = BridgeView(session, partial(self._documents.row, session))
        view.modern = self._modern
        for message in self._documents.hub.subscribe(self.id, session, now=time.monotonic()):
            view.take(message)
            await self._send_all(self._new_messages(view))
        return True

    def _new_messages(self, view: BridgeView) -> list[dict[str, Any]]:
        """What is new in a session; nothing while rows of it are being fetched."""
        if view.session in self._fetching:
            return []
        if view.missing():
            task = asyncio.create_task(self._fetch(view))
            self._fetching[view.session] = task
            return []
        return view.messages()

    async def _fetch(self, view: BridgeView) -> None:
        """Get the rows that the document has only the beginning of, then send what is new."""
        try:
            while missing := view.missing():
                for key in missing:
                    section, row_id, _ = key
                    view.fetched(key, await self._fetched(view.session, section, row_id))
            await self._send_all(view.messages())
        finally:
            self._fetching.pop(view.session, None)

    async def _fetched(self, session: str, section: str, row_id: str) -> Any:
        try:
            return await self._documents.fetch_row(self._device, session, section, row_id)
        except Refusal:
            return None  # The client gets the beginning.

    async def _pending(
        self, message: Message, request: str
    ) -> tuple[BridgeView, dict[str, Any]] | None:
        view = await self._view(message)
        row = view.pending(request) if view is not None else None
        if view is not None and row is None:
            await self._fail("This request is not open.", "already_resolved")
        return (view, row) if view is not None and row is not None else None

    async def _act(self, intent: intents.Intent) -> dict[str, Any] | None:
        self._n += 1
        result = await self._documents.act(self._device, self.id, self._n, intent)
        if not result.ok:
            await self._fail(result.message or "The request failed.", result.code or "internal")
            return None
        return result.result

    async def _fail(self, message: str, code: str) -> None:
        await self._send({"type": "error", "message": message, "errorCode": code})

    async def _send_all(self, messages: list[dict[str, Any]]) -> None:
        for message in messages:
            await self._send(message)

    async def _send(self, message: dict[str, Any]) -> None:
        self._socket.answer([_as_json(message)])


def _as_json(message: dict[str, Any]) -> str:
    return msgspec.json.encode(message).decode()


def _token_of(websocket: WebSocket) -> tuple[str, str | None]:
    """The token of an upgrade, and the subprotocol that carried it, which must be echoed."""
    scheme, _, token = websocket.headers.get("authorization", "").partition(" ")
    if scheme == "Bearer" and token:
        return token, None
    for protocol in websocket.scope.get("subprotocols", ()):
        if protocol.startswith(TOKEN_PROTOCOL):
            return protocol.removeprefix(TOKEN_PROTOCOL), protocol
    return "", None


def _text(message: Message, name: str, *, needed: bool = True) -> Any:
    """A text field; refuses a message without it, or with another type of value."""
    value = message.get(name)
    if isinstance(value, str) and (value or name == "text"):
        return value
    if value in (None, "") and not needed:
        return None
    problem = "is missing" if value in (None, "") else "must be a text"
    raise Refusal("bad_message", f"{message['type']}: the field {name} {problem}.")
