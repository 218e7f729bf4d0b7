"""Which records of a transcript file are the conversation, and in which order.

Records form a tree by `parentUuid`; the conversation is the path back from the last one, which
leaves out what was rewound or forked (CLI-705). Parallel tool calls branch too: their results
hang on different blocks of one message, so whatever belongs to a message of the path belongs
to the path. 2.1.38 writes records out of order, so the order is that of the tree, then of time.
"""

from __future__ import annotations

import calendar
import heapq
import re
from typing import Any

from fairlead.transcript.state import plain

__all__ = ["branch", "seconds"]

_Record = dict[str, Any]

_IN_TREE = ("user", "assistant", "system", "attachment", "progress")
_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d{1,30})?(?:Z|\+00:00)?")


def branch(records: list[_Record]) -> list[_Record]:
    """The records of the conversation, elders first; what is outside the tree comes last."""
    tree = {record["uuid"]: record for record in records if _is_node(record)}
    chosen = _with_siblings(tree, _path(tree))
    outside = [record for record in records if record.get("type") not in _IN_TREE]
    return [*_in_order([record for record in tree.values() if record["uuid"] in chosen]), *outside]


def seconds(record: _Record) -> float | None:
    """When a record was written, in seconds since 1970."""
    match = _TIME.fullmatch(plain.text(record.get("timestamp")))
    if match is None:
        return None
    *parts, fraction = match.groups()
    try:
        return calendar.timegm(tuple(int(number) for number in parts)) + float(fraction or 0)
    except ValueError:
        return None  # Such as month 0: the form is right, the day does not exist.


def _is_node(record: _Record) -> bool:
    return (
        isinstance(record.get("uuid"), str)
        and record.get("type") in _IN_TREE
        and not record.get("isSidechain")
    )


def _elder(record: _Record) -> str | None:
    elder = plain.field_of(record, "parentUuid", "logicalParentUuid")
    return elder if isinstance(elder, str) else None


def _path(tree: dict[str, _Record]) -> set[str]:
    """Back from the newest record; over a gap, to the record before it in the file."""
    file = list(tree)
    place = {uuid: number for number, uuid in enumerate(file)}
    path: set[str] = set()
    here = _newest(tree, file)
    while here is not None and here not in path:
        path.add(here)
        elder = _elder(tree[here])
        if elder is None or elder in tree:
            here = elder
        else:
            before = place[here] - 1
            here = file[before] if before >= 0 else None
    return path


def _newest(tree: dict[str, _Record], file: list[str]) -> str | None:
    """The last written record that has no successor."""
    elders = {_elder(record) for record in tree.values()}
    leaves = [uuid for uuid in file if uuid not in elders] or file
    # From the end, because the first of equals wins.
    return max(reversed(leaves), key=lambda uuid: seconds(tree[uuid]) or 0.0, default=None)


def _with_siblings(tree: dict[str, _Record], path: set[str]) -> set[str]:
    nodes = tree.values()
    messages = {_message_id(tree[uuid]) for uuid in path} - {""}
    chosen = {
        record["uuid"]
        for record in nodes
        if record["uuid"] in path or _message_id(record) in messages
    }
    calls = {call for uuid in chosen for call in _ids(tree[uuid], "tool_use", "id")}
    results = {
        record["uuid"]
        for record in nodes
        if calls.intersection(_ids(record, "tool_result", "tool_use_id"))
    }
    return chosen | results


def _in_order(records: list[_Record]) -> list[_Record]:
    """Elders before those that follow them, else by time, else as in the file."""
    names = {record["uuid"] for record in records}
    ready: list[tuple[float, int]] = []
    younger: dict[str, list[int]] = {}
    for number, record in enumerate(records):
        elder = _elder(record)
        if elder in names and elder != record["uuid"]:
            younger.setdefault(str(elder), []).append(number)
        else:
            heapq.heappush(ready, (seconds(record) or 0.0, number))
    ordered = []
    while ready:
        _, number = heapq.heappop(ready)
        ordered.append(records[number])
        for child in younger.pop(records[number]["uuid"], ()):
            heapq.heappush(ready, (seconds(records[child]) or 0.0, child))
    return ordered


def _message_id(record: _Record) -> str:
    if record.get("type") != "assistant":
        return ""
    return plain.text(plain.mapping(record.get("message")).get("id"))


def _ids(record: _Record, kind: str, name: str) -> list[str]:
    blocks = plain.rows(plain.mapping(record.get("message")).get("content"))
    return [plain.text(block.get(name)) for block in blocks if block.get("type") == kind]
