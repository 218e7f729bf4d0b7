"""A live session: stored before it is shown, and nothing lost when the store cannot."""

from __future__ import annotations

import asyncio
import json
import re
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairlead.host.engine.backpressure import RESERVE_BYTES
from fairlead.host.options.options import Options
from fairlead.host.process.process import Graces
from fairlead.server.limits import Limits
from fairlead.server.protocol.intents import Decide
from fairlead.server.session.journal import Journal, Shown
from fairlead.server.session.live_session import LiveSession
from fairlead.server.session.loading import Loaded
from fairlead.server.session.log_lines import event_of, fed_by
from fairlead.store.log import Event, StoreUnavailable
from fairlead.transcript.reduce import Fed
from fairlead.transcript.state.changes import Change, Set
from fairlead.transcript.state.facts import PromptCancelled
from fairlead.wire.blocks import TextBlock
from fairlead.wire.decode import decode
from fairlead.wire.inputs import Prompt
from tests.encodings import counted_encodings
from tests.host.children import CHUNK_BYTES, is_full
from tests.host.conftest import Rude, rude
from tests.server.server_harness import ServerHarness
from tests.server.session.gated_store import Gate
from tests.waiting import until

__all__ = ["rude"]

NUMBERED = re.compile(rb'"text": ?"(\d{8}) ')


UNSTORED = 300_000
QUICK = Graces(after_eof=0.5, after_term=0.5, after_kill=5.0)


@asynccontextmanager
async def gushing(options: Options) -> AsyncIterator[tuple[LiveSession, Gate]]:
    """A session whose CLI will not stop, on a store that can be shut."""
    gate = Gate()
    gate.open.set()
    limits = Limits(unstored_bytes=UNSTORED)
    live = LiveSession("s", gate, limits, published=lambda *_: None)
    live.reserve()
    await live.start(options)
    try:
        yield live, gate
    finally:
        gate.open.set()
        await live.close()


def numbers(lines: list[bytes]) -> list[int]:
    """The numbers of the lines that a gushing CLI wrote."""
    return [int(found[1]) for found in map(NUMBERED.search, lines) if found]


def numbers_of(last: int, batch: Sequence[Shown]) -> range:
    """The numbers of a batch that ends with this number."""
    return range(last - len(batch) + 1, last + 1)


def fact(n: int) -> Fed:
    return PromptCancelled(str(n))


async def test_nothing_is_shown_before_it_is_stored_and_many_events_share_a_commit() -> None:
    gate = Gate()
    shown: list[int] = []
    journal = Journal(
        "s", gate, lambda last, batch: shown.extend(numbers_of(last, batch)), Limits()
    )
    for n in range(1_000):
        journal.note([fact(n)], 0.0)
        await asyncio.sleep(0)
    assert shown == []
    gate.open.set()
    await journal.flush()
    assert shown == list(range(1, 1_001))
    assert gate.appends <= 3
    await journal.close()


async def test_a_batch_is_stored_folded_and_published_as_one() -> None:
    gate = Gate()
    gate.open.set()
    published: list[tuple[int, int]] = []
    live = LiveSession(
        "s",
        gate,
        Limits(),
        published=lambda _, seq, changes: published.append((seq, len(changes))),
    )
    texts = [f"word {n} " for n in range(100)]
    message = {"id": "m", "role": "assistant", "content": [], "model": "x"}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    ]
    for text in texts:
        delta = {"type": "text_delta", "text": text}
        events.append({"type": "content_block_delta", "index": 0, "delta": delta})
    lines = [msgspec.json.encode({"type": "stream_event", "event": event}) for event in events]
    live.note([decode(line) for line in lines])
    await live.journal.flush()
    assert gate.appends == 1
    assert gate.stored == lines
    [(seq, changes)] = published
    assert seq == len(lines)
    assert changes < 10
    assert [getattr(item, "text", None) for item in live.transcript.items] == ["".join(texts)]
    await live.close()


async def test_B132_one_event_that_sets_fields_in_steps_is_published_as_one_set() -> None:
    gate = Gate()
    gate.open.set()
    frames: list[Sequence[Change]] = []
    live = LiveSession(
        "s", gate, Limits(), published=lambda _, seq, changes: frames.append(changes)
    )
    for line in (
        {"type": "system", "subtype": "init", "tools": [], "model": "x"},
        {"type": "result", "subtype": "success", "is_error": False, "result": "done"},
    ):
        live.note([decode(msgspec.json.encode(line))])
        await live.journal.flush()
    ends = [change for change in frames[-1] if isinstance(change, Set) and change.to == "turns"]
    assert len(frames) == 2
    assert [(change.fields["text"], change.fields["outcome"]) for change in ends] == [
        ("done", "success")
    ]
    await live.close()


async def test_what_is_wanted_is_refused_and_what_happened_waits_when_the_store_cannot() -> None:
    gate = Gate()
    gate.open.set()
    gate.broken = True
    shown: list[Any] = []
    limits = Limits(store_retry_s=0.01)
    journal = Journal("s", gate, lambda last, batch: shown.extend(fed for fed, _ in batch), limits)
    journal.note([fact(1)], 0.0)
    with pytest.raises(StoreUnavailable, match="disk is full"):
        await journal.record([fact(2)], 0.0)
    journal.note([fact(3)], 0.0)
    assert shown == []
    gate.broken = False
    await journal.flush()
    assert shown == [fact(1), fact(3)]
    assert await journal.record([fact(4)], 0.0) == 3
    await journal.close()


async def test_a_flood_that_cannot_be_stored_is_stopped_and_goes_on_when_it_can() -> None:
    gate = Gate()
    calls: list[str] = []
    limits = Limits(unstored_bytes=10_000)
    journal = Journal(
        "s",
        gate,
        lambda last, batch: None,
        limits,
        on_full=lambda: calls.append("full"),
        on_room=lambda: calls.append("room"),
    )
    for n in range(200):
        journal.note([fact(n)], 0.0)
    assert calls == ["full"]
    gate.open.set()
    await journal.flush()
    assert calls == ["full", "room"]
    assert journal.bytes == 0
    await journal.close()


async def test_B40_a_cli_waits_while_the_store_lags_and_still_hears_an_interrupt(
    rude: Rude, tmp_path: Path
) -> None:
    options = Options(agent=rude("gush"), cwd=tmp_path, graces=QUICK)
    async with gushing(options) as (live, gate):
        await live.prompts.add(Prompt(uuid=str(uuid.uuid4()), content=(TextBlock(text="go"),)))
        gate.open.clear()
        client = live.running()
        await until(lambda: live.journal.full and is_full(client.pid))
        assert live.journal.bytes < UNSTORED + 2 * CHUNK_BYTES
        async with asyncio.timeout(60):
            answer = await client.interrupt()
        assert live.journal.bytes < UNSTORED + 2 * (RESERVE_BYTES + CHUNK_BYTES)
        gate.open.set()
        await live.journal.flush()
        await until(lambda: not client.busy)
        await live.journal.flush()
        assert numbers(gate.stored) == list(range(answer["lines"]))


async def test_B40_a_cli_that_is_started_while_the_store_lags_waits_from_the_first(
    rude: Rude, tmp_path: Path
) -> None:
    options = Options(agent=rude("gush"), cwd=tmp_path, graces=QUICK)
    async with gushing(options) as (live, gate):
        await live.stop()
        gate.open.clear()
        while not live.journal.full:
            live.note([fact(1)])
        before = live.journal.bytes
        live.reserve()
        await live.start(options)
        client = live.running()
        await client.send("go")
        await until(lambda: is_full(client.pid))
        assert live.journal.bytes - before < CHUNK_BYTES
        gate.open.set()


async def test_the_stored_events_fold_to_what_was_shown(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new()
        await harness.say(session, {"flood": 200}, {"line": {"type": "news", "x": 1}})
        live = await harness.state(session, "idle")
        await live.journal.flush()
        again = await Loaded.from_log(harness.store, session)
        assert again.seq == live.seq
        assert again.transcript.snapshot() == live.transcript.snapshot()
        assert any("word199" in getattr(item, "text", "") for item in live.transcript.items)


async def test_a_client_sees_nothing_that_is_not_in_the_log(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new()
        hub_client = await harness.hub_client(session)
        await harness.say(session, {"flood": 2_000})
        live = harness.live(session)
        seen = 0
        while live.transcript.status.state != "idle":
            hub_client.drain(float(seen))
            if hub_client.seq != seen:
                seen = hub_client.seq or 0
                assert await harness.store.last_seq(session) >= seen
            await asyncio.sleep(0.002)  # A client's pace: one frame, then the next.
        await live.journal.flush()
        hub_client.drain(1e9)
        assert hub_client.seq == live.seq == await harness.store.last_seq(session)
        source = harness.registry.sessions.source(session)
        assert hub_client.state is not None
        for name in source.sections:
            wanted = msgspec.json.decode(msgspec.json.encode(source.section(name)))
            assert hub_client.state[name] == wanted, name
        wanted = msgspec.json.decode(msgspec.json.encode(live.transcript.items))
        assert hub_client.state["items"] == wanted


async def test_a_line_above_the_limit_is_the_same_after_a_restart(tmp_path: Path) -> None:
    from fairlead.wire.decode import skipped
    from fairlead.wire.framing import Oversized

    line = skipped(Oversized(head=b'{"type":"\xff', size=10_000, limit=100))
    new = event_of(line, 1.0)
    assert fed_by(Event(1, new.direction, new.line, new.at)) == line


async def test_C51_an_answer_is_stored_as_it_was_written(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new()
        await harness.state(session, "ready")
        with counted_encodings() as counts:
            await harness.say(session, {"ask": {"id": "a"}}, {"wait": 1})
            (row,) = await harness.pending(session)
            answer = Decide(
                session=session,
                request_id=row["id"],
                decision="allow",
                input_sha256=row["input_sha256"],
            )
            assert (await harness.act(answer)).ok
            live = await harness.state(session, "idle")
            await live.journal.flush()
        assert counts["Answer"] == 1
        logged = await harness.store.read(session, 0, 1_000)
    answers = [event.line for event in logged if b'"control_response"' in event.line]
    assert json.loads(answers[-1]) in harness.told("control_response")
