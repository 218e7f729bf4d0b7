"""What the app's own pages can never do, whatever content they show (R7, T-24)."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Browser, Page

from fairlead.server.http.static import WEB_FOLDER
from tests.e2e.browser.app_page import PATIENCE_MS, AppPage
from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.conftest import Visit
from tests.e2e.browser.hostile_server import open_hostile_server

pytestmark = pytest.mark.service_worker

INJECTED = r"""
() => new Promise((done) => {
  // On a timer, so that it is the page that does it and not whoever drives the browser.
  setTimeout(async () => {
    window.ran = [];
    const refused = [];
    document.addEventListener("securitypolicyviolation", (event) => refused.push(event.effectiveDirective));
    const element = (tag, set) => {
      const one = document.createElement(tag);
      try { set(one); document.body.append(one); } catch (error) { refused.push(error.name); }
    };
    const attempt = (act) => { try { act(); } catch (error) { refused.push(error.name); } };
    element("script", (one) => one.append("window.ran.push('inline')"));
    element("script", (one) => (one.textContent = "window.ran.push('text')"));
    element("script", (one) => (one.src = "data:text/javascript,window.ran.push('data')"));
    element("script", (one) => (one.src = URL.createObjectURL(new Blob(["window.ran.push('blob')"]))));
    element("script", (one) => (one.src = "http://evil.test/x.js"));
    element("img", (one) => { one.setAttribute("onerror", "window.ran.push('handler')"); one.src = "data:,"; });
    element("a", (one) => { one.href = "javascript:window.ran.push('address')"; setTimeout(() => one.click()); });
    element("div", (one) => (one.innerHTML = "<img src=data:, onerror=window.ran.push('html')>"));
    element("iframe", (one) => (one.srcdoc = "<script>parent.ran.push('frame')<\/script>"));
    element("base", (one) => (one.href = "http://evil.test/"));
    attempt(() => eval("window.ran.push('eval')"));
    attempt(() => new Function("window.ran.push('function')")());
    attempt(() => setTimeout("window.ran.push('timer')"));
    attempt(() => new Worker("data:text/javascript,1"));
    attempt(() => trustedTypes.createPolicy("mine", { createHTML: (text) => text }));
    await fetch("http://127.0.0.1:1/").catch(() => refused.push("fetch"));
    setTimeout(() => done({ ran: window.ran, refused: refused.length, base: document.baseURI }), 300);
  });
})
"""

WORKERS = r"""
(scripts) => new Promise((done) => {
  setTimeout(async () => {
    const taken = [];
    const blob = URL.createObjectURL(new Blob(["1"], { type: "text/javascript" }));
    for (const script of [...scripts, blob, "data:text/javascript,1", "/sw-of-mine.js"]) {
      for (const options of [{}, { scope: "/" }, { type: "module" }]) {
        try {
          const one = await navigator.serviceWorker.register(script, options);
          taken.push(script);
          await one.unregister();
        } catch { /* As it should be. */ }
      }
    }
    done(taken);
  });
})
"""


async def frame_of(page: Page, address: str) -> Any:
    """What a frame on a page shows of an address."""
    await page.evaluate(
        "(address) => new Promise((done) => { const one = document.createElement('iframe');"
        "one.onload = done; one.src = address; document.body.append(one); })",
        address,
    )
    (frame,) = page.frames[1:]
    await frame.wait_for_url(lambda url: url != "", timeout=PATIENCE_MS)
    return frame.url


async def forget_refusals(app: AppPage) -> int:
    """The console's lines about the policy, which a test brought about itself."""
    count = len(app.errors)
    app.errors.clear()
    app.strangers.clear()
    return count


async def test_no_injected_script_runs_and_no_text_becomes_code(
    fake_cli_server: AppServer, visit: Visit
) -> None:
    app = await visit(fake_cli_server)
    found = await app.page.evaluate(INJECTED)
    assert found["ran"] == []
    assert found["refused"] >= 14
    assert found["base"] == f"{fake_cli_server.base}/"
    assert await forget_refusals(app) > 0


async def test_no_page_can_put_us_into_a_frame(
    fake_cli_server: AppServer, hostile: Browser
) -> None:
    async with open_hostile_server() as hostile_server:
        page = await hostile.new_page()
        for host in ("evil.test", "127.0.0.1"):
            for path in ("/", "/inbox", "/nowhere"):
                await page.goto(hostile_server.address(host))
                assert (
                    await frame_of(page, fake_cli_server.base + path)
                    == "chrome-error://chromewebdata/"
                )
        await page.goto(hostile_server.address())
        assert (await frame_of(page, hostile_server.address("b.evil.test") + "/")).endswith(
            f":{hostile_server.port}/"
        )
        await page.close()


async def test_a_window_that_opened_us_cannot_reach_in(
    fake_cli_server: AppServer, hostile: Browser
) -> None:
    async with open_hostile_server() as hostile_server:
        context = await hostile.new_context()
        page = await context.new_page()
        await page.goto(hostile_server.address("127.0.0.1"))
        async with context.expect_page() as opened:
            await page.evaluate(
                "(address) => { window.prey = open(address, 'prey') }", fake_cli_server.base
            )
        prey = await opened.value
        await prey.wait_for_load_state()
        assert await prey.evaluate("window.opener") is None
        assert await page.evaluate("[window.prey.closed, window.prey.length]") == [True, 0]
        await context.close()


async def test_nothing_but_our_own_script_becomes_a_service_worker(
    fake_cli_server: AppServer, visit: Visit
) -> None:
    app = await visit(fake_cli_server)
    token = (await fake_cli_server.service.devices.make_device("a program", "owner")).token
    uploaded = await app.page.evaluate(
        """async (token) => {
          const authorization = `Bearer ${token}`;
          const body = "self.onfetch = () => {}";
          const answer = await fetch("/api/uploads?name=sw.js", { method: "POST", headers: { authorization }, body });
          return [answer.status, await answer.text()];
        }""",
        token,
    )
    assert uploaded[0] == 200, uploaded
    upload = uploaded[1].split('"')[3]
    scripts = [f"/api/uploads/{upload}", f"/uploads/{upload}", "/api/files?path=/sw.js"]
    scripts += [await app.page.locator("script[src]").first.get_attribute("src") or ""]
    # Whatever address is named, a browser that asks for a worker gets ours or nothing.
    for script in {*await app.page.evaluate(WORKERS, scripts)}:
        assert script.startswith("/"), script
        assert not script.startswith("/api/"), script
        asked = {"Service-Worker": "script"}
        given = await app.context.request.get(fake_cli_server.base + script, headers=asked)
        assert await given.body() == (WEB_FOLDER / "sw.js").read_bytes()
    left = await app.page.evaluate(
        "navigator.serviceWorker.getRegistrations().then((all) => all.map((one) =>"
        " new URL((one.active ?? one.waiting ?? one.installing).scriptURL).pathname))"
    )
    assert set(left) <= {"/sw.js", "/service-worker.js"}
    await forget_refusals(app)
