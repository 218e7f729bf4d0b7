"""Long inputs are judged and hashed in a thread: the event loop serves other sessions meanwhile."""

from __future__ import annotations

import time
from collections.abc import Awaitable
from pathlib import Path
from typing import TypeVar

import pytest

from fairlead.guarding import hash_input, judge
from fairlead.host.requests.decisions import PermissionRequest
from fairlead.permissions.guard import Guard
from fairlead.permissions.model.scopes import Behavior
from fairlead.permissions.rules.book import RuleBook
from fairlead.permissions.rules.settings import place_of
from fairlead.wire.control import CanUseTool
from fairlead.wire.input_hash import input_sha256

T = TypeVar("T")

GUARD = Guard(rules=RuleBook.of(allow=["Bash(echo:*)"], deny=["Bash(rm:*)"]))
PLACE = place_of("/project", "/home/user")


def request(command: str) -> PermissionRequest:
    asked = CanUseTool(tool_name="Bash", input={"command": command})
    return PermissionRequest.of("r", asked)


async def shares(work: Awaitable[T]) -> tuple[T, float]:
    """The result, and which share of the CPU time the thread of the event loop has spent."""
    loop_before, all_before = time.thread_time(), time.process_time()
    result = await work
    loop_spent, all_spent = time.thread_time() - loop_before, time.process_time() - all_before
    return result, loop_spent / all_spent


COMMANDS = {
    "many commands": "echo a; " * 125_000,
    "many words": "echo " + "a " * 500_000,
    "one word": "echo " + "a" * 1_000_000,
    "nested": "echo $(echo " * 80_000,
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=list(COMMANDS))
async def test_P58_a_long_command_is_judged_outside_the_event_loop(command: str) -> None:
    verdict, share = await shares(judge(GUARD, request(command), PLACE, 0.0))
    assert share < 0.2
    assert verdict.behavior is Behavior.ASK
    assert "too long to analyze" in verdict.words


@pytest.mark.parametrize("length", [1_000, 9_000, 11_000, 1_000_000])
async def test_P58_a_deny_rule_applies_to_commands_of_any_length(length: int) -> None:
    hidden = "echo a; " * (length // 8) + "rm -rf x"
    verdict = await judge(GUARD, request(hidden), PLACE, 0.0)
    assert verdict.behavior is Behavior.DENY
    assert "rm" in verdict.words


async def test_P58_a_command_that_takes_milliseconds_is_judged_outside_the_loop_too() -> None:
    command = "echo a; " * 60 + "echo " + "a " * 4_600
    await judge(GUARD, request(command), PLACE, 0.0)  # Compiles the patterns.
    _, share = await shares(judge(GUARD, request(command), PLACE, 0.0))
    assert share < 0.5


async def test_P58_a_large_input_is_hashed_outside_the_event_loop() -> None:
    large = {"content": "line\n" * 4_000_000, "file_path": str(Path("/project/x"))}
    sha256, share = await shares(hash_input(large))
    assert share < 0.2
    assert sha256 == input_sha256(large)
