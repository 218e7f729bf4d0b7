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
        server = await emulated(
            [scene("first", say("Over TLS.")), scene("second", say("Still over TLS."))],
            public_url=f"https://localhost:{proxy.port}",
            trusted_proxies=(ADDRESS,),
        )
        proxy.upstream = server.service.port
        app = await visit(server)
        await app.start("first")
        await app.expect_words("Over TLS.")
        assert app.page.url.startswith(f"https://localhost:{proxy.port}/")
        await app.page.reload()
        await app.expect_words("Over TLS.")
        await app.say("second")
        await app.expect_words("Still over TLS.")
        await app.close()
