"""The bridge protocol, as a client that was made for it uses it."""

from __future__ import annotations

import json

import pytest
import websockets

from tests.server.bridge.bridge_client import ask, bridge, started
from tests.server.conftest import Client, Served

SUGGESTION = {
    "type": "addRules",
    "rules": [{"toolName": "Bash", "ruleContent": "npm test"}],
    "behavior": "allow",
    "destination": "localSettings",
}


async def test_B21_a_whole_conversation_over_the_bridge(served: Served) -> None:
    client = await bridge(served)
    session = await started(client)
    await client.say(type="input", text="hello there")
    assert (await client.hear("stream_delta"))["text"].startswith("hello")
    assistant = await client.hear("assistant")
    assert assistant["message"]["content"][0]["text"] == "hello there"
    result = await client.hear("result")
    assert (result["subtype"], result["sessionId"]) == ("success", session)
    await client.hear("status", status="idle")


async def test_B21_approve_reject_and_answer(served: Served) -> None:
    client = await bridge(served)
    await started(client)
    await client.say(type="input", text=json.dumps([ask(), {"wait": 1}]))
    request = await client.hear("permission_request")
    assert (request["toolName"], request["input"]) == ("Bash", {"command": "npm test"})
    await client.hear("status", status="waiting_approval")
    await client.say(type="approve", id=request["requestId"])
    assert (await client.hear("result"))["subtype"] == "success"
    await client.say(type="input", text=json.dumps([ask(), {"wait": 1}]))
    request = await client.hear("permission_request")
    await client.say(type="reject", id=request["requestId"], message="not now")
    assert (await client.hear("result"))["subtype"] == "success"
    questions = {
        "questions": [{"question": "Which?", "header": "W", "options": [], "multiSelect": False}]
    }
    await client.say(
        type="input", text=json.dumps([ask("AskUserQuestion", questions), {"wait": 1}])
    )
    request = await client.hear("permission_request")
    await client.say(type="answer", toolUseId=request["requestId"], result="this one")
    assert (await client.hear("result"))["subtype"] == "success"


async def test_B21_of_two_requests_about_one_call_an_answer_is_for_the_one_that_was_shown(
    served: Served,
) -> None:
    client = await bridge(served)
    await started(client)
    evil = ask(given={"command": "rm -rf ~"}, tool_use_id="same")
    words = json.dumps([ask(tool_use_id="same"), evil, {"wait": 2}])
    await client.say(type="input", text=words)
    request = await client.hear("permission_request")
    assert request["input"] == {"command": "npm test"}
    await client.say(type="approve", id=request["toolUseId"])
    request = await client.hear("permission_request")
    assert request["input"] == {"command": "rm -rf ~"}
    await client.say(type="reject", id=request["toolUseId"])
    assert (await client.hear("result"))["subtype"] == "success"
    log = (served.project.parent / "agent.log").read_text().splitlines()
    responses = [json.loads(line) for line in log if '"control_response"' in line]
    assert [each["response"]["response"]["behavior"] for each in responses] == ["allow", "deny"]


async def test_B21_sessions_are_listed_stopped_and_resumed(served: Served) -> None:
    client = await bridge(served)
    session = await started(client)
    await client.say(type="input", text="hi")
    await client.hear("result")
    await client.say(type="list_sessions")
    listed = await client.hear("system", subtype="session_list")
    assert [row["sessionId"] for row in listed["sessions"]] == [session]
    await client.say(type="get_history", sessionId=session)
    history = await client.hear("history")
    assert [message["type"] for message in history["messages"]] == ["user", "assistant"]
    await client.say(type="stop_session", sessionId=session)
    await client.say(type="list_recent_sessions", limit=5)
    recent = await client.hear("system", subtype="recent_sessions")
    assert recent["sessions"][0]["projectPath"] == str(served.project)


async def test_B22_always_is_the_narrowest_rule_or_just_this_once(served: Served) -> None:
    client = await bridge(served)
    await started(client)
    await client.say(type="input", text=json.dumps([ask(suggestions=[SUGGESTION]), {"wait": 1}]))
    request = await client.hear("permission_request")
    await client.say(type="approve_always", id=request["requestId"])
    await client.hear("result")
    whole = {**SUGGESTION, "rules": [{"toolName": "Bash"}]}
    await client.say(type="input", text=json.dumps([ask(suggestions=[whole]), {"wait": 1}]))
    request = await client.hear("permission_request")
    await client.say(type="approve_always", id=request["requestId"])
    await client.hear("result")
    log = served.project.parent / "agent.log"
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    answers = [
        entry["response"]["response"]
        for entry in entries
        if isinstance(entry, dict) and entry.get("type") == "control_response"
    ]
    assert answers[0]["updatedPermissions"][0]["rules"] == SUGGESTION["rules"]
    for update in answers[1].get("updatedPermissions", ()):
        assert all(rule.get("ruleContent") for rule in update["rules"])


@pytest.mark.parametrize("text", ['{"type":"launch_rocket"}', '{"no":"type"}', "[]", "x"])
async def test_B23_an_unknown_message_leaves_the_socket_open(served: Served, text: str) -> None:
    client = await bridge(served)
    await client.socket.send(text)
    error = await client.hear("error")
    assert error["errorCode"] in ("unsupported_message", "bad_message")
    await started(client)


async def test_B23_a_missing_field_is_reported(served: Served) -> None:
    client = await bridge(served)
    await client.say(type="start")
    assert "projectPath" in (await client.hear("error"))["message"]


async def test_B24_the_status_is_running_from_the_moment_of_input(served: Served) -> None:
    client = await bridge(served)
    await started(client)
    await client.say(type="input", text="hi")
    assert (await client.hear("status"))["status"] in ("running", "idle")
    await client.hear("result")


async def test_B21_a_browser_sends_its_token_as_a_subprotocol(served: Served) -> None:
    token = await served.token()
    client = Client(served, token)
    client.socket = await websockets.connect(
        served.base.replace("http", "ws") + "/bridge",
        subprotocols=[f"fairlead.token.{token}"],  # type: ignore[list-item]
    )
    await started(client)


async def test_B12_the_bridge_needs_a_token(served: Served) -> None:
    with pytest.raises(websockets.InvalidStatus) as refused:
        await websockets.connect(served.base.replace("http", "ws") + "/bridge")
    assert refused.value.response.status_code == 403
