"""The server's registry on real CLIs: approvals, a crash, a checked resume, a fork."""

from __future__ import annotations

import json
import os
import signal
import uuid

import fairlead
from fairlead.model_api.replies import reply, use
from fairlead.server.protocol.intents import Decide, Fork, NewSession, Resume, Send, Stop
from tests.e2e.real_cli.cli_harness import CliHarness
from tests.e2e.real_cli.registry_harness import open_registry


async def test_an_approved_tool_runs_and_the_session_resumes_after_a_stop(
    harness: CliHarness,
) -> None:
    command = harness.script()
    harness.model.push(use("Bash", command=f"{command} now"), reply("It ran."))
    async with open_registry(harness) as server:
        begun = await server.act(NewSession(cwd=str(harness.project), prompt="run it"))
        assert begun.ok, begun
        session = begun.result["session"]
        live = server.live(session)
        await server.until(lambda: live.transcript.pending)
        (row,) = server.registry.sessions.source(session).section("pending")
        assert row.choices[0].label.startswith("Bash(./tool.sh now)")
        decided = await server.act(
            Decide(
                session=session,
                request_id=row.id,
                input_sha256=row.input_sha256,
                decision="allow",
            )
        )
        assert decided.ok, decided
        await server.turns(session, 1)
        assert harness.model.requests[-1].tool_results[0].text == "ran now"
        assert (await server.act(Stop(session=session))).ok
        assert not live.live
        harness.model.push(reply("Still here."))
        resumed = await server.act(Resume(session=session))
        assert resumed.ok, resumed
        await server.say(session, "and now?")
        await server.turns(session, 2)
        assert "It ran." in json.dumps(harness.model.requests[-1].messages)


async def test_a_killed_cli_is_resumed_and_queued_prompts_are_sent(harness: CliHarness) -> None:
    command = harness.script()
    harness.model.push(reply("Hello."), use("Bash", command=command), reply("Back."))
    async with open_registry(harness) as server:
        begun = await server.act(NewSession(cwd=str(harness.project), prompt="hello"))
        session = begun.result["session"]
        live = await server.turns(session, 1)
        await server.say(session, "run it")
        await server.until(lambda: live.transcript.pending)
        await server.say(session, "are you back?")
        pid = live.client.pid if live.client is not None else None
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        await server.turns(session, 2)
        assert live.transcript.settled[0].outcome == "process_ended"
        last = json.dumps(harness.model.requests[-1].messages)
        assert "are you back?" in last
        assert "Hello." in last


async def test_a_fork_continues_from_its_message(harness: CliHarness) -> None:
    harness.model.push(reply("One."), reply("Two."), reply("Forked."))
    async with open_registry(harness) as server:
        begun = await server.act(NewSession(cwd=str(harness.project), prompt="first"))
        session = begun.result["session"]
        live = await server.turns(session, 1)
        answer = next(one for one in live.transcript.items if getattr(one, "text", "") == "One.")
        await server.say(session, "second")
        await server.turns(session, 2)
        made = await server.act(Fork(session=session, at=answer.id))
        assert made.ok, made
        fork = made.result["session"]
        assert (await server.act(Stop(session=fork))).ok  # Also one that ended before it began.
        await server.say(fork, "third")
        forked = await server.turns(fork, 2)
        texts = [getattr(one, "text", "") for one in forked.transcript.items]
        assert [one for one in texts if one] == ["first", "One.", "third", "Forked."]
        last = json.dumps(harness.model.requests[-1].messages)
        assert "One." in last
        assert "second" not in last
        assert forked.transcript.session.id != live.transcript.session.id
        (other,) = [one for one in harness.model.requests if "second" in json.dumps(one.messages)]
        assert "Forked." not in json.dumps(other.messages)


async def test_a_session_that_another_program_uses_is_forked_as_far_as_it_is(
    harness: CliHarness,
) -> None:
    harness.model.push(reply("Said elsewhere."), reply("Said here."), reply("Still elsewhere."))
    async with fairlead.Session(harness.options()) as elsewhere, open_registry(harness) as server:
        await (await elsewhere.send("first")).wait()
        known = elsewhere.transcript.session.id
        assert known is not None
        projects = harness.home / ".claude" / "projects"
        await server.until(  # The file is written later than the result.
            lambda: any("Said elsewhere." in one.read_text() for one in projects.glob("*/*.jsonl"))
        )
        refused = await server.act(Resume(session=known))
        assert (refused.code, refused.result["check"]) == ("conflict", "in_use")
        made = await server.act(Fork(session=known))
        assert made.ok, made
        fork = made.result["session"]
        await server.say(fork, "second")
        forked = await server.turns(fork, 2)  # The first one came with the file.
        assert "Said elsewhere." in json.dumps(harness.model.requests[-1].messages)
        assert forked.transcript.session.id not in (None, known)
        await (await elsewhere.send("third")).wait()
        assert "Said here." not in json.dumps(harness.model.requests[-1].messages)


async def test_B50_a_verbatim_prompt_attaches_no_file_and_a_typed_one_does(
    harness: CliHarness,
) -> None:
    secret = harness.outside("secret.txt", "the-secret-word")
    text = f"look at @{secret}"
    harness.model.push(reply("One."), reply("Two."))
    async with open_registry(harness) as server:
        begun = await server.act(NewSession(cwd=str(harness.project), prompt=text))
        session = begun.result["session"]
        await server.turns(session, 1)
        assert "the-secret-word" not in json.dumps(harness.model.requests[-1].messages)
        typed = Send(session=session, text=text, uuid=str(uuid.uuid4()), verbatim=False)
        assert (await server.act(typed)).ok
        await server.turns(session, 2)
        assert "the-secret-word" in json.dumps(harness.model.requests[-1].messages)
