"""A test kit for programs that host Claude Code; it needs no account and no network.

`plugin` has the fixtures: `emulated_claude` is an emulated CLI with a script of the test,
`scripted_cli` a real CLI with a scripted model, and `replayed_claude` plays a recording back.
`expectations` has assertions on the lines of a CLI. `real_cli` fetches CLIs of given versions (with
`node`), `hermetic` makes their environment, `isolated` runs a command with loopback only.
"""

from fairlead.testing.emulated import EmulatedClaude
from fairlead.testing.expectations import (
    assert_asked_for,
    assert_ended_well,
    assert_said,
    assert_used,
    lines_of,
)

__all__ = [
    "EmulatedClaude",
    "assert_asked_for",
    "assert_ended_well",
    "assert_said",
    "assert_used",
    "lines_of",
]
