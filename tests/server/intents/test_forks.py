"""Forks: of a session of the server, and of one that exists only as a CLI's file."""

from __future__ import annotations

import os
import time
import uuid
from pathlib import Path

from fairlead.server.protocol.intents import Fork, Stop
from tests.server.cli_file import cli_file
from tests.server.server_harness import ServerHarness


async def test_B43_a_fork_has_the_history_up_to_the_message_it_was_made_at(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new(prompt="first")
        live = await harness.state(session, "idle")
        at = live.transcript.items[1].id
        await harness.say(session, text="second")
        await harness.until(lambda: len(live.transcript.turns) == 2)
        await harness.state(session, "idle")
        result = await harness.act(Fork(session=session, at=at))
        assert result.ok, result
        forked = await harness.registry.sessions.load(result.result["session"])
        texts = [getattr(item, "text", "") for item in forked.transcript.items]
        assert texts[:2] == ["first", "first"]
        assert "second" not in texts
        await harness.until(lambda: len(harness.told("argv")) == 2)
        argv = harness.told("argv")[1]["argv"]
        assert f"--resume={live.transcript.session.id}" in argv
        assert "--fork-session" in argv
        assert f"--resume-session-at={live.transcript.line_of(at)}" in argv
        assert harness.lobby("sessions")[forked.id]["parent"] == session
        assert len(live.transcript.turns) == 2  # the first one is as it was


async def test_B43_a_fork_that_was_put_away_before_its_first_prompt_still_branches_off(
    tmp_path: Path,
) -> None:
    """It must never go on in the file of the session it was forked from."""
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new(prompt="first")
        live = await harness.state(session, "idle")
        of = live.transcript.session.id
        at = live.transcript.items[1].id
        result = await harness.act(Fork(session=session, at=at))
        fork = result.result["session"]
        await harness.until(lambda: len(harness.told("argv")) == 2)
        forked = await harness.state(fork, "ready", "idle")
        await harness.act(Stop(session=fork))
        await harness.say(fork, text="at last")
        await harness.until(lambda: len(forked.transcript.turns) == 2)
        await harness.state(fork, "idle")
        argv = harness.told("argv")[2]["argv"]
        own = harness.registry.sessions.row(fork).cli_session_id
        assert {f"--resume={of}", "--fork-session", f"--session-id={own}"} <= set(argv)
        assert f"--resume-session-at={live.transcript.line_of(at)}" in argv
        assert forked.transcript.session.id == own != of
        assert forked.transcript.session.previous_ids == ()
        await harness.act(Stop(session=fork))
        await harness.say(fork, text="and on")
        await harness.until(lambda: "and on" in harness.prompts())
        argv = harness.told("argv")[3]["argv"]
        assert f"--resume={own}" in argv
        assert "--fork-session" not in argv


async def test_a_fork_of_a_fork_that_never_began_branches_off_at_the_first_one(
    tmp_path: Path,
) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new(prompt="first")
        live = await harness.state(session, "idle")
        first = await harness.act(Fork(session=session, at=live.transcript.items[1].id))
        second = await harness.act(Fork(session=first.result["session"]))
        assert second.ok, second
        await harness.until(lambda: len(harness.told("argv")) == 3)
        for started in harness.told("argv")[1:]:
            line = live.transcript.line_of(live.transcript.items[1].id)
            resumed = {f"--resume={live.transcript.session.id}", f"--resume-session-at={line}"}
            assert resumed <= set(started["argv"])


async def test_a_fork_at_nothing_is_refused(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new(prompt="first")
        await harness.state(session, "idle")
        result = await harness.act(Fork(session=session, at="no-such-item"))
        assert result.code == "not_found"
        fresh = await harness.new()
        result = await harness.act(Fork(session=fresh))
        assert (result.code, result.result["check"]) == ("conflict", "no_id")


async def test_B43_a_session_that_another_program_uses_is_forked_as_far_as_it_is(
    tmp_path: Path,
) -> None:
    async with ServerHarness(tmp_path, cli=True) as harness:
        cli_id = str(uuid.uuid4())
        path = cli_file(harness, cli_id, str(harness.project))
        os.utime(path, (time.time(), time.time()))
        await harness.until(lambda: cli_id in harness.lobby("sessions"))
        assert harness.lobby("sessions")[cli_id]["status"]["state"] == "elsewhere"
        before = path.read_bytes()
        result = await harness.act(Fork(session=cli_id))
        assert result.ok, result
        forked = await harness.registry.sessions.load(result.result["session"])
        texts = [getattr(item, "text", "") for item in forked.transcript.items]
        assert texts[:2] == ["an old question", "an old answer"]
        await harness.until(lambda: harness.told("argv"))
        argv = harness.told("argv")[0]["argv"]
        assert f"--resume={cli_id}" in argv
        assert "--fork-session" in argv
        row = harness.lobby("sessions")[forked.id]
        assert (row["parent"], row["cwd"]) == (cli_id, str(harness.project))
        assert row["cli_session_id"] != cli_id
        assert path.read_bytes() == before


async def test_B43_a_file_is_forked_up_to_the_message_that_was_named(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path, cli=True) as harness:
        cli_id = str(uuid.uuid4())
        cli_file(harness, cli_id, str(harness.project))
        await harness.until(lambda: cli_id in harness.lobby("sessions"))
        assert harness.registry.sessions.cli is not None
        original = await harness.registry.sessions.cli.transcript(cli_id)
        question = original.items[0]
        result = await harness.act(Fork(session=cli_id, at=question.id))
        assert result.ok, result
        forked = await harness.registry.sessions.load(result.result["session"])
        texts = [getattr(item, "text", "") for item in forked.transcript.items]
        assert "an old question" in texts
        assert "an old answer" not in texts
        await harness.until(lambda: harness.told("argv"))
        line = original.line_of(question.id)
        assert f"--resume-session-at={line}" in harness.told("argv")[0]["argv"]
        refused = await harness.act(Fork(session=cli_id, at="no-such-item"))
        assert refused.code == "not_found"
