"""Sends notices to channels: each call of Apprise in a thread of its own, with a deadline.

A call that does not end is not waited for any longer, but it cannot be stopped. So a channel has
at most one call at a time: while an old one runs, the next message waits, and is tried later. The
threads are daemons: a server that stops does not wait for a service that does not answer.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from fairlead.server.notices.channels import service
from fairlead.server.notices.channels.address import for_message
from fairlead.server.notices.channels.service import INSTALL, Answer, BadAddress, CallFailed
from fairlead.server.notices.channels.text import Message, message_of
from fairlead.server.notices.outcome import Failed, Outcome, Sent, TryLater
from fairlead.server.notices.rules.notice import Notice
from fairlead.server.notices.targets import ChannelTarget, check_zone
from fairlead.server.refusal import Refusal

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

__all__ = ["NOT_INSTALLED", "ChannelSender"]

T = TypeVar("T")

SEND_S = 20.0
"""How long a service may take; Apprise itself allows four seconds for each step of a request."""

LOAD_S = 90.0
"""How long Apprise may take to load: 3 s on an idle machine, 15 s on a busy one."""

NOT_INSTALLED = f"Channels need Apprise. Install it with `{INSTALL}` and restart the server."

TRY_LATER = frozenset({408, 425, 429})


class ChannelSender:
    """Sends to all channels of a server."""

    def __init__(self, base_url: str, *, timeout_s: float = SEND_S) -> None:
        """`base_url` is the address of the web app, for the link back."""
        self._base_url = base_url
        self._timeout_s = timeout_s
        self._locks: dict[str, asyncio.Lock] = {}
        """Channel -> held while one of its calls runs."""

    async def service_of(self, url: str) -> str:
        """The name of the service of an address; refuses one that cannot be used."""
        await self._load()
        try:
            return await _in_thread(partial(service.service_of, url), self._timeout_s)
        except BadAddress as problem:
            raise Refusal("bad_message", str(problem)) from None
        except CallFailed as problem:
            raise Refusal("unavailable", str(problem)) from None
        except TimeoutError:
            raise Refusal("unavailable", "The address could not be checked in time.") from None

    async def send(
        self, target: ChannelTarget, session: str, number: int, notice: Notice, now: float
    ) -> Outcome:
        """Send one notice; never raises for what a service did."""
        try:
            await self._load()
        except Refusal as problem:
            return TryLater(problem.message)
        link = f"{self._base_url}/s/{session}" if session else f"{self._base_url}/"
        resets = _moment(notice.resets_at, target) if notice.resets_at is not None else ""
        message = message_of(notice, target.settings.detail, link, resets)
        url = for_message(target.url, link=link, session=session, number=number)
        try:
            answer = await self._call(target, url, message)
        except BadAddress as problem:
            return Failed(str(problem))
        except CallFailed as problem:
            return TryLater(str(problem))
        except TimeoutError:
            return TryLater(f"{target.service} did not answer within {self._timeout_s:.0f} s.")
        return _outcome(answer)

    async def _load(self) -> None:
        try:
            await _in_thread(service.load, LOAD_S)
        except ImportError:
            raise Refusal("unavailable", NOT_INSTALLED) from None
        except TimeoutError:
            raise Refusal("unavailable", "Apprise could not be loaded in time.") from None

    async def _call(self, target: ChannelTarget, url: str, message: Message) -> Answer:
        lock = self._locks.setdefault(target.id, asyncio.Lock())
        async with asyncio.timeout(self._timeout_s):
            await lock.acquire()
        title, body = message
        call = partial(service.send, url, title, body)
        return await _in_thread(call, self._timeout_s, lock.release)


async def _in_thread(
    work: Callable[[], T], timeout_s: float, ended: Callable[[], None] = lambda: None
) -> T:
    """The result of a blocking call; `ended` is called in the event loop when the call has ended."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, problem: Exception | None) -> None:
        ended()
        if future.done():
            return  # The caller does not wait any longer.
        if problem is not None:
            future.set_exception(problem)
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result: T | None = None
        problem: Exception | None = None
        try:
            result = work()
        except (BadAddress, ImportError) as known:
            problem = known
        except Exception as unknown:  # noqa: BLE001 - 150 services, whose errors may name secrets
            problem = CallFailed(f"Apprise failed ({type(unknown).__name__}).")
        try:
            loop.call_soon_threadsafe(settle, result, problem)
        except RuntimeError:
            pass  # The server has stopped.

    threading.Thread(target=run, name="fairlead-channel", daemon=True).start()
    async with asyncio.timeout(timeout_s):
        return await future


def _outcome(answer: Answer) -> Outcome:
    if not answer.problem:
        return Sent()
    status = answer.status
    if status is not None and 400 <= status < 500 and status not in TRY_LATER:
        return Failed(answer.problem)
    return TryLater(answer.problem)


def _moment(at: float, target: ChannelTarget) -> str:
    """A time in the time zone of the channel's quiet hours, or of the server."""
    zone: ZoneInfo | None = None
    if target.settings.quiet is not None:
        try:
            zone = check_zone(target.settings.quiet.zone)
        except Refusal:
            zone = None
    return datetime.fromtimestamp(at, zone).astimezone(zone).strftime("on %a %d %b at %H:%M %Z")
