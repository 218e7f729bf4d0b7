"""Requests to a running CLI outside of its turns: dialogs, sign-ins, a task's output, its
context."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.server.conftest import Client, Served

PAYLOAD = {"originalModel": "big", "fallbackModel": "small"}


def dialog(kind: str) -> list[Any]:
    request = {"subtype": "request_user_dialog", "dialog_kind": kind, "payload": PAYLOAD}
    line = {"type": "control_request", "request_id": "d1", "request": request}
    return [{"line": line}, {"wait": 1}, {"say": "on we go"}]


def answers(served: Served) -> list[Any]:
    return [each["response"] for each in told(served, "control_response")]


def told(served: Served, kind: str) -> list[dict[str, Any]]:
    return [each for each in log(served) if each.get("type") == kind]


def log(served: Served) -> list[dict[str, Any]]:
    lines = (served.project.parent / "agent.log").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        ("retry_fallback", {"behavior": "completed", "result": "retry_fallback"}),
        (None, {"behavior": "cancelled"}),
    ],
)
async def test_B28_a_dialog_is_answered(served: Served, answer: str | None, reply: Any) -> None:
    client = await served.client("approver")
    owner = await served.client()
    session = await owner.new_session(dialog("refusal_fallback_prompt"))
    row = await client.pending(session)
    assert (row["kind"], row["details"]["payload"]) == ("dialog", PAYLOAD)
    common = {"session": session, "request_id": "d1", "input_sha256": row["input_sha256"]}
    result = await client.intend("answer_dialog", **common, answer=answer)
    assert result["ok"], result
    await client.ending(session)
    assert answers(served)[-1]["response"] == reply
    late = await client.intend("answer_dialog", **common, answer=None)
    assert late["code"] == "already_resolved"


@pytest.mark.parametrize("kind", ["refusal_fallback_prompt", "some_new_dialog"])
async def test_B28_an_answer_that_a_dialog_does_not_know_is_refused(
    served: Served, kind: str
) -> None:
    client = await served.client()
    session = await client.new_session(dialog(kind))
    seen = (await client.pending(session))["input_sha256"]
    wanted: dict[str, dict[str, Any]] = {
        "answer_dialog": {"answer": "rm -rf"},
        "answer_elicitation": {"action": "accept"},
        "decide": {"decision": "allow"},
    }
    common = {"session": session, "request_id": "d1", "input_sha256": seen}
    for intent, fields in wanted.items():
        result = await client.intend(intent, **common, **fields)
        assert result["code"] == "bad_message", intent
    assert answers(served) == []
    closed = await client.intend("answer_dialog", **common)
    assert closed["ok"]


async def test_B28_the_cli_learns_which_dialogs_can_be_shown(served: Served) -> None:
    client = await served.client()
    await client.ending(await client.new_session("hello"))
    (hello,) = [
        each["request"]
        for each in told(served, "control_request")
        if each["request"]["subtype"] == "initialize"
    ]
    assert hello["supportedDialogKinds"] == ["refusal_fallback_prompt"]


@pytest.mark.parametrize(
    "asked",
    [
        {"allowed_tools": ["Bash"]},
        {"mcp_servers": {"mine": {"type": "stdio", "command": "true"}}},
    ],
)
async def test_B29_what_reaches_far_is_for_an_owner(served: Served, asked: Any) -> None:
    operator, owner = await served.client("operator"), await served.client()
    cwd = str(served.project)
    refused = await operator.intend("new_session", cwd=cwd, **asked)
    assert refused["code"] == "forbidden"
    taken = await owner.intend("new_session", cwd=cwd, **asked)
    assert taken["ok"], taken


async def test_B29_rules_and_servers_reach_the_cli_and_survive_a_restart(served: Served) -> None:
    client = await served.client()
    made = await client.intend(
        "new_session",
        cwd=str(served.project),
        prompt="hello",
        allowed_tools=["Read"],
        disallowed_tools=["WebFetch", "Bash(rm *)"],
        mcp_servers={"mine": {"type": "stdio", "command": "true"}},
    )
    session = made["result"]["session"]
    await client.ending(session)
    assert (await client.intend("restart", session=session))["ok"]
    starts = [each["argv"] for each in log(served) if "argv" in each]
    assert len(starts) == 2
    for argv in starts:
        text = "\n".join(argv)
        assert "WebFetch" in text
        assert "Bash(rm *)" in text
        assert "mine" not in text, "a configuration may hold secrets, and others can read argv"
    assert [each["mcp"] for each in log(served) if "mcp" in each] == [["mine"], ["mine"]]
    rows = await served.http("/api/sessions", authorization=f"Bearer {client.token}")
    assert b"mine" not in rows[1]


async def test_a_rule_that_is_none_is_refused_with_its_reason(served: Served) -> None:
    client = await served.client("operator")
    result = await client.intend(
        "new_session", cwd=str(served.project), disallowed_tools=["Bash(never closed"]
    )
    assert (result["ok"], result["code"]) == (False, "bad_message")


SERVER = {
    "name": "tracker", "status": "needs-auth", "scope": "user", "tools": [],
    "config": {"type": "http", "url": "https://x.test/mcp", "headers": {"X-Key": "canary"}},
}  # fmt: skip


async def session_with_server(client: Client, answer: Any) -> str:
    init = {
        "type": "system", "subtype": "init", "tools": [], "model": "big",
        "permissionMode": "default", "mcp_servers": [{"name": "tracker", "status": "needs-auth"}],
    }  # fmt: skip
    replies = {"mcp_authenticate": answer, "mcp_status": {"mcpServers": [SERVER]}}
    session = await client.new_session([{"reply": replies}, {"line": init}, {"say": "ready"}])
    await client.ending(session)
    return session


async def test_B30_a_sign_in_gives_an_address_to_open(served: Served) -> None:
    client = await served.client()
    url = "https://login.test/authorize?state=1"
    session = await session_with_server(client, {"authUrl": url, "callbackExpected": True})
    result = await client.intend("mcp_sign_in", session=session, server="tracker")
    assert result["result"] == {"url": url, "callback": True}
    back = "http://localhost:3118/callback?code=x&state=1"
    ended = await client.intend("mcp_sign_in", session=session, server="tracker", callback=back)
    assert ended["ok"]
    asked = [each["request"] for each in told(served, "control_request")]
    assert {
        "subtype": "mcp_oauth_callback_url",
        "serverName": "tracker",
        "callbackUrl": back,
    } in asked
    other = await served.client("viewer")
    await other.say(type="open", document=session)
    snapshot = await other.hear("snapshot", document=session)
    shown = snapshot["state"]["session"]
    assert shown["mcp_servers"][0]["name"] == "tracker"
    assert "canary" not in str(shown)


@pytest.mark.parametrize("url", ["javascript:alert(1)", "file:///etc/passwd", "http://", 7])
async def test_B30_an_address_that_is_none_of_the_web_is_not_given_on(
    served: Served, url: Any
) -> None:
    client = await served.client()
    session = await session_with_server(client, {"authUrl": url})
    result = await client.intend("mcp_sign_in", session=session, server="tracker")
    assert (result["ok"], result["code"]) == (False, "bad_message")
    other = await client.intend("mcp_sign_in", session=session, server="nobody")
    assert other["code"] == "not_found"


async def test_a_refresh_asks_for_the_context_and_the_servers(served: Served) -> None:
    client = await served.client("viewer")
    owner = await served.client()
    session = await session_with_server(owner, {})
    result = await client.intend("refresh", session=session)
    assert result["result"] == {"context": True, "servers": True}
    subtypes = [each["request"]["subtype"] for each in told(served, "control_request")]
    assert {"get_context_usage", "mcp_status"} <= set(subtypes)


async def test_the_output_of_a_task_is_asked_for(served: Served) -> None:
    client = await served.client()
    task = {
        "type": "system", "subtype": "task_started", "task_id": "b1", "tool_use_id": "t1",
        "description": "a long build", "task_type": "local_bash",
    }  # fmt: skip
    reply = {"get_task_output": {"output": "step 1\n", "total_bytes": 7, "truncated": False}}
    session = await client.new_session([{"reply": reply}, {"line": task}, {"say": "started"}])
    await client.ending(session)
    result = await client.intend("task_output", session=session, task="b1")
    assert result["result"] == {"output": "step 1\n", "total_bytes": 7, "truncated": False}
    assert (await client.intend("task_output", session=session, task="b9"))["code"] == "not_found"
