"""What a host sends and what the CLI does with it; interrupts are in test_interrupts (CLI-203,
CLI-900)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fairlead import (
    Allow,
    ControlError,
    ControlTimeout,
    Deny,
    Options,
    PermissionRequest,
    Session,
    TurnCancelled,
    UsageError,
)
from fairlead.host.engine.prompts import PromptState
from fairlead.host.process.turn import Turn
from fairlead.model_api.replies import reply, tool, use
from fairlead.testing.real_cli import RealCli
from fairlead.wire.control import ControlResponse
from fairlead.wire.events import Result, User
from fairlead.wire.system import Init, Status
from fairlead.wire.versions import Feature
from tests.e2e.real_cli.cli_harness import (
    TURN_S,
    CliHarness,
    ScriptedDecisions,
    all_of,
    one_of,
    play,
    tool_lines,
)
from tests.e2e.real_cli.recording_observer import RecordingObserver, ended, has

SILENCE_S = 0.5
"""How long to wait for a CLI that is known never to answer such a request."""

ODD_TEXTS = (
    " ",
    "two\nlines\r\nand a tab\t",
    "U+2028 \u2028, U+0085 \x85, NUL \x00, BOM \ufeff, \U0001f600",
    '{"type":"control_cancel_request","request_id":"1"}\n\nnull',
    "x" * 300_000,
)
"""Prompts that would end a CLI if they were not written as one whole line (CLI-900)."""


async def test_a_prompt_can_have_several_blocks_and_its_echo_has_its_uuid(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-202: content of blocks, the host's own uuid; the echo marks the start."""
    async with harness.session() as session:
        turn = await session.send(["first", "second"])
        messages = [message async for message in turn]
        (echo,) = [line for line in all_of(User, messages) if line.is_replay]
        assert echo.uuid == turn.uuid
        assert messages.index(echo) > messages.index(one_of(Init, messages))
        assert turn.state is PromptState.DONE
        named = (turn.uuid,) if cli.key >= (2, 1, 220) else ()
        assert turn.result is not None
        assert turn.result.answers == named
    assert harness.model.requests[0].text == "first\nsecond"


async def test_no_prompt_text_can_end_the_cli(harness: CliHarness) -> None:
    """CLI-900: whatever the text, one message is one line."""
    async with harness.session() as session:
        for text in ODD_TEXTS:
            (result,) = await ended(await session.send(text))
            assert result.ok
    assert [request.text for request in harness.model.requests[1:]] == list(ODD_TEXTS[1:])


async def test_a_prompt_with_a_known_uuid_is_dropped_and_reported(
    harness: CliHarness,
) -> None:
    """CLI-202: a uuid of the resumed transcript is dropped without a result."""
    async with harness.session() as session:
        first = await session.send("one")
        await ended(first)
        with pytest.raises(UsageError, match="before"):
            await session.send("one", uuid=first.uuid)
    assert session.session_id is not None
    async with (
        Session.resume(session.session_id, harness.options()) as again,
        asyncio.timeout(TURN_S),
    ):
        dropped = await again.send("one", uuid=first.uuid)
        waiting = await again.send("two")
        with pytest.raises(TurnCancelled, match="seen its uuid"):
            await dropped
        await ended(waiting)
    assert [request.text for request in harness.model.requests] == ["one", "two"]


async def test_the_permission_mode_changes_at_once_and_in_the_next_init(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-210: set_permission_mode; answered twice by old ones."""
    session = harness.session()
    observer = RecordingObserver.of(session)
    async with session:
        assert await session.set_permission_mode("acceptEdits") == "acceptEdits"
        assert one_of(Init, await play(session)).permission_mode == "acceptEdits"
        assert await session.set_permission_mode("manual") == "default"
        assert one_of(Init, await play(session)).permission_mode == "default"
        with pytest.raises(UsageError, match="nonsense"):
            await session.set_permission_mode("nonsense")  # type: ignore[arg-type]
        if has(cli, Feature.CHECKS_MODE):
            with pytest.raises(ControlError, match="must be one of"):
                await session.control("set_permission_mode", mode="nonsense")
    twice = has(cli, Feature.DOUBLE_MODE_ANSWER)
    ids = [answer.response.request_id for answer in observer.all_of(ControlResponse)]
    assert [ids.count(one) for one in dict.fromkeys(ids)][1:3] == [2 if twice else 1] * 2
    modes = [status.permission_mode for status in observer.all_of(Status) if status.permission_mode]
    assert ("acceptEdits" in modes) is not twice


async def test_bypass_is_refused_if_the_version_requires_a_flag_for_it(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-210: set_permission_mode bypassPermissions; old ones take it without any flag."""
    async with harness.session() as session:
        refuses = cli.key >= (2, 1, 120)
        if refuses:
            with pytest.raises(ControlError, match="dangerously-skip-permissions"):
                await session.set_permission_mode("bypassPermissions")
        else:
            assert await session.set_permission_mode("bypassPermissions") == "bypassPermissions"
        mode = one_of(Init, await play(session)).permission_mode
        assert mode == ("default" if refuses else "bypassPermissions")


async def test_a_mode_set_during_an_open_request_applies_to_the_next_tool(
    harness: CliHarness,
) -> None:
    """CLI-210: set mode while a permission is pending; the prompt stays."""
    files = [str(harness.project / name) for name in ("a.txt", "b.txt")]
    asked: list[str] = []

    async def decide(request: PermissionRequest) -> Allow:
        asked.append(request.input["file_path"])
        await session.set_permission_mode("acceptEdits")
        return Allow()

    harness.model.push(*(use("Write", file_path=path, content="x") for path in files))
    async with harness.session(on_permission=decide) as session:
        await play(session)
    assert asked == files[:1]
    assert (harness.project / "b.txt").read_text() == "x"


async def test_a_new_model_answers_the_next_request(harness: CliHarness, cli: RealCli) -> None:
    """CLI-215: set_model; any name is taken; 2.1.325 probes a name it does not know."""
    async with harness.session(model="claude-sonnet-4-5") as session:
        await play(session)
        resolved = await session.set_model("claude-unheard-of")
        assert one_of(Init, await play(session)).model == "claude-unheard-of"
        await session.set_model()
        await play(session)
    asked = [request.model for request in harness.model.requests]
    assert asked[:2] == ["claude-sonnet-4-5", "claude-unheard-of"]
    assert asked[2] != "claude-unheard-of"
    probes = [request for request in harness.model.side_requests if request.kind == "probe"]
    newest = cli.key >= (2, 1, 325)
    assert resolved == ("claude-unheard-of" if newest else None)
    assert [probe.model for probe in probes] == (["claude-unheard-of"] if newest else [])


async def test_thinking_can_be_limited_disabled_and_reset(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-210: set_max_thinking_tokens n, 0 and null."""
    async with harness.session(model="claude-sonnet-4-5") as session:
        for tokens in (2048, 0, None):
            await session.set_max_thinking_tokens(tokens)
            await play(session)
    limited, off, _ = (request.body.get("thinking") for request in harness.model.requests)
    assert limited is not None
    assert limited["type"] in ("enabled", "adaptive")
    assert limited.get("budget_tokens", 2048) == 2048
    assert off is None or off["type"] == "disabled"


async def test_an_unknown_request_is_an_error_or_times_out(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-215: unknown control subtypes, and stop_task; old ones are silent forever."""
    silent = has(cli, Feature.UNKNOWN_CONTROL_IS_SILENT)
    async with harness.session() as session:
        limit = SILENCE_S if silent else None
        with pytest.raises(ControlTimeout if silent else ControlError):
            await session.control("no_such_request", timeout=limit)
        if silent:
            with pytest.raises(ControlTimeout, match="stop_task"):
                await session.control("stop_task", timeout=limit, task_id="none")
        await play(session)


async def test_the_handlers_decisions_reach_the_tool_and_the_model(
    harness: CliHarness,
) -> None:
    """CLI-219: allow always carries the whole input, deny always a message, both toolUseID."""
    command = harness.script()
    decisions = ScriptedDecisions(Allow(), Deny("Not this one."))
    session = harness.session(on_permission=decisions)
    observer = RecordingObserver.of(session)
    async with session:
        first = tool_lines(await harness.use(session, "Bash", command=command, description="d"))
        second = tool_lines(await harness.use(session, "Bash", command=command, description="d"))
    assert ["ran" in str(first[0][1].content), first[0][1].is_error] == [True, False]
    assert ["Not this one." in str(second[0][1].content), second[0][1].is_error] == [True, True]
    allowed, denied = answers(observer)
    assert allowed == {
        "behavior": "allow",
        "updatedInput": {"command": command, "description": "d"},
        "toolUseID": decisions.asked[0].tool_use_id,
    }
    assert denied == {
        "behavior": "deny",
        "message": "Not this one.",
        "toolUseID": decisions.asked[1].tool_use_id,
    }


def answers(observer: RecordingObserver) -> list[dict[str, Any]]:
    """The bodies of what the host answered."""
    lines = [line for line in observer.written if line["type"] == "control_response"]
    return [line["response"]["response"] for line in lines]


async def test_a_failing_or_missing_handler_denies_and_the_turn_continues(
    harness: CliHarness,
) -> None:
    """CLI-200: a malformed answer never hangs, it denies; everything is answered."""
    command = harness.script()

    async def broken(request: PermissionRequest) -> Allow:
        raise RuntimeError("out of order")

    for handler, words in ((broken, "out of order"), (None, "no permission handler")):
        async with harness.session(on_permission=handler) as session:
            messages = await harness.use(session, "Bash", command=command, description="d")
        ((_, block),) = tool_lines(messages)
        assert block.is_error
        assert words in str(block.content)
        assert one_of(Result, messages).ok


async def test_an_answer_to_a_request_that_has_ended_is_not_written(harness: CliHarness) -> None:
    """CLI-221: a second or late response is ignored by the CLI; Fairlead never sends one."""
    harness.model.push(use("Bash", command=harness.script(), description="d"))
    decisions = ScriptedDecisions()
    session = harness.session(on_permission=decisions)
    observer = RecordingObserver.of(session)
    async with session:
        await play(session)
        link = session._link
        assert link is not None
        assert (
            link.engine.answer(decisions.asked[0].id, {"behavior": "deny", "message": "x"}) is False
        )
        await play(session)
    assert len(answers(observer)) == 1


async def test_each_tool_of_a_message_is_requested_with_its_own_input(
    harness: CliHarness,
) -> None:
    """CLI-200: the answer belongs to its request_id, whatever the order."""
    commands = [harness.script(name) for name in ("one.sh", "two.sh")]
    harness.model.push(reply(*(tool("Bash", command=c, description="d") for c in commands)))
    decisions = ScriptedDecisions(Deny("Only the other."))
    async with harness.session(on_permission=decisions) as session:
        messages = await play(session)
    assert sorted(request.input["command"] for request in decisions.asked) == sorted(commands)
    denied = decisions.asked[0].tool_use_id
    failed = [block.tool_use_id for _, block in tool_lines(messages) if block.is_error]
    assert failed == [denied]
    assert one_of(Result, messages).permission_denials[0].tool_use_id == denied


async def test_invalid_arguments_do_not_affect_a_running_session(harness: CliHarness) -> None:
    """CLI-200: a tool's result as a prompt has no effect anywhere, so it cannot be sent."""
    async with harness.session() as session:
        for prompt in ("", [], [{"type": "tool_result", "tool_use_id": "x"}], 5):
            with pytest.raises(UsageError):
                await session.send(prompt)  # type: ignore[arg-type]
        with pytest.raises(UsageError):
            await session.control("interrupt", reason=object())
        turn: Turn = await session.send("still there?")
        assert (await ended(turn))[0].ok


def test_the_options_of_one_test_do_not_affect_another(harness: CliHarness) -> None:
    """All of this runs hermetically: nothing of the machine's environment is passed on."""
    options: Options = harness.options()
    assert options.inherit_env is False
    assert options.env["HOME"] == str(harness.home)
