"""Observers of a link: one order for all of them, after everything else, and one encoding."""

from __future__ import annotations

from pathlib import Path

from fairlead.host.client import Client
from fairlead.host.engine.prompts import PromptMoved
from fairlead.host.options.options import Options
from fairlead.host.process.process import Graces
from fairlead.host.requests.decisions import Allow, PermissionRequest
from fairlead.wire.decode import AnyMessage
from fairlead.wire.encode import encode
from fairlead.wire.events import Result
from fairlead.wire.inputs import Answer, Input, Prompt
from tests.encodings import counted_encodings
from tests.host.conftest import Rude, rude

__all__ = ["rude"]

QUICK = Graces(after_eof=0.5, after_term=0.5, after_kill=5.0)


class Notes:
    """An observer that records its calls, and may react to the first result."""

    def __init__(self, client: Client, *, urgent: str | None = None) -> None:
        self.client = client
        self.urgent = urgent
        self.notes: list[str] = []
        self.lines: list[tuple[Input, bytes]] = []

    def received(self, messages: list[AnyMessage], at: float) -> None:
        results = [message for message in messages if isinstance(message, Result)]
        if not results:
            return
        self.notes.append("result")
        if self.urgent is not None:
            assert self.client.busy  # The next prompt is written already.
            urgent, self.urgent = self.urgent, None
            assert self.client.send_now(urgent)

    def sent(self, message: Input, line: bytes, at: float) -> None:
        self.lines.append((message, line))
        if isinstance(message, Prompt):
            self.notes.append(message.text)

    def prompt_moved(self, move: PromptMoved, at: float) -> None:
        self.notes.append(f"{move.prompt.text} {move.state.value}")

    def exited(self, returncode: int, at: float) -> None:
        self.notes.append("exited")


def client(agent: Path, **more: object) -> Client:
    return Client(Options(agent=agent, cwd=agent.parent, graces=QUICK, **more))  # type: ignore[arg-type]


async def test_C51_all_observers_see_one_order_even_if_one_calls_the_client(rude: Rude) -> None:
    live = client(rude("flood"))
    first, second = Notes(live), Notes(live)
    live.observe(first)
    live.observe(second)
    async with live:
        await live.send("1")
        await live.send("2")
        last = await live.send("3")
        first.urgent = last.uuid
        await last
    assert first.notes == second.notes
    # The reaction to the result comes after the prompt that the result itself released.
    assert first.notes.index("result") < first.notes.index("2") < first.notes.index("3")
    assert first.notes[-1] == "exited"


async def test_C51_an_answer_and_a_prompt_are_encoded_once(rude: Rude) -> None:
    def decide(request: PermissionRequest) -> Allow:
        return Allow()

    live = client(rude("ask"), on_permission=decide)
    notes = Notes(live)
    live.observe(notes)
    with counted_encodings() as counts:
        async with live:
            await (await live.send("3"))
    assert (counts["Answer"], counts["Prompt"]) == (3, 1)
    for message, line in notes.lines:
        assert encode(message) == line
    assert sum(isinstance(message, Answer) for message, _ in notes.lines) == 3
