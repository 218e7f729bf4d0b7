"""Compaction: the history is put into a few words, by command or when the window is full.

The order of the lines is the CLI's: a status, the boundary, and after an automatic one the
summary as a synthetic user line (TRUTH 1.5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairlead.emulator.cost import model_of
from fairlead.emulator.usage_report import BUFFER_TOKENS

if TYPE_CHECKING:
    from fairlead.emulator.engine import Engine

__all__ = ["compact", "is_due"]

SUMMARY_TOKENS = 500


def is_due(engine: Engine) -> bool:
    """Whether the next request would not fit any more."""
    session = engine.session
    window = model_of(session.profile, session.model).context_window
    return session.spending.context_tokens > window - BUFFER_TOKENS


def compact(engine: Engine, trigger: str) -> None:
    """Replace the history by a summary, and say so."""
    session, talk = engine.session, engine.talk
    before = session.spending.context_tokens
    if trigger == "auto":
        announce(engine)
    summary = f"This conversation goes on from an earlier one of {len(talk.messages)} messages."
    metadata: dict[str, Any] = {"trigger": trigger, "pre_tokens": before}
    fields: dict[str, Any] = {"compact_metadata": metadata}
    if session.profile.is_modern:
        metadata |= {
            "post_tokens": SUMMARY_TOKENS,
            "cumulative_dropped_tokens": max(0, before - SUMMARY_TOKENS),
        }
        fields["logical_parent_uuid"] = session.new_id()
    engine.voice.system("compact_boundary", **fields)
    engine.scribe.system(talk, "compact_boundary", content="Conversation compacted")
    kept = talk.messages[-1:] if trigger == "auto" else []
    talk.messages = []
    talk.note(summary)
    talk.messages += kept
    session.spending.context_tokens = SUMMARY_TOKENS
    if trigger == "auto":
        engine.voice.user([{"type": "text", "text": summary}], isSynthetic=True)


def announce(engine: Engine) -> None:
    """The two status lines around the work."""
    engine.voice.status("compacting")
    done = {"compact_result": "success"} if engine.session.profile.is_modern else {}
    engine.voice.status(None, **done)
