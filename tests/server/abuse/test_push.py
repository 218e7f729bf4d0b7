"""Attacks through push notifications: addresses that a device gives, tickets, other devices."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest

from fairlead.server.limits import Limits
from fairlead.server.notices.push.endpoint import Endpoint, is_public
from fairlead.server.notices.push.request import NotSent, post
from fairlead.server.notices.push.tickets import DenyTicket, Tickets
from tests.server.conftest import Client, Served, serving
from tests.server.notices.push_service import Browser, PushService
from tests.waiting import until

PRIVATE = (
    "http://push.example.org/x",
    "https://127.0.0.1/x",
    "https://[::1]/x",
    "https://localhost/x",
    "https://169.254.169.254/latest/meta-data",
    "https://10.0.0.1/x",
    "https://127.1/x",
    "https://2130706433/x",
    "https://push.example.org:22/x",
    "https://user:pass@push.example.org/x",
    "https://push.example.org\r\nHost: evil/x",
    "file:///etc/passwd",
    "ftp://push.example.org/x",
    "https:///x",
    "https://" + "a" * 3000 + ".example/x",
    "",
)


async def call(served: Served, client: Client, path: str, body: Any) -> tuple[int, dict[str, Any]]:
    bearer = {"authorization": f"Bearer {client.token}"}
    status, text, _ = await served.http(path, method="POST", body=body, **bearer)
    return status, json.loads(text)


@pytest.mark.parametrize("address", PRIVATE, ids=lambda text: repr(text[:40]))
def test_R24_an_address_that_is_not_a_public_push_service_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="it "):
        Endpoint.parse(address)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "192.168.0.1", "172.16.0.1", "100.64.0.1", "169.254.169.254"),
        *("0.0.0.0", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fe80::1%eth0"),
        *(
            "fd00::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "no address",
        ),
    ],
)
def test_R24_addresses_that_are_not_on_the_internet_are_known(address: str) -> None:
    assert not is_public(address)
    assert is_public("1.1.1.1")
    assert is_public("2606:4700:4700::1111")


async def test_R24_a_name_that_leads_to_this_machine_gets_nothing() -> None:
    """`localhost.` style names pass the form, so the resolved address decides."""
    listener = socket.create_server(("127.0.0.1", 0))
    endpoint = Endpoint(
        scheme="https", host="localhost", port=listener.getsockname()[1], target="/"
    )
    with listener, pytest.raises(NotSent, match="not on the public internet") as refused:
        await post(endpoint, {}, b"secret")
    assert refused.value.refused


async def test_R24_a_redirect_is_not_followed_and_a_slow_answer_ends() -> None:
    async with PushService() as push, PushService() as other:
        endpoint = Endpoint.parse(push.endpoint(), loopback=True)
        push.answer = lambda: f"307 Moved\r\nLocation: {other.endpoint()}"
        headers = {"content-encoding": "aes128gcm", "TTL": "1"}
        answer = await post(endpoint, headers, b"", loopback=True)
        assert answer.status == 403  # The service refuses it without a token.
        assert other.received == []
        with socket.create_server(("127.0.0.1", 0)) as stuck:  # It never answers.
            port = stuck.getsockname()[1]
            slow = Endpoint.parse(f"http://127.0.0.1:{port}/push", loopback=True)
            with pytest.raises(NotSent, match="did not answer"):
                await post(slow, {}, b"", loopback=True, timeout_s=0.2)


async def test_R24_a_device_cannot_make_the_server_call_its_own_machine(served: Served) -> None:
    client = await served.client("viewer")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        port = listener.getsockname()[1]
        for address in (f"http://127.0.0.1:{port}/", f"https://127.0.0.1:{port}/", *PRIVATE):
            wanted = Browser().subscription(address)
            assert (await call(served, client, "/api/push", wanted))[0] == 400
        assert (await call(served, client, "/api/push/test", {}))[0] == 404
        with pytest.raises(BlockingIOError):
            listener.accept()


async def test_R26_a_ticket_denies_one_request_for_one_device_and_nothing_else() -> None:
    known = {"device": "d", "session": "s", "request": "r", "sha256": "h", "kind": "approval"}
    ticket = DenyTicket(**known, notice=1, until=100.0)
    tickets = Tickets(b"secret")
    text = tickets.issue(ticket)
    assert tickets.check(text, 99.0) == ticket
    assert tickets.check(text, 100.0) is None
    assert Tickets(b"another").check(text, 99.0) is None
    content, _, signature = text.partition(".")
    other = bytes.fromhex(content).replace(b'"r"', b'"q"').hex()
    for forged in (f"{other}.{signature}", content, "", ".", "zz.zz", f"{content}.\ud800"):
        assert tickets.check(forged, 99.0) is None


async def test_R26_a_ticket_of_a_revoked_device_or_a_viewer_denies_nothing(tmp_path: Any) -> None:
    limits = Limits(hello_s=0.5, notice_delay_s=0.0, notice_viewed_delay_s=0.0)
    async with serving(tmp_path, limits, push_to_loopback=True) as served, PushService() as push:
        owner, phone = await served.client(), await served.client("approver")
        viewer = await served.client("viewer")
        browsers = {"phone": Browser(), "viewer": Browser()}
        for name, client in (("phone", phone), ("viewer", viewer)):
            wanted = browsers[name].subscription(push.endpoint(name))
            assert (await call(served, client, "/api/push", wanted))[0] == 200
        ask = {"ask": {"id": "ask", "tool": "Bash", "input": {"command": "ls"}}}
        session = await owner.new_session([ask, {"wait": 1}])
        await owner.pending(session)
        await until(lambda: len(push.received) == 2, 30.0)
        messages = []
        for _, body in push.received:
            for browser in browsers.values():
                try:
                    messages.append(browser.read(body))
                except Exception:  # noqa: BLE001 - it is for the other browser
                    continue
        tickets = [message["deny"] for message in messages if "deny" in message]
        assert len(messages) == 2
        assert len(tickets) == 1  # The viewer got none.
        device = next(
            each for each in await served.service.store.devices() if each.role == "approver"
        )
        await served.service.registry.revoke(device.id)
        status, _, _ = await served.http(
            "/api/push/deny", method="POST", body={"ticket": tickets[0]}, origin=served.base
        )
        assert status == 401
        status, _, _ = await served.http(
            "/api/push/deny", method="POST", body={"ticket": tickets[0]}, origin="https://evil.test"
        )
        assert status == 403
        live = served.service.registry.sessions.loaded(session)
        assert live is not None
        assert len(live.transcript.pending) == 1
