"""The web app behind a proxy that terminates TLS."""

from __future__ import annotations

import pytest

from tests.e2e.browser.conftest import Emulated, Visit
from tests.e2e.browser.scripts import say, scene
from tests.server.tls_proxy import ADDRESS, TlsProxy

pytestmark = pytest.mark.service_worker


async def test_R18_the_app_pairs_works_and_reconnects_behind_a_tls_proxy(
    emulated: Emulated, visit: Visit
) -> None:
    async with TlsProxy() as proxy:
        house = await emulated(
            [scene("first", say("Over TLS.")), scene("second", say("Still over TLS."))],
            public_url=f"https://localhost:{proxy.port}",
            trusted_proxies=(ADDRESS,),
        )
        proxy.upstream = house.service.port
        desk = await visit(house)
        await desk.start("first")
        await desk.expect_words("Over TLS.")
        assert desk.page.url.startswith(f"https://localhost:{proxy.port}/")
        await desk.page.reload()
        await desk.expect_words("Over TLS.")
        await desk.say("second")
        await desk.expect_words("Still over TLS.")
        await desk.close()
