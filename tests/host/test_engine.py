"""The engine alone: lines in, happenings out, no process and no clock."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.errors import UsageError
from fairlead.host.engine import Answered, Asked, Engine, TimedOut, Withdrawn
from fairlead.host.prompts import PromptMoved, PromptState
from fairlead.wire.blocks import TextBlock
from fairlead.wire.control import CanUseTool, UnknownRequest
from fairlead.wire.encode import encode, to_object
from fairlead.wire.inputs import Prompt

FIRST = "11111111-1111-4111-8111-111111111111"
SECOND = "22222222-2222-4222-8222-222222222222"
THIRD = "33333333-3333-4333-8333-333333333333"


def line(**message: Any) -> bytes:
    return json.dumps(message).encode() + b"\n"


def permission(request_id: str = "r1") -> bytes:
    request = {"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}}
    return line(type="control_request", request_id=request_id, request=request)


def response(request_id: str, **body: Any) -> bytes:
    inside = {"subtype": "success", "request_id": request_id, **body}
    return line(type="control_response", response=inside)


def prompt(uuid: str, text: str = "hi") -> Prompt:
    return Prompt(uuid=uuid, content=(TextBlock(text=text),))


def written(engine: Engine) -> list[Any]:
    return [to_object(message) for message in engine.take_output()]


def states(engine: Engine) -> list[tuple[str, str]]:
    moves = [h for h in engine.take_happenings() if isinstance(h, PromptMoved)]
    return [(move.prompt.uuid, move.state.value) for move in moves]


INIT = line(type="system", subtype="init", session_id="s")
RESULT = line(type="result", subtype="success", result="ok")


def test_C1_a_request_gets_an_id_of_its_own_and_its_answer() -> None:
    engine = Engine(id_prefix="t")
    one = engine.request("interrupt", {}, now=0.0, timeout=5.0)
    two = engine.request("set_model", {"model": "m"}, now=0.0, timeout=5.0)
    assert one != two
    assert [w["request"] for w in written(engine)] == [
        {"subtype": "interrupt"},
        {"subtype": "set_model", "model": "m"},
    ]
    engine.feed(response(two, response={"model": "m"}))
    (answered,) = engine.take_happenings()
    assert isinstance(answered, Answered)
    assert (answered.request_id, answered.body.response) == (two, {"model": "m"})
    assert engine.pending_to_cli == (one,)


def test_C2_the_second_answer_to_one_request_is_ignored() -> None:
    # TRUTH 1.2: 2.1.38 answers set_permission_mode twice, the second time without a body.
    engine = Engine()
    asked = engine.request("set_permission_mode", {"mode": "plan"}, now=0.0, timeout=5.0)
    engine.feed(response(asked, response={"mode": "plan"}) + response(asked))
    (only,) = engine.take_happenings()
    assert isinstance(only, Answered)
    assert only.body.response == {"mode": "plan"}


def test_C2_an_answer_to_an_unknown_request_is_ignored() -> None:
    engine = Engine()
    engine.feed(response("nobody-asked"))
    assert engine.take_happenings() == []


def test_C3_a_request_that_is_not_answered_times_out_once() -> None:
    engine = Engine()
    asked = engine.request("stop_task", {"task_id": "x"}, now=10.0, timeout=5.0)
    assert engine.next_deadline() == 15.0
    engine.expire(14.9)
    assert engine.take_happenings() == []
    engine.expire(15.0)
    assert engine.take_happenings() == [TimedOut(asked, "stop_task", 5.0)]
    engine.feed(response(asked))
    assert engine.take_happenings() == []
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
    asked, withdrawn = engine.take_happenings()
    assert isinstance(asked, Asked)
    assert isinstance(withdrawn, Withdrawn)
    assert withdrawn.request_id == "r1"
    assert engine.answer("r1", {}) is False
    assert written(engine) == []


def test_C5_withdrawing_what_is_not_there_does_nothing() -> None:
    engine = Engine()
    engine.feed(line(type="control_cancel_request", request_id="never"))
    assert engine.take_happenings() == []


def test_C6_a_cancel_request_is_never_written() -> None:
    # TRUTH 1.2: on 2.1.38 it ends the process.
    engine = Engine()
    engine.feed(permission("r1"))
    engine.request("interrupt", {}, now=0.0, timeout=1.0)
    engine.expire(100.0)
    engine.process_ended("gone")
    assert all(w["type"] != "control_cancel_request" for w in written(engine))
    with pytest.raises(UsageError):
        encode({"type": "control_cancel_request", "request_id": "r1"})  # type: ignore[arg-type]


def test_C7_a_request_of_an_unknown_kind_is_told_so_that_it_can_be_failed() -> None:
    engine = Engine()
    engine.feed(line(type="control_request", request_id="r9", request={"subtype": "new_thing"}))
    (asked,) = engine.take_happenings()
    assert isinstance(asked, Asked)
    assert isinstance(asked.request, UnknownRequest)
    assert engine.answer_error("r9", "unknown") is True
    assert written(engine)[0]["response"] == {
        "subtype": "error",
        "request_id": "r9",
        "error": "unknown",
    }


def test_C8_several_requests_of_the_cli_are_open_at_once_and_answered_in_any_order() -> None:
    # TRUTH 1.3, perm_parallel_reads
    engine = Engine()
    engine.feed(permission("a") + permission("b"))
    assert list(engine.pending_from_cli) == ["a", "b"]
    assert engine.answer("b", {}) is True
    assert engine.answer("a", {}) is True


@pytest.mark.parametrize("subtype", ["success", "error"], ids=["2.1.325", "2.1.38"])
def test_C9_a_second_initialize_brings_back_lost_requests_only_once(subtype: str) -> None:
    # TRUTH 1.8: 2.1.38 answers "Already initialized" and lists them all the same.
    engine = Engine()
    engine.feed(permission("known"))
    engine.take_happenings()
    again = engine.request("initialize", {}, now=0.0, timeout=5.0)
    request = {"subtype": "can_use_tool", "tool_name": "Write", "input": {}}
    pending = [
        {"type": "control_request", "request_id": "known", "request": request},
        {"type": "control_request", "request_id": "lost", "request": request},
    ]
    inside = {"subtype": subtype, "request_id": again, "pending_permission_requests": pending}
    engine.feed(line(type="control_response", response=inside))
    asked = [h for h in engine.take_happenings() if isinstance(h, Asked)]
    assert [h.request_id for h in asked] == ["lost"]
    assert isinstance(asked[0].request, CanUseTool)
    assert list(engine.pending_from_cli) == ["known", "lost"]


def test_C10_when_the_process_ends_everything_that_waits_ends() -> None:
    engine = Engine()
    engine.feed(permission("r1"))
    asked = engine.request("interrupt", {}, now=0.0, timeout=5.0)
    engine.send(prompt(FIRST))
    engine.send(prompt(SECOND))
    engine.take_happenings()
    engine.process_ended("killed")
    happenings = engine.take_happenings()
    assert {type(h) for h in happenings} == {Answered, Withdrawn, PromptMoved}
    (answered,) = (h for h in happenings if isinstance(h, Answered))
    assert (answered.request_id, answered.body.subtype) == (asked, "ended")
    cancelled = [h for h in happenings if isinstance(h, PromptMoved)]
    assert [(h.prompt.uuid, h.state, h.reason) for h in cancelled] == [
        (FIRST, PromptState.CANCELLED, "killed"),
        (SECOND, PromptState.CANCELLED, "killed"),
    ]
    assert engine.next_deadline() is None
    with pytest.raises(UsageError, match="has ended"):
        engine.send(prompt(THIRD))


def test_C11_a_prompt_is_held_while_a_turn_runs_and_sent_after_its_result() -> None:
    engine = Engine()
    engine.send(prompt(FIRST))
    engine.send(prompt(SECOND))
    assert [w["uuid"] for w in written(engine)] == [FIRST]
    assert states(engine) == [(FIRST, "held"), (FIRST, "sent"), (SECOND, "held")]
    engine.feed(INIT + line(type="user", isReplay=True, uuid=FIRST) + RESULT)
    assert [w["uuid"] for w in written(engine)] == [SECOND]
    assert states(engine) == [(FIRST, "started"), (FIRST, "done"), (SECOND, "sent")]


def test_C11_a_prompt_can_be_sent_at_once_into_a_running_turn() -> None:
    engine = Engine()
    engine.send(prompt(FIRST))
    engine.send(prompt(SECOND), at_once=True)
    assert [w["uuid"] for w in written(engine)] == [FIRST, SECOND]


def test_C12_a_result_ends_the_prompts_it_names_and_no_others() -> None:
    engine = Engine()
    engine.send(prompt(FIRST))
    engine.send(prompt(SECOND), at_once=True)
    engine.send(prompt(THIRD), at_once=True)
    engine.take_happenings()
    engine.feed(line(type="result", subtype="success", user_message_uuids=[FIRST, THIRD]))
    assert states(engine) == [(FIRST, "done"), (THIRD, "done")]
    assert engine.prompts.state(SECOND) is PromptState.SENT


def test_C12_a_result_that_names_nothing_ends_all_that_had_started() -> None:
    # TRUTH 1.5: 2.1.38 folds what it is given while a tool runs; one result for all.
    engine = Engine()
    for uuid in (FIRST, SECOND, THIRD):
        engine.send(prompt(uuid), at_once=True)
    echoes = [line(type="user", isReplay=True, uuid=uuid) for uuid in (FIRST, SECOND)]
    engine.feed(INIT + b"".join(echoes) + RESULT)
    assert engine.prompts.state(FIRST) is PromptState.DONE
    assert engine.prompts.state(SECOND) is PromptState.DONE
    assert engine.prompts.state(THIRD) is PromptState.SENT


def test_C13_a_turn_nobody_asked_for_holds_prompts_back_and_ends_none() -> None:
    # TRUTH 3: background tasks start turns of their own.
    engine = Engine()
    engine.feed(INIT)
    engine.send(prompt(FIRST))
    assert written(engine) == []
    engine.feed(line(type="result", subtype="success", origin={"kind": "task-notification"}))
    assert [w["uuid"] for w in written(engine)] == [FIRST]
    assert engine.prompts.state(FIRST) is PromptState.SENT


def test_C13_a_background_result_that_races_with_a_prompt_does_not_end_it() -> None:
    engine = Engine()
    engine.send(prompt(FIRST))
    engine.feed(INIT + line(type="result", subtype="success", origin={"kind": "task-notification"}))
    assert engine.prompts.state(FIRST) is PromptState.SENT
    assert engine.prompts.busy


@pytest.mark.parametrize("state", ["cancelled", "discarded", "refused"])
def test_C14_a_prompt_that_the_cli_gives_up_is_cancelled_and_the_next_one_sent(state: str) -> None:
    engine = Engine()
    engine.send(prompt(FIRST))
    engine.send(prompt(SECOND))
    written(engine)
    engine.feed(line(type="command_lifecycle", command_uuid=FIRST, state=state))
    assert engine.prompts.state(FIRST) is PromptState.CANCELLED
    assert [w["uuid"] for w in written(engine)] == [SECOND]


def test_C15_a_uuid_can_be_given_only_once() -> None:
    # TRUTH 1.2: the CLI would drop the second one without a word.
    engine = Engine()
    engine.send(prompt(FIRST))
    with pytest.raises(UsageError, match="before"):
        engine.send(prompt(FIRST, "again"))


def test_C16_a_held_prompt_can_be_edited_reordered_and_taken_back() -> None:
    engine = Engine()
    for uuid in (FIRST, SECOND, THIRD):
        engine.send(prompt(uuid))
    assert engine.prompts.replace(prompt(THIRD, "better")) is True
    assert engine.prompts.replace(prompt(FIRST, "too late")) is False
    assert engine.prompts.reorder((THIRD, SECOND)) is True
    assert engine.prompts.reorder((THIRD,)) is False
    assert engine.prompts.cancel(SECOND, "taken back") is True
    assert [p.text for p in engine.prompts.held] == ["better"]


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
    engine.take_happenings()


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
    outcomes = [
        h.request_id for h in engine.take_happenings() if isinstance(h, Answered | TimedOut)
    ]
    assert sorted(outcomes) == sorted(ids)
