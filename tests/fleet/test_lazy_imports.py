"""The code of a fleet's bus is loaded only by those who use it."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "module", ["fairlead", "fairlead.commands.serve", "fairlead.fleet.bus.bus"]
)
def test_nats_is_not_loaded_without_a_fleet(module: str) -> None:
    program = f"import sys, {module}; print([m for m in sys.modules if '.nats_' in m])"
    printed = subprocess.check_output([sys.executable, "-c", program], text=True)
    assert printed.strip() == "[]"
