"""For tests of programs that host Claude Code, without an account and without a network.

`plugin` has the fixtures; `emulated` is a `claude` with an inline script, `scripted_cli` a real one
under the scripted model, `replays` a recording that is played back, `expectations` what a test may
ask of the lines. `real_cli` fetches CLIs of given versions (with `node`), `hermetic` makes their
environment, `isolated` runs a command with loopback only.
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
