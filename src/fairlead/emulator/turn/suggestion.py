"""The prompt that the CLI suggests after a turn."""

from __future__ import annotations

from fairlead.emulator.turn.parts import TurnParts
from fairlead.model_api.replies import Usage

__all__ = ["suggest"]

LEAST_BLOCKS = 2
"""Blocks of the model's messages before the CLI asks for a suggestion (CLI-1715)."""

ANSWER_S = 0.1
"""How long the model takes to answer; a prompt that arrives before prevents the suggestion."""


def suggest(parts: TurnParts) -> None:
    """Suggest a next prompt, if the host wants that and no prompt is queued (CLI-1712, CLI-1715)."""
    session = parts.session
    is_wanted = session.suggests_prompts
    if is_wanted is None:
        is_wanted = session.arguments.one("--prompt-suggestions") == "true"
    text = parts.player.suggestion()
    is_early = session.conversation.said_blocks < LEAST_BLOCKS
    if not is_wanted or text is None or is_early or session.mode == "plan" or len(parts.inbox):
        return
    session.awaits_suggestion = True
    parts.effects.spawn(_write_later(parts, text, session.turns_begun))


async def _write_later(parts: TurnParts, text: str, turn: int) -> None:
    await parts.effects.sleep(ANSWER_S)
    session = parts.session
    if session.turns_begun != turn:
        return
    session.awaits_suggestion = False
    session.spending.add(session.model, Usage().at_end())
    ids = {"uuid": session.new_id(), "session_id": session.session_id}
    parts.output.raw({"type": "prompt_suggestion", "suggestion": text, **ids})
    parts.turns.maybe_exit()
