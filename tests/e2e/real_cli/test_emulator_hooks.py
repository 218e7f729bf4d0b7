"""The emulator compared with the real CLI: hooks that stop, block, fail or are late, and their
order."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fairlead.model_api.api import ModelApi
from fairlead.model_api.replies import reply, use
from fairlead.testing.real_cli import RealCli
from tests.e2e.real_cli.comparable import comparable
from tests.e2e.real_cli.side_by_side import Host, ModelReply, SideBySide

# `make test` compares the emulator with recordings of these versions (tests/emulator).
EMULATED = pytest.mark.parametrize("cli", ["2.1.38", "2.1.325"], indirect=True)
NEW = pytest.mark.parametrize("cli", ["2.1.325"], indirect=True)

Message = dict[str, Any]

LISTING = ModelReply(use("Bash", command="ls", description="d"))
FAILURE = ModelReply(use("Bash", command="exit 3", description="d"))

OLD_COUNT = {("2.1.38", "UserPromptSubmit"): ("num_turns",)}
"""2.1.38 counts the turns of a prompt that a hook stopped by what it keeps of earlier ones."""


@pytest.fixture
def side_by_side(
    cli: RealCli, model: ModelApi, cli_env: dict[str, str], project: Path, tmp_path: Path
) -> SideBySide:
    return SideBySide(
        cli=cli, model=model, env=cli_env, project=project, folder=tmp_path / "emulated"
    )


def hooked(
    event: str, answer: Callable[[int], Message | None], *, prompts: int = 2, error: str = ""
) -> Callable[[Host], Any]:
    """Turns with a hook; `answer` takes the number of the call, None for silence or the error."""

    async def scenario(host: Host) -> list[str]:
        calls = 0
        entry = {"hookCallbackIds": ["hook"], "timeout": 1}
        await host.request("initialize", hooks={event: [entry]})
        for _ in range(prompts):
            host.process.say("go")
            while (await _next(host))["type"] != "result":
                asked = host.process.seen[-1]
                if asked["request"]["subtype"] != "hook_callback":
                    host._answer(asked)
                    continue
                calls += 1
                body = answer(calls)
                if body is not None:
                    host.process.answer(asked, body)
                elif error:
                    own = asked["request_id"]
                    refusal = {"subtype": "error", "request_id": own, "error": error}
                    host.process.send({"type": "control_response", "response": refusal})
        without = OLD_COUNT.get((host.version, event), ())
        return comparable(host.process.seen, host.project, without=without)

    return scenario


async def _next(host: Host) -> Message:
    return await host.process.until(lambda m: m["type"] in ("result", "control_request"))


@EMULATED
@pytest.mark.parametrize(
    "event", ["PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop"]
)
async def test_E29_a_hook_that_says_continue_false_ends_the_turn(
    event: str, side_by_side: SideBySide
) -> None:
    """With which text, which terminal reason, and what the next turn gets."""
    first = FAILURE if event == "PostToolUseFailure" else LISTING
    scenario = hooked(event, lambda call: {"continue": False, "stopReason": "enough"})
    replies = [first, ModelReply(reply("one")), ModelReply(reply("two"))]
    flags = ("--replay-user-messages",)
    on_cli, emulated = await side_by_side.play(scenario, replies=replies, flags=flags)
    assert emulated == on_cli
    if side_by_side.cli.version == "2.1.325":
        stopped = {"UserPromptSubmit": "stopped_by_hook", "Stop": "stop_hook_prevented"}
        wanted = stopped.get(event, "hook_stopped")
        assert any(wanted in line for line in emulated) == (event != "PostToolUseFailure")


@EMULATED
@pytest.mark.parametrize("event", ["UserPromptSubmit", "Stop"])
async def test_E29_a_hook_that_blocks_is_reported_in_the_same_way(
    event: str, side_by_side: SideBySide
) -> None:
    def answer(call: int) -> Message:
        blocks = event == "UserPromptSubmit" or call == 1
        return {"decision": "block", "reason": "not yet"} if blocks else {}

    replies = [LISTING, *(ModelReply(reply(word)) for word in ("one", "two", "three"))]
    on_cli, emulated = await side_by_side.play(hooked(event, answer), replies=replies)
    assert emulated == on_cli
    assert any("not yet" in line for line in emulated) == (
        event == "Stop" or side_by_side.cli.version == "2.1.325"
    )


@EMULATED
@pytest.mark.parametrize("error", ["it broke", ""], ids=["fails", "is silent"])
@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"])
async def test_E29_a_hook_that_fails_or_is_late_has_the_same_effect(
    event: str, error: str, side_by_side: SideBySide
) -> None:
    scenario = hooked(event, lambda call: None, prompts=1, error=error)
    replies = [LISTING, ModelReply(reply("after"))]
    on_cli, emulated = await side_by_side.play(scenario, replies=replies)
    assert emulated == on_cli


def furnish(home: Path, project: Path) -> None:
    """Settings, commands, skills and agents of a user and a project that write down who they are."""
    folders = {"user": home / ".claude", "project": project / ".claude"}
    for name, base in folders.items():
        base.mkdir(parents=True)
        for path, text in (
            (f"commands/{name}-command.md", "Say hello"),
            (f"skills/{name}-skill/SKILL.md", f"---\nname: {name}-skill\ndescription: d\n---\nDo"),
            (f"agents/{name}-agent.md", f"---\nname: {name}-agent\ndescription: d\n---\nDo it"),
        ):
            (base / path).parent.mkdir(parents=True, exist_ok=True)
            (base / path).write_text(text)
    for settings, name in (
        (home / ".claude/settings.json", "user"),
        (project / ".claude/settings.json", "project"),
        (project / ".claude/settings.local.json", "local"),
    ):
        command = {"type": "command", "command": f"echo {name} >> hooks.log"}
        more: Message = {"model": "haiku"} if name == "user" else {}
        hooks = {"UserPromptSubmit": [{"hooks": [command]}]}
        settings.write_text(json.dumps({"hooks": hooks, **more}))
    server = {"mcpServers": {"none": {"command": "false"}}}
    (project / ".mcp.json").write_text(json.dumps(server))


@EMULATED
@pytest.mark.parametrize(
    "sources", [None, "", "user", "project", "local", "user,project", "project, local"]
)
async def test_E30_only_the_named_sources_of_settings_count(
    sources: str | None, side_by_side: SideBySide, home: Path
) -> None:
    furnish(home, side_by_side.project)
    furnish(side_by_side.folder / "home", side_by_side.folder / "project")

    async def scenario(host: Host) -> Any:
        body = await host.request("initialize")
        lines = await host.turn("go")
        (init,) = [line for line in lines if line.get("subtype") == "init"]
        log = host.project / "hooks.log"
        ran = sorted(log.read_text().split()) if log.exists() else []
        own = [(c["name"], c["description"]) for c in body["commands"] if _is_own(c["name"])]
        lists = {
            key: [n for n in init[key] if _is_own(n)]
            for key in ("slash_commands", "agents", "skills")
        }
        return ran, own, lists, init["mcp_servers"], "haiku" in init["model"]

    flags = () if sources is None else ("--setting-sources", sources)
    on_cli, emulated = await side_by_side.play(scenario, flags=flags)
    assert emulated == on_cli
    named = ("user", "project", "local") if sources is None else sources.replace(" ", "").split(",")
    assert on_cli[0] == sorted(filter(None, named))


def _is_own(name: str) -> bool:
    return name.startswith(("user-", "project-"))


@EMULATED
async def test_E30_an_unknown_source_of_settings_is_refused(side_by_side: SideBySide) -> None:
    async def scenario(host: Host) -> Any:
        return await host.process.exit_code(), host.process.seen

    on_cli, emulated = await side_by_side.play(scenario, flags=("--setting-sources", "nonsense"))
    assert emulated == on_cli == (1, [])


@EMULATED
async def test_E27_a_lone_surrogate_is_reported_in_the_same_way(side_by_side: SideBySide) -> None:
    async def scenario(host: Host) -> Any:
        lines = await host.turn("a\ud800b")
        echoed = [m["message"]["content"] for m in lines if m.get("isReplay")]
        return echoed, lines[-1]["type"], (host.project / "out").read_text()

    command = f"printf 'x{chr(0xD800)}y' > out"
    replies = [ModelReply(use("Bash", command=command, description="d")), ModelReply(reply("Aye."))]
    flags = ("--replay-user-messages",)
    on_cli, emulated = await side_by_side.play(scenario, replies=replies, flags=flags)
    assert emulated == on_cli
