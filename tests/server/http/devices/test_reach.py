"""Where another device finds the server."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from pathlib import Path

from fairlead.host.options.options import Options
from fairlead.server.http.devices.reach import reach_of
from fairlead.server.service import Address, open_service
from tests.server.conftest import Served


def test_a_server_on_this_machine_only_cannot_be_reached_whatever_it_is_called() -> None:
    for host in ("127.0.0.1", "::1", "localhost"):
        reach = reach_of(host, 8787, ("ship.example",), secure=False)
        assert (reach.listens, reach.addresses) == ("loopback", ())


def test_names_come_before_the_address() -> None:
    reach = reach_of("192.168.1.7", 8787, ("ship.example",), secure=True)
    assert reach.addresses == ("https://ship.example:8787", "https://192.168.1.7:8787")
    assert reach.listens == "named"


def test_listening_everywhere_without_a_name_gives_no_address() -> None:
    assert reach_of("0.0.0.0", 8787, (), secure=False).listens == "unnamed"
    reach = reach_of("::", 8787, ("fd00::7",), secure=False)
    assert (reach.listens, reach.addresses) == ("named", ("http://[fd00::7]:8787",))


async def test_the_server_says_how_it_can_be_reached(served: Served) -> None:
    bearer = {"authorization": f"Bearer {await served.token('viewer')}"}
    status, body, _ = await served.http("/api/reach", **bearer)
    assert (status, json.loads(body)["listens"]) == (200, "loopback")


async def test_the_link_of_a_server_that_listens_everywhere_works(tmp_path: Path) -> None:
    address = Address(host="0.0.0.0", plain_http=True)
    async with open_service(
        data=tmp_path / "data", options=Options(agent="none"), agent="none", address=address
    ) as service:
        running = asyncio.create_task(service.run())

        def status() -> int:
            try:
                urllib.request.urlopen(service.base_url + "/api/health", timeout=60)
            except urllib.error.HTTPError as refusal:
                return refusal.code
            return 200

        assert service.base_url == f"http://127.0.0.1:{service.port}"
        assert await asyncio.to_thread(status) == 401  # It asks for a token, not for another name.
        service.stop()
        await asyncio.wait_for(running, 30)
