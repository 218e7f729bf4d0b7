"""Notices of sessions that run in workers: the server's own outbox sends them."""

from __future__ import annotations

from pathlib import Path

from tests.fleet.workers.workers_harness import with_workers
from tests.server.notices.conftest import ASK, AT_ONCE, WAIT, Phone
from tests.server.notices.push_service import PushService


async def test_N42_a_request_in_a_worker_is_pushed_and_denied_from_the_notification(
    tmp_path: Path,
) -> None:
    async with (
        PushService() as push,
        with_workers(tmp_path, 2, AT_ONCE, push_to_loopback=True) as served,
    ):
        phone = Phone(served, push, await served.client())
        await phone.subscribe()
        session = await phone.client.new_session([ASK, WAIT, {"say": "done"}])
        assert session not in served.service.registry.sessions.rows  # A worker runs it.
        asked = await phone.message()
        assert (asked["kind"], asked["session"]) == ("approval", session)
        status, answer = await phone.call("/api/push/deny", {"ticket": asked["deny"]})
        assert (status, answer) == (200, {"denied": True})
        done = await phone.message(2)
        assert (done["kind"], done["session"]) == ("finished", session)
        assert done["id"] > asked["id"]
