"""A node that gets SIGTERM: it takes no new sessions, and a turn that runs may end."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fairlead.commands.fleet.draining import DrainedNode
from fairlead.fleet.bus.memory_bus import MemoryBroker
from fairlead.fleet.node.node import open_node
from tests.server.conftest import PATIENT, Client, Served, serving
from tests.waiting import until


@asynccontextmanager
async def speaking(folder: Path, patience_s: float) -> AsyncIterator[tuple[Served, list[bytes]]]:
    """A server that speaks for a node, and the beats that it sends."""
    broker, beats = MemoryBroker(), list[bytes]()
    async with serving(folder, PATIENT) as served:
        drained = DrainedNode(served.service, patience_s)
        await broker.connect().subscribe("fl.beat.*", lambda message: beats.append(message.payload))
        try:
            with drained.at_sigterm():
                async with drained.speaking(
                    lambda: open_node(served.service, broker.connect(), node_id="n", name="n")
                ):
                    await drained.ready.wait()
                    yield served, beats
        finally:
            asyncio.get_running_loop().remove_signal_handler(signal.SIGTERM)


async def asking(served: Served) -> tuple[Client, str, dict[str, Any]]:
    """A session in a turn that waits for an answer."""
    client = await served.client()
    session = await client.new_session([{"ask": {"id": "r1"}}, {"wait": 1}, {"say": "done"}])
    return client, session, await client.pending(session)


def is_stopping(served: Served) -> bool:
    return bool(served.service._server.should_exit)


async def test_N37_a_turn_may_end_before_the_node_does(tmp_path: Path) -> None:
    async with speaking(tmp_path, patience_s=120) as (served, beats):
        client, session, row = await asking(served)
        os.kill(os.getpid(), signal.SIGTERM)
        await until(lambda: b'"draining":true' in beats[-1])
        assert not is_stopping(served)
        await client.intend(
            "decide",
            session=session,
            request_id=row["id"],
            input_sha256=row["input_sha256"],
            decision="allow",
        )
        await until(lambda: is_stopping(served))


async def test_N37_a_second_signal_and_the_end_of_patience_end_the_node(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    async with speaking(tmp_path / "a", patience_s=120) as (served, beats):
        await asking(served)
        os.kill(os.getpid(), signal.SIGTERM)
        await until(lambda: b'"draining":true' in beats[-1])
        os.kill(os.getpid(), signal.SIGTERM)
        await until(lambda: is_stopping(served))
    async with speaking(tmp_path / "b", patience_s=0.1) as (served, _):
        await asking(served)
        os.kill(os.getpid(), signal.SIGTERM)
        await until(lambda: is_stopping(served))
