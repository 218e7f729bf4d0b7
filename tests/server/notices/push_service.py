"""A push service and a browser: the other side of Web Push, written from the RFCs.

`PushService` accepts messages on loopback, verifies the VAPID token of each (RFC 8292), and keeps
them. `Browser` has the keys of a subscription and decrypts what it gets (RFC 8291 and 8188). It
shares no code with Fairlead's sender. `answer` and `gate` let a test decide when and how the
service answers.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import time
from collections.abc import Callable
from typing import Any, Self

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

__all__ = ["Browser", "PushService", "unpadded"]


def unpadded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Browser:
    """The keys of one subscription."""

    def __init__(self, private: ec.EllipticCurvePrivateKey | None = None) -> None:
        self.private = private or ec.generate_private_key(ec.SECP256R1())
        public = self.private.public_key()
        self.public = public.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        self.auth = os.urandom(16)

    def subscription(self, endpoint: str, **settings: Any) -> dict[str, Any]:
        """What the page sends to the server."""
        keys = {"p256dh": unpadded(self.public), "auth": unpadded(self.auth)}
        return {"endpoint": endpoint, **keys, **({"settings": settings} if settings else {})}

    def read(self, body: bytes) -> Any:
        """Decrypt a message."""
        salt, size, length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
        sender, record = body[21 : 21 + length], body[21 + length :]
        assert len(record) <= size <= 4096
        point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender)
        shared = self.private.exchange(ec.ECDH(), point)
        info = b"WebPush: info\0" + self.public + sender
        material = _derive(self.auth, shared, info, 32)
        key = _derive(salt, material, b"Content-Encoding: aes128gcm\0", 16)
        nonce = _derive(salt, material, b"Content-Encoding: nonce\0", 12)
        plain = AESGCM(key).decrypt(nonce, record, None).rstrip(b"\0")
        assert plain[-1:] == b"\x02"
        return json.loads(plain[:-1])


def _derive(salt: bytes, material: bytes, info: bytes, length: int) -> bytes:
    return HKDF(algorithm=hashes.SHA256(), length=length, salt=salt, info=info).derive(material)


class PushService:
    """Accepts push messages; use it as an async context manager."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self.received: list[tuple[dict[str, str], bytes]] = []
        self.answer: Callable[[], str] = lambda: "201 Created"
        self.gate: asyncio.Event | None = None
        """If it is set, the service answers only after the event."""
        self.known_key = ""
        """The `k` of the first request; all others must have the same."""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.base = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self._server.close()

    def endpoint(self, name: str = "one") -> str:
        return f"{self.base}/push/{name}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {k.lower(): v for k, _, v in (line.partition(": ") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers["content-length"]))
        problem = self._problem(head[0], headers)
        if problem is None:
            self.received.append((headers, body))
            if self.gate is not None:
                await self.gate.wait()
        answer = self.answer() if problem is None else f"403 {problem}"
        writer.write(f"HTTP/1.1 {answer}\r\nContent-Length: 0\r\n\r\n".encode())
        writer.close()

    def _problem(self, request: str, headers: dict[str, str]) -> str | None:
        """What a real service would refuse."""
        if not request.startswith("POST /push/") or headers.get("content-encoding") != "aes128gcm":
            return "Not a push message"
        if not headers.get("ttl", "").isdigit() or len(headers.get("topic", "")) > 32:
            return "No TTL, or a long topic"
        scheme, _, rest = headers.get("authorization", "").partition(" ")
        fields = dict(part.strip().split("=", 1) for part in rest.split(",") if "=" in part)
        if scheme != "vapid" or set(fields) != {"t", "k"}:
            return "No VAPID token"
        if self.known_key not in ("", fields["k"]):
            return "Another key"
        self.known_key = fields["k"]
        return self._token_problem(fields["t"], fields["k"])

    def _token_problem(self, token: str, key: str) -> str | None:
        text, _, signature = token.rpartition(".")
        header, claims = (json.loads(decoded(part)) for part in text.split("."))
        raw = decoded(signature)
        der = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
        point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decoded(key))
        point.verify(der, text.encode(), ec.ECDSA(hashes.SHA256()))
        if header != {"typ": "JWT", "alg": "ES256"} or claims["aud"] != self.base:
            return "A token for another service"
        now = self._clock()
        if not now < claims["exp"] <= now + 86_400 or not claims["sub"]:
            return "An expired token"
        return None
