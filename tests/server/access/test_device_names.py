"""Devices and their names."""

from __future__ import annotations

import json

from tests.server.conftest import Served


async def rename(served: Served, token: str, device: str, name: str) -> tuple[int, bytes]:
    status, body, _ = await served.http(
        f"/api/devices/{device}/name",
        method="POST",
        body={"name": name},
        authorization=f"Bearer {token}",
    )
    return status, body


async def test_B34_all_clients_see_the_new_name_of_a_device_immediately(served: Served) -> None:
    owner = await served.client()
    device = (await owner.hear("welcome"))["device"]
    await owner.hear("snapshot", document="lobby")
    status, body = await rename(served, owner.token, device, "  the   bridge ")
    assert (status, json.loads(body)) == (200, {"name": "the bridge"})
    names: list[str] = []
    while "the bridge" not in names:
        message = await owner.hear("changes", document="lobby")
        names += [
            change["fields"]["name"]
            for change in message["changes"]
            if change["to"] == "devices" and "name" in change.get("fields", {})
        ]
    again = await served.client()
    rows = (await again.hear("snapshot", document="lobby"))["state"]["devices"]
    assert [row["name"] for row in rows if row["id"] == device] == ["the bridge"]
    await owner.socket.close()
    while True:  # Going away must not bring the old name back.
        message = await again.hear("changes", document="lobby")
        fields = [
            c["fields"] for c in message["changes"] if c.get("id") == device and c["op"] == "set"
        ]
        if any("connected" in each for each in fields):
            assert not any("name" in each for each in fields)
            break
    stored = {device.id: device.name for device in await served.service.store.devices()}
    assert stored[device] == "the bridge"


async def test_a_device_is_listed_as_soon_as_it_is_paired(served: Served) -> None:
    owner = await served.client()
    await owner.hear("snapshot", document="lobby")
    asked = {"code": served.service.devices.issue_code("viewer"), "name": "phone"}
    await served.http("/api/pair", method="POST", body=asked, origin=served.base)
    rows: list[dict[str, object]] = []
    while not rows:
        message = await owner.hear("changes", document="lobby")
        rows = [c["row"] for c in message["changes"] if c["op"] == "add" and c["to"] == "devices"]
    assert [(row["name"], row["connected"]) for row in rows] == [("phone", False)]


async def test_B34_only_an_owner_names_devices_and_only_ones_that_are_there(served: Served) -> None:
    owner = await served.token()
    paired = await served.service.devices.make_device("phone", "operator")
    assert (await rename(served, paired.token, paired.device, "mine"))[0] == 403
    assert (await rename(served, owner, "nobody", "x"))[0] == 404
    assert (await rename(served, owner, paired.device, "   "))[0] == 400
    await served.service.devices.revoke(paired.device)
    assert (await rename(served, owner, paired.device, "gone"))[0] == 404
