"""Pictures of states that few people see: a fleet, conflicts, no repository, no agent, no changes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import expect

from tests.e2e.browser.screenshots import ScreenshotRun, Shoot
from tests.e2e.browser.scripts import say, scene
from tests.fleet.fleet_harness import fleet
from tests.git.repositories import conflicting, new_repository

__all__ = ["STATES"]

AWAY_MS = 30_000
"""A machine is away after three seconds without a beat; a busy machine needs longer to show it."""


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A gateway as the page object uses it."""

    base: str
    first_link: str
    project: Path

    def link(self, role: str = "owner") -> str:
        assert role == "owner"
        return self.first_link


async def machines(shots: ScreenshotRun) -> None:
    """Two machines, a request of each, and one of them away."""
    team = await shots.enter(fleet(shots.folder, nodes=2, gateways=1))
    gate = team.gateways[0]
    for node in team.nodes:
        client = await gate.client()
        gate.project = node.project
        command = f"make deploy HOST={node.id}"
        asked = {"ask": {"id": command, "input": {"command": command}}}
        await client.new_session([asked, {"wait": 1}, {"say": "Deployed."}])
        await client.socket.close()
    server = SignedIn(gate.gateway.base_url, await gate.gateway.launch_link(), gate.project)
    app = await shots.visit(server)  # type: ignore[arg-type]
    await app.page.goto(f"{server.base}/inbox")
    await expect(app.page.get_by_role("main").get_by_text("node1-name").first).to_be_visible()
    await shots.keep(app, "machines-inbox")
    await app.page.goto(f"{server.base}/machines")
    card = app.page.get_by_role("article", name="node0-name")
    await expect(card).to_contain_text("Online")
    await shots.keep(app, "machines-online")
    await team.nodes[0].stop()
    await expect(card).to_contain_text("Away for", timeout=AWAY_MS)
    await card.get_by_role("button", name="Show sessions").click()
    await shots.keep(app, "machines-away")


async def repository(shots: ScreenshotRun) -> None:
    """The pages of a session in a folder without a repository, without changes, and with conflicts."""
    server = await shots.emulated([scene(None, say("It has two parts."))])
    app = await shots.visit(server)
    await app.start("How is the shop built?")
    await app.expect_rest()
    main = app.page.get_by_role("main")
    pages = f"{server.base}/s/{app.session}"
    await app.page.goto(f"{pages}/git")
    await expect(main).to_contain_text("not in a git repository")
    await shots.keep(app, "repository-none")
    new_repository(server.project)
    await app.page.goto(f"{pages}/changes")
    await expect(main).to_contain_text("No changes")
    await shots.keep(app, "repository-unchanged")
    await app.page.goto(f"{pages}/git")
    await expect(main).to_contain_text("Nothing is staged")
    await shots.keep(app, "repository-clean")


async def conflict(shots: ScreenshotRun) -> None:
    """A merge with conflicts."""
    server = await shots.emulated([scene(None, say("It has two parts."))])
    conflicting(server.project)
    app = await shots.visit(server)
    await app.start("How is the shop built?")
    await app.expect_rest()
    await app.page.goto(f"{server.base}/s/{app.session}/git")
    main = app.page.get_by_role("main")
    await main.get_by_role("button", name="both has conflicts").click()
    await shots.keep(app, "conflict-file")


async def absent(shots: ScreenshotRun) -> None:
    """The agent's program is gone."""
    server = await shots.emulated([scene(None, say("It has two parts."))])
    app = await shots.visit(server)
    (shots.folder / "claude" / "claude").unlink(missing_ok=True)
    dialog = await app.open_new_session()
    await dialog.get_by_label("First message").fill("How is the shop built?")
    await dialog.get_by_role("button", name="Start").click()
    await expect(dialog.get_by_role("button", name="Start", exact=True)).to_be_enabled()
    await shots.keep(app, "absent-agent")


STATES: dict[str, Shoot] = {
    "machines": machines,
    "repository": repository,
    "conflict": conflict,
    "absent": absent,
}
