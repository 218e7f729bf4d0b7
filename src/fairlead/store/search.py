"""Full-text search over what is finished: prompts, answers, commands, paths, errors.

An item gives one entry for each kind of text it has; a hit names the item, so that a client can
jump to it. Words are split by FTS5's `unicode61` without regard to case and accents; scripts
that do not put spaces between words are found by whole runs only. Never fed with deltas.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from fairlead.store.streams import key_of, place
from fairlead.transcript import plain
from fairlead.transcript.model import FINAL_TOOL_STATES

__all__ = ["KINDS", "Entry", "Filters", "Hit", "Piece", "entries", "find", "forget", "put"]

KINDS = ("prompt", "answer", "command", "path", "error")
"""What an entry can be."""

BODY_LIMIT = 64 * 1024
"""Characters of one entry; nobody looks for a word in the middle of a larger one."""

_COMMAND_FIELDS = ("command", "pattern", "query", "url", "prompt", "description", "skill")
_PATH_FIELDS = ("file_path", "notebook_path", "path")
_UNSENT = ("held", "cancelled", "refused")

_FROM, _TO = "\x02", "\x03"
_TERM = re.compile(r'"([^"]*)"?|(\S+)')
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff]")


class Entry(Struct, frozen=True):
    """A text to be found."""

    item: str
    kind: str
    at: float
    body: str


class Filters(Struct, frozen=True, kw_only=True):
    """Which hits are wanted; None is any."""

    session: str | None = None
    project: str | None = None
    """The working folder of the session."""
    model: str | None = None
    """The model that the session had last."""
    kinds: tuple[str, ...] = ()
    """Of `KINDS`; empty is all."""
    after: float | None = None
    before: float | None = None
    newest_first: bool = False
    """Else the best match first."""
    limit: int = 50
    offset: int = 0


class Piece(Struct, frozen=True):
    """Part of a snippet, and whether it is what was looked for."""

    text: str
    match: bool = False


class Hit(Struct, frozen=True, kw_only=True):
    """An item that matches."""

    session: str
    item: str
    kind: str
    at: float
    project: str
    snippet: tuple[Piece, ...]


def entries(items: Iterable[Any]) -> list[Entry]:
    """The texts of finished items, which are rows of a transcript as structs or plain JSON."""
    found = []
    for one in items:
        item = plain.mapping(msgspec.to_builtins(one) if isinstance(one, Struct) else one)
        name, at = plain.text(item.get("id")), plain.number(item.get("at")) or 0.0
        for kind, text in _texts(item):
            body = _CONTROLS.sub(" ", text[:BODY_LIMIT]).strip()
            if name and body:
                found.append(Entry(name, kind, at, body))
    return found


def put(
    session: str, new: Sequence[Entry], project: str, model: str, db: sqlite3.Connection
) -> None:
    """Make entries findable, in place of those of the same item and kind."""
    stream = place(db, session, project, model)
    db.executemany(
        "INSERT INTO entries (stream, item, kind, at, body) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (stream, item, kind) DO UPDATE SET body = excluded.body, at = excluded.at"
        " WHERE body <> excluded.body",
        [(stream, one.item, one.kind, one.at, one.body) for one in new],
    )


def forget(session: str, db: sqlite3.Connection) -> None:
    """Let nothing of a session be found any more."""
    stream = key_of(db, session)
    if stream is not None:
        db.execute("DELETE FROM entries WHERE stream = ?", (stream,))


def find(db: sqlite3.Connection, query: str, filters: Filters) -> list[Hit]:
    """Entries with all words of a query; none if it has no words."""
    match = expression(query)
    if not match:
        return []
    # First which, then how they look: a snippet for each of a hundred thousand matches of a
    # common word would take seconds. The second MATCH is what `snippet` works on.
    found = db.execute(
        f"WITH chosen (id, place) AS ({_chosen(filters)})"
        " SELECT streams.session, entries.item, entries.kind, entries.at, streams.project,"
        f" snippet(entry_words, 0, '{_FROM}', '{_TO}', '…', 24)"
        " FROM chosen CROSS JOIN entry_words ON entry_words.rowid = chosen.id"
        " CROSS JOIN entries ON entries.id = chosen.id"
        " CROSS JOIN streams ON streams.key = entries.stream"
        " WHERE entry_words MATCH :match ORDER BY chosen.place",
        {"match": match, **_values(filters)},
    )
    return [
        Hit(session=session, item=item, kind=kind, at=at, project=project, snippet=_pieces(text))
        for session, item, kind, at, project, text in found
    ]


def expression(query: str) -> str:
    """A person's words in FTS5's own language: all of them, "these in order", the last as typed so far."""
    terms = []
    for quoted, word in _TERM.findall(_CONTROLS.sub(" ", query)):
        text = quoted or word
        # A term of nothing but signs has no word in it, and FTS5 finds nothing for it.
        if any(one.isalnum() for one in text):
            terms.append('"' + text.replace('"', '""') + '"')
    if terms and not query.endswith(('"', " ")):
        terms[-1] += " *"
    return " AND ".join(terms)


def _chosen(filters: Filters) -> str:
    """The query for ids and their places; FTS5 sorts by itself where nothing else is asked."""
    conditions = [
        text
        for text, value in (
            ("streams.session = :session", filters.session),
            ("streams.project = :project", filters.project),
            ("streams.model = :model", filters.model),
            ("entries.at >= :after", filters.after),
            ("entries.at < :before", filters.before),
        )
        if value is not None
    ]
    if filters.kinds:
        names = ", ".join(f":kind{number}" for number in range(len(filters.kinds)))
        conditions.append(f"entries.kind IN ({names})")
    order = "entries.at DESC, entries.id DESC" if filters.newest_first else "rank"
    joins = ""
    if conditions or filters.newest_first:
        joins = (
            " JOIN entries ON entries.id = entry_words.rowid"
            " JOIN streams ON streams.key = entries.stream"
        )
    where = " AND ".join(["entry_words MATCH :match", *conditions])
    return (
        "SELECT id, row_number() OVER () FROM (SELECT entry_words.rowid AS id"
        f" FROM entry_words{joins} WHERE {where} ORDER BY {order} LIMIT :limit OFFSET :offset)"
    )


def _values(filters: Filters) -> dict[str, Any]:
    kinds = {f"kind{number}": kind for number, kind in enumerate(filters.kinds)}
    plain_values = msgspec.structs.asdict(filters)
    del plain_values["kinds"]
    return {**plain_values, **kinds}


def _texts(item: dict[str, Any]) -> list[tuple[str, str]]:
    """Kind and text of everything in a finished item that somebody may look for."""
    kind = item.get("kind")
    text = plain.text(item.get("text"))
    if kind == "prompt":
        return [] if item.get("state") in _UNSENT else [("prompt", text)]
    if kind == "text":
        return [("answer", text)] if item.get("complete") else []
    if kind == "tool":
        return _tool_texts(item)
    if kind == "command":
        words = " ".join(plain.text(item.get(name)) for name in ("command", "args"))
        found = [("command", words)]
        return [*found, ("error" if item.get("failed") else "answer", text)]
    if kind == "notice" and item.get("level") == "error":
        return [("error", text)]
    return []


def _tool_texts(item: dict[str, Any]) -> list[tuple[str, str]]:
    if item.get("state") not in FINAL_TOOL_STATES:
        return []
    given = plain.mapping(item.get("input"))
    commands = [plain.text(given.get(name)) for name in _COMMAND_FIELDS]
    paths = [plain.text(given.get(name)) for name in _PATH_FIELDS]
    found = [
        ("command", " ".join([plain.text(item.get("name")), *filter(None, commands)])),
        ("path", "\n".join(filter(None, paths))),
    ]
    if item.get("state") == "failed":
        found.append(("error", plain.text(item.get("result"))))
    return found


def _pieces(snippet: str) -> tuple[Piece, ...]:
    parts = re.split(f"[{_FROM}{_TO}]", snippet)
    # Marks come in pairs, so every second part is a match.
    return tuple(Piece(text, number % 2 == 1) for number, text in enumerate(parts) if text)
