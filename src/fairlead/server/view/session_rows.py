"""A session as the lobby lists it: from its stored row, and from its transcript while loaded. Pure."""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec import structs

from fairlead.server.protocol.lobby_rows import (
    InboxRow,
    ListedLimit,
    ListedMove,
    ListedSession,
    ListedStatus,
    ListedWorktree,
    TaskCount,
)
from fairlead.store.cli_files.imports import CliSession
from fairlead.store.tables.sessions import SessionRow
from fairlead.transcript.state.model import Pending, PromptItem, Status, TextItem, Turn
from fairlead.transcript.transcript import Transcript

__all__ = [
    "LAST_EVENT_STEP_S",
    "TITLE_CHARS",
    "cli_row",
    "first_sentence",
    "inbox_row",
    "last_sentence",
    "listed",
    "looks_same",
    "refreshed",
    "sentence_at_end",
    "status_of",
    "subject_of",
    "title_of",
    "worked",
]

TITLE_CHARS = 80
"""Most characters of a title that is made from the first prompt."""

LAST_EVENT_STEP_S = 5.0
"""How often the lobby gets the time of the last event of a session in a turn."""

SENTENCE_CHARS = 200
SUBJECT_CHARS = 200

_SHORTEST = 8
"""A shorter first sentence, such as "Hi.", is not used as a title."""

_NEAR_ITEMS = 40
"""Items from the end that are searched for the model's last text."""

_SUBJECTS = ("command", "file_path", "notebook_path", "path", "url", "query", "pattern")


def listed(
    row: SessionRow,
    transcript: Transcript | None,
    *,
    live: bool,
    resume_problem: str | None = None,
    branch: str | None = None,
    deleting: float | None = None,
    before: ListedSession | None = None,
) -> ListedSession:
    """The row of the lobby; without a transcript, with what the last turn left in the stored row.

    `before` is the row until now, which has what is in neither.
    """
    work: SessionRow | _Work = row if transcript is None else _work_of(transcript)
    status = _status(row, transcript)
    return ListedSession(
        id=row.id,
        title=row.title or "",
        cwd=row.cwd,
        cli_session_id=row.cli_session_id,
        status=status if before is None else _throttled(before.status, status),
        live=live,
        model=row.model,
        mode=row.mode,
        effort=row.effort,
        cost_usd=row.cost_usd,
        created=row.created,
        last_activity=row.last_activity,
        pinned=row.pinned,
        archived=row.archived,
        parent=row.parent,
        items=row.items,
        pending=0 if transcript is None else transcript.count("pending"),
        source=row.source,
        agent=row.agent,
        drafts=() if before is None else before.drafts,
        workbench_at=0.0 if before is None else before.workbench_at,
        resume_problem=resume_problem,
        branch=branch,
        finished=work.finished,
        outcome=work.outcome,
        last_sentence=work.last_sentence,
        tasks=_tasks(work),
        lines_added=work.lines_added,
        lines_removed=work.lines_removed,
        tags=row.tags,
        worktree=None if row.worktree is None else ListedWorktree(**structs.asdict(row.worktree)),
        deleting=deleting,
        limit=_limit(row, transcript),
        continue_at_reset=row.options.get("continue_at_reset"),
        profile=row.profile,
        generation=row.generation,
        moved=None if row.moved is None else ListedMove(**structs.asdict(row.moved)),
    )


def _limit(row: SessionRow, transcript: Transcript | None) -> ListedLimit | None:
    """The limit that stops a session; without a transcript, the one that its row names."""
    stored = row.options.get("hold")
    if transcript is None:
        return stored and ListedLimit(kind=stored["limit"], continues_at=stored["until"])
    hold, limit = transcript.queue_hold, transcript.limit
    if transcript.turn is not None or (hold is None and limit is None):
        return None
    return ListedLimit(
        kind=(hold or {}).get("limit") or (limit or {}).get("kind") or "limit",
        resets_at=(limit or {}).get("resets_at"),
        continues_at=None if hold is None else hold["until"],
    )


class _Work(NamedTuple):
    """The result of a session's work; the names are those of the stored row."""

    finished: float | None
    outcome: str | None
    last_sentence: str
    tasks_done: int
    tasks_total: int
    lines_added: int
    lines_removed: int


def _work_of(transcript: Transcript) -> _Work:
    """What the row of a loaded session has: last turn, last sentence, tasks, lines."""
    turn: Turn | None = next(iter(transcript.last("turns", 1)), None)
    tasks = [task for task in transcript.tasks if task.status != "deleted"]
    return _Work(
        finished=None if turn is None else turn.ended,
        outcome=None if turn is None else turn.outcome,
        last_sentence=last_sentence(transcript),
        tasks_done=sum(1 for task in tasks if task.status == "completed"),
        tasks_total=len(tasks),
        lines_added=transcript.ledger.lines_added,
        lines_removed=transcript.ledger.lines_removed,
    )


def _tasks(work: SessionRow | _Work) -> TaskCount | None:
    return TaskCount(work.tasks_done, work.tasks_total) if work.tasks_total else None


def worked(before: ListedSession, transcript: Transcript, branch: str | None) -> dict[str, Any]:
    """The fields of a session's row that its work has changed."""
    work = _work_of(transcript)
    now = {
        "status": _throttled(before.status, status_of(transcript)),
        "branch": branch,
        "finished": work.finished,
        "outcome": work.outcome,
        "last_sentence": work.last_sentence,
        "tasks": _tasks(work),
        "lines_added": work.lines_added,
        "lines_removed": work.lines_removed,
    }
    return {name: value for name, value in now.items() if getattr(before, name) != value}


def last_sentence(transcript: Transcript) -> str:
    """The last sentence that the model wrote to the user in the last few items."""
    for item_id in reversed(transcript.last_ids("items", _NEAR_ITEMS)):
        item = transcript.item(item_id)
        if isinstance(item, TextItem) and item.parent is None and item.text.strip():
            return sentence_at_end(item.text)
    return ""


def sentence_at_end(text: str) -> str:
    """The last sentence of a text, on one line and cut to a readable length."""
    line = " ".join(text[-4 * SENTENCE_CHARS :].split())
    ends = [line.rfind(mark, 0, -1) for mark in (". ", "! ", "? ", ": ")]
    cut = max(ends)
    sentence = line[cut + 2 :] if cut >= 0 else line
    return sentence if len(sentence) <= SENTENCE_CHARS else "…" + sentence[1 - SENTENCE_CHARS :]


def _throttled(before: ListedStatus, now: ListedStatus) -> ListedStatus:
    """The old status if only the time of the last event differs, by less than the step."""
    is_early = now.last_event - before.last_event < LAST_EVENT_STEP_S
    return before if is_early and looks_same(before, now) else now


def looks_same(old: ListedStatus | Status, new: ListedStatus | Status) -> bool:
    """Whether the lobby shows both alike; the time of the last event is shown in steps."""
    return (
        old.state == new.state
        and old.since == new.since
        and old.waiting == new.waiting
        and old.background == new.background
        and old.detail == new.detail
    )


def _status(row: SessionRow, transcript: Transcript | None) -> ListedStatus:
    if transcript is None:
        return ListedStatus(state=row.state, since=row.last_activity, last_event=row.last_activity)
    return status_of(transcript)


def status_of(transcript: Transcript) -> ListedStatus:
    """The status of a session that is loaded, as the lobby shows it."""
    now = transcript.status
    return ListedStatus(
        state=now.state,
        since=now.since,
        last_event=now.last_event,
        waiting=now.waiting,
        background=now.background,
        detail=now.detail,
    )


def refreshed(row: SessionRow, transcript: Transcript, state: str) -> SessionRow:
    """The stored row with the current values of the transcript."""
    session = transcript.session
    return structs.replace(
        row,
        **_work_of(transcript)._asdict(),
        title=_title(row, transcript),
        cli_session_id=session.id or row.cli_session_id,
        origin=None if session.id else row.origin,
        model=session.model or row.model,
        mode=session.permission_mode or row.mode,
        effort=session.effort or row.effort,
        cost_usd=transcript.ledger.cost_usd,
        last_activity=max(row.last_activity, transcript.status.last_event),
        items=transcript.count("items"),
        turns=transcript.count("turns"),
        state=state,
    )


def _title(row: SessionRow, transcript: Transcript) -> str | None:
    """A title of the user stays; one that was made from the prompt is replaced by the CLI's."""
    of_cli = transcript.session.title
    if row.title and (not of_cli or row.title != _from_prompt(transcript)):
        return row.title
    return title_of(transcript)


def title_of(transcript: Transcript) -> str | None:
    """The CLI's own title, else the first sentence of the first prompt."""
    return transcript.session.title or _from_prompt(transcript)


def _from_prompt(transcript: Transcript) -> str | None:
    for item_id in transcript.item_ids[:_NEAR_ITEMS]:
        item = transcript.item(item_id)
        if isinstance(item, PromptItem) and item.text.strip():
            return first_sentence(item.text)
    return None


def first_sentence(text: str) -> str:
    """The first sentence of a prompt, on one line and cut to the length of a title."""
    line = " ".join(text[: 8 * TITLE_CHARS].split())
    ends = [at for mark in (". ", "! ", "? ", ": ") if (at := line.find(mark)) >= _SHORTEST]
    if ends:
        line = line[: min(ends) + 1]
    line = line.rstrip(".:") or line
    return line if len(line) <= TITLE_CHARS else line[: TITLE_CHARS - 1].rstrip() + "…"


def inbox_row(
    session: str, title: str, request: Pending, reason: str, sha256: str, group: str
) -> InboxRow:
    """An open request, as the lobby lists it; `sha256` and `group` are its hashes."""
    return InboxRow(
        id=f"{session}:{request.id}",
        session=session,
        session_title=title,
        request_id=request.id,
        kind=request.kind,
        tool_name=request.tool_name,
        title=request.title,
        at=request.at,
        input_sha256=sha256,
        subject=subject_of(request),
        reason=reason,
        group=group,
        held=request.details.get("held"),
    )


def subject_of(request: Pending) -> str:
    """What a request is about: the beginning of its command, path, address or pattern."""
    tool_input = request.input if isinstance(request.input, dict) else {}
    text = next(
        (tool_input[name] for name in _SUBJECTS if isinstance(tool_input.get(name), str)), ""
    )
    return text if len(text) <= SUBJECT_CHARS else text[: SUBJECT_CHARS - 1] + "…"


def cli_row(session: CliSession, live: bool, resume_problem: str | None = None) -> ListedSession:
    """A session of the CLI as the lobby lists it."""
    row = SessionRow(
        id=session.id,
        cwd=session.cwd,
        title=session.title or None,
        cli_session_id=session.id,
        source="cli",
        state="elsewhere" if live else "",
        created=session.created,
        last_activity=session.last_activity,
        items=session.messages,
        options={"profile": session.profile} if session.profile else {},
    )
    return listed(row, None, live=live, resume_problem=resume_problem)
