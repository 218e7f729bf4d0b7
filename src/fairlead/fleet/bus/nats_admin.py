"""Creates the buckets and streams of a fleet. Only the admin's key may do this.

Each bucket repeats its writes on `fl.kv.<bucket>.<key>`, so that no client needs a consumer to receive
of them. Leases expire by themselves.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec

from fairlead.fleet.bus.bus import BusError, BusUnavailable, NoAnswer, NoListener
from fairlead.fleet.bus.nats_link import NatsLink
from fairlead.fleet.bus.nkey import NodeKey
from fairlead.fleet.protocol.permissions import ADMIN_INBOX
from fairlead.fleet.protocol.subjects import AUDIT_STREAM, BUCKETS, LOG_STREAM

__all__ = ["LEASE_S", "prepare_store", "store_exists"]

LEASE_S = 15
"""Longer than JetStream pauses after the death of a leader (7.9 s in ten measured kills)."""

LOG_DAYS = 14

AGES_S = {"clients": 60 * 86_400, "uploads": 3_600}
"""How long a key stays in a bucket after it was written; other keys stay forever. A client that was
unused for 60 days is forgotten by its machines too."""

MOST_KEYS = {"uploads": 1024}
"""Most keys of a bucket, each with at most `VALUE_BYTES`; above that, writing fails. Other buckets have
no limit. Not a limit in bytes: JetStream reserves those, and counts the log a second time when a
gateway starts and states its configuration again."""

VALUE_BYTES = 256 * 1024

ANSWER_S = 5.0
EXISTS_S = 1.0
READY_S = 60.0
CONNECT_S = 60.0
"""A server that someone else runs may still be starting."""
NANO = 1_000_000_000
EXISTS = 10058
NOT_READY = 503


async def store_exists(servers: Sequence[str], admin: NodeKey, tls: ssl.SSLContext) -> bool:
    """Whether all buckets and streams can be read, also while a cluster elects leaders."""
    async with _admin_link(servers, admin, tls) as link:
        for config in _configs(1, 0, LEASE_S):
            subject = f"$JS.API.DIRECT.GET.{config['name']}.{config['subjects'][0][:-1]}none"
            try:
                await link.request(subject, b"", EXISTS_S)
            except (NoAnswer, NoListener, BusUnavailable):
                return False
    return True


async def prepare_store(
    servers: Sequence[str],
    admin: NodeKey,
    tls: ssl.SSLContext,
    *,
    replicas: int = 1,
    log_bytes: int = 4 * 1024**3,
    lease_s: int = LEASE_S,
) -> None:
    """Create what is missing and bring the rest up to date."""
    async with _admin_link(servers, admin, tls) as link:
        for config in _configs(replicas, log_bytes, lease_s):
            await _ensure(link, config)


@contextlib.asynccontextmanager
async def _admin_link(
    servers: Sequence[str], admin: NodeKey, tls: ssl.SSLContext
) -> AsyncIterator[NatsLink]:
    connected = asyncio.Event()
    link = NatsLink(
        servers,
        admin,
        tls,
        inbox=ADMIN_INBOX,
        name="admin",
        pending_limit=1024 * 1024,
        changed=connected.set,
    )
    link.start()
    try:
        await _wait(link, connected)
        yield link
    finally:
        await link.close()


def _configs(replicas: int, log_bytes: int, lease_s: int) -> list[dict[str, Any]]:
    common = {"num_replicas": replicas, "storage": "file", "allow_direct": True}
    buckets: list[dict[str, Any]] = [
        {
            **common,
            "name": f"KV_{name}",
            "subjects": [f"$KV.{name}.>"],
            "max_msgs_per_subject": 1,
            "discard": "new",
            "deny_delete": True,
            "duplicate_window": lease_s * NANO,
            "max_age": (lease_s if name == "lease" else AGES_S.get(name, 0)) * NANO,
            "max_msg_size": VALUE_BYTES,
            "max_msgs": MOST_KEYS.get(name, -1),
            "republish": {"src": f"$KV.{name}.>", "dest": f"fl.kv.{name}.>"},
        }
        for name in BUCKETS
    ]
    log = {
        **common,
        "name": LOG_STREAM,
        "subjects": ["fl.log.>"],
        "discard": "old",
        "max_age": LOG_DAYS * 86_400 * NANO,
        "max_bytes": log_bytes,
        "deny_delete": True,
    }
    audit = {
        **common,
        "name": AUDIT_STREAM,
        "subjects": ["fl.audit.>"],
        "deny_delete": True,
        "deny_purge": True,
    }
    return [*buckets, log, audit]


async def _wait(link: NatsLink, connected: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(CONNECT_S):
            await connected.wait()
    except TimeoutError:
        raise BusUnavailable(f"The bus cannot be reached: {link.problem}.") from None


async def _ensure(link: NatsLink, config: dict[str, Any]) -> None:
    name = config["name"]
    problem = await _call(link, f"STREAM.CREATE.{name}", config)
    if problem is not None and problem.get("err_code") == EXISTS:
        problem = await _call(link, f"STREAM.UPDATE.{name}", config)
    if problem is not None:
        raise BusError(f"The bus cannot store {name}: {problem.get('description')}.")


async def _call(link: NatsLink, call: str, config: dict[str, Any]) -> dict[str, Any] | None:
    """The error of a call. A cluster that has no leader yet does not answer, so ask again."""
    deadline = time.monotonic() + READY_S
    while True:
        try:
            answer = await link.request(f"$JS.API.{call}", msgspec.json.encode(config), ANSWER_S)
        except (NoAnswer, NoListener):
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.2)
            continue
        problem: dict[str, Any] | None = msgspec.json.decode(answer.data).get("error")
        if problem is None or problem.get("code") != NOT_READY or time.monotonic() > deadline:
            return problem
        await asyncio.sleep(0.2)
