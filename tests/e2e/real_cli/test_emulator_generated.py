"""The emulator next to the real CLI on generated host scripts."""

from __future__ import annotations

import pytest

from fairlead.testing.real_cli import RealCli
from tests.e2e.conversations.differential import Recorder, compare
from tests.e2e.conversations.golden import names, read
from tests.matrix import share

EMULATED = pytest.mark.parametrize("cli", ["2.1.38", "2.1.325"], indirect=True)

EVERY = 8
"""`make conformance` plays every n-th golden script to the real CLI again, `make test` three."""


@pytest.mark.matrix(target="conformance")
@pytest.mark.timeout(900)  # A loaded machine takes many times the 40 s of a quiet one.
@EMULATED
async def test_E35_generated_conversations_are_the_same_on_the_real_cli(cli: RealCli) -> None:
    recorder = Recorder()
    for name in share(names(cli.version)[::EVERY], 3):
        script, _ = read(cli.version, name)
        verdict = await compare(script, cli.version, recorder)
        assert verdict is not None
        assert verdict.is_equal, f"{name} {script.theme}\n{verdict.diff}"
