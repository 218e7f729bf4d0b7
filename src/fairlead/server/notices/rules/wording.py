"""The text of a notice: a title and one or two short sentences, limited to what a target allows. Pure.

The command of a request is included only if the target's owner allows it, because a notification
is shown on a locked screen. Text of a model can neither hide nor reverse the text next to it.
"""

from __future__ import annotations

import unicodedata

from fairlead.server.notices.rules.notice import Notice

__all__ = ["DETAILS", "body_of", "plain_line", "title_of"]

DETAILS = ("kind", "tool", "command")
"""How much of a request is shown: that there is one, its tool, or the beginning of its command."""

TITLE_CHARS = 80
SUBJECT_CHARS = 120
TEXT_CHARS = 300

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

_ENDS = {
    "max_turns": "Stopped: it reached the step limit.",
    "api_error": "Stopped: the model request failed.",
    "structured_output": "Stopped: the answer did not match the required schema.",
    "process_ended": "Stopped: Claude Code exited.",
    "host_stopped": "Stopped: the Fairlead server was stopped.",
}

_FIXED = {
    "question": "Asks a question.",
    "plan": "Has a plan for you to review.",
    "finished": "Finished.",
    "limit": "Usage limit reached.",
}


def title_of(notice: Notice) -> str:
    """The session's title, as the title of the notification."""
    return plain_line(notice.title, TITLE_CHARS) or "Untitled session"


def body_of(notice: Notice, detail: str = "kind") -> str:
    """The sentences below the title."""
    if notice.text:
        return plain_line(notice.text, TEXT_CHARS)
    if notice.kind == "approval":
        body = f"Needs your approval{_request(notice, detail)}."
    elif notice.kind == "failed":
        body = _ENDS.get(notice.outcome, "Stopped because of an error.")
    elif notice.kind == "budget":
        body = "Stopped: its budget is used up."
    else:
        body = _FIXED.get(notice.kind, "Needs your attention.")
    return f"{body} {notice.waiting} requests are waiting." if notice.waiting > 1 else body


def _request(notice: Notice, detail: str) -> str:
    tool = plain_line(notice.tool, TITLE_CHARS)
    subject = plain_line(notice.subject, SUBJECT_CHARS)
    if detail == "kind" or not tool:
        return ""
    return f": {tool}" if detail == "tool" or not subject else f": {tool}: {subject}"


def plain_line(text: str, most: int) -> str:
    """A text on one line of limited length, without characters that hide or reverse others."""
    near = text[: 8 * most]
    visible = "".join(" " if unicodedata.category(c) in _HIDDEN else c for c in near)
    line = " ".join(visible.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
