"""The CLI's own dialogs that clients can answer, and the answers each of them knows.

A CLI shows a dialog only to a host that declared its kind; an undeclared one takes the
way without a dialog, so a kind is named here only if there is a form for it. Pure.
"""

from __future__ import annotations

from fairlead.host.requests.elicitations import Cancel, DialogRequest
from fairlead.server.refusal import Refusal

__all__ = ["DIALOGS", "dialog_answer"]

DIALOGS: dict[str, tuple[str, ...]] = {
    # Its payload has originalModel and fallbackModel (2.1.325).
    "refusal_fallback_prompt": ("retry_fallback", "edit_prompt"),
}
"""Kind -> answers, besides closing it."""


def dialog_answer(request: DialogRequest, answer: str | None) -> str | Cancel:
    """What the CLI is answered; refuses an answer that the dialog does not know."""
    if answer is None:
        return Cancel()
    known = DIALOGS.get(request.kind, ())
    if answer not in known:
        expected = f"{', '.join(known)}, or null to close it" if known else "null, to close it"
        raise Refusal(
            "bad_message", f"The dialog {request.kind!r} must be answered with {expected}."
        )
    return answer
