"""The tools on real files, in cases that the recordings do not show on both versions."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from fairlead.emulator.state.effects import CheckTool, RunTool
from fairlead.emulator.state.profile import profile_of
from fairlead.emulator.state.session import Workspace
from fairlead.emulator.tools.outcome import Outcome
from fairlead.emulator.tools.runner import ToolRunner

WAIT_S = 60.0

NOTEBOOK = {
    "cells": [{"cell_type": "code", "id": "c1", "source": ["a = 1"], "metadata": {}}],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}


def workshop(folder: Path, version: str = "2.1.325") -> ToolRunner:
    place = Workspace(
        cwd=str(folder), home=str(folder), tmp=str(folder), environment={"PATH": "/bin"}
    )
    return ToolRunner(profile_of(version), place)


def use(shop: ToolRunner, name: str, **input: Any) -> Outcome:
    effect = RunTool(number=1, name=name, input=input, tool_use_id="t", session_id="s")
    return asyncio.run(shop.run(effect))


def test_a_notebook_cell_is_replaced_inserted_and_deleted(tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    path.write_text(json.dumps(NOTEBOOK))
    shop = workshop(tmp_path)
    unread = CheckTool(number=1, name="NotebookEdit", input={"notebook_path": str(path)})
    refused = shop.check(unread)
    assert refused is not None
    assert "has not been read" in refused.content
    use(shop, "Read", file_path=str(path))
    assert shop.check(unread) is None
    changed = use(shop, "NotebookEdit", notebook_path=str(path), cell_id="c1", new_source="a = 2")
    assert (changed.result["old_source"], changed.result["edit_mode"]) == ("a = 1", "replace")
    use(shop, "NotebookEdit", notebook_path=str(path), edit_mode="insert", new_source="first")
    use(shop, "NotebookEdit", notebook_path=str(path), edit_mode="delete", cell_id="c1")
    assert [cell["source"] for cell in json.loads(path.read_text())["cells"]] == ["first"]
    missing = use(shop, "NotebookEdit", notebook_path=str(path), cell_id="none", new_source="x")
    assert missing.is_error


def test_an_edit_of_a_string_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one one")
    given = {"file_path": str(path), "old_string": "one", "new_string": "two"}
    shop = workshop(tmp_path)
    refused = shop.check(CheckTool(number=1, name="Edit", input=given))
    assert refused is not None
    assert "Found 2 matches" in refused.content
    every = {**given, "replace_all": True}
    assert shop.check(CheckTool(number=1, name="Edit", input=every)) is None
    use(shop, "Edit", **every)
    assert path.read_text() == "two two"


def test_grep_ignores_case_and_reports_an_invalid_pattern(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Sail\nsail\n")
    shop = workshop(tmp_path)
    counted = use(shop, "Grep", pattern="sail", output_mode="count", **{"-i": True})
    assert counted.result["numMatches"] == 2
    assert use(shop, "Grep", pattern="(").is_error


@pytest.mark.parametrize(("version", "ends"), [("2.1.325", True), ("2.1.38", False)])
def test_a_slow_command_is_killed_or_moved_to_the_background(
    version: str, ends: bool, tmp_path: Path
) -> None:
    async def run() -> Outcome:
        shop = workshop(tmp_path, version)
        given = {"command": "sleep 60", "timeout": 100}
        effect = RunTool(number=1, name="Bash", input=given, tool_use_id="t", session_id="s")
        outcome = await shop.run(effect)
        await shop.bash.close()
        return outcome

    outcome = asyncio.run(run())
    assert outcome.is_error is ends
    assert (outcome.task is None) is ends


@pytest.mark.parametrize(
    ("version", "at_first", "at_the_end"),
    [
        ("2.1.325", "one\noops\n", "one\noops\ntwo\n\n[exited with code 3]\n"),
        ("2.1.38", "one\n[stderr] oops\n", "one\n[stderr] oops\ntwo\n"),
    ],
)
def test_E17_background_output_is_written_as_it_arrives(
    version: str, at_first: str, at_the_end: str, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "told.fifo")
    os.mkfifo(tmp_path / "go.fifo")
    words = "echo one; echo > told.fifo; echo oops >&2; read x < go.fifo; echo two; exit 3"

    async def run() -> list[str]:
        shop = workshop(tmp_path, version)
        given = {"command": words, "description": "d", "run_in_background": True}
        effect = RunTool(number=1, name="Bash", input=given, tool_use_id="t", session_id="s")
        task = (await shop.run(effect)).task
        assert task is not None
        output = Path(task.output_file)
        await asyncio.to_thread((tmp_path / "told.fifo").read_text)
        seen = [await asyncio.to_thread(holding, output, "oops")]
        look = {"task_id": task.task_id, "block": False}
        looked = [await shop.bash.look(look)]
        await asyncio.to_thread((tmp_path / "go.fifo").write_text, "x\n")
        assert (await shop.bash.ended(task.task_id)).exit_code == 3
        looked.append(await shop.bash.look(look))
        await shop.bash.close()
        seen.append(holding(output, "two"))
        return [*seen, *(one.result["task"]["status"] for one in looked)]

    assert asyncio.run(run()) == [at_first, at_the_end, "running", "failed"]


def holding(path: Path, text: str) -> str:
    """Read a file until it contains a text; returns its content."""
    deadline = time.monotonic() + WAIT_S
    while text not in (matches := path.read_text()):
        assert time.monotonic() < deadline, f"{path} never had {text!r}"
    return matches


def test_a_missing_folder_is_a_failed_result_and_no_crash(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    written = use(workshop(tmp_path), "Write", file_path=str(tmp_path / "file" / "x"), content="1")
    assert written.is_error
