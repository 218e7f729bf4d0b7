"""Attacks on who a caller seems to be: forged headers, other users, many addresses, odd names."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.commands.opening import LaunchPage
from fairlead.errors import OptionError
from fairlead.host.options.options import Options
from fairlead.server.access.devices import DeviceRegistry
from fairlead.server.access.names import NAME_CHARACTERS, plain_name
from fairlead.server.access.requests.proxies import TrustedProxies
from fairlead.server.access.requests.public_url import PublicUrl
from fairlead.server.access.throttle import MOST_PEERS, Throttle, peer_key
from fairlead.server.limits import Limits
from fairlead.server.service import Address, open_service
from fairlead.store.sqlite import SqliteStore
from tests.server.conftest import Served
from tests.server.raw_requests import ask, status_of, upgrade
from tests.waiting import until

ROOT = Path(__file__).parents[3]
NOBODY = 65_534

# T-38: another user of this machine with forged headers

FORGED: tuple[dict[str, str], ...] = (
    {},
    {"X-Forwarded-For": "10.9.9.9"},
    {"X-Forwarded-For": "127.0.0.1"},
    {"X-Forwarded-For": "127.0.0.1, 127.0.0.1"},
    {"X-Forwarded-For": "unknown"},
    {"X-Forwarded-For": "10.9.9.9:1", "X-Forwarded-Proto": "http"},
    {"X-Real-IP": "10.9.9.9"},
    {"Forwarded": "for=10.9.9.9;proto=http"},
    {"X-Forwarded-For": "::1", "X-Forwarded-Port": "1", "X-Forwarded-Host": "evil.test"},
)

AS_ANOTHER_USER = """
import encodings.idna, json, os, sys, urllib.error, urllib.request
os.setgid(65534); os.setuid(65534)
base, code, headers = sys.argv[1:]
for more in json.loads(headers):
    body = json.dumps({"code": code}).encode()
    request = urllib.request.Request(base + "/api/pair", body, {"Origin": base, **more})
    try:
        print(urllib.request.urlopen(request, timeout=60).status)
    except urllib.error.HTTPError as refusal:
        print(refusal.code)
"""


def as_another_user(base: str, code: str, headers: object) -> list[str]:
    """What each request of another user is answered with."""
    command = [sys.executable, "-c", AS_ANOTHER_USER, base, code, json.dumps(headers)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("proxies", [(), ("127.0.0.1",)])
async def test_R5_no_header_makes_another_user_the_owner(
    tmp_path: Path, proxies: tuple[str, ...]
) -> None:
    if os.getuid() != 0:
        return  # Only root can become another user.
    async with open_service(
        data=tmp_path / "data",
        options=Options(agent=sys.executable),
        agent="none",
        address=Address(trusted_proxies=proxies),
    ) as service:
        running = asyncio.create_task(service.run())
        code = service.launch_link(user=os.getuid()).partition("#code=")[2]
        said = await asyncio.to_thread(as_another_user, service.base_url, code, FORGED)
        assert set(said) <= {"401", "421"}, said  # 421: the forged name of a trusted proxy
        assert len(said) == len(FORGED)
        assert await service.store.devices() == []
        paired = await service.devices.pair(code, "mine", "127.0.0.1", os.getuid)
        assert paired is not None  # and it was not used up by the other one
        service.stop()
        await asyncio.wait_for(running, 30)


async def test_R5_a_caller_whom_the_system_does_not_know_cannot_use_a_bound_code(
    served: Served,
) -> None:
    devices = served.service.devices
    code = devices.issue_code("owner", user=os.getuid())
    assert await devices.pair(code, "x", "10.0.0.1", lambda: None) is None
    assert await devices.pair(code, "x", "127.0.0.1", os.getuid) is not None


async def test_R5_the_address_of_a_joining_device_is_not_free_text(served: Served) -> None:
    code = served.service.devices.invite("viewer")
    status, _, _ = await served.http(
        "/api/pair", method="POST", body={"code": code, "name": "A phone"}, origin=served.base,
        x_forwarded_for="your own desk", x_real_ip="10.0.0.7", forwarded="for=10.0.0.8",
    )  # fmt: skip
    assert status == 202
    (joiner,) = await served.service.devices.joining.waiting()
    assert joiner.address == "127.0.0.1"


def test_R5_of_forwarded_addresses_the_rightmost_untrusted_one_counts() -> None:
    def told(peer: str, *lines: str) -> str | None:
        headers = [(b"x-forwarded-for", line.encode()) for line in lines]
        found = TrustedProxies(["127.0.0.1", "10.0.0.0/8", "fd00::/8"]).read(peer, headers)
        return found.address if found is not None else None

    assert told("127.0.0.1", "192.0.2.7") == "192.0.2.7"
    assert told("127.0.0.1", "6.6.6.6, 192.0.2.7, 10.1.1.1") == "192.0.2.7"
    assert told("127.0.0.1", "6.6.6.6", "192.0.2.7") == "192.0.2.7"
    assert told("::ffff:127.0.0.1", "[2001:db8::5]:443") == "2001:db8::5"
    assert told("fd00::1", "192.0.2.7:4711") == "192.0.2.7"
    assert told("192.0.2.1", "6.6.6.6") is None  # an untrusted peer
    assert told("127.0.0.1") is None  # it forwards for nobody
    assert told("127.0.0.1", "6.6.6.6, free text") == "127.0.0.1"
    with pytest.raises(OptionError, match="neither an IP address"):
        TrustedProxies(["proxy.example.org"])


async def test_R3_behind_a_proxy_host_and_origin_are_those_of_the_public_url(
    tmp_path: Path,
) -> None:
    async with open_service(
        data=tmp_path / "data",
        options=Options(agent=sys.executable),
        agent="none",
        address=Address(public_url="https://Lead.example.org", trusted_proxies=("127.0.0.1",)),
    ) as service:
        running = asyncio.create_task(service.run())
        assert service.launch_link().startswith("https://lead.example.org/#code=")

        async def socket(host: str, origin: str, *more: str) -> int:
            head = upgrade("/ws", f"Host: {host}", f"Origin: {origin}", *more)
            return status_of(await ask(service.port, head))

        assert await socket("lead.example.org", "https://lead.example.org") == 101
        assert await socket("lead.example.org", "http://lead.example.org") == 403
        assert await socket("lead.example.org", "https://lead.example.org:444") == 403
        assert await socket("lead.example.org:8443", "https://lead.example.org:8443") == 421
        assert await socket("evil.test", "https://lead.example.org") == 421
        said = ("X-Forwarded-For: 192.0.2.7", "X-Forwarded-Host: evil.test")
        assert await socket("lead.example.org", "https://lead.example.org", *said) == 421
        service.stop()
        await asyncio.wait_for(running, 30)
    for wrong in ("lead.example.org", "https://x/a b", "ftp://x", "https://", "https://u@x"):
        with pytest.raises(OptionError, match="public_url"):
            PublicUrl.parse(wrong)
    assert PublicUrl.parse("https://[2001:DB8::1]:8443").authority == "[2001:db8::1]:8443"


# T-39: the code in a process list


def test_R5_the_browser_gets_a_file_that_only_its_owner_can_read(tmp_path: Path) -> None:
    link = 'http://127.0.0.1:8787/#code=sec-ret&"<x>'
    page = LaunchPage(link, tmp_path)
    given: list[str] = []
    page.open(given.append)
    (address,) = given
    assert address == page.path.as_uri()
    assert "sec-ret" not in address
    assert page.path.stat().st_mode & 0o777 == 0o600
    assert page.path.parent.stat().st_mode & 0o777 == 0o700
    words = page.path.read_text()
    assert "code=sec-ret&amp;&quot;&lt;x&gt;" in words
    page.remove()
    assert list(tmp_path.iterdir()) == []
    page.remove()


BROWSER = """#!/bin/sh
printf '%s\\n' "$@" > {told}
"""


@pytest.mark.matrix(target="faults", cases=0)
async def test_R5_the_code_is_on_no_command_line_of_the_browser(tmp_path: Path) -> None:
    told, home = tmp_path / "told", tmp_path / "home"
    home.mkdir()
    browser = tmp_path / "browser"
    browser.write_text(BROWSER.format(told=told))
    browser.chmod(0o755)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "fairlead.commands.main", "serve", "--agent", "demo", "--port", "0",
        "--data", str(tmp_path / "data"), stdout=asyncio.subprocess.PIPE,
        env={
            "PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(ROOT / "src"),
            "BROWSER": f"{browser} %s", "TMPDIR": str(home),
        },
    )  # fmt: skip
    try:
        assert process.stdout is not None
        async with asyncio.timeout(60):
            await until(lambda: told.exists() and told.read_text().endswith("\n"), 60)
        (address,) = told.read_text().split()
        assert address.startswith("file://")
        assert "#" not in address
        page = Path(address.removeprefix("file://"))
        assert "#code=" in await asyncio.to_thread(page.read_text)
        if os.getuid() == 0:
            reader = f"import os; os.setuid({NOBODY}); open({str(page)!r})"
            denied = await asyncio.to_thread(
                subprocess.run, [sys.executable, "-c", reader], capture_output=True, check=False
            )
            assert b"PermissionError" in denied.stderr
    finally:
        process.terminate()
        async with asyncio.timeout(60):
            await process.communicate()
    assert not page.parent.exists()


# T-40: guessing from many addresses


@pytest.mark.matrix(target="faults", cases=0)
def test_R2_a_failure_costs_the_same_however_many_addresses_fail() -> None:
    def cost(addresses: int) -> float:
        throttle = Throttle(Limits())
        for n in range(addresses):
            throttle.failed(f"10.{n >> 16}.{(n >> 8) & 255}.{n & 255}", now=0.0)
        began = time.process_time()
        for n in range(2_000):
            throttle.failed(f"11.0.{n >> 8}.{n & 255}", now=1.0)
            throttle.too_many(f"11.0.{n >> 8}.{n & 255}", now=1.0)
        return time.process_time() - began

    few, many = min(cost(100) for _ in range(3)), min(cost(60_000) for _ in range(3))
    assert many < 5 * few


def test_R2_the_table_of_those_who_guess_has_an_end_and_all_together_are_slowed() -> None:
    throttle = Throttle(Limits(tries_per_minute=60))
    for n in range(20_000):
        throttle.failed(f"2001:db8:{n:x}::1", now=n / 1_000)
    assert len(throttle._peers) <= MOST_PEERS
    assert throttle.too_many("192.0.2.1", now=20.0)
    assert not throttle.too_many("192.0.2.1", now=200.0)


def test_R2_the_addresses_of_one_network_are_one_peer() -> None:
    throttle = Throttle(Limits(tries_per_minute=60))
    for n in range(60):
        throttle.failed(f"2001:db8::{n:x}", now=1.0)
    assert throttle.too_many("2001:db8::ffff:1", now=1.0)
    assert not throttle.too_many("2001:db8:0:1::1", now=1.0)
    assert peer_key("::ffff:192.0.2.1") == peer_key("192.0.2.1")
    assert peer_key("fe80::1%eth0") == peer_key("fe80::2%eth1")


# T-41: names that lie

SPOOFED = {
    "My phone\u202e": "My phone",
    "\u2066Desk\u2069 at 10.0.0.1": "Desk at 10.0.0.1",
    "Pho\u200bne": "Phone",
    "\uff30\uff48\uff4f\uff4e\uff45": "Phone",
    "\U0001d40f\U0001d421one": "Phone",
    "a\u0301\u0301\u0301\u0301\u0301b": "\u00e1\u0301\u0301b",
    "one\ntwo\tthree\u2028four": "one two three four",
    "\u3164\u115f\u2800": "unnamed device",
    "": "unnamed device",
    "x" * 500: "x" * NAME_CHARACTERS,
    "\ufdfa" * 50: plain_name("\ufdfa" * 50),
}


@pytest.mark.parametrize("given_name", SPOOFED)
def test_B41_nothing_hides_in_the_name_of_a_device(given_name: str) -> None:
    assert plain_name(given_name) == SPOOFED[given_name]


@given(st.text(max_size=200))
def test_B41_every_name_is_short_and_visible(text: str) -> None:
    name = plain_name(text)
    assert 0 < len(name) <= NAME_CHARACTERS
    assert plain_name(name) == name
    hidden = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert not hidden & {unicodedata.category(each) for each in name}


async def test_B41_an_owner_sees_a_spoofed_name_plain(served: Served) -> None:
    code = served.service.devices.invite("owner")
    name = "Phone\u202e\u2066 of 10.0.0.1\n asks to join as a viewer" + "\u0301" * 30
    await served.http(
        "/api/pair", method="POST", body={"code": code, "name": name}, origin=served.base
    )
    owner = {"authorization": f"Bearer {await served.token()}"}
    _, body, _ = await served.http("/api/joining", **owner)
    (row,) = json.loads(body)["joining"]
    assert row["name"] == "Phone of 10.0.0.1 asks to join as a view"


# T-42: a date that was set back


async def test_R5_setting_the_date_back_does_not_make_codes_live_longer(tmp_path: Path) -> None:
    date, ticks = [1_000_000.0], [0.0]
    async with SqliteStore(tmp_path / "data") as store:
        devices = DeviceRegistry(store, Limits(), clock=lambda: date[0], ticks=lambda: ticks[0])
        code, invitation = devices.issue_code(), devices.invite("viewer")
        waiting = await devices.pair(devices.invite("viewer"), "phone", "a")
        assert waiting is not None
        date[0] -= 3_600.0
        ticks[0] += 61.0
        assert await devices.pair(invitation, "x", "a") is None
        ticks[0] += 60.0
        assert await devices.joined(waiting.token, "a") is None
        ticks[0] += 500.0
        assert await devices.pair(code, "x", "a") is None
        date[0] += 30 * 86_400.0
        fresh = devices.issue_code()
        date[0] += 86_400.0
        assert await devices.pair(fresh, "x", "a") is not None
