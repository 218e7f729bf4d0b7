"""Parallel requests: open at the same time, answered in any order, withdrawn (CLI-309)."""

from __future__ import annotations

import asyncio

import pytest

from fairlead import Allow, Deny, PermissionRequest
from fairlead.model_api.gate import Gate
from fairlead.model_api.replies import Reply, reply, tool
from fairlead.wire.blocks import TextBlock
from fairlead.wire.events import Assistant, Result
from tests.e2e.real_cli.cli_harness import (
    TURN_S,
    CliHarness,
    HeldRequests,
    all_of,
    play,
    tool_lines,
)


def two_reads(harness: CliHarness) -> Reply:
    paths = harness.outside("x.txt", "xx"), harness.outside("y.txt", "yy")
    return reply(*(tool("Read", file_path=str(path)) for path in paths))


async def test_two_open_reads_can_be_answered_in_any_order(harness: CliHarness) -> None:
    """CLI-300: several permissions in one message; dialogs are keyed by request id."""
    harness.model.push(two_reads(harness))
    decisions = HeldRequests()
    async with harness.session(on_permission=decisions) as session:
        turn = await session.send("go")
        await decisions.arrived(2)
        first, second = decisions.asked
        assert set(session.pending) == {first.id, second.id}
        decisions.answer(second, Allow())
        decisions.answer(first, Deny("not this one"))
        async with asyncio.timeout(TURN_S):
            messages = [message async for message in turn]
        assert session.pending == {}
    outcome = {block.tool_use_id: block.is_error is True for _, block in tool_lines(messages)}
    assert outcome == {second.tool_use_id: False, first.tool_use_id: True}


async def test_two_commands_are_requested_one_after_the_other(harness: CliHarness) -> None:
    """CLI-300: several permissions in one message; Bash commands wait for each other."""
    command = harness.script()
    calls = [tool("Bash", command=f"{command} {word}", description="d") for word in ("one", "two")]
    harness.model.push(reply(*calls))
    decisions = HeldRequests()
    async with harness.session(on_permission=decisions) as session:
        turn = await session.send("go")
        await decisions.arrived(1)
        # The CLI has answered something else since, and still asks for the first one only.
        await session.set_permission_mode("default")
        assert len(decisions.asked) == 1
        decisions.answer(decisions.asked[0], Allow())
        await decisions.arrived(2)
        decisions.answer(decisions.asked[1], Allow())
        async with asyncio.timeout(TURN_S):
            assert (await turn).ok
    assert [request.input["command"] for request in decisions.asked] == [
        f"{command} one",
        f"{command} two",
    ]


async def test_an_interrupt_withdraws_all_open_requests(harness: CliHarness) -> None:
    """CLI-203: interrupt during a pending permission; the handler is cancelled."""
    harness.model.push(two_reads(harness))
    decisions = HeldRequests()
    async with harness.session(on_permission=decisions) as session:
        turn = await session.send("go")
        await decisions.arrived(2)
        await session.interrupt()
        async with asyncio.timeout(TURN_S):
            result = await turn
        assert session.pending == {}
        after = await play(session, "next")
    assert result.subtype == "error_during_execution"
    assert [request.id for request in decisions.withdrawn] == [
        request.id for request in decisions.asked
    ]
    assert all_of(Result, after)[0].ok


@pytest.mark.only(since="2.1.325")
async def test_a_request_can_arrive_while_the_reply_is_streaming(harness: CliHarness) -> None:
    """CLI-300: tools start before the message is over; do not wait for its end."""
    gate = Gate()
    write = tool("Write", file_path=str(harness.project / "a.txt"), content="x")
    spoken = reply(write, "And that was that.").but(delta_chars=1000, hold=gate, hold_after=2)
    harness.model.push(spoken)

    async def decide(request: PermissionRequest) -> Allow:
        assert not gate.is_open
        gate.open()
        return Allow()

    async with harness.session(on_permission=decide) as session:
        messages = await play(session)
    said = [
        block.text
        for line in all_of(Assistant, messages)
        for block in all_of(TextBlock, line.message.content)
    ]
    assert said[0] == "And that was that."
    assert (harness.project / "a.txt").exists()
