"""One request to the model: its reply, its events, its retries, its interruption.

Gets a reply from the player and writes it as the CLI does: a line for each complete block, the raw
events with partial messages, retries as the version reports them (CLI-514). `on_tool` is called for
each tool use.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from fairlead.emulator.script.player import Played, Wait
from fairlead.emulator.state.conversation import Conversation
from fairlead.emulator.state.cost import LONG, TurnUse, plan_model, resolve_model
from fairlead.emulator.state.scheduler import Interrupted
from fairlead.emulator.tools.tool_inputs import check_input
from fairlead.emulator.turn.parts import TurnParts
from fairlead.model_api.replies import Failure, Reply, stream_events, whole_message

__all__ = ["ModelCall", "ReceivedReply", "report_requesting"]

MOST_RETRIES = 10
MOST_OVERLOADS = 3
"""After so many overloads the fallback model answers."""
FIRST_RETRY_S = 0.5
TOOL_STEPS = 4
"""Steps that a tool needs to be refused or to ask for permission."""


class ReceivedReply(Struct):
    """The outcome of one request."""

    message_id: str = ""
    blocks: list[dict[str, Any]] = field(default_factory=list)
    stop_reason: str | None = None
    failure: Failure | None = None
    was_streamed: bool = True
    is_cut: bool = False
    """The connection broke after at least one block was complete."""

    @property
    def has_tools(self) -> bool:
        """Whether it uses tools."""
        return any(b["type"] == "tool_use" for b in self.blocks)

    @property
    def has_text(self) -> bool:
        """Whether it has text that a user sees."""
        return any(b["type"] == "text" and b["text"].strip() for b in self.blocks)

    @property
    def text(self) -> str:
        """The last text, which becomes the result of the turn."""
        texts = [b["text"] for b in self.blocks if b["type"] == "text"]
        return texts[-1] if texts else ""


class _Draft(Struct):
    """The block that is being streamed."""

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


async def _announce_nothing(block: dict[str, Any]) -> None:
    """Only subagents announce their tool uses."""


class ModelCall:
    """Makes one request for a conversation."""

    def __init__(
        self,
        parts: TurnParts,
        conversation: Conversation,
        *,
        uuids: tuple[str, ...] = (),
        answered: tuple[str, ...] = (),
        announces: bool = True,
        on_start: Callable[[], None] = lambda: None,
        on_tool: Callable[[dict[str, Any]], None] = lambda block: None,
        on_event: Callable[[], None] = lambda: None,
        on_stop: Callable[[str], None] = lambda reason: None,
        on_abort: Callable[[], None] = lambda: None,
        on_announce: Callable[[dict[str, Any]], Awaitable[None]] = _announce_nothing,
    ) -> None:
        self._parts = parts
        self._conversation = conversation
        self._uuids = uuids
        """The prompts of the turn."""
        self._answered = answered
        """The prompts that the first line of this message answers."""
        self._on_start = on_start
        self._on_tool = on_tool
        self._on_event = on_event
        self._on_stop = on_stop
        self._on_abort = on_abort
        self._on_announce = on_announce
        self._received = ReceivedReply()
        self._draft = _Draft()
        self._pieces = 0
        self._has_started = not announces
        self._has_tools = False
        self._estimated_tokens = 0
        self._overloads = 0
        self._has_fallen_back = False
        self._usage: dict[str, Any] = {}

    @property
    def _model(self) -> str:
        session = self._parts.session
        model = self._conversation.model or session.turn_model or session.model
        model = plan_model(session.profile, model) if session.mode == "plan" else model
        return model.removesuffix(LONG)

    async def listen(self) -> ReceivedReply:
        """Send the request and process the whole reply."""
        session = self._parts.session
        if self._conversation.is_main:
            report_requesting(self._parts, self._uuids)
        attempt = 0
        while True:
            played = self._parts.player.reply(self._conversation.ask(session.workspace.cwd))
            answer = played.answer
            if isinstance(answer, Reply):
                if not self._received.was_streamed:
                    self._take_unstreamed(played, answer)
                    return self._received
                if await self._stream(played, answer):
                    return self._received
                if self._received.blocks and session.profile.resumes_cut_replies:
                    self._received.is_cut = True
                    return self._received
                attempt += 1
                await self._retry_cut_reply(attempt)
                continue
            attempt += 1
            await self._pause_before(played, 0)
            if not await self._retries(answer, attempt):
                self._on_start()
                self._received.failure = answer
                return self._received

    async def _retry_cut_reply(self, attempt: int) -> None:
        """The connection broke in the middle of a message: send the request again."""
        profile = self._parts.session.profile
        self._draft, self._pieces = _Draft(), 0
        if not profile.reports_retries:
            self._received.was_streamed = False
            return
        await self._retry(attempt, FIRST_RETRY_S * 2 ** (attempt - 1), None, "unknown")

    async def _retries(self, failure: Failure, attempt: int) -> bool:
        """Whether to retry after a failure; waits for the delay."""
        profile = self._parts.session.profile
        # 2.1.38 retries an overload even if the server forbids it (rec 2.1.38/err_529).
        heeds = profile.reports_retries or failure.status != 529
        self._overloads += failure.status == 529
        if self._overloads == MOST_OVERLOADS and self._falls_back("overloaded"):
            return True
        # A 404 is repeated without streaming, whatever the server says (CLI-1655).
        forbids = heeds and failure.headers.get("x-should-retry") == "false"
        if forbids and (failure.status != 404 or attempt > 1):
            return False
        if failure.status == 404:
            self._received.was_streamed = False
            return attempt == 1 or self._falls_back("model_not_found")
        if failure.status == 400:
            return profile.retries_bad_request and attempt == 1
        retries = failure.status in (401, 408, 409, 429) or failure.status >= 500
        if not retries or attempt > MOST_RETRIES:
            return False
        delay = float(failure.headers.get("retry-after", FIRST_RETRY_S * 2 ** (attempt - 1)))
        await self._retry(attempt, delay, failure.status, _retry_error(failure.status))
        return True

    def _falls_back(self, trigger: str) -> bool:
        """Continue the turn with the model of `--fallback-model`, once (CLI-1642)."""
        session = self._parts.session
        requested = session.arguments.one("--fallback-model")
        if requested is None or self._has_fallen_back or not session.profile.falls_back:
            return False
        self._has_fallen_back = True
        self._received.was_streamed = True
        original, session.turn_model = self._model, resolve_model(session.profile, requested)
        self._parts.output.system(
            "model_fallback",
            trigger=trigger,
            original_model=original,
            fallback_model=session.turn_model,
            content=f"Switched to {session.turn_model}.",
        )
        return True

    async def _retry(self, attempt: int, delay: float, status: int | None, error: str) -> None:
        if self._parts.session.profile.reports_retries:
            self._parts.output.system(
                "api_retry",
                attempt=attempt,
                max_retries=MOST_RETRIES,
                retry_delay_ms=round(delay * 1000),
                error_status=status,
                error=error,
            )
        await self._parts.effects.sleep(delay)

    def _take_unstreamed(self, played: Played, reply: Reply) -> None:
        """The reply to a request that was not streamed: one line per block, already complete."""
        session = self._parts.session
        message = whole_message(
            reply,
            message_id=self._parts.session.message_id(played.message_id),
            model=session.model.removesuffix(LONG),
        )
        self._on_start()
        self._received.message_id = message["id"]
        blocks = message.pop("content")
        self._usage = dict(message["usage"])
        profile = session.profile
        if profile.details_usage:
            whole = TurnUse()
            whole.add(self._usage)
            message["usage"] = whole.report(profile)
        for block in blocks:
            line = {**message, "content": [block], "context_management": None}
            message_line = self._parts.output.assistant(line, **self._line_fields())
            self._keep(block, message_line)
        self._received.stop_reason = reply.final_stop_reason
        # The old version does not count what was not streamed (rec 2.1.38/err_404).
        self._parts.session.spent(
            self._conversation, self._usage if profile.counts_unstreamed_usage else {}
        )

    async def _stream(self, played: Played, reply: Reply) -> bool:
        """Write a message as it arrives; False if the connection breaks in the middle."""
        message_id = self._parts.session.message_id(played.message_id)
        self._received.message_id = message_id
        started = False
        try:
            for event in stream_events(reply, message_id=message_id, model=self._model):
                if event["type"] == "ping":
                    continue
                is_delta = event["type"] == "content_block_delta"
                if is_delta and reply.cut_after == self._pieces:
                    self._abandon(message_id)
                    return False
                # A pause before the first piece precedes the message; it must not be applied twice.
                holds = not started or (is_delta and self._pieces > 0)
                await self._pause_before(played, self._pieces, holds=holds)
                if not started:
                    started = True
                    if self._parts.session.replays_early:
                        self._on_start()
                if event["type"] == "message_stop":
                    self._parts.session.spent(self._conversation, reply.usage.at_end())
                    if self._stops_early():
                        break
                await self._event(event, message_id, reply)
                if is_delta:
                    self._pieces += 1
                # The input of a tool takes a subagent no longer than a short text.
                is_input = is_delta and event["delta"]["type"] == "input_json_delta"
                if self._conversation.is_main or not is_input:
                    await self._let_others_work()
        except Interrupted:
            self._abort(message_id, started)
            raise
        self._received.stop_reason = reply.final_stop_reason
        return True

    def _stops_early(self) -> bool:
        """Whether the end of the message is not written, because the budget is spent."""
        session = self._parts.session
        return session.is_over_budget and not session.profile.streams_end_over_budget

    async def _pause_before(self, played: Played, piece: int, *, holds: bool = True) -> None:
        if not holds:
            return
        for wait in played.waits:
            if wait.before == piece:
                await self._wait(wait)
        if played.pace:
            await self._parts.effects.sleep(played.pace)

    async def _wait(self, wait: Wait) -> None:
        if wait.seconds:
            await self._parts.effects.sleep(wait.seconds)
        if wait.inputs:
            await self._parts.inputs.more(wait.inputs)
        if wait.forever:
            await self._parts.inputs.for_ever()

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
            profile = self._parts.session.profile
            is_edit = profile.completes_edit_inputs and block.get("name") == "Edit"
            # Parsing the input adds the defaults, so an invalid input gets none.
            if is_edit and check_input("Edit", block["input"], profile) is None:
                block["input"] = {"replace_all": False, **block["input"]}
            if block["type"] == "tool_use":
                await self._on_announce(block)
            self._say_block(block)
            if block["type"] == "tool_use":
                self._has_tools = True
                self._on_tool(block)
                await self._let_others_work()
        elif kind == "message_delta":
            self._on_stop(reply.final_stop_reason)
        self._echo(event, message_id)
        self._on_event()

    async def _let_others_work(self) -> None:
        """Let tools that are ready run before the next event of the message."""
        for _ in range(TOOL_STEPS if self._has_tools else 1):
            await self._parts.effects.yield_now()

    def _count_thinking(self, delta: Mapping[str, Any]) -> None:
        """Report the estimated tokens: of each piece, and of a longer signature (CLI-1616)."""
        if delta["type"] == "thinking_delta":
            tokens = max(1, len(delta["thinking"]) // 4)
        elif delta["type"] == "signature_delta":
            tokens = len(delta["signature"]) // 4 - self._estimated_tokens
        else:
            return
        is_counted = self._parts.session.profile.counts_thinking_tokens
        if tokens <= 0 or not is_counted or not self._conversation.is_main:
            return
        self._estimated_tokens += tokens
        self._parts.output.system(
            "thinking_tokens",
            estimated_tokens=self._estimated_tokens,
            estimated_tokens_delta=tokens,
            **({"user_message_uuid": self._uuids[0]} if self._uuids else {}),
        )

    def _echo(self, event: dict[str, Any], message_id: str) -> None:
        if not (self._parts.session.partial and self._conversation.is_main):
            return
        fields: dict[str, Any] = {}
        kind = event["type"]
        if kind == "message_start":
            fields = {"ttft_ms": 1, "thinking_display": "updates"}
            if self._answered and not self._has_started:
                fields |= self._uuid_fields()
                fields["owed_rows"] = []
            self._has_started = True
        elif self._is_thinking(event):
            fields = {"thinking_display": "updates"}
        self._parts.output.stream_event(event, message_id, **fields)

    def _is_thinking(self, event: Mapping[str, Any]) -> bool:
        if event["type"] == "content_block_start":
            return bool(event["content_block"]["type"] == "thinking")
        return bool(event.get("delta", {}).get("type") == "thinking_delta")

    def _say_block(self, block: dict[str, Any]) -> None:
        profile = self._parts.session.profile
        if block["type"] == "text" and not block["text"]:
            # An empty text has no line (CLI-529); the old version still replays the prompt.
            if not profile.replays_before_stream:
                self._on_start()
            return
        fields = self._line_fields()
        if block["type"] == "thinking" and profile.details_thinking:
            fields |= {"thinking_duration_ms": 1, "thinking_display": "updates"}
        if block["type"] == "tool_use" and profile.labels_mcp_uses:
            fields |= self._parts.mcp.use_meta(block)
        self._on_start()
        content = (
            self._conversation.is_main
            or self._conversation.is_background
            or block["type"] == "tool_use"
        )
        line = self._message(block)
        message_line = self._parts.output.assistant(line, **fields) if content else None
        self._keep(block, message_line)

    def _message(self, block: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "id": self._received.message_id,
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": [dict(block)],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": dict(self._usage),
            "context_management": None,
        }

    def _keep(self, block: dict[str, Any], message_line: Mapping[str, Any] | None) -> None:
        self._received.blocks.append(block)
        self._conversation.say(self._received.message_id, block)
        self._parts.transcript.assistant(self._conversation, self._message(block), message_line)

    def _line_fields(self) -> dict[str, Any]:
        profile = self._parts.session.profile
        fields = self._conversation.fields(profile)
        if profile.assistant_has_request_id:
            fields["request_id"] = "req_1"
        is_first = not self._received.blocks
        if (
            profile.assistant_has_prompt_uuids
            and self._answered
            and is_first
            and self._conversation.is_main
        ):
            fields |= self._uuid_fields()
        return fields

    def _uuid_fields(self) -> dict[str, Any]:
        return {
            "user_message_uuid": self._answered[0],
            "user_message_uuids": list(self._answered),
        }

    def _abort(self, message_id: str, started: bool) -> None:
        """Write the text so far, the marker, and the end of the stream (rec interrupt_stream)."""
        session = self._parts.session
        profile = session.profile
        open_text = self._draft.is_open and self._draft.block.get("type") == "text"
        if (
            profile.keeps_aborted_text
            and open_text
            and self._draft.block["text"]
            and self._conversation.is_main
        ):
            block = dict(self._draft.block)
            fields = self._line_fields()
            message_line = self._parts.output.assistant(
                self._message(block), aborted=True, **fields
            )
            self._keep(block, message_line)
        self._on_abort()
        if started:
            self._abandon(message_id, _aborted_delta(self._usage))

    def _abandon(self, message_id: str, delta: dict[str, Any] | None = None) -> None:
        """Complete the stream events of a message that was cut off."""
        session = self._parts.session
        if not (
            session.profile.closes_aborted_stream and session.partial and self._conversation.is_main
        ):
            return
        index = len(self._received.blocks) - 1
        if self._draft.is_open and self._draft.block["type"] != "tool_use":
            self._echo({"type": "content_block_stop", "index": max(0, index)}, message_id)
        if delta is not None:
            self._echo(delta, message_id)
        abandoned = {"api_message_id": message_id, "from_block_index": index + 1}
        self._parts.output.stream_event(
            {"type": "message_stop"}, message_id, abandoned_blocks=abandoned
        )


def report_requesting(parts: TurnParts, uuids: Sequence[str]) -> None:
    """The status line before a request of the main conversation."""
    session = parts.session
    if session.profile.reports_requesting and session.partial:
        extra = {"user_message_uuids": list(uuids)} if uuids else {}
        parts.output.status("requesting", **extra)


def _retry_error(status: int) -> str:
    errors = {401: "authentication_failed", 429: "rate_limit", 529: "overloaded"}
    return errors.get(status, "server_error")


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
