"""The subjects, buckets and streams of a fleet, and which of them a subject matches.

The node's id is always the third token of a subject, so that the permissions of a node are one
template (`docs/fleet.md`). A node's id and a session's id consist of letters, digits, `-` and `_`;
the id of one of the CLI's own sessions contains the node's id, because home folders may be
synchronized between machines.
"""

from __future__ import annotations

import re

__all__ = [
    "AUDIT_STREAM",
    "BUCKETS",
    "CUT",
    "LOG_STREAM",
    "ask",
    "asks",
    "beat",
    "check_token",
    "do",
    "is_pattern",
    "live",
    "lobby",
    "log",
    "matches",
    "notices",
    "present",
    "spent",
    "terminal",
]

BUCKETS = ("people", "access", "nodes", "lease", "rows", "owners", "clients", "uploads")
"""All buckets: devices and their roles; token hashes and codes, for gateways only; enrolled nodes;
leases of nodes; the last listed row of each session; which node runs a session; the highest intent
of each client; files that were uploaded to one of several gateways."""

LOG_STREAM = "log"
"""Copies of session logs, `log(node, session)`."""

AUDIT_STREAM = "audit"
"""Pairing, enrollment, moves and revocations; nothing in it can be deleted."""

CUT = "fl.cut"
"""Followed by a device's id: the device was revoked."""

_TOKEN = re.compile(r"[A-Za-z0-9_-]{1,128}\Z")


def check_token(token: str) -> str:
    """The token of a subject, if it is one; raises `ValueError`."""
    if _TOKEN.match(token) is None:
        raise ValueError(f"{token!r:.140} cannot be part of a subject")
    return token


def live(node: str, session: str) -> str:
    """Numbered changes of a session, from its node."""
    return f"fl.live.{check_token(node)}.{check_token(session)}"


def terminal(node: str, channel: str) -> str:
    """Output of terminals for one client, from the node; `channel` is chosen by the gateway."""
    return live(node, f"terminal-{channel}")


def notices(node: str) -> str:
    """What the users of a node's sessions are notified of, until a gateway has taken it; `*` for all."""
    return f"fl.live.{node if node == '*' else check_token(node)}.notices"


def spent(worker: str) -> str:
    """A worker of a server has spent something of a budget; `*` for all workers."""
    return f"fl.live.{worker if worker == '*' else check_token(worker)}.spent"


def lobby(node: str) -> str:
    """Numbered changes of a node's lobby."""
    return f"fl.lobby.{check_token(node)}"


def beat(node: str) -> str:
    """A node's beat, once a second."""
    return f"fl.beat.{check_token(node)}"


def do(node: str) -> str:
    """An intent for a node."""
    return f"fl.do.{check_token(node)}"


def ask(node: str, question: str) -> str:
    """A question to a node: `open`, `page`, `http`, `piece`, `follow`, `last`, `terminal`,
    `notice` or `drain`; `settings` or `budgets` to a worker."""
    return f"fl.ask.{check_token(node)}.{check_token(question)}"


def asks(node: str) -> str:
    """The pattern of all questions to a node."""
    return f"fl.ask.{check_token(node)}.*"


def log(node: str, session: str) -> str:
    """The copy of a session's log, in `LOG_STREAM`."""
    return f"fl.log.{check_token(node)}.{check_token(session)}"


def present(gateway: str) -> str:
    """A gateway's list of connected devices."""
    return f"fl.here.{check_token(gateway)}"


def is_pattern(subject: str) -> bool:
    """Whether a subject has wildcards."""
    return "*" in subject or ">" in subject


def matches(pattern: str, subject: str) -> bool:
    """Whether a subject matches a pattern with `*` for one token and `>` for one or more."""
    wanted, tokens = pattern.split("."), subject.split(".")
    for place, token in enumerate(wanted):
        if token == ">":
            return len(tokens) > place
        if place >= len(tokens) or token not in ("*", tokens[place]):
            return False
    return len(wanted) == len(tokens)
