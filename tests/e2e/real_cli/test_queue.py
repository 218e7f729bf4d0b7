"""Prompts during a turn: held, merged, folded, cancelled; each of them ends.

CLI-518: user messages sent during a turn, and interrupt with queued messages.
"""

from __future__ import annotations

import asyncio

import pytest

from fairlead import Hook, HookCall, TurnCancelled
from fairlead.model_api.gate import Gate
from fairlead.model_api.replies import reply, use
from fairlead.testing.real_cli import RealCli
from fairlead.wire.events import Result
from fairlead.wire.system import Init, TaskNotification
from fairlead.wire.versions import Feature
from tests.e2e.real_cli.cli_harness import TURN_S, CliHarness, ScriptedDecisions, play
from tests.e2e.real_cli.recording_observer import HeldCommand, RecordingObserver, ended, has


async def test_held_prompts_get_one_turn_each_in_order(harness: CliHarness) -> None:
    """CLI-518: the queue is kept in the host, so every version runs one turn for each."""
    gate = Gate()
    harness.model.push(reply("1").but(hold=gate), reply("2"), reply("3"), reply("4"))
    async with harness.session() as session:
        one = await session.send("one")
        await gate.reached()
        two, three, four = [await session.send(text) for text in ("two", "three", "four")]
        assert [prompt.text for prompt in session.queued] == ["two", "three", "four"]
        assert session.reorder([four.uuid, two.uuid, three.uuid])
        assert session.edit(two.uuid, "two, but better")
        assert await session.cancel(three.uuid)
        gate.open()
        results = await ended(one, four, two)
        with pytest.raises(TurnCancelled, match="cancelled by the host"):
            await three
        assert (session.busy, session.queued) == (False, ())
    assert [result.text for result in results] == ["1", "2", "3"]
    said = [request.text for request in harness.model.requests]
    assert said == ["one", "four", "two, but better"]


async def test_prompts_sent_immediately_during_a_text_get_one_turn_each_or_one_turn_together(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-518: (no tool running) 2.1.38 runs one turn each, later ones merge what waits."""
    gate = Gate()
    harness.model.push(reply("1").but(hold=gate), reply("2"), reply("3"))
    session = harness.session()
    observer = RecordingObserver.of(session)
    async with session:
        one = await session.send("one")
        await gate.reached()
        two, three = [await session.send(text, at_once=True) for text in ("two", "three")]
        held = await session.send("held")
        # The answer shows that the CLI has read what was written before it.
        await session.set_permission_mode("default")
        gate.open()
        first, second, third, last = await ended(one, two, three, held)
        assert not session.busy
    assert (first.text, second.text) == ("1", "2")
    merges = has(cli, Feature.MERGES_QUEUED_PROMPTS)
    assert (third is second) is merges
    assert last is not third
    results = observer.all_of(Result)
    assert len(results) == (3 if merges else 4)
    costs = [turn.cost_usd for turn in (one, two, three, held)]
    assert (costs[2] == 0.0) is merges
    assert sum(cost or 0.0 for cost in costs) == pytest.approx(results[-1].total_cost_usd)


async def test_prompts_sent_immediately_while_a_tool_runs_join_its_turn(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-500: (tool running) the model sees them with its next request, one result for all."""
    with HeldCommand(harness.project) as command:
        harness.model.push(use("Bash", command=command.text, description="d"), reply("All."))
        async with harness.session(on_permission=ScriptedDecisions()) as session:
            one = await session.send("one")
            await command.begun()
            two, three = [await session.send(text, at_once=True) for text in ("two", "three")]
            slash = await session.send("/context", at_once=True)
            assert [prompt.text for prompt in session.queued] == ["/context"]
            await session.set_permission_mode("default")
            command.release()
            first, second, third = await ended(one, two, three)
            assert first is second is third
            assert first.text == "All."
            (local,) = await ended(slash)
            assert local is not first
            assert (session.busy, session.queued) == (False, ())
    last = str(harness.model.requests[-1].messages)
    assert "two" in last
    assert "three" in last
    assert "/context" not in last
    named = {one.uuid, two.uuid, three.uuid}
    if cli.key >= (2, 1, 325):
        assert set(first.answers) == named


async def test_prompts_that_joined_an_interrupted_turn_end_with_it(harness: CliHarness) -> None:
    """CLI-500: the interrupted result ends all that the turn had taken up."""
    gate = Gate()
    with HeldCommand(harness.project) as command:
        harness.model.push(
            use("Bash", command=command.text, description="d"), reply("Never.").but(hold=gate)
        )
        async with harness.session(on_permission=ScriptedDecisions()) as session:
            one = await session.send("one")
            await command.begun()
            two = await session.send("two", at_once=True)
            await session.set_permission_mode("default")
            command.release()
            await gate.reached()
            await session.interrupt()
            first, second = await ended(one, two)
            assert first is second
            assert first.subtype == "error_during_execution"
            await play(session, "three")


async def test_prompts_queued_inside_the_cli_run_after_an_interrupt(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-518: interrupt with queued messages; `still_queued` lists them."""
    gate = Gate()
    harness.model.push(reply("Never.").but(hold=gate), reply("2"))
    async with harness.session() as session:
        one = await session.send("one")
        await gate.reached()
        two = await session.send("two", at_once=True)
        three = await session.send("three")
        answer = await session.interrupt()
        assert answer.get("still_queued") == (
            [two.uuid] if has(cli, Feature.STILL_QUEUED) else None
        )
        stopped, second, third = await ended(one, two, three)
    assert [stopped.ok, second.ok, third.ok] == [False, True, True]
    assert second.text == "2"


async def test_an_interrupt_can_drop_all_queued_prompts(harness: CliHarness, cli: RealCli) -> None:
    """CLI-518: `cancel_queued:true` drops what is queued inside the CLI; the host's own queue
    always works."""
    gate = Gate()
    harness.model.push(reply("Never.").but(hold=gate))
    async with harness.session() as session, asyncio.timeout(TURN_S):
        one = await session.send("one")
        await gate.reached()
        inside = await session.send("inside", at_once=True)
        held = await session.send("held")
        await session.interrupt(cancel_queued=True)
        (stopped,) = await ended(one)
        assert not stopped.ok
        with pytest.raises(TurnCancelled):
            await held
        if has(cli, Feature.CANCELS_QUEUED):
            with pytest.raises(TurnCancelled):
                await inside
        else:
            assert (await ended(inside))[0].ok
        assert not session.busy
        await play(session, "next")


async def test_a_prompt_queued_inside_the_cli_can_be_cancelled_if_the_version_supports_it(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-1200: cancel_async_message; old versions are silent about it, so they are not asked."""
    gate = Gate()
    harness.model.push(reply("1").but(hold=gate))
    async with harness.session() as session, asyncio.timeout(TURN_S):
        one = await session.send("one")
        await gate.reached()
        two = await session.send("two", at_once=True)
        can = not has(cli, Feature.UNKNOWN_CONTROL_IS_SILENT)
        assert await session.cancel(two.uuid) is can
        gate.open()
        await ended(one)
        if can:
            with pytest.raises(TurnCancelled):
                await two
        else:
            assert (await ended(two))[0].ok
        await play(session, "three")
        assert await session.cancel(one.uuid) is False
    said = [request.text for request in harness.model.requests]
    assert said == (["one", "three"] if can else ["one", "two", "three"])


async def test_a_prompt_with_priority_now_ends_the_running_turn(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-520: `priority:"now"` aborts the turn; 2.1.38 queues it like any other."""
    gate = Gate()
    harness.model.push(reply("1").but(hold=gate), reply("2"))
    async with harness.session() as session:
        one = await session.send("one")
        await gate.reached()
        two = await session.send("two", at_once=True, priority="now")
        await session.set_permission_mode("default")
        gate.open()
        first, second = await ended(one, two)
    aborts = cli.key >= (2, 1, 120)
    assert first.terminal_reason == ("aborted_streaming" if aborts else None)
    assert first.ok is not aborts
    assert second.text == "2"


async def test_a_prompt_blocked_by_a_hook_ends_like_any_other(harness: CliHarness) -> None:
    """CLI-814: UserPromptSubmit block: a result and no request."""

    async def block(call: HookCall) -> dict[str, str] | None:
        blocked = "secret" in call.input["prompt"]
        return {"decision": "block", "reason": "not that"} if blocked else None

    async with harness.session(hooks=[Hook(event="UserPromptSubmit", handler=block)]) as session:
        blocked, free = [await session.send(text) for text in ("a secret", "hello")]
        await ended(blocked, free)
        assert not session.busy
    assert [request.text for request in harness.model.requests] == ["hello"]


@pytest.mark.only(since="2.1.120")
async def test_a_turn_without_a_prompt_delays_queued_prompts_and_ends_none(
    harness: CliHarness,
) -> None:
    """CLI-521: turns that background tasks start by themselves."""
    gate = Gate()
    session = harness.session(on_permission=ScriptedDecisions())
    observer = RecordingObserver.of(session)
    with HeldCommand(harness.project) as command:
        background = use("Bash", command=command.text, description="d", run_in_background=True)
        harness.model.push(background, reply("Started."), reply("By itself.").but(hold=gate))
        async with session:
            one = await session.send("one")
            (first,) = await ended(one)
            assert first.text == "Started."
            await command.begun()
            command.release()
            await observer.until(lambda: observer.all_of(TaskNotification))
            await gate.reached()
            await observer.until(lambda: len(observer.all_of(Init)) == 2)
            assert session.busy
            two = await session.send("two")
            assert [prompt.text for prompt in session.queued] == ["two"]
            gate.open()
            (second,) = await ended(two)
    results = observer.all_of(Result)
    assert [result.text for result in results] == ["Started.", "By itself.", "Done."]
    assert second is results[2]
    assert two.cost_usd == pytest.approx(
        (results[2].total_cost_usd or 0.0) - (results[1].total_cost_usd or 0.0)
    )
