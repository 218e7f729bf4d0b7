"""The pure fold: messages in, a conversation and its changes out.

`transcript` has the two ways in (`Transcript` and the pure `reduce`), `reduce` the dispatch, and one module per noun the rest;
`changes` and `snapshot` are what goes to clients, `history` and `recording` read old sessions
into the same reducer. No I/O, no clock: docs/transcript.md has the rules.
"""

from fairlead.transcript.snapshot import SCHEMA, Snapshot
from fairlead.transcript.state.changes import (
    Add,
    Append,
    Change,
    Remove,
    Replace,
    Set,
    apply,
)
from fairlead.transcript.state.coalesce import coalesce
from fairlead.transcript.transcript import Transcript

__all__ = [
    "SCHEMA",
    "Add",
    "Append",
    "Change",
    "Remove",
    "Replace",
    "Set",
    "Snapshot",
    "Transcript",
    "apply",
    "coalesce",
]
