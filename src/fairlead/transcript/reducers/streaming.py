"""Streamed messages: drafts that grow by deltas and end as the finished block says.

An item appears with the first words of its block and keeps its id when the finished block
comes. A draft that never gets its finished block is dropped (CLI-515: a cut stream is asked
again under a new message id), so the end is the same with and without streaming. This is the
hot path: one text delta is one `feed_delta`.
"""

from __future__ import annotations

from typing import Any

from fairlead.transcript.reducers import notices, pairing
from fairlead.transcript.reducers.opening import open_turn
from fairlead.transcript.state.fold import Fold
from fairlead.transcript.state.memory import Block, Stream
from fairlead.transcript.state.model import TextItem, ThinkingItem
from fairlead.wire.blocks import ServerToolUseBlock, TextBlock, ThinkingBlock, ToolUseBlock
from fairlead.wire.events import StreamEvent
from fairlead.wire.stream import (
    ContentBlockDelta,
    ContentBlockStart,
    ContentBlockStop,
    InputJsonDelta,
    MessageDelta,
    MessageStart,
    MessageStop,
    TextDelta,
    ThinkingDelta,
)

__all__ = ["drop", "feed_delta", "finish_text", "finish_thinking", "on_stream_event", "take_over"]

_ENDS = frozenset({ContentBlockStop, MessageDelta, MessageStop})
"""Events after which no block is open."""


def feed_delta(fold: Fold, message: StreamEvent, event: ContentBlockDelta) -> bool:
    """The shortest way for more of a text that is already shown; False if it is not that."""
    stream = fold.memory.streams.get(message.parent_tool_use_id)
    if stream is None:
        return False
    block = stream.blocks.get(event.index)
    if block is None:
        return False
    tail = block.tail
    if tail is None or not tail.open:
        return False
    delta = event.delta
    kind = type(delta)
    if kind is TextDelta:
        text = delta.text  # type: ignore[union-attr]
    elif kind is InputJsonDelta:
        text = delta.partial_json  # type: ignore[union-attr]
    elif kind is ThinkingDelta:
        text = delta.thinking  # type: ignore[union-attr]
    else:
        return False
    if not text:
        return True
    if fold.changes is None:
        tail.length = None
        tail.pieces.append(text)
    else:
        fold.grow("items", block.item, tail, text)  # type: ignore[arg-type]
    return True


def on_stream_event(fold: Fold, message: StreamEvent) -> bool:
    """Every other event of a stream; whether it may have changed what the session is doing."""
    event = message.event
    kind = type(event)
    if kind is MessageStart:
        _begin_message(fold, message, event)  # type: ignore[arg-type]
        return True
    stream = fold.memory.streams.get(message.parent_tool_use_id)
    if stream is None:
        return False
    if kind is ContentBlockStart:
        _begin_block(fold, stream, event, message.parent_tool_use_id)  # type: ignore[arg-type]
        return True
    if kind is ContentBlockDelta:
        _grow(fold, stream, event, message.parent_tool_use_id)  # type: ignore[arg-type]
    elif stream.open is not None and kind in _ENDS:
        stream.open = None
        return True
    return False


def drop(fold: Fold, parent_tool_use_id: str | None) -> None:
    """Forget the stream of a parent, and its drafts that no finished block has replaced."""
    for block in _end(fold, parent_tool_use_id):
        assert block.item is not None
        if block.kind == "tool":
            pairing.drop_draft(fold, block.item)
        else:
            fold.remove("items", block.item)


def cut_off(fold: Fold, parent_tool_use_id: str | None) -> None:
    """The process ended during a stream: text that was received stays, marked as cut off."""
    for block in _end(fold, parent_tool_use_id):
        assert block.item is not None
        if block.kind == "tool":
            pairing.drop_draft(fold, block.item)
        elif block.kind == "text":
            fold.set("items", block.item, complete=True, aborted=True)
        else:
            fold.set("items", block.item, complete=True)


def _end(fold: Fold, parent_tool_use_id: str | None) -> list[Block]:
    """End the stream of a parent; returns the drafts that no finished block has replaced."""
    stream = fold.memory.streams.pop(parent_tool_use_id, None)
    if stream is None:
        return []
    shown = fold.document.rows["items"]
    return [block for block in stream.blocks.values() if not block.final and block.item in shown]


def take_over(fold: Fold, parent_tool_use_id: str | None, message_id: str) -> None:
    """A finished block of another message: what was streamed before is not coming any more."""
    stream = fold.memory.streams.get(parent_tool_use_id)
    if stream is not None and stream.message != message_id:
        drop(fold, parent_tool_use_id)


def finish_text(
    fold: Fold, source: str | None, message_id: str, text: str, fields: dict[str, Any]
) -> str:
    """A finished text block; gives the id of its item."""
    return _finish(fold, source, "text", message_id, text, fields)


def finish_thinking(
    fold: Fold, source: str | None, message_id: str, text: str, fields: dict[str, Any]
) -> str:
    """A finished thinking block; gives the id of its item."""
    tokens = fold.memory.thinking_tokens
    fold.memory.thinking_tokens = None
    return _finish(fold, source, "thinking", message_id, text, {**fields, "tokens": tokens})


def _begin_message(fold: Fold, message: StreamEvent, event: MessageStart) -> None:
    source = message.parent_tool_use_id
    if source in fold.memory.streams:
        drop(fold, source)
    if source is None:
        open_turn(fold)
        notices.end_retry(fold)
    head = event.message
    fold.memory.streams[source] = Stream(
        head.id if head is not None else "", head.model if head is not None else None
    )


def _begin_block(fold: Fold, stream: Stream, event: ContentBlockStart, source: str | None) -> None:
    start = event.content_block
    kind = _KINDS.get(type(start))
    if kind is None:
        return
    block = Block(kind)
    if isinstance(start, TextBlock):
        _say(fold, stream, block, start.text, source)
    elif isinstance(start, ThinkingBlock):
        _say(fold, stream, block, start.thinking, source)
    elif isinstance(start, (ToolUseBlock, ServerToolUseBlock)):
        if not start.id:
            return
        block.item = pairing.draft(fold, start, fold.parent_of(source), stream.message)
        if block.item is not None:
            block.tail = fold.document.tail("items", block.item, "input_text")
    stream.blocks[event.index] = block
    stream.open = kind


_KINDS: dict[type, str] = {
    TextBlock: "text",
    ThinkingBlock: "thinking",
    ToolUseBlock: "tool",
    ServerToolUseBlock: "tool",
}
"""Blocks that are shown while they grow."""


def _grow(fold: Fold, stream: Stream, event: ContentBlockDelta, source: str | None) -> None:
    """The first words of a block; what follows takes the short way."""
    block = stream.blocks.get(event.index)
    if block is None or block.final or block.item is not None:
        return
    delta = event.delta
    if isinstance(delta, TextDelta):
        _say(fold, stream, block, delta.text, source)
    elif isinstance(delta, ThinkingDelta):
        _say(fold, stream, block, delta.thinking, source)


def _say(fold: Fold, stream: Stream, block: Block, text: str, source: str | None) -> None:
    """Show a block as soon as it has words: some blocks stay empty and are never finished."""
    if not text or block.kind == "tool":
        return
    parent = fold.parent_of(source)
    block.item = _new_item(fold, block.kind, stream.message, parent, stream.model)
    block.tail = fold.append("items", block.item, "text", text)


def _finish(
    fold: Fold, source: str | None, kind: str, message_id: str, text: str, fields: dict[str, Any]
) -> str:
    block = _draft_of(fold, source, kind, message_id)
    item = block.item if block is not None else None
    if item is None:
        item = _new_item(fold, kind, message_id, fold.parent_of(source), None)
    if block is not None:
        block.final = True
        block.item = item
        block.tail = None
    fold.finish("items", item, "text", text, {"complete": True, "at": fold.at, **fields})
    return item


def _draft_of(fold: Fold, source: str | None, kind: str, message_id: str) -> Block | None:
    """Blocks are finished in the order in which they began; empty ones may be passed over."""
    stream = fold.memory.streams.get(source)
    if stream is None or stream.message != message_id:
        return None
    stream.open = None
    empty = None
    for block in stream.blocks.values():
        if block.kind == kind and not block.final:
            if block.item is not None:
                return block
            empty = empty or block
    return empty


def _new_item(fold: Fold, kind: str, message_id: str, parent: str | None, model: str | None) -> str:
    if message_id:
        count = fold.memory.blocks.get(message_id, 0)
        fold.memory.blocks[message_id] = count + 1
        item_id = fold.unused(f"{message_id}/{count}")
    else:
        item_id = fold.number("block")
    make = TextItem if kind == "text" else ThinkingItem
    fold.show(
        make(
            id=item_id,
            turn=fold.turn_for(parent),
            parent=parent,
            at=fold.at,
            message=message_id or None,
            model=model,
        )
    )
    return item_id
