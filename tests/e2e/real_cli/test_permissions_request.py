"""Permission requests: their content and their suggestions (CLI-303)."""

from __future__ import annotations

from typing import Any

from fairlead import Allow, Deny, PermissionRequest
from fairlead.testing.real_cli import RealCli
from fairlead.wire.blocks import ToolUseBlock
from fairlead.wire.events import Assistant
from fairlead.wire.updates import AddDirectories, AddRules, PermissionUpdate, RuleValue, SetMode
from tests.e2e.real_cli.cli_harness import CliHarness, ScriptedDecisions, all_of

ACCEPT_EDITS = SetMode(mode="acceptEdits", destination="session")


async def test_a_request_names_the_tool_its_input_and_the_call_it_belongs_to(
    harness: CliHarness,
) -> None:
    """CLI-300: shape of can_use_tool; the reason is often absent."""
    decisions = ScriptedDecisions(Deny("no"), Deny("no"))
    async with harness.session(on_permission=decisions) as session:
        ran = await harness.use(session, "Bash", command="npm run build", description="builds")
        await harness.use(session, "Write", file_path=str(harness.project / "a.txt"), content="x")
    bash, write = decisions.asked
    assert (bash.tool_name, write.tool_name) == ("Bash", "Write")
    assert bash.input == {"command": "npm run build", "description": "builds"}
    assert bash.tool_use_id == tool_uses(ran)[0].id
    assert bash.id != write.id
    assert bash.reason == "This command requires approval"
    assert (write.reason, bash.agent_id, bash.needs_user) == (None, None, False)
    told_more = harness.cli.key >= (2, 1, 120)
    assert bash.reason_type == ("other" if told_more else None)
    assert bash.title == ("Bash" if told_more else None)
    assert bash.description == ("builds" if told_more else None)


def tool_uses(messages: list[Any]) -> list[ToolUseBlock]:
    blocks = [block for line in all_of(Assistant, messages) for block in line.message.content]
    return all_of(ToolUseBlock, blocks)


async def test_each_tool_suggests_rules_that_would_allow_the_next_call(
    harness: CliHarness, cli: RealCli
) -> None:
    """CLI-305: suggestion types and destinations; what each tool suggests."""
    project, outside = harness.project, harness.outside("x.txt", "x").parent
    asked = await refuse_all(
        harness,
        ("Bash", {"command": "npm test && git push origin main"}),
        ("Bash", {"command": f"ls {outside}"}),
        ("Bash", {"command": "rm -rf build"}),
        ("Write", {"file_path": str(project / "new.txt"), "content": "x"}),
        ("Write", {"file_path": str(outside / "new.txt"), "content": "x"}),
        ("Read", {"file_path": str(outside / "x.txt")}),
        ("WebFetch", {"url": "https://example.com/a", "prompt": "p"}),
    )
    compound, listing, removal, write, write_outside, read, fetch = asked
    wildcards = cli.key >= (2, 1, 120)
    commands = ("npm test *", "git push *") if wildcards else ("npm test", "git push origin main")
    assert compound.suggestions == (allow_bash(*commands),)
    reading = allow("session", RuleValue("Read", f"/{outside}/**"))
    always = wildcards and cli.key >= (2, 1, 220)
    assert listing.suggestions[-1:] == (reading,)
    assert listing.suggestions[:-1] == ((allow_bash(f"ls {outside}"),) if always else ())
    assert listing.blocked_path == str(outside)
    folder = AddDirectories(directories=(str(project),), destination="session")
    assert removal.suggestions[-2:] == (folder, ACCEPT_EDITS)
    assert write.suggestions == (ACCEPT_EDITS,)
    other_folder = AddDirectories(directories=(str(outside),), destination="session")
    assert write_outside.suggestions == (ACCEPT_EDITS, other_folder)
    assert read.suggestions == (reading,)
    assert fetch.suggestions == (
        allow("localSettings", RuleValue("WebFetch", "domain:example.com")),
    )


async def refuse_all(
    harness: CliHarness, *calls: tuple[str, dict[str, Any]]
) -> list[PermissionRequest]:
    decisions = ScriptedDecisions(*[Deny("no")] * len(calls))
    async with harness.session(on_permission=decisions) as session:
        for tool, input in calls:
            await harness.use(session, tool, **input)
    assert len(decisions.asked) == len(calls)
    return decisions.asked


def allow(destination: str, *rules: RuleValue) -> PermissionUpdate:
    return AddRules(rules=rules, behavior="allow", destination=destination)


def allow_bash(*commands: str) -> PermissionUpdate:
    return allow("localSettings", *(RuleValue("Bash", command) for command in commands))


async def test_without_a_handler_a_request_is_denied_with_a_reason(harness: CliHarness) -> None:
    """CLI-300: a call that would ask needs a handler; nothing hangs."""
    async with harness.session() as session:
        await harness.use(session, "Write", file_path=str(harness.project / "a.txt"), content="x")
    (seen,) = harness.model.requests[1].tool_results
    assert seen.is_error
    assert "no permission handler" in seen.text
    assert not (harness.project / "a.txt").exists()


async def test_a_handler_that_raises_denies_with_its_error(harness: CliHarness) -> None:
    """CLI-208: a malformed answer denies; Fairlead never sends one."""

    async def broken(request: PermissionRequest) -> Allow:
        raise LookupError("the table is gone")

    async with harness.session(on_permission=broken) as session:
        await harness.use(session, "Write", file_path=str(harness.project / "a.txt"), content="x")
    (seen,) = harness.model.requests[1].tool_results
    assert seen.is_error
    assert "the table is gone" in seen.text
    assert not (harness.project / "a.txt").exists()
