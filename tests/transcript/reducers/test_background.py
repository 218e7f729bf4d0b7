"""Subagents and background commands."""

from __future__ import annotations

from typing import Any

import pytest

from fairlead.transcript import Transcript
from fairlead.transcript.state.facts import ProcessExited
from fairlead.transcript.state.model import Background
from fairlead.wire.events import Result
from fairlead.wire.system import TaskStarted
from tests.transcript.recordings import fold, stream
from tests.transcript.story import Story, calls, gives, init, result, system


def only(story: Story) -> Background:
    (task,) = story.transcript.background
    return task


def started(**fields: Any) -> Story:
    known = {"task_id": "a1", "tool_use_id": "tool-1", "description": "look", "task_type": "local_agent",
             "subagent_type": "Explore", "is_backgrounded": True}  # fmt: skip
    return Story().cli(init(), calls("Task"), system("task_started", **{**known, **fields}))


def test_T92_a_task_tells_what_it_is_and_who_started_it() -> None:
    task = only(started())
    assert (task.type, task.tool, task.agent, task.description) == (
        "agent", "tool-1", "Explore", "look",
    )  # fmt: skip
    assert (task.state, task.backgrounded) == ("running", True)
    assert started().tool().background == "a1"


def test_T92_a_task_tells_what_it_is_doing() -> None:
    usage = {"total_tokens": 100, "tool_uses": 2, "duration_ms": 50}
    story = started().cli(system("task_progress", task_id="a1", description="Running ls",
                                 last_tool_name="Bash", usage=usage))  # fmt: skip
    task = only(story)
    assert (task.progress, task.last_tool, task.tokens, task.tool_uses) == (
        "Running ls",
        "Bash",
        100,
        2,
    )


ENDS = [
    ("completed", system("task_notification", task_id="a1", status="completed", summary="found")),
    ("failed", system("task_updated", task_id="a1", patch={"status": "failed", "error": "boom"})),
    ("stopped", system("task_updated", task_id="a1", patch={"status": "killed"})),
    ("ended", system("background_tasks_changed", tasks=[])),
]


@pytest.mark.parametrize(("state", "line"), ENDS, ids=[state for state, _ in ENDS])
def test_T93_a_task_tells_how_it_ended(state: str, line: Any) -> None:
    task = only(started().cli(line))
    assert task.state == state
    assert task.ended is not None


def test_T93_the_first_end_counts_unless_it_did_not_say_how() -> None:
    notification = {"task_id": "a1", "status": "completed"}
    story = started().cli(
        system("background_tasks_changed", tasks=[]), system("task_notification", **notification)
    )
    assert only(story).state == "completed"
    story.cli(system("task_updated", task_id="a1", patch={"status": "failed"}))
    assert only(story).state == "completed"


def test_T93_a_task_can_pause() -> None:
    story = started().cli(system("task_updated", task_id="a1", patch={"status": "paused"}))
    assert (only(story).state, only(story).ended) == ("paused", None)


def test_T94_old_clis_tell_of_a_task_only_in_the_result_of_its_tool() -> None:
    story = Story().cli(init("2.1.38"), calls(), gives(tool_use_result={"backgroundTaskId": "b1"}))
    task = only(story)
    assert (task.id, task.type, task.tool, task.state) == ("b1", "shell", "tool-1", "running")
    assert story.tool().state == "done"
    launched = {"isAsync": True, "agentId": "a1", "outputFile": "/f"}
    agent = only(Story().cli(init(), calls("Task"), gives(tool_use_result=launched)))
    assert (agent.type, agent.output_file) == ("agent", "/f")


def test_T95_a_subagent_in_the_foreground_ends_with_its_call() -> None:
    story = started(is_backgrounded=False).cli(gives("report"))
    assert (only(story).state, only(story).backgrounded) == ("completed", False)
    assert story.tool().background is None


def test_T95_where_the_cli_does_not_say_the_call_does() -> None:
    assert only(started(is_backgrounded=None)).backgrounded is False
    story = Story().cli(init(), calls("Task", input={"run_in_background": True}))
    story.cli(system("task_started", task_id="a1", tool_use_id="tool-1"))
    assert only(story).backgrounded is True


def test_T96_what_runs_in_the_background_goes_on_while_idle() -> None:
    story = started().cli(gives(tool_use_result={"isAsync": True, "agentId": "a1"}), result())
    assert (story.state, story.transcript.status.background) == ("idle", 1)
    story.cli(system("task_notification", task_id="a1", status="completed"))
    assert story.transcript.status.background == 0


def test_T96_a_task_does_not_survive_its_process() -> None:
    story = started().host(ProcessExited(returncode=0))
    assert only(story).state == "lost"


def test_T93_real_tasks_end_as_they_did() -> None:
    assert [task.state for task in fold(stream("2.1.325/subagent_bg")).background] == ["completed"]
    assert [task.state for task in fold(stream("2.1.325/sig_term_bash")).background] == ["stopped"]
    assert [task.state for task in fold(stream("2.1.38/subagent_bg")).background] == ["lost"]


def at_each(name: str, kind: type) -> list[tuple[str, int]]:
    """The state and the number of background tasks after each message of a kind."""
    transcript = Transcript()
    seen: list[tuple[str, int]] = []
    for fed, at in stream(name):
        transcript.feed(fed, at)
        if isinstance(fed, kind):
            seen.append((transcript.status.state, transcript.status.background))
    return seen


@pytest.mark.parametrize("name", ["agent_bg_idle", "bash_bg_idle"])
def test_T142_real_background_work_does_not_make_a_session_busy(name: str) -> None:
    # The work runs through two turns of the user; the third turn answers its end.
    assert at_each(f"2.1.325/{name}", Result) == [("idle", 1), ("idle", 1), ("idle", 0)]


def test_T142_a_real_agent_in_the_foreground_keeps_the_session_busy() -> None:
    assert at_each("2.1.325/agent_front", TaskStarted) == [("running_tool", 0)] * 2
    assert at_each("2.1.325/agent_front", Result) == [("idle", 0)]


def test_T142_a_background_agent_that_was_allowed_something_leaves_the_session_idle() -> None:
    story = started().cli(gives(tool_use_result={"isAsync": True, "agentId": "a1"}), result())
    story.cli(system("session_state_changed", state="running"))
    assert (story.state, story.transcript.status.background) == ("idle", 1)
    story.cli(system("background_tasks_changed", tasks=[]))
    assert story.state == "thinking"  # The turn that answers it is about to begin.


def test_T142_a_call_of_a_background_agent_is_not_what_the_session_runs() -> None:
    story = started().cli(gives(tool_use_result={"isAsync": True, "agentId": "a1"}))
    story.cli(calls("Bash", "tool-2", parent_tool_use_id="tool-1"))
    assert (story.state, story.transcript.status.tool) == ("thinking", None)


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("agent_bg_idle", ("completed", None, "turn-3")),
        ("bash_bg_idle", ("failed", 3, "turn-3")),
        ("subagent_bg", ("completed", None, "turn-2")),
    ],
)
def test_T143_a_background_task_names_its_exit_code_and_the_turn_it_started(
    name: str, end: tuple[str, int | None, str]
) -> None:
    transcript = fold(stream(f"2.1.325/{name}"))
    (task,) = transcript.background
    assert (task.state, task.exit_code, task.turn) == end
    turn = next(entry for entry in transcript.turns if entry.id == task.turn)
    assert turn.origin == "background"


def test_T143_a_task_in_the_foreground_starts_no_turn() -> None:
    tasks = fold(stream("2.1.325/agent_front")).background
    assert [(entry.backgrounded, entry.turn) for entry in tasks] == [(False, None), (False, None)]
