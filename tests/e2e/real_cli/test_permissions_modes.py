"""Which tools ask in which mode (CLI-300)."""

from __future__ import annotations

import os
from typing import Any

import pytest

from fairlead import AgentExited, Deny, OptionError, Options
from fairlead.host.options.switches import Danger
from fairlead.testing.real_cli import RealCli
from fairlead.wire.events import Result
from fairlead.wire.system import Init, PermissionDenied
from tests.e2e.real_cli.cli_harness import CliHarness, ScriptedDecisions, all_of, one_of, play

QUESTION = {
    "questions": [
        {
            "question": "Which colour?",
            "header": "Colour",
            "options": [
                {"label": "Red", "description": "warm"},
                {"label": "Blue", "description": "cold"},
            ],
            "multiSelect": False,
        }
    ]
}


async def asked_in(harness: CliHarness, mode: str, **more: Any) -> list[str]:
    """Try one call of each kind in a mode; which of them asked?"""
    command = harness.script()
    decisions = ScriptedDecisions(*[Deny("no")] * 9)
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "script": ("Bash", {"command": command, "description": "d"}),
        "mkdir": ("Bash", {"command": "mkdir new", "description": "d"}),
        "write": ("Write", {"file_path": str(harness.project / "a.txt"), "content": "x"}),
        "write outside": ("Write", {"file_path": str(harness.home / "a.txt"), "content": "x"}),
        "question": ("AskUserQuestion", QUESTION),
    }
    asked: list[str] = []
    async with harness.session(permission_mode=mode, on_permission=decisions, **more) as session:
        for name, (tool, input) in calls.items():
            before = len(decisions.asked)
            messages = await harness.use(session, tool, **input)
            assert one_of(Init, messages).permission_mode == mode
            asked += [name] * (len(decisions.asked) - before)
    return asked


async def test_default_mode_asks_before_every_change(harness: CliHarness) -> None:
    """CLI-300: modes, default."""
    everything = ["script", "mkdir", "write", "write outside", "question"]
    assert await asked_in(harness, "default") == everything


async def test_acceptEdits_still_asks_for_commands_and_questions(harness: CliHarness) -> None:
    """CLI-312: modes, acceptEdits; simple file commands in the folder pass as well."""
    assert await asked_in(harness, "acceptEdits") == ["script", "write outside", "question"]
    assert (harness.project / "new").is_dir()
    assert (harness.project / "a.txt").exists()


async def test_bypassPermissions_only_asks_what_needs_a_user(harness: CliHarness) -> None:
    """CLI-313: modes, bypassPermissions; a question still comes."""
    danger = Danger(allow_skip=True)
    asked = await asked_in(harness, "bypassPermissions", danger=danger, env={"IS_SANDBOX": "1"})
    assert asked == ["question"]


async def test_dontAsk_denies_without_asking(harness: CliHarness, cli: RealCli) -> None:
    """CLI-307: modes, dontAsk; 2.1.325 reports each denial."""
    decisions = ScriptedDecisions()
    async with harness.session(permission_mode="dontAsk", on_permission=decisions) as session:
        written = await harness.use(
            session, "Write", file_path=str(harness.project / "a.txt"), content="x"
        )
        asked = await harness.use(session, "AskUserQuestion", **QUESTION)
    assert decisions.asked == []
    assert not (harness.project / "a.txt").exists()
    for messages, tool in ((written, "Write"), (asked, "AskUserQuestion")):
        denials = [denial.tool_name for denial in one_of(Result, messages).permission_denials]
        assert denials == [tool]
        told = [denied.tool_name for denied in all_of(PermissionDenied, messages)]
        assert told == ([tool] if cli.key >= (2, 1, 220) else [])


async def test_plan_mode_does_not_block_every_change(harness: CliHarness, cli: RealCli) -> None:
    """CLI-315: modes, plan; an edit is asked for as usual and runs if it is allowed."""
    decisions = ScriptedDecisions()
    async with harness.session(permission_mode="plan", on_permission=decisions) as session:
        await harness.use(session, "Write", file_path=str(harness.project / "a.txt"), content="x")
    (request,) = decisions.asked
    assert request.reason_type == ("mode" if cli.key >= (2, 1, 220) else None)
    assert (harness.project / "a.txt").exists()


async def test_bypassPermissions_as_root_is_refused_with_a_hint(harness: CliHarness) -> None:
    """CLI-313: bypass as root is refused; other users may."""
    session = harness.session(danger=Danger(skip_permissions=True))
    if os.geteuid() == 0:
        with pytest.raises(AgentExited, match="IS_SANDBOX") as exited:
            await session.start()
        assert exited.value.returncode == 1
        assert "root" in exited.value.stderr
    else:
        async with session:
            assert one_of(Init, await play(session)).permission_mode == "bypassPermissions"


def test_delegate_is_not_offered() -> None:
    """CLI-316: modes, delegate; it never did anything."""
    with pytest.raises(OptionError, match="'default'"):
        Options(permission_mode="delegate")  # type: ignore[arg-type]


@pytest.mark.only(before="2.1.120")
async def test_a_mode_that_the_version_does_not_have_is_refused_before_the_start(
    harness: CliHarness,
) -> None:
    """CLI-316: modes, auto; 2.1.38 would exit."""
    with pytest.raises(OptionError, match=r"permission_mode: needs CLI"):
        await harness.session(permission_mode="auto").start()
