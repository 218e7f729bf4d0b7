"""What `fairlead doctor` says about channels: Apprise, and what could not be sent."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec

from fairlead.server.notices.channels.service import INSTALL, is_installed
from fairlead.server.notices.targets import CHANNEL, ChannelTarget
from fairlead.store.database.connection import connect
from fairlead.store.database.folder import DATABASE
from fairlead.store.tables import notices

__all__ = ["check_channels"]

Finding = tuple[bool, str]

NONE = "channels: none; owners add them in the settings of the web app"


def check_channels(data: Path, *, installed: bool | None = None) -> list[Finding]:
    """The findings about a data folder; nothing in it is changed, and no message is sent."""
    if not (data / DATABASE).exists():
        return [(True, NONE)]
    try:
        with closing(connect(data / DATABASE, True)) as db:
            stored = [row for row in notices.targets(db) if row.id.startswith(CHANNEL)]
    except sqlite3.Error as problem:
        return [(False, f"channels: they cannot be read ({problem}). Start the server once.")]
    if not stored:
        return [(True, NONE)]
    if not (is_installed() if installed is None else installed):
        text = f"channels: {len(stored)}, but Apprise is not installed. Run `{INSTALL}`."
        return [(False, text)]
    findings: list[Finding] = [(True, f"channels: {len(stored)}")]
    for row in stored:
        name = _name_of(row.row)
        if row.problem:
            text = f"channels: {name}: a notice was not sent. {row.problem} Send a test from the settings, or give it a new address."
            findings.append((False, text))
    return findings


def _name_of(row: bytes) -> str:
    try:
        channel = msgspec.json.decode(row, type=ChannelTarget)
    except msgspec.DecodeError:
        return "a channel of a newer Fairlead"
    return f"{channel.name} ({channel.service})"
