"""Push messages from a running session to a push service that verifies and decrypts them."""

from __future__ import annotations

import os
import stat
from typing import Any

import pytest

from tests.server.conftest import Served
from tests.server.notices.conftest import ASK, WAIT, Phone, found

PLAN = {"ask": {"id": "plan", "tool": "ExitPlanMode", "input": {"plan": "1. Look"}}}
LIMIT = {
    "line": {
        "type": "rate_limit_event",
        "rate_limit_info": {
            "status": "rejected",
            "resetsAt": 1_900_000_000,
            "rateLimitType": "five_hour",
        },
    }
}
QUESTION = {
    "ask": {
        "id": "q",
        "tool": "AskUserQuestion",
        "input": {
            "questions": [{"question": "Which?", "header": "h", "options": [{"label": "a"}]}]
        },
    }
}


async def test_B91_a_request_and_the_end_of_a_turn_are_pushed_encrypted(phone: Phone) -> None:
    await phone.subscribe()
    session = await phone.client.new_session([ASK, WAIT, {"say": "done"}])
    asked = await phone.message()
    assert (asked["kind"], asked["session"]) == ("approval", session)
    assert asked["body"] == "Needs your approval."
    headers, _ = phone.push.received[0]
    assert headers["urgency"] == "high"
    assert session not in str(headers)
    row = await phone.client.pending(session)
    answer = {"request_id": row["id"], "input_sha256": row["input_sha256"], "decision": "allow"}
    assert (await phone.client.intend("decide", session=session, **answer))["ok"]
    done = await phone.message(2)
    assert (done["kind"], done["body"], done["session"]) == ("finished", "Finished.", session)
    assert done["id"] > asked["id"]
    assert "deny" not in done
    topics = {headers["topic"] for headers, _ in phone.push.received}
    assert len(topics) == 1  # The second replaces the first where it was not delivered yet.


@pytest.mark.parametrize(
    ("step", "kind", "body"),
    [
        (PLAN, "plan", "Has a plan for you to review."),
        (QUESTION, "question", "Asks a question."),
        (LIMIT, "limit", "Usage limit reached."),
        ({"die": 3}, "failed", "Stopped: Claude Code exited."),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
async def test_B91_every_kind_is_pushed(
    phone: Phone, step: dict[str, Any], kind: str, body: str
) -> None:
    await phone.subscribe(kinds=[kind])
    await phone.client.new_session([step, WAIT] if "ask" in step else [step, {"say": "done"}])
    message = await phone.message()
    assert (message["kind"], message["body"]) == (kind, body)
    if kind == "limit":
        assert message["resets_at"] == 1_900_000_000


async def test_R25_a_message_has_no_more_of_a_command_than_the_user_allows(phone: Phone) -> None:
    bodies: list[str] = []
    for detail in ("kind", "tool", "command"):
        await phone.subscribe(detail=detail, kinds=["approval"])
        await phone.client.new_session([ASK, WAIT])
        message = await phone.message(len(bodies) + 1)
        bodies.append(message["body"])
        assert ("secret" in str(message)) == (detail == "command")
    assert bodies[1] == "Needs your approval: Bash."
    assert bodies[2].startswith("Needs your approval: Bash: curl -H")


async def test_B94_a_kind_that_a_device_turned_off_is_not_sent_to_it(phone: Phone) -> None:
    await phone.subscribe(kinds=["finished"])
    session = await phone.client.new_session([ASK, WAIT, {"say": "done"}])
    row = await phone.client.pending(session)
    answer = {"request_id": row["id"], "input_sha256": row["input_sha256"], "decision": "allow"}
    assert (await phone.client.intend("decide", session=session, **answer))["ok"]
    assert [message["kind"] for message in await phone.messages(1)] == ["finished"]


async def test_B95_a_subscription_that_the_push_service_does_not_know_is_dropped(
    phone: Phone,
) -> None:
    await phone.subscribe()
    phone.push.answer = lambda: "410 Gone"
    await phone.client.new_session([ASK, WAIT])
    await phone.message()

    async def is_dropped() -> bool:
        return (await phone.call("/api/push"))[1]["settings"] is None

    assert await found(is_dropped)
    assert (await phone.call("/api/push/test", {}))[0] == 404


async def test_B96_deny_in_a_notification_denies_that_request_once(
    phone: Phone, house: Served
) -> None:
    await phone.subscribe()
    session = await phone.client.new_session([ASK, WAIT, {"say": "done"}])
    ticket = (await phone.message())["deny"]
    first = await house.http(
        "/api/push/deny", method="POST", body={"ticket": ticket}, origin=house.base
    )
    again = await house.http(
        "/api/push/deny", method="POST", body={"ticket": ticket}, origin=house.base
    )
    assert (first[0], again[0]) == (200, 200)
    turn = await phone.client.ending(session)
    assert turn["outcome"] == "success"
    live = house.service.registry.sessions.loaded(session)
    assert live is not None
    assert [row.by for row in live.transcript.settled] == ["a test"]
    audit = await house.service.store.audit(session)
    assert [record.action for record in audit if "decided" in record.action] == ["decided:deny"]


async def test_B97_the_test_button_reports_what_the_push_service_answered(phone: Phone) -> None:
    await phone.subscribe()
    status, answer = await phone.call("/api/push/test", {})
    assert (status, answer) == (200, {"sent": True})
    assert (await phone.message())["body"] == "Push notifications work on this device."
    phone.push.answer = lambda: "503 Busy"
    status, answer = await phone.call("/api/push/test", {})
    assert status == 503
    assert "answered with status 503" in answer["message"]


async def test_B98_a_request_that_is_answered_soon_is_not_pushed(
    phone: Phone, house: Served
) -> None:
    await phone.subscribe(
        quiet={"start": 0, "end": 1439, "zone": "UTC"}  # All day but for one minute.
    )
    session = await phone.client.new_session([ASK, WAIT, {"say": "done"}])
    row = await phone.client.pending(session)
    store = house.service.store
    count = "SELECT count(*) FROM deliveries JOIN notices ON id = notice WHERE key LIKE ?"

    async def waiting(like: str) -> int:
        return int((await store.query(lambda db: db.execute(count, (like,)).fetchone()))[0])

    assert await found(lambda: waiting("request:%")) == 1
    answer = {"request_id": row["id"], "input_sha256": row["input_sha256"], "decision": "allow"}
    assert (await phone.client.intend("decide", session=session, **answer))["ok"]
    assert await found(lambda: waiting("turn:%")) == 1
    assert (await waiting("request:%"), await waiting("turn:%")) == (0, 1)
    assert phone.push.received == []


async def test_R27_the_push_key_is_readable_by_its_owner_only(phone: Phone, house: Served) -> None:
    await phone.subscribe()
    key = (await phone.call("/api/push"))[1]["key"]
    await phone.call("/api/push/test", {})
    assert phone.push.known_key == key
    path = house.service.store.folder / "push-key.pem"
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


async def test_each_device_has_its_own_settings(phone: Phone, house: Served) -> None:
    await phone.subscribe(kinds=["failed"], detail="tool")
    other = Phone(house, phone.push, await house.client("viewer"))
    assert (await other.call("/api/push"))[1]["settings"] is None
    await other.subscribe("two")
    status, answer = await phone.call("/api/push/settings", {"kinds": ["plan"]})
    assert (status, answer["settings"]["kinds"]) == (200, ["plan"])
    assert len((await other.call("/api/push"))[1]["settings"]["kinds"]) == 7
    assert (await phone.call("/api/push/remove", {}))[0] == 200
    assert (await phone.call("/api/push"))[1]["settings"] is None
    assert (await other.call("/api/push"))[1]["settings"] is not None


@pytest.mark.parametrize(
    "settings",
    [
        {"kinds": ["everything"]},
        {"detail": "all"},
        {"quiet": {"start": 0, "end": 1440, "zone": "UTC"}},
        {"quiet": {"start": 0, "end": 60, "zone": "Mars/Olympus"}},
        {"quiet": {"start": 0, "end": 60, "zone": "../../etc/passwd"}},
        {"loud": True},
    ],
    ids=str,
)
async def test_settings_that_mean_nothing_are_refused(
    phone: Phone, settings: dict[str, Any]
) -> None:
    await phone.subscribe()
    status, answer = await phone.call("/api/push/settings", settings)
    assert (status, answer["code"]) == (400, "bad_message")
