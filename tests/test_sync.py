"""The session for programs without asyncio, on a real child program."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

import fairlead as asynchronous
import fairlead.sync as fairlead
from fairlead import AgentNotFound, Allow, PermissionRequest, SessionClosed
from fairlead.host.process.process import Graces
from fairlead.wire.events import Result, StreamEvent
from tests.generate_sync import files
from tests.host.conftest import Rude, rude

__all__ = ["rude"]

QUICK = Graces(after_eof=0.5, after_term=0.5, after_kill=5.0)


def options(agent: Path, **more: object) -> fairlead.Options:
    return fairlead.Options(agent=agent, cwd=agent.parent, graces=QUICK, **more)  # type: ignore[arg-type]


def test_a_turn_is_a_plain_iterator(rude: Rude) -> None:
    with fairlead.Session(options(rude("flood"))) as session:
        turn = session.send("5")
        messages = list(turn)
        assert sum(isinstance(m, StreamEvent) for m in messages) == 5
        assert isinstance(messages[-1], Result)
        assert turn.ok
        assert turn.text == "done"


def test_readers_controls_and_properties_are_there(rude: Rude) -> None:
    with fairlead.Session(options(rude("flood"))) as session:
        reader = session.messages()
        session.send("2").wait()
        assert session.busy is False
        assert session.interrupt() == {"still_queued": []}
        session.close()
        assert len(list(reader)) == 4


def test_a_handler_is_a_plain_function(rude: Rude) -> None:
    def decide(request: PermissionRequest) -> Allow:
        return Allow()

    with fairlead.Session(options(rude("ask"), on_permission=decide)) as session:
        assert session.send("3").wait().text == "answered"


def test_ask_asks_one_thing(rude: Rude) -> None:
    answer = fairlead.ask("1", options(rude("flood")))
    assert answer.ok
    assert answer.text == "done"


def threads() -> set[str]:
    return {thread.name for thread in threading.enumerate() if thread.name == "fairlead-loop"}


def test_a_failed_start_raises_and_leaves_no_thread(tmp_path: Path) -> None:
    session = fairlead.Session(options(tmp_path / "no-such-cli"))
    with pytest.raises(AgentNotFound):
        session.__enter__()
    session.close()
    assert not threads()


def test_a_session_that_is_never_entered_has_no_thread_and_says_what_to_do(rude: Rude) -> None:
    session = fairlead.Session(options(rude("flood")))
    assert not threads()
    with pytest.raises(SessionClosed, match=r"has not been started: use it in a `with` block"):
        session.send("hi")
    with pytest.raises(SessionClosed, match="has not been started"):
        session.messages()
    session.close()


def test_the_file_is_what_the_generator_writes() -> None:
    for path, text in files().items():
        assert path.read_text() == text, f"{path}: run python -m tests.generate_sync"


def test_every_public_name_of_fairlead_is_here() -> None:
    assert fairlead.__all__ == asynchronous.__all__
    own = {"Reader", "Session", "Turn", "ask"}
    for name in set(asynchronous.__all__) - own - {"__version__"}:
        assert getattr(fairlead, name) is getattr(asynchronous, name), name
    for name in own:
        assert getattr(fairlead, name) is not getattr(asynchronous, name), name


@pytest.mark.parametrize("name", ["Session", "Turn", "Reader"])
def test_every_public_member_of_a_class_is_here(name: str) -> None:
    value = {member for member in dir(getattr(asynchronous, name)) if not member.startswith("_")}
    here = {member for member in dir(getattr(fairlead, name)) if not member.startswith("_")}
    assert value - here <= {"aclose"}


def test_ask_and_a_session_work_where_a_loop_runs(rude: Rude) -> None:
    async def notebook() -> tuple[str, str]:
        answer = fairlead.ask("1", options(rude("flood")))
        with fairlead.Session(options(rude("flood"))) as session:
            return answer.text, session.send("1").wait().text

    assert asyncio.run(notebook()) == ("done", "done")
    assert not threads()


def test_text_changes_and_messages_can_be_read_without_asyncio(rude: Rude) -> None:
    with fairlead.Session(options(rude("text"))) as session:
        changes = session.changes()
        with session.messages() as reader:
            turn = session.send("go")
            assert "".join(turn.text_stream()) == "Hello.\n\nNot streamed.\n\nThe end."
            assert reader.batch()
        assert turn.state is fairlead.PromptState.DONE
        turn.raise_for_error()
        assert session.transcript.status.state == "idle"
        session.close()
        assert list(changes)


def test_the_other_ways_to_begin_and_all_options(rude: Rude) -> None:
    session_id = "00000000-0000-4000-8000-000000000000"
    base = options(rude("flood"))
    assert fairlead.Session.resume(session_id, base).options.resume == session_id
    assert fairlead.Session.fork(session_id, base).options.fork
    assert fairlead.Session.continue_latest(base).options.continue_latest
    with fairlead.Session(base, transcript=False) as session:
        with pytest.raises(SessionClosed, match="transcript=False"):
            session.changes()
        assert session.send("1", verbatim=True, priority="now").wait().ok


def test_a_request_is_answered_from_the_program(rude: Rude) -> None:
    value = options(rude("ask"), on_permission=fairlead.answer_later)
    with fairlead.Session(value) as session:
        changes = session.changes()
        turn = session.send("1")
        for change in changes:
            if session.pending:
                break
            assert change
        assert session.answer("ask-0", fairlead.Allow())
        assert turn.wait().text == "answered"


def test_a_closed_session_says_so(rude: Rude) -> None:
    with fairlead.Session(options(rude("flood"))) as session:
        pass
    session.close()
    with pytest.raises(SessionClosed):
        session.send("hi")
