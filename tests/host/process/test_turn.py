"""A turn as a program sees it: its text, its errors, its end; and readers that are dropped."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path
from typing import Any

import pytest

from fairlead import (
    AgentExited,
    Allow,
    Answers,
    Approve,
    Deny,
    Options,
    PermissionRequest,
    Session,
    TurnCancelled,
    TurnFailed,
    UsageError,
    answer_later,
    ask,
)
from fairlead.host.engine.prompts import PromptState
from fairlead.host.process.process import Graces
from fairlead.host.process.readers import Reader
from fairlead.host.process.turn import NO_OUTPUT, Turn
from fairlead.permissions.audit_log import AuditLog
from fairlead.permissions.guard import Guard
from fairlead.wire.decode import AnyMessage
from fairlead.wire.events import Result
from fairlead.wire.inputs import Prompt
from tests.host.conftest import Rude
from tests.waiting import until

QUICK = Graces(after_eof=0.5, after_term=0.5, after_kill=5.0, after_interrupt=0.5, after_sigint=0.5)
SCHEMA = {"type": "object", "properties": {"n": {"type": "number"}}}


def options(agent: Path, **more: Any) -> Options:
    return Options(agent=agent, cwd=agent.parent, graces=QUICK, **more)


# Results


async def test_C37_a_turn_without_the_structured_output_it_owes_is_not_ok(rude: Rude) -> None:
    async with Session(options(rude("flood"), json_schema=SCHEMA)) as session:
        turn = await session.send("1")
        assert (await turn).ok
        assert not turn.ok
        assert turn.structured_output is None
        assert turn.errors == (NO_OUTPUT,)
        with pytest.raises(TurnFailed, match="structured output"):
            turn.raise_for_error()
    answer = await ask("1", options(rude("flood"), json_schema=SCHEMA))
    assert (answer.ok, answer.errors) == (False, (NO_OUTPUT,))
    with pytest.raises(TurnFailed):
        answer.raise_for_error()


async def test_C37_a_turn_that_owes_no_structured_output_is_ok(rude: Rude) -> None:
    async with Session(options(rude("flood"))) as session:
        turn = await session.send("1")
        turn.raise_for_error()  # Nothing to raise before it is over,
        await turn
        turn.raise_for_error()  # nor after a good end.
        assert (turn.ok, turn.errors) == (True, ())


async def test_C38_an_interrupted_turn_has_the_text_so_far(rude: Rude) -> None:
    async with Session(options(rude("say-and-wait"))) as session:
        turn = await session.send("go")
        assert turn.text == ""
        await until(lambda: turn.state is not PromptState.HELD)
        reader = turn.__aiter__()
        received = [await anext(reader) for _ in range(3)]
        assert len(received) == 3
        await session.interrupt()
        await turn
        assert not turn.ok
        assert turn.text == "This is what I know.\n\nAnd then"


async def test_C38_the_diagnostics_of_the_cli_are_errors_and_not_text() -> None:
    def over(**fields: Any) -> Turn:
        prompt = Prompt(uuid="00000000-0000-4000-8000-000000000001", content=_text("go"))
        turn = Turn(prompt, Reader(1000))
        turn._done(Result(**fields), None)
        return turn

    cut = over(subtype="error_during_execution", is_error=True, errors=("[ede_diagnostic] x",))
    assert (cut.text, cut.errors) == ("", ("[ede_diagnostic] x",))
    api = over(subtype="success", is_error=True, result="API Error: 529")
    assert (api.ok, api.errors) == (False, ("API Error: 529",))
    with pytest.raises(TurnFailed, match="API Error: 529") as failure:
        api.raise_for_error()
    assert failure.value.subtype == "success"


def _text(text: str) -> Any:
    from fairlead.wire.blocks import TextBlock

    return (TextBlock(text=text),)


async def test_C39_a_cancelled_turn_raises_where_it_is_read_and_where_it_is_awaited(
    rude: Rude,
) -> None:
    async with Session(options(rude("silent"))) as session:
        await session.send("first")
        second = await session.send("second")
        assert await session.cancel(second.uuid)
        with pytest.raises(TurnCancelled, match="cancelled by the host"):
            await anext(second.__aiter__())
        with pytest.raises(TurnCancelled, match="cancelled by the host"):
            await second


# Words


async def test_C40_the_text_stream_gives_each_text_once(rude: Rude) -> None:
    async with Session(options(rude("text"))) as session:
        turn = await session.send("go")
        pieces = [piece async for piece in turn.text_stream()]
    assert pieces[:2] == ["Hel", "lo."]
    assert "".join(pieces) == "Hello.\n\nNot streamed.\n\nThe end."
    assert turn.ok


# Readers


async def test_C41_a_reader_without_references_collects_nothing(rude: Rude) -> None:
    async with Session(options(rude("flood"))) as session:
        turn = await session.send("3")
        async for message in session.messages():
            assert message
            break
        await turn
        gc.collect()
        assert session._link is not None
        assert len(session._link.readers) == 0
        stored = session.messages()
        await (await session.send("3"))
        assert len(session._link.readers) == 1
        async with stored as reader:
            assert await anext(reader)
        assert len(session._link.readers) == 0


async def test_C41_the_same_holds_for_changes(rude: Rude) -> None:
    async with Session(options(rude("flood"))) as session:
        turn = await session.send("3")
        async for change in session.changes():
            assert change
            break
        await turn
        gc.collect()
        assert len(session._change_readers) == 0


# Answers from outside of a handler


async def test_C42_a_request_can_be_answered_from_anywhere(rude: Rude) -> None:
    async with Session(options(rude("ask"), on_permission=answer_later)) as session:
        turn = await session.send("2")
        await until(lambda: len(session.pending) == 2)
        with pytest.raises(UsageError, match="Allow"):
            await session.answer("ask-1", Approve())
        assert await session.answer("ask-1", Allow())
        assert list(session.pending) == ["ask-0"]
        assert not await session.answer("ask-1", Deny("too late"))
        assert await session.answer("ask-0", Deny("no"))
        assert (await turn).text == "answered"


async def test_C42_an_answer_given_at_once_waits_for_its_handler_and_passes_the_audit(
    rude: Rude, tmp_path: Path
) -> None:
    audit = AuditLog(tmp_path / "audit.jsonl")
    value: list[bool] = []
    session = Session(options(rude("ask"), on_permission=answer_later), guard=Guard(), audit=audit)
    async with session:
        turn = await session.send("1")
        await until(lambda: session.pending)
        value.append(await session.answer("ask-0", Allow()))
        await turn
    assert value == [True]
    assert '"outcome":"allowed"' in (tmp_path / "audit.jsonl").read_text().replace(" ", "")


async def test_C42_another_handler_answers_for_itself(rude: Rude) -> None:
    gate = asyncio.Event()

    async def decide(request: PermissionRequest) -> Allow:
        await gate.wait()
        return Allow()

    async with Session(options(rude("ask"), on_permission=decide)) as session:
        turn = await session.send("1")
        await until(lambda: session.pending)
        value = asyncio.create_task(session.answer("ask-0", Deny("no")))
        gate.set()
        assert not await value
        assert not await session.answer("no-such-request", Allow())
        assert (await turn).ok


async def test_C42_answer_later_is_not_called_by_hand() -> None:
    with pytest.raises(UsageError, match="handler"):
        await answer_later(Answers({}))


# Interrupts that are not answered


async def test_C43_an_interrupt_that_is_not_answered_ends_the_cli_with_sigint(rude: Rude) -> None:
    async with Session(options(rude("no-interrupt"))) as session:
        turn = await session.send("go")
        await until(lambda: turn.state is PromptState.SENT)
        with pytest.raises(AgentExited, match=r"did not answer an interrupt within 0\.5 s") as end:
            await session.interrupt()
        assert end.value.returncode == 0
        with pytest.raises(AgentExited, match="did not answer an interrupt"):
            await turn
        assert session.ended


async def test_C43_a_cli_that_ignores_sigint_too_is_ended_by_the_usual_steps(rude: Rude) -> None:
    async with Session(options(rude("no-sigint"))) as session:
        turn = await session.send("go")
        await until(lambda: turn.state is PromptState.SENT)
        with pytest.raises(AgentExited, match="did not answer an interrupt"):
            await session.interrupt()
        assert session.ended


# Prompts


@pytest.mark.parametrize("prompt", [b"hi", bytearray(b"hi"), memoryview(b"hi")])
async def test_C29_a_prompt_of_bytes_is_refused_with_a_remedy(rude: Rude, prompt: Any) -> None:
    async with Session(options(rude("flood"))) as session:
        with pytest.raises(UsageError, match=r"not bytes\. Decode it"):
            await session.send(prompt)


def test_messages_and_answers_have_short_reprs() -> None:
    from fairlead.wire.decode import decode

    line = b'{"type":"assistant","uuid":"u-1","message":{"id":"m","content":[{"type":"text","text":"%s"}]}}'
    message: AnyMessage = decode(line % (b"word " * 1000))
    shown = repr(message)
    assert shown.startswith("Assistant(")
    assert "raw" not in shown
    assert len(shown) < 600
    assert repr(Result(subtype="success", raw=b"x" * 5000)) == "Result(subtype='success')"
