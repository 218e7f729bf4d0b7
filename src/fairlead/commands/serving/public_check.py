"""What `fairlead doctor` says about the public address of a server: whether its proxy is set up.

Doctor sends a signed question through the proxy (`server/access/probe`) and opens a WebSocket, as
a browser does. Each problem comes with the line of the configuration that is missing.
"""

from __future__ import annotations

import asyncio
import secrets
import ssl
import time
from pathlib import Path
from urllib.parse import urlsplit

import h11
import msgspec
import websockets
from msgspec import Struct

from fairlead.errors import FairleadError
from fairlead.server.access.device_keys import DeviceKeys
from fairlead.server.access.probe import PROBE_PATH, ProbeAnswer, ask, prove
from fairlead.server.access.requests.public_url import PublicUrl

__all__ = ["check_public_url"]

Finding = tuple[bool, str]

TIMEOUT_S = 10.0
LARGEST = 65_536
SECRET_FILE = "device-secret"

FORGED = "192.0.2.1"
"""An address of no machine (RFC 5737), as a client could claim it."""

RESTART = "start the server with --public-url {url}"
HOST_LINES = "The proxy must pass on the Host header (nginx: `proxy_set_header Host $http_host;`)"
UPGRADE_LINES = (
    "The proxy must pass on WebSocket upgrades (nginx: `proxy_http_version 1.1;`, "
    "`proxy_set_header Upgrade $http_upgrade;`, `proxy_set_header Connection $connection_upgrade;`)"
)


class _Reply(Struct, frozen=True):
    status: int
    body: bytes
    location: str = ""


class Way(Struct, frozen=True, kw_only=True):
    """How the public address is reached; both are for tests, which have no name server."""

    tls: ssl.SSLContext | None = None
    connect_to: str | None = None


async def check_public_url(url: str, data: Path, way: Way | None = None) -> list[Finding]:
    """The findings about a public address; nothing is changed."""
    public = PublicUrl.parse(url)
    if not (data / SECRET_FILE).exists():
        return [(False, f"public address: no server has used the data folder {str(data)!r} yet. "
                        "Start it once, or name its folder with --data.")]  # fmt: skip
    try:
        keys = DeviceKeys.stored_in(data / SECRET_FILE)
    except (FairleadError, OSError) as problem:
        return [(False, f"public address: {problem}")]
    way = way or Way()
    nonce = secrets.token_urlsafe(16)
    question = msgspec.json.encode(ask(keys, nonce, time.time()))
    try:
        async with asyncio.timeout(TIMEOUT_S):
            reply = await _post(public, question, way)
    except (OSError, TimeoutError, h11.ProtocolError) as problem:
        return [(False, f"public address: {_unreachable(public, problem)}")]
    problem_text = _problem(public, reply, keys, nonce)
    if problem_text is not None:
        return [(False, f"public address: {problem_text}")]
    answer = msgspec.json.decode(reply.body, type=ProbeAnswer)
    return [
        (True, f"public address: {public.base} reaches this server with its Host and Origin"),
        await _check_socket(public, way),
        _check_forwarded(answer),
    ]


def _unreachable(public: PublicUrl, problem: Exception) -> str:
    if isinstance(problem, ssl.SSLCertVerificationError):
        return (
            f"{public.authority} has no valid certificate ({problem.verify_message}). Browsers "
            "refuse it too; give the proxy a certificate for this name."
        )
    if isinstance(problem, (ssl.SSLError, h11.ProtocolError)):
        scheme = "https" if public.secure else "http"
        return f"{public.authority} does not speak {scheme}. Check the scheme and the port."
    reason = "it does not answer" if isinstance(problem, TimeoutError) else str(problem)
    return (
        f"{public.authority} cannot be reached from here ({reason}). Check that the proxy runs, "
        "that the name leads to it, and that no firewall is in between."
    )


def _problem(public: PublicUrl, reply: _Reply, keys: DeviceKeys, nonce: str) -> str | None:
    text = reply.body.decode("utf-8", "replace")
    restart = RESTART.format(url=public.base)
    if reply.status == 200:
        try:
            proof = msgspec.json.decode(reply.body, type=ProbeAnswer).proof
        except msgspec.DecodeError:
            proof = ""
        if proof == prove(keys, nonce):
            return None
        return f"another program answers at {public.base}. Check the address and the proxy."
    if reply.status == 401 and "not_authenticated" in text:
        return (
            f"{public.base} leads to another Fairlead server. Check the port in the proxy's "
            "configuration, or name the data folder of that server with --data."
        )
    if reply.status == 421:
        return f"the server does not know the name {public.authority}: {restart}."
    if reply.status == 403 and "origins" in text:
        return f"the server refuses pages of {public.origin}. {HOST_LINES}; else {restart}."
    if reply.status == 404 and "This server is below" in text:
        return (
            f"the proxy removes {public.path} from the path. Pass the path on unchanged (nginx: "
            "`proxy_pass` without a path of its own)."
        )
    if reply.status in (502, 503, 504):
        return (
            f"the proxy cannot reach the server (status {reply.status}). Check that the server "
            "runs, and the port in the proxy's configuration."
        )
    if 300 <= reply.status < 400:
        return f"{public.base} redirects to {reply.location!r}. Give that address to --public-url."
    return (
        f"{public.base} answered with status {reply.status}, which is not an answer of this "
        f"server. Check the path in the proxy's configuration, and {restart}."
    )


async def _check_socket(public: PublicUrl, way: Way) -> Finding:
    parts = urlsplit(public.base)
    target = f"{'wss' if public.secure else 'ws'}://{public.authority}{public.path}/ws"
    try:
        async with websockets.connect(
            target,
            origin=websockets.Origin(public.origin),
            ssl=(way.tls or ssl.create_default_context()) if public.secure else None,
            host=way.connect_to or parts.hostname,
            port=_port(public),
            open_timeout=TIMEOUT_S,
            proxy=None,
        ):
            return True, "public address: WebSockets pass the proxy"
    except websockets.InvalidStatus as refusal:
        status = refusal.response.status_code
        reason = f"no WebSocket could be opened (status {status})"
    except (OSError, TimeoutError, websockets.WebSocketException) as problem:
        reason = f"no WebSocket could be opened ({type(problem).__name__})"
    return False, f"public address: {reason}. {UPGRADE_LINES}."


def _check_forwarded(answer: ProbeAnswer) -> Finding:
    if answer.forwarded == "ignored":
        return False, (
            "public address: the server ignores X-Forwarded-For, so every device has the address "
            f"of the proxy. Start the server with --trusted-proxy {answer.peer}."
        )
    if answer.address == FORGED:
        return False, (
            "public address: the proxy passes on the X-Forwarded-For that a client sent, so "
            "clients can choose their address. Replace it (nginx: `proxy_set_header "
            "X-Forwarded-For $remote_addr;`)."
        )
    if answer.forwarded == "none":
        return True, (
            "public address: the proxy sends no X-Forwarded-For; every device has its address"
        )
    return True, f"public address: X-Forwarded-For of {answer.peer} is trusted"


async def _post(public: PublicUrl, body: bytes, way: Way) -> _Reply:
    host = urlsplit(public.base).hostname or ""
    context = (way.tls or ssl.create_default_context()) if public.secure else None
    reader, writer = await asyncio.open_connection(
        way.connect_to or host,
        _port(public),
        ssl=context,
        server_hostname=host if context is not None else None,
    )
    headers = [
        ("Host", public.authority),
        ("Origin", public.origin),
        ("Content-Type", "application/json"),
        ("Content-Length", str(len(body))),
        ("X-Forwarded-For", FORGED),
        ("Connection", "close"),
    ]
    connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=LARGEST)
    request = h11.Request(method="POST", target=public.path + PROBE_PATH, headers=headers)
    try:
        for event in (request, h11.Data(data=body), h11.EndOfMessage()):
            writer.write(connection.send(event) or b"")
        await writer.drain()
        return await _read(reader, connection)
    finally:
        writer.transport.abort()


async def _read(reader: asyncio.StreamReader, connection: h11.Connection) -> _Reply:
    status, location, body = 0, "", b""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(LARGEST))
        elif isinstance(event, h11.Response):
            status = event.status_code
            header = dict(event.headers).get(b"location", b"")
            location = header.decode("latin-1")
        elif isinstance(event, h11.Data):
            body += event.data
        elif not isinstance(event, h11.InformationalResponse) or len(body) > LARGEST:
            return _Reply(status, body, location)


def _port(public: PublicUrl) -> int:
    return urlsplit(public.base).port or (443 if public.secure else 80)
