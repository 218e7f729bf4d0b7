"""`python -m fairlead.emulator`: a `claude` that needs no account."""

from __future__ import annotations

import sys

from fairlead.emulator.process.program import main

if __name__ == "__main__":
    sys.exit(main())
