"""Turns: where they begin, what they are about, how they end."""

from __future__ import annotations

from typing import Any

import pytest

from fairlead.transcript.state.facts import HostStopping, ProcessExited, ProcessStarted
from fairlead.transcript.state.model import NoticeItem
from tests.transcript.recordings import fold, stream
from tests.transcript.story import (
    Line,
    Story,
    ask,
    asks,
    calls,
    deny,
    init,
    lifecycle,
    message_start,
    prompt,
    result,
    says,
    system,
    user,
)

BEGINNINGS: list[tuple[str, Line]] = [
    ("init", init()),
    ("a message", message_start()),
    ("a finished block", says("hi")),
]


@pytest.mark.parametrize(("name", "line"), BEGINNINGS, ids=[name for name, _ in BEGINNINGS])
def test_T73_a_turn_begins_with_its_init_or_the_first_sign_of_work(name: str, line: Line) -> None:
    story = Story().host(prompt("go")).cli(line)
    (turn,) = story.turns()
    assert (turn.id, turn.at, turn.outcome) == ("turn-1", story.at, None)
    assert story.transcript.turn == turn


def test_T73_a_prompt_that_was_started_begins_one_before_the_init() -> None:
    one = prompt("go")
    story = Story().host(one).cli(lifecycle(one.uuid, "started"))
    began = story.at
    story.cli(init(user_message_uuids=[one.uuid]), says("hi"))
    (turn,) = story.turns()
    assert (turn.at, turn.prompts) == (began, (one.uuid,))


def test_T74_a_result_ends_it() -> None:
    story = Story().host(prompt("go")).cli(init(), says("hi"), result("hi"))
    (turn,) = story.turns()
    assert (turn.ended, turn.outcome, turn.text) == (story.at, "success", "hi")
    assert story.transcript.turn is None


def test_T74_a_result_before_any_init_is_a_turn() -> None:
    story = Story().host(ProcessStarted(resumed="x"), prompt("go"))
    story.cli(
        result(None, subtype="error_during_execution", is_error=True, errors=["No such session"])
    )
    (turn,) = story.turns()
    assert (turn.outcome, turn.errors) == ("error", ("No such session",))
    assert story.prompts() == ["go started"]
    assert story.state == "error"


def test_T75_a_second_init_in_a_turn_begins_none() -> None:
    story = Story().host(prompt("go")).cli(init(), says("one"), init(), says("two", "m2"), result())
    assert len(story.turns()) == 1


def test_T75_unless_it_names_prompts_that_wait() -> None:
    one, two = prompt("one"), prompt("two")
    story = Story().host(one).cli(init(user_message_uuids=[one.uuid])).host(two)
    story.cli(init(user_message_uuids=[two.uuid]), result())
    assert [turn.outcome for turn in story.turns()] == ["unknown", "success"]


OUTCOMES: list[tuple[dict[str, Any], str]] = [
    ({}, "success"),
    ({"is_error": True}, "api_error"),
    ({"subtype": "error_max_turns"}, "max_turns"),
    ({"subtype": "error_max_turns", "is_error": True}, "max_turns"),
    ({"subtype": "error_max_budget_usd"}, "budget"),
    ({"subtype": "error_max_structured_output_retries"}, "structured_output"),
    ({"subtype": "error_during_execution"}, "error"),
    ({"subtype": "error_of_tomorrow"}, "error"),
    ({"terminal_reason": "aborted_tools"}, "interrupted"),
    ({"subtype": "error_during_execution", "terminal_reason": "aborted_streaming"}, "interrupted"),
]


@pytest.mark.parametrize(("fields", "outcome"), OUTCOMES)
def test_T76_the_ends_of_a_turn_are_distinguished(fields: dict[str, Any], outcome: str) -> None:
    story = Story().host(prompt("go")).cli(init(), result(**fields))
    assert story.turns()[0].outcome == outcome


def test_T76_old_clis_are_interrupted_by_the_one_who_asked() -> None:
    end = result(None, subtype="error_during_execution")
    assert Story().cli(init()).host(ask("interrupt")).cli(end).turns()[0].outcome == "interrupted"
    denied = (
        Story().cli(init(), calls(), asks()).host(deny(interrupt=True)).cli(dict(end, uuid="x"))
    )
    assert denied.turns()[0].outcome == "interrupted"


def test_T76_an_interrupt_that_was_refused_or_came_while_idle_is_none() -> None:
    refused = {"type": "control_response",
               "response": {"subtype": "error", "request_id": "ours", "error": "no"}}  # fmt: skip
    end = result(None, subtype="error_during_execution")
    story = Story().cli(init()).host(ask("interrupt")).cli(refused, end)
    assert story.turns()[0].outcome == "error"
    idle = Story().host(ask("interrupt")).cli(init(), dict(end, uuid="y"))
    assert idle.turns()[0].outcome == "error"


def test_T145_a_turn_that_the_host_cut_off_by_ending_was_not_stopped_by_the_user() -> None:
    story = Story().host(prompt("go")).cli(init(), says("hi"))
    last = story.transcript.status.last_event
    story.host(HostStopping())
    story.cli(
        user("[Request interrupted by user]"),
        result(None, subtype="error_during_execution", terminal_reason="aborted_streaming"),
    )
    story.host(ProcessExited(returncode=1, expected=True))
    assert story.turns()[0].outcome == "host_stopped"
    assert not [item for item in story.transcript.items if isinstance(item, NoticeItem)]
    assert story.transcript.status.last_event == last
    assert story.transcript.status.state == "ended"


def test_T145_a_host_that_was_killed_ended_the_turn() -> None:
    story = Story().host(prompt("go")).cli(init(), says("hi"))
    story.host(ProcessExited(host_stopped=True))
    assert story.turns()[0].outcome == "host_stopped"
    assert story.transcript.status.state == "ended"
    story.host(ProcessStarted(resumed="x"), prompt("on"))
    story.cli(init(), says("more"), user("[Request interrupted by user]"))
    assert [item.notice for item in story.transcript.items if isinstance(item, NoticeItem)] == [
        "resumed",
        "interrupted",
    ]


def test_T145_ending_an_idle_process_is_no_activity() -> None:
    story = Story().host(prompt("go")).cli(init(), says("hi"), result("hi"))
    last = story.transcript.status.last_event
    story.host(ProcessExited(returncode=0, expected=True))
    assert story.transcript.status.last_event == last
    story.host(prompt("again"))
    assert story.transcript.status.last_event > last


def test_T77_a_missing_structured_output_is_no_success() -> None:
    tools = init(tools=["StructuredOutput"])
    assert Story().cli(tools, result("text")).turns()[0].outcome == "structured_output"
    given = Story().cli(init(tools=["StructuredOutput"]), result("", structured_output={"n": 1}))
    (turn,) = given.turns()
    assert (turn.outcome, turn.structured_output) == ("success", {"n": 1})


def test_T77_a_slash_command_owes_none() -> None:
    story = Story().host(prompt("/cost")).cli(init(tools=["StructuredOutput"]), result("x"))
    assert story.turns()[0].outcome == "success"


def test_T78_a_turn_knows_what_started_it() -> None:
    story = Story().host(prompt("go")).cli(init(), result())
    story.cli(system("task_notification", task_id="a", status="completed"))
    story.cli(init(), result(origin={"kind": "task-notification"}))
    story.cli(
        lifecycle("none-of-ours", "started", wakeup_source="schedule_wakeup"), init(), result()
    )
    assert [turn.origin for turn in story.turns()] == ["user", "background", "schedule"]
    assert story.turns()[1].origin_detail == {"kind": "task-notification"}


def test_T79_a_turn_has_its_own_account() -> None:
    usage = {"input_tokens": 10, "output_tokens": 5}
    denials = [{"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "rm"}}]
    story = Story().cli(init(), result("x", total_cost_usd=0.5))
    story.cli(init(), result("y", total_cost_usd=0.75, usage=usage, duration_ms=90,
                             num_turns=2, permission_denials=denials, stop_reason="end_turn"))  # fmt: skip
    turn = story.turns()[1]
    assert (turn.cost_usd, turn.duration_ms, turn.steps, turn.stop_reason) == (
        0.25,
        90,
        2,
        "end_turn",
    )
    assert turn.usage is not None
    assert turn.usage["output_tokens"] == 5
    assert turn.denials[0]["tool_input"] == {"command": "rm"}


def test_T80_a_turn_that_its_process_did_not_survive_is_over() -> None:
    story = Story().host(ProcessStarted(), prompt("go")).cli(init(), calls())
    story.host(ProcessExited(returncode=-9))
    (turn,) = story.turns()
    assert (turn.outcome, turn.ended) == ("process_ended", story.at)


@pytest.mark.parametrize(
    ("name", "outcomes"),
    [
        ("max_budget", ["budget", "budget"]),
        ("max_turns", ["max_turns", "success"]),
        ("err_400", ["api_error", "success"]),
        ("interrupt_stream", ["interrupted", "success"]),
    ],
)
@pytest.mark.parametrize("version", ["2.1.29", "2.1.38", "2.1.325"])
def test_T76_real_turns_end_as_they_did(version: str, name: str, outcomes: list[str]) -> None:
    found = [turn.outcome for turn in fold(stream(f"{version}/{name}")).turns]
    if (version, name) == ("2.1.325", "err_400"):
        outcomes = ["success", "success"]  # it asks again by itself (CLI-506)
    assert found == outcomes


def test_T144_a_turn_counts_the_time_that_it_waited_for_a_user() -> None:
    story = Story().host(prompt("go")).cli(init(), calls(), asks())
    story.at += 60
    story.host(deny()).cli(says("Then not."), calls("Bash", "tool-2"))
    story.cli(asks(tool_use_id="tool-2", request_id="again"))
    story.at += 30
    story.host(deny("again")).cli(result("done"))
    (turn,) = story.turns()
    assert turn.waited_ms == 92_000
    assert turn.ended is not None
    assert turn.ended - turn.at > 92


def test_T144_a_turn_that_ends_while_it_waits_counts_the_wait() -> None:
    story = Story().host(prompt("go")).cli(init(), calls(), asks())
    story.at += 60
    story.host(ProcessExited(returncode=1))
    assert [turn.waited_ms for turn in story.turns()] == [61_000]


def test_T144_a_request_of_a_background_agent_does_not_hold_the_turn_up() -> None:
    task = system("task_started", task_id="a1", tool_use_id="tool-1", is_backgrounded=True)
    story = Story().host(prompt("go")).cli(init(), calls("Task"), task)
    story.cli(asks(tool_use_id="sub", agent_id="a1"))
    story.at += 60
    story.cli(says("Meanwhile."), result())
    assert [turn.waited_ms for turn in story.turns()] == [0]
