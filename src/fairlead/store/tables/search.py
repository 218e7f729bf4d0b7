"""Full-text search over finished items: prompts, answers, commands, paths, errors.

An item has one entry for each kind of text; a hit names the item, so that a client can jump to it.
FTS5's `unicode61` splits the words, ignoring case and accents; in scripts without spaces between
words, only whole runs are found. Deltas are never indexed.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from fairlead.store.tables.streams import describe, key_of, take_key
from fairlead.transcript.state import plain
from fairlead.transcript.state.model import FINAL_TOOL_STATES

__all__ = [
    "KINDS",
    "Entry",
    "Filters",
    "Hit",
    "Piece",
    "SearchStopped",
    "entries",
    "find",
    "forget",
    "put",
]

KINDS = ("prompt", "answer", "command", "path", "error", "agent")
"""The kinds of entries; `agent` is the prompt that the model gave to a subagent."""

BODY_LIMIT = 64 * 1024
"""Characters of one entry; the rest of a longer text is not searched."""

_COMMAND_FIELDS = ("command", "pattern", "query", "url", "prompt", "description", "skill")
_PATH_FIELDS = ("file_path", "notebook_path", "path")
_UNSENT = ("held", "cancelled", "refused")

_FROM, _TO = "\x02", "\x03"
TERMS, QUERY_LIMIT = 20, 4_000
"""Limits of a query in words and characters; the rest is ignored."""
STEPS = 5_000
"""Steps of SQLite's virtual machine between two calls of `stop`: about a millisecond."""

_TERM = re.compile(r'"([^"]*)"?|(\S+)')
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff]")


class Entry(Struct, frozen=True):
    """A searchable text of an item."""

    item: str
    kind: str
    at: float
    body: str


class Filters(Struct, frozen=True, kw_only=True):
    """Filters of a search; None matches any."""

    session: str | None = None
    project: str | None = None
    """The working folder of the session."""
    model: str | None = None
    """The model that the session had last."""
    profile: str | None = None
    """The profile of the session; empty for the default one."""
    kinds: tuple[str, ...] = ()
    """Some of `KINDS`; empty means all."""
    after: float | None = None
    before: float | None = None
    newest_first: bool = False
    """False sorts the best match first."""
    limit: int = 50
    offset: int = 0


class Piece(Struct, frozen=True):
    """Part of a snippet, and whether it matches the query."""

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
    """The entries of finished items: rows of a transcript, as structs or plain JSON."""
    texts = []
    for row in items:
        item = plain.mapping(msgspec.to_builtins(row) if isinstance(row, Struct) else row)
        name, at = plain.text(item.get("id")), plain.number(item.get("at")) or 0.0
        for kind, text in _texts(item):
            body = _CONTROLS.sub(" ", text[:BODY_LIMIT]).strip()
            if name and body:
                texts.append(Entry(name, kind, at, body))
    return texts


def put(
    session: str,
    new: Sequence[Entry],
    project: str,
    model: str,
    profile: str,
    db: sqlite3.Connection,
) -> None:
    """Insert entries; they replace those of the same item and kind."""
    describe(db, session, project, model, profile)
    stream = take_key(db, session)
    db.executemany(
        "INSERT INTO entries (stream, item, kind, at, body) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (stream, item, kind) DO UPDATE SET body = excluded.body, at = excluded.at"
        " WHERE body <> excluded.body",
        [(stream, entry.item, entry.kind, entry.at, entry.body) for entry in new],
    )


def forget(session: str, db: sqlite3.Connection) -> None:
    """Delete all entries of a session."""
    stream = key_of(db, session)
    if stream is not None:
        db.execute("DELETE FROM entries WHERE stream = ?", (stream,))


class SearchStopped(Exception):
    """The caller was cancelled, or the search took too long."""


def find(
    db: sqlite3.Connection, query: str, filters: Filters, stop: Callable[[], bool] | None = None
) -> list[Hit]:
    """Entries with all words of a query; none if it has no words.

    `stop` is called every few thousand steps; if it returns True, `SearchStopped` is raised.
    """
    match = expression(query)
    if not match:
        return []
    if stop is None:
        return _find(db, match, filters)
    if stop():
        raise SearchStopped
    db.set_progress_handler(stop, STEPS)
    try:
        return _find(db, match, filters)
    except sqlite3.OperationalError as problem:
        if problem.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            raise SearchStopped from None
        raise
    finally:
        db.set_progress_handler(None, 0)


def _find(db: sqlite3.Connection, match: str, filters: Filters) -> list[Hit]:
    # First the ids, then the snippets: a snippet for each of a hundred thousand matches of a
    # common word would take seconds. `snippet` needs the second MATCH.
    rows = db.execute(
        f"WITH chosen (id, position) AS ({_chosen(filters)})"
        " SELECT streams.session, entries.item, entries.kind, entries.at, streams.project,"
        f" snippet(entry_words, 0, '{_FROM}', '{_TO}', '…', 24)"
        " FROM chosen CROSS JOIN entry_words ON entry_words.rowid = chosen.id"
        " CROSS JOIN entries ON entries.id = chosen.id"
        " CROSS JOIN streams ON streams.key = entries.stream"
        " WHERE entry_words MATCH :match ORDER BY chosen.position",
        {"match": match, **_values(filters)},
    )
    return [
        Hit(session=session, item=item, kind=kind, at=at, project=project, snippet=_pieces(text))
        for session, item, kind, at, project, text in rows
    ]


def expression(query: str) -> str:
    """The user's query in the syntax of FTS5: all words, "a phrase", the last word as a prefix."""
    terms: list[str] = []
    for quoted, word in _TERM.findall(_CONTROLS.sub(" ", query[:QUERY_LIMIT])):
        if len(terms) == TERMS:
            break
        text = quoted or word
        # A term without letters or digits has no word, and FTS5 would find nothing for it.
        if any(character.isalnum() for character in text):
            terms.append('"' + text.replace('"', '""') + '"')
    if terms and not query.endswith(('"', " ")):
        terms[-1] += " *"
    return " AND ".join(terms)


def _chosen(filters: Filters) -> str:
    """The query for ids and their positions; without filters, FTS5 sorts by itself."""
    conditions = [
        text
        for text, value in (
            ("streams.session = :session", filters.session),
            ("streams.project = :project", filters.project),
            ("streams.model = :model", filters.model),
            ("streams.profile = :profile", filters.profile),
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
    """Kind and text of everything in a finished item that can be searched."""
    kind = item.get("kind")
    text = plain.text(item.get("text"))
    if kind == "prompt":
        if item.get("state") in _UNSENT:
            return []
        return [("prompt" if item.get("parent") is None else "agent", text)]
    if kind == "text":
        return [("answer", text)] if item.get("complete") else []
    if kind == "tool":
        return _tool_texts(item)
    if kind == "command":
        command_line = " ".join(plain.text(item.get(name)) for name in ("command", "args"))
        texts = [("command", command_line)]
        return [*texts, ("error" if item.get("failed") else "answer", text)]
    if kind == "notice" and item.get("level") == "error":
        return [("error", text)]
    return []


def _tool_texts(item: dict[str, Any]) -> list[tuple[str, str]]:
    if item.get("state") not in FINAL_TOOL_STATES:
        return []
    tool_input = plain.mapping(item.get("input"))
    commands = [plain.text(tool_input.get(name)) for name in _COMMAND_FIELDS]
    paths = [plain.text(tool_input.get(name)) for name in _PATH_FIELDS]
    texts = [
        ("command", " ".join([plain.text(item.get("name")), *filter(None, commands)])),
        ("path", "\n".join(filter(None, paths))),
    ]
    if item.get("state") == "failed":
        texts.append(("error", plain.text(item.get("result"))))
    return texts


def _pieces(snippet: str) -> tuple[Piece, ...]:
    parts = re.split(f"[{_FROM}{_TO}]", snippet)
    # Marks come in pairs, so every second part is a match.
    return tuple(Piece(text, number % 2 == 1) for number, text in enumerate(parts) if text)
