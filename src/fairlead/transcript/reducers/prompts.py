"""Prompts: what the user asked, from the host's hand to the CLI's echo.

A prompt is held (in the host), sent, then started by a turn or merged into one; it may be
taken back, refused or lost on the way. Which turn takes it is `queue`.
"""

from __future__ import annotations

from msgspec import structs

from fairlead.transcript.reducers import queue
from fairlead.transcript.reducers.commands import typed
from fairlead.transcript.reducers.opening import open_turn
from fairlead.transcript.state import plain
from fairlead.transcript.state.content import split
from fairlead.transcript.state.facts import (
    PromptCancelled,
    PromptEdited,
    PromptHeld,
    PromptsReordered,
)
from fairlead.transcript.state.fold import Fold
from fairlead.transcript.state.model import PromptItem, UnknownItem
from fairlead.wire.blocks import Content, TextBlock
from fairlead.wire.encode import to_object
from fairlead.wire.events import CommandLifecycle, User
from fairlead.wire.inputs import ForeignPrompt, Prompt, UnknownInput
from fairlead.wire.json_text import NotJson, parse

__all__ = [
    "command_of",
    "is_known",
    "new_prompt",
    "on_cancelled",
    "on_edited",
    "on_foreign_prompt",
    "on_held",
    "on_lifecycle",
    "on_prompt",
    "on_reordered",
    "on_unknown_input",
    "take_replay",
]

_SILENT_INPUTS = (
    "control_cancel_request",
    "control_request",
    "control_response",
    "keep_alive",
    "update_environment_variables",
)


def on_held(fold: Fold, fact: PromptHeld) -> None:
    """The host keeps a prompt until the CLI is ready."""
    if fold.item(fact.prompt.uuid) is None:
        queue.wait(fold, _item_of(fold, fact.prompt, "held"))
        fold.memory.held[fact.prompt.uuid] = to_object(fact.prompt)


def on_edited(fold: Fold, fact: PromptEdited) -> None:
    """Other words for a prompt that the host still keeps."""
    prompt = fact.prompt
    if prompt.uuid in fold.memory.held:
        text, images, files = split(prompt.content)
        fold.memory.held[prompt.uuid] = to_object(prompt)
        fold.set(
            "items",
            prompt.uuid,
            text=text,
            images=images,
            files=files,
            command=None if prompt.verbatim else command_of(text),
        )


def on_reordered(fold: Fold, fact: PromptsReordered) -> None:
    """Each goes to the end in its turn; what was written already stays before them."""
    for uuid in fact.uuids:
        if uuid in fold.memory.held:
            item = fold.item(uuid)
            fold.remove("items", uuid)
            fold.memory.waiting.remove(uuid)
            fold.add("items", item)
            fold.memory.waiting.append(uuid)


def on_prompt(fold: Fold, prompt: Prompt) -> None:
    """The host wrote a prompt. Written twice, it counts once, as it does for the CLI."""
    known = fold.item(prompt.uuid)
    fold.memory.held.pop(prompt.uuid, None)
    # The hold has done its work, and the CLI reports again whether a limit stops it.
    fold.memory.limit = fold.memory.queue_hold = None
    if known is None:
        queue.wait(fold, _item_of(fold, prompt, "sent"))
    elif isinstance(known, PromptItem) and known.state in ("held", "cancelled", "lost"):
        if prompt.uuid in fold.memory.waiting:
            fold.set("items", prompt.uuid, state="sent")
        else:
            fold.remove("items", prompt.uuid)
            queue.wait(fold, structs.replace(known, state="sent"))


def on_foreign_prompt(fold: Fold, prompt: ForeignPrompt) -> None:
    """A prompt that another host wrote; mostly it has no uuid."""
    uuid = prompt.uuid or None
    if uuid is None or fold.item(uuid) is None:
        text, images, files = split(prompt.content)
        queue.wait(
            fold,
            PromptItem(
                id=uuid or fold.number("prompt"),
                at=fold.at,
                uuid=uuid,
                text=text,
                images=images,
                files=files,
                command=command_of(text),
            ),
        )


def on_unknown_input(fold: Fold, message: UnknownInput) -> None:
    """A line of another host that is not a prompt; dropped if it has nothing to show."""
    try:
        data = parse(message.raw)
    except NotJson:
        data = None
    kind = plain.text(plain.mapping(data).get("type"))
    if kind in _SILENT_INPUTS:
        return
    fold.show(
        UnknownItem(
            id=fold.number("input"),
            turn=fold.memory.turn,
            at=fold.at,
            type=kind,
            problem=f"sent by the host: {message.problem}",
            text=message.raw.decode("utf-8", "replace") if data is None else "",
            data=data,
        )
    )


def on_cancelled(fold: Fold, fact: PromptCancelled) -> None:
    """The host took a prompt back."""
    queue.cancel(fold, fact.uuid)


def on_lifecycle(fold: Fold, message: CommandLifecycle) -> None:
    """The CLI says what became of a prompt with a uuid."""
    fold.memory.names_prompts = True
    uuid = message.command_uuid
    if message.wakeup_source is not None and message.state == "started":
        fold.memory.origin_hint = "schedule"
    if uuid not in fold.memory.waiting:
        return
    if message.state in ("started", "completed"):
        open_turn(fold)
        queue.start(fold, uuid)
    elif message.state == "cancelled":
        queue.cancel(fold, uuid)
    elif message.state in ("discarded", "refused"):
        queue.cancel(fold, uuid, "refused")


def take_replay(fold: Fold, message: User) -> None:
    """An echo: the model has begun with this prompt, and with those merged into it."""
    memory = fold.memory
    parts = _parts(message.message.content)
    known = next((uuid for uuid in (message.uuid,) if uuid in fold.document.rows["items"]), None)
    if known is None:
        known = _without_uuid(fold, parts)
        if known is not None:
            fold.set("items", known, uuid=message.uuid)
    if known is None:
        open_turn(fold)
        prompt = new_prompt(fold, message, "sent")
        queue.wait(fold, prompt)
        known = prompt.id
    if known in memory.waiting:
        open_turn(fold)
        queue.start(fold, known)
        for other in _merged_with(fold, parts):
            queue.start(fold, other)


def is_known(fold: Fold, message: User) -> bool:
    """Whether an echo belongs to a prompt that the host sent."""
    if message.uuid in fold.document.rows["items"]:
        return True
    return _without_uuid(fold, _parts(message.message.content)) is not None


def new_prompt(fold: Fold, message: User, state: str, parent: str | None = None) -> PromptItem:
    """The item of a prompt that is known only from the CLI."""
    text, images, files = split(message.message.content)
    text = typed(text)
    return PromptItem(
        id=fold.unused(message.uuid or fold.number("prompt")),
        parent=parent,
        turn=fold.turn_for(parent) if parent is not None else None,
        at=fold.at,
        uuid=message.uuid,
        text=text,
        images=images,
        files=files,
        state=state,
        command=command_of(text),
        priority=message.priority,
        by="user" if parent is None else "agent",
    )


def command_of(text: str) -> str | None:
    """The name of a prompt's slash command; None if the prompt is not a slash command."""
    if not text.startswith("/"):
        return None
    name = text[1:].split(maxsplit=1)[0] if text[1:].strip() else ""
    return name if name and "/" not in name else None


def _without_uuid(fold: Fold, parts: list[str]) -> str | None:
    """A sent prompt with these words that has no uuid yet; the running turn may have taken it."""
    turn = fold.turn
    for prompt in (*(turn.prompts if turn is not None else ()), *fold.memory.waiting):
        item = fold.item(prompt)
        if item is None or item.uuid is not None or item.state == "held":
            continue
        if item.text.strip() in parts:
            return prompt
    return None


def _merged_with(fold: Fold, parts: list[str]) -> list[str]:
    """Waiting prompts whose text is contained in the echo of another prompt."""
    if len(parts) < 2:
        return []
    waiting = [fold.item(prompt) for prompt in fold.memory.waiting]
    return [prompt.id for prompt in waiting if prompt.uuid is None and prompt.text.strip() in parts]


def _item_of(fold: Fold, prompt: Prompt, state: str) -> PromptItem:
    text, images, files = split(prompt.content)
    return PromptItem(
        id=prompt.uuid,
        at=fold.at,
        uuid=prompt.uuid,
        text=text,
        images=images,
        files=files,
        state=state,
        command=None if prompt.verbatim else command_of(text),
        priority=prompt.priority,
    )


def _parts(content: Content) -> list[str]:
    if content is None or isinstance(content, str):
        return [(content or "").strip()]
    texts = [block.text.strip() for block in content if isinstance(block, TextBlock)]
    return [*texts, split(content)[0].strip()] if len(texts) > 1 else texts
