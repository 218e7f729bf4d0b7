"""The prompt queue of a session: stored first, and the same for every process of the session."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from fairlead.host.options.options import Options
from fairlead.server.limits import Limits
from fairlead.server.refusal import Refusal
from fairlead.server.session.live_session import LiveSession
from fairlead.store.log import StoreUnavailable
from fairlead.store.tables.intents import IntentOutcome
from fairlead.wire.blocks import TextBlock
from fairlead.wire.inputs import Prompt
from tests.launching import python_launcher
from tests.server.server_harness import AGENT, QUICK
from tests.server.session.gated_store import Gate
from tests.waiting import until

WAIT = json.dumps([{"wait": 1}])


@dataclass
class Scene:
    live: LiveSession
    gate: Gate
    options: Options
    log: Path

    def prompts(self) -> list[str]:
        """The prompts that the agent has read."""
        lines = [json.loads(line) for line in self.log.read_text().splitlines()]
        users = [line for line in lines if line.get("type") == "user"]
        return [line["message"]["content"][0]["text"] for line in users]

    async def start(self) -> None:
        self.live.reserve()
        await self.live.start(self.options)

    async def in_a_turn(self) -> None:
        """Start an agent and let it wait in a turn until it is interrupted."""
        await self.start()
        await self.live.prompts.add(prompt(WAIT))
        await until(lambda: self.prompts() == [WAIT])


def prompt(text: str, uuid_: str | None = None) -> Prompt:
    return Prompt(uuid=uuid_ or str(uuid.uuid4()), content=(TextBlock(text=text),))


def outcome() -> IntentOutcome:
    return IntentOutcome(client="c", n=1, result=b"{}")


@asynccontextmanager
async def scene(folder: Path) -> AsyncIterator[Scene]:
    gate = Gate()
    gate.open.set()
    log = folder / "agent.log"
    agent = python_launcher(folder / "claude-scripted", AGENT, log)
    live = LiveSession("s", gate, Limits(store_retry_s=0.01), published=lambda *_: None)
    try:
        yield Scene(live, gate, Options(agent=agent, cwd=folder, graces=QUICK), log)
    finally:
        gate.broken = False
        gate.open.set()
        await live.close()


async def test_B56_a_prompt_is_not_written_while_a_change_of_it_is_being_stored(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path) as play:
        await play.in_a_turn()
        queued = prompt("old words")
        await play.live.prompts.add(queued)
        play.gate.open.clear()
        edit = asyncio.create_task(play.live.prompts.edit(prompt("new words", queued.uuid)))
        client = play.live.running()
        await client.interrupt()
        await until(lambda: not client.busy)
        await client.context_usage()  # Both pipes have been read up to here.
        assert play.prompts() == [WAIT]
        assert not any(b"new words" in line for line in play.gate.stored)
        play.gate.open.set()
        await edit
        await until(lambda: len(play.prompts()) == 2)
        assert play.prompts() == [WAIT, "new words"]


async def test_B56_a_change_that_cannot_be_stored_is_not_made(tmp_path: Path) -> None:
    async with scene(tmp_path) as play:
        await play.in_a_turn()
        first, second = prompt("first"), prompt("second")
        await play.live.prompts.add(first)
        await play.live.prompts.add(second)
        play.gate.broken = True
        prompts = play.live.prompts
        for change in (
            prompts.edit(prompt("other", first.uuid)),
            prompts.reorder((second.uuid, first.uuid)),
            prompts.cancel(first.uuid, outcome),
            prompts.add(prompt("third")),
        ):
            with pytest.raises(StoreUnavailable):
                await change
        assert [held.text for held in prompts.queue.held] == ["first", "second"]
        play.gate.broken = False
        await play.live.journal.flush()
        await play.live.running().interrupt()
        await until(lambda: len(play.prompts()) == 3)
        assert play.prompts() == [WAIT, "first", "second"]


async def test_B56_changes_of_one_prompt_are_made_one_after_the_other(tmp_path: Path) -> None:
    async with scene(tmp_path) as play:
        await play.in_a_turn()
        queued = prompt("old words")
        prompts = play.live.prompts
        await prompts.add(queued)
        play.gate.open.clear()
        cancel = asyncio.create_task(prompts.cancel(queued.uuid, outcome))
        edit = asyncio.create_task(prompts.edit(prompt("new words", queued.uuid)))
        now = asyncio.create_task(prompts.send_now(queued.uuid))
        await until(lambda: play.gate.appends > 0)
        play.gate.open.set()
        await cancel
        for late in (edit, now):
            with pytest.raises(Refusal, match="no longer queued") as refused:
                await late
            assert refused.value.code == "stale"
        assert play.prompts() == [WAIT]


async def test_B56_held_prompts_stay_in_order_for_the_next_process(tmp_path: Path) -> None:
    async with scene(tmp_path) as play:
        await play.in_a_turn()
        for text in ("one", "two"):
            await play.live.prompts.add(prompt(text))
        queue = play.live.prompts.queue
        await play.live.stop()
        await play.live.prompts.add(prompt("three"))
        assert [held.text for held in queue.held] == ["one", "two", "three"]
        assert not queue.busy
        await play.start()
        await until(lambda: len(play.prompts()) == 4)
        assert play.prompts() == [WAIT, "one", "two", "three"]


async def test_B56_a_prompt_that_is_being_stored_counts_and_its_uuid_is_taken(
    tmp_path: Path,
) -> None:
    async with scene(tmp_path) as play:
        play.gate.open.clear()
        first = prompt("first")
        adding = asyncio.create_task(play.live.prompts.add(first))
        await until(lambda: play.gate.appends > 0)
        assert len(play.live.prompts) == 1
        with pytest.raises(Refusal, match="already sent") as refused:
            await play.live.prompts.add(first)
        assert refused.value.code == "conflict"
        play.gate.open.set()
        await adding
        assert play.live.prompts.uuids == (first.uuid,)
