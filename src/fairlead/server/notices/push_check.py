"""What `fairlead doctor` says about push notifications: the server's key, and its subscriptions."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

from fairlead.errors import FairleadError
from fairlead.server.notices.notices import PUSH_KEY
from fairlead.server.notices.targets import PUSH
from fairlead.store.database.connection import connect
from fairlead.store.database.folder import DATABASE
from fairlead.store.tables import notices

__all__ = ["check_push"]

Finding = tuple[bool, str]


def check_push(data: Path) -> list[Finding]:
    """The findings about a data folder; nothing in it is changed."""
    path = data / PUSH_KEY
    if not path.exists():
        return [(True, "push: no key yet; it is created when a device turns on push notifications")]
    return [_check_key(path), *_check_subscriptions(data)]


def _check_key(path: Path) -> Finding:
    from fairlead.server.notices.push.server_key import PushKey

    try:
        status = path.stat()
        if stat.S_IMODE(status.st_mode) & 0o077:
            return False, f"push: others can read {path}. Run `chmod 600 {path}`."
        key = PushKey.stored_in(path)
    except (FairleadError, OSError) as problem:
        return False, f"push: {problem}"
    return True, f"push: the key {key.public[:12]}… in {path}"


def _check_subscriptions(data: Path) -> list[Finding]:
    if not (data / DATABASE).exists():
        return []
    try:
        with closing(connect(data / DATABASE, True)) as db:
            targets = [row for row in notices.targets(db) if row.id.startswith(PUSH)]
    except sqlite3.Error as problem:
        return [
            (False, f"push: the subscriptions cannot be read ({problem}). Start the server once.")
        ]
    failing = [target for target in targets if target.problem]
    findings = [(True, f"push: subscribed devices: {len(targets)}")]
    findings += [
        (
            False,
            f"push: a notification was not sent. {target.problem} Send a test from the settings of that device.",
        )
        for target in failing
    ]
    return findings
