"""A fleet in the web app: one inbox for two machines, and what is left when one of them is away."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from tests.e2e.browser.axe import Report
from tests.e2e.browser.conftest import Visit
from tests.fleet.bus.nats_harness import running_bus
from tests.fleet.fleet_harness import Fleet, FleetNode, fleet, text_of
from tests.fleet.moving import repository
from tests.fleet.nats_fleet import nats_fleet

FEW_S = 30_000
"""A machine is away after three seconds without a beat; a busy machine needs longer to show it."""


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A gateway as the page object uses it."""

    base: str
    first_link: str

    def link(self, role: str) -> str:
        assert role == "owner"
        return self.first_link


@pytest_asyncio.fixture(loop_scope="session")
async def team(tmp_path: Path) -> AsyncIterator[Fleet]:
    async with fleet(tmp_path, nodes=2, gateways=1, copied_folders=(tmp_path,)) as made:
        yield made


async def gateway_of(team: Fleet) -> SignedIn:
    gate = team.gateways[0]
    return SignedIn(gate.gateway.base_url, await gate.gateway.launch_link())


async def ask_on(team: Fleet, node: FleetNode, command: str) -> str:
    """A session on a machine that asks whether it may run a command."""
    client = await team.gateways[0].client()
    script = [{"ask": {"id": command, "input": {"command": command}}}, {"wait": 1}, {"say": "ok"}]
    team.gateways[0].project = node.project
    session = await client.new_session(script)
    await client.socket.close()
    return session


async def shows_both(page: Page) -> None:
    for name in ("node0-name", "node1-name"):
        await expect(page.get_by_role("button").filter(has_text=name).first).to_be_visible()


async def test_U146_requests_of_two_machines_are_answered_in_one_inbox_on_a_phone(
    team: Fleet, visit: Visit
) -> None:
    for node in team.nodes:
        await ask_on(team, node, f"echo on {node.id}")
    app = await visit(await gateway_of(team), phone=True)
    page: Page = app.page
    await page.goto(f"{app.server.base}/inbox")
    await shows_both(page)
    for _ in team.nodes:
        await page.get_by_role("button", name=re.compile("^Allow once")).click()
    gate = team.gateways[0]
    for node in team.nodes:
        answers = await gate.until(lambda node=node: node.told("control_response"))
        assert answers[0]["response"]["response"]["behavior"] == "allow"
    await gate.until(lambda: not gate.rows("inbox"))


async def test_U147_a_session_of_a_machine_that_is_away_is_read_and_not_answered(
    team: Fleet, visit: Visit
) -> None:
    node, gate = team.nodes[0], team.gateways[0]
    session = await ask_on(team, node, "echo stays open")
    await gate.until(lambda: gate.rows("inbox"))
    app = await visit(await gateway_of(team))
    page: Page = app.page
    await page.goto(f"{app.server.base}/s/{session}")
    await expect(page.get_by_role("button", name=re.compile("^Allow once"))).to_be_visible()
    await expect(page.get_by_role("dialog")).to_contain_text("Bash on node0-name")
    await node.stop()
    note = page.get_by_role("status").filter(has_text="node0-name")
    await expect(note).to_contain_text("You can answer when the machine is back", timeout=FEW_S)
    await expect(page.get_by_role("button", name=re.compile("^Allow once"))).to_have_count(0)
    await expect(page.get_by_role("textbox", name="Message")).to_be_disabled()
    await page.goto(f"{app.server.base}/machines")
    card = page.get_by_role("article", name="node0-name")
    await expect(card).to_contain_text("Away for")
    await expect(card).to_contain_text("Readable from a copy")
    await expect(page.get_by_role("article", name="node1-name")).to_contain_text("Online")
    report = Report()
    await report.look(app, "machines")
    report.check()
    await card.get_by_role("button", name="Show sessions").click()
    await expect(page.get_by_role("heading", name="Sessions on node0-name")).to_be_visible()


async def test_U149_the_settings_of_each_machine_are_changed_at_the_gateway(
    team: Fleet, visit: Visit
) -> None:
    app = await visit(await gateway_of(team))
    page: Page = app.page
    await page.goto(f"{app.server.base}/settings")
    machine = page.get_by_role("combobox", name="Machine of the budgets")
    await expect(machine).to_have_text("node0-name")
    await app.select(machine, "node1")
    await page.get_by_label("Amount in US dollars").fill("7")
    await page.get_by_role("button", name="Set", exact=True).click()
    await expect(page.get_by_role("button", name=re.compile("^Remove the budget"))).to_be_visible()
    spent = [len(node.service.budgets.states()) for node in team.nodes]
    assert spent == [0, 1]
    await app.select(machine, "node0")
    await expect(page.get_by_text("No budgets.")).to_be_visible()
    for settings in ("schedules", "profiles"):
        choice = page.get_by_role("combobox", name=f"Machine of the {settings}")
        await expect(choice).to_have_text("node0-name")
    report = Report()
    await report.look(app, "settings of a fleet")
    report.check()


@pytest_asyncio.fixture(loop_scope="session")
async def nats_team(tmp_path: Path) -> AsyncIterator[Fleet]:
    """Two machines and a gateway on a real nats-server."""
    async with (
        running_bus(tmp_path / "bus") as nats,
        nats_fleet(nats, tmp_path, ("node0", "node1"), ("gate0",)) as made,
    ):
        for name in ("node0", "node1"):
            await made.add_node(name, copied_folders=(tmp_path,))
        await made.add_gateway("gate0")
        await made.known()
        yield made


@pytest.mark.matrix(target="browser", cases=0)
async def test_N26_a_session_is_moved_from_its_menu(nats_team: Fleet, visit: Visit) -> None:
    source, target = nats_team.nodes
    repository(source.project)
    (source.project / ".gitignore").write_text("secret.env\n")
    (source.project / "secret.env").write_text("x")
    gate = nats_team.gateways[0]
    client = await gate.client()
    session = await client.new_session([{"say": "said before"}])
    await client.socket.close()
    app = await visit(await gateway_of(nats_team))
    page: Page = app.page
    await page.goto(f"{app.server.base}/s/{session}")
    await expect(page.get_by_text("said before").first).to_be_visible()
    await page.get_by_role("button", name="More", exact=True).click()
    await page.get_by_role("menuitem", name=re.compile("Move to another machine")).click()
    dialog = page.get_by_role("dialog", name="Move to another machine")
    await expect(dialog.get_by_text("branch")).to_be_visible()
    await expect(dialog.get_by_text("3 files")).to_be_visible()
    await expect(dialog.get_by_text("1 file that git ignores")).to_be_visible()
    await pictures(page, "move")
    await dialog.get_by_role("button", name="Move session").click()
    await expect(dialog.get_by_text("The session is on node1-name")).to_be_visible(timeout=FEW_S)
    await pictures(page, "moved")
    await dialog.get_by_role("button", name="Open session").click()
    await gate.until(lambda: gate.gateway.directory.owner(session) == (target.id, session))
    await expect(page.get_by_text("said before").first).to_be_visible()
    assert target.service.registry.sessions.row(session).generation == 1
    # At its own address, the former machine shows a link.
    service = source.service
    local = await visit(SignedIn(service.base_url, service.launch_link()))
    await local.page.goto(f"{service.base_url}/s/{session}")
    note = local.page.get_by_role("status").filter(has_text="This session was moved to")
    await expect(note).to_be_visible()
    link = local.page.get_by_role("link", name="Open it there")
    await expect(link).to_have_attribute("href", f"{gate.base}/s/{session}")
    await pictures(local.page, "left")


@pytest.mark.matrix(target="browser", cases=0)
async def test_N28_a_session_of_a_lost_machine_is_continued_from_its_note(
    team: Fleet, visit: Visit
) -> None:
    source, target = team.nodes
    gate = team.gateways[0]
    client = await gate.client()
    session = await client.new_session([{"say": "said before"}])
    await text_of(client, session, "said before")
    await client.socket.close()
    copies, live = source.node.copies, source.service.registry.sessions.loaded(session)
    assert copies is not None
    assert live is not None
    await gate.until(lambda: not live.busy and copies.replicator.replicated(session) >= live.seq)
    app = await visit(await gateway_of(team))
    page: Page = app.page
    await page.goto(f"{app.server.base}/s/{session}")
    await source.stop()
    await page.get_by_role("button", name="Continue on another machine…").click(timeout=FEW_S)
    dialog = page.get_by_role("dialog", name="Continue on another machine")
    await expect(dialog.get_by_text("Uncommitted files on node0-name")).to_be_visible()
    await pictures(page, "adopt")
    folder = dialog.get_by_role("combobox").last
    await folder.fill(str(target.project))
    await folder.blur()  # Closes the suggestions.
    await dialog.get_by_role("button", name="Continue there").click()
    await expect(dialog.get_by_text("The session is on")).to_be_visible(timeout=FEW_S)
    await dialog.get_by_role("button", name="Open session").click()
    await expect(page.get_by_text("said before").first).to_be_visible()
    assert target.service.registry.sessions.row(session).generation == 1


async def pictures(page: Page, name: str) -> None:
    """Pictures of a page, if a folder for them is given."""
    folder = os.environ.get("FAIRLEAD_PICTURES")
    if not folder:
        return
    for theme in ("light", "dark"):
        await page.emulate_media(color_scheme=theme)
        for width in (1440, 1024, 390):
            await page.set_viewport_size({"width": width, "height": 900})
            await page.screenshot(path=f"{folder}/{name}-{theme}-{width}.png")
    await page.emulate_media(color_scheme="light")
    await page.set_viewport_size({"width": 1280, "height": 800})
