"""The model's text in pieces, extracted from a stream of messages. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from fairlead.wire.decode import AnyMessage
from fairlead.wire.events import Assistant, StreamEvent
from fairlead.wire.stream import ContentBlockDelta, TextDelta

__all__ = ["TextPieces", "delta_of"]

SEPARATOR = "\n\n"
"""Between two texts of one turn."""


def delta_of(message: AnyMessage) -> str:
    """The text that a message adds to an unfinished text of the main conversation."""
    if type(message) is not StreamEvent or message.parent_tool_use_id is not None:
        return ""
    event = message.event
    if type(event) is not ContentBlockDelta or type(event.delta) is not TextDelta:
        return ""
    return event.delta.text


class TextPieces:
    """Turns messages into pieces of text, each text once."""

    def __init__(self) -> None:
        self._streamed = ""
        self._texts = 0

    def of(self, message: AnyMessage) -> Iterator[str]:
        """The pieces in one message: usually none or one."""
        delta = delta_of(message)
        if delta:
            if not self._streamed:
                yield from self._begin()
            self._streamed += delta
            yield delta
        elif type(message) is Assistant and message.parent_tool_use_id is None and message.text:
            # The finished text follows its deltas; without them it is the first we see of it.
            if not self._streamed:
                yield from self._begin()
                yield message.text
            elif message.text.startswith(self._streamed):
                rest = message.text[len(self._streamed) :]
                if rest:
                    yield rest
            self._streamed = ""

    def _begin(self) -> Iterator[str]:
        self._texts += 1
        if self._texts > 1:
            yield SEPARATOR
