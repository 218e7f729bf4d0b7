"""A pending request as clients get it, with what an answer must contain and may name.

The TypeScript types in `web/src/protocol/pending.ts` are generated from this file. Types only:
`always_choices` creates the choices, and `session_view` the rows.
"""

from __future__ import annotations

from msgspec import Struct

from fairlead.transcript.state.model import Pending

__all__ = ["REQUESTS_LISTED", "OfferedChoice", "PendingRow"]

REQUESTS_LISTED = 100
"""Open requests of a session that clients get, the oldest first; the session's row in the lobby
has the number of all of them."""


class OfferedChoice(Struct, frozen=True, kw_only=True):
    """One of the "always" choices of a request; an answer names it by its `index`."""

    index: int
    kind: str
    """rule, mode, or folder."""
    subject: str
    """The rules, the mode or the folders themselves."""
    label: str
    scope: str
    role: str
    """The least role that may choose it."""
    lets_through: str
    """What else it allows, as a sentence."""
    examples: tuple[str, ...]
    """Earlier calls of this session that it would have allowed."""
    may_ask: str
    """Why the CLI may ask about this call again in spite of the choice; empty if it will not."""
    wide: bool
    """Whether it also allows calls unlike this one: a whole tool, a mode, a folder."""
    deniable: bool
    """Whether `deny_always` can name it: a rule can be denied, a mode or a folder cannot."""


class PendingRow(Pending, frozen=True, kw_only=True):
    """A pending request as the server sends it, with what an answer needs."""

    input_sha256: str
    choices: tuple[OfferedChoice, ...]
    choices_note: str = ""
    """Why there are no choices, as a sentence; empty if there is no such reason."""
