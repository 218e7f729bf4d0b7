"""Attacks by reading: searches that take long, exports that are not read."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from fairlead.server.http.export.exports import pieces
from fairlead.server.http.search.searches import Searches
from fairlead.server.limits import Limits
from fairlead.server.refusal import Refusal
from fairlead.server.view.export import json_parts, markdown_parts
from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables.search import TERMS, Filters, SearchStopped, expression
from tests.server.conftest import Served
from tests.server.server_harness import ServerHarness
from tests.waiting import until

ITEMS = 20_000


async def filled(store: SqliteStore) -> None:
    words = " ".join(f"word{number}" for number in range(60))
    for start in range(0, ITEMS, 2_000):
        items = [
            {"id": f"i{number}", "kind": "text", "complete": True, "at": 1.0, "text": f"{number} {words}"}
            for number in range(start, start + 2_000)
        ]  # fmt: skip
        await store.index_items("s", items)


# T-84


@pytest.mark.matrix(target="faults", cases=0)
async def test_R14_a_search_ends_at_its_deadline_and_says_so(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "data") as store:
        await filled(store)
        searches = Searches(store.search, Limits(search_s=0.02))
        with pytest.raises(Refusal, match=r"stopped after 0\.02 s\. Use fewer or rarer words"):
            await searches.run("d", " ".join(f"word{number}" for number in range(20)), Filters())
        assert len(await Searches(store.search, Limits()).run("d", "19999", Filters())) == 1


@pytest.mark.matrix(target="faults", cases=0)
async def test_R14_a_newer_search_of_a_device_ends_the_one_before(tmp_path: Path) -> None:
    async with SqliteStore(tmp_path / "data") as store:
        await filled(store)
        searches = Searches(store.search, Limits(search_s=60))
        wide = " ".join(f"word{number}" for number in range(20))
        tasks = [asyncio.create_task(searches.run("d", wide, Filters())) for _ in range(5)]
        await asyncio.sleep(0)
        found = await searches.run("d", "7777", Filters())
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    assert len(found) == 1
    assert sum(isinstance(each, Refusal) and each.code == "conflict" for each in ended) >= 4


async def test_R14_no_client_waits_for_another_clients_searches(tmp_path: Path) -> None:
    """All that is not a search has readers of its own."""
    async with SqliteStore(tmp_path / "data") as store:
        gate = asyncio.Event()
        loop = asyncio.get_running_loop()
        held = 0

        def hold() -> bool:
            nonlocal held
            held += 1
            asyncio.run_coroutine_threadsafe(gate.wait(), loop).result(30)
            return True

        tasks = [asyncio.create_task(store.search("x", Filters(), hold)) for _ in range(10)]
        await until(lambda: held >= 2, 20)
        async with asyncio.timeout(5):
            assert await store.sessions() == []
            assert await store.read("none", 0, 10) == []
        gate.set()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(each, SearchStopped) for each in ended)


def test_R14_a_query_has_a_bound() -> None:
    assert expression("a " * 3_000).count(" AND ") == TERMS - 1
    before = time.process_time()
    expression('"' * 1_000_000)
    assert time.process_time() - before < 0.5


async def test_R14_a_long_query_is_refused(served: Served) -> None:
    bearer = {"Authorization": f"Bearer {await served.token('viewer')}"}
    status, body, _ = await served.http(f"/api/search?q={'a+' * 600}", **bearer)
    assert (status, json.loads(body)["code"]) == (413, "too_large")


# T-85


async def unread(served: Served, token: str, path: str) -> tuple[asyncio.StreamReader, Any]:
    host, port = served.base.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=1024)
    writer.write(
        f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    )
    await writer.drain()
    return reader, writer


@pytest.mark.matrix(target="faults", cases=0)
async def test_R14_exports_that_are_not_read_use_no_memory_and_only_a_few_slots(
    served: Served,
) -> None:
    client = await served.client()
    session = await client.new_session([{"pile": [300, 100_000]}])
    await client.ending(session)
    live = served.service.registry.sessions.loaded(session)
    assert live is not None
    whole = len(live.transcript.snapshot().json())
    assert whole > 20_000_000
    viewer = await served.token("viewer")
    before = resident()
    # All at once, so that none of them is given up before the last has begun.
    path = f"/api/sessions/{session}/export?form=json"
    waiting = await asyncio.gather(*(unread(served, viewer, path) for _ in range(20)))
    heads = await asyncio.gather(*(reader.readline() for reader, _ in waiting))
    assert heads.count(b"HTTP/1.1 200 OK\r\n") == Limits().exports_per_device
    assert sum(b"429" in head for head in heads) == 20 - Limits().exports_per_device
    assert resident() - before < 2 * whole, "the exports are not whole in memory"
    # Another device is served meanwhile.
    bearer = {"Authorization": f"Bearer {client.token}"}
    status, body, _ = await served.http(f"/api/sessions/{session}/export?form=json", **bearer)
    assert (status, len(body)) == (200, whole)
    for _, writer in waiting:
        writer.close()


def resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


async def test_B19_an_export_in_parts_is_the_whole(tmp_path: Path) -> None:
    async with ServerHarness(tmp_path) as harness:
        session = await harness.new()
        await harness.say(session, {"say": "hello"})
        live = await harness.state(session, "idle")
        snapshot = live.transcript.snapshot()
        found = [each async for each in pieces(json_parts(snapshot))]
        assert b"".join(found) == snapshot.json()
        text = b"".join(markdown_parts(snapshot)).decode()
    assert text.startswith("# ")
    assert "hello" in text
    assert text.endswith("\n")
