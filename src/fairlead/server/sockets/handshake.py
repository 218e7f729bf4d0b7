"""Authenticates a socket, with limits on the number and the time of unauthenticated sockets.

The server answers nothing before a valid token arrived in `hello` (rule R2), except for the proof
that a device with a key requests by `greet` (R15). At the limit the server closes the oldest socket
of the address with the most sockets, so that many silent sockets keep no client out (T-30).
"""

from __future__ import annotations

import asyncio
import secrets
from typing import Protocol

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect

from fairlead.server.access.access_tokens import AccessTokens
from fairlead.server.access.proofs import LoginExchange, is_identifier
from fairlead.server.access.throttle import peer_key
from fairlead.server.limits import Limits
from fairlead.server.protocol.messages import (
    PROTOCOL,
    PROTOCOL_MISMATCH,
    TOO_MANY,
    UNAUTHENTICATED,
    Access,
    Bye,
    Challenge,
    FromClient,
    Greet,
    Hello,
)
from fairlead.server.sockets.frames import receive, say_goodbye, text_of
from fairlead.server.sockets.unauthenticated import UnauthenticatedConnections
from fairlead.store.tables.devices import Device

__all__ = ["ACCESS", "Authenticator", "Handshake"]


ACCESS = "fairlead.access"
"""The key of a socket's scope for the access token that was issued to it."""

Authenticated = tuple[Device, Hello]

_decode = msgspec.json.Decoder(FromClient)


class Authenticator(Protocol):
    """Finds the device of a token or a proof."""

    access: AccessTokens

    async def device_of(self, token: str, source: str) -> Device | None:
        """The device with this token, unless it is unknown, revoked or was idle too long."""

    def prove(self, exchange: LoginExchange) -> str:
        """Proof that this server has the key of a device."""

    async def device_with_proof(
        self, exchange: LoginExchange, proof: str, source: str
    ) -> Device | None:
        """The device that proved to have its key."""


class _Refused(Exception):
    """A socket is refused."""

    def __init__(self, reason: str, code: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code


class Handshake:
    """Authenticates sockets, and holds those that are not authenticated yet."""

    def __init__(self, authenticator: Authenticator, limits: Limits) -> None:
        self._authenticator = authenticator
        self._limits = limits
        self._pending: UnauthenticatedConnections[asyncio.Task[Authenticated | None]] = (
            UnauthenticatedConnections(limits.unauthenticated_sockets)
        )

    @property
    def pending(self) -> int:
        """The number of sockets that are not authenticated yet."""
        return len(self._pending)

    async def authenticate(self, websocket: WebSocket) -> Authenticated | None:
        """The device of a socket and its hello; None if the socket was refused."""
        task = asyncio.create_task(self._authenticate(websocket))
        address = peer_key(websocket.client.host) if websocket.client else ""
        victim = self._pending.add(task, address)
        if victim is not None:
            self._pending.remove(victim)
            victim.cancel()
        try:
            await asyncio.wait([task])
        finally:
            self._pending.remove(task)
            task.cancel()
        if task.cancelled():
            await say_goodbye(websocket, Bye(reason="too many connections", again=True), TOO_MANY)
            return None
        return task.result()

    async def _authenticate(self, websocket: WebSocket) -> Authenticated | None:
        try:
            first = await self._message(websocket)
            source = websocket.client.host if websocket.client else ""
            if isinstance(first, Greet):
                device, hello = await self._prove(websocket, first, source)
            else:
                hello = first
                known = await self._authenticator.device_of(hello.token, source)
                if known is None:
                    raise _Refused("invalid or expired token", UNAUTHENTICATED)
                device = known
            if hello.protocol != PROTOCOL:
                message = f"this server uses protocol {PROTOCOL}; reload the page"
                raise _Refused(message, PROTOCOL_MISMATCH)
        except WebSocketDisconnect:
            return None
        except _Refused as refusal:
            await say_goodbye(websocket, Bye(reason=refusal.reason, again=False), refusal.code)
            return None
        return device, hello

    async def _prove(self, websocket: WebSocket, greet: Greet, source: str) -> Authenticated:
        """Prove that the server has the device's key, and check the device's proof."""
        if not is_identifier(greet.device) or not is_identifier(greet.nonce):
            raise _Refused("the first message cannot be read", UNAUTHENTICATED)
        exchange = LoginExchange(
            protocol=greet.protocol,
            host=websocket.headers.get("host", "").lower(),
            device=greet.device,
            client_nonce=greet.nonce,
            server_nonce=secrets.token_urlsafe(32),
        )
        challenge = Challenge(
            nonce=exchange.server_nonce, proof=self._authenticator.prove(exchange)
        )
        await websocket.send_text(text_of(challenge))
        hello = await self._message(websocket)
        if not isinstance(hello, Hello):
            raise _Refused("the message after the challenge must be hello", UNAUTHENTICATED)
        device = await self._authenticator.device_with_proof(exchange, hello.proof, source)
        if device is None:
            raise _Refused("this device is no longer paired with the server", UNAUTHENTICATED)
        token = self._authenticator.access.issue(device.token_hash)
        websocket.scope[ACCESS] = token
        await websocket.send_text(text_of(Access(token=token)))
        return device, hello

    async def _message(self, websocket: WebSocket) -> Hello | Greet:
        try:
            async with asyncio.timeout(self._limits.hello_s):
                message = _decode.decode(await receive(websocket))
        except TimeoutError:
            raise _Refused("no hello message arrived in time", UNAUTHENTICATED) from None
        except (msgspec.DecodeError, RecursionError):
            raise _Refused("the first message must be hello", UNAUTHENTICATED) from None
        if not isinstance(message, Hello | Greet):
            raise _Refused("the first message must be hello", UNAUTHENTICATED)
        return message
