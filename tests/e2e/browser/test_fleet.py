"""A fleet in the web app: one inbox for two machines, and what is left when one of them is away."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest_asyncio
from playwright.async_api import Page, expect

from tests.e2e.browser.axe import Report
from tests.e2e.browser.conftest import Visit
from tests.fleet.ground import Fleet, FleetGateway, FleetNode, fleet

FEW_S = 30_000
"""A machine is away after three seconds without a beat; a busy machine needs longer to show it."""


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A gateway as the page object uses it."""

    gate: FleetGateway
    first_link: str

    @property
    def base(self) -> str:
        return self.gate.gateway.base_url

    def link(self, role: str) -> str:
        assert role == "owner"
        return self.first_link


@pytest_asyncio.fixture(loop_scope="session")
async def team(tmp_path: Path) -> AsyncIterator[Fleet]:
    async with fleet(tmp_path, nodes=2, gateways=1, copied_folders=(tmp_path,)) as made:
        yield made


async def gateway_of(team: Fleet) -> SignedIn:
    gate = team.gateways[0]
    return SignedIn(gate, await gate.gateway.launch_link())


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
