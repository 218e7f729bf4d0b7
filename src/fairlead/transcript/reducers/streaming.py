"""Streamed messages: drafts that grow by deltas and end as the finished block says.

An item appears with the first words of its block and keeps its id when the finished block
comes. A draft that never gets its finished block is dropped (CLI-515: a cut stream is asked
again under a new message id), so the end is the same with and without streaming. This is the
hot path: a run of deltas is one `feed_deltas`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fairlead.transcript.reducers import notices, pairing
from fairlead.transcript.reducers.opening import open_turn
from fairlead.transcript.state.fold import LAST_EVENT_STEP_S, Fold
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

__all__ = ["drop", "feed_deltas", "finish_text", "finish_thinking", "on_stream_event", "take_over"]


def feed_deltas(
    fold: Fold, message: StreamEvent, at: float, values: Iterator[tuple[Any, float]]
) -> tuple[Any, float] | None:
    """Take in a delta, and those of the same block that follow it in `values`.

    Returns the value after them, or None if there is none. A run of deltas is one piece of the text
    and one change, unless the time of the last event is due in between.
    """
    source = message.parent_tool_use_id
    event: Any = message.event
    index = event.index
    fold.at = at
    stream = fold.memory.streams.get(source)
    block = None if stream is None else stream.blocks.get(index)
    if block is None or (tail := block.tail) is None or not tail.open:
        if block is not None:
            _begin_text(fold, stream, block, event.delta, source)  # type: ignore[arg-type]
        if at - fold.touched >= LAST_EVENT_STEP_S:
            fold.touch()
        return next(values, None)
    pieces: list[str] = []
    due = fold.touched + LAST_EVENT_STEP_S
    while True:
        delta = event.delta
        kind = type(delta)
        if kind is TextDelta:
            pieces.append(delta.text)
        elif kind is InputJsonDelta:
            pieces.append(delta.partial_json)
        elif kind is ThinkingDelta:
            pieces.append(delta.thinking)
        if at >= due:
            _extend(fold, block, pieces)
            fold.at = at
            fold.touch()
            due = at + LAST_EVENT_STEP_S
        # The next value: a delta of the same block continues the run, anything else ends it.
        for fed, at in values:
            if type(fed) is StreamEvent:
                event = fed.event
                if (
                    type(event) is ContentBlockDelta
                    and event.index == index
                    and fed.parent_tool_use_id == source
                ):
                    break
            _extend(fold, block, pieces)
            return fed, at
        else:
            _extend(fold, block, pieces)
            return None


def _extend(fold: Fold, block: Block, pieces: list[str]) -> None:
    """Add pieces to the text of a block, and clear them."""
    text = "".join(pieces)
    if text:
        fold.grow("items", block.item, block.tail, text)  # type: ignore[arg-type]
        pieces.clear()


def on_stream_event(fold: Fold, message: StreamEvent) -> bool:
    """An event of a stream that is no delta; whether it may have changed what the session is doing."""
    event = message.event
    take = _EVENTS.get(type(event))
    return take is not None and take(fold, message, event)


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


def _begin_message(fold: Fold, message: StreamEvent, event: MessageStart) -> bool:
    source = message.parent_tool_use_id
    memory = fold.memory
    if source in memory.streams:
        drop(fold, source)
    if source is None:
        open_turn(fold)
        notices.end_retry(fold)
    head = event.message
    memory.streams[source] = Stream("", None) if head is None else Stream(head.id, head.model)
    return True


def _begin_block(fold: Fold, message: StreamEvent, event: ContentBlockStart) -> bool:
    source = message.parent_tool_use_id
    stream = fold.memory.streams.get(source)
    if stream is None:
        return False
    start = event.content_block
    kind = _KINDS.get(type(start))
    if kind is None:
        return True
    block = Block(kind)
    if kind == "tool":
        if not start.id:  # type: ignore[union-attr]
            return True
        block.item = pairing.draft(fold, start, fold.parent_of(source), stream.message)  # type: ignore[arg-type]
        if block.item is not None:
            block.tail = fold.document.tail("items", block.item, "input_text")
    else:
        text = start.text if kind == "text" else start.thinking  # type: ignore[union-attr]
        if text:
            _say(fold, stream, block, text, source)
    stream.blocks[event.index] = block
    stream.open = kind
    return True


def _end_block(fold: Fold, message: StreamEvent, event: Any) -> bool:
    stream = fold.memory.streams.get(message.parent_tool_use_id)
    if stream is None or stream.open is None:
        return False
    stream.open = None
    return True


_EVENTS: dict[type, Callable[[Fold, StreamEvent, Any], bool]] = {
    MessageStart: _begin_message,
    ContentBlockStart: _begin_block,
    ContentBlockStop: _end_block,
    MessageDelta: _end_block,
    MessageStop: _end_block,
}

_KINDS: dict[type, str] = {
    TextBlock: "text",
    ThinkingBlock: "thinking",
    ToolUseBlock: "tool",
    ServerToolUseBlock: "tool",
}
"""Blocks that are shown while they grow."""


def _begin_text(fold: Fold, stream: Stream, block: Block, delta: Any, source: str | None) -> None:
    """Show a block with its first words, because some blocks stay empty and are never finished.

    What follows takes the short way.
    """
    if block.final or block.item is not None or block.kind == "tool":
        return
    kind = type(delta)
    text = delta.text if kind is TextDelta else delta.thinking if kind is ThinkingDelta else ""
    if text:
        _say(fold, stream, block, text, source)


def _say(fold: Fold, stream: Stream, block: Block, text: str, source: str | None) -> None:
    item = _new_item(fold, block.kind, stream.message, fold.parent_of(source), stream.model)
    block.item = item.id
    block.tail = fold.begin(item, "text", text)


def _finish(
    fold: Fold, source: str | None, kind: str, message_id: str, text: str, fields: dict[str, Any]
) -> str:
    block = _draft_of(fold, source, kind, message_id)
    item = block.item if block is not None else None
    if item is None:
        row = _new_item(fold, kind, message_id, fold.parent_of(source), None)
        item = row.id
        fold.show(row)
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


def _new_item(
    fold: Fold, kind: str, message_id: str, parent: str | None, model: str | None
) -> TextItem | ThinkingItem:
    """An item for a block, which is not shown yet."""
    memory = fold.memory
    if message_id:
        count = memory.blocks.get(message_id, 0)
        memory.blocks[message_id] = count + 1
        item_id = fold.unused(f"{message_id}/{count}")
    else:
        item_id = fold.number("block")
    make = TextItem if kind == "text" else ThinkingItem
    return make(
        id=item_id,
        turn=memory.turn if parent is None else fold.turn_for(parent),
        parent=parent,
        at=fold.at,
        message=message_id or None,
        model=model,
    )
