"""Results of tools: an object, a text, a list, or nothing (CLI-1000)."""

from __future__ import annotations

import json
from typing import Any

from fairlead import tool
from fairlead.host.options.groups import ToolRules
from fairlead.testing.real_cli import RealCli
from fairlead.wire.blocks import ImageBlock
from fairlead.wire.events import User
from fairlead.wire.versions import Feature
from tests.e2e.real_cli.cli_harness import (
    PNG,
    CliHarness,
    ScriptedDecisions,
    all_of,
    play,
    tool_lines,
)
from tests.e2e.real_cli.recording_observer import has


async def results(harness: CliHarness, session: Any, tool: str, **input: Any) -> tuple[User, Any]:
    """Let the model use a tool; the line of its result, and the structured twin in it."""
    ((line, _),) = tool_lines(await harness.use(session, tool, **input))
    return line, line.tool_use_result


async def test_files_are_read_written_and_edited_with_structured_results(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-1004: Read, Write create and update, Edit, NotebookEdit, Glob, Grep: known keys."""
    file = harness.project / "a.txt"
    notebook = harness.project / "n.ipynb"
    cell = {"cell_type": "code", "source": "1", "id": "c1", "metadata": {}, "outputs": []}
    notebook.write_text(
        json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    )
    path = str(file)
    # 2.1.325 has Glob and Grep only where they are named.
    rules = ToolRules(allowed=["Glob", "Grep"])
    async with harness.session(permission_mode="acceptEdits", rules=rules) as session:
        _, created = await results(harness, session, "Write", file_path=path, content="one\n")
        _, updated = await results(harness, session, "Write", file_path=path, content="one\ntwo\n")
        _, read = await results(harness, session, "Read", file_path=path)
        changes = {"old_string": "two", "new_string": "three"}
        _, edited = await results(harness, session, "Edit", file_path=path, **changes)
        _, cells = await results(harness, session, "Read", file_path=str(notebook))
        change = {"cell_id": "c1", "new_source": "2"}
        _, note = await results(
            harness, session, "NotebookEdit", notebook_path=str(notebook), **change
        )
        _, found = await results(harness, session, "Glob", pattern="*.txt")
        _, searched = await results(harness, session, "Grep", pattern="three")
    assert (created["type"], updated["type"]) == ("create", "update")
    assert updated["structuredPatch"][0]["lines"] == [" one", "+two"]
    assert (read["type"], read["file"]["content"].splitlines()) == ("text", ["one", "two"])
    assert (edited["oldString"], edited["newString"]) == ("two", "three")
    assert edited["originalFile"] == "one\ntwo\n"
    assert (found["numFiles"], found["filenames"][0].endswith("a.txt")) == (1, True)
    assert (searched["mode"], searched["numFiles"]) == ("files_with_matches", 1)
    assert cells["type"] == "notebook"
    assert (note["new_source"], note["cell_id"]) == ("2", "c1")
    assert ("old_source" in note) == (cli.key >= (2, 1, 220))


async def test_an_image_that_was_read_is_a_typed_block(harness: CliHarness) -> None:
    """CLI-1000: Read of an image: `{type: image, file: {base64, …}}` and an image block."""
    picture = harness.project / "p.png"
    picture.write_bytes(PNG)
    async with harness.session() as session:
        messages = await harness.use(session, "Read", file_path=str(picture))
    ((line, block),) = tool_lines(messages)
    assert line.tool_use_result["type"] == "image"
    assert line.tool_use_result["file"]["base64"]
    assert not isinstance(block.content, str | None)
    (image,) = all_of(ImageBlock, block.content)
    assert image.source is not None
    assert image.source.type == "base64"


async def test_a_command_that_succeeds_has_an_object_and_one_that_fails_a_text(
    harness: CliHarness,
) -> None:
    """CLI-1005: Bash `{stdout, …}`; a string on a non-zero exit; a long output is put aside."""
    command = harness.script(content="echo out; echo err >&2; exit ${1:-0}")
    async with harness.session(on_permission=ScriptedDecisions()) as session:
        _, fine = await results(harness, session, "Bash", command=command, description="d")
        line, failed = await results(
            harness, session, "Bash", command=f"{command} 3", description="d"
        )
        flood = harness.script("flood.sh", "head -c 40000 /dev/zero | tr '\\0' x")
        big, kept = await results(harness, session, "Bash", command=flood, description="d")
        _, unknown = await results(harness, session, "NoSuchTool")
    assert (fine["interrupted"], fine["isImage"]) == (False, False)
    # One pipe for both: what goes to stderr stands in stdout.
    assert sorted(fine["stdout"].split()) == ["err", "out"]
    assert failed.startswith("Error: Exit code 3\n")
    assert tool_lines([line])[0][1].is_error is True
    assert len(kept["stdout"]) >= 30_000
    assert str(tool_lines([big])[0][1].content).startswith("<persisted-output>")
    assert "No such tool available: NoSuchTool" in unknown


async def test_an_mcp_tool_has_a_list_of_blocks(harness: CliHarness) -> None:
    """CLI-1000: tool_use_result is an array for MCP tools."""

    @tool("two")
    async def two() -> list[dict[str, str]]:
        return [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]

    rules = ToolRules(allowed=["mcp__fairlead"])
    async with harness.session(tools=[two], rules=rules) as session:
        _, blocks = await results(harness, session, "mcp__fairlead__two")
    assert [block["text"] for block in blocks] == ["one", "two"]


async def test_the_todo_list_has_two_forms(harness: CliHarness, cli: RealCli) -> None:
    """CLI-1009: TodoWrite on old versions, TaskCreate and its kin where they are allowed."""
    async with harness.session(rules=ToolRules(allowed=["TaskCreate", "TaskList"])) as session:
        if has(cli, Feature.TODO_WRITE):
            todo = {"content": "test", "status": "pending", "activeForm": "testing"}
            _, result = await results(harness, session, "TodoWrite", todos=[todo])
            assert result["newTodos"][0]["content"] == "test"
        else:
            _, made = await results(harness, session, "TaskCreate", subject="test", description="d")
            assert made["task"]["subject"] == "test"
            _, listed = await results(harness, session, "TaskList")
            assert [task["subject"] for task in listed["tasks"]] == ["test"]


async def test_a_skill_answers_and_then_adds_a_synthetic_user_message(harness: CliHarness) -> None:
    """CLI-1000: the Skill tool; its text comes as a `user` line that a reader should hide."""
    folder = harness.project / ".claude" / "skills" / "greet"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: greet\ndescription: greets\n---\nSay hello twice.")
    async with harness.session(on_permission=ScriptedDecisions()) as session:
        messages = await harness.use(session, "Skill", skill="greet")
    ((line, _),) = tool_lines(messages)
    assert line.tool_use_result["success"] is True
    assert line.tool_use_result["commandName"] == "greet"
    synthetic = [one.text for one in all_of(User, messages) if one.is_synthetic]
    assert any("Say hello twice." in text for text in synthetic)


async def test_a_file_mentioned_with_an_at_sign_is_read_without_a_request(
    harness: CliHarness,
) -> None:
    """CLI-1010: @path in a prompt is expanded, also outside; nothing is shown of it."""
    outside = harness.outside("x.txt", "the hidden herring")
    decisions = ScriptedDecisions()
    async with harness.session(on_permission=decisions) as session:
        messages = await play(session, f"look at @{outside}")
    assert "the hidden herring" in json.dumps(harness.model.requests[0].messages)
    assert decisions.asked == []
    assert tool_lines(messages) == []
    assert not any("herring" in line.text for line in all_of(User, messages))
