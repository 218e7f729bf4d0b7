"""A pending request as clients get it: with what an answer must carry and may name.

The TypeScript types in `web/src/protocol/pending.ts` are generated from this file. Shapes only:
`offers` makes the choices, and `decorate` the rows.
"""

from __future__ import annotations

from msgspec import Struct

from fairlead.transcript.model import Pending

__all__ = ["OfferedChoice", "PendingRow"]


class OfferedChoice(Struct, frozen=True, kw_only=True):
    """A thing that "always" may mean for a request; its `index` goes into the answer."""

    index: int
    label: str
    scope: str
    role: str
    """Who may take it."""
    lets_through: str
    """What else it lets through, in words."""
    examples: tuple[str, ...]
    """Earlier calls of this session that it would have let through."""
    wide: bool
    """Whether it reaches beyond the like of this call: a whole tool, a mode, a folder."""
    deniable: bool
    """Whether "never again" can mean it too: a rule can be denied, a mode or a folder cannot."""


class PendingRow(Pending, frozen=True, kw_only=True):
    """A pending request as the server sends it: with what an answer needs."""

    input_sha256: str
    choices: tuple[OfferedChoice, ...]
