"""The program of README.md on real CLIs, exactly as it is printed."""

from __future__ import annotations

import os

from fairlead.model_api.replies import reply, use
from tests.documented import ROOT, programs_of, run_program
from tests.e2e.real_cli.cli_harness import CliHarness


async def test_the_example_uses_its_tool_and_ends_idle(harness: CliHarness) -> None:
    (example,) = programs_of(ROOT / "README.md")
    programs = harness.home / "bin"
    programs.mkdir()
    (programs / "claude").symlink_to(harness.cli.executable)
    harness.model.push(use("mcp__fairlead__add", a=2, b=2), reply("It is 4."))
    printed = await run_program(
        example.code,
        harness.project,
        {**harness.env, "PATH": f"{programs}{os.pathsep}{harness.env['PATH']}"},
    )
    lines = printed.splitlines()
    *words, cost, status = lines[-1].split()
    assert words == ["It", "is", "4."]
    assert float(cost) > 0
    assert status == "idle"
    assert lines[-2] == "Result"
    (result,) = harness.model.requests[1].tool_results
    assert result.text == "4.0"
