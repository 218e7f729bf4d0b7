"""The message field and the parts around it."""

from __future__ import annotations

from playwright.async_api import expect

from fairlead.host.options.groups import ToolRules
from tests.e2e.browser.conftest import Emulated, Visit
from tests.e2e.browser.scripts import WAIT_FOR_GO, say, scene, use

WAITING = [
    scene("begin", use("Bash", command=WAIT_FOR_GO, description="waits"), say("Done.")),
    scene(None, say("You said: {{prompt}}")),
]


async def test_the_list_of_commands_takes_the_place_of_the_queue_and_gives_it_back(
    emulated: Emulated, visit: Visit
) -> None:
    server = await emulated(WAITING, rules=ToolRules(allowed=("Bash",)))
    app = await visit(server, phone=True)
    await app.start("begin")
    await app.expect_state("Running")
    for text in ("the first that waits", "the second"):
        await app.say(text)
    queue = app.page.get_by_role("region", name="Queue")
    await expect(queue).to_contain_text("2 queued messages")
    top = await queue.bounding_box()
    await app.composer.press_sequentially("/ver")
    offers = app.page.get_by_role("listbox", name="Commands")
    await expect(offers.get_by_role("option")).not_to_have_count(0)
    await expect(queue).to_have_count(0)  # Hidden, with its room kept.
    await app.composer.press("Escape")
    await expect(offers).to_have_count(0)
    await expect(queue).to_be_visible()
    assert await queue.bounding_box() == top
    (server.project / "go").touch()
    await app.composer.fill("")
    await app.expect_words("You said: the second")
