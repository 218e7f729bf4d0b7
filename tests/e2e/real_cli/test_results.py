"""How turns end: success, errors, limits, cost (CLI-506)."""

from __future__ import annotations

import pytest

from fairlead import Options, Session
from fairlead.model_api.replies import Usage, fail, reply, use
from fairlead.model_api.script import when
from fairlead.testing.real_cli import RealCli
from fairlead.wire.events import Assistant, Result
from fairlead.wire.versions import Feature
from tests.e2e.real_cli.cli_harness import (
    CliHarness,
    ScriptedDecisions,
    all_of,
    one_of,
    play,
    tool_lines,
)
from tests.e2e.real_cli.recording_observer import RecordingObserver, ended, has

SCHEMA = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}


async def test_an_api_error_is_reported_as_a_success_result_that_is_an_error(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-506: subtype success with is_error. At the end exit 1."""
    # 2.1.325 tries a 400 a second time, hence for ever.
    harness.model.push(when(fail(400, "a scripted refusal"), text="bad", times=None))
    session = harness.session()
    observer = RecordingObserver.of(session)
    async with session:
        good = one_of(Result, await play(session, "good"))
        messages = await play(session, "bad")
        result = one_of(Result, messages)
    assert good.ok
    assert (result.subtype, result.is_error, result.ok) == ("success", True, False)
    assert "a scripted refusal" in result.text
    (line,) = all_of(Assistant, messages)
    assert line.error == "unknown"
    if cli.key >= (2, 1, 220):
        assert (result.api_error_status, result.terminal_reason) == (400, "api_error")
        assert line.is_api_error_message
    assert observer.returncode == 1


async def test_without_credentials_the_turn_fails_with_a_reason(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-513: no credentials."""
    async with harness.session(env={"ANTHROPIC_API_KEY": ""}) as session:
        messages = await play(session)
    result = one_of(Result, messages)
    assert (result.subtype, result.is_error) == ("success", True)
    assert "Please run /login" in result.text
    assert all_of(Assistant, messages)[-1].error == "authentication_failed"
    assert harness.model.requests == ()


async def test_a_turn_limit_ends_each_turn_and_the_session_continues(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-511: error_max_turns, after the tool ran; the counter starts again."""
    told = has(cli, Feature.INTERRUPT_IS_ERROR)
    async with harness.session(max_turns=1, on_permission=ScriptedDecisions()) as session:
        for _ in range(2):
            messages = await harness.use(session, "Bash", command="echo ran", description="d")
            result = one_of(Result, messages)
            assert (result.subtype, result.is_error, result.ok) == ("error_max_turns", told, False)
            assert len(tool_lines(messages)) == 1
        assert one_of(Result, await play(session, "no tool")).ok
    assert len(harness.model.requests) == 3


async def test_an_exhausted_budget_ends_this_turn_and_every_later_one(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-511: error_max_budget_usd before the tool runs; later turns fail at once."""
    told = has(cli, Feature.INTERRUPT_IS_ERROR)
    async with harness.session(max_budget_usd=0.0001, on_permission=ScriptedDecisions()) as session:
        messages = await harness.use(session, "Bash", command="echo ran", description="d")
        assert tool_lines(messages) == []
        for result in (one_of(Result, messages), one_of(Result, await play(session, "more"))):
            assert (result.subtype, result.is_error) == ("error_max_budget_usd", told)
            assert not result.ok
    assert len(harness.model.requests) == 1


async def test_cost_is_reported_in_total_and_tokens_per_turn(harness: CliHarness) -> None:
    """CLI-507: cumulative are total_cost_usd and modelUsage; per turn usage."""
    amounts = [Usage(output_tokens=tokens) for tokens in (1000, 3000, 2000)]
    harness.model.push(*(reply("x").but(usage=usage) for usage in amounts))
    async with harness.session() as session:
        turns = []
        for text in ("one", "two", "three"):
            turn = await session.send(text)
            await ended(turn)
            turns.append(turn)
    results = [turn.result for turn in turns if turn.result is not None]
    assert [r.usage.output_tokens for r in results if r.usage] == [1000, 3000, 2000]
    assert [r.num_turns for r in results] == [1, 1, 1]
    counted = [sum(m.output_tokens or 0 for m in r.model_usage.values()) for r in results]
    assert counted == [1000, 4000, 6000]
    costs = [turn.cost_usd for turn in turns]
    assert costs[0] is not None
    assert sum(cost or 0.0 for cost in costs) == pytest.approx(results[-1].total_cost_usd)
    assert costs[1] == pytest.approx(costs[0] * 3, rel=0.1)
    assert costs[2] == pytest.approx(costs[0] * 2, rel=0.1)


async def test_the_cost_of_a_turn_is_correct_after_a_resume(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-507: the total starts at 0 again on old versions, on 2.1.325 it continues."""
    options: Options = harness.options()
    async with Session(options) as session:
        first = await session.send("one")
        await ended(first)
    assert session.session_id is not None
    async with Session.resume(session.session_id, options) as again:
        second = await again.send("two")
        (result,) = await ended(second)
    assert first.cost_usd is not None
    assert second.cost_usd == pytest.approx(first.cost_usd)
    goes_on = has(cli, Feature.COST_CONTINUES_ON_RESUME)
    assert result.total_cost_usd == pytest.approx(first.cost_usd * (2 if goes_on else 1))


async def test_a_schema_gives_a_structured_output_or_none_and_the_turn_always_ends(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-512: check structured_output itself; 2.1.38 asks again without end."""
    harness.model.push(use("StructuredOutput", n=3))
    async with harness.session(json_schema=SCHEMA, max_budget_usd=1) as session:
        good = await session.send("count")
        await ended(good)
        assert (good.ok, good.structured_output) == (True, {"n": 3})
    async with harness.session(json_schema=SCHEMA, max_budget_usd=0.02) as session:
        bad = await session.send("do not count")
        (result,) = await ended(bad)
    assert bad.structured_output is None
    loops = has(cli, Feature.SCHEMA_LOOPS)
    assert result.subtype == ("error_max_budget_usd" if loops else "success")
