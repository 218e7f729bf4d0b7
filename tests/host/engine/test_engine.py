"""The engine alone: lines in, events out, no process and no clock."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.errors import UsageError
from fairlead.host.engine.engine import Answered, Asked, Engine, TimedOut, Withdrawn
from fairlead.host.engine.prompts import PromptMoved, PromptState
from fairlead.wire.control import CanUseTool, UnknownRequest
from fairlead.wire.encode import encode
from tests.host.engine_lines import (
    FIRST,
    SECOND,
    THIRD,
    line,
    permission,
    prompt,
    response,
    written,
)


def test_C1_a_request_gets_an_id_of_its_own_and_its_answer() -> None:
    engine = Engine(id_prefix="t")
    item = engine.request("interrupt", {}, now=0.0, timeout=5.0)
    two = engine.request("set_model", {"model": "m"}, now=0.0, timeout=5.0)
    assert item != two
    assert [w["request"] for w in written(engine)] == [
        {"subtype": "interrupt"},
        {"subtype": "set_model", "model": "m"},
    ]
    engine.feed(response(two, response={"model": "m"}))
    (answered,) = engine.take_events()
    assert isinstance(answered, Answered)
    assert (answered.request_id, answered.body.response) == (two, {"model": "m"})
    assert engine.pending_to_cli == (item,)


def test_C2_the_second_answer_to_one_request_is_ignored() -> None:
    # CLI-210: 2.1.38 answers set_permission_mode twice, the second time without a body.
    engine = Engine()
    request = engine.request("set_permission_mode", {"mode": "plan"}, now=0.0, timeout=5.0)
    engine.feed(response(request, response={"mode": "plan"}) + response(request))
    (only,) = engine.take_events()
    assert isinstance(only, Answered)
    assert only.body.response == {"mode": "plan"}


def test_C2_an_answer_to_an_unknown_request_is_ignored() -> None:
    engine = Engine()
    engine.feed(response("nobody-asked"))
    assert engine.take_events() == []


def test_C3_a_request_that_is_not_answered_times_out_once() -> None:
    engine = Engine()
    request = engine.request("stop_task", {"task_id": "x"}, now=10.0, timeout=5.0)
    assert engine.next_deadline() == 15.0
    engine.expire(14.9)
    assert engine.take_events() == []
    engine.expire(15.0)
    assert engine.take_events() == [TimedOut(request, "stop_task", 5.0)]
    engine.feed(response(request))
    assert engine.take_events() == []
    assert engine.next_deadline() is None


def test_C4_the_first_of_two_answers_of_the_host_wins() -> None:
    engine = Engine()
    engine.feed(permission("r1"))
    assert engine.answer("r1", {"behavior": "deny", "message": "no"}) is True
    assert engine.answer("r1", {"behavior": "allow", "updatedInput": {}}) is False
    assert engine.answer_error("r1", "late") is False
    (answer,) = written(engine)
    assert answer["response"]["response"] == {"behavior": "deny", "message": "no"}


def test_C5_a_withdrawn_request_cannot_be_answered() -> None:
    engine = Engine()
    engine.feed(permission("r1") + line(type="control_cancel_request", request_id="r1"))
    request, withdrawn = engine.take_events()
    assert isinstance(request, Asked)
    assert isinstance(withdrawn, Withdrawn)
    assert withdrawn.request_id == "r1"
    assert engine.answer("r1", {}) is False
    assert written(engine) == []


def test_C5_withdrawing_what_is_not_there_does_nothing() -> None:
    engine = Engine()
    engine.feed(line(type="control_cancel_request", request_id="never"))
    assert engine.take_events() == []


def test_C6_a_cancel_request_is_never_written() -> None:
    # CLI-902: on 2.1.38 it ends the process.
    engine = Engine()
    engine.feed(permission("r1"))
    engine.request("interrupt", {}, now=0.0, timeout=1.0)
    engine.expire(100.0)
    engine.process_ended("gone")
    assert all(w["type"] != "control_cancel_request" for w in written(engine))
    with pytest.raises(UsageError):
        encode({"type": "control_cancel_request", "request_id": "r1"})  # type: ignore[arg-type]


def test_C7_a_request_of_an_unknown_kind_is_passed_on_so_that_it_can_be_refused() -> None:
    engine = Engine()
    engine.feed(line(type="control_request", request_id="r9", request={"subtype": "new_thing"}))
    (request,) = engine.take_events()
    assert isinstance(request, Asked)
    assert isinstance(request.request, UnknownRequest)
    assert engine.answer_error("r9", "unknown") is True
    assert written(engine)[0]["response"] == {
        "subtype": "error",
        "request_id": "r9",
        "error": "unknown",
    }


def test_C8_several_requests_of_the_cli_are_open_at_once_and_answered_in_any_order() -> None:
    # CLI-309, perm_parallel_reads
    engine = Engine()
    engine.feed(permission("a") + permission("b"))
    assert list(engine.pending_from_cli) == ["a", "b"]
    assert engine.answer("b", {}) is True
    assert engine.answer("a", {}) is True


@pytest.mark.parametrize("subtype", ["success", "error"], ids=["2.1.325", "2.1.38"])
def test_C9_a_second_initialize_brings_back_lost_requests_only_once(subtype: str) -> None:
    # CLI-225: 2.1.38 answers "Already initialized" and lists them all the same.
    engine = Engine()
    engine.feed(permission("known"))
    engine.take_events()
    again = engine.request("initialize", {}, now=0.0, timeout=5.0)
    request = {"subtype": "can_use_tool", "tool_name": "Write", "input": {}}
    pending = [
        {"type": "control_request", "request_id": "known", "request": request},
        {"type": "control_request", "request_id": "lost", "request": request},
    ]
    inside = {"subtype": subtype, "request_id": again, "pending_permission_requests": pending}
    engine.feed(line(type="control_response", response=inside))
    cli_request = [h for h in engine.take_events() if isinstance(h, Asked)]
    assert [h.request_id for h in cli_request] == ["lost"]
    assert isinstance(cli_request[0].request, CanUseTool)
    assert list(engine.pending_from_cli) == ["known", "lost"]


def test_C10_when_the_process_ends_everything_that_waits_ends() -> None:
    engine = Engine()
    engine.feed(permission("r1"))
    request = engine.request("interrupt", {}, now=0.0, timeout=5.0)
    engine.send(prompt(FIRST))
    engine.send(prompt(SECOND))
    engine.take_events()
    engine.process_ended("killed")
    events = engine.take_events()
    assert {type(h) for h in events} == {Answered, Withdrawn, PromptMoved}
    (answered,) = (h for h in events if isinstance(h, Answered))
    assert (answered.request_id, answered.body.subtype) == (request, "ended")
    cancelled = [h for h in events if isinstance(h, PromptMoved)]
    assert [(h.prompt.uuid, h.state, h.reason) for h in cancelled] == [
        (FIRST, PromptState.CANCELLED, "killed"),
        (SECOND, PromptState.CANCELLED, "killed"),
    ]
    assert engine.next_deadline() is None
    with pytest.raises(UsageError, match="has ended"):
        engine.send(prompt(THIRD))


def test_what_cannot_be_written_fails_in_the_callers_hands() -> None:
    engine = Engine()
    with pytest.raises(UsageError, match="JSON"):
        engine.request("control", {"what": object()}, now=0.0, timeout=1.0)
    with pytest.raises(UsageError, match="JSON"):
        engine.send(prompt(FIRST, "half an emoji \ud83d"))
    assert written(engine) == []
    assert engine.next_deadline() is None


@given(data=st.binary(max_size=400), cuts=st.lists(st.integers(0, 400), max_size=5))
def test_no_bytes_make_the_engine_raise(data: bytes, cuts: list[int]) -> None:
    engine = Engine()
    start = 0
    for cut in sorted(cuts):
        engine.feed(data[start:cut])
        start = max(start, cut)
    engine.feed(data[start:])
    engine.feed_eof()
    engine.take_events()


answers = st.lists(
    st.tuples(st.sampled_from(["answer", "again", "cancel", "expire", "end"]), st.integers(0, 3)),
    max_size=12,
)


@given(steps=answers)
def test_every_request_of_the_host_has_exactly_one_outcome(steps: list[tuple[str, int]]) -> None:
    engine = Engine()
    ids = [engine.request("interrupt", {}, now=float(n), timeout=1.0) for n in range(4)]
    for step, number in steps:
        if step in ("answer", "again"):
            engine.feed(response(ids[number]))
        elif step == "cancel":
            engine.feed(line(type="control_cancel_request", request_id=ids[number]))
        elif step == "expire":
            engine.expire(float(number) + 1.0)
        else:
            engine.process_ended("gone")
    engine.process_ended("gone")
    outcomes = [h.request_id for h in engine.take_events() if isinstance(h, Answered | TimedOut)]
    assert sorted(outcomes) == sorted(ids)
