"""Which server of a cluster leads a bucket or a stream."""

from __future__ import annotations

import contextlib
import json

from fairlead.fleet.bus.bus import NoAnswer
from fairlead.fleet.bus.nats_bus import NatsBus
from tests.waiting import until_asked

__all__ = ["lead_from", "leader"]

ANSWER_S = 1.0


async def leader(admin: NatsBus, stream: str) -> str:
    """The name of the server that leads a stream; empty while there is none."""
    try:
        answer = await admin._main.request(f"$JS.API.STREAM.INFO.{stream}", b"", ANSWER_S)
    except NoAnswer:
        return ""
    return str(json.loads(answer.data).get("cluster", {}).get("leader", ""))


async def lead_from(admin: NatsBus, stream: str, place: int) -> None:
    """Let a server of the harness lead a stream."""
    wanted = f"server{place}"

    async def is_leader() -> bool:
        if await leader(admin, stream) == wanted:
            return True
        body = json.dumps({"placement": {"preferred": wanted}}).encode()
        with contextlib.suppress(NoAnswer):  # Perhaps the next leader is being elected.
            await admin._main.request(f"$JS.API.STREAM.LEADER.STEPDOWN.{stream}", body, ANSWER_S)
        return False

    await until_asked(is_leader)
