"""Finished lines of the conversation: the model's messages, and the results sent back to it.

An `assistant` line is one finished block; a `user` line is a tool's result, an echo, a
command's output, an interruption or an injected text. A line counts once, by its uuid, and can
be withdrawn by it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fairlead.transcript.reducers import (
    commands,
    context,
    notices,
    pairing,
    prompts,
    queue,
    streaming,
)
from fairlead.transcript.reducers.opening import open_turn
from fairlead.transcript.state import plain
from fairlead.transcript.state.content import as_plain
from fairlead.transcript.state.fold import Fold
from fairlead.transcript.state.model import UnknownItem
from fairlead.wire.blocks import (
    RedactedThinkingBlock,
    ServerToolResultBlock,
    ServerToolUseBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UnknownBlock,
)
from fairlead.wire.events import Assistant, Tombstone, User
from fairlead.wire.system import LocalCommandOutput, ModelRefusalFallback

__all__ = [
    "INTERRUPTED",
    "on_assistant",
    "on_local_command_output",
    "on_refusal_fallback",
    "on_tombstone",
    "on_user",
]

INTERRUPTED = "[Request interrupted by user"
"""How the CLI's note about an interruption begins, on every version (CLI-203)."""


def on_assistant(fold: Fold, message: Assistant) -> None:
    """A finished block of the model's message."""
    memory = fold.memory
    source, said = message.parent_tool_use_id, message.message
    if message.supersedes:
        _withdraw(fold, message.supersedes)
    memory.just_compacted = False
    main = source is None
    synthetic = said.model == commands.SYNTHETIC
    if main:
        open_turn(fold)
        notices.end_retry(fold)
    if not synthetic:
        streaming.take_over(fold, source, said.id)
        if main:
            queue.start_folded(fold)
            if said.usage is not None:
                context.take_usage(fold, said.model, said.usage)
    made = _special(fold, message) if main else None
    if made is None:
        made = tuple([item for block in said.content if (item := _take(fold, message, block))])
    if message.uuid:
        memory.made[message.uuid] = made


def on_user(fold: Fold, message: User) -> None:
    """A line in the user's name."""
    content = message.message.content
    made: tuple[str, ...] = ()
    if isinstance(content, tuple):
        for block in content:
            if isinstance(block, ToolResultBlock):
                made += (pairing.take_result(fold, block, message),)
    if not made:
        made = _take_words(fold, message)
    elif message.parent_tool_use_id is None:
        fold.memory.foldable = queue.foldable(fold)
    if message.uuid and made:
        fold.memory.made[message.uuid] = made


def on_local_command_output(fold: Fold, message: LocalCommandOutput) -> None:
    """A command's output as a line of its own."""
    commands.show_output(fold, message.content, message.uuid)


def on_tombstone(fold: Fold, message: Tombstone) -> None:
    """A message shown before is withdrawn."""
    withdrawn = plain.text(plain.mapping(message.message).get("uuid"))
    _withdraw(fold, (withdrawn,) if withdrawn else ())


def on_refusal_fallback(fold: Fold, message: ModelRefusalFallback) -> None:
    """Another model answers; the messages of the first model are discarded."""
    _withdraw(fold, message.retracted_message_uuids or ())
    notices.on_simple(fold, message)


def _withdraw(fold: Fold, uuids: tuple[str, ...]) -> None:
    """Take away the items that these lines made."""
    for uuid in uuids:
        for item_id in fold.memory.made.pop(uuid, ()):
            if fold.item(item_id) is None:
                continue
            if item_id in fold.memory.waiting:
                fold.memory.waiting.remove(item_id)
            pairing.withdraw(fold, item_id)
            fold.remove("items", item_id)


def _special(fold: Fold, message: Assistant) -> tuple[str, ...] | None:
    """Lines that the CLI writes in the model's name."""
    if message.error is not None or message.is_api_error_message:
        data = {"error": message.error, "status": message.api_error_status}
        fold.memory.turn_has_words = True
        return (
            notices.note(
                fold, "api_error", message.text, uuid=message.uuid, level="error", data=data
            ),
        )
    item = commands.take_synthetic(fold, message)
    return None if item is None else (item,)


def _take(fold: Fold, message: Assistant, block: Any) -> str | None:
    """One block of a line; gives the id of its item."""
    take = _BLOCKS.get(type(block))
    if take is not None:
        return take(fold, message, block)
    if isinstance(block, ServerToolResultBlock):
        return pairing.finish_api_tool(fold, block.tool_use_id, block.content)
    return _show_unknown(fold, block, fold.parent_of(message.parent_tool_use_id))


def _take_text(fold: Fold, message: Assistant, block: TextBlock) -> str | None:
    if not block.text:
        return None
    source = message.parent_tool_use_id
    if source is None:
        fold.memory.turn_has_words = True
    fields = {
        "model": message.message.model,
        "aborted": message.aborted is True,
        "citations": block.citations,
    }
    return streaming.finish_text(fold, source, message.message.id, block.text, fields)


def _take_thinking(
    fold: Fold, message: Assistant, block: ThinkingBlock | RedactedThinkingBlock
) -> str | None:
    redacted = isinstance(block, RedactedThinkingBlock)
    text = "" if isinstance(block, RedactedThinkingBlock) else block.thinking
    if not text and not redacted and fold.memory.thinking_tokens is None:
        return None
    fields = {
        "model": message.message.model,
        "redacted": redacted,
        "duration_ms": message.thinking_duration_ms,
    }
    return streaming.finish_thinking(
        fold, message.parent_tool_use_id, message.message.id, text, fields
    )


def _take_call(fold: Fold, message: Assistant, block: ToolUseBlock | ServerToolUseBlock) -> str:
    meta = None
    if message.tool_use_meta is not None:
        rows = plain.rows(message.tool_use_meta)
        meta = next((row for row in rows if row.get("id") == block.id), None)
    parent = fold.parent_of(message.parent_tool_use_id)
    return pairing.take_call(fold, block, parent, message.message.id, meta)


_BLOCKS: dict[type, Callable[[Fold, Assistant, Any], str | None]] = {
    TextBlock: _take_text,
    ThinkingBlock: _take_thinking,
    RedactedThinkingBlock: _take_thinking,
    ToolUseBlock: _take_call,
    ServerToolUseBlock: _take_call,
}
"""How the usual blocks are taken."""


def _show_unknown(fold: Fold, block: Any, parent: str | None) -> str:
    unknown = isinstance(block, UnknownBlock)
    item_id = fold.number("block")
    fold.show(
        UnknownItem(
            id=item_id,
            turn=fold.turn_for(parent),
            parent=parent,
            at=fold.at,
            type=f"block/{block.type_name}" if unknown else f"block/{type(block).__name__}",
            problem=block.problem if unknown else "",
            data=as_plain(block),
        )
    )
    return item_id


def _take_words(fold: Fold, message: User) -> tuple[str, ...]:
    text = message.text
    summary = fold.memory.just_compacted and not prompts.is_known(fold, message)
    fold.memory.just_compacted = False
    if message.parent_tool_use_id is not None:
        item = prompts.new_prompt(
            fold, message, "started", fold.parent_of(message.parent_tool_use_id)
        )
        fold.show(item)
        return (item.id,)
    if commands.is_output(text):
        return (commands.show_output(fold, text, message.uuid),)
    if message.is_synthetic or summary:
        return (notices.note(fold, "injected", text, uuid=message.uuid),)
    if text.startswith(INTERRUPTED):
        fold.memory.interrupting = True
        if fold.memory.host_stopping:
            return ()  # The CLI writes this for a signal too; the turn's outcome says what it was.
        return (notices.note(fold, "interrupted", text, uuid=message.uuid, level="warning"),)
    prompts.take_replay(fold, message)
    return ()
