"""The login that proves both sides: what is sent, what it is good for, and when it ends."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import websockets

from fairlead.errors import UsageError
from fairlead.server.access.device_keys import DeviceKeys
from fairlead.server.access.proofs import LoginExchange, is_identifier, proof_of
from fairlead.server.listeners import listen
from tests.server.conftest import Served

NONCE = "c" * 43


async def keyed(served: Served, role: str = "owner") -> tuple[str, bytes]:
    """A device that was paired as the web app is: its id and its key."""
    asked = {"code": served.service.devices.issue_code(role), "name": "app", "keyed": True}
    status, body, _ = await served.http("/api/pair", method="POST", body=asked, origin=served.base)
    given = json.loads(body)
    assert status == 200
    assert set(given) == {"device", "role", "key"}  # no token
    return given["device"], base64.b64decode(given["key"])


def sign(key: bytes, side: str, host: str, device: str, server_nonce: str) -> str:
    """Written out, as a browser does it."""
    text = "\n".join(["fairlead login 1", side, host, device, NONCE, server_nonce])
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


class Login:
    """A client that logs in by hand."""

    def __init__(self, served: Served, device: str, key: bytes) -> None:
        self.host = served.base.removeprefix("http://")
        self.url = f"ws://{self.host}/ws"
        self.device = device
        self.key = key
        self.socket: Any = None

    async def greet(self) -> dict[str, Any]:
        self.socket = await websockets.connect(self.url)
        greeting = {"type": "greet", "protocol": 1, "device": self.device, "nonce": NONCE}
        await self.socket.send(json.dumps(greeting))
        return await self.hear()

    async def hear(self) -> dict[str, Any]:
        async with asyncio.timeout(60):
            heard: dict[str, Any] = json.loads(await self.socket.recv())
            return heard

    async def prove(self, proof: str) -> dict[str, Any]:
        hello = {"type": "hello", "protocol": 1, "client": "c-1", "proof": proof}
        await self.socket.send(json.dumps(hello))
        return await self.hear()

    async def enter(self) -> str:
        """The access token."""
        challenge = await self.greet()
        proof = sign(self.key, "client", self.host, self.device, challenge["nonce"])
        access = await self.prove(proof)
        assert access["type"] == "access"
        assert (await self.hear())["type"] == "welcome"
        return str(access["token"])


async def test_R15_the_server_proves_itself_before_the_device_does(served: Served) -> None:
    device, key = await keyed(served)
    login = Login(served, device, key)
    challenge = await login.greet()
    assert set(challenge) == {"type", "nonce", "proof"}
    assert challenge["proof"] == sign(key, "server", login.host, device, challenge["nonce"])
    again = await login.greet()
    assert again["nonce"] != challenge["nonce"]


async def test_R15_the_access_token_ends_with_its_socket(served: Served) -> None:
    device, key = await keyed(served)
    login = Login(served, device, key)
    bearer = {"authorization": f"Bearer {await login.enter()}"}
    assert (await served.http("/api/sessions", **bearer))[0] == 200
    await login.socket.close()
    async with asyncio.timeout(60):
        while len(served.service.devices.access):  # noqa: ASYNC110 - the server notices by itself
            await asyncio.sleep(0.01)
    assert (await served.http("/api/sessions", **bearer))[0] == 401


async def test_R15_a_proof_is_good_for_one_socket_one_address_and_one_side(served: Served) -> None:
    device, key = await keyed(served)
    login = Login(served, device, key)
    first = await login.greet()
    good = sign(key, "client", login.host, device, first["nonce"])
    assert (await login.prove(good))["type"] == "access"
    wrong: dict[str, Callable[[str], str]] = {
        "used before": lambda nonce: good,
        "the server's own": lambda nonce: sign(key, "server", login.host, device, nonce),
        "for another address": lambda nonce: sign(key, "client", "evil.test:1", device, nonce),
        "by another key": lambda nonce: sign(b"k" * 32, "client", login.host, device, nonce),
        "none": lambda nonce: "",
        "odd": lambda nonce: "\ud800é",
    }
    for what, made in wrong.items():
        other = Login(served, device, key)
        refused = await other.prove(made((await other.greet())["nonce"]))
        assert (refused["type"], refused["again"]) == ("bye", False), what


async def test_R15_a_revoked_device_hears_it_from_a_server_that_proved_itself(
    served: Served,
) -> None:
    device, key = await keyed(served)
    owner = await served.client()
    login = Login(served, device, key)
    access = await login.enter()
    assert (await owner.intend("revoke_device", device=device))["ok"]
    assert (await served.http("/api/sessions", authorization=f"Bearer {access}"))[0] == 401
    again = Login(served, device, key)
    challenge = await again.greet()
    assert challenge["proof"] == sign(key, "server", again.host, device, challenge["nonce"])
    proof = sign(key, "client", again.host, device, challenge["nonce"])
    assert (await again.prove(proof))["type"] == "bye"


async def test_R15_a_device_that_was_let_in_has_a_key_and_its_token_ends(served: Served) -> None:
    devices = served.service.devices
    asked = {"code": devices.invite("viewer"), "name": "phone", "keyed": True}
    status, body, _ = await served.http("/api/pair", method="POST", body=asked, origin=served.base)
    assert status == 202
    token = json.loads(body)["token"]
    (joiner,) = await devices.joining.waiting()
    assert await devices.confirm(joiner.device.id, "desk", allow=True)
    look = {"token": token, "keyed": True}
    status, body, _ = await served.http("/api/pair", method="POST", body=look, origin=served.base)
    given = json.loads(body)
    assert (status, set(given)) == (200, {"device", "role", "key"})
    assert (await served.http("/api/sessions", authorization=f"Bearer {token}"))[0] == 401
    login = Login(served, given["device"], base64.b64decode(given["key"]))
    assert await login.enter()


@pytest.mark.parametrize(
    "greeting",
    [
        {"device": "x\ny" + "z" * 20, "nonce": NONCE},
        {"device": "d" * 36, "nonce": ""},
        {"device": "d" * 36, "nonce": "n" * 5_000},
        {"device": "d" * 36, "nonce": NONCE, "token": "x"},
    ],
)
async def test_R15_a_greeting_that_could_be_read_in_two_ways_is_refused(
    served: Served, greeting: dict[str, str]
) -> None:
    async with websockets.connect(served.base.replace("http", "ws") + "/ws") as websocket:
        await websocket.send(json.dumps({"type": "greet", "protocol": 1, **greeting}))
        assert json.loads(await websocket.recv())["type"] == "bye"


def test_R15_each_part_of_a_login_changes_the_proof() -> None:
    exchange = LoginExchange(protocol=1, host="h:1", device="d", client_nonce="a", server_nonce="b")
    others = [
        LoginExchange(protocol=2, host="h:1", device="d", client_nonce="a", server_nonce="b"),
        LoginExchange(protocol=1, host="h:2", device="d", client_nonce="a", server_nonce="b"),
        LoginExchange(protocol=1, host="h:1", device="e", client_nonce="a", server_nonce="b"),
        LoginExchange(protocol=1, host="h:1", device="d", client_nonce="b", server_nonce="a"),
    ]
    proofs = {
        proof_of(b"k", side, each) for each in (exchange, *others) for side in ("server", "client")
    }
    assert len(proofs) == 10
    assert not is_identifier("a" * 40 + "\n")


def test_R15_the_secret_is_made_once_and_only_its_owner_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "device-secret"
    first = DeviceKeys.stored_in(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert DeviceKeys.stored_in(path).key_of("d") == first.key_of("d") != first.key_of("e")
    path.write_bytes(b"short")
    with pytest.raises(UsageError, match="damaged"):
        DeviceKeys.stored_in(path)


def has_ipv6() -> bool:
    return (
        os.path.exists("/proc/net/if_inet6")
        and "00000001 " in Path("/proc/net/if_inet6").read_text()
    )


def test_R1_no_other_program_can_listen_at_the_other_loopback_address() -> None:
    if not has_ipv6():
        return  # There is no other address.
    mine = listen("127.0.0.1", 0, 8)
    port = mine[0].getsockname()[1]
    try:
        with socket.socket(socket.AF_INET6) as thief, pytest.raises(OSError, match="in use"):
            thief.bind(("::1", port))
    finally:
        for each in mine:
            each.close()
    with socket.socket(socket.AF_INET6) as thief:
        thief.bind(("::1", port))
        thief.listen()
        with pytest.raises(UsageError, match="cannot listen on ::1"):
            listen("127.0.0.1", port, 8)
