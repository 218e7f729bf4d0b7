"""`python -m fairlead.emulator`: a `claude` that needs no account."""

from __future__ import annotations

import os
import sys

__all__ = ["main"]


def main() -> int:
    """Run the emulator; returns its exit code.

    Every host asks a CLI for its version before it starts a session, so the version is printed
    without loading the rest: that takes a third of the time.
    """
    if sys.argv[1:] == ["--version"]:
        from fairlead.emulator.state.profile import DEFAULT_VERSION, PROFILES

        profile = PROFILES.get(os.environ.get("FAIRLEAD_EMULATE") or DEFAULT_VERSION)
        if profile is not None:
            sys.stdout.write(f"{profile.version} (Claude Code)\n")
            return 0
    from fairlead.emulator.process.program import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
