"""One question, one answer: a session that lives for a single prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fairlead.host.client import Client, PromptContent
from fairlead.host.options import Options
from fairlead.wire.events import Result

__all__ = ["Answer", "ask"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came of a single prompt."""

    text: str
    ok: bool
    cost_usd: float | None
    structured_output: Any
    session_id: str | None
    result: Result


async def ask(prompt: PromptContent, options: Options | None = None) -> Answer:
    """Start a CLI, ask it one thing, end it, and return the answer.

    An answer that is not `ok` is returned like any other: its text says what went wrong.
    """
    async with Client(options) as client:
        turn = await client.send(prompt)
        result = await turn
        return Answer(
            text=turn.text,
            ok=turn.ok,
            cost_usd=turn.cost_usd,
            structured_output=turn.structured_output,
            session_id=client.session_id,
            result=result,
        )
