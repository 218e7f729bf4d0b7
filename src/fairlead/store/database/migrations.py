"""The steps that lead from an empty file to the newest schema, numbered from 1.

A released step is never changed; a change of the schema is a new step. `schema` applies the steps.
"""

from __future__ import annotations

from msgspec import Struct

__all__ = ["MIGRATIONS", "Migration"]


class Migration(Struct, frozen=True):
    """Statements that lead from version `number` - 1 to `number`."""

    number: int
    statements: tuple[str, ...]


_LOG = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE streams (key INTEGER PRIMARY KEY, session TEXT NOT NULL UNIQUE,"
    " project TEXT NOT NULL DEFAULT '')",
    # `checksum` detects changed bytes; SQLite's pages have no checksums.
    "CREATE TABLE events (stream INTEGER NOT NULL, seq INTEGER NOT NULL, direction TEXT NOT NULL,"
    " at REAL NOT NULL, line BLOB NOT NULL, checksum INTEGER NOT NULL)",
    "CREATE UNIQUE INDEX events_by_seq ON events (stream, seq)",
    "CREATE TRIGGER events_stay BEFORE UPDATE ON events"
    " BEGIN SELECT RAISE(ABORT, 'events are never changed'); END",
    "CREATE TABLE snapshots (stream INTEGER NOT NULL, seq INTEGER NOT NULL, state BLOB NOT NULL,"
    " PRIMARY KEY (stream, seq))",
)
_TABLES = (
    "CREATE TABLE sessions (id TEXT PRIMARY KEY, last_activity REAL NOT NULL, row BLOB NOT NULL)",
    "CREATE TABLE devices (id TEXT PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL,"
    " token_hash TEXT NOT NULL UNIQUE, created REAL NOT NULL, last_seen REAL NOT NULL,"
    " revoked REAL)",
    "CREATE TABLE audit (id INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL,"
    " action TEXT NOT NULL, session TEXT, device TEXT, details BLOB NOT NULL)",
    "CREATE INDEX audit_by_session ON audit (session, id)",
    "CREATE TRIGGER audit_stays BEFORE UPDATE ON audit"
    " BEGIN SELECT RAISE(ABORT, 'the audit is never changed'); END",
    "CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit"
    " BEGIN SELECT RAISE(ABORT, 'the audit is never changed'); END",
    "CREATE TABLE drafts (session TEXT NOT NULL, device TEXT NOT NULL, text TEXT NOT NULL,"
    " at REAL NOT NULL, PRIMARY KEY (session, device)) WITHOUT ROWID",
    "CREATE TABLE intents (client TEXT NOT NULL, n INTEGER NOT NULL, result BLOB NOT NULL,"
    " PRIMARY KEY (client, n)) WITHOUT ROWID",
    "CREATE TABLE indexed_files (root TEXT NOT NULL, path TEXT NOT NULL, row BLOB NOT NULL,"
    " PRIMARY KEY (root, path)) WITHOUT ROWID",
)
_SEARCH = (
    "CREATE TABLE entries (id INTEGER PRIMARY KEY, stream INTEGER NOT NULL, item TEXT NOT NULL,"
    " kind TEXT NOT NULL, at REAL NOT NULL, body TEXT NOT NULL, UNIQUE (stream, item, kind))",
    "CREATE VIRTUAL TABLE entry_words USING fts5 (body, content = 'entries', content_rowid = 'id',"
    " tokenize = 'unicode61 remove_diacritics 2')",
    "CREATE TRIGGER entries_come AFTER INSERT ON entries BEGIN"
    " INSERT INTO entry_words (rowid, body) VALUES (new.id, new.body); END",
    "CREATE TRIGGER entries_go AFTER DELETE ON entries BEGIN"
    " INSERT INTO entry_words (entry_words, rowid, body) VALUES ('delete', old.id, old.body); END",
    "CREATE TRIGGER entries_change AFTER UPDATE OF body ON entries BEGIN"
    " INSERT INTO entry_words (entry_words, rowid, body) VALUES ('delete', old.id, old.body);"
    " INSERT INTO entry_words (rowid, body) VALUES (new.id, new.body); END",
)

_PARTS = (
    "DROP TABLE snapshots",
    "CREATE TABLE snapshots (stream INTEGER NOT NULL, seq INTEGER NOT NULL, version TEXT NOT NULL,"
    " parts INTEGER NOT NULL, PRIMARY KEY (stream, seq)) WITHOUT ROWID",
    "CREATE TABLE snapshot_parts (stream INTEGER NOT NULL, seq INTEGER NOT NULL,"
    " number INTEGER NOT NULL, checksum INTEGER NOT NULL, body BLOB NOT NULL,"
    " PRIMARY KEY (stream, seq, number))",
)

_MODELS = (
    "ALTER TABLE streams ADD COLUMN model TEXT NOT NULL DEFAULT ''",
    "UPDATE streams SET model = coalesce((SELECT json_extract(CAST(row AS TEXT), '$.model')"
    " FROM sessions WHERE id = streams.session AND json_valid(CAST(row AS TEXT))), '')",
)

_FILE_USAGE = (
    "CREATE TABLE file_usage (answer TEXT PRIMARY KEY, stream INTEGER NOT NULL, at REAL NOT NULL,"
    " model TEXT NOT NULL, input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,"
    " cache_read_input_tokens INTEGER NOT NULL, cache_creation_input_tokens INTEGER NOT NULL,"
    " cost_usd REAL NOT NULL) WITHOUT ROWID",
)

_INTENT_CLIENTS = (
    "CREATE TABLE intent_clients (device TEXT NOT NULL, client TEXT NOT NULL,"
    " used INTEGER NOT NULL, PRIMARY KEY (device, client)) WITHOUT ROWID",
    "INSERT INTO intent_clients (device, client, used)"
    " SELECT CASE instr(client, '/') WHEN 0 THEN client"
    " ELSE substr(client, 1, instr(client, '/') - 1) END, client,"
    " CAST(strftime('%s', 'now') AS INTEGER) FROM (SELECT DISTINCT client FROM intents)",
)

_NOTICES = (
    # A row of `deliveries` is deleted when its notice was sent, or is not needed any more.
    "CREATE TABLE notices (id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL,"
    " key TEXT NOT NULL, at REAL NOT NULL, body BLOB NOT NULL, UNIQUE (session, key))",
    "CREATE TABLE deliveries (notice INTEGER NOT NULL, target TEXT NOT NULL, due REAL NOT NULL,"
    " tries INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (notice, target)) WITHOUT ROWID",
    "CREATE INDEX deliveries_by_due ON deliveries (due)",
    "CREATE TABLE notice_marks (session TEXT PRIMARY KEY, mark BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE notice_targets (id TEXT PRIMARY KEY, row BLOB NOT NULL,"
    " last_sent REAL, problem TEXT NOT NULL DEFAULT '') WITHOUT ROWID",
)

_DELETIONS = (
    "CREATE TABLE deletions (session TEXT PRIMARY KEY, at REAL NOT NULL, files INTEGER NOT NULL,"
    " device TEXT NOT NULL, begun INTEGER NOT NULL) WITHOUT ROWID",
)

_BUDGETS = (
    "CREATE TABLE budgets (id TEXT PRIMARY KEY, row BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE budget_levels (budget TEXT NOT NULL, period TEXT NOT NULL, level TEXT NOT NULL,"
    " at REAL NOT NULL, PRIMARY KEY (budget, period, level)) WITHOUT ROWID",
    "CREATE TABLE spending (session TEXT NOT NULL, turn TEXT NOT NULL, at REAL NOT NULL,"
    " project TEXT NOT NULL, cost_usd REAL NOT NULL, PRIMARY KEY (session, turn)) WITHOUT ROWID",
    "CREATE INDEX spending_by_time ON spending (at)",
    "CREATE INDEX spending_by_project ON spending (project)",
)

_COMMENTS = (
    "CREATE TABLE comments (session TEXT NOT NULL, id TEXT NOT NULL, row BLOB NOT NULL,"
    " PRIMARY KEY (session, id)) WITHOUT ROWID",
    "CREATE TABLE comment_files (session TEXT NOT NULL, prompt TEXT NOT NULL, file TEXT NOT NULL,"
    " content BLOB NOT NULL, PRIMARY KEY (session, prompt, file)) WITHOUT ROWID",
)

_SCHEDULES = (
    "CREATE TABLE schedules (id TEXT PRIMARY KEY, row BLOB NOT NULL, next_at REAL) WITHOUT ROWID",
    "CREATE TABLE schedule_runs (id INTEGER PRIMARY KEY AUTOINCREMENT, schedule TEXT NOT NULL,"
    " due REAL NOT NULL, state TEXT NOT NULL, session TEXT NOT NULL DEFAULT '',"
    " prompt TEXT NOT NULL DEFAULT '', outcome TEXT NOT NULL DEFAULT '', cost_usd REAL)",
    "CREATE INDEX schedule_runs_by_schedule ON schedule_runs (schedule, id)",
)

_PROFILES = ("ALTER TABLE streams ADD COLUMN profile TEXT NOT NULL DEFAULT ''",)

MIGRATIONS = (
    Migration(1, _LOG),
    Migration(2, _TABLES),
    Migration(3, _SEARCH),
    Migration(4, _PARTS),
    Migration(5, _MODELS),
    Migration(6, _FILE_USAGE),
    Migration(7, _INTENT_CLIENTS),
    Migration(8, _NOTICES),
    Migration(9, _DELETIONS),
    Migration(10, _BUDGETS),
    Migration(11, _COMMENTS),
    Migration(12, _SCHEDULES),
    Migration(13, _PROFILES),
)
"""All steps; the number of the last is the version this Fairlead reads and writes."""
