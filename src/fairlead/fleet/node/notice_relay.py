"""Passes the notices of a node on to the gateways, whose devices it does not know.

The node's outbox keeps a notice until a gateway has stored it. Each attempt publishes the notice and
does not wait, because other deliveries of the outbox would wait as well while no gateway listens. The
answer of a gateway arrives a moment later; the next attempt finds it, and the outbox is done with the
notice. So nothing is lost while all gateways or the bus are away (N40).
"""

from __future__ import annotations

import contextlib

import msgspec

from fairlead.fleet.bus.bus import Bus, BusError
from fairlead.fleet.protocol import subjects
from fairlead.fleet.protocol.envelopes import Answer, NoticeAsk, NoticeFrame, decode, encode
from fairlead.server.notices.outcome import Outcome, Postponed, Sent
from fairlead.server.notices.rules.notice import Notice

__all__ = ["NoticeRelay"]

RETRY_S = 10.0

REMEMBERED = 1_000
"""Answers that no attempt has found yet; what is settled meanwhile is never tried again."""


class NoticeRelay:
    """The notices of one node on their way to a gateway."""

    def __init__(self, bus: Bus, node: str) -> None:
        self._bus = bus
        self._node = node
        self._stored: dict[int, None] = {}
        """Notices that a gateway has stored."""

    async def send(self, session: str, number: int, notice: Notice) -> Outcome:
        """Offer a notice to the gateways; `Sent` if one of them has stored it after an earlier offer."""
        if number in self._stored:
            del self._stored[number]
            return Sent()
        frame = NoticeFrame(
            session=session, number=number, notice=msgspec.Raw(msgspec.json.encode(notice))
        )
        with contextlib.suppress(BusError):
            await self._bus.publish(subjects.notices(self._node), encode(frame))
        return Postponed(RETRY_S)

    async def answer(self, payload: bytes) -> bytes:
        """A gateway has stored a notice."""
        self._stored[decode(payload, NoticeAsk).number] = None
        if len(self._stored) > REMEMBERED:
            del self._stored[next(iter(self._stored))]
        return encode(Answer())
