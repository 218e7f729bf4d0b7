"""The reducer: which function handles which value. Dispatch only.

`step` folds one value into a state, `step_all` a batch of them; `FROM_CLI` and `FROM_HOST` list
the whole protocol. A line with a uuid that was handled before changes nothing. Total: it accepts
every value that `wire.decode` returns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
    streaming,
    turns,
    unknown,
)
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
from fairlead.transcript.state.fold import Fold
from fairlead.wire import control, events, inputs, system

__all__ = ["FROM_CLI", "FROM_HOST", "Fed", "step", "step_all"]

Fed: TypeAlias = events.Event | system.System | control.Control | inputs.Input | Fact
"""What can be fed: every line of the CLI, every line of the host, and the host's own facts."""

_Reducer: TypeAlias = Callable[[Fold, Any], object]


def _no_news(fold: Fold, message: Any) -> None:
    """A message that changes nothing in a transcript."""


FROM_CLI: dict[type, _Reducer] = {
    events.Assistant: messages.on_assistant,
    events.User: messages.on_user,
    events.Result: turns.on_result,
    events.StreamEvent: streaming.on_stream_event,  # `step_all` tries `feed_delta` first
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


_ENDINGS = frozenset({ProcessExited, HostStopping})

_FREQUENT = frozenset({events.ToolProgress, system.ThinkingTokens})
"""Lines that come many times a second and cannot change what the session is doing."""


def step(fold: Fold, fed: Fed, at: float) -> list[Change]:
    """Fold one value into the state; returns what it changed."""
    return step_all(fold, ((fed, at),))


def step_all(fold: Fold, batch: Iterable[tuple[Fed, float]]) -> list[Change]:
    """Fold values with their times into the state, in order; returns what they changed."""
    changes: list[Change] = []
    fold.changes = changes
    for fed, at in batch:
        fold.at = at
        if type(fed) is not events.StreamEvent:
            _take(fold, fed)
        elif streaming.feed_delta(fold, fed) or not streaming.on_stream_event(fold, fed):
            if at - fold.touched >= status.LAST_EVENT_STEP_S:
                status.touch(fold)
        else:
            fold.memory.heard = True
            status.refresh(fold, exact=False)
    return changes


def _take(fold: Fold, fed: Fed) -> None:
    """Fold a value that is not an event of a stream."""
    kind = type(fed)
    memory = fold.memory
    quiet = memory.host_stopping or (kind in _ENDINGS and _is_quiet(fed))
    take = FROM_CLI.get(kind)
    if take is None:
        FROM_HOST[kind](fold, fed)
    elif _is_new(fold, fed):
        if kind not in _CONTROL:
            memory.heard = True
        take(fold, fed)
    status.refresh(fold, exact=kind not in _FREQUENT, quiet=quiet)


def _is_quiet(fed: Fed) -> bool:
    """Whether the host ends a process, which does not count as activity of the session."""
    if isinstance(fed, ProcessExited):
        return fed.expected or fed.host_stopped
    return isinstance(fed, HostStopping)


def _is_new(fold: Fold, message: Any) -> bool:
    """Whether a line was not handled before. An echo of a prompt has the prompt's own uuid."""
    uuid: str | None = getattr(message, "uuid", None)
    if not uuid:
        return True
    seen = fold.memory.seen
    if uuid in seen:
        return False
    seen.add(uuid)
    return True
