"""Which records of a transcript file are the conversation, and in which order.

Records form a tree by `parentUuid`; the conversation is the path back from the last one, which
leaves out what was rewound or forked (TRUTH 1.7). Parallel tool calls branch too: their results
hang on different blocks of one message, so whatever belongs to a message of the path belongs
to the path. 2.1.38 writes records out of order, so the order is that of the tree, then of time.
"""

from __future__ import annotations

import heapq
import re
from calendar import timegm
from typing import Any

from fairlead.transcript import plain

__all__ = ["branch", "seconds"]

_Record = dict[str, Any]

_IN_TREE = ("user", "assistant", "system", "attachment", "progress")
_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?(?:Z|\+00:00)?")


def branch(records: list[_Record]) -> list[_Record]:
    """The records of the conversation, elders first; what is outside the tree comes last."""
    tree = {one["uuid"]: one for one in records if _is_node(one)}
    kept = _with_siblings(tree, _path(tree))
    outside = [one for one in records if one.get("type") not in _IN_TREE]
    return [*_in_order([one for one in tree.values() if one["uuid"] in kept]), *outside]


def seconds(record: _Record) -> float | None:
    """When a record was written, in seconds since 1970."""
    found = _TIME.fullmatch(plain.text(record.get("timestamp")))
    if found is None:
        return None
    *parts, fraction = found.groups()
    return timegm(tuple(int(one) for one in parts)) + float(fraction or 0)


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
    """Of the records that no other follows, the one that was written last."""
    elders = {_elder(one) for one in tree.values()}
    leaves = [uuid for uuid in file if uuid not in elders] or file
    # From the end, because the first of equals wins.
    return max(reversed(leaves), key=lambda uuid: seconds(tree[uuid]) or 0.0, default=None)


def _with_siblings(tree: dict[str, _Record], path: set[str]) -> set[str]:
    nodes = tree.values()
    messages = {_message_id(tree[uuid]) for uuid in path} - {""}
    kept = {one["uuid"] for one in nodes if one["uuid"] in path or _message_id(one) in messages}
    calls = {call for uuid in kept for call in _ids(tree[uuid], "tool_use", "id")}
    results = {
        one["uuid"] for one in nodes if calls.intersection(_ids(one, "tool_result", "tool_use_id"))
    }
    return kept | results


def _in_order(records: list[_Record]) -> list[_Record]:
    """Elders before those that follow them, else by time, else as in the file."""
    names = {one["uuid"] for one in records}
    ready: list[tuple[float, int]] = []
    younger: dict[str, list[int]] = {}
    for number, one in enumerate(records):
        elder = _elder(one)
        if elder in names and elder != one["uuid"]:
            younger.setdefault(str(elder), []).append(number)
        else:
            heapq.heappush(ready, (seconds(one) or 0.0, number))
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
    return [plain.text(one.get(name)) for one in blocks if one.get("type") == kind]
