"""A program that makes a notice, sends it, and kills itself at a given moment.

    killed.py FOLDER ENDPOINT P256DH AUTH MOMENT

With an ENDPOINT that begins with json:// the notice goes to a channel, and the keys are not used.

It does what a server does, step by step: a turn ends in a session whose events it stores, the
notice is derived and stored, and the outbox sends it. A moment is the name of a step and `before`
or `after`, such as `send 1 after`. When it is started again, it goes on from what is stored.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from fairlead.server.notices.channels.sender import ChannelSender
from fairlead.server.notices.outbox import Outbox
from fairlead.server.notices.outcome import Outcome
from fairlead.server.notices.push.sender import PushSender
from fairlead.server.notices.rules.derive import derive
from fairlead.server.notices.rules.notice import Notice
from fairlead.server.notices.targets import (
    ChannelTarget,
    PushTarget,
    Target,
    Targets,
    channel_id,
    push_id,
)
from fairlead.server.session.loading import Loaded
from fairlead.server.session.log_lines import event_of
from fairlead.store.sqlite import SqliteStore
from fairlead.store.tables import notices as table
from fairlead.store.tables.devices import Device
from fairlead.store.tables.notices import NoticeMark
from fairlead.transcript.reduce import Fed
from fairlead.transcript.state.facts import TurnEnded, TurnStarted

SESSION = "a-session"
NOW = 1_800_000_000.0
DEVICE = Device(id="phone", name="phone", role="owner", token_hash="", created=NOW)


class Moments:
    """Kills this process at one moment."""

    def __init__(self, fatal: str) -> None:
        self._fatal = fatal
        self._counts: Counter[str] = Counter()

    def next(self, step: str) -> str:
        self._counts[step] += 1
        return f"{step} {self._counts[step]}"

    def pass_by(self, name: str, when: str) -> None:
        sys.stdout.write(f"{name} {when}\n")
        sys.stdout.flush()
        if f"{name} {when}" == self._fatal:
            os.kill(os.getpid(), signal.SIGKILL)


class KillingStore:
    """A store whose writes are moments."""

    def __init__(self, store: SqliteStore, moments: Moments) -> None:
        self._store = store
        self._moments = moments
        self.query = store.query

    async def append(self, fact: Any) -> None:
        name = self._moments.next("append")
        self._moments.pass_by(name, "before")
        await self._store.append(SESSION, [event_of(fact, NOW)])
        self._moments.pass_by(name, "after")

    async def apply(self, write: Any) -> Any:
        name = self._moments.next("apply")
        self._moments.pass_by(name, "before")
        result = await self._store.apply(write)
        self._moments.pass_by(name, "after")
        return result

    def apply_soon(self, write: Any, done: Any) -> None:
        name = self._moments.next("store")
        self._moments.pass_by(name, "before")

        def stored(result: Any, problem: BaseException | None) -> None:
            self._moments.pass_by(name, "after")
            done(result, problem)

        self._store.apply_soon(write, stored)


async def main(folder: str, endpoint: str, p256dh: str, auth: str, fatal: str) -> None:
    moments = Moments(fatal)

    async def find(device: str) -> Device:
        return DEVICE

    channels = ChannelSender("http://localhost")
    sender = PushSender(Path(folder) / "push-key.pem", find, loopback=True)

    async def send(
        target: Target, session: str, number: int, notice: Notice, now: float
    ) -> Outcome:
        name = moments.next("send")
        moments.pass_by(name, "before")
        if isinstance(target, ChannelTarget):
            outcome = await channels.send(target, session, number, notice, now)
        else:
            assert isinstance(target, PushTarget)
            outcome = await sender.send(target, session, number, notice, now)
        moments.pass_by(name, "after")
        return outcome

    async with SqliteStore(folder) as store:
        killing = KillingStore(store, moments)
        targets = Targets(store)
        if endpoint.startswith("json://"):
            channel = ChannelTarget(id="hook", name="hook", service="JSON", url=endpoint)
            await targets.put(channel_id(channel.id), channel)
        else:
            target = PushTarget(device=DEVICE.id, endpoint=endpoint, p256dh=p256dh, auth=auth)
            await targets.put(push_id(DEVICE.id), target)
        outbox = Outbox(killing, targets, send, clock=lambda: NOW, delay_s=0.0, viewed_delay_s=0.0)
        transcript = (await Loaded.from_log(store, SESSION)).transcript
        mark = (await store.query(table.marks)).get(SESSION, NoticeMark())

        def look() -> None:
            nonlocal mark
            derived = derive(transcript, mark, "A title", lambda row: "")
            if derived.mark != mark:
                mark = derived.mark
                outbox.add(SESSION, derived.notices, mark, derived.settled)

        look()
        facts: tuple[Fed, ...] = (TurnStarted(), TurnEnded("success"))
        for number, fact in enumerate(facts):
            if await store.last_seq(SESSION) <= number:
                await killing.append(fact)
                transcript.feed(fact, NOW)
                look()
        await store.apply(lambda db: None)  # After everything that was submitted before.
        await outbox.step(NOW)
    sys.stdout.write("done\n")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
