"""The results of intents are bounded for each device, and every live client acts once."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from fairlead.server.protocol.intents import Rename
from fairlead.server.protocol.messages import IntentResult
from fairlead.store.database.folder import DATABASE
from fairlead.store.tables.devices import Device
from fairlead.store.tables.intents import CLIENTS, LIVE_S
from tests.server.server_harness import ServerHarness, device


async def rename(
    harness: ServerHarness, session: str, client: str, n: int, title: str, who: Device | None = None
) -> IntentResult:
    intent = Rename(session=session, title=title)
    return await harness.registry.act(who or harness.owner, client, n, intent)


def clients(harness: ServerHarness) -> list[str]:
    with sqlite3.connect(harness.folder / "data" / DATABASE) as db:
        return [str(row[0]) for row in db.execute("SELECT DISTINCT client FROM intents")]


def let_age(harness: ServerHarness, *names: str) -> None:
    """Make the last use of some clients older than the time in which they may resend."""
    with sqlite3.connect(harness.folder / "data" / DATABASE) as db:
        for age, name in enumerate(reversed(names), 1):
            db.execute(
                "UPDATE intent_clients SET used = used - ? WHERE client = ?",
                (LIVE_S + age, f"{harness.owner.id}/{name}"),
            )


async def test_B64_many_client_ids_of_a_device_do_not_fill_the_table(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new()
        used = len(clients(harness))
        for number in range(CLIENTS - used):
            assert (await rename(harness, session, f"c{number}", 1, f"title {number}")).ok
        assert len(clients(harness)) == CLIENTS
        refused = await rename(harness, session, "one-too-many", 1, "x")
        assert (refused.ok, refused.code) == (False, "too_many")
        assert "client id" in (refused.message or "")
        assert harness.lobby("sessions")[session]["title"] != "x"
        other = device(name="phone")
        assert (await rename(harness, session, "c", 1, "by the phone", who=other)).ok
        assert (await rename(harness, session, "c5", 2, "known clients go on")).ok

        let_age(harness, "c0", "c1", "c2")
        assert (await rename(harness, session, "new-1", 1, "new")).ok
        assert (await rename(harness, session, "new-2", 1, "newer")).ok
        own = [name for name in clients(harness) if name.startswith(f"{harness.owner.id}/")]
        assert len(own) == CLIENTS
        kept = {name.partition("/")[2] for name in own}
        assert {"c0", "c1"}.isdisjoint(kept), "the oldest are forgotten"
        assert {"c2", "c3", "c5", "new-1", "new-2"} <= kept

        again = await rename(harness, session, "c3", 1, "not again")
        assert again.ok, "a resend of a live client gets the stored result"
        assert harness.lobby("sessions")[session]["title"] == "newer"


async def test_B64_a_restart_forgets_no_live_client(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new()
        assert (await rename(harness, session, "live", 1, "first")).ok
    async with ServerHarness(tmp_path) as harness:
        assert (await rename(harness, session, "another", 1, "second")).ok
        assert (await rename(harness, session, "live", 1, "not again")).ok
        assert harness.lobby("sessions")[session]["title"] == "second"
