"""The session for programs without asyncio, on a real child program."""

from __future__ import annotations

from pathlib import Path

import pytest

import fairlead.sync as fairlead
from fairlead import AgentNotFound, Allow, PermissionRequest, SessionClosed
from fairlead.host.process import Graces
from fairlead.wire.events import Result, StreamEvent
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


def test_a_failed_start_raises_and_leaves_no_thread(tmp_path: Path) -> None:
    session = fairlead.Session(options(tmp_path / "no-such-cli"))
    with pytest.raises(AgentNotFound):
        session.__enter__()
    session.close()


def test_a_closed_session_says_so(rude: Rude) -> None:
    with fairlead.Session(options(rude("flood"))) as session:
        pass
    session.close()
    with pytest.raises(SessionClosed):
        session.send("hi")
