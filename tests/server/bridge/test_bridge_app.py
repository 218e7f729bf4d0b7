"""The bridge, driven with the shapes of today's ccpocket app: what it sends and what it can read."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.server.bridge.bridge_scenes import QUESTIONS, ask, bridge, elicit, prompts, told, used
from tests.server.conftest import Client, Served

Message = dict[str, Any]


def _text(value: Any) -> None:
    assert isinstance(value, str)


def _perhaps(value: Any) -> None:
    assert value is None or isinstance(value, str)


def _assistant(message: Message) -> None:
    for block in message["message"]["content"]:
        if block["type"] == "text":
            _text(block["text"])
        elif block["type"] == "thinking":
            _text(block["thinking"])
        else:
            assert block["type"] == "tool_use"
            _text(block["id"])
            _text(block["name"])
            assert isinstance(block["input"], dict)


def _tool_result(message: Message) -> None:
    _text(message["toolUseId"])
    _text(message["content"])
    for image in message["images"]:
        _text(image["id"])
        _text(image["url"])
        _text(image["mimeType"])


def _session_list(message: Message) -> None:
    for row in message["sessions"]:
        _text(row["id"])
        _text(row["projectPath"])
        assert row["status"] in ("idle", "running", "waiting_approval")
        for name in ("createdAt", "lastActivityAt", "claudeSessionId", "permissionMode", "model"):
            _perhaps(row[name])


def _recent(message: Message) -> None:
    assert isinstance(message["hasMore"], bool)
    for row in message["sessions"]:
        _text(row["sessionId"])
        _text(row["firstPrompt"])
        _text(row["created"])
        _text(row["modified"])


def _permission(message: Message) -> None:
    _text(message["toolUseId"])
    _text(message["toolName"])
    assert isinstance(message["input"], dict)


def _history(message: Message) -> None:
    for each in message["messages"]:
        read(each)


READERS: dict[str, Callable[[Message], None]] = {
    "system": lambda message: _text(message["subtype"]),
    "assistant": _assistant,
    "tool_result": _tool_result,
    "result": lambda message: _text(message["subtype"]),
    "error": lambda message: _text(message["message"]),
    "status": lambda message: _text(message["status"]),
    "history": _history,
    "permission_request": _permission,
    "permission_resolved": lambda message: _text(message["toolUseId"]),
    "stream_delta": lambda message: _text(message["text"]),
    "thinking_delta": lambda message: _text(message["text"]),
    "session_list": _session_list,
    "recent_sessions": _recent,
    "user_input": lambda message: _text(message["text"]),
}
"""Kinds that the app can read, with the casts that it does; another kind is an error to it."""


def read(message: Message) -> None:
    READERS[message["type"]](message)


async def hear(client: Client, kind: str, **wanted: Any) -> Message:
    """The next message of a kind; each one on the way must be one that the app can read."""
    while True:
        message = await client.hear()
        read(message)
        if message["type"] == kind and all(message.get(n) == v for n, v in wanted.items()):
            return message


async def test_B49_a_session_as_the_app_of_today_drives_it(served: Served) -> None:
    client = await bridge(served)
    folder = str(served.project)
    await client.say(
        type="client_capabilities", appVersion="1.115.2", protocolVersion=1,
        supportedServerMessages=["history_delta", "permission_resolved"],
    )  # fmt: skip
    await client.say(type="list_sessions")
    assert (await hear(client, "session_list"))["sessions"] == []
    await client.say(
        type="start", projectPath=folder, provider="claude", permissionMode="acceptEdits",
        executionMode="acceptEdits", planMode=False, effort="high", autoRename=True,
    )  # fmt: skip
    created = await hear(client, "system", subtype="session_created")
    session = created["sessionId"]
    assert (created["provider"], created["projectPath"]) == ("claude", folder)
    assert created["permissionMode"] == "acceptEdits"
    steps = [
        *used("t1", "one\ntwo", command="ls"),
        ask("AskUserQuestion", QUESTIONS), {"wait": 1},
        ask("ExitPlanMode", {"plan": "1. do it"}), {"wait": 1},
        elicit(), {"wait": 1},
        {"say": "All done."},
    ]  # fmt: skip
    await client.say(
        type="input", text=json.dumps(steps), sessionId=session, clientMessageId="m1", baseSeq=0
    )
    init = await hear(client, "system", subtype="init")
    assert (init["sessionId"], init["slashCommands"]) == (session, [])
    asked = await hear(client, "permission_request", toolName="AskUserQuestion")
    both = {"Which colour?": "Blue", "Which sizes?": ["M"]}
    await client.say(
        type="answer", toolUseId=asked["toolUseId"], sessionId=session,
        result=json.dumps({"questions": asked["input"]["questions"], "answers": both}),
    )  # fmt: skip
    await hear(client, "permission_resolved", toolUseId=asked["toolUseId"])
    plan = await hear(client, "permission_request", toolName="ExitPlanMode")
    assert plan["input"]["plan"] == "1. do it"
    await client.say(type="approve", id=plan["toolUseId"], clearContext=False, sessionId=session)
    form = await hear(client, "permission_request", toolName="McpElicitation")
    fields = {each["id"]: "2" if each["id"] == "nights" else "Oslo" for each in _needed(form)}
    await client.say(
        type="answer", toolUseId=form["toolUseId"], sessionId=session,
        result=json.dumps({"answers": fields}),
    )  # fmt: skip
    await hear(client, "result", subtype="success")
    await client.say(type="get_history", sessionId=session)
    history = (await hear(client, "history"))["messages"]
    kinds = [entry["type"] for entry in history]
    assert kinds[0] == "user_input"
    assert kinds[-1] == "result"
    assert kinds[1:3] == ["assistant", "tool_result"]
    await hear(client, "status", status="idle")
    await client.say(type="list_recent_sessions", limit=20, offset=0, requestScope="list")
    (row,) = (await hear(client, "recent_sessions"))["sessions"]
    assert row["sessionId"] == session
    await client.say(type="interrupt", sessionId=session)
    await client.say(type="set_permission_mode", mode="bypassPermissions", sessionId=session)
    assert (await hear(client, "error"))["errorCode"] == "forbidden"
    given = [each for each in told(served) if "behavior" in each]
    assert given[0]["updatedInput"]["answers"] == {"Which colour?": "Blue", "Which sizes?": "M"}
    assert given[1]["behavior"] == "allow"
    (filled,) = [each for each in told(served) if "action" in each]
    assert filled["content"] == {"city": "Oslo", "nights": 2}


def _needed(form: Message) -> list[Message]:
    return [each for each in form["input"]["questions"] if each["required"]]


async def test_B50_what_comes_over_the_bridge_is_sent_verbatim(served: Served) -> None:
    client = await bridge(served)
    await client.say(type="start", projectPath=str(served.project))
    await client.hear("system", subtype="session_created")
    await client.say(type="input", text="look at @/etc/passwd")
    await client.hear("result")
    (prompt,) = prompts(served)
    assert prompt["client_composed"] is True
    assert prompt["message"]["content"][0]["text"] == "look at @/etc/passwd"
