"""`make bless`: write every golden and generated file again. Read the difference before
committing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from fairlead.server.protocol.typescript import FOLDER, write

ROOT = Path(__file__).parents[1]

MODULES = ("tests.wire.goldens", "tests.wire.type_table", "tests.transcript.golden")


def main() -> None:
    """Run each writer, saying which."""
    for module in MODULES:
        sys.stderr.write(f"bless: {module}\n")
        subprocess.run([sys.executable, "-m", module], cwd=ROOT, check=True)
    sys.stderr.write(f"bless: {FOLDER}\n")
    write(ROOT / FOLDER)


if __name__ == "__main__":
    main()
