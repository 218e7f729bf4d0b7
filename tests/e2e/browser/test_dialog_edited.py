"""What was edited is allowed as carefully as what was asked: after a moment, and read to its end."""

from __future__ import annotations

import pytest
from playwright.async_api import Locator, expect

from tests.e2e.browser.app_page import AppPage
from tests.e2e.browser.conftest import BeginTurn

WATCH = """
// When the form came, and when its button could first be pressed.
window.moments = { came: 0, armed: 0 };
new MutationObserver(() => {
  const form = document.querySelector('[aria-label="Modify before it runs"]');
  if (form && !window.moments.came) window.moments.came = performance.now();
  const allow = [...document.querySelectorAll("main dialog[open] button")].find((one) => one.innerText.startsWith("Allow modified"));
  if (allow && !allow.disabled && !window.moments.armed) window.moments.armed = performance.now();
}).observe(document.body, { subtree: true, childList: true, attributes: true });
"""


def allow(app: AppPage) -> Locator:
    return app.decision.get_by_role("button", name="Allow modified", exact=True)


async def test_an_edit_cannot_be_allowed_before_it_has_stood_there_for_a_moment(
    begin_turn: BeginTurn,
) -> None:
    app, cli = await begin_turn()
    await cli.ask("a", {"command": "make deploy"})
    await expect(app.decision).to_be_visible()
    await app.page.evaluate(WATCH)
    await app.decide("Modify…")
    await app.decision.get_by_role("textbox", name="command").fill("make test")
    # Too early to count, or late enough to be said.
    await app.page.keyboard.press("Control+Enter")
    await app.page.wait_for_function("() => window.moments.armed > 0")
    moments = await app.page.evaluate("window.moments")
    assert moments["armed"] - moments["came"] >= 480, moments
    await allow(app).click()
    assert (await cli.answer("a"))["updatedInput"] == {"command": "make test"}
    assert len(cli.answers) == 1


@pytest.mark.matrix(target="browser", cases=0)
async def test_a_long_edit_is_allowed_only_when_its_end_was_shown(begin_turn: BeginTurn) -> None:
    command = "\n".join(f"echo {number}" for number in range(200)) + "\nrm -rf build"
    app, cli = await begin_turn()
    await cli.ask("a", {"command": command})
    await expect(app.decision).to_be_visible()
    await app.decide("Modify…")
    await expect(app.decision.get_by_role("textbox", name="command")).to_be_focused()
    await app.page.keyboard.type("set -e; ")
    now = await app.page.evaluate("performance.now()")
    await app.page.wait_for_function("(until) => performance.now() > until", arg=now + 1_000)
    await expect(allow(app)).to_be_disabled()
    await app.page.keyboard.press("Control+Enter")
    assert cli.answers == []
    await app.decision.get_by_role("button", name="Jump to end").click()
    await expect(allow(app)).to_be_enabled()
    await allow(app).click()
    assert (await cli.answer("a"))["updatedInput"] == {"command": f"set -e; {command}"}
