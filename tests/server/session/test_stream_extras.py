"""What the server asks the CLI to write besides the conversation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fairlead.server.policy import Policy
from tests.server.dumping_agent import dumped, dumper
from tests.server.server_harness import ServerHarness


async def _started(
    folder: Path, version: str = "2.1.325", policy: Policy | None = None
) -> tuple[list[str], dict[str, Any]]:
    """The command line and the initialize request of a CLI that the server starts."""
    async with ServerHarness(folder, agent=dumper(folder, version), policy=policy) as harness:
        await harness.new()
        await harness.until(lambda: len(dumped(folder)) > 1)
        start, first, *_ = dumped(folder)
    return start["argv"], first["stdin"]["request"]


@pytest.mark.parametrize(
    ("version", "hooks", "suggestions"),
    [("2.1.38", False, False), ("2.1.120", True, False), ("2.1.325", True, True)],
)
async def test_B116_extra_lines_are_enabled_where_the_cli_has_them(
    version: str, hooks: bool, suggestions: bool, tmp_path: Path
) -> None:
    flags, request = await _started(tmp_path, version)
    assert ("--include-hook-events" in flags) == hooks
    assert ("--prompt-suggestions=true" in flags) == suggestions
    assert request["subtype"] == "initialize"
    assert request["agentProgressSummaries"] is True  # Old versions ignore the field.


async def test_B116_suggestions_can_be_turned_off(tmp_path: Path) -> None:
    policy = Policy(roots=(tmp_path,), suggestions=False)
    flags, _ = await _started(tmp_path, policy=policy)
    assert "--include-hook-events" in flags
    assert not any(flag.startswith("--prompt-suggestions") for flag in flags)
