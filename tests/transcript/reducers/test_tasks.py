"""The model's list of things to do."""

from __future__ import annotations

from typing import Any

from fairlead.transcript.state.model import Task
from tests.transcript.recordings import fold, stream
from tests.transcript.story import Story, calls, fresh, gives, init


def done(story: Story, name: str, input: Any, structured: Any, error: bool = False) -> Story:
    """A tool that was called and has ended."""
    tool = fresh()
    return story.cli(
        calls(name, tool, input), gives("ok", tool, error=error, tool_use_result=structured)
    )


def todo(subject: str, status: str) -> dict[str, str]:
    return {"content": subject, "status": status, "activeForm": f"doing {subject}"}


def test_T88_todo_write_is_the_whole_list() -> None:
    story = done(Story().cli(init()), "TodoWrite", {"todos": [todo("a", "in_progress")]}, {})
    assert story.transcript.tasks == (
        Task(id="todo-1", subject="a", status="in_progress", active_form="doing a", source="todo"),
    )
    done(story, "TodoWrite", {"todos": [todo("b", "pending"), todo("c", "pending")]}, {})
    assert [task.subject for task in story.transcript.tasks] == ["b", "c"]


def created() -> Story:
    story = Story().cli(init())
    for number, subject in enumerate(("build", "test"), 1):
        asked = {"subject": subject, "description": "d", "activeForm": f"{subject}ing"}
        done(story, "TaskCreate", asked, {"task": {"id": str(number), "subject": subject}})
    return story


def test_T89_tasks_are_created_and_updated_one_by_one() -> None:
    story = created()
    done(
        story,
        "TaskUpdate",
        {"taskId": "1", "status": "in_progress", "owner": "me"},
        {"success": True},
    )
    first = story.transcript.tasks[0]
    assert (first.subject, first.status, first.owner) == ("build", "in_progress", "me")
    assert (first.active_form, first.description) == ("building", "d")
    done(story, "TaskUpdate", {"taskId": "1", "status": "deleted"}, {"success": True})
    assert [task.id for task in story.transcript.tasks] == ["2"]


def test_T89_dependencies_are_known_from_both_ends() -> None:
    story = created()
    done(story, "TaskUpdate", {"taskId": "2", "addBlockedBy": ["1"]}, {"success": True})
    first, second = story.transcript.tasks
    assert (first.blocks, second.blocked_by) == (("2",), ("1",))


def test_T89_a_list_and_a_single_task_set_things_right() -> None:
    story = created()
    listed = [{"id": "2", "subject": "test", "status": "completed", "blockedBy": []}]
    done(story, "TaskList", {}, {"tasks": listed})
    assert [(task.id, task.status) for task in story.transcript.tasks] == [("2", "completed")]
    done(
        story, "TaskGet", {"taskId": "3"}, {"task": {"id": "3", "subject": "new", "blocks": ["2"]}}
    )
    assert story.transcript.tasks[1].blocks == ("2",)


def test_T90_a_tool_that_failed_changes_no_task() -> None:
    story = done(Story().cli(init()), "TodoWrite", {"todos": [todo("a", "x")]}, "Error", error=True)
    assert story.transcript.tasks == ()
    story = done(
        created(), "TaskUpdate", {"taskId": "1", "status": "completed"}, {"success": False}
    )
    assert story.transcript.tasks[0].status == "pending"


def test_T91_the_lists_of_subagents_are_their_own() -> None:
    story = Story().cli(init(), calls("Task"), calls("TodoWrite", "sub", {"todos": [todo("a", "x")]},
                                                     parent="tool-1"))  # fmt: skip
    story.cli(gives("ok", "sub", parent_tool_use_id="tool-1"))
    assert story.transcript.tasks == ()


def test_T89_real_sessions_keep_their_lists() -> None:
    (task,) = fold(stream("2.1.325/tools_tasks")).tasks
    assert (task.id, task.status, task.owner, task.blocks) == ("1", "completed", "me", ("2",))
    assert [task.status for task in fold(stream("2.1.38/tools_tasks")).tasks] == [
        "completed", "in_progress",
    ]  # fmt: skip
