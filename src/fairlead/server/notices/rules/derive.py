"""Which notices a session gives rise to: its state against a mark. Pure.

The mark says what was considered before, and is stored together with the notices. So the notices
are the same whether they are made after each batch of events or once after a crash: nothing is
lost in between, and nothing is made twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from fairlead.server.notices.rules.notice import Notice
from fairlead.server.view.session_rows import subject_of
from fairlead.store.tables.notices import NoticeMark
from fairlead.transcript.state.model import Pending, Session, Status, Turn

__all__ = ["Derived", "derive", "seed"]

KINDS_OF_REQUESTS = {"permission": "approval", "plan": "plan"}
"""Kind of a request -> kind of its notice; every other request is a question."""

DENIABLE = frozenset({"permission", "plan"})

KIND_OF_OUTCOME = {"success": "finished", "interrupted": "", "budget": "budget"}
"""How a turn ended -> kind of the notice; "" for none, and `failed` for every other end."""

REACHED = "rejected"
"""The status of a usage limit that was reached."""


class Watched(Protocol):
    """The part of a transcript that notices are made from."""

    @property
    def pending(self) -> tuple[Pending, ...]: ...
    @property
    def turn(self) -> Turn | None: ...
    @property
    def status(self) -> Status: ...
    @property
    def session(self) -> Session: ...
    def last(self, section: str, count: int) -> tuple[Turn, ...]:
        """The last rows of a section."""


class Derived(Struct, frozen=True):
    """New notices, the new mark, and keys whose notices are not needed any more."""

    notices: tuple[Notice, ...]
    mark: NoticeMark
    settled: tuple[str, ...]


def seed(transcript: Watched) -> NoticeMark:
    """The mark of a session that is seen for the first time: what it has now is not new."""
    turn = _ended(transcript)
    return NoticeMark(turn=turn.id if turn is not None else "", keys=tuple(_limits(transcript)))


def derive(
    transcript: Watched, mark: NoticeMark, title: str, hash_of: Callable[[Pending], str]
) -> Derived:
    """What is new since the mark; `hash_of` gives the hash of a request's input."""
    known = set(mark.keys)
    notices: list[Notice] = []
    requests = {f"request:{row.id}": row for row in transcript.pending}
    for key, row in requests.items():
        if key not in known:
            notices.append(_of_request(key, row, title, len(requests), hash_of))
    limits = _limits(transcript)
    for key, resets_at in limits.items():
        if key not in known:
            at = transcript.status.last_event
            notices.append(Notice(kind="limit", key=key, at=at, title=title, resets_at=resets_at))
    turn = _ended(transcript)
    reached = bool(limits)
    if turn is not None and turn.id != mark.turn and _is_over(transcript, turn):
        end = _of_turn(turn, title, reached)
        notices += [end] if end is not None else []
    keys = (*requests, *limits)
    settled = tuple(key for key in mark.keys if key.startswith("request:") and key not in requests)
    last = turn.id if turn is not None else mark.turn
    return Derived(tuple(notices), NoticeMark(turn=last, keys=keys), settled)


def _of_request(
    key: str, row: Pending, title: str, waiting: int, hash_of: Callable[[Pending], str]
) -> Notice:
    deniable = row.kind in DENIABLE
    return Notice(
        kind=KINDS_OF_REQUESTS.get(row.kind, "question"),
        key=key,
        at=row.at,
        title=title,
        tool=row.tool_name if row.kind == "permission" else "",
        subject=subject_of(row) if row.kind == "permission" else "",
        waiting=waiting,
        request=row.id if deniable else "",
        sha256=hash_of(row) if deniable else "",
    )


def _of_turn(turn: Turn, title: str, limit_reached: bool) -> Notice | None:
    outcome = turn.outcome or "unknown"
    kind = KIND_OF_OUTCOME.get(outcome, "failed")
    if not kind or (outcome == "api_error" and limit_reached):
        return None  # The user did it, or the limit has a notice of its own.
    return Notice(
        kind=kind, key=f"turn:{turn.id}", at=turn.ended or turn.at, title=title, outcome=outcome
    )


def _ended(transcript: Watched) -> Turn | None:
    """The newest turn that has ended."""
    ended = [turn for turn in transcript.last("turns", 2) if turn.outcome is not None]
    return ended[-1] if ended else None


def _is_over(transcript: Watched, turn: Turn) -> bool:
    """Whether the session is idle now; if it continues with the next prompt, it has not finished."""
    if transcript.turn is not None:
        return False
    return turn.outcome != "success" or not transcript.status.waiting


def _limits(transcript: Watched) -> dict[str, float | None]:
    """The usage limits that are reached, by key, with the time of their reset."""
    reached: dict[str, float | None] = {}
    for name, limit in transcript.session.rate_limits.items():
        if isinstance(limit, dict) and limit.get("status") == REACHED:
            resets_at = limit.get("resetsAt", limit.get("resets_at"))
            resets_at = resets_at if isinstance(resets_at, (int, float)) else None
            reached[f"limit:{name}:{resets_at}"] = resets_at
    return reached
