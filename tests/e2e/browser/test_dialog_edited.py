"""What was edited is allowed as carefully as what was asked: after a moment, and read to its end."""

from __future__ import annotations

from playwright.async_api import Locator, expect

from tests.e2e.browser.conftest import Perform
from tests.e2e.browser.desk import Desk

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


def allow(desk: Desk) -> Locator:
    return desk.decision.get_by_role("button", name="Allow modified", exact=True)


async def test_an_edit_cannot_be_allowed_before_it_has_stood_there_for_a_moment(
    perform: Perform,
) -> None:
    desk, puppet = await perform()
    await puppet.ask("a", {"command": "make deploy"})
    await expect(desk.decision).to_be_visible()
    await desk.page.evaluate(WATCH)
    await desk.decide("Modify…")
    await desk.decision.get_by_role("textbox", name="command").fill("make test")
    # Too early to count, or late enough to be said.
    await desk.page.keyboard.press("Control+Enter")
    await desk.page.wait_for_function("() => window.moments.armed > 0")
    moments = await desk.page.evaluate("window.moments")
    assert moments["armed"] - moments["came"] >= 480, moments
    await allow(desk).click()
    assert (await puppet.answer("a"))["updatedInput"] == {"command": "make test"}
    assert len(puppet.answers) == 1


async def test_a_long_edit_is_allowed_only_when_its_end_was_shown(perform: Perform) -> None:
    command = "\n".join(f"echo {number}" for number in range(200)) + "\nrm -rf build"
    desk, puppet = await perform()
    await puppet.ask("a", {"command": command})
    await expect(desk.decision).to_be_visible()
    await desk.decide("Modify…")
    await expect(desk.decision.get_by_role("textbox", name="command")).to_be_focused()
    await desk.page.keyboard.type("set -e; ")
    now = await desk.page.evaluate("performance.now()")
    await desk.page.wait_for_function("(until) => performance.now() > until", arg=now + 1_000)
    await expect(allow(desk)).to_be_disabled()
    await desk.page.keyboard.press("Control+Enter")
    assert puppet.answers == []
    await desk.decision.get_by_role("button", name="Jump to end").click()
    await expect(allow(desk)).to_be_enabled()
    await allow(desk).click()
    assert (await puppet.answer("a"))["updatedInput"] == {"command": f"set -e; {command}"}
