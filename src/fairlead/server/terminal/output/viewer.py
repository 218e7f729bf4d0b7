"""One client that follows a terminal: how far it was sent, how far it has drawn. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from fairlead.server.terminal.output.scrollback import Scrollback

__all__ = ["Piece", "Viewer"]

WINDOW = 128 * 1024
"""Bytes that a client may have without acknowledging them: two screens of a large flood, so that
what the user sees is never far behind, and Ctrl-C takes effect at once."""

PIECE = 32 * 1024
"""Bytes of one message."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Output for one message."""

    offset: int
    data: bytes
    replay: bool
    lost: int


class Viewer:
    """The position of one client in the output."""

    def __init__(self, scrollback: Scrollback, offset: int) -> None:
        self._scrollback = scrollback
        self._live_from = scrollback.end
        known = 0 <= offset <= scrollback.end
        self._at = offset if known else scrollback.end
        """The offset of the next byte to send."""
        if not known:  # It names output of another shell: begin with what is stored.
            self._at = scrollback.start
        self._acked = self._at
        self.lagging = False
        """Whether it kept everyone waiting for too long; it is not waited for until it reads."""

    @property
    def sent(self) -> int:
        """The offset up to which it was sent."""
        return self._at

    @property
    def behind(self) -> bool:
        """Whether it must acknowledge before it gets more."""
        return self._at - self._acked >= WINDOW

    def ack(self, offset: int) -> None:
        """The client has drawn everything before this offset."""
        if self._acked < offset <= self._at:
            self._acked = offset
            self.lagging = False

    def next(self) -> Piece | None:
        """The next piece to send; None if there is none, or if the client is behind."""
        scrollback = self._scrollback
        if self.behind or self._at == scrollback.end:
            return None
        lost = max(0, scrollback.start - self._at)
        if lost:
            self._at = scrollback.start
            self._acked += lost
        most = PIECE
        replay = self._at < self._live_from
        if replay:  # A piece is either replay or live.
            most = min(most, self._live_from - self._at)
        data = scrollback.read(self._at, most)
        piece = Piece(self._at, data, replay, lost)
        self._at += len(data)
        return piece
