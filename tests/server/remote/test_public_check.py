"""`fairlead doctor --public-url` behind a real nginx: a good configuration, and some with a mistake."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from fairlead.commands.serving.public_check import Way, check_public_url
from fairlead.server.access.device_keys import DeviceKeys
from fairlead.server.access.probe import PROBE_PATH, ask
from tests.server.conftest import Served
from tests.server.remote.proxied_server import ProxiedServer, proxied_server
from tests.server.tls_proxy import trusting

HOST = "proxy_set_header Host              $http_host;"
FORWARDED_HOST = "proxy_set_header X-Forwarded-Host  $http_host;"
FORWARDED_FOR = "proxy_set_header X-Forwarded-For   $remote_addr;"
UPGRADE = "proxy_set_header Upgrade           $http_upgrade;"


async def findings(server: ProxiedServer, data: Path | None = None) -> list[tuple[bool, str]]:
    folder = data or server.served.service.store.folder
    way = Way(tls=trusting(), connect_to="127.0.0.1")
    return await check_public_url(server.proxy.public_url, folder, way)


@pytest.mark.parametrize("path", ["/fairlead", ""], ids=["path", "root"])
async def test_B130_the_recipe_has_no_problem(tmp_path: Path, path: str) -> None:
    async with proxied_server("nginx", path, tmp_path) as server:
        found = await findings(server)
        assert [good for good, _ in found] == [True, True, True], found
        assert "reaches this server" in found[0][1]
        assert "X-Forwarded-For of 127.0.0.1 is trusted" in found[2][1]


@pytest.mark.parametrize(
    ("without", "number", "words"),
    [
        ((HOST, FORWARDED_HOST), 0, "`proxy_set_header Host $http_host;`"),
        ((UPGRADE,), 1, "`proxy_set_header Upgrade $http_upgrade;`"),
        ((FORWARDED_FOR,), 2, "`proxy_set_header X-Forwarded-For $remote_addr;`"),
    ],
    ids=["host", "upgrade", "forged"],
)
async def test_B130_a_mistake_is_named_with_its_remedy(
    tmp_path: Path, without: tuple[str, ...], number: int, words: str
) -> None:
    async with proxied_server("nginx", "/fairlead", tmp_path, without=without) as server:
        found = await findings(server)
        assert [good for good, _ in found] == [
            each != number for each in range(1 if number == 0 else 3)
        ]
        assert words in found[number][1]


async def test_B130_a_proxy_that_is_not_trusted_is_named(tmp_path: Path) -> None:
    async with proxied_server("nginx", "", tmp_path, trusted=()) as server:
        good, text = (await findings(server))[2]
        assert not good
        assert text.endswith("Start the server with --trusted-proxy 127.0.0.1.")


async def test_B130_another_server_and_no_server_are_recognized(tmp_path: Path) -> None:
    async with proxied_server("nginx", "", tmp_path) as server:
        other = tmp_path / "other"
        other.mkdir()
        ((good, text),) = await findings(server, other)
        assert "Start it once" in text
        DeviceKeys.stored_in(other / "device-secret")
        ((good, text),) = await findings(server, other)
        assert not good
        assert "leads to another Fairlead server" in text
        ((good, text),) = await check_public_url(
            server.proxy.public_url,
            server.served.service.store.folder,
            Way(connect_to="127.0.0.1"),  # Without the test's own certificate authority.
        )
        assert "has no valid certificate" in text
        await server.proxy.stop()
        ((good, text),) = await findings(server)
        assert "cannot be reached from here" in text


async def test_B130_only_a_reader_of_the_data_folder_gets_an_answer(served: Served) -> None:
    own = DeviceKeys.stored_in(served.service.store.folder / "device-secret")
    now, origin = time.time(), served.base
    for keys, at, status in ((own, now, 200), (own, now - 120, 401), (DeviceKeys(), now, 401)):
        probe = ask(keys, "n" * 16, at)
        body = {"nonce": probe.nonce, "until": probe.until, "mac": probe.mac}
        answer = await served.http(PROBE_PATH, method="POST", body=body, origin=origin)
        assert answer[0] == status
