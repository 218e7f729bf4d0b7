"""Messages during a turn: lines, blocks, drafts, retries, compaction (CLI-518)."""

from __future__ import annotations

import asyncio

from fairlead.model_api.gate import Gate
from fairlead.model_api.replies import Usage, fail, reply, thinking, tool
from fairlead.testing.real_cli import RealCli
from fairlead.wire.blocks import ThinkingBlock, ToolUseBlock
from fairlead.wire.events import Assistant, Result, StreamEvent, User
from fairlead.wire.stream import ContentBlockStop, MessageStart
from fairlead.wire.system import ApiRetry, CompactBoundary, Init, Status
from fairlead.wire.versions import Feature
from tests.e2e.real_cli.cli_harness import TURN_S, CliHarness, all_of, one_of, play, tool_lines
from tests.e2e.real_cli.recording_observer import RecordingObserver, ended, has

SMALL_WINDOW = "claude-sonnet-4-5"
"""A model that every version takes to have room for 200,000 tokens."""


async def test_each_block_has_its_own_line_with_and_without_partial_messages(
    harness: CliHarness,
) -> None:
    """CLI-501: one assistant line per block in both cases, the same message.id."""
    (harness.project / "a.txt").write_text("aa")
    (harness.project / "b.txt").write_text("bb")
    reads = [tool("Read", file_path=str(harness.project / name)) for name in ("a.txt", "b.txt")]
    for partial in (True, False):
        harness.model.push(reply(thinking("Both, then."), "I read both.", *reads))
        async with harness.session(partial_messages=partial) as session:
            messages = await play(session)
        lines = all_of(Assistant, messages)
        first = [line for line in lines if line.message.id == lines[0].message.id]
        kinds = [block.__struct_config__.tag for line in first for block in line.message.content]
        assert kinds == ["thinking", "text", "tool_use", "tool_use"]
        assert [len(line.message.content) for line in first] == [1, 1, 1, 1]
        assert {line.message.stop_reason for line in first} == {None}
        usages = [line.message.usage for line in first]
        assert {usage.output_tokens for usage in usages if usage is not None} == {1}
        total = one_of(Result, messages).usage
        assert total is not None
        assert total.output_tokens == 84
        # Parallel results come one to a line, in the order of their completion.
        results = tool_lines(messages)
        assert len({line.uuid for line, _ in results}) == 2
        used = {b.id for line in first for b in line.message.content if isinstance(b, ToolUseBlock)}
        assert {block.tool_use_id for _, block in results} == used
        assert bool(all_of(StreamEvent, messages)) is partial


async def test_a_complete_block_arrives_before_its_stream_event(harness: CliHarness) -> None:
    """CLI-500: assistant(block) precedes content_block_stop; thinking is streamed like text."""
    harness.model.push(reply(thinking("Hm."), "Yes."))
    async with harness.session() as session:
        messages = await play(session)
    lines = all_of(Assistant, messages)
    stops = [e for e in all_of(StreamEvent, messages) if isinstance(e.event, ContentBlockStop)]
    assert len(lines) == len(stops) == 2
    assert isinstance(lines[0].message.content[0], ThinkingBlock)
    for line, stop in zip(lines, stops, strict=True):
        assert messages.index(line) < messages.index(stop)


async def test_a_prompt_is_echoed_at_the_start_of_its_turn_and_only_on_request(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-517: the replay has the host's uuid and marks the start of the turn, not the receipt of
    the prompt."""
    gate = Gate()
    harness.model.push(reply("Hello.").but(hold=gate))
    session = harness.session()
    observer = RecordingObserver.of(session)
    async with session:
        turn = await session.send("hi")
        await gate.reached()
        gate.open()
        await ended(turn)
    (echo,) = [line for line in observer.all_of(User) if line.is_replay]
    assert (echo.uuid, echo.text, echo.parent_tool_use_id) == (turn.uuid, "hi", None)
    assert observer.heard.index(echo) < observer.heard.index(observer.all_of(Assistant)[0])
    if has(cli, Feature.COMMAND_LIFECYCLE):
        async with harness.session(replay_user_messages=False) as session:
            assert all_of(User, await play(session)) == []


async def test_a_request_to_an_overloaded_api_is_retried_and_new_versions_report_it(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-514: retries are silent on old versions, later ones tell of each."""
    harness.model.push(fail(529, retry_after=0), fail(500, retry_after=0), reply("Better now."))
    async with harness.session() as session:
        messages = await play(session)
    assert one_of(Result, messages).text == "Better now."
    told = [(retry.attempt, retry.error_status) for retry in all_of(ApiRetry, messages)]
    assert told == ([(1, 529), (2, 500)] if has(cli, Feature.API_RETRY) else [])


async def test_an_interrupt_works_while_the_cli_waits_for_a_retry(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-514: interrupt works during the wait, which can last for minutes."""
    harness.model.push(fail(529, retry_after=60), reply("Next."))
    session = harness.session()
    observer = RecordingObserver.of(session)
    async with session:
        turn = await session.send("one")
        await harness.model.arrived(1)
        if has(cli, Feature.API_RETRY):
            await observer.until(lambda: observer.all_of(ApiRetry))
        await session.interrupt()
        (result,) = await ended(turn)
        assert result.subtype == "error_during_execution"
        assert one_of(Result, await play(session, "two")).text == "Next."


async def test_the_draft_of_a_broken_stream_is_followed_by_a_new_message(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-515: a draft may never get its final block; what counts has another message.id."""
    gate = Gate()
    lost = reply("This will be lost on the way").but(hold=gate, hold_after=1, cut_after=1)
    harness.model.push(lost, reply("Whole."))
    session = harness.session()
    observer = RecordingObserver.of(session)
    async with session:
        turn = await session.send("go")
        await observer.until(lambda: any("This will" in str(m.data) for m in deltas(observer)))
        gate.open()
        (result,) = await ended(turn)
    starts = [e.event for e in deltas(observer) if isinstance(e.event, MessageStart)]
    (line,) = observer.all_of(Assistant)
    assert line.text == result.text == "Whole."
    assert starts[0].message is not None
    assert starts[0].message.id != line.message.id


def deltas(observer: RecordingObserver) -> list[StreamEvent]:
    return observer.all_of(StreamEvent)


async def test_a_full_context_is_compacted_automatically_within_the_turn(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-516: auto compaction: init, status, boundary, summary."""
    full = Usage(input_tokens=190_000)
    harness.model.push(*[reply("A long story.").but(usage=full)] * 2)
    # Left alone, 2.1.220 and later doubt a usage that the text is too short for.
    window = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"}
    async with harness.session(model=SMALL_WINDOW, env=window) as session, asyncio.timeout(TURN_S):
        await play(session, "one")
        await play(session, "two")
        messages = await play(session, "three")
    boundary = one_of(CompactBoundary, messages)
    assert boundary.compact_metadata is not None
    assert boundary.compact_metadata.trigger == "auto"
    compacting = [s for s in all_of(Status, messages) if s.status == "compacting"]
    order = [messages.index(one_of(Init, messages)), messages.index(boundary)]
    assert len(compacting) == 1
    assert order == sorted(order)
    assert one_of(Result, messages).ok
