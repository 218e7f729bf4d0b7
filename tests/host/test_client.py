"""A whole session against real child programs that misbehave."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from pathlib import Path
from typing import Any

import pytest

from fairlead import (
    AgentExited,
    AgentNotFound,
    Allow,
    ControlError,
    ControlTimeout,
    Deny,
    InputBlocked,
    OptionError,
    Options,
    PermissionRequest,
    ProcessError,
    ReaderOverrun,
    Session,
    SessionClosed,
    TurnCancelled,
    UsageError,
)
from fairlead.host.engine.prompts import PromptState
from fairlead.host.process.process import Graces
from fairlead.host.process.recording import read_recording
from fairlead.wire.decode import AnyMessage
from fairlead.wire.events import Malformed, Result, StreamEvent, Unknown
from fairlead.wire.stream import ContentBlockDelta, TextDelta
from tests.host.children import alive
from tests.host.conftest import Rude

QUICK = Graces(after_eof=0.5, after_term=0.5, after_kill=5.0)


def session(agent: Path, **options: Any) -> Session:
    return Session(Options(**{"agent": agent, "cwd": agent.parent, "graces": QUICK, **options}))


async def collect(turn: Any) -> list[AnyMessage]:
    async with asyncio.timeout(30):
        return [message async for message in turn]


def text_of(messages: list[AnyMessage]) -> str:
    return "".join(
        m.event.delta.text
        for m in messages
        if isinstance(m, StreamEvent)
        and isinstance(m.event, ContentBlockDelta)
        and isinstance(m.event.delta, TextDelta)
    )


async def test_C22_an_interrupt_is_answered_while_100_000_messages_lie_unread(rude: Rude) -> None:
    async with session(rude("flood")) as live:
        unread = live.messages()
        turn = await live.send("100000")
        began = time.monotonic()
        await live.interrupt()
        assert time.monotonic() - began < 5.0  # far from a wait for the reader, which is for ever
        await turn
        began = time.monotonic()
        await live.interrupt()
        assert time.monotonic() - began < 1.0
        messages = [await anext(unread) for _ in range(100_001)]
        assert sum(isinstance(m, StreamEvent) for m in messages) == 100_000


async def test_C23_a_reader_that_never_reads_is_ended_alone(rude: Rude) -> None:
    async with session(rude("flood"), reader_limit=1_000_000) as live:
        lazy, keen = live.messages(), live.messages()
        reading = asyncio.create_task(collect(keen))
        turn = await live.send("20000")
        assert (await turn).ok
        with pytest.raises(ReaderOverrun, match="unread"):
            await anext(lazy)
        await live.close()
        messages = await reading
        assert sum(isinstance(m, StreamEvent) for m in messages) == 20_000


async def test_C24_a_turn_ends_with_its_own_result(rude: Rude) -> None:
    async with session(rude("flood")) as live:
        first, second = await live.send("3"), await live.send("2")
        assert first.state is PromptState.SENT
        assert second.state is PromptState.HELD
        for turn, deltas in ((first, 3), (second, 2)):
            messages = await collect(turn)
            assert isinstance(messages[-1], Result)
            assert messages[-1] is turn.result
            assert sum(isinstance(m, StreamEvent) for m in messages) == deltas


@pytest.mark.parametrize(
    ("mode", "hint", "code"),
    [
        ("die-at-once", "does not know --frobnicate", 1),
        ("exit-0-at-once", "exited without output", 0),
    ],
)
async def test_C25_an_exit_before_the_handshake_says_why(
    rude: Rude, mode: str, hint: str, code: int
) -> None:
    with pytest.raises(AgentExited, match=hint) as caught:
        await session(rude(mode)).start()
    assert caught.value.returncode == code


@pytest.mark.parametrize(("mode", "code"), [("die", 3), ("die-9", -9)])
async def test_C25_an_exit_in_a_turn_fails_the_turn_with_the_tail_of_stderr(
    rude: Rude, mode: str, code: int
) -> None:
    async with session(rude(mode)) as live:
        reader = live.messages()
        turn = await live.send("go")
        waiting = await live.send("never sent")
        with pytest.raises(AgentExited) as caught:
            await asyncio.wait_for(turn.wait(), 10)
        assert caught.value.returncode == code
        if mode == "die":
            assert "out of luck" in str(caught.value)
        with pytest.raises(AgentExited):
            await waiting
        with pytest.raises(AgentExited):
            await collect(reader)
        with pytest.raises(AgentExited):
            await live.send("too late")


async def test_C25_a_last_line_without_a_line_end_still_counts(rude: Rude) -> None:
    async with session(rude("half-line")) as live:
        turn = await live.send("go")
        assert (await asyncio.wait_for(turn.wait(), 10)).text == "no line end"


async def test_C26_noise_is_reported_and_reading_goes_on(rude: Rude) -> None:
    async with session(rude("noise")) as live:
        turn = await live.send("go")
        noise = [m for m in await collect(turn) if isinstance(m, Malformed)]
        assert [m.raw for m in noise] == [b"warning: this is not JSON", b"[1, 2]", b"null"]
        assert turn.ok


async def test_C26_a_line_of_50_megabytes_is_one_message(rude: Rude) -> None:
    size = 50_000_000
    async with session(rude("long-line")) as live:
        turn = await live.send(str(size))
        assert len(text_of(await collect(turn))) == size


async def test_C26_a_line_above_the_limit_is_skipped_and_reported(rude: Rude) -> None:
    async with session(rude("long-line"), line_limit=1_000_000) as live:
        turn = await live.send("3000000")
        (skipped,) = (m for m in await collect(turn) if isinstance(m, Malformed))
        assert skipped.size > 3_000_000
        assert "above the limit" in skipped.problem
        assert turn.ok


async def test_C21_two_megabytes_of_stderr_do_not_stop_the_session(rude: Rude) -> None:
    received_items: list[str] = []
    async with session(rude("stderr"), on_stderr=received_items.append) as live:
        turn = await live.send("2000000")
        assert (await turn).ok
    assert live.stderr.endswith("the last word\n")
    assert sum(map(len, received_items)) >= 2_000_000


async def test_C18_a_stopped_cli_is_ended(rude: Rude) -> None:
    live = session(rude("stop-self"))
    await live.start()
    await live.send("go")
    pid = live.pid
    assert pid is not None
    await asyncio.wait_for(live.close(), 20)
    assert not alive(pid)


async def test_C18_a_cli_that_ignores_sigterm_is_ended(rude: Rude) -> None:
    live = session(rude("deaf"))
    await live.start()
    pid = live.pid
    assert pid is not None
    await asyncio.wait_for(live.close(), 20)
    assert not alive(pid)


async def test_C19_a_grandchild_that_holds_stdout_does_not_hide_the_exit(rude: Rude) -> None:
    async with session(rude("grandchild")) as live:
        turn = await live.send("go")
        messages = [await anext(turn), await anext(turn)]
        with pytest.raises(AgentExited):
            await anext(turn)
        assert not alive(int(text_of(messages)))


async def test_C20_what_the_cli_started_ends_with_the_session(rude: Rude) -> None:
    async with session(rude("leave-grandchild")) as live:
        turn = await live.send("go")
        grandchild = int(text_of(await collect(turn)))
        assert alive(grandchild)
    assert not alive(grandchild)


async def test_C32_a_cli_that_closes_its_output_and_lives_is_ended(rude: Rude) -> None:
    async with session(rude("close-stdout")) as live:
        turn = await live.send("go")
        pid = live.pid
        assert pid is not None
        with pytest.raises(ProcessError, match="closed its output but was still running"):
            await collect(turn)
        assert not alive(pid)


async def test_C33_a_cli_that_does_not_read_is_not_written_to_without_end(rude: Rude) -> None:
    async with session(rude("never-read")) as live:
        first = await live.send("0")
        await anext(first)
        await anext(first)
        prompt = "p" * (1024 * 1024)
        sent = 0
        while live.accepts_input:
            await live.send(prompt, at_once=True)
            sent += 1
        assert 4 <= sent <= 5
        with pytest.raises(InputBlocked, match=r"does not read its input.*Wait, or close"):
            await live.send(prompt, at_once=True)
        with pytest.raises(InputBlocked):
            await live.interrupt()
        pid = live.pid
        assert pid is not None
    assert not alive(pid)


async def test_C33_answers_wait_for_a_cli_that_does_not_read(rude: Rude) -> None:
    """Each answer has a megabyte: all are decided, but no more than the limit is written."""
    decided = asyncio.Semaphore(0)
    written = 0

    class Counter:
        """An observer that adds up what the host writes."""

        def received(self, messages: list[AnyMessage], at: float) -> None: ...

        def sent(self, message: object, line: bytes, at: float) -> None:
            nonlocal written
            written += len(line)

        def prompt_moved(self, move: object, at: float) -> None: ...

        def exited(self, returncode: int, at: float) -> None: ...

    async def decide(request: PermissionRequest) -> Deny:
        decided.release()
        return Deny("n" * (1024 * 1024))

    live = session(rude("never-read"), on_permission=decide)
    live.observe(Counter())
    async with live:
        await live.send("12")
        async with asyncio.timeout(30):
            for _ in range(12):
                await decided.acquire()
        await asyncio.sleep(0)
        assert 4 * 1024 * 1024 < written < 6 * 1024 * 1024
        assert not live.accepts_input


async def answers_of(live: Session, prompt: str) -> dict[str, Any]:
    """What the child was answered, by request id, without the envelope."""
    turn = await live.send(prompt)
    matches = {}
    for message in await collect(turn):
        if isinstance(message, Unknown):
            body = message.data["answer"]
            matches[body["request_id"]] = body.get("response") or body.get("error")
    return matches


async def test_C27_without_a_handler_a_tool_is_denied_in_words(rude: Rude) -> None:
    async with session(rude("ask")) as live:
        answer = (await answers_of(live, "1"))["ask-0"]
        assert answer["behavior"] == "deny"
        assert "Permission to use Bash was denied" in answer["message"]


async def test_C27_a_handler_that_fails_denies(
    rude: Rude, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(request: PermissionRequest) -> Allow:
        raise RuntimeError("the database is gone")

    async with session(rude("ask"), on_permission=broken) as live:
        with caplog.at_level(logging.CRITICAL):
            answer = (await answers_of(live, "1"))["ask-0"]
        assert answer["behavior"] == "deny"
        assert "the database is gone" in answer["message"]


async def test_C27_a_handler_that_returns_nonsense_denies(
    rude: Rude, caplog: pytest.LogCaptureFixture
) -> None:
    async with session(rude("ask"), on_permission=lambda request: "yes") as live:
        answer = (await answers_of(live, "1"))["ask-0"]
        assert answer["behavior"] == "deny"
        assert "returns Allow(…) or Deny(…)" in answer["message"]
    assert "failed" in caplog.text


async def test_C8_many_requests_are_answered_each_with_its_own_input(rude: Rude) -> None:
    async def decide(request: PermissionRequest) -> Allow | Deny:
        await asyncio.sleep(0)
        if request.input["command"] == "touch 7":
            return Deny("not seven")
        return Allow({"command": request.input["command"].upper()})

    async with session(rude("ask"), on_permission=decide) as live:
        answers = await answers_of(live, "50")
        assert len(answers) == 50
        assert answers["ask-7"]["message"] == "not seven"
        assert answers["ask-31"]["updatedInput"] == {"command": "TOUCH 31"}


async def test_a_plain_function_may_block_as_a_handler(rude: Rude) -> None:
    release = asyncio.Event()
    loop = asyncio.get_running_loop()

    def decide(request: PermissionRequest) -> Allow:
        asyncio.run_coroutine_threadsafe(release.wait(), loop).result(10)
        return Allow()

    async with session(rude("ask"), on_permission=decide) as live:
        turn = await live.send("1")
        with pytest.raises(ControlError):  # the session goes on meanwhile
            await live.control("fail_please")
        release.set()
        assert (await turn).text == "answered"


async def test_C7_an_unknown_request_is_failed(rude: Rude) -> None:
    async with session(rude("ask-unknown")) as live:
        answer = (await answers_of(live, "go"))["ask-0"]
        assert "does not know the request 'brand_new_request'" in answer


async def test_C5_a_withdrawn_request_cancels_its_handler(rude: Rude) -> None:
    cli_request, cancelled = asyncio.Event(), asyncio.Event()

    async def decide(request: PermissionRequest) -> Allow:
        cli_request.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return Allow()

    async with session(rude("ask-withdraw"), on_permission=decide) as live:
        turn = await live.send("go")
        await asyncio.wait_for(cli_request.wait(), 10)
        assert list(live.pending) == ["ask-0"]
        await live.control("withdraw_please")
        assert (await turn).text == "withdrawn"
        await asyncio.wait_for(cancelled.wait(), 10)
        assert live.pending == {}


async def test_C3_silence_is_a_timeout(rude: Rude) -> None:
    async with session(rude("silent")) as live:
        with pytest.raises(ControlTimeout, match=r"did not answer 'stop_task' within 0\.2 s"):
            await live.control("stop_task", timeout=0.2, task_id="x")


async def test_C3_a_cli_that_never_answers_initialize_is_ended_with_an_error(rude: Rude) -> None:
    live = session(rude("mute"), start_timeout=0.5)
    with pytest.raises(ControlTimeout, match="did not answer 'initialize'"):
        await live.start()
    assert live.pid is not None
    assert not alive(live.pid)


async def test_C1_an_error_answer_is_an_exception_with_its_code(rude: Rude) -> None:
    async with session(rude("silent")) as live:
        with pytest.raises(ControlError, match="refused 'fail_please': no") as caught:
            await live.control("fail_please")
        assert caught.value.code == "x"


async def test_C28_only_allowed_variables_and_no_files_reach_the_cli(
    rude: Rude, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_DATABASE_PASSWORD", "canary")
    monkeypatch.setenv("ANTHROPIC_MODEL", "passes")
    with (tmp_path / "secret").open("w") as secret:
        os.set_inheritable(secret.fileno(), True)
        async with session(rude("env"), env={"ADDED": "yes"}) as live:
            seen = json.loads((await (await live.send("go"))).text)
    assert "MY_DATABASE_PASSWORD" not in seen["env"]
    assert "canary" not in str(seen["env"])
    assert seen["env"]["ANTHROPIC_MODEL"] == "passes"
    assert seen["env"]["ADDED"] == "yes"
    assert seen["fds"][:3] == ["0", "1", "2"]
    assert len(seen["fds"]) == 4  # the fourth is the listing itself


async def test_C29_bad_arguments_of_the_caller_are_typed_errors(rude: Rude, tmp_path: Path) -> None:
    with pytest.raises(SessionClosed, match="has not been started"):
        await session(rude("silent")).send("hi")
    with pytest.raises(OptionError, match="not a folder"):
        await session(rude("silent"), cwd=tmp_path / "nowhere").start()
    with pytest.raises(AgentNotFound, match="Install Claude Code"):
        await session(tmp_path / "no-such-cli").start()
    async with session(rude("silent")) as live:
        with pytest.raises(UsageError, match="a text or a list"):
            await live.send(42)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="one or more blocks"):
            await live.send([])
        with pytest.raises(UsageError, match="empty text"):
            await live.send("")
        with pytest.raises(UsageError, match="needs a UUID"):
            await live.send("hi", uuid="mine")
        with pytest.raises(UsageError, match="nonsense"):
            await live.set_permission_mode("nonsense")  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="already started"):
            await live.start()
    with pytest.raises(SessionClosed, match="closed"):
        await live.send("hi")
    with pytest.raises(SessionClosed, match="closed"):
        await live.interrupt()
    await live.close()


async def test_C30_closing_ends_a_running_turn(rude: Rude) -> None:
    live = session(rude("silent"))
    await live.start()
    turn = await live.send("go")
    held = await live.send("later")
    await asyncio.wait_for(live.close(), 10)
    assert (await turn).subtype == "error_during_execution"
    with pytest.raises(TurnCancelled):
        await held


async def test_C16_the_queue_can_be_seen_edited_reordered_and_taken_back(rude: Rude) -> None:
    async with session(rude("silent")) as live:
        running = await live.send("running")
        turns = [await live.send(text) for text in ("a", "b", "c")]
        assert [p.text for p in live.queued] == ["a", "b", "c"]
        assert live.edit(turns[0].uuid, "A") is True
        assert live.reorder([turns[2].uuid, turns[0].uuid, turns[1].uuid]) is True
        assert await live.cancel(turns[1].uuid) is True
        assert [p.text for p in live.queued] == ["c", "A"]
        with pytest.raises(TurnCancelled, match="cancelled by the host"):
            await turns[1]
        assert live.send_now(turns[0].uuid) is True
        assert [p.text for p in live.queued] == ["c"]
        await live.interrupt(cancel_queued=True)
        assert live.queued == ()
        assert (await running).subtype == "error_during_execution"


async def test_several_readers_each_see_everything(rude: Rude) -> None:
    async with session(rude("flood")) as live:
        readers = [live.messages() for _ in range(3)]
        await (await live.send("100"))
        await live.close()
        seen = [await collect(reader) for reader in readers]
        assert [len(messages) for messages in seen] == [102, 102, 102]
        assert seen[0] == seen[1] == seen[2]


async def test_a_recording_holds_every_line_of_both_directions(rude: Rude, tmp_path: Path) -> None:
    path = tmp_path / "session.ndjson"
    async with session(rude("noise"), record=path) as live:
        turn = await live.send("go")
        received = await collect(turn)
    lines = list(read_recording(path))
    assert [json.loads(line.line)["type"] for line in lines if line.direction == "in"] == [
        "control_request",
        "user",
    ]
    from_cli = [line.line for line in lines if line.direction == "out"]
    assert [m.raw for m in received] == from_cli[-len(received) :]
    assert [line.at for line in lines] == sorted(line.at for line in lines)


class Faulty:
    """An observer that breaks its promise not to raise."""

    def received(self, messages: list[AnyMessage], at: float) -> None:
        if any(isinstance(message, Result) for message in messages):
            raise ZeroDivisionError("a bug")

    def sent(self, message: object, line: bytes, at: float) -> None: ...

    def prompt_moved(self, move: object, at: float) -> None: ...

    def exited(self, returncode: int, at: float) -> None: ...


async def test_a_bug_in_the_pump_ends_all_waiting_callers(
    rude: Rude, caplog: pytest.LogCaptureFixture
) -> None:
    async with session(rude("flood")) as live:
        live.observe(Faulty())
        reader = live.messages()
        await live.send("3")
        held = await live.send("never sent")
        with pytest.raises(ProcessError, match="Fairlead itself failed: ZeroDivisionError"):
            await collect(reader)
        with pytest.raises(ProcessError, match="Fairlead itself failed"):
            await asyncio.wait_for(held.wait(), 10)
    assert "cannot continue" in caplog.text
