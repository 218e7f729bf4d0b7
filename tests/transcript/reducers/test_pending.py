"""Requests that a person must answer."""

from __future__ import annotations

from typing import Any

import pytest

from fairlead.transcript.state.facts import Decided, PlanShown, ProcessExited, Stopped
from fairlead.wire.inputs import AnswerError
from tests.transcript.recordings import fold, stream
from tests.transcript.story import (
    Line,
    Story,
    allow,
    answers,
    ask,
    asks,
    calls,
    deny,
    gives,
    init,
    result,
    withdraws,
)


def outcomes(story: Story) -> list[str]:
    return [entry.outcome for entry in story.transcript.settled]


def elicits() -> Line:
    request = {"subtype": "elicitation", "mcp_server_name": "lab", "message": "your name?",
               "mode": "form", "requested_schema": {"type": "object"}}  # fmt: skip
    return {"type": "control_request", "request_id": "asked", "request": request}


def shows_dialog() -> Line:
    request = {"subtype": "request_user_dialog", "dialog_kind": "trust", "payload": {"x": 1}}
    return {"type": "control_request", "request_id": "asked", "request": request}


def test_T81_a_request_shows_what_it_is_about() -> None:
    update = {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow",
              "destination": "session"}  # fmt: skip
    story = Story().cli(
        init(),
        calls(),
        asks(permission_suggestions=[update], decision_reason="outside", blocked_path="/x"),
    )
    (request,) = story.pending()
    assert (request.id, request.kind, request.tool, request.tool_name) == (
        "asked", "permission", "tool-1", "Bash",
    )  # fmt: skip
    assert request.input == {"command": "ls"}
    assert request.suggestions[0]["rules"][0]["toolName"] == "Bash"
    assert (request.reason, request.blocked_path) == ("outside", "/x")


KINDS: list[tuple[str, Line]] = [
    ("permission", asks()),
    ("question", asks("AskUserQuestion", input={"questions": []})),
    ("plan", asks("ExitPlanMode", input={"plan": "# do"})),
    ("elicitation", elicits()),
    ("dialog", shows_dialog()),
]


@pytest.mark.parametrize(("kind", "line"), KINDS, ids=[kind for kind, _ in KINDS])
def test_T82_questions_plans_elicitations_and_dialogs_are_distinguished(
    kind: str, line: Line
) -> None:
    story = Story().cli(init(), line)
    assert [request.kind for request in story.pending()] == [kind]
    assert story.state == "awaiting_approval"


def test_T82_an_elicitation_and_a_dialog_keep_their_details() -> None:
    (form,) = Story().cli(elicits()).pending()
    assert (form.title, form.description) == ("lab", "your name?")
    assert form.details["schema"] == {"type": "object"}
    (dialog,) = Story().cli(shows_dialog()).pending()
    assert dialog.details["payload"] == {"x": 1}


def test_T82_hooks_and_mcp_messages_are_not_for_people() -> None:
    hook = {"subtype": "hook_callback", "callback_id": "c", "input": {}}
    rpc = {"subtype": "mcp_message", "server_name": "s", "message": {}}
    story = Story().cli(
        {"type": "control_request", "request_id": "1", "request": hook},
        {"type": "control_request", "request_id": "2", "request": rpc},
    )
    assert (story.pending(), story.items()) == ((), ())


def test_T83_several_wait_at_once_and_are_answered_in_any_order() -> None:
    story = Story().cli(init(), calls(tool_use_id="a"), calls(tool_use_id="b"))
    story.cli(asks(tool_use_id="a", request_id="1"), asks(tool_use_id="b", request_id="2"))
    assert [entry.id for entry in story.pending()] == ["1", "2"]
    story.host(allow("2"))
    assert [entry.id for entry in story.pending()] == ["1"]
    assert (story.tool("a").state, story.tool("b").state) == ("awaiting", "running")
    assert story.host(deny("1")).pending() == ()


@pytest.mark.parametrize(("state", "last"), [("running", allow), ("denied", deny)])
@pytest.mark.parametrize("first", [allow, deny])
def test_T83_a_call_that_is_asked_about_twice_waits_for_both_answers(
    first: Any, state: str, last: Any
) -> None:
    # F-19: the CLI waits for an answer to each of its requests, whatever they are about.
    changed = asks(request_id="again", input={"command": "rm -rf ~"})
    story = Story().cli(init(), calls(), asks(), changed)
    assert [(entry.id, entry.input["command"]) for entry in story.pending()] == [
        ("asked", "ls"),
        ("again", "rm -rf ~"),
    ]
    story.host(first("again"))
    assert (story.tool().state, [entry.id for entry in story.pending()]) == ("awaiting", ["asked"])
    story.host(last("asked"))
    assert (story.tool().state, story.pending()) == (state, ())
    assert outcomes(story) == ["answered", "answered"]


@pytest.mark.parametrize(("state", "answer"), [("running", allow), ("denied", deny)])
def test_T83_a_call_keeps_its_answer_when_its_other_request_is_withdrawn(
    state: str, answer: Any
) -> None:
    story = Story().cli(init(), calls(), asks(), asks(request_id="again"))
    story.host(answer("again")).cli(withdraws())
    assert (story.tool().state, outcomes(story)) == (state, ["answered", "cancelled"])


ENDS: list[tuple[str, Any]] = [
    ("answered", lambda story: story.host(allow())),
    ("answered", lambda story: story.host(AnswerError(request_id="asked", error="cannot"))),
    ("cancelled", lambda story: story.cli(withdraws())),
    ("superseded", lambda story: story.cli(gives("decided elsewhere"))),
    ("process_ended", lambda story: story.host(ProcessExited(returncode=-9))),
]


@pytest.mark.parametrize(("outcome", "end"), ENDS)
def test_T84_each_ends_in_exactly_one_way(outcome: str, end: Any) -> None:
    story = Story().cli(init(), calls(), asks())
    end(story)
    assert outcomes(story)[0] == outcome
    assert "asked" not in [entry.id for entry in story.pending()]
    story.host(allow()).cli(withdraws(), asks())
    story.host(ProcessExited(returncode=0))
    assert [entry.outcome for entry in story.transcript.settled if entry.id == "asked"] == [outcome]


def test_T84_an_open_request_outlives_the_turn_of_a_background_agent() -> None:
    task = {"type": "system", "subtype": "task_started", "uuid": "u", "task_id": "a1",
            "tool_use_id": "tool-1", "is_backgrounded": True}  # fmt: skip
    launched = {"isAsync": True, "agentId": "a1"}
    story = Story().cli(init(), calls("Task"), task, gives(tool_use_result=launched), result())
    story.cli(asks(tool_use_id="sub", agent_id="a1"))
    assert [entry.agent for entry in story.pending()] == ["a1"]
    assert story.tool("sub").parent == "tool-1"
    assert story.state == "awaiting_approval"
    story.cli(init(), result())
    assert len(story.pending()) == 1


def test_T85_a_late_answer_changes_nothing() -> None:
    story = Story().cli(init(), calls(), asks(), withdraws())
    before = story.transcript.snapshot()
    story.host(deny())
    after = story.transcript.snapshot()
    assert (after.items, after.settled) == (before.items, before.settled)


def test_T86_the_same_request_twice_is_one() -> None:
    story = Story().cli(init(), calls(), asks(), asks())
    assert len(story.pending()) == 1
    story.host(allow()).cli(asks())
    assert story.pending() == ()


def test_T86_a_repeated_initialize_brings_open_requests_back() -> None:
    request = asks()
    body = [{"request_id": "asked", "request": request["request"]}]
    story = Story().host(ask("initialize"))
    story.cli(answers({}, pending_permission_requests=body))
    assert [entry.id for entry in story.pending()] == ["asked"]
    story.host(ask("initialize")).cli(answers({}, pending_permission_requests=body))
    assert len(story.pending()) == 1


def test_T86_open_requests_come_back_if_each_is_given_as_a_whole_line() -> None:
    story = Story().host(ask("initialize"))
    story.cli(answers({}, pending_permission_requests=[{"request_id": "", "request": asks()}]))
    assert [entry.id for entry in story.pending()] == ["asked"]


@pytest.mark.parametrize("first", [True, False])
def test_T87_who_decided_is_known_whether_reported_before_or_after(first: bool) -> None:
    story = Story().cli(init(), calls(), asks())
    fact = Decided("asked", "Ada")
    if first:
        story.host(fact, allow())
    else:
        story.host(allow(), fact)
    assert story.transcript.settled[0].by == "Ada"
    decision = story.tool().decision
    assert decision is not None
    assert decision["by"] == "Ada"


STOPS: list[tuple[str, Any]] = [
    ("cancelled", lambda story: story.cli(withdraws())),
    ("superseded", lambda story: story.cli(result("stopped", subtype="error_during_execution"))),
    ("process_ended", lambda story: story.host(ProcessExited(returncode=0, expected=True))),
]


@pytest.mark.parametrize(("outcome", "end"), STOPS, ids=[outcome for outcome, _ in STOPS])
def test_T139_who_stopped_the_turn_or_the_process_is_known(outcome: str, end: Any) -> None:
    story = end(Story().cli(init(), calls(), asks()).host(Stopped("Ada")))
    (settled,) = story.transcript.settled
    assert (settled.outcome, settled.stopped_by, settled.by) == (outcome, "Ada", None)


def test_T139_a_denial_that_stops_ends_the_other_requests_too() -> None:
    story = Story().cli(init(), calls(), asks(), asks(request_id="other"))
    story.host(Decided("asked", "Ada"), deny(interrupt=True)).cli(withdraws("other"))
    ends = [(entry.outcome, entry.by, entry.stopped_by) for entry in story.transcript.settled]
    assert ends == [("answered", "Ada", None), ("cancelled", None, "Ada")]


def test_T139_a_stop_is_forgotten_with_its_turn() -> None:
    story = Story().cli(init(), calls(), asks()).host(Stopped("Ada")).cli(result("stopped"))
    story.cli(init(), asks(request_id="later"), withdraws("later"))
    assert [entry.stopped_by for entry in story.transcript.settled] == ["Ada", None]


def test_T139_a_stop_that_the_cli_refused_stopped_nothing() -> None:
    refused = {"subtype": "error", "request_id": "ours", "error": "no"}
    story = Story().cli(init(), calls(), asks()).host(Stopped("Ada"), ask("interrupt"))
    story.cli({"type": "control_response", "response": refused}, withdraws())
    assert [entry.stopped_by for entry in story.transcript.settled] == [None]


@pytest.mark.parametrize("version", ["2.1.38", "2.1.325"])
def test_T83_two_reads_wait_at_once_in_real_life(version: str) -> None:
    most = 0
    messages = stream(f"{version}/perm_parallel_reads")
    for number in range(len(messages)):
        most = max(most, len(fold(messages[: number + 1]).pending))
    assert most == 2


def test_T137_the_words_of_a_plan_can_come_later() -> None:
    story = Story().cli(init(), calls("ExitPlanMode", input={}), asks("ExitPlanMode", input={}))
    story.host(PlanShown("asked", "# First\nthen"))
    (request,) = story.pending()
    assert request.details["plan"] == "# First\nthen"


def test_T137_a_plan_without_a_request_changes_nothing() -> None:
    story = Story().cli(init()).host(PlanShown("nobody", "# Plan"))
    assert story.pending() == ()


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"source": "userSettings", "tool_name": "Bash", "rule_content": "make *"}, None),
        ({"source": 1, "tool_name": "Bash"}, {"tool_name": "Bash"}),
        ({"source": "userSettings"}, {}),
        ("Bash", {}),
        (None, {}),
    ],
)
def test_T148_a_request_has_the_ask_rule_that_caused_it(given: Any, kept: Any) -> None:
    story = Story().cli(init(), calls(), asks(matched_ask_rule=given))
    (request,) = story.pending()
    assert (request.matched_ask_rule or {}) == (given if kept is None else kept)
