"""What is known of the session as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from fairlead.transcript.state.facts import Forked, ProcessStarted
from tests.transcript.recordings import fold, stream
from tests.transcript.story import Story, answers, ask, fresh, init, result, system


def test_T111_an_init_tells_about_the_session() -> None:
    line = init(
        slash_commands=["cost"],
        agents=["Explore"],
        skills=["debug"],
        plugins=[{"name": "p", "path": "/p"}],
        capabilities=["x"],
        output_style="default",
        fast_mode_state="off",
        effort="high",
        additional_directories=["/more"],
    )
    session = Story().cli(line).transcript.session
    assert (session.id, session.cwd, session.model, session.version) == (
        "s-1",
        "/p",
        "m",
        "2.1.325",
    )
    assert (session.permission_mode, session.output_style) == ("default", "default")
    assert (session.fast_mode, session.effort) == ("off", "high")
    assert (session.tools, session.agents, session.skills) == (("Bash",), ("Explore",), ("debug",))
    assert session.commands == ({"name": "cost", "description": "", "hint": ""},)
    assert session.plugins[0]["name"] == "p"
    assert (session.capabilities, session.directories) == (("x",), ("/more",))


def test_T111_the_next_init_changes_only_what_changed() -> None:
    story = Story().cli(init(), result(), init(model="other"))
    (change,) = (entry for entry in story.changes if entry.to == "session")
    assert change.fields == {"model": "other"}  # type: ignore[union-attr]


def test_T112_the_session_id_is_that_of_the_last_init() -> None:
    reset = {"type": "conversation_reset", "uuid": fresh(), "new_conversation_id": "not-this"}
    story = Story().cli(init(), result(), reset, init(session_id="s-2"))
    session = story.transcript.session
    assert (session.id, session.previous_ids) == ("s-2", ("s-1",))


def test_T113_mcp_servers_have_a_status_or_an_error() -> None:
    line = init(
        mcp_servers=[{"name": "a", "status": "connected"}, {"name": "b", "status": "failed"}],
        mcp_server_errors=[{"name": "b", "message": "no"}, {"name": "c", "message": "skipped"}],
    )
    servers = Story().cli(line).transcript.session.mcp_servers
    assert [(server["name"], server["status"], server["error"]) for server in servers] == [
        ("a", "connected", None), ("b", "failed", "no"), ("c", "failed", "skipped"),
    ]  # fmt: skip


def test_T113_the_answer_to_mcp_status_lists_each_once() -> None:
    listed = [{"name": "a", "status": "pending"}, {"name": "a", "status": "connected"}]
    story = Story().host(ask("mcp_status")).cli(answers({"mcpServers": listed}))
    assert [server["status"] for server in story.transcript.session.mcp_servers] == ["connected"]


ANSWERS: list[tuple[str, dict[str, Any], Any, str, Any]] = [
    ("set_permission_mode", {"mode": "plan"}, {"mode": "plan"}, "permission_mode", "plan"),
    ("set_permission_mode", {"mode": "plan"}, None, "permission_mode", "plan"),
    ("set_model", {"model": "haiku"}, {"model": "claude-haiku"}, "model", "claude-haiku"),
    ("set_model", {"model": "haiku"}, None, "model", "haiku"),
    ("rename_session", {"title": "T"}, None, "title", "T"),
    ("generate_session_title", {}, {"title": "G"}, "title", "G"),
    ("get_settings", {}, {"applied": {"effort": "low"}}, "effort", "low"),
    ("set_cwd", {"path": "/q"}, {}, "cwd", "/q"),
    ("list_models", {}, {"models": [{"value": "x"}]}, "models", ({"value": "x"},)),
    ("reload_skills", {}, {"skills": [{"name": "s"}]}, "skills", ("s",)),
]


@pytest.mark.parametrize(("subtype", "fields", "answer", "name", "value"), ANSWERS)
def test_T114_answers_to_the_host_tell_about_the_session(
    subtype: str, fields: dict[str, Any], answer: Any, name: str, value: Any
) -> None:
    story = Story().host(ask(subtype, **fields)).cli(answers(answer))
    assert getattr(story.transcript.session, name) == value


def test_T114_the_answer_to_initialize_comes_before_any_init() -> None:
    answer = {
        "commands": [{"name": "cost", "description": "what it cost", "argumentHint": "[now]"}],
        "models": [{"value": "m"}],
        "current_permission_mode": "plan",
        "claude_code_version": "2.1.325",
        "agents": [{"name": "Explore"}],
    }
    story = Story().host(ask("initialize")).cli(answers(answer))
    session = story.transcript.session
    assert (session.permission_mode, session.version, session.agents) == (
        "plan",
        "2.1.325",
        ("Explore",),
    )
    story.cli(init(slash_commands=["cost", "new"]))
    assert story.transcript.session.commands == (
        {"name": "cost", "description": "what it cost", "hint": "[now]"},
        {"name": "new", "description": "", "hint": ""},
    )


def test_T115_an_answer_counts_once_and_only_if_it_was_asked_for() -> None:
    story = Story().host(ask("set_permission_mode", mode="plan"))
    story.cli(
        answers({"mode": "plan"}),
        system("status", permissionMode="default"),
        answers({"mode": "plan"}),
    )
    assert story.transcript.session.permission_mode == "default"
    assert Story().cli(answers({"mode": "plan"})).transcript.session.permission_mode is None


def test_T115_an_answer_that_is_an_error_changes_nothing() -> None:
    body = {"subtype": "error", "request_id": "ours", "error": "invalid"}
    story = (
        Story()
        .host(ask("set_model", model="x"))
        .cli({"type": "control_response", "response": body})
    )
    assert story.transcript.session.model is None


def test_T116_a_status_line_tells_a_new_mode() -> None:
    story = Story().cli(init(), system("status", status=None, permissionMode="acceptEdits"))
    assert story.transcript.session.permission_mode == "acceptEdits"


def test_T116_titles_commands_goals_and_suggestions_are_followed() -> None:
    story = Story().cli(init(), system("session_title_changed", title="T"))
    story.cli(system("commands_changed", commands=[{"name": "x"}]))
    story.cli({"type": "active_goal", "uuid": fresh(), "value": {"condition": "green"}})
    story.cli({"type": "prompt_suggestion", "uuid": fresh(), "suggestion": "run it"})
    session = story.transcript.session
    assert (session.title, session.suggestion) == ("T", "run it")
    assert session.commands[0]["name"] == "x"
    assert session.goal == {"condition": "green"}
    assert story.cli(init()).transcript.session.suggestion is None


@pytest.mark.parametrize("version", ["2.1.29", "2.1.38", "2.1.120", "2.1.220", "2.1.325"])
def test_T111_every_version_tells_who_it_is(version: str) -> None:
    session = fold(stream(f"{version}/simple")).session
    assert session.version == version
    assert session.model
    assert len(session.tools) > 10


def test_T140_a_fork_has_no_id_of_the_session_whose_past_it_begins_with() -> None:
    story = Story().cli(init(session_id="s-0"), result(), init(), result()).host(Forked())
    session = story.transcript.session
    assert (session.id, session.previous_ids, session.model) == (None, (), "m")
    assert len(story.transcript.turns) == 2
    session = story.host(ProcessStarted("s-1")).cli(init(session_id="s-2")).transcript.session
    assert (session.id, session.previous_ids) == ("s-2", ())


def test_T147_a_suggested_prompt_lasts_until_the_next_turn() -> None:
    suggestion = {"type": "prompt_suggestion", "uuid": fresh(), "suggestion": "run it"}
    story = Story().cli(init(), result(), suggestion)
    assert story.transcript.session.suggestion == "run it"
    assert story.cli(init()).transcript.session.suggestion is None
