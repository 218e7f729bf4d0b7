"""The comparison with other servers: what is pinned, what is measured, how it is reported.

Runs Fairlead only; the others are installed by `make bench-servers`.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import os
from asyncio import StreamReader, StreamWriter
from dataclasses import replace

import pytest

from bench.peers import pinned
from bench.servers.contender import PINS
from bench.servers.contenders import Fairlead
from bench.servers.event_stream import EventStream
from bench.servers.figures import Run, Server, table
from bench.servers.measure import Plan, measure, memory_of

RUN = Run(
    ready_s=1.0,
    lines=100,
    missing=0,
    missing_deltas=0,
    delta_s=10e-6,
    line_s=100e-6,
    session_s=0.02,
    delay_p50_s=0.002,
    delay_p99_s=0.01,
    rss_idle=50 * 1024 * 1024,
    rss_per_session=0.0,
    page_bytes=100_000,
    seconds=5.0,
)


@pytest.mark.matrix(target="faults", cases=0)
@pytest.mark.timeout(240)
async def test_every_line_of_every_session_arrives_and_is_measured() -> None:
    run = await measure(Fairlead(), Plan(sessions=2, lines=15, per_s=30.0, deltas=2_000))
    assert (run.lines, run.missing, run.missing_deltas) == (30, 0, 0)
    assert run.delta_s > 0
    assert run.session_s > 0
    assert 0 < run.delay_p50_s <= run.delay_p99_s < 60
    assert run.ready_s > 0
    assert run.rss_idle > 2**20
    assert run.page_bytes > 50_000


def test_memory_of_a_file_that_several_processes_have_mapped_counts_once() -> None:
    alone, twice = memory_of([os.getpid()]), memory_of([os.getpid()] * 2)
    assert 2**20 < alone < twice < 2 * alone


def test_a_table_has_ratios_to_the_first_server_and_names_what_could_not_be_driven() -> None:
    ours = Server(name="Fairlead", version="1", runs=(RUN, replace(RUN, line_s=300e-6), RUN))
    other = Server(name="Other", version="2", runs=(replace(RUN, line_s=250e-6, missing=4),))
    broken = Server(name="Broken", version="3", problem="it ended with 1")
    rows = table([ours, other, broken]).splitlines()
    assert rows[0] == "| figure | Fairlead 1 | Other 2 |"
    assert rows[2] == "| CPU time per line, µs | 100 | 250 (2.5x) |"
    assert "| more memory for each working session, MiB | 0 | 0 |" in rows
    assert rows[-2].endswith("Fairlead 1 0 and 0, Other 2 4 and 0.")
    assert rows[-1] == "Broken 3: it ended with 1"
    assert table([broken]) == "no server could be driven"
    assert broken.as_data()["figures"] == {}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("compressed", [False, True])
async def test_a_stream_of_events_is_read_in_chunks_and_compressed(compressed: bool) -> None:
    content = b'data: {"n":1}\n\ndata: {"n":2}\nid: 7\n\n'
    if compressed:
        content = gzip.compress(content)
    encoding = "Content-Encoding: gzip\r\n" if compressed else ""

    async def serve(reader: StreamReader, writer: StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        status = "200 OK" if request.startswith(b"GET /events ") else "404 Not Found"
        head = f"HTTP/1.1 {status}\r\nTransfer-Encoding: chunked\r\n{encoding}\r\n"
        writer.write(head.encode())
        for part in (content[:20], content[20:], b""):
            writer.write(b"%x\r\n%b\r\n" % (len(part), part))
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        stream = await EventStream.open(port, "/events")
        assert [event async for event in stream] == [b'{"n":1}', b'{"n":2}']
        stream.close()
        with pytest.raises(ConnectionError, match="404"):
            await EventStream.open(port, "/other")


@pytest.mark.parametrize(
    ("name", "package", "version"),
    [
        ("cloudcli-1.12", "@siteboon/claude-code-ui", "1.12.0"),
        ("cloudcli-1.37", "@cloudcli-ai/cloudcli", "1.37.3"),
        ("hapi", "@twsxtd/hapi", "0.30.7"),
    ],
)
def test_the_other_servers_are_pinned_and_no_registry_is_named(
    name: str, package: str, version: str
) -> None:
    wanted = json.loads((PINS / name / "package.json").read_text("utf-8"))
    lock = (PINS / name / "package-lock.json").read_text("utf-8")
    assert wanted["dependencies"] == {package: version}
    locked = json.loads(lock)["packages"]
    assert locked[f"node_modules/{package}"]["version"] == version
    assert all("integrity" in entry for path, entry in locked.items() if path)
    assert '"resolved"' not in lock


def test_a_server_from_pypi_is_pinned_with_hashes_and_no_index_is_named() -> None:
    pins = PINS / "claude-code-remote" / "requirements.txt"
    assert pinned(pins, "claude-code-remote") == "1.0.2"
    text = pins.read_text("utf-8").replace("\\\n", "")
    assert all("==" in line and "--hash=sha256:" in line for line in text.splitlines())
    assert "://" not in text
