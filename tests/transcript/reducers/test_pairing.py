"""Tool calls and their results."""

from __future__ import annotations

from typing import Any

import pytest

from fairlead.transcript.state.calls import readable
from fairlead.transcript.state.facts import ProcessExited
from fairlead.transcript.state.model import ToolItem
from tests.transcript.recordings import fold, stream
from tests.transcript.story import (
    Story,
    allow,
    ask,
    asks,
    assistant,
    block_start,
    calls,
    deny,
    fresh,
    gives,
    init,
    json_delta,
    message_start,
    result,
    says,
    system,
    tool_use,
    withdraws,
)


def running() -> Story:
    return Story().cli(init(), calls())


def test_T39_the_input_of_a_tool_is_seen_as_it_is_written() -> None:
    start = tool_use("tool-1", "Bash", {})
    story = Story().cli(init(), message_start(), block_start(start), json_delta('{"command"'))
    story.cli(json_delta(': "ls"}'))
    tool = story.tool()
    assert (tool.input_text, tool.input, tool.complete) == ('{"command": "ls"}', None, False)
    assert tool.state == "awaiting"
    tool = story.cli(calls()).tool()
    assert (tool.input_text, tool.input, tool.complete) == ("", {"command": "ls"}, True)
    assert tool.state == "running"


@pytest.mark.parametrize("streamed", [(), (json_delta('{"comm'),)])
def test_T39_what_is_written_after_the_finished_call_changes_nothing(streamed: Any) -> None:
    start = tool_use("tool-1", "Bash", {})
    story = Story().cli(init(), message_start(), block_start(start), *streamed, calls())
    before = story.transcript.snapshot().plain()
    story.cli(json_delta("late"))
    assert [change.to for change in story.changes] in ([], ["status"])
    assert story.transcript.snapshot().plain()["items"] == before["items"]


def test_T40_a_tool_awaits_its_permission_then_runs_then_ends() -> None:
    story = running().cli(asks())
    assert story.tool().state == "awaiting"
    assert story.host(allow()).tool().state == "running"
    assert story.cli(gives()).tool().state == "done"


@pytest.mark.parametrize(("error", "state"), [(False, "done"), (None, "done"), (True, "failed")])
def test_T41_is_error_says_whether_a_tool_failed(error: Any, state: str) -> None:
    tool = running().cli(gives("text", error=error)).tool()
    assert (tool.state, tool.result) == (state, "text")


def test_T42_a_call_that_the_user_denied_is_denied_at_once() -> None:
    story = running().cli(asks()).host(deny(message="not today"))
    assert story.tool().state == "denied"
    tool = story.cli(gives("not today", error=True), result()).tool()
    assert (tool.state, tool.result) == ("denied", "not today")


def test_T42_a_call_is_denied_if_the_cli_says_so() -> None:
    meta = [{"id": "tool-1", "permission_decision": {"decision": "reject", "source": "config"}}]
    assert running().cli(gives("no", error=True, tool_result_meta=meta)).tool().state == "denied"
    story = running().cli(system("permission_denied", tool_name="Bash", tool_use_id="tool-1"))
    assert story.tool().state == "denied"


def test_T42_old_clis_tell_only_in_the_result() -> None:
    denials = [{"tool_name": "Bash", "tool_use_id": "tool-1", "tool_input": {}}]
    story = running().cli(gives("no", error=True))
    assert story.tool().state == "failed"
    assert story.cli(result(permission_denials=denials)).tool().state == "denied"


def test_T43_a_call_that_an_interrupt_stopped_is_interrupted() -> None:
    story = running().host(ask("interrupt")).cli(gives("Exit code 137", error=True))
    assert story.tool().state == "interrupted"
    meta = [{"id": "tool-1", "non_execution_kind": "user-rejected"}]
    story = running().cli(gives("rejected", error=True, tool_result_meta=meta))
    assert story.tool().state == "interrupted"
    story = running().cli(gives("cut", tool_use_result={"interrupted": True}))
    assert story.tool().state == "interrupted"


@pytest.mark.parametrize("name", ["interrupt_permission", "perm_deny_interrupt"])
@pytest.mark.parametrize("version", ["2.1.29", "2.1.38", "2.1.325"])
def test_T43_a_denial_and_an_interruption_are_distinguished(name: str, version: str) -> None:
    transcript = fold(stream(f"{version}/{name}"))
    (tool,) = (item for item in transcript.items if isinstance(item, ToolItem))
    assert tool.state == ("denied" if name == "perm_deny_interrupt" else "interrupted")


def test_T44_what_is_open_when_its_turn_ends_was_interrupted() -> None:
    story = running().cli(result(None, subtype="error_max_budget_usd"))
    tool = story.tool()
    assert (tool.state, tool.result) == ("interrupted", None)


def test_T44_a_result_that_comes_late_still_counts() -> None:
    story = running().cli(result(), gives("late"))
    assert (story.tool().state, story.tool().result) == ("done", "late")


def test_T44_a_background_agent_goes_on_after_the_turn() -> None:
    story = Story().cli(
        init(),
        calls("Task", input={"run_in_background": True}),
        system("task_started", task_id="a1", tool_use_id="tool-1", is_backgrounded=True),
        gives("launched", tool_use_result={"isAsync": True, "agentId": "a1"}),
        calls("Read", "tool-2", message="sub", parent="tool-1"),
        result(),
    )
    assert story.tool("tool-2").state == "running"
    story.host(ProcessExited(returncode=0))
    assert story.tool("tool-2").state == "interrupted"


FORMS = [{"stdout": "x"}, "Error: no", [{"type": "text", "text": "42"}], None]


@pytest.mark.parametrize("structured", FORMS, ids=["object", "string", "list", "none"])
def test_T45_the_structured_result_is_kept_whatever_its_form(structured: Any) -> None:
    assert running().cli(gives(tool_use_result=structured)).tool().structured == structured


def test_T45_a_long_text_that_the_structured_result_repeats_is_kept_once() -> None:
    text = "".join(["line of output\n"] * 100)
    structured = {"stdout": text, "stderr": "", "file": {"content": "other"}}
    tool = running().cli(gives(text, tool_use_result=structured)).tool()
    assert tool.structured == structured
    assert tool.structured["stdout"] is tool.result


def test_T45_pictures_in_a_result_are_kept_apart() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A"}}
    tool = running().cli(gives([{"type": "text", "text": "see"}, image])).tool()
    assert tool.result == "see"
    assert tool.images[0]["source"]["data"] == "A"


def test_T46_a_result_for_an_unknown_call_creates_the_call() -> None:
    story = Story().cli(init(), gives("found", "tool-9"))
    assert (story.tool("tool-9").state, story.tool("tool-9").result) == ("done", "found")


def test_T46_a_request_for_an_unknown_call_creates_the_call() -> None:
    story = Story().cli(init(), asks(), calls())
    assert story.shown() == ["tool Bash awaiting"]


def test_T47_results_are_paired_by_id_in_any_order() -> None:
    story = Story().cli(init(), calls(tool_use_id="a"), calls(tool_use_id="b"))
    story.cli(gives("of b", "b"), gives("of a", "a", error=True), result())
    assert [(entry.state, entry.result) for entry in (story.tool("a"), story.tool("b"))] == [
        ("failed", "of a"),
        ("done", "of b"),
    ]


def test_T47_the_first_result_of_a_call_counts() -> None:
    story = running().cli(gives("first"), gives("second", error=True))
    assert (story.tool().state, story.tool().result) == ("done", "first")


@pytest.mark.parametrize(
    ("name", "meta", "title", "server"),
    [
        ("Bash", None, "Bash", None),
        ("mcp__github__search_repositories", None, "Github > Search Repositories", "github"),
        ("mcp__a-b__c", None, "A B > C", "a-b"),
        (
            "mcp__calc__add",
            {"display_name": "Add", "server_display_name": "lab"},
            "lab > Add",
            "calc",
        ),
        ("mcp__odd", None, "Odd > ", "odd"),
    ],
)
def test_T48_the_tool_of_an_mcp_server_has_a_readable_name(
    name: str, meta: Any, title: str, server: str | None
) -> None:
    assert readable(name, meta) == (title, server)


def test_T49_a_tool_has_its_times() -> None:
    story = running()
    began = story.at
    story.cli({"type": "tool_progress", "uuid": fresh(), "tool_use_id": "tool-1",
               "elapsed_time_seconds": 0.5})  # fmt: skip
    assert story.tool().elapsed == 0.5
    tool = story.cli(gives()).tool()
    assert (tool.started, tool.ended, tool.elapsed) == (began, story.at, 2.0)


def test_T49_waiting_for_a_person_is_not_running() -> None:
    story = running().cli(asks()).host(allow())
    began = story.at
    assert story.cli(gives()).tool().started == began


def test_T50_a_tool_tells_who_decided_and_why() -> None:
    story = running().cli(asks(decision_reason="outside")).host(allow())
    meta = [
        {"id": "tool-1", "permission_decision": {"decision": "accept", "source": "user_temporary"}}
    ]
    decision = story.cli(gives(tool_result_meta=meta)).tool().decision
    assert decision is not None
    assert (decision["behavior"], decision["source"], decision["reason"], decision["request"]) == (
        "allow", "user_temporary", "outside", "asked",
    )  # fmt: skip


def test_T50_an_edited_input_is_marked() -> None:
    story = running().cli(asks()).host(allow(updatedInput={"command": "pwd"}))
    decision = story.tool().decision
    assert decision is not None
    assert decision["edited"] is True


def test_T50_an_edit_that_was_changed_elsewhere_is_marked_by_its_result() -> None:
    for modified in (True, False):
        story = Story().cli(init(), calls("Edit"))
        story.cli(gives("ok", tool_use_result={"filePath": "/a", "userModified": modified}))
        decision = story.tool().decision or {}
        assert decision.get("edited", False) is modified


def test_T134_what_a_person_made_of_a_call_is_what_ran_and_what_was_asked_is_kept() -> None:
    story = running().cli(asks()).host(allow(updatedInput={"command": "pwd"}))
    tool = story.cli(gives("/somewhere")).tool()
    assert tool.input == {"command": "pwd"}
    assert tool.decision is not None
    assert tool.decision["asked"] == {"command": "ls"}


@pytest.mark.parametrize("version", ["2.1.38", "2.1.325"])
def test_T134_a_real_cli_ran_what_the_item_says(version: str) -> None:
    transcript = fold(stream(f"{version}/perm_edit_changed"))
    (tool,) = (
        item for item in transcript.items if isinstance(item, ToolItem) and item.name == "Edit"
    )
    assert tool.decision is not None
    assert (tool.input["new_string"], tool.decision["asked"]["new_string"]) == ("2!", "TWO")
    patch = tool.structured["structuredPatch"][0]["lines"]
    assert any("2!" in line for line in patch)
    assert not any("TWO" in line for line in patch)


def test_T134_an_input_that_was_not_changed_is_asked_and_run_in_one() -> None:
    decision = running().cli(asks()).host(allow()).tool().decision
    assert decision is not None
    assert "asked" not in decision


def test_T134_a_denied_call_keeps_what_it_asked_for() -> None:
    tool = running().cli(asks()).host(deny(updatedInput={"command": "pwd"})).tool()
    assert tool.input == {"command": "ls"}


def test_T134_answers_to_a_question_are_no_other_input() -> None:
    asked = {"questions": [{"question": "Red?"}]}
    story = Story().cli(init(), calls("AskUserQuestion", input=asked))
    story.cli(asks("AskUserQuestion", input=asked))
    tool = story.host(allow(updatedInput={**asked, "answers": {"Red?": "yes"}})).tool()
    assert tool.input == asked


def test_T134_the_finished_block_of_a_call_does_not_undo_the_change() -> None:
    story = Story().cli(init(), asks()).host(allow(updatedInput={"command": "pwd"}))
    assert story.cli(calls()).tool().input == {"command": "pwd"}


def test_T50_a_withdrawn_request_lets_the_tool_go_on() -> None:
    assert running().cli(asks(), withdraws()).tool().state == "running"


def test_T51_the_calls_of_a_subagent_hang_under_its_tool() -> None:
    story = Story().cli(init(), calls("Task"), calls("Bash", "tool-2", parent="tool-1"))
    story.cli(gives("x", "tool-2", parent_tool_use_id="tool-1"), gives("done"), result())
    assert story.tool("tool-2").parent == "tool-1"
    assert story.tool("tool-2").turn == "turn-1"


def test_T51_what_a_background_agent_says_later_belongs_to_the_turn_that_started_it() -> None:
    transcript = fold(stream("2.1.325/subagent_bg"))
    answer = transcript.item("msg_0004/0")
    assert answer is not None
    assert (answer.parent, answer.turn) == ("toolu_0002", "turn-1")


def test_T52_tools_that_the_api_runs_are_tools() -> None:
    use = {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {"query": "x"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srv", "content": [{"url": "u"}]}
    story = Story().cli(init(), assistant(use))
    assert story.tool("srv").by == "api"
    tool = story.cli(assistant(found)).tool("srv")
    assert (tool.state, tool.structured) == ("done", [{"url": "u"}])


def test_T52_a_failed_tool_of_the_api_is_shown_as_failed() -> None:
    failed = {"type": "web_search_tool_result_error", "error_code": "unavailable"}
    block = {"type": "web_search_tool_result", "tool_use_id": "srv", "content": failed}
    assert Story().cli(init(), assistant(block)).tool("srv").state == "failed"


def test_T53_a_summary_of_several_calls_goes_to_the_last() -> None:
    story = Story().cli(init(), calls(tool_use_id="a"), calls(tool_use_id="b"))
    story.cli({"type": "tool_use_summary", "uuid": fresh(), "summary": "looked around",
               "preceding_tool_use_ids": ["a", "b", "gone"]})  # fmt: skip
    assert (story.tool("a").summary, story.tool("b").summary) == (None, "looked around")


def test_T53_text_after_a_tool_is_an_item_of_its_own() -> None:
    story = running().cli(gives(), says("so", "msg-2"), result())
    assert story.shown() == ["tool Bash done", "text so"]
