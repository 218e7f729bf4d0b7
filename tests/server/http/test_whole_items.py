"""The whole of an item whose beginning was sent."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from tests.server.conftest import Client, Served

LONG = "word " * 100_000


async def get(served: Served, path: str, token: str) -> tuple[int, Any]:
    status, body, _ = await served.http(path, Authorization=f"Bearer {token}")
    return status, json.loads(body)


async def long_answer(client: Client, session: str) -> dict[str, Any]:
    """The item of the answer, as a client that opens the session is sent it."""
    await client.ending(session)
    await client.say(type="close", document=session)
    await client.say(type="open", document=session)
    message = await client.hear("snapshot", document=session)
    (found,) = (each for each in message["state"]["items"] if each["kind"] == "text")
    return dict(found)


async def test_B38_an_item_is_given_as_a_whole(served: Served) -> None:
    client = await served.client()
    session = await client.new_session([{"say": LONG}])
    item = await long_answer(client, session)
    assert len(item["text"]) == 64 * 1024
    assert item["cut"]["text"] == len(LONG)
    path = f"/api/sessions/{session}/item?{urlencode({'id': item['id']})}"
    status, whole = await get(served, path, client.token)
    assert (status, whole["text"], whole["kind"]) == (200, LONG, "text")
    assert "cut" not in whole


async def test_B38_a_viewer_can_read_it_and_a_request_without_a_token_cannot(
    served: Served,
) -> None:
    owner = await served.client()
    session = await owner.new_session([{"say": "short"}])
    item = await long_answer(owner, session)
    path = f"/api/sessions/{session}/item?{urlencode({'id': item['id']})}"
    assert (await get(served, path, await served.token("viewer")))[0] == 200
    assert (await served.http(path))[0] == 401


async def test_B38_what_is_not_there_is_not_found(served: Served) -> None:
    client = await served.client()
    session = await client.new_session([{"say": "short"}])
    for path in (f"{session}/item?id=nothing", f"{session}/item", "nobody/item?id=x"):
        status, answer = await get(served, f"/api/sessions/{path}", client.token)
        assert (status, answer["code"]) == (404, "not_found")


async def test_B38_a_turn_and_a_settled_request_are_given_as_a_whole_too(served: Served) -> None:
    client = await served.client()
    session = await client.new_session([{"ask": {"id": "ask-1"}}, {"wait": 1}])
    request = await client.pending(session)
    command = "echo " + "x" * 20_000
    result = await client.intend(
        "decide",
        session=session,
        request_id="ask-1",
        input_sha256=request["input_sha256"],
        decision="allow_edited",
        input={"command": command},
    )
    assert result["ok"], result
    await client.ending(session)
    await client.say(type="close", document=session)
    await client.say(type="open", document=session)
    state = (await client.hear("snapshot", document=session))["state"]
    assert state["settled"][0]["cut"]["answer"] > len(command)
    path = f"/api/sessions/{session}/item?id="
    status, settled = await get(served, f"{path}ask-1&of=settled", client.token)
    assert (status, settled["answer"]["updatedInput"]) == (200, {"command": command})
    status, turn = await get(served, f"{path}{state['turns'][0]['id']}&of=turns", client.token)
    assert (status, turn["outcome"]) == (200, "success")
    assert (await get(served, f"{path}ask-1", client.token))[0] == 404
    assert (await get(served, f"{path}ask-1&of=tasks", client.token))[1]["code"] == "bad_message"
