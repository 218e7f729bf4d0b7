"""Subagents: their lines, their requests, and background work (CLI-1100)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fairlead import Allow, Deny
from fairlead.host.engine.prompts import PromptState
from fairlead.host.process.process import Graces
from fairlead.model_api.gate import Gate
from fairlead.model_api.replies import ToolUse, reply, tool, use
from fairlead.model_api.script import when
from fairlead.testing.real_cli import RealCli
from fairlead.wire.blocks import ToolUseBlock
from fairlead.wire.events import Assistant, Result, StreamEvent, User
from fairlead.wire.system import BackgroundTasksChanged, TaskNotification, TaskStarted
from tests.e2e.real_cli.cli_harness import (
    TURN_S,
    CliHarness,
    HeldRequests,
    ScriptedDecisions,
    all_of,
    one_of,
    play,
    tool_lines,
)
from tests.e2e.real_cli.recording_observer import ended


def agent(prompt: str, *, background: bool = False) -> ToolUse:
    """The model starts a subagent; newer CLIs do it in the background by default."""
    return tool(
        "Task",
        description="some work",
        prompt=prompt,
        subagent_type="general-purpose",
        run_in_background=background,
    )


async def test_the_lines_of_a_subagent_name_the_call_that_started_it(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-1103: parent_tool_use_id; the Task tool's result; a permission in a subagent."""
    command = harness.script()
    harness.model.push(
        reply(agent("look into it")),
        when(use("Bash", command=f"{command} below", description="d"), text="look into it"),
        when(reply("It is fine below."), tool_result="ran below"),
    )
    decisions = ScriptedDecisions()
    async with harness.session(on_permission=decisions) as session:
        messages = await play(session)
        session_id = session.session_id
    uses = [b for a in all_of(Assistant, messages) for b in all_of(ToolUseBlock, a.message.content)]
    task, bash = uses
    below = [one for one in messages if getattr(one, "parent_tool_use_id", None) == task.id]
    assert [type(one) for one in below] == [User, Assistant, User]
    assert all_of(StreamEvent, below) == []
    (request,) = decisions.asked
    assert request.tool_use_id == bash.id
    assert request.agent_id is not None
    ((line, _),) = [pair for pair in tool_lines(messages) if pair[1].tool_use_id == task.id]
    assert line.parent_tool_use_id is None
    done = line.tool_use_result
    assert (done["status"], done["prompt"]) == ("completed", "look into it")
    assert done["agentId"] == request.agent_id
    assert "It is fine below." in str(done["content"])
    # The result of a tool inside a subagent has no structured twin.
    inside = [one.tool_use_result for one, _ in tool_lines(below)]
    assert inside == [None]
    # CLI-708: subagents have transcripts of their own.
    own = f".claude/projects/*/{session_id}/subagents/agent-{request.agent_id}.jsonl"
    assert len(list(harness.home.glob(own))) == 1
    if cli.key >= (2, 1, 120):
        assert one_of(TaskStarted, messages).tool_use_id == task.id
    if cli.key >= (2, 1, 325):
        assert {one.agent_id for one in all_of(User, below)} == {request.agent_id}


async def test_two_subagents_send_requests_at_the_same_time(harness: CliHarness) -> None:
    """CLI-309: several permissions at once, here of two subagents, answered in any order."""
    command = harness.script()
    harness.model.push(
        reply(agent("take the left"), agent("take the right")),
        when(use("Bash", command=f"{command} left", description="d"), text="take the left"),
        when(use("Bash", command=f"{command} right", description="d"), text="take the right"),
    )
    decisions = HeldRequests()
    async with harness.session(on_permission=decisions) as session:
        turn = await session.send("go")
        await decisions.arrived(2)
        first, second = decisions.asked
        assert first.agent_id != second.agent_id
        decisions.answer(second, Allow())
        decisions.answer(first, Deny("not this way"))
        (result,) = await ended(turn)
    assert result.ok
    denied = [denial.tool_use_id for denial in result.permission_denials]
    assert denied == [first.tool_use_id]


async def test_the_turn_ends_before_a_background_agent_ends(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-1102: background; closing does not wait for it forever (exit on EOF)."""
    gate = Gate()
    harness.model.push(
        reply(agent("take your time", background=True)),
        when(reply("At last.").but(hold=gate), text="take your time"),
    )
    graces = Graces(after_eof=0.5, after_term=5.0, after_kill=5.0)
    async with harness.session(graces=graces) as session:
        turn = await session.send("go")
        async with asyncio.timeout(TURN_S):
            launched: Any = await anext(
                line.tool_use_result async for one in turn for line, _ in tool_lines([one])
            )
            await gate.reached()
            # 2.1.120 keeps the result back until the agent has ended.
            if not (2, 1, 120) <= cli.key < (2, 1, 220):
                assert (await turn).ok
                assert not session.busy
            await session.close()
    assert (launched["isAsync"], launched["status"]) == (True, "async_launched")
    assert launched["agentId"]


@pytest.mark.only(since="2.1.325")
async def test_the_end_of_a_background_agent_starts_a_turn(harness: CliHarness) -> None:
    """CLI-521: turns without a prompt; a prompt waits until such a turn is over."""
    agent_gate, turn_gate = Gate(), Gate()
    harness.model.push(
        reply(agent("take your time", background=True)),
        when(reply("At last.").but(hold=agent_gate), text="take your time"),
        reply("It works in the background."),
        reply("It has ended.").but(hold=turn_gate),
    )
    async with harness.session() as session:
        reader = session.messages()
        first = await session.send("go")
        await ended(first)
        agent_gate.open()
        await turn_gate.reached()
        assert session.busy
        waiting = await session.send("and now?")
        assert waiting.state is PromptState.HELD
        turn_gate.open()
        await ended(waiting)
        heard = []
        async with asyncio.timeout(TURN_S):
            async for message in reader:
                heard.append(message)
                if message is waiting.result:
                    break
    asked, unasked, last = all_of(Result, heard)
    assert (asked.text, unasked.text) == ("It works in the background.", "It has ended.")
    assert unasked.origin["kind"] == "task-notification"
    assert (first.result, waiting.result) == (asked, last)
    (started,) = all_of(TaskStarted, heard)
    forwarded = [line.text for line in all_of(Assistant, heard) if line.parent_tool_use_id]
    assert forwarded == ["At last."]
    (notice,) = all_of(TaskNotification, heard)
    assert (notice.task_id, notice.status) == (started.task_id, "completed")
    assert [len(change.tasks or ()) for change in all_of(BackgroundTasksChanged, heard)] == [1, 0]
