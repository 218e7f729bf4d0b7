"""The raw lines of a session, and who may see them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fairlead.server.http.raw_log import LogQuery, kind_of, read_log
from fairlead.store.log import FACT, IN, OUT, Event, NewEvent
from fairlead.store.sqlite import SqliteStore
from tests.server.conftest import Served


def line(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


async def kept(tmp_path: Path, query: LogQuery, count: int = 25) -> dict[str, Any]:
    events = [
        NewEvent(IN if n % 5 == 0 else OUT, line(type="assistant", n=n), float(n))
        for n in range(1, count + 1)
    ]
    async with SqliteStore(tmp_path / "data") as store:
        await store.append("one", events)
        return await read_log(store, "one", query)


def numbers(answer: dict[str, Any]) -> list[int]:
    return [line["seq"] for line in answer["lines"]]


async def test_the_last_lines_come_first(tmp_path: Path) -> None:
    answer = await kept(tmp_path, LogQuery(limit=3))
    assert (numbers(answer), answer["reached"], answer["last"]) == ([23, 24, 25], 23, 25)


async def test_one_can_go_back_and_forth_from_a_number(tmp_path: Path) -> None:
    assert numbers(await kept(tmp_path / "a", LogQuery(before=23, limit=2))) == [21, 22]
    assert numbers(await kept(tmp_path / "b", LogQuery(after=22, limit=2))) == [23, 24]
    end = await kept(tmp_path / "c", LogQuery(after=25))
    assert (end["lines"], end["reached"]) == ([], 25)
    assert numbers(await kept(tmp_path / "d", LogQuery(before=1))) == []


async def test_lines_are_chosen_by_direction_kind_and_text(tmp_path: Path) -> None:
    assert numbers(await kept(tmp_path / "a", LogQuery(directions=("in",)))) == [5, 10, 15, 20, 25]
    assert numbers(await kept(tmp_path / "b", LogQuery(after=0, text='"N": 7'))) == [7]
    assert numbers(await kept(tmp_path / "c", LogQuery(kinds=("system",)))) == []
    assert len(numbers(await kept(tmp_path / "d", LogQuery(kinds=("assistant",))))) == 25


async def test_a_long_line_is_cut_unless_it_is_asked_for_whole(tmp_path: Path) -> None:
    long = line(type="user", text="x" * 20_000)
    async with SqliteStore(tmp_path / "data") as store:
        await store.append("one", [NewEvent(OUT, long, 1.0)])
        (cut,) = (await read_log(store, "one", LogQuery()))["lines"]
        (whole,) = (await read_log(store, "one", LogQuery(whole=True)))["lines"]
    assert (cut["cut"], len(cut["text"]), cut["size"]) == (True, 8_000, len(long))
    assert (whole["cut"], whole["text"]) == (False, long.decode())


def test_a_line_is_named_by_what_it_is() -> None:
    def kind(direction: str, text: bytes) -> str:
        return kind_of(Event(1, direction, text, 0.0))

    assert kind(OUT, line(type="system", subtype="init")) == "system/init"
    request = line(type="control_request", request={"subtype": "can_use_tool"})
    assert kind(OUT, request) == "control_request/can_use_tool"
    delta = line(type="stream_event", event={"type": "content_block_delta"})
    assert kind(OUT, delta) == "stream_event/content_block_delta"
    assert kind(FACT, line(fact="process_started")) == "fact/process_started"
    assert kind(OUT, b"not json") == "unreadable"
    assert kind(OUT, b"\xff\xfe") == "unreadable"
    assert kind(OUT, line(other=1)) == "unknown"
    assert kind(OUT, line(type="control_request", request=7)) == "control_request"


async def test_B33_raw_lines_are_for_operators(served: Served) -> None:
    client = await served.client("operator")
    session = await client.new_session("hello there")
    await client.ending(session)
    path = f"/api/sessions/{session}/log"
    for role, wanted in (("viewer", 403), ("approver", 403), ("operator", 200), ("owner", 200)):
        bearer = {"authorization": f"Bearer {await served.token(role)}"}
        assert (await served.http(path, **bearer))[0] == wanted
        exported = await served.http(f"/api/sessions/{session}/export?form=ndjson", **bearer)
        assert exported[0] == wanted
        assert (await served.http(f"/api/sessions/{session}/export", **bearer))[0] == 200
    bearer = {"authorization": f"Bearer {client.token}"}
    answer = json.loads((await served.http(path, **bearer))[1])
    assert {line["direction"] for line in answer["lines"]} == {"in", "out", "fact"}
    assert "result/success" in [line["kind"] for line in answer["lines"]]
    assert (await served.http("/api/sessions/none/log", **bearer))[0] == 404
    assert (await served.http(f"{path}?after=soon", **bearer))[0] == 400
