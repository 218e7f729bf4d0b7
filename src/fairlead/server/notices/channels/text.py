"""The text of a notice in a channel: that of a push message, and a link back. Pure.

Chat services give some characters a meaning: `@everyone` calls people, `<!channel>` too, and
`[text](address)` hides where a link leads. A title or a command comes from a model, so these
characters are followed by an invisible one, which ends their meaning (T-159).
"""

from __future__ import annotations

import re

from fairlead.server.notices.rules.notice import Notice
from fairlead.server.notices.rules.wording import body_of, title_of

__all__ = ["Message", "message_of", "without_markup"]

JOINER = "\u2060"
"""WORD JOINER: has no width, and no service gives it a meaning."""

_MEANING = re.compile(r"(@)(?=\w)|(<)(?=[!@#&/\w:])|(\])(?=[(\[])|(:)(?=//)")

Message = tuple[str, str]
"""A title and a body."""


def message_of(notice: Notice, detail: str, link: str, resets: str = "") -> Message:
    """The title and the body; `resets` says when a usage limit resets."""
    body = body_of(notice, detail)
    if notice.kind == "limit" and resets:
        body = f"{body} It resets {resets}."
    return without_markup(title_of(notice)), f"{without_markup(body)}\n{link}"


def without_markup(text: str) -> str:
    """A text in which no character has a meaning for a chat service."""
    return _MEANING.sub(lambda match: f"{match.group(0)}{JOINER}", text)
