"""Segments about the tools themselves: results, failures, long output and long runs."""

from __future__ import annotations

import json

from tests.e2e.conversations.draft import Draft
from tests.e2e.conversations.host_script import Data

NOTEBOOK = json.dumps(
    {
        "cells": [
            {"cell_type": "code", "id": "c1", "source": "1", "metadata": {}, "outputs": [],
             "execution_count": None}
        ],
        "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5,
    }
)  # fmt: skip


def _files(draft: Draft) -> list[list[Data]]:
    """Uses of the file tools, as sequences."""
    path = "{root}/project/a.txt"
    book = "{root}/project/n.ipynb"
    read = draft.tool("Read", file_path=path)

    def edit(**given: object) -> Data:
        fields = {"old_string": "one", "new_string": "three", **given}
        return draft.tool("Edit", file_path=path, **fields)

    return [
        [edit()],
        [read, edit()],
        [read, edit(old_string="missing")],
        [read, edit(old_string="o", new_string="0")],
        [read, edit(old_string="o", new_string="0", replace_all=True)],
        [read, edit(new_string="one")],
        [read, draft.tool("Write", file_path=path, content="new\n")],
        [draft.tool("Write", file_path=path, content="new\n")],
        [draft.tool("Write", file_path="{root}/project/d/e/new.txt", content="")],
        [draft.tool("Read", file_path="{root}/project/empty.txt")],
        [draft.tool("Read", file_path=path, offset=50)],
        [draft.tool("Read", file_path=book)],
        [
            draft.tool("Read", file_path=book),
            draft.tool("NotebookEdit", notebook_path=book, cell_id="c1", new_source="2"),
        ],
        [draft.tool("NotebookEdit", notebook_path=book, new_source="3", edit_mode="insert",
                    cell_type="markdown")],
        [draft.tool("NotebookEdit", notebook_path=book, cell_id="none", new_source="2")],
        [draft.tool("Glob", pattern="**/*.txt"), draft.tool("Glob", pattern="*.none")],
        [draft.tool("Grep", pattern="one", output_mode="content")],
        [draft.tool("Grep", pattern="one", output_mode="count")],
        [draft.tool("Grep", pattern="none")],
    ]  # fmt: skip


def file_tools(draft: Draft) -> None:
    """Read, Edit, Write, NotebookEdit, Glob and Grep."""
    draft.files["project/a.txt"] = "one\ntwo\n"
    draft.files["project/empty.txt"] = ""
    draft.files["project/n.ipynb"] = NOTEBOOK
    if draft.chance(0.5):
        draft.allow("Glob", "Grep")
    if draft.chance(0.6):
        draft.flags += ["--permission-mode", "acceptEdits"]
    for use in draft.one_of(*_files(draft)):
        draft.reply(use)
    draft.reply(draft.text())
    draft.turn()


def shell_tools(draft: Draft) -> None:
    """Bash: long runs, time limits, large output, failures, and output on stderr."""
    draft.allow("Bash")
    command, given = draft.one_of(
        ("sleep 4; echo late", {}),
        ("echo some; sleep 4", {"timeout": 2000}),
        ("seq 1 20000", {}),
        ("printf 'no newline'", {}),
        ("echo out; echo err >&2; exit 4", {}),
        ("true", {}),
        ("false", {}),
        ("cd /; pwd", {}),
        ("grep nothing a.txt", {}),
        ("kill -9 $$", {}),
        ("echo '\x1b[31mred\x1b[0m'", {}),
        ("if", {}),
        ("no-such-program", {}),
        ("cat", {}),
    )
    draft.files["project/a.txt"] = "one\n"
    draft.reply(draft.bash(command, **given))
    if draft.chance(0.3):
        draft.reply(draft.bash("pwd"))
    draft.reply(draft.text())
    draft.turn()


def wrong_inputs(draft: Draft) -> None:
    """Tool inputs with missing, wrong or unknown parameters, in one message or several."""
    wrong: list[Data] = [
        draft.tool("Bash"),
        draft.tool("Bash", command=["ls"]),
        draft.tool("Bash", command="ls", timeout="soon"),
        draft.tool("Bash", command="ls", color="red"),
        draft.tool("Write", file_path="{root}/project/w.txt"),
        draft.tool("Write", content="x"),
        draft.tool("Edit", file_path="{root}/project/a.txt", old_string="one"),
        draft.tool("Edit", file_path="{root}/project/a.txt", old_string="one", new_string="2",
                   replace_all="yes"),
        draft.tool("Read", file_path="relative.txt"),
        draft.tool("Read", file_path="{root}/project/a.txt", offset="x"),
        draft.tool("Read", file_path="{root}/project/a.txt", limit=-1),
        draft.tool("AskUserQuestion", questions=[]),
        draft.tool("AskUserQuestion", questions=[{"question": "Which?"}]),
        draft.tool("Task", description="x"),
        draft.tool("WebFetch", url="nonsense", prompt="x"),
        draft.tool("ExitPlanMode"),
        draft.tool("Skill", skill="no-such-skill"),
        draft.tool("TaskOutput", task_id="unknown"),
        draft.tool("TaskStop", task_id="unknown"),
        draft.tool("KillShell", shell_id="unknown"),
    ]  # fmt: skip
    draft.files["project/a.txt"] = "one\n"
    chosen = draft.random.sample(wrong, draft.one_of(1, 1, 2))
    if draft.chance(0.4):
        draft.reply(*chosen)
    else:
        for use in chosen:
            draft.reply(use)
    draft.permissions += ["allow"] * len(chosen)
    draft.reply(draft.text())
    draft.turn()


def task_tools(draft: Draft) -> None:
    """Task lists and to-do lists, with and without the variable that enables them."""
    kind = draft.one_of("todo", "tasks", "tasks")
    if kind == "todo":
        states = ("pending", "in_progress", "completed")
        for _ in range(2):
            todos = [
                {"content": f"Do {n}", "status": draft.one_of(*states), "activeForm": f"Doing {n}"}
                for n in range(2)
            ]
            draft.reply(draft.tool("TodoWrite", todos=todos))
    else:
        if draft.chance(0.7):
            draft.env["CLAUDE_CODE_ENABLE_TASKS"] = "1"
        if draft.chance(0.7):
            draft.allow("TaskCreate", "TaskUpdate", "TaskList", "TaskGet")
        draft.reply(
            draft.tool("TaskCreate", subject="Do it", description="All", activeForm="Doing")
        )
        draft.reply(draft.tool("TaskUpdate", taskId=draft.one_of("1", "9"),
                               status=draft.one_of("in_progress", "completed", "deleted")))  # fmt: skip
        draft.reply(draft.one_of(draft.tool("TaskList"), draft.tool("TaskGet", taskId="1")))
    draft.reply(draft.text())
    draft.turn()
