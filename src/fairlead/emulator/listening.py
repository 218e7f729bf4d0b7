"""Listens to the model: one request, its events, its retries, its interruption.

Asks the player for a reply and says it as the CLI does: a line for each finished block, the raw
events with partial messages, retries as the version reports them (TRUTH 1.5). What a tool use
leads to is not decided here: `on_tool` is told of each one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fairlead.emulator.conversation import Conversation
from fairlead.emulator.cost import TurnUse
from fairlead.emulator.player import Played, Wait
from fairlead.emulator.replies import Failure, Reply, stream_events, whole_message
from fairlead.emulator.strands import Interrupted

if TYPE_CHECKING:
    from fairlead.emulator.engine import Engine

__all__ = ["Heard", "Listener"]

MOST_RETRIES = 10
FIRST_RETRY_S = 0.5


@dataclass(slots=True)
class Heard:
    """What came of one request."""

    message_id: str = ""
    blocks: list[dict[str, Any]] = field(default_factory=list)
    stop_reason: str | None = None
    failure: Failure | None = None
    was_streamed: bool = True

    @property
    def text(self) -> str:
        """The last text, which becomes the result of the turn."""
        texts = [b["text"] for b in self.blocks if b["type"] == "text"]
        return texts[-1] if texts else ""


@dataclass(slots=True)
class _Draft:
    """The block that is being said."""

    block: dict[str, Any] = field(default_factory=dict)
    json_text: str = ""
    is_open: bool = False

    def begin(self, block: Mapping[str, Any]) -> None:
        self.block, self.json_text, self.is_open = dict(block), "", True

    def add(self, delta: Mapping[str, Any]) -> None:
        kind = delta["type"]
        if kind == "text_delta":
            self.block["text"] += delta["text"]
        elif kind == "thinking_delta":
            self.block["thinking"] += delta["thinking"]
        elif kind == "signature_delta":
            self.block["signature"] = delta["signature"]
        else:
            self.json_text += delta["partial_json"]

    def end(self) -> dict[str, Any]:
        self.is_open = False
        if self.block["type"] == "tool_use":
            self.block["input"] = json.loads(self.json_text or "{}")
        return self.block


class Listener:
    """Makes one request for a conversation."""

    def __init__(
        self,
        engine: Engine,
        talk: Conversation,
        *,
        uuids: tuple[str, ...] = (),
        on_start: Callable[[], None] = lambda: None,
        on_tool: Callable[[dict[str, Any]], None] = lambda block: None,
        on_abort: Callable[[], None] = lambda: None,
        on_announce: Callable[[dict[str, Any]], None] = lambda block: None,
    ) -> None:
        self._engine = engine
        self._talk = talk
        self._uuids = uuids
        self._on_start = on_start
        self._on_tool = on_tool
        self._on_abort = on_abort
        self._on_announce = on_announce
        self._heard = Heard()
        self._draft = _Draft()
        self._pieces = 0
        self._estimated_tokens = 0
        self._usage: dict[str, Any] = {}

    @property
    def _model(self) -> str:
        return self._talk.model or self._engine.session.model

    async def listen(self) -> Heard:
        """Ask, and hear the reply to its end."""
        session = self._engine.session
        modern = session.profile.is_modern
        if modern and session.partial and self._talk.is_main:
            extra = {"user_message_uuids": list(self._uuids)} if self._uuids else {}
            self._engine.voice.status("requesting", **extra)
        attempt = 0
        while True:
            played = self._engine.player.reply(self._talk.ask(session.place.cwd))
            if isinstance(played.answer, Reply):
                break
            attempt += 1
            await self._pause_before(played, 0)
            if not await self._goes_on(played.answer, attempt):
                self._on_start()
                self._heard.failure = played.answer
                return self._heard
        if self._heard.was_streamed:
            await self._stream(played, played.answer)
        else:
            self._take_whole(played, played.answer)
        return self._heard

    async def _goes_on(self, failure: Failure, attempt: int) -> bool:
        """Whether to try again after a failure; waits as long as that takes."""
        profile = self._engine.session.profile
        if failure.headers.get("x-should-retry") == "false":
            return False
        if failure.status == 404:
            self._heard.was_streamed = False
            return attempt == 1
        if failure.status == 400:
            return profile.is_modern and attempt == 1
        retries = failure.status in (401, 408, 409, 429) or failure.status >= 500
        if not retries or attempt > MOST_RETRIES:
            return False
        delay = float(failure.headers.get("retry-after", FIRST_RETRY_S * 2 ** (attempt - 1)))
        if profile.reports_retries:
            self._engine.voice.system(
                "api_retry",
                attempt=attempt,
                max_retries=MOST_RETRIES,
                retry_delay_ms=round(delay * 1000),
                error_status=failure.status,
                error=_retry_word(failure.status),
            )
        await self._engine.sleep(delay)
        return True

    def _take_whole(self, played: Played, reply: Reply) -> None:
        """The reply to a request that was not streamed: one line per block, already complete."""
        session = self._engine.session
        message = whole_message(
            reply, message_id=self._engine.message_id(played), model=session.model
        )
        self._on_start()
        self._heard.message_id = message["id"]
        message.pop("stop_sequence", None)
        blocks = message.pop("content")
        self._usage = dict(message["usage"])
        modern = session.profile.is_modern
        if modern:
            whole = TurnUse()
            whole.add(self._usage)
            message["usage"] = whole.report(modern=True)
        for block in blocks:
            line = {**message, "content": [block], "context_management": None}
            said = self._engine.voice.assistant(line, **self._line_fields(request=False))
            self._keep(block, said)
        self._heard.stop_reason = reply.final_stop_reason
        # The old version does not count what was not streamed (rec 2.1.38/err_404).
        self._engine.spent(self._talk, self._usage if modern else {})

    async def _stream(self, played: Played, reply: Reply) -> None:
        message_id = self._engine.message_id(played)
        self._heard.message_id = message_id
        started = False
        try:
            for event in stream_events(reply, message_id=message_id, model=self._model):
                if event["type"] == "ping":
                    continue
                is_delta = event["type"] == "content_block_delta"
                await self._pause_before(played, self._pieces, holds=is_delta or not started)
                if not started:
                    started = True
                    self._on_start()
                await self._event(event, message_id, reply)
                if is_delta:
                    self._pieces += 1
                await self._engine.loom.breathe()
        except Interrupted:
            self._abort(message_id, started)
            raise
        self._heard.stop_reason = reply.final_stop_reason
        self._engine.spent(self._talk, reply.usage.at_end())

    async def _pause_before(self, played: Played, piece: int, *, holds: bool = True) -> None:
        if not holds:
            return
        for wait in played.waits:
            if wait.before == piece:
                await self._wait(wait)
        if played.pace:
            await self._engine.sleep(played.pace)

    async def _wait(self, wait: Wait) -> None:
        if wait.seconds:
            await self._engine.sleep(wait.seconds)
        if wait.inputs:
            await self._engine.more_inputs(wait.inputs)
        if wait.forever:
            await self._engine.for_ever()

    async def _event(self, event: dict[str, Any], message_id: str, reply: Reply) -> None:
        kind = event["type"]
        if kind == "message_start":
            self._usage = dict(event["message"]["usage"])
        elif kind == "content_block_start":
            self._draft.begin(event["content_block"])
        elif kind == "content_block_delta":
            self._count_thinking(event["delta"])
            self._draft.add(event["delta"])
        elif kind == "content_block_stop":
            block = self._draft.end()
            self._say_block(block)
        self._echo(event, message_id)
        if kind == "content_block_stop" and self._draft.block["type"] == "tool_use":
            self._on_tool(self._draft.block)

    def _count_thinking(self, delta: Mapping[str, Any]) -> None:
        modern = self._engine.session.profile.is_modern
        if not modern or delta["type"] != "thinking_delta" or not self._talk.is_main:
            return
        tokens = max(1, len(delta["thinking"]) // 4)
        self._estimated_tokens += tokens
        self._engine.voice.system(
            "thinking_tokens",
            estimated_tokens=self._estimated_tokens,
            estimated_tokens_delta=tokens,
        )

    def _echo(self, event: dict[str, Any], message_id: str) -> None:
        if not (self._engine.session.partial and self._talk.is_main):
            return
        fields: dict[str, Any] = {}
        kind = event["type"]
        if kind == "message_start":
            fields = {"ttft_ms": 1, "thinking_display": "updates"}
            if self._uuids:
                fields |= self._uuid_fields()
                fields["owed_rows"] = []
        elif self._is_thinking(event):
            fields = {"thinking_display": "updates"}
        self._engine.voice.stream_event(event, message_id, **fields)

    def _is_thinking(self, event: Mapping[str, Any]) -> bool:
        if event["type"] == "content_block_start":
            return bool(event["content_block"]["type"] == "thinking")
        return bool(event.get("delta", {}).get("type") == "thinking_delta")

    def _say_block(self, block: dict[str, Any]) -> None:
        fields = self._line_fields()
        modern = self._engine.session.profile.is_modern
        if block["type"] == "tool_use":
            self._on_announce(block)
        if block["type"] == "thinking" and modern:
            fields |= {"thinking_duration_ms": 1, "thinking_display": "updates"}
        if block["type"] == "tool_use" and modern:
            fields |= self._engine.mcp.use_meta(block)
        shown = self._talk.is_main or self._talk.is_background or block["type"] == "tool_use"
        line = self._message(block)
        said = self._engine.voice.assistant(line, **fields) if shown else None
        self._keep(block, said)

    def _message(self, block: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "id": self._heard.message_id,
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": [dict(block)],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": dict(self._usage),
            "context_management": None,
        }

    def _keep(self, block: dict[str, Any], said: Mapping[str, Any] | None) -> None:
        self._heard.blocks.append(block)
        self._talk.say(self._heard.message_id, block)
        self._engine.scribe.assistant(self._talk, self._message(block), said)

    def _line_fields(self, *, request: bool = True) -> dict[str, Any]:
        modern = self._engine.session.profile.is_modern
        fields = self._talk.fields(modern=modern)
        if modern and request:
            fields["request_id"] = "req_1"
        if modern and self._uuids and self._talk.is_main:
            fields |= self._uuid_fields()
        return fields

    def _uuid_fields(self) -> dict[str, Any]:
        return {
            "user_message_uuid": self._uuids[0],
            "user_message_uuids": list(self._uuids),
        }

    def _abort(self, message_id: str, started: bool) -> None:
        """What was said so far, the marker, and the end of the stream (rec interrupt_stream)."""
        session = self._engine.session
        modern = session.profile.is_modern
        open_text = self._draft.is_open and self._draft.block.get("type") == "text"
        if modern and open_text and self._draft.block["text"] and self._talk.is_main:
            block = dict(self._draft.block)
            fields = self._line_fields()
            said = self._engine.voice.assistant(self._message(block), aborted=True, **fields)
            self._keep(block, said)
        self._on_abort()
        if not (modern and started and session.partial and self._talk.is_main):
            return
        index = len(self._heard.blocks) - 1
        if self._draft.is_open:
            self._echo({"type": "content_block_stop", "index": max(0, index)}, message_id)
        self._echo(_aborted_delta(self._usage), message_id)
        abandoned = {"api_message_id": message_id, "from_block_index": index + 1}
        self._engine.voice.stream_event(
            {"type": "message_stop"}, message_id, abandoned_blocks=abandoned
        )


def _retry_word(status: int) -> str:
    words = {401: "authentication_failed", 429: "rate_limit", 529: "overloaded"}
    return words.get(status, "server_error")


def _aborted_delta(usage: Mapping[str, Any]) -> dict[str, Any]:
    ends = ("container", "stop_details", "stop_reason", "stop_sequence")
    return {
        "type": "message_delta",
        "context_management": None,
        "delta": dict.fromkeys(ends),
        "usage": {
            "output_tokens_details": {"thinking_tokens": 0},
            **usage,
            "iterations": [],
            "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
            "fallback_credit": None,
        },
    }
