"""Every control request of a host, once, on a real CLI (CLI-200 and 3; SURFACE a.4)."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fairlead import Allow, ControlError, ControlTimeout, Session
from fairlead.host.controls import Controls
from fairlead.host.options.groups import SettingsSources
from fairlead.model_api.replies import use
from fairlead.testing.real_cli import RealCli
from fairlead.wire.control import ControlResponse
from fairlead.wire.events import Result
from fairlead.wire.system import Init
from fairlead.wire.versions import Feature
from tests.e2e.real_cli.cli_harness import CliHarness, HeldRequests, one_of, play
from tests.e2e.real_cli.recording_observer import RecordingObserver, ended, has
from tests.e2e.real_cli.stdio_server import small_server

FAST_IF_ASKED_FOR = ("off", "sdk_opt_in_required")

NOBODY = "00000000-0000-4000-8000-000000000000"

SILENCE_S = 2.0
"""How long an old CLI may be silent about what it does not know before it counts as silent."""

NOW_AND_THEN = {"set_model", "set_permission_mode", "set_max_thinking_tokens", "rewind_files",
                "mcp_status", "mcp_set_servers", "mcp_reconnect", "mcp_toggle", "mcp_message"}  # fmt: skip
"""What 2.1.38 answers too."""


def calls(project: Path) -> dict[str, tuple[Any, ...]]:
    """Arguments for every request but those that end or move the session."""
    return {
        "set_model": ("claude-sonnet-4-5",),
        "set_permission_mode": ("acceptEdits",),
        "set_max_thinking_tokens": (0,),
        "list_models": (),
        "set_color": ("red",),
        "context_usage": (),
        "session_cost": (),
        "usage": (),
        "binary_version": (),
        "status_report": (),
        "file_suggestions": ("a",),
        "read_file": ("a.txt",),
        "seed_read_state": (str(project / "a.txt"), 0.0),
        "rewind_files": (NOBODY,),
        "workspace_diff": (),
        "register_repo_root": (str(project / "library"),),
        "settings": (),
        "apply_flag_settings": ({"model": None},),
        "update_settings": ("localSettings", {"outputStyle": "default"}),
        "permission_rules": (),
        "hooks_listing": (),
        "plan": (),
        "stop_task": ("none",),
        "background_tasks": (),
        "task_output": ("none",),
        "cancel_queued": (NOBODY,),
        "mcp_status": (),
        "mcp_set_servers": ({},),
        "mcp_reconnect": ("small",),
        "mcp_message": ("small", {"jsonrpc": "2.0", "method": "notifications/x"}),
        "mcp_call": ("mcp__small__echo", {"text": "called"}),
        "mcp_read_resource": ("small", "ui://small/page"),
        "reload_plugins": (),
        "reload_skills": (),
        "reload_output_styles": (),
        "rename": ("A name",),
        "generate_title": ("find the herring in the harbour",),
        "side_question": ("What time is it?",),
        "set_has_subscribers": (True,),
    }


REFUSED = {
    "set_color": "Unsupported control request",
    "rewind_files": "not enabled",
    "task_output": "no shell or Monitor task",
}
"""What 2.1.325 refuses, for these arguments or altogether, and how."""


def test_every_request_is_called_here() -> None:
    """SURFACE a.4: a new method of `Controls` needs a row in this file."""
    requests = {
        name for name, method in vars(Controls).items() if inspect.iscoroutinefunction(method)
    }
    tested_apart = {"control", "end_session", "mcp_toggle", "set_cwd"}
    assert requests - tested_apart == set(calls(Path()))


def set_up_a_project(project: Path) -> None:
    (project / "a.txt").write_text("aaa")
    (project / "library").mkdir()
    for folder in (project, project / "library"):
        subprocess.run(["git", "init", "--quiet", str(folder)], check=True)


async def outcome(session: Session, name: str, arguments: tuple[Any, ...]) -> Any:
    """What a request gives, or the error it ends in."""
    try:
        return await getattr(session, name)(*arguments)
    except (ControlError, ControlTimeout) as error:
        return error


@pytest.mark.only(since="2.1.325")
async def test_the_newest_cli_answers_every_request(harness: CliHarness, tmp_path: Path) -> None:
    """CLI-1205: control requests of the host that answer."""
    set_up_a_project(harness.project)
    servers = {"small": small_server(tmp_path / "log")}
    async with harness.session(mcp_servers=servers) as session:
        await play(session)
        got = {
            name: await outcome(session, name, arguments)
            for name, arguments in calls(harness.project).items()
        }
        await play(session, "still there?")
    refused = {name: answer for name, answer in got.items() if isinstance(answer, Exception)}
    assert set(refused) == set(REFUSED)
    for name, words in REFUSED.items():
        assert words in str(refused[name])
    check_answers(got, harness)


def check_answers(got: dict[str, Any], harness: CliHarness) -> None:
    assert got["set_model"] == "claude-sonnet-4-5"
    assert got["set_permission_mode"] == "acceptEdits"
    assert got["binary_version"] == harness.cli.version
    assert got["read_file"]["contents"] == "aaa"
    assert got["register_repo_root"] == str(harness.project / "library")
    assert got["settings"]["applied"]["model"] == "claude-sonnet-4-5"
    assert got["context_usage"]["totalTokens"] > 0
    assert got["usage"]["session"]["total_cost_usd"] > 0
    assert "Total cost" in got["session_cost"]
    assert got["generate_title"] == "Scripted"
    assert got["side_question"]
    assert got["cancel_queued"] is False
    assert got["plan"] is None
    assert got["mcp_call"]["content"][0]["text"] == "called"
    assert got["mcp_read_resource"][0]["text"] == "<p>small</p>"
    assert [server["name"] for server in got["mcp_status"]] == ["small"]
    assert got["permission_rules"]["originalCwd"] == str(harness.project)
    for several in ("list_models", "status_report", "reload_skills", "reload_output_styles"):
        assert len(got[several]) > 0, several
    for several in ("hooks_listing", "reload_plugins", "workspace_diff"):
        assert isinstance(got[several], dict), several
    for nothing in ("update_settings", "stop_task", "rename", "seed_read_state"):
        assert got[nothing] is None, nothing


@pytest.mark.only(before="2.1.120")
async def test_an_old_cli_does_not_answer_newer_requests_and_nothing_hangs(
    harness: CliHarness, tmp_path: Path
) -> None:
    """CLI-215: unknown control subtype, silence forever; every request needs a timeout."""
    set_up_a_project(harness.project)
    servers = {"small": small_server(tmp_path / "log")}
    async with harness.session(mcp_servers=servers, control_timeout=SILENCE_S) as session:
        await play(session)
        names = calls(harness.project)
        got = await asyncio.gather(*(outcome(session, *call) for call in names.items()))
        await play(session, "still there?")
    answers = dict(zip(names, got, strict=True))
    silent = {name for name, got in answers.items() if isinstance(got, ControlTimeout)}
    assert silent == set(names) - NOW_AND_THEN
    assert isinstance(answers["rewind_files"], ControlError)
    assert "Old versions are silent" in str(answers["list_models"])


@pytest.mark.only(since="2.1.325")
async def test_a_session_changes_its_folder_and_ends_on_request(harness: CliHarness) -> None:
    """CLI-1200: set_cwd (a folder must be trusted), end_session, and the file of another name."""
    elsewhere = harness.outside("b.txt", "bbb").parent
    session = harness.session()
    observer = RecordingObserver.of(session)
    async with session:
        await play(session)
        answer = await session.set_cwd(str(elsewhere))
        assert answer == {"status": "needs_trust", "directory": str(elsewhere)}
        moved = await session.set_cwd(str(elsewhere), trusted=answer["directory"])
        assert (moved["status"], moved["cwd"]) == ("ok", str(elsewhere))
        assert (await session.read_file("b.txt"))["contents"] == "bbb"
        assert await session.generate_title("x") == ""
        await session.end_session("enough")
        await observer.until(lambda: observer.returncode is not None)
    assert observer.returncode == 0


async def test_open_requests_are_listed_again_on_request(harness: CliHarness, cli: RealCli) -> None:
    """CLI-802: initialize twice; what is known already is not handled a second time."""
    harness.model.push(use("Write", file_path=str(harness.project / "a.txt"), content="x"))
    decisions = HeldRequests()
    session = harness.session(on_permission=decisions)
    observer = RecordingObserver.of(session)
    async with session:
        turn = await session.send("go")
        await decisions.arrived(1)
        await session.recover_pending()
        body = observer.all_of(ControlResponse)[-1].response
        refused = has(cli, Feature.REINITIALIZE_IS_AN_ERROR)
        assert body.subtype == ("error" if refused else "success")
        told_again = [request.request_id for request in body.pending_permission_requests or ()]
        assert told_again == [decisions.asked[0].id]
        assert len(decisions.asked) == 1
        decisions.answer(decisions.asked[0], Allow())
        await ended(turn)
    assert (harness.project / "a.txt").exists()


@pytest.mark.only(since="2.1.325")
async def test_fast_mode_is_enabled_by_a_setting_and_not_by_its_command(
    harness: CliHarness,
) -> None:
    """A host has to ask for it; then it holds from the next turn on, at the model too."""
    async with harness.session() as session:
        asked = one_of(Result, await play(session, "/fast on"))
        assert (asked.fast_mode_state, asked.fast_mode_disabled_reason) == FAST_IF_ASKED_FOR
        assert not any(harness.model.requests)
        await session.apply_flag_settings({"fastMode": True})
        on = one_of(Init, await play(session))
        assert (on.fast_mode_state, on.fast_mode_disabled_reason) == ("on", None)
        assert harness.model.requests[-1].body["speed"] == "fast"
        await session.apply_flag_settings({"fastMode": False})
        off = one_of(Init, await play(session))
        assert (off.fast_mode_state, off.fast_mode_disabled_reason) == FAST_IF_ASKED_FOR
    async with harness.session(settings=SettingsSources(value={"fastMode": True})) as session:
        assert session.initialized["fast_mode_state"] == "on"
