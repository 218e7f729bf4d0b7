"""Decisions on the real CLI: what "Always deny" covers, and which keys approve a plan."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect

from fairlead.model_api.replies import reply, use
from tests.e2e.browser.conftest import Visit
from tests.e2e.browser.real_cli_server import Real, real, write_the_plan

__all__ = ["real"]


@pytest.mark.matrix(target="conformance", cases=0)
async def test_U60_always_deny_holds_on_the_real_cli_at_once(real: Real, visit: Visit) -> None:
    there = await real()
    command = there.program()
    there.model.push(
        use("Bash", command=f"{command} one"), use("Bash", command=f"{command} one"), reply("Done.")
    )
    app = await visit(there.server)
    await app.start("run it twice")
    await expect(app.decision).to_contain_text("./tool.sh one")
    await app.decide("Always deny…")
    await app.decision.get_by_role("button", name=re.compile("^Deny .*tool.sh")).first.click()
    await expect(app.held).to_contain_text("Always denied")
    await app.end_undo()
    await app.expect_words("Done.")  # The second call was denied without a question.
    await app.expect_rest()
    assert not (there.project / "ran.txt").exists()
    results = [there.model.requests[at].tool_results[-1] for at in (1, 2)]
    assert all(result.is_error for result in results)


@pytest.mark.matrix(target="conformance", cases=0)
async def test_U61_e_does_not_approve_a_plan_on_the_real_cli(real: Real, visit: Visit) -> None:
    there = await real(write_the_plan, use("ExitPlanMode"), reply("Off I go."))
    app = await visit(there.server)
    await app.start("plan it", Mode="plan")
    await expect(app.decision.get_by_role("button", name="Approve", exact=True)).to_be_enabled()
    await app.decision.focus()
    await app.page.keyboard.press("e")
    await app.page.keyboard.press("3")
    await expect(app.decision).to_contain_text("Accept all edits in this session?")
    await app.page.keyboard.press("Escape")
    await expect(app.decision.get_by_role("button", name="Approve", exact=True)).to_be_visible()
    assert len(there.model.requests) == 2
    await app.page.keyboard.press("a")
    await app.expect_words("Off I go.")
    mode = app.page.get_by_role("button", name=re.compile("^Permission mode: ?Ask"))
    await expect(mode).to_be_visible()
