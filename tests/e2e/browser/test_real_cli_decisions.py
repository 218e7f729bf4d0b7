"""Decisions on the real CLI: what "Always deny" covers, and which keys approve a plan."""

from __future__ import annotations

import re

from playwright.async_api import expect

from fairlead.model_api.replies import reply, use
from tests.e2e.browser.conftest import Visit
from tests.e2e.browser.real_house import Real, real, write_the_plan

__all__ = ["real"]


async def test_U60_always_deny_holds_on_the_real_cli_at_once(real: Real, visit: Visit) -> None:
    there = await real()
    command = there.program()
    there.model.push(
        use("Bash", command=f"{command} one"), use("Bash", command=f"{command} one"), reply("Done.")
    )
    desk = await visit(there.house)
    await desk.start("run it twice")
    await expect(desk.decision).to_contain_text("./tool.sh one")
    await desk.decide("Always deny…")
    await desk.decision.get_by_role("button", name=re.compile("^Deny .*tool.sh")).first.click()
    await expect(desk.held).to_contain_text("Always denied")
    await desk.end_undo()
    await desk.expect_words("Done.")  # The second call was denied without a question.
    await desk.expect_rest()
    assert not (there.project / "ran.txt").exists()
    results = [there.model.requests[at].tool_results[-1] for at in (1, 2)]
    assert all(result.is_error for result in results)


async def test_U61_e_does_not_approve_a_plan_on_the_real_cli(real: Real, visit: Visit) -> None:
    there = await real(write_the_plan, use("ExitPlanMode"), reply("Off I go."))
    desk = await visit(there.house)
    await desk.start("plan it", Mode="plan")
    await expect(desk.decision.get_by_role("button", name="Approve", exact=True)).to_be_enabled()
    await desk.decision.focus()
    await desk.page.keyboard.press("e")
    await desk.page.keyboard.press("3")
    await expect(desk.decision).to_contain_text("Accept all edits in this session?")
    await desk.page.keyboard.press("Escape")
    await expect(desk.decision.get_by_role("button", name="Approve", exact=True)).to_be_visible()
    assert len(there.model.requests) == 2
    await desk.page.keyboard.press("a")
    await desk.expect_words("Off I go.")
    mode = desk.page.get_by_role("button", name=re.compile("^Permission mode: ?Ask"))
    await expect(mode).to_be_visible()
