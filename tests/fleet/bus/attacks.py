"""Attacks on a fleet's bus with a stolen key, and the bus on which they are tried.

An attack counts as refused only if nothing was made and nothing was delivered: `Watch` listens as
every honest machine, and as the admin to everything in the account with the storage, and compares
streams, consumers and records before and after. A missing error is no proof, and an error is none.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from typing import Any

from msgspec import Struct

from fairlead.fleet.bus.bus import Entry, Message
from fairlead.fleet.bus.nats_bus import tls_context
from fairlead.fleet.bus.nats_link import NatsLink
from fairlead.fleet.bus.nats_protocol import NatsMessage
from fairlead.fleet.bus.nkey import NodeKey
from tests.fleet.bus.nats_harness import NatsHarness

SECRET = b"only for b and the gateways"
SOON_S = 10.0
GROUP = 10
"""Attacks between two looks at the storage."""


class Attack(Struct, frozen=True):
    """One message that the thief sends. `MARK` in the payload is replaced by a unique text."""

    name: str
    subject: str
    payload: str = "MARK"
    reply: str = ""
    headers: dict[str, str] | None = None
    first: tuple[str, str] | None = None
    """A subject and payload that the thief writes before, with headers `first_headers`."""
    first_headers: dict[str, str] | None = None
    writes: str = ""
    """A stream that the owner of the key may write."""


class Thief:
    """A raw connection with a stolen key. It records everything that it hears."""

    def __init__(self, nats: NatsHarness, key: NodeKey) -> None:
        self.key = key
        self.heard: list[NatsMessage] = []
        self._connected = asyncio.Event()
        self._link = NatsLink(
            nats.addresses,
            key,
            tls_context(nats.certificates.authority),
            inbox=f"_INBOX.{key.id}",
            name="thief",
            pending_limit=1024 * 1024,
            changed=self._connected.set,
        )

    async def connect(self) -> None:
        self._link.start()
        await self._connected.wait()
        await self.listen(f"_INBOX.{self.key.id}.loot")

    async def listen(self, subject: str) -> None:
        await self._link.subscribe(subject, self.heard.append)

    async def send(self, attack: Attack, mark: str) -> None:
        if attack.first is not None:
            subject, payload = attack.first
            await self._link.publish(
                subject, payload.replace("MARK", mark).encode(), "", attack.first_headers
            )
            await self.flush()
            await asyncio.sleep(0.05)
        await self._link.publish(
            attack.subject,
            attack.payload.replace("MARK", mark).encode(),
            attack.reply or f"_INBOX.{self.key.id}.loot",
            attack.headers,
        )
        await self.flush()

    async def flush(self) -> None:
        await self._link.round_trip()

    async def close(self) -> None:
        await self._link.close()


class Watch:
    """Everyone else."""

    def __init__(self, nats: NatsHarness, victim: NodeKey, stolen: NodeKey) -> None:
        self._nats = nats
        self._victim = victim
        self._stolen = stolen
        self.delivered: list[tuple[str, str, bytes]] = []
        self.answers: list[bytes] = []

    async def start(self) -> None:
        nats = self._nats
        others = [key for key in nats.gateways if key.id != self._stolen.id]
        self.gateways = [await nats.bus(key) for key in others]
        self.node = await nats.bus(self._victim)
        self.admin = await nats.bus(nats.admin)
        self._tasks: set[asyncio.Task[None]] = set()
        for bus in self.gateways:
            for subject in (
                "fl.live.*.*",
                "fl.lobby.*",
                "fl.beat.*",
                "fl.here.*",
                "fl.cut.*",
                f"_INBOX.{bus.id}.>",
            ):
                await bus.subscribe(subject, lambda m, b=bus: self._note(f"gateway {b.id}", m))  # type: ignore[misc]
            for name in ("people", "access", "nodes", "owners", "clients", "lease", "rows"):
                await bus.bucket(name).listen(lambda e, n=name: self._entry("gateway", n, e))  # type: ignore[misc]
        for subject in (f"fl.do.{self._victim.id}", f"fl.ask.{self._victim.id}.*"):
            await self.node.subscribe(subject, self._answer)
        await self.node.subscribe("fl.cut.*", lambda m: self._note("node", m))
        await self.node.subscribe(f"_INBOX.{self._victim.id}.>", lambda m: self._note("node", m))
        for name in ("people", "owners"):
            await self.node.bucket(name).listen(lambda e, n=name: self._entry("node", n, e))  # type: ignore[misc]
        await self.node.bucket("lease").put(self._victim.id, SECRET)
        await self.node.bucket("rows").put(f"{self._victim.id}.s", SECRET)
        await self.node.stream("log").append(f"fl.log.{self._victim.id}.s", SECRET)
        await self.gateways[0].bucket("access").put("code", SECRET)
        await self.gateways[0].bucket("people").put("device", b"owner")

    async def honest_work(self) -> None:
        """What must still work; the thief may listen meanwhile."""
        gateway, node, victim = self.gateways[0], self.node, self._victim.id
        assert await gateway.request(f"fl.do.{victim}", b"honest", SOON_S) == SECRET
        assert await gateway.request(f"fl.ask.{victim}.open", b"honest", SOON_S) == SECRET
        for subject in (f"fl.live.{victim}.s", f"fl.lobby.{victim}", f"fl.beat.{victim}"):
            before = len(self.delivered)
            await node.publish(subject, SECRET)
            deadline = time.monotonic() + SOON_S
            while not any(each[1] == subject for each in self.delivered[before:]):
                assert time.monotonic() < deadline, f"{subject} did not arrive"
                await asyncio.sleep(0.002)
        await node.bucket("lease").put(victim, SECRET)
        entry = await node.bucket("lease").get(victim)
        assert entry is not None
        await node.bucket("lease").update(victim, SECRET, entry.revision)
        await node.bucket("rows").put(f"{victim}.s", SECRET)
        last = await node.stream("log").last(f"fl.log.{victim}.s")
        assert last is not None
        await node.stream("log").append(f"fl.log.{victim}.s", SECRET, after=last.number)
        assert await node.bucket("people").entries()
        assert await gateway.stream("log").read(f"fl.log.{victim}.s")
        assert await gateway.bucket("rows").entries()
        await gateway.bucket("access").put("code", SECRET)
        await gateway.publish("fl.cut.gone", b"honest")
        await gateway.stream("audit").append(f"fl.audit.{gateway.id}", b"honest")

    async def state(self) -> Any:
        """All streams, consumers and records, but for those that the thief may write."""
        streams = {}
        names = (await self._api("STREAM.NAMES"))["streams"]
        for name in names:
            info = await self._api(f"STREAM.INFO.{name}")
            consumers = (await self._api(f"CONSUMER.NAMES.{name}")).get("consumers")
            readable = info["config"].get("allow_direct")
            found = await self.admin.stream(name).read(">", 0, 10_000) if readable else []
            records = [
                (each.subject, each.payload) for each in found if not self._is_own(each.subject)
            ]
            streams[name] = (info["config"], consumers, records)
        return streams

    async def _api(self, call: str) -> Any:
        return json.loads(await self.admin.request(f"$JS.API.{call}", b"", SOON_S))

    def _is_own(self, subject: str) -> bool:
        return f".{self._stolen.id}" in subject

    def _note(self, who: str, message: Message) -> None:
        self.delivered.append((who, message.subject, message.payload))

    def _entry(self, who: str, bucket: str, entry: Entry) -> None:
        self.delivered.append((who, f"$KV.{bucket}.{entry.key}", entry.value or b""))

    def _answer(self, message: Message) -> None:
        self._note("node", message)
        if message.reply is not None:
            task = asyncio.create_task(self.node.publish(message.reply, SECRET))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def got(self, mark: str) -> list[tuple[str, str, bytes]]:
        """What arrived of an attack, but for what the thief may say in its own name."""
        return [
            each
            for each in self.delivered
            if mark.encode() in each[2] and not self._is_own(each[1])
        ]


async def try_all(attacks: list[Attack], thief: Thief, watch: Watch) -> dict[str, str]:
    """What each attack achieved; empty if it was refused."""
    achieved: dict[str, str] = {}
    for start in range(0, len(attacks), GROUP):
        group = attacks[start : start + GROUP]
        before = await watch.state()
        for each in group:
            achieved[each.name] = await delivered(each, thief, watch)
        if changes := _changes(before, await watch.state(), group):
            achieved[f"one of {', '.join(each.name for each in group)}"] = changes
    return achieved


async def outcome(attack: Attack, thief: Thief, watch: Watch) -> str:
    """What a single attack achieved."""
    before = await watch.state()
    found = await delivered(attack, thief, watch)
    return found or _changes(before, await watch.state(), [attack])


async def delivered(attack: Attack, thief: Thief, watch: Watch) -> str:
    """What an attack delivered to others or told the thief."""
    mark = f"mark-{secrets.token_hex(8)}"
    heard = len(thief.heard)
    await thief.send(attack, mark)
    # Calls of JetStream are handled in a task of the server, after the thief's ping was answered.
    await asyncio.sleep(0.03)
    own = attack.writes.replace("KV_", "$KV.") or "-"
    if found := [each for each in watch.got(mark) if not each[1].startswith(own)]:
        return f"delivered {found[0]}"
    for message in thief.heard[heard:]:
        if SECRET in message.data or b'"streams"' in message.data or b'"config"' in message.data:
            return f"read {message.data[:80]!r} on {message.subject}"
    return ""


def _changes(before: Any, after: Any, attacks: list[Attack]) -> str:
    allowed = {each.writes for each in attacks}
    changed = [n for n in {*after, *before} - allowed if after.get(n) != before.get(n)]
    return f"changed {changed}" if changed else ""


async def overheard(subject: str, thief: Thief, watch: Watch) -> str:
    """Empty if listening to a subject tells nothing of honest work, else what it tells."""
    heard = len(thief.heard)
    await thief.listen(subject)
    await watch.honest_work()
    await thief.flush()
    for message in thief.heard[heard:]:
        if SECRET in message.data or b"honest" in message.data:
            return f"heard {message.subject} {message.data[:60]!r}"
    return ""
