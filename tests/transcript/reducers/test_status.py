"""The status, derived from the facts."""

from __future__ import annotations

from typing import Any

import pytest

from fairlead.transcript.reducers.status import STATES
from fairlead.transcript.state.facts import ProcessExited, ProcessStarted, PromptHeld
from fairlead.transcript.state.fold import LAST_EVENT_STEP_S
from fairlead.wire.decode import decode_object
from tests.transcript.recordings import all_streams, fold, stream
from tests.transcript.story import (
    Story,
    allow,
    answers,
    ask,
    asks,
    block_start,
    block_stop,
    calls,
    delta,
    gives,
    init,
    lifecycle,
    message_start,
    prompt,
    result,
    says,
    system,
)

THINKING = {"type": "thinking", "thinking": ""}
RETRY = system("api_retry", attempt=1, max_retries=10, retry_delay_ms=500)


def began() -> Story:
    return Story().host(ProcessStarted(), prompt()).cli(init())


CASES: list[tuple[str, Any]] = [
    ("starting", lambda: Story()),
    ("starting", lambda: Story().host(ProcessStarted())),
    ("starting", lambda: Story().host(ProcessStarted(), prompt())),
    ("ready", lambda: Story().host(ProcessStarted(), ask("initialize")).cli(answers({}))),
    ("thinking", began),
    ("thinking", lambda: began().cli(message_start(), block_start(THINKING))),
    ("streaming", lambda: began().cli(message_start(), block_start(), delta("a"))),
    ("thinking", lambda: began().cli(message_start(), block_start(), delta("a"), block_stop())),
    ("running_tool", lambda: began().cli(calls())),
    ("awaiting_approval", lambda: began().cli(calls(), asks())),
    ("running_tool", lambda: began().cli(calls(), asks()).host(allow())),
    ("thinking", lambda: began().cli(calls(), gives())),
    ("compacting", lambda: began().cli(system("status", status="compacting"))),
    ("thinking", lambda: began().cli(system("status", status="compacting"), system("status"))),
    ("retrying", lambda: began().cli(dict(RETRY, uuid="r"))),
    ("thinking", lambda: began().cli(dict(RETRY, uuid="r"), message_start())),
    ("idle", lambda: began().cli(says("hi"), result())),
    ("idle", lambda: began().cli(result(None, terminal_reason="aborted_streaming"))),
    ("error", lambda: began().cli(result("bad", is_error=True))),
    ("thinking", lambda: began().cli(result("bad", is_error=True)).host(prompt())),
    ("ended", lambda: began().cli(result()).host(ProcessExited(returncode=0))),
    ("disconnected", lambda: began().host(ProcessExited(returncode=0))),
]


@pytest.mark.parametrize(("state", "make"), CASES)
def test_T106_the_state_follows_from_what_happened(state: str, make: Any) -> None:
    assert make().state == state
    assert state in STATES


def test_T106_every_state_is_reached() -> None:
    assert {state for state, _ in CASES} == set(STATES)


def test_T107_the_tool_that_runs_is_named() -> None:
    story = began().cli(calls("Task", "outer"), calls("Bash", "inner", parent="outer"))
    assert story.transcript.status.tool == "outer"
    assert story.cli(gives("ok", "outer")).transcript.status.tool == "inner"


def test_T108_the_time_of_the_last_change_and_of_the_last_event_are_known() -> None:
    story = began()
    since = story.at
    story.cli(system("status", status="requesting"))
    status = story.transcript.status
    assert (status.since, status.last_event) == (since, story.at)


def test_T108_while_deltas_stream_the_last_event_may_be_a_second_old() -> None:
    story = began().cli(message_start(), block_start(), delta("a"))
    at = story.at
    line = decode_object(delta("b"))
    assert len(story.transcript.feed(line, at + LAST_EVENT_STEP_S / 2)) == 1
    assert story.transcript.status.last_event == at
    assert len(story.transcript.feed(line, at + LAST_EVENT_STEP_S)) == 2
    assert story.transcript.status.last_event == at + LAST_EVENT_STEP_S


def test_T109_a_result_is_not_the_end_of_the_work() -> None:
    one, two = prompt("one"), prompt("two")
    story = Story().host(one).cli(lifecycle(one.uuid, "started"), init()).host(two).cli(result())
    assert (story.state, story.transcript.status.waiting) == ("thinking", 1)
    more = Story().cli(init(), result(queued_turn_count=1))
    assert more.cli(system("session_state_changed", state="running")).state == "thinking"
    assert more.cli(system("session_state_changed", state="idle")).state == "idle"


def test_T109_with_its_result_a_turn_is_over_though_the_cli_says_so_only_later() -> None:
    running = Story().cli(system("session_state_changed", state="running"), init(), result())
    assert running.state == "idle"
    assert running.cli(system("session_state_changed", state="running")).state == "thinking"
    assert running.cli(system("session_state_changed", state="idle")).state == "idle"


def test_T109_a_result_that_announces_more_turns_leaves_the_cli_running() -> None:
    change = system("session_state_changed", state="running")
    story = Story().cli(change, init(), result(queued_turn_count=1))
    assert story.state == "thinking"


def test_T109_a_prompt_that_the_host_holds_does_not_make_the_session_busy() -> None:
    story = began().cli(result()).host(PromptHeld(prompt("later")))
    assert (story.state, story.transcript.status.waiting) == ("idle", 1)


EXITS: list[tuple[str, Any, dict[str, Any]]] = [
    ("ended", "success", {"returncode": 0}),
    ("ended", "api_error", {"returncode": 1}),
    ("disconnected", "success", {"returncode": 1}),
    ("disconnected", "success", {"returncode": 143}),
    ("ended", "success", {"returncode": 143, "expected": True}),
    ("disconnected", None, {"returncode": 0}),
    ("disconnected", "open", {"returncode": 0}),
]


@pytest.mark.parametrize(("state", "before", "exit"), EXITS)
def test_T110_how_a_process_ended_is_derived_from_earlier_events(
    state: str, before: str | None, exit: dict[str, Any]
) -> None:
    story = Story().host(ProcessStarted(), prompt())
    if before is not None:
        story.cli(init())
    if before in ("success", "api_error"):
        story.cli(result(is_error=before == "api_error"))
    story.host(ProcessExited(stderr="last words\n", **exit))
    status = story.transcript.status
    assert (status.state, status.returncode) == (state, exit["returncode"])
    assert status.detail == "last words"


def test_T110_a_new_process_starts_afresh() -> None:
    story = began().host(ProcessExited(returncode=1, stderr="x"), ProcessStarted(resumed="s-1"))
    status = story.transcript.status
    assert (status.state, status.returncode, status.detail) == ("starting", None, None)


@pytest.mark.parametrize("version", ["2.1.29", "2.1.38", "2.1.120", "2.1.220", "2.1.325"])
def test_T109_no_recording_is_busy_in_the_end(version: str) -> None:
    seen = set()
    for name in all_streams():
        if version in name.split("/"):
            seen.add(fold(stream(name)).status.state)
    assert seen <= {"ended", "disconnected"}
    assert "ended" in seen
