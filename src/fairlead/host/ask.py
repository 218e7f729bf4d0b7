"""One question, one answer: a session that lives for a single prompt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fairlead.errors import TurnFailed
from fairlead.host.client import Client, PromptContent
from fairlead.host.options.options import Options
from fairlead.wire.events import Result

__all__ = ["Answer", "ask"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The outcome of a single prompt."""

    text: str
    ok: bool
    cost_usd: float | None
    structured_output: Any
    session_id: str | None
    errors: tuple[str, ...] = ()
    """What went wrong; empty if it is `ok`."""
    result: Result = field(repr=False)

    def raise_for_error(self) -> None:
        """Raise `TurnFailed` unless the answer is `ok`."""
        if not self.ok:
            raise TurnFailed(self.result.subtype, self.errors, self.text)


async def ask(
    prompt: PromptContent, options: Options | None = None, *, verbatim: bool = True
) -> Answer:
    """Start a CLI, ask it one thing, end it, and return the answer.

    The prompt reaches the model unchanged, because programs often build it from untrusted text:
    an `@path` in it attaches no file and a leading `/` runs no command. With `verbatim=False`
    the CLI treats it as if a user had typed it.

    An answer that is not `ok` is returned like any other: `errors` says what went wrong, and
    `raise_for_error` raises it.
    """
    async with Client(options) as client:
        turn = await client.send(prompt, verbatim=verbatim)
        result = await turn
        return Answer(
            text=turn.text,
            ok=turn.ok,
            cost_usd=turn.cost_usd,
            structured_output=turn.structured_output,
            session_id=client.session_id,
            errors=turn.errors,
            result=result,
        )
