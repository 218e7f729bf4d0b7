"""The CLI's own transcript files, read into the same reducer that reads the live stream.

`history` takes the records of a session file and of the subagent files next to it and returns what
to feed and when. Records are the stream's own messages in other clothes (CLI-705), without the
first and the last line of a turn, which are represented by facts here. Pure: reading the files is
the business of `store/cli_files/imports`; which records count is `branch`, their clothes are
`records`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from fairlead.transcript.history import records
from fairlead.transcript.history.branch import branch, seconds
from fairlead.transcript.reduce import Fed
from fairlead.transcript.reducers.commands import is_output, typed
from fairlead.transcript.reducers.messages import INTERRUPTED
from fairlead.transcript.state import plain
from fairlead.transcript.state.facts import (
    Accounted,
    Described,
    ProcessExited,
    TurnEnded,
    TurnStarted,
)
from fairlead.wire.decode import decode_object
from fairlead.wire.inputs import Request

__all__ = ["Subagent", "history"]

_Record = dict[str, Any]
_Told = tuple[Fed, float]


class Subagent(Struct, frozen=True, kw_only=True):
    """The file of one subagent; `tool_use_id` is in its `.meta.json`, where there is one."""

    agent: str
    records: tuple[_Record, ...]
    tool_use_id: str | None = None


def history(lines: Iterable[_Record], subagents: Iterable[Subagent] = ()) -> Iterator[_Told]:
    """What to feed for a session file and its subagent files."""
    main = branch([line for line in lines if isinstance(line, dict)])
    callers = records.callers(main)
    sides = [
        (
            side.tool_use_id or callers.get(side.agent, f"agent:{side.agent}"),
            [record for record in side.records if isinstance(record, dict)],
        )
        for side in subagents
    ]
    teller = _Teller(_interrupted(main))
    for record, parent in _merged(main, sides):
        yield from teller.tell(record, parent)
    yield from teller.end()


class _Teller:
    """Turns records into what is fed, and adds the turns that the file leaves out."""

    def __init__(self, interrupted: set[str]) -> None:
        self.interrupted = interrupted
        """uuids of results that an interruption follows."""
        self.at = 0.0
        self.said_at = 0.0
        self.in_turn = False
        self.outcome = "unknown"
        self.described = Described()
        self.boundary: _Record | None = None

    def tell(self, record: _Record, parent: str | None) -> Iterator[_Told]:
        self.at = max(seconds(record) or self.at, self.at)
        if parent is not None:
            if record.get("type") in ("user", "assistant"):
                yield decode_object(records.line(record, parent)), self.at
            return
        yield from self._describe(record)
        take = {
            "user": self._user,
            "assistant": self._assistant,
            "system": self._system,
            "attachment": self._attachment,
            "cost-state": self._cost,
            "summary": self._title,
            "ai-title": self._title,
            "custom-title": self._title,
        }.get(plain.text(record.get("type")))
        if take is not None:
            yield from take(record)

    def end(self) -> Iterator[_Told]:
        """The file ends; so did its process, as far as anyone can tell."""
        yield from self._flush()
        if self.in_turn:
            yield TurnEnded(self.outcome), self.said_at
        yield ProcessExited(returncode=None, expected=True), self.at

    def _say(self, line: dict[str, Any]) -> Iterator[_Told]:
        yield from self._flush()
        self.said_at = self.at
        yield decode_object(line), self.at

    def _user(self, record: _Record) -> Iterator[_Told]:
        if record.get("isMeta") or record.get("isCompactSummary"):
            return
        ended = records.notification(record)
        if ended is not None:
            yield decode_object(ended), self.at
            yield from self._begin_turn("background")
            return
        line = records.line(record, None)
        text = records.words(record)
        if record.get("uuid") in self.interrupted:
            yield Request(request_id="history", subtype="interrupt"), self.at
        if not records.has_result(record):
            if text.startswith(INTERRUPTED):
                self.outcome = "interrupted"
            else:
                line["isReplay"] = True
                if not is_output(text):
                    yield from self._prompt(line, typed(text))
                    return
        if is_output(text):
            self.outcome = "success"
        yield from self._say(line)

    def _prompt(self, line: dict[str, Any], text: str) -> Iterator[_Told]:
        """A prompt begins a turn. `/compact` is written after the boundary that it made."""
        boundary = self.boundary if text.startswith("/compact") else None
        if boundary is not None:
            self.boundary = None
        yield from self._begin_turn("user")
        yield from self._say(line)
        if boundary is not None:
            yield from self._say(boundary)

    def _assistant(self, record: _Record) -> Iterator[_Told]:
        if not self.in_turn:
            yield from self._begin_turn("unknown")
        self.outcome = "api_error" if record.get("isApiErrorMessage") is True else "success"
        yield from self._say(records.line(record, None))

    def _system(self, record: _Record) -> Iterator[_Told]:
        line = records.system_line(record)
        if line is None:
            return
        if line["type"] == "assistant":
            self.outcome = "success"
        if line.get("subtype") == "compact_boundary":
            yield from self._flush()
            self.boundary = line
        else:
            yield from self._say(line)

    def _attachment(self, record: _Record) -> Iterator[_Told]:
        line = records.folded_prompt(record)
        if line is not None:
            yield from self._say(line)

    def _cost(self, record: _Record) -> Iterator[_Told]:
        total = plain.number(record.get("totalCostUSD"))
        if total is not None:
            models = plain.mapping(record.get("modelUsage"))
            yield Accounted(total_usd=float(total), models=models), self.at

    def _title(self, record: _Record) -> Iterator[_Told]:
        title = plain.field_of(record, "customTitle", "aiTitle", "title", "summary")
        line = {"type": "system", "subtype": "session_title_changed", "title": title}
        yield decode_object(line), self.at

    def _flush(self) -> Iterator[_Told]:
        boundary, self.boundary = self.boundary, None
        if boundary is not None:
            yield decode_object(boundary), self.at

    def _begin_turn(self, origin: str) -> Iterator[_Told]:
        yield from self._flush()
        if self.in_turn:
            yield TurnEnded(self.outcome), self.said_at
        self.in_turn = True
        self.outcome = "unknown"
        yield TurnStarted(origin), self.at

    def _describe(self, record: _Record) -> Iterator[_Told]:
        described = records.described(record, self.described)
        if described != self.described:
            self.described = described
            yield described, self.at


def _interrupted(main: list[_Record]) -> set[str]:
    """Failed results that are followed by the note about an interruption.

    Old CLIs say nowhere else that it was the user who stopped the tool.
    """
    uuids: set[str] = set()
    failed: list[str] = []
    for record in main:
        if record.get("type") == "assistant":
            failed = []
        elif record.get("type") == "user" and records.is_failed_result(record):
            failed.append(plain.text(record.get("uuid")))
        elif record.get("type") == "user" and records.words(record).startswith(INTERRUPTED):
            uuids.update(failed)
    return uuids


def _merged(
    main: list[_Record], sides: list[tuple[str, list[_Record]]]
) -> Iterator[tuple[_Record, str | None]]:
    """All records in the order of their time; the main file first where times are equal.

    Within a file its own order counts: records may carry a time before that of their elders.
    """
    queues: list[tuple[str | None, list[_Record]]] = [(None, main), *sides]
    timed: list[tuple[float, int, int, _Record, str | None]] = []
    for rank, (parent, file) in enumerate(queues):
        at = 0.0
        for place, record in enumerate(file):
            at = max(seconds(record) or at, at)
            timed.append((at, rank, place, record, parent))
    timed.sort(key=lambda record: record[:3])
    for *_, record, parent in timed:
        yield record, parent
