"""Slash commands: their output, the list of commands, and their effects (CLI-600)."""

from __future__ import annotations

from fairlead.model_api.replies import reply
from fairlead.model_api.request import ModelRequest
from fairlead.testing.real_cli import RealCli
from fairlead.wire.events import Assistant, ConversationReset, Result, User
from fairlead.wire.system import CompactBoundary, Init, Status
from fairlead.wire.versions import Feature
from tests.e2e.real_cli.cli_harness import CliHarness, all_of, one_of, play
from tests.e2e.real_cli.recording_observer import has

EVERYWHERE = {"compact", "context", "init"}
"""Commands that all versions have."""


async def test_the_output_of_a_local_command_is_a_user_line_or_an_assistant_line(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-600: `<local-command-stdout>` or a synthetic message; num_turns means nothing."""
    async with harness.session() as session:
        for command, words in (("/cost", "Total cost"), ("/context", "Context Usage")):
            messages = await play(session, command)
            result = one_of(Result, messages)
            assert result.ok
            # From 2.1.325 on the name tells that this text is not to be shown twice.
            assert bool(result.local_command) is (cli.key >= (2, 1, 325))
            if has(cli, Feature.SLASH_OUTPUT_IS_ASSISTANT):
                (line,) = all_of(Assistant, messages)
                assert line.message.model == "<synthetic>"
                assert words in line.text
                assert result.text.strip() == line.text.strip()
            else:
                (output,) = all_of(User, messages)
                assert output.text.startswith("<local-command-stdout>")
                assert words in output.text
                assert result.text == ""
    assert harness.model.requests == ()


async def test_unknown_commands_are_reported_or_sent_to_the_model(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-603: "Unknown skill"; on 2.1.325 an unknown /foo is a prompt like any other."""

    def asked() -> tuple[ModelRequest, ...]:
        return harness.model.requests

    async with harness.session() as session:
        known = one_of(Result, await play(session, "/help"))
        assert known.ok
        assert "help" in known.text
        assert asked() == ()
        unknown = one_of(Result, await play(session, "/no-such-command"))
    if has(cli, Feature.UNKNOWN_SLASH_GOES_TO_MODEL):
        assert [request.text[-16:] for request in asked()] == ["/no-such-command"]
        assert unknown.text == "Done."
    else:
        assert "no-such-command" in unknown.text
        assert asked() == ()


async def test_the_commands_are_listed_in_initialize_and_in_init(harness: CliHarness) -> None:
    """CLI-600: read them from init and from the answer to initialize."""
    folder = harness.project / ".claude" / "commands"
    folder.mkdir(parents=True)
    (folder / "hello.md").write_text("Say hello to $ARGUMENTS.")
    async with harness.session() as session:
        offered = {command["name"]: command for command in session.initialized["commands"]}
        messages = await play(session, "/hello the world")
        known = set(one_of(Init, messages).slash_commands)
    assert {"hello", *EVERYWHERE} <= known
    assert {"hello", "compact"} <= set(offered)
    assert {"name", "description", "argumentHint"} <= set(offered["compact"])
    assert one_of(Result, messages).text == "Done."
    assert "Say hello to the world." in harness.model.requests[0].text


async def test_compact_summarizes_and_reports_its_steps_in_order(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-516, CLI-600: status compacting, status null, init, boundary, summary."""
    harness.model.push(*(reply(f"story-{number} " * 2000) for number in range(4)))
    async with harness.session() as session:
        for text in ("one", "two", "three", "four"):
            await play(session, text)
        messages = await play(session, "/compact")
        result = one_of(Result, messages)
        await play(session, "five")
    boundary = one_of(CompactBoundary, messages)
    assert boundary.compact_metadata is not None
    assert boundary.compact_metadata.trigger == "manual"
    start, end = [s for s in all_of(Status, messages) if s.permission_mode is None][:2]
    assert (start.status, end.status) == ("compacting", None)
    places = [
        messages.index(start),
        messages.index(end),
        messages.index(one_of(Init, messages)),
        messages.index(boundary),
        messages.index(result),
    ]
    assert places == sorted(places)
    assert any("Compacted" in line.text for line in all_of(User, messages))
    assert result.ok
    last = str(harness.model.requests[-1].messages)
    assert "A scripted conversation." in last
    assert "story-0" not in last


async def test_compact_without_messages_fails_with_a_message(harness: CliHarness) -> None:
    """CLI-600: an error text, but subtype success."""
    async with harness.session() as session:
        messages = await play(session, "/compact")
    assert one_of(Result, messages).ok
    said = [line.text for line in all_of(User, messages)]
    said += [line.text for line in all_of(Assistant, messages)]
    assert any("essages to compact" in text for text in said)


async def test_clear_starts_a_new_session_if_the_version_supports_it(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-600: conversation_reset, then an init with a new session_id, cost 0."""
    async with harness.session() as session:
        await play(session, "remember the kumquat")
        before = session.session_id
        messages = await play(session, "/clear")
        after = session.session_id
        one = await session.send("again")
        await one
    clears = cli.key >= (2, 1, 220)
    assert ("kumquat" in str(harness.model.requests[-1].messages)) is not clears
    assert one.cost_usd is not None
    assert one.cost_usd > 0
    if clears:
        reset = one_of(ConversationReset, messages)
        assert after == one_of(Init, messages).session_id
        assert after != before
        assert reset.new_conversation_id != after
        assert one_of(Result, messages).total_cost_usd == 0
    else:
        # 2.1.120 changes the id and forgets nothing.
        assert (after == before) is (cli.key < (2, 1, 120))
