"""Every message of the bridge protocol, field by field, in both directions."""

from __future__ import annotations

import asyncio
import json
from types import NoneType
from typing import Any

import pytest

from tests.server.bridge.bridge_scenes import (
    FORM,
    QUESTIONS,
    arguments,
    ask,
    bridge,
    elicit,
    started,
    thought,
    told,
    used,
)
from tests.server.conftest import Client, Served

LONG = "a long line of output\n" * 20_000

OUT: dict[str, dict[str, tuple[type, ...]]] = {
    "system": {"subtype": (str,), "sessionId": (str, NoneType), "model": (str, NoneType)},
    "assistant": {"message": (dict,)},
    "tool_result": {
        "toolUseId": (str,),
        "content": (str,),
        "toolName": (str,),
        "images": (list,),
    },
    "result": {
        "subtype": (str,),
        "result": (str, NoneType),
        "error": (str, NoneType),
        "cost": (float, int, NoneType),
        "duration": (float, int, NoneType),
        "sessionId": (str,),
    },
    "error": {"message": (str,)},
    "status": {"status": (str,)},
    "history": {"messages": (list,)},
    "permission_request": {"toolUseId": (str,), "toolName": (str,), "input": (dict,)},
    "stream_delta": {"text": (str,)},
    "thinking_delta": {"text": (str,)},
}
"""Kind -> its fields with their types, as the protocol has them."""

MISSING: list[tuple[dict[str, Any], str]] = [
    ({"type": "start"}, "projectPath"),
    ({"type": "start", "projectPath": 7}, "projectPath"),
    ({"type": "input"}, "text"),
    ({"type": "input", "text": ["x"]}, "text"),
    ({"type": "approve"}, "id"),
    ({"type": "approve_always"}, "id"),
    ({"type": "reject"}, "id"),
    ({"type": "answer", "result": "x"}, "toolUseId"),
    ({"type": "stop_session"}, "sessionId"),
    ({"type": "resume_session"}, "sessionId"),
    ({"type": "get_history", "sessionId": "none such"}, "none such"),
    ({"type": "list_recent_sessions", "limit": "many"}, "limit"),
]


class Ear:
    """Keeps every message that a client is sent, by its kind."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.heard: list[dict[str, Any]] = []

    async def until(self, kind: str, **wanted: Any) -> dict[str, Any]:
        while True:
            message = await self.client.hear()
            self.heard.append(message)
            fits = all(message.get(name) == value for name, value in wanted.items())
            if message["type"] == kind and fits:
                return message

    async def say(self, kind: str, **fields: Any) -> None:
        await self.client.say(type=kind, **fields)


async def test_B21_every_message_has_its_fields(served: Served) -> None:
    """The eleven messages of a client with all their fields, and the ten kinds they lead to."""
    ear = Ear(await bridge(served))
    folder = str(served.project)
    await ear.say("start", projectPath=folder, permissionMode="plan", **{"continue": False})
    created = await ear.until("system", subtype="session_created")
    session = created["sessionId"]
    assert (created["projectPath"], created["permissionMode"]) == (folder, "plan")
    assert "--permission-mode=plan" in await _flags(served)
    steps = [
        *thought("Hm."), {"say": "Words."}, *used("t1", "ok", command="ls"),
        ask(), {"wait": 1}, ask(), {"wait": 1}, ask(), {"wait": 1},
    ]  # fmt: skip
    await ear.say("input", text=json.dumps(steps), sessionId=session)
    await ear.until("status", status="running")
    init = await ear.until("system", subtype="init")
    assert (init["sessionId"], init["model"]) == (session, "big")
    for answer in (
        {"type": "approve"},
        {"type": "approve_always"},
        {"type": "reject", "message": "no"},
    ):
        request = await ear.until("permission_request")
        await ear.client.say(**answer, id=request["toolUseId"], sessionId=session)
    await ear.until("result", subtype="success")
    await ear.until("status", status="idle")
    await ear.say("input", text=json.dumps([ask("AskUserQuestion", QUESTIONS), {"wait": 1}]))
    request = await ear.until("permission_request", toolName="AskUserQuestion")
    answers = json.dumps({"Which colour?": "Red", "Which sizes?": ["S", "M"]})
    call = request["toolUseId"]
    await ear.say("answer", toolUseId=call, result=answers, sessionId=session)
    await ear.until("result", subtype="success")
    await ear.say("list_sessions")
    (row,) = (await ear.until("system", subtype="session_list"))["sessions"]
    assert (row["sessionId"], row["projectPath"], row["status"]) == (session, folder, "idle")
    await ear.say("get_history", sessionId=session)
    await ear.until("history")
    await ear.say("stop_session", sessionId=session)
    await ear.say("list_recent_sessions", limit=1)
    recent = await ear.until("system", subtype="recent_sessions")
    assert [each["sessionId"] for each in recent["sessions"]] == [session]
    await ear.say(
        "resume_session", sessionId=session, projectPath=folder, permissionMode="acceptEdits"
    )
    again = await ear.until("system", subtype="session_created")
    assert (again["sessionId"], again["permissionMode"]) == (session, "acceptEdits")
    await ear.say("approve", id="nothing")
    await ear.until("error")

    behaviors = [each["behavior"] for each in told(served) if "behavior" in each]
    assert behaviors == ["allow", "allow", "deny", "allow"]
    assert {message["type"] for message in ear.heard} == set(OUT)
    for message in ear.heard:
        for name, types in OUT[message["type"]].items():
            if message["type"] == "system" and message["subtype"] not in (
                "init",
                "session_created",
            ):
                continue
            assert isinstance(message.get(name), types), (name, message)
    assert {message["status"] for message in ear.heard if message["type"] == "status"} == {
        "idle", "running", "waiting_approval",
    }  # fmt: skip
    for message in ear.heard:
        if message["type"] == "assistant":
            assert {"id", "role", "content", "model"} <= set(message["message"])


async def _flags(served: Served) -> list[str]:
    for _ in range(500):
        log = served.project.parent / "agent.log"
        if log.exists() and (found := arguments(served)):
            return found[-1]
        await asyncio.sleep(0.02)
    raise AssertionError("no agent was started")


@pytest.mark.parametrize(("message", "named"), MISSING)
async def test_B23_what_is_missing_or_wrong_is_named(
    served: Served, message: dict[str, Any], named: str
) -> None:
    client = await bridge(served)
    await client.say(**message)
    assert named in (await client.hear("error"))["message"]
    await started(client)


async def test_B46_the_history_is_whole_and_has_what_tools_were_asked(served: Served) -> None:
    client = await bridge(served)
    session = await started(client)
    steps = [{"pile": [1, 300_000]}, *used("t1", LONG, command="x" * 300_000)]
    await client.say(type="input", text=json.dumps(steps))
    live_result = await client.hear("tool_result")
    assert live_result["content"] == LONG
    await client.hear("result")
    await client.say(type="get_history", sessionId=session)
    history = (await client.hear("history"))["messages"]
    assert [entry["type"] for entry in history] == ["user", "assistant", "assistant", "tool_result"]
    text, call = history[1]["message"]["content"][0], history[2]["message"]["content"][0]
    assert len(text["text"]) > 300_000
    assert (call["type"], call["id"], call["name"]) == ("tool_use", "t1", "Bash")
    assert call["input"] == {"command": "x" * 300_000}
    assert history[3]["content"] == LONG
    assert "cut" not in json.dumps([list(entry) for entry in history])


async def test_B46_an_old_session_of_many_items_has_all_of_them(served: Served) -> None:
    client = await bridge(served)
    session = await started(client)
    await client.say(type="input", text=json.dumps([{"pile": [600, 5]}]))
    await client.hear("result")
    late = await bridge(served)
    await late.say(type="get_history", sessionId=session)
    history = (await late.hear("history"))["messages"]
    texts = [
        entry["message"]["content"][0]["text"] for entry in history if entry["type"] == "assistant"
    ]
    assert texts == [f"{number} xxxxx" for number in range(600)]


@pytest.mark.parametrize("words", ["done", "", "used"])
async def test_B46_a_text_is_reported_whatever_it_contains(served: Served, words: str) -> None:
    client = await bridge(served)
    await started(client)
    await client.say(type="input", text=json.dumps([{"say": words}, {"say": "after"}]))
    texts: list[str] = []
    while "after" not in texts:
        texts.append((await client.hear("assistant"))["message"]["content"][0]["text"])
    assert texts == [each for each in (words, "after") if each]


@pytest.mark.parametrize(
    ("answer", "behavior", "message"),
    [
        ({"type": "approve"}, "allow", ""),
        ({"type": "approve_always"}, "allow", ""),
        ({"type": "reject", "message": "Smaller steps."}, "deny", "Smaller steps."),
        ({"type": "reject"}, "deny", "The user wants another plan."),
    ],
)
async def test_B47_a_plan_is_approved_and_rejected(
    served: Served, answer: dict[str, Any], behavior: str, message: str
) -> None:
    client = await bridge(served)
    await started(client)
    await client.say(type="input", text=json.dumps([ask("ExitPlanMode", {}), {"wait": 1}]))
    request = await client.hear("permission_request", toolName="ExitPlanMode")
    while "plan" not in request["input"]:  # Newer CLIs tell the plan only when asked.
        request = await client.hear("permission_request", toolName="ExitPlanMode")
    assert request["input"]["plan"] == "1. do it"
    await client.say(**answer, id=request["toolUseId"])
    await client.hear("result")
    (given,) = [each for each in told(served) if "behavior" in each]
    assert given["behavior"] == behavior
    assert message in given.get("message", "")
    assert not given.get("updatedPermissions")


FULL = {"city": "Oslo", "nights": 2, "breakfast": True}


@pytest.mark.parametrize(
    ("answer", "action", "content"),
    [
        ({"type": "answer", "result": json.dumps(FULL)}, "accept", FULL),
        ({"type": "answer", "result": FULL}, "accept", FULL),
        (
            {
                "type": "answer",
                "result": json.dumps(
                    {"answers": {"city": "Oslo", "nights": "2", "breakfast": ["true"]}}
                ),
            },
            "accept",
            FULL,
        ),
        (
            {"type": "answer", "result": {"City": "Oslo", "How many nights?": "2"}},
            "accept",
            {"city": "Oslo", "nights": 2},
        ),
        (
            {"type": "answer", "result": json.dumps({"action": "accept", "content": FULL})},
            "accept",
            FULL,
        ),
        ({"type": "answer", "result": json.dumps({"action": "cancel"})}, "cancel", None),
        ({"type": "reject"}, "decline", None),
    ],
)
async def test_B47_a_form_of_an_mcp_server_is_answered(
    served: Served, answer: dict[str, Any], action: str, content: dict[str, Any] | None
) -> None:
    client = await bridge(served)
    await started(client)
    await client.say(type="input", text=json.dumps([elicit(), {"wait": 1}]))
    request = await client.hear("permission_request")
    assert request["input"]["requestedSchema"] == FORM
    assert [each["id"] for each in request["input"]["questions"]] == list(FORM["properties"])
    name = "toolUseId" if answer["type"] == "answer" else "id"
    await client.say(**answer, **{name: request["toolUseId"]})
    await client.hear("result")
    (given,) = [each for each in told(served) if "action" in each]
    assert (given["action"], given.get("content")) == (action, content)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"type": "approve"}, "city, nights"),
        ({"type": "answer", "result": "Oslo"}, "several fields"),
        ({"type": "answer", "result": {"city": "Oslo"}}, "nights"),
        ({"type": "answer", "result": {"city": "Oslo", "nights": "few"}}, "integer"),
        ({"type": "answer", "result": {"town": "Oslo"}}, "town"),
    ],
)
async def test_B47_a_form_that_is_not_filled_in_stays_open(
    served: Served, answer: dict[str, Any], why: str
) -> None:
    client = await bridge(served)
    await started(client)
    await client.say(type="input", text=json.dumps([elicit(), {"wait": 1}]))
    request = await client.hear("permission_request")
    name = "toolUseId" if answer["type"] == "answer" else "id"
    await client.say(**answer, **{name: request["toolUseId"]})
    assert why in (await client.hear("error"))["message"]
    await client.say(type="answer", toolUseId=request["toolUseId"], result=FULL)
    assert (await client.hear("result"))["subtype"] == "success"


BOTH = {"Which colour?": "Red", "Which sizes?": "S, M"}


@pytest.mark.parametrize(
    "result",
    [
        json.dumps({**QUESTIONS, "answers": {"Which colour?": "Red", "Which sizes?": ["S", "M"]}}),
        json.dumps({"answers": {"Which colour?": "Red", "Which sizes?": ["S", "M"]}}),
        {"answers": {"Which colour?": "Red", "Which sizes?": ["S", "M"]}},
        {"Which colour?": "Red", "Which sizes?": ["S", "M"]},
    ],
)
async def test_B47_answers_come_as_the_app_of_today_sends_them(served: Served, result: Any) -> None:
    client = await bridge(served)
    await started(client)
    await client.say(
        type="input", text=json.dumps([ask("AskUserQuestion", QUESTIONS), {"wait": 1}])
    )
    request = await client.hear("permission_request")
    await client.say(type="answer", toolUseId=request["toolUseId"], result=result)
    await client.hear("result")
    (given,) = [each for each in told(served) if "behavior" in each]
    assert given["updatedInput"]["answers"] == BOTH
    assert given["updatedInput"]["questions"] == QUESTIONS["questions"]


@pytest.mark.parametrize(
    "result",
    [
        "Red",
        json.dumps({"questions": [{"question": "Other?"}], "answers": {"Other?": "Red"}}),
        json.dumps({"answers": {"Other?": "Red"}}),
        json.dumps({"answers": {"Which colour?": 7}}),
    ],
)
async def test_B47_answers_to_other_questions_are_refused(served: Served, result: Any) -> None:
    client = await bridge(served)
    await started(client)
    await client.say(
        type="input", text=json.dumps([ask("AskUserQuestion", QUESTIONS), {"wait": 1}])
    )
    request = await client.hear("permission_request")
    await client.say(type="answer", toolUseId=request["toolUseId"], result=result)
    assert (await client.hear("error"))["errorCode"] in ("bad_message", "stale")
    assert not [each for each in told(served) if "behavior" in each]


@pytest.mark.parametrize("text", ['{"a": 1}', "7", "[]", "plain words"])
async def test_B47_a_single_question_takes_any_text_as_it_is(served: Served, text: str) -> None:
    client = await bridge(served)
    await started(client)
    one = {"questions": QUESTIONS["questions"][:1]}
    await client.say(type="input", text=json.dumps([ask("AskUserQuestion", one), {"wait": 1}]))
    request = await client.hear("permission_request")
    await client.say(type="answer", toolUseId=request["toolUseId"], result=text)
    await client.hear("result")
    (given,) = [each for each in told(served) if "behavior" in each]
    assert given["updatedInput"]["answers"] == {"Which colour?": text}


@pytest.mark.parametrize("kind", ["start", "resume_session"])
async def test_B48_the_mode_is_kept_below_the_ceiling(served: Served, kind: str) -> None:
    client = await bridge(served)
    session = await started(client)
    given = {"projectPath": str(served.project), "permissionMode": "bypassPermissions"}
    if kind == "resume_session":
        given["sessionId"] = session
    await client.say(type=kind, **given)
    assert (await client.hear("error"))["errorCode"] == "forbidden"
    await client.say(type=kind, **{**given, "permissionMode": "auto"})
    assert (await client.hear("error"))["errorCode"] == "forbidden"


@pytest.mark.parametrize("kind", ["start", "resume_session"])
async def test_B48_a_session_is_not_resumed_in_another_folder(served: Served, kind: str) -> None:
    client = await bridge(served)
    session = await started(client)
    await client.say(type="input", text="hi")
    await client.hear("result")
    await client.say(type="stop_session", sessionId=session)
    other = served.project.parent / "other"
    other.mkdir()
    await client.say(type=kind, sessionId=session, projectPath=str(other))
    error = await client.hear("error")
    assert error["errorCode"] == "conflict"
    assert str(served.project) in error["message"]
    await client.say(type=kind, sessionId=session, projectPath="/etc")
    assert (await client.hear("error"))["errorCode"] == "forbidden"
    await client.say(
        type=kind, sessionId=session, projectPath=str(served.project), permissionMode="plan"
    )
    await client.hear("system", subtype="session_created")
    assert "--permission-mode=plan" in arguments(served)[-1]
    assert any(each.startswith("--resume=") for each in arguments(served)[-1])


async def test_B51_always_is_refused_over_the_bridge_where_the_cli_forbids_it(
    served: Served,
) -> None:
    client = await bridge(served)
    await started(client)
    step = ask(more={"suppress_always_allow_rule": True})
    await client.say(type="input", text=json.dumps([step, {"wait": 1}]))
    request = await client.hear("permission_request")
    assert request["alwaysSuppressed"] is True
    await client.say(type="approve_always", id=request["toolUseId"])
    assert "Allow or deny it once" in (await client.hear("error"))["message"]
    await client.say(type="approve", id=request["toolUseId"])
    assert (await client.hear("result"))["subtype"] == "success"
