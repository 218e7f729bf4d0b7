"""Push notifications in Chromium: the service worker's `push` event, its buttons, and the settings."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import playwright.async_api
import pytest
import pytest_asyncio
from playwright.async_api import CDPSession, expect

from fairlead.server.limits import Limits
from fairlead.server.notices.targets import PushTarget, push_id
from tests.e2e.browser.app_page import AppPage
from tests.e2e.browser.app_server import AppServer
from tests.e2e.browser.chromium import find
from tests.e2e.browser.conftest import Emulated, Visit, launched
from tests.server.notices.push_service import Browser, PushService
from tests.waiting import until

pytestmark = pytest.mark.service_worker


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def chromium() -> AsyncIterator[playwright.async_api.Browser]:
    """A browser with notifications."""
    async with launched(find(whole=True)) as browser:
        yield browser


@pytest.fixture(scope="session")
def contexts() -> None:
    """Every page has a context of its own."""


PATIENCE_S = 60.0
AT_ONCE = Limits(notice_delay_s=0.0, notice_viewed_delay_s=0.0)

ASKS = """
scenes:
  - when: /remove/
    steps:
      - use: Bash
        input: {command: "rm -rf build"}
      - say: Done.
"""

CLICK_DENY = """async () => {
  const [notification] = await self.registration.getNotifications();
  // A script's event cannot be waited for, which the browser reports after the handler has begun.
  self.dispatchEvent(new NotificationEvent("notificationclick", { notification, action: "deny" }));
}"""

SUBSCRIBED = """
(({endpoint, p256dh, auth}) => {
  const made = { endpoint, toJSON: () => ({ endpoint, keys: { p256dh, auth } }), unsubscribe: async () => { PushManager.made = null; return true; } };
  PushManager.prototype.subscribe = async () => (PushManager.made = made);
  PushManager.prototype.getSubscription = async () => PushManager.made ?? null;
})
"""
"""Chromium has no push service in tests, so the browser's own part is replaced; the app's part is
not."""

SHOWN = """async () => (await self.registration.getNotifications()).map((one) => ({
  title: one.title, body: one.body, tag: one.tag, actions: one.actions.map((each) => each.title), data: one.data,
}))"""


WINDOWS = "async () => (await self.clients.matchAll({ type: 'window' })).length"


class PushedTo:
    """The service worker of a browser whose user has left the page."""

    def __init__(self, app: AppPage, session: CDPSession) -> None:
        self.page = app.page
        self._base = app.server.base
        self._context = app.context
        self._session = session
        self._registrations: list[dict[str, Any]] = []
        session.on("ServiceWorker.workerRegistrationUpdated", self._updated)

    @classmethod
    async def by(cls, app: AppPage) -> PushedTo:
        """Allow notifications; call `leave` before something is pushed."""
        await app.context.grant_permissions(["notifications"], origin=app.server.base)
        await app.page.evaluate("navigator.serviceWorker.ready.then(() => null)")
        worker = cls(app, await app.context.new_cdp_session(app.page))
        await worker._session.send("ServiceWorker.enable")
        await until(lambda: bool(worker._registrations), PATIENCE_S)
        return worker

    def _updated(self, event: dict[str, Any]) -> None:
        own = [one for one in event["registrations"] if one["scopeURL"].startswith(self._base)]
        self._registrations += own

    async def leave(self) -> None:
        """Close the app: a page that has the focus shows what happens itself."""
        await self.page.goto("about:blank")
        for _ in range(600):
            if not await self.evaluate(WINDOWS):
                return
            await self.page.wait_for_timeout(50)
        raise AssertionError("the worker still sees the page")

    async def evaluate(self, script: str) -> Any:
        """Run a script in the service worker."""
        await until(lambda: bool(self._context.service_workers), PATIENCE_S)
        return await self._context.service_workers[0].evaluate(script)

    async def push(self, message: dict[str, Any] | str) -> None:
        """Deliver a push message."""
        text = message if isinstance(message, str) else json.dumps(message)
        known = self._registrations[-1]["registrationId"]
        await self._session.send(
            "ServiceWorker.deliverPushMessage",
            {"origin": self._base, "registrationId": known, "data": text},
        )

    async def shown(self) -> list[dict[str, Any]]:
        """The notifications that are shown."""
        shown: list[dict[str, Any]] = await self.evaluate(SHOWN)
        return shown

    async def until_shown(self, body: str) -> dict[str, Any]:
        """Wait for a notification with this text."""
        for _ in range(600):
            found = [one for one in await self.shown() if body in one["body"]]
            if found:
                return found[0]
            await self.page.wait_for_timeout(50)
        raise AssertionError(f"no notification with {body!r}: {await self.shown()}")


def message(number: int, session: str = "a-session", **fields: Any) -> dict[str, Any]:
    known = {"id": number, "session": session, "kind": "approval", "title": "Fix the test"}
    return {**known, "body": f"Message {number}.", "at": 0, **fields}


async def test_U117_one_notification_for_each_session_replaces_the_last(
    demo: AppServer, visit: Visit
) -> None:
    app = await visit(demo)
    worker = await PushedTo.by(app)
    await worker.leave()
    await worker.push(message(1, deny="ticket"))
    first = await worker.until_shown("Message 1.")
    assert (first["title"], first["actions"]) == ("Fix the test", ["Deny", "Review"])
    await worker.push(message(2, kind="finished"))
    assert (await worker.until_shown("Message 2."))["actions"] == []
    await worker.push(message(3, "another"))
    await worker.until_shown("Message 3.")
    assert sorted(one["tag"] for one in await worker.shown()) == [
        "session:a-session",
        "session:another",
    ]


async def test_U118_a_message_that_comes_twice_or_late_is_shown_once(
    demo: AppServer, visit: Visit
) -> None:
    app = await visit(demo)
    worker = await PushedTo.by(app)
    await worker.leave()
    await worker.push(message(5))
    await worker.until_shown("Message 5.")
    for number in (5, 4):
        await worker.push(message(number, body="Not shown."))
    await worker.push("no JSON at all")
    await worker.until_shown("Open Fairlead to see what happened.")
    assert [one["body"] for one in await worker.shown() if one["tag"]] == ["Message 5."]


async def test_U119_push_is_turned_on_changed_tested_and_turned_off_in_the_settings(
    demo: AppServer, visit: Visit
) -> None:
    app = await visit(demo)
    page, browser = app.page, Browser()
    await app.context.grant_permissions(["notifications"], origin=demo.base)
    async with PushService() as push:
        keys = browser.subscription(push.endpoint())
        await page.add_init_script(f"{SUBSCRIBED}({json.dumps(keys)})")
        await page.goto(f"{demo.base}/settings")
        switch = page.get_by_role("switch", name="Push notifications")
        await expect(switch).to_have_attribute("aria-checked", "false")
        await switch.click()
        await expect(switch).to_have_attribute("aria-checked", "true")
        plans = page.get_by_role("checkbox", name="Plans")
        await expect(plans).to_be_checked()
        await plans.uncheck()
        await expect(plans).not_to_be_checked()
        await page.get_by_role("switch", name="Quiet hours").click()
        await expect(page.get_by_label("Quiet hours begin")).to_have_value("22:00")
        await page.get_by_label("Quiet hours end").fill("06:30")
        await page.get_by_label("Quiet hours end").press("Tab")
        await page.get_by_role("button", name="Send a test").click()
        await expect(page.get_by_text("Sent. It should appear within seconds.")).to_be_visible()
        await until(lambda: len(push.received) == 1, PATIENCE_S)
        assert browser.read(push.received[0][1])["kind"] == "test"
        await page.reload()
        await expect(page.get_by_role("checkbox", name="Plans")).not_to_be_checked()
        await expect(page.get_by_label("Quiet hours end")).to_have_value("06:30")
        push.answer = lambda: "500 Broken"
        await page.get_by_role("button", name="Send a test").click()
        await expect(page.get_by_role("alert")).to_contain_text("answered with status 500")
        app.errors.clear()  # Chromium reports the status 503.
        await page.get_by_role("switch", name="Push notifications").click()
        await expect(page.get_by_role("checkbox", name="Plans")).to_have_count(0)


async def test_U120_deny_in_the_notification_denies_and_review_opens_the_whole_request(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated(ASKS, limits=AT_ONCE)
    app = await visit(server)
    worker = await PushedTo.by(app)
    browser = Browser()
    async with PushService() as push:
        (device,) = [each for each in await server.service.store.devices() if each.revoked is None]
        keys = browser.subscription(push.endpoint())
        target = PushTarget(device=device.id, **keys)
        await server.service.notices.targets.put(push_id(device.id), target)
        await app.start("remove it")
        await expect(app.decision).to_be_visible()
        await until(lambda: len(push.received) == 1, PATIENCE_S)
        session = app.session
        await worker.leave()
        await worker.push(browser.read(push.received[0][1]))
        shown = await worker.until_shown("Needs your approval.")
        assert shown["data"]["path"] == f"/s/{session}"
        live = server.service.registry.sessions.loaded(session)
        assert live is not None
        await worker.evaluate(CLICK_DENY)
        await until(lambda: not live.transcript.pending, PATIENCE_S)
        assert [row.outcome for row in live.transcript.settled] == ["answered"]
        assert "denied" in [getattr(item, "state", "") for item in live.transcript.items]
