"""A device that pairs with another device's code stays pending until an owner approves it
(T-34)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from fairlead.server.access.devices import DeviceRegistry, Paired, PendingPairing
from fairlead.server.limits import Limits
from fairlead.server.refusal import Refusal
from fairlead.store.sqlite import SqliteStore
from tests.server.conftest import Served


async def post(served: Served, path: str, body: Any, **headers: str) -> tuple[int, dict[str, Any]]:
    status, answer, _ = await served.http(
        path, method="POST", body=body, origin=served.base, **headers
    )
    return status, json.loads(answer)


async def at_the_door(
    served: Served, role: str = "approver"
) -> tuple[dict[str, str], dict[str, Any]]:
    """An owner, and the server's response to a phone with the owner's code."""
    owner = {"authorization": f"Bearer {await served.token()}"}
    _, made = await post(served, "/api/codes", {"role": role}, **owner)
    status, pairing = await post(served, "/api/pair", {"code": made["code"], "name": "A phone"})
    assert status == 202
    return owner, pairing


async def waiting(served: Served, owner: dict[str, str]) -> list[dict[str, Any]]:
    status, body, _ = await served.http("/api/joining", **owner)
    assert status == 200
    rows: list[dict[str, Any]] = json.loads(body)["joining"]
    return rows


async def test_B41_an_owner_sees_who_asks_to_join_and_lets_it_in(served: Served) -> None:
    owner, pairing = await at_the_door(served)
    (row,) = await waiting(served, owner)
    assert (row["name"], row["role"], row["address"]) == ("A phone", "approver", "127.0.0.1")
    assert row["number"] == pairing["number"]
    assert pairing["token"] not in json.dumps(row)
    assert (await post(served, "/api/pair", {"token": pairing["token"]}))[0] == 202
    assert (await post(served, f"/api/joining/{row['id']}", {"allow": True}, **owner))[0] == 200
    status, paired = await post(served, "/api/pair", {"token": pairing["token"]})
    assert (status, paired["role"], paired["device"]) == (200, "approver", row["id"])
    here = {"authorization": f"Bearer {pairing['token']}"}
    assert (await served.http("/api/sessions", **here))[0] == 200
    rows = served.service.registry.lobby.section("devices")
    assert row["id"] in json.dumps([each.id for each in rows])
    assert await waiting(served, owner) == []


async def test_B41_a_pending_devices_token_gives_no_access(served: Served) -> None:
    owner, pairing = await at_the_door(served, "owner")
    here = {"authorization": f"Bearer {pairing['token']}"}
    assert (await served.http("/api/sessions", **here))[0] == 401
    (row,) = await waiting(served, owner)
    assert (await post(served, f"/api/joining/{row['id']}", {"allow": True}, **here))[0] == 401
    for role in ("viewer", "approver", "operator"):
        lesser = {"authorization": f"Bearer {await served.token(role)}"}
        status, _ = await post(served, f"/api/joining/{row['id']}", {"allow": True}, **lesser)
        assert status == 403
        assert (await served.http("/api/joining", **lesser))[0] == 403
    assert len(await waiting(served, owner)) == 1


async def test_B41_who_is_turned_away_stays_outside(served: Served) -> None:
    owner, pairing = await at_the_door(served)
    (row,) = await waiting(served, owner)
    assert (await post(served, f"/api/joining/{row['id']}", {"allow": False}, **owner))[0] == 200
    status, said = await post(served, "/api/pair", {"token": pairing["token"]})
    assert (status, said["message"]) == (401, "This device was not confirmed. Pair it again.")
    again = await post(served, f"/api/joining/{row['id']}", {"allow": True}, **owner)
    assert again[0] == 404
    here = {"authorization": f"Bearer {pairing['token']}"}
    assert (await served.http("/api/sessions", **here))[0] == 401


async def test_B41_of_two_owners_one_lets_it_in(served: Served) -> None:
    owner, pairing = await at_the_door(served)
    (row,) = await waiting(served, owner)
    answers = await asyncio.gather(
        *(post(served, f"/api/joining/{row['id']}", {"allow": True}, **owner) for _ in range(5))
    )
    assert sorted(status for status, _ in answers) == [200, 404, 404, 404, 404]
    assert (await post(served, "/api/pair", {"token": pairing["token"]}))[0] == 200


async def test_B41_pending_devices_expire_and_their_number_is_limited(tmp_path: Path) -> None:
    now = [1_000.0]
    async with SqliteStore(tmp_path / "data") as store:
        clock = lambda: now[0]  # noqa: E731
        devices = DeviceRegistry(store, Limits(joiners=2), clock=clock, ticks=clock)
        first, second, third = [
            await _outcome(devices, devices.invite("viewer"), f"phone {n}") for n in range(3)
        ]
        assert isinstance(first, PendingPairing)
        assert isinstance(second, PendingPairing)
        assert third == "too_many"
        now[0] += 119.0
        still = await devices.joined(first.token, "a")
        assert isinstance(still, PendingPairing)
        assert still.seconds == 1.0
        (joiner, _) = await devices.joining.waiting()
        assert await devices.confirm(joiner.device.id, "desk", allow=True)
        assert isinstance(await devices.joined(first.token, "a"), Paired)
        now[0] += 1.0
        assert await devices.joined(second.token, "a") is None
        assert await devices.joining.waiting() == ()
        written = [(each.action, each.device, each.details["name"]) for each in await store.audit()]
        assert written == [
            ("join_expired", None, "phone 1"),
            ("join_allowed", "desk", "phone 0"),
            ("join_asked", None, "phone 1"),
            ("join_asked", None, "phone 0"),
        ]
        assert first.token not in repr(await store.audit())


async def _outcome(devices: DeviceRegistry, code: str, name: str) -> object:
    try:
        return await devices.pair(code, name, "a")
    except Refusal as refusal:
        return refusal.code


async def test_B41_a_code_of_the_terminal_needs_no_second_word(served: Served) -> None:
    code = served.service.launch_link("approver").partition("#code=")[2]
    status, paired = await post(served, "/api/pair", {"code": code, "name": "At the terminal"})
    assert (status, paired["role"]) == (200, "approver")
