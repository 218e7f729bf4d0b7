"""The lines that speak of money, found among all others."""

from __future__ import annotations

import json
from pathlib import Path

from fairlead.store.log import FACT, IN, OUT, NewEvent
from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables.usage import usage_lines

RESULT = json.dumps({"type": "result", "total_cost_usd": 0.5}).encode()
STARTED = b'{"fact":"process_started","resumed":null}'


def event(direction: str, line: bytes, at: float = 1.0) -> NewEvent:
    return NewEvent(direction, line, at)


async def test_results_and_starts_are_found_among_everything_else(
    store: SqliteStore, folder: Path
) -> None:
    delta = b'{"type":"stream_event","event":{"text":"a \\"result\\" far behind the beginning"}}'
    conversation = [
        event(FACT, STARTED),
        event(IN, b'{"type":"user","message":{"content":"result"}}'),
        *(event(OUT, delta) for _ in range(20)),
        event(OUT, RESULT, 7.0),
        event(FACT, b'{"fact":"process_exited","returncode":0}'),
    ]
    await store.append("one", conversation)
    piece = usage_lines(folder, 0)
    assert [line.line for line in piece.lines] == [STARTED, RESULT]
    assert piece.lines[1].session == "one"
    assert piece.lines[1].at == 7.0
    assert piece.reached == piece.last == len(conversation)


async def test_only_what_is_new_is_read_again(store: SqliteStore, folder: Path) -> None:
    await store.append("one", [event(OUT, RESULT)] * 3)
    first = usage_lines(folder, 0)
    await store.append("two", [event(OUT, RESULT)])
    second = usage_lines(folder, first.reached)
    assert (len(first.lines), [line.session for line in second.lines]) == (3, ["two"])
    assert usage_lines(folder, second.reached).lines == ()


async def test_a_long_log_comes_in_pieces(store: SqliteStore, folder: Path) -> None:
    await store.append("one", [event(OUT, RESULT, float(n)) for n in range(10)])
    seen: list[float] = []
    reached = 0
    for _ in range(4):
        piece = usage_lines(folder, reached, count=3)
        seen += [line.at for line in piece.lines]
        reached = piece.reached
    assert seen == [float(n) for n in range(10)]
    assert reached == 10


async def test_an_empty_log_tells_nothing(store: SqliteStore, folder: Path) -> None:
    piece = usage_lines(folder, 0)
    assert (piece.lines, piece.reached, piece.last) == ((), 0, 0)
