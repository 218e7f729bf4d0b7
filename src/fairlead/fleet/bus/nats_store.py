"""Buckets and streams in JetStream, without consumers.

A consumer would let its creator have the server send messages to any subject, so no machine may
create one. Records are read with direct gets, which any replica answers, and changes of a bucket
are heard because the server repeats each write of it on `fl.kv.<bucket>.<key>`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from fairlead.fleet.bus.bus import (
    BusError,
    BusUnavailable,
    Conflict,
    Entry,
    NoListener,
    Record,
)
from fairlead.fleet.bus.nats_link import LinkSubscription, NatsLink
from fairlead.fleet.bus.nats_protocol import DESCRIPTION, STATUS, NatsMessage

__all__ = ["NatsBucket", "NatsStream"]

STORE_S = 8.0
"""Longer than the election of a new leader in a cluster usually takes."""

EXPECTED = "Nats-Expected-Last-Subject-Sequence"
OPERATION = "KV-Operation"
WRONG_SEQUENCE = 10071
PAGE = 500
PAGE_BYTES = 8 * 1024 * 1024


class NatsBucket:
    """A bucket; see `Bucket`. It is the stream `KV_<name>`, as NATS stores keys and values."""

    def __init__(self, link: NatsLink, name: str) -> None:
        self._link = link
        self._name = name

    async def get(self, key: str) -> Entry | None:
        entry = await self._present(key)
        return None if entry is None or entry.value is None else entry

    async def entries(self, prefix: str = "") -> list[Entry]:
        subject = f"$KV.{self._name}.{f'{prefix}.>' if prefix else '>'}"
        entries: dict[str, Entry] = {}
        after = 0
        while True:
            page, after, is_complete = await _read_page(
                self._link, f"KV_{self._name}", subject, after, PAGE
            )
            for message in page:
                entry = self._entry(message)
                entries[entry.key] = entry
            if is_complete:
                return [entry for entry in entries.values() if entry.value is not None]

    async def put(self, key: str, value: bytes) -> int:
        return await _append(self._link, self._subject(key), value, {})

    async def create(self, key: str, value: bytes) -> int:
        try:
            return await self.update(key, value, 0)
        except Conflict:
            present = await self._present(key)
            if present is None or present.value is not None:
                raise
            # The mark of a deletion counts as a record.
            return await self.update(key, value, present.revision)

    async def update(self, key: str, value: bytes, revision: int) -> int:
        return await _append(self._link, self._subject(key), value, {EXPECTED: str(revision)})

    async def delete(self, key: str) -> None:
        await _append(self._link, self._subject(key), b"", {OPERATION: "DEL"})

    async def listen(self, handler: Callable[[Entry], None]) -> LinkSubscription:
        prefix = f"fl.kv.{self._name}."

        def take(message: NatsMessage) -> None:
            # The headers are the server's: a machine cannot pass off another record as this one.
            headers = message.headers or {}
            key = message.subject.removeprefix(prefix)
            is_true = headers.get("Nats-Stream") == f"KV_{self._name}"
            if is_true and headers.get("Nats-Subject") == self._subject(key):
                handler(self._entry(message))

        return await self._link.subscribe(f"{prefix}>", take)

    async def _present(self, key: str) -> Entry | None:
        message = await _last(self._link, f"KV_{self._name}", self._subject(key))
        return None if message is None else self._entry(message)

    def _subject(self, key: str) -> str:
        return f"$KV.{self._name}.{key}"

    def _entry(self, message: NatsMessage) -> Entry:
        headers = message.headers or {}
        key = headers["Nats-Subject"].removeprefix(f"$KV.{self._name}.")
        is_gone = OPERATION in headers or "Nats-Marker-Reason" in headers
        return Entry(key, None if is_gone else message.data, int(headers["Nats-Sequence"]))


class NatsStream:
    """A stream; see `RecordStream`."""

    def __init__(self, link: NatsLink, name: str) -> None:
        self._link = link
        self._name = name

    async def append(self, subject: str, payload: bytes, *, after: int | None = None) -> int:
        headers = {} if after is None else {EXPECTED: str(after)}
        return await _append(self._link, subject, payload, headers)

    async def last(self, subject: str) -> Record | None:
        message = await _last(self._link, self._name, subject)
        return None if message is None else _record(message)

    async def read(self, subject: str, after: int = 0, count: int = 100) -> list[Record]:
        records: list[Record] = []
        while len(records) < count:
            page, after, is_complete = await _read_page(
                self._link, self._name, subject, after, count - len(records)
            )
            records += [_record(message) for message in page]
            if is_complete:
                break
        return records


def _record(message: NatsMessage) -> Record:
    headers = message.headers or {}
    return Record(headers["Nats-Subject"], message.data, int(headers["Nats-Sequence"]))


async def _append(link: NatsLink, subject: str, payload: bytes, headers: dict[str, str]) -> int:
    try:
        answer = await link.request(subject, payload, STORE_S, headers or None)
    except NoListener:
        raise _unavailable(subject) from None
    content: dict[str, Any] = msgspec.json.decode(answer.data)
    problem = content.get("error")
    if problem is None:
        return int(content["seq"])
    if problem.get("err_code") == WRONG_SEQUENCE:
        raise Conflict(f"Another machine has written to {subject}.")
    raise BusError(f"{subject} was not stored: {problem.get('description')}.")


async def _last(link: NatsLink, stream: str, subject: str) -> NatsMessage | None:
    try:
        answer = await link.request(f"$JS.API.DIRECT.GET.{stream}.{subject}", b"", STORE_S)
    except NoListener:
        raise _unavailable(subject) from None
    return answer if _is_found(answer, subject) else None


async def _read_page(
    link: NatsLink, stream: str, subject: str, after: int, count: int
) -> tuple[list[NatsMessage], int, bool]:
    """The next records of a subject, the number of the last of them, and whether these are all."""
    question = {
        "seq": after + 1,
        "next_by_subj": subject,
        "batch": min(count, PAGE),
        "max_bytes": PAGE_BYTES,
    }
    try:
        answers = await link.request_many(
            f"$JS.API.DIRECT.GET.{stream}", msgspec.json.encode(question), STORE_S, _is_end
        )
    except NoListener:
        raise _unavailable(subject) from None
    end, records = answers[-1], answers[:-1]
    if not _is_found(end, subject, end_of_batch=True):
        return [], after, True
    headers = end.headers or {}
    last = int((records[-1].headers or {})["Nats-Sequence"]) if records else after
    return records, last, not records or headers.get("Nats-Num-Pending", "0") == "0"


def _is_end(message: NatsMessage) -> bool:
    return message.headers is None or STATUS in message.headers


def _is_found(message: NatsMessage, subject: str, *, end_of_batch: bool = False) -> bool:
    status = (message.headers or {}).get(STATUS)
    if status is None or (end_of_batch and status == "204"):
        return True
    if status == "404":
        return False
    description = (message.headers or {}).get(DESCRIPTION, status)
    raise BusError(f"{subject} cannot be read: {description}.")


def _unavailable(subject: str) -> BusUnavailable:
    return BusUnavailable(
        f"{subject} cannot be used: the bus's storage is not available, or this machine may not."
    )
