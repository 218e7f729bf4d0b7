"""Intents about prompts: send, edit, cancel, reorder, send now, interrupt, keep a draft."""

from __future__ import annotations

from fairlead.errors import UsageError
from fairlead.server.deed import Deed
from fairlead.server.handlers import Handlers, Result
from fairlead.server.intents import (
    Attachment,
    CancelPrompt,
    EditPrompt,
    Interrupt,
    KeepDraft,
    ReorderPrompts,
    Send,
    SendNow,
)
from fairlead.server.live_session import LiveSession
from fairlead.server.refusal import Refusal
from fairlead.server.resuming import resumable
from fairlead.server.sessions import Sessions
from fairlead.store.drafts import Draft
from fairlead.transcript.facts import PromptCancelled
from fairlead.transcript.reduce import Fed
from fairlead.wire.blocks import Block, TextBlock
from fairlead.wire.inputs import Prompt

__all__ = ["HANDLERS"]


async def send(sessions: Sessions, deed: Deed, intent: Send) -> Result:
    """Take a prompt; a session that does not run is resumed for it."""
    live = await sessions.load(intent.session)
    blocks = await _blocks(sessions, intent.text, intent.attachments)
    prompt = _prompt(intent.uuid, blocks)
    options = None if live.live else await resumable(sessions, live, repair=False)
    outcome = deed.outcome(uuid=intent.uuid)
    if options is None:
        await live.prompts.hold(prompt, at_once=intent.at_once, intent=outcome)
        return {"uuid": intent.uuid}
    async with sessions.starter.expecting(live):
        await live.prompts.hold(prompt, at_once=intent.at_once, intent=outcome)
    if not live.live:  # Another prompt may have started it meanwhile.
        sessions.starter.budget(live.id).refill()
        sessions.starter.start_soon(live, options)
    return {"uuid": intent.uuid}


async def edit_prompt(sessions: Sessions, deed: Deed, intent: EditPrompt) -> Result:
    """Other words for a prompt that waits; its images and files stay."""
    live = await sessions.load(intent.session)
    before = live.prompts.held.get(intent.uuid)
    if before is None:
        raise Refusal("stale", "this prompt does not wait any more")
    kept = tuple(block for block in before.content if not isinstance(block, TextBlock))
    words = await _blocks(sessions, intent.text, ())
    await live.prompts.edit(_prompt(intent.uuid, (*words, *kept)), deed.outcome())
    return {}


async def cancel_prompt(sessions: Sessions, deed: Deed, intent: CancelPrompt) -> Result:
    """Take a prompt back."""
    live = await sessions.load(intent.session)
    held = intent.uuid in live.prompts.held
    await live.prompts.cancel(intent.uuid, deed.outcome() if held else None)
    return {}


async def reorder_prompts(sessions: Sessions, deed: Deed, intent: ReorderPrompts) -> Result:
    """Another order for the prompts that wait."""
    live = await sessions.load(intent.session)
    await live.prompts.reorder(intent.uuids, deed.outcome())
    return {}


async def send_now(sessions: Sessions, deed: Deed, intent: SendNow) -> Result:
    """Write a waiting prompt into the turn that runs."""
    live = await sessions.load(intent.session)
    live.running()
    if not live.prompts.give(intent.uuid, at_once=True):
        raise Refusal("stale", "this prompt does not wait any more")
    return {}


async def interrupt(sessions: Sessions, deed: Deed, intent: Interrupt) -> Result:
    """Stop the turn that runs, and if asked, forget what waits."""
    live = await sessions.load(intent.session)
    client = live.running()
    if intent.cancel_queued:
        await _cancel_all(live)
    live.note_stop(deed.by)
    await client.interrupt(cancel_queued=intent.cancel_queued)
    return {}


async def keep_draft(sessions: Sessions, deed: Deed, intent: KeepDraft) -> Result:
    """Keep what was typed, for this device and as a hint for the others."""
    sessions.row(intent.session)
    if len(intent.text.encode("utf-8", "replace")) > sessions.limits.draft_bytes:
        raise Refusal("too_large", f"a draft has at most {sessions.limits.draft_bytes:,} bytes")
    at = sessions.clock()
    draft = Draft(session=intent.session, device=deed.device.id, text=intent.text, at=at)
    await sessions.store.put_draft(draft)
    sessions.lobby.update("sessions", intent.session, draft=intent.text)
    return {}


async def _cancel_all(live: LiveSession) -> None:
    uuids = live.prompts.held.uuids
    if uuids:
        facts: list[Fed] = [PromptCancelled(uuid) for uuid in uuids]
        await live.record(facts)
        for uuid in uuids:
            live.prompts.held.take(uuid)


async def _blocks(
    sessions: Sessions, text: str, attachments: tuple[Attachment, ...]
) -> tuple[Block, ...]:
    limits = sessions.limits
    if len(text.encode("utf-8", "replace")) > limits.prompt_bytes:
        raise Refusal("too_large", f"a prompt has at most {limits.prompt_bytes:,} bytes")
    if len(attachments) > limits.attachments:
        raise Refusal("too_many", f"a prompt has at most {limits.attachments} attachments")
    blocks: list[Block] = [TextBlock(text=text)] if text else []
    for one in attachments:
        if sessions.upload is None:
            raise Refusal("unavailable", "this server takes no uploads")
        try:
            blocks.append(await sessions.upload(one.upload, one.name))
        except UsageError as problem:
            raise Refusal("not_found", str(problem)) from None
    return tuple(blocks)


def _prompt(uuid: str, blocks: tuple[Block, ...]) -> Prompt:
    try:
        return Prompt(uuid=uuid, content=blocks)
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
