"""Intents about prompts: send, edit, cancel, reorder, send now, interrupt, save a draft."""

from __future__ import annotations

from fairlead.errors import UsageError
from fairlead.server.intents.context import IntentContext
from fairlead.server.intents.handlers import Handlers, Result
from fairlead.server.intents.resuming import resumable
from fairlead.server.protocol.intents import (
    Attachment,
    CancelPrompt,
    EditPrompt,
    Interrupt,
    KeepDraft,
    ReorderPrompts,
    Send,
    SendNow,
)
from fairlead.server.protocol.lobby_rows import DraftMark
from fairlead.server.refusal import Refusal
from fairlead.server.sessions.sessions import Sessions
from fairlead.store.tables.drafts import Draft
from fairlead.wire.blocks import Block, TextBlock
from fairlead.wire.inputs import Prompt

__all__ = ["HANDLERS"]

DRAFTS_LISTED = 8
"""Most drafts of one session that the lobby lists, the newest first."""


async def send(sessions: Sessions, context: IntentContext, intent: Send) -> Result:
    """Queue a prompt; a session that does not run is resumed for it."""
    live = await sessions.load(intent.session)
    blocks = await _blocks(sessions, intent.text, intent.attachments)
    prompt = _prompt(intent.uuid, blocks, verbatim=intent.verbatim)
    options = None if live.live else await resumable(sessions, live, repair=False)
    outcome = context.outcome(uuid=intent.uuid)
    if options is None:
        await live.prompts.add(prompt, at_once=intent.at_once, intent=outcome)
        return {"uuid": intent.uuid}
    async with sessions.starter.expecting(live):
        await live.prompts.add(prompt, at_once=intent.at_once, intent=outcome)
    if not live.live:  # Another prompt may have started it in the meantime.
        sessions.starter.budget(live.id).refill()
        sessions.starter.start_soon(live, options)
    return {"uuid": intent.uuid}


async def edit_prompt(sessions: Sessions, context: IntentContext, intent: EditPrompt) -> Result:
    """Replace the text of a queued prompt; its images and files stay."""
    live = await sessions.load(intent.session)
    before = live.prompts.get(intent.uuid)
    if before is None:
        raise Refusal("stale", f"Prompt {intent.uuid} is no longer queued.")
    attached = tuple(block for block in before.content if not isinstance(block, TextBlock))
    text = await _blocks(sessions, intent.text, ())
    verbatim = before.verbatim if intent.verbatim is None else intent.verbatim
    edited = _prompt(intent.uuid, (*text, *attached), verbatim=verbatim)
    await live.prompts.edit(edited, context.outcome())
    return {}


async def cancel_prompt(sessions: Sessions, context: IntentContext, intent: CancelPrompt) -> Result:
    """Remove a queued prompt."""
    live = await sessions.load(intent.session)
    await live.prompts.cancel(intent.uuid, context.outcome)
    return {}


async def reorder_prompts(
    sessions: Sessions, context: IntentContext, intent: ReorderPrompts
) -> Result:
    """Change the order of the queued prompts."""
    live = await sessions.load(intent.session)
    await live.prompts.reorder(intent.uuids, context.outcome())
    return {}


async def send_now(sessions: Sessions, context: IntentContext, intent: SendNow) -> Result:
    """Send a queued prompt into the current turn."""
    live = await sessions.load(intent.session)
    live.running()
    await live.prompts.send_now(intent.uuid)
    return {}


async def interrupt(sessions: Sessions, context: IntentContext, intent: Interrupt) -> Result:
    """Stop the current turn, and remove the queued prompts if the intent asks for it."""
    live = await sessions.load(intent.session)
    client = live.running()
    if intent.cancel_queued:
        await live.prompts.cancel_all()
    live.note_stop(context.by)
    await client.interrupt(cancel_queued=intent.cancel_queued)
    return {}


async def keep_draft(sessions: Sessions, context: IntentContext, intent: KeepDraft) -> Result:
    """Store the draft of this device; other devices see that it exists, not its text."""
    sessions.row(intent.session)
    if len(intent.text.encode("utf-8", "replace")) > sessions.limits.draft_bytes:
        raise Refusal(
            "too_large", f"A draft can have at most {sessions.limits.draft_bytes:,} bytes."
        )
    at = sessions.clock()
    draft = Draft(session=intent.session, device=context.device.id, text=intent.text, at=at)
    await sessions.store.put_draft(draft)
    row = sessions.lobby.session(intent.session)
    if row is not None:
        others = [draft for draft in row.drafts if draft.device != context.device.id]
        own = [DraftMark(device=context.device.id, at=at)] if intent.text.strip() else []
        drafts = tuple([*own, *others][:DRAFTS_LISTED])
        sessions.lobby.update("sessions", intent.session, drafts=drafts)
    return {}


async def _blocks(
    sessions: Sessions, text: str, attachments: tuple[Attachment, ...]
) -> tuple[Block, ...]:
    limits = sessions.limits
    if len(text.encode("utf-8", "replace")) > limits.prompt_bytes:
        raise Refusal("too_large", f"A prompt can have at most {limits.prompt_bytes:,} bytes.")
    if len(attachments) > limits.attachments:
        raise Refusal("too_many", f"A prompt can have at most {limits.attachments} attachments.")
    blocks: list[Block] = [TextBlock(text=text)] if text else []
    for attachment in attachments:
        if sessions.upload is None:
            raise Refusal("unavailable", "This server does not accept uploads.")
        try:
            blocks.append(await sessions.upload(attachment.upload, attachment.name))
        except UsageError as problem:
            raise Refusal("not_found", str(problem)) from None
    return tuple(blocks)


def _prompt(uuid: str, blocks: tuple[Block, ...], *, verbatim: bool) -> Prompt:
    try:
        return Prompt(uuid=uuid, content=blocks, verbatim=verbatim)
    except UsageError as problem:
        raise Refusal("bad_message", str(problem)) from None


HANDLERS: Handlers = {
    Send: send,
    EditPrompt: edit_prompt,
    CancelPrompt: cancel_prompt,
    ReorderPrompts: reorder_prompts,
    SendNow: send_now,
    Interrupt: interrupt,
    KeepDraft: keep_draft,
}
