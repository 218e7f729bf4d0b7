"""The reducer: which function handles which value. Dispatch only.

`step` folds one value into a state, `step_all` a batch of them; `FROM_CLI` and `FROM_HOST` list
the whole protocol. A line with a uuid that was handled before changes nothing. Total: it accepts
every value that `wire.decode` returns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from typing import Any, TypeAlias

from fairlead.transcript.reducers import (
    answers,
    background,
    ledger,
    messages,
    notices,
    pairing,
    pending,
    process,
    prompts,
    queue,
    session,
    status,
    turns,
    unknown,
)
from fairlead.transcript.reducers.status import refresh
from fairlead.transcript.reducers.streaming import feed_deltas, on_stream_event
from fairlead.transcript.state.changes import Change
from fairlead.transcript.state.facts import (
    Accounted,
    AnswerHeld,
    AnswerUndone,
    CallsDenied,
    Decided,
    Described,
    Fact,
    Forked,
    HostStopping,
    PlanShown,
    ProcessExited,
    ProcessStarted,
    PromptCancelled,
    PromptEdited,
    PromptHeld,
    PromptsReordered,
    QueueHeld,
    QueueReleased,
    Stopped,
    TurnEnded,
    TurnStarted,
)
from fairlead.transcript.state.fold import LAST_EVENT_STEP_S, Fold
from fairlead.wire import control, events, inputs, system
from fairlead.wire.events import StreamEvent
from fairlead.wire.stream import ContentBlockDelta

__all__ = ["FROM_CLI", "FROM_HOST", "Fed", "step", "step_all", "take_moment"]

Fed: TypeAlias = events.Event | system.System | control.Control | inputs.Input | Fact
"""What can be fed: every line of the CLI, every line of the host, and the host's own facts."""

_Reducer: TypeAlias = Callable[[Fold, Any], object]


def _no_news(fold: Fold, message: Any) -> None:
    """A message that changes nothing in a transcript."""


FROM_CLI: dict[type, _Reducer] = {
    events.Assistant: messages.on_assistant,
    events.User: messages.on_user,
    events.Result: turns.on_result,
    StreamEvent: on_stream_event,  # `_take_all` gives runs of deltas to `feed_deltas`
    events.ToolProgress: pairing.on_tool_progress,
    events.RateLimitEvent: notices.on_rate_limit,
    events.PromptSuggestion: session.on_prompt_suggestion,
    events.ToolUseSummary: pairing.on_tool_use_summary,
    events.ConversationReset: turns.on_conversation_reset,
    events.CommandLifecycle: prompts.on_lifecycle,
    events.ActiveGoal: session.on_active_goal,
    events.Tombstone: messages.on_tombstone,
    events.TranscriptMirror: _no_news,
    events.KeepAlive: _no_news,
    events.Unknown: unknown.on_unknown,
    events.Malformed: unknown.on_malformed,
    system.Init: turns.on_init,
    system.CompactBoundary: notices.on_compact_boundary,
    system.Status: status.on_status,
    system.ApiRetry: notices.on_retry,
    system.ControlRequestProgress: _no_news,
    system.ModelRefusalFallback: messages.on_refusal_fallback,
    system.LocalCommandOutput: messages.on_local_command_output,
    system.HookStarted: notices.on_hook_started,
    system.HookProgress: notices.on_hook_progress,
    system.HookResponse: notices.on_hook_response,
    system.TaskStarted: background.on_started,
    system.TaskProgress: background.on_progress,
    system.TaskUpdated: background.on_updated,
    system.TaskNotification: background.on_notification,
    system.BackgroundTasksChanged: background.on_list,
    system.ThinkingTokens: status.on_thinking_tokens,
    system.SessionStateChanged: status.on_session_state,
    system.SessionTitleChanged: session.on_title_changed,
    system.CommandsChanged: session.on_commands_changed,
    system.Notification: notices.on_notification,
    system.PermissionDenied: pairing.on_permission_denied,
    system.UnknownSystem: unknown.on_unknown_system,
    control.ControlRequest: pending.on_request,
    control.ControlResponse: answers.on_response,
    control.ControlCancelRequest: pending.on_cancel,
    **{
        line: notices.on_simple
        for line in notices.SIMPLE
        if line is not system.ModelRefusalFallback
    },
}

FROM_HOST: dict[type, _Reducer] = {
    inputs.Prompt: prompts.on_prompt,
    inputs.Request: answers.on_request,
    inputs.Answer: pending.on_answer,
    inputs.AnswerError: pending.on_answer_error,
    inputs.SetEnvironment: _no_news,
    inputs.ForeignPrompt: prompts.on_foreign_prompt,
    inputs.UnknownInput: prompts.on_unknown_input,
    ProcessStarted: process.on_started,
    HostStopping: process.on_host_stopping,
    ProcessExited: process.on_exited,
    Forked: session.on_forked,
    PromptHeld: prompts.on_held,
    PromptEdited: prompts.on_edited,
    PromptsReordered: prompts.on_reordered,
    PromptCancelled: prompts.on_cancelled,
    QueueHeld: queue.on_queue_held,
    QueueReleased: queue.on_queue_released,
    Decided: pending.on_decided,
    AnswerHeld: pending.on_answer_held,
    AnswerUndone: pending.on_answer_undone,
    CallsDenied: pending.on_calls_denied,
    Stopped: pending.on_stopped,
    PlanShown: pending.on_plan_shown,
    Described: session.describe,
    Accounted: ledger.on_accounted,
    TurnStarted: turns.on_turn_started,
    TurnEnded: turns.on_turn_ended,
}


_CONTROL = frozenset(
    {control.ControlRequest, control.ControlResponse, control.ControlCancelRequest}
)
"""Lines without a uuid: their reducers recognize repetitions by the request id."""


_FREQUENT = frozenset({events.ToolProgress, system.ThinkingTokens})
"""Lines that come many times a second and cannot change what the session is doing."""


def step(fold: Fold, fed: Fed, at: float) -> list[Change]:
    """Fold one value into the state; returns what it changed."""
    return step_all(fold, ((fed, at),))


def step_all(fold: Fold, batch: Iterable[tuple[Fed, float]]) -> list[Change]:
    """Fold values with their times into the state, in order; returns what they changed."""
    changes: list[Change] = []
    fold.changes = changes
    try:
        _take_all(fold, batch)
    finally:
        fold.changes = None
    return changes


def _take_all(fold: Fold, batch: Iterable[tuple[Fed, float]]) -> None:
    """Fold values with their times into the state, in order."""
    values: Iterator[tuple[Any, float]] = iter(batch)
    for fed, at in values:
        kind = type(fed)
        while kind is StreamEvent and type(fed.event) is ContentBlockDelta:
            following = feed_deltas(fold, fed, at, values)
            if following is None:
                return
            fed, at = following
            kind = type(fed)
        fold.at = at
        if kind is StreamEvent:
            if on_stream_event(fold, fed):
                fold.memory.heard = True
                refresh(fold, exact=False)
            elif at - fold.touched >= LAST_EVENT_STEP_S:
                fold.touch()
        else:
            take = FROM_CLI.get(kind)
            if take is not None:
                _take_line(fold, fed, kind, take)
            else:
                _take_from_host(fold, fed, kind)


def take_moment(fold: Fold, values: Iterable[Fed], at: float) -> None:
    """Fold values of one moment into the state, in order, without changes."""
    fold.of_one_moment = True
    try:
        _take_all(fold, zip(values, repeat(at)))
    finally:
        fold.of_one_moment = False
        if fold.unsettled:
            fold.unsettled = False
            refresh(fold)


def _take_line(fold: Fold, line: Any, kind: type, take: _Reducer) -> None:
    """Fold a line of the CLI that is not an event of a stream."""
    memory = fold.memory
    heard = memory.heard
    uuid: str | None = getattr(line, "uuid", None)
    if not uuid:
        if kind not in _CONTROL:
            memory.heard = True
        take(fold, line)
    elif uuid not in memory.seen:  # An echo of a prompt has the uuid of the prompt.
        memory.seen.add(uuid)
        memory.heard = True
        take(fold, line)
    quiet = memory.host_stopping
    if kind not in _FREQUENT:
        refresh(fold, True, quiet)
    elif not heard:
        refresh(fold, False, quiet)
    elif not quiet and fold.at - fold.touched >= LAST_EVENT_STEP_S:
        fold.touch()


def _take_from_host(fold: Fold, fed: Any, kind: type) -> None:
    """Fold a line of the host or a fact."""
    # The end of a process that the host asked for is no activity of the session.
    quiet = fold.memory.host_stopping
    if kind is ProcessExited:
        quiet = quiet or fed.expected or fed.host_stopped
    elif kind is HostStopping:
        quiet = True
    FROM_HOST[kind](fold, fed)
    refresh(fold, True, quiet)
