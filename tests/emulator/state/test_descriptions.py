"""Every command and agent of the emulator has a description."""

from __future__ import annotations

import pytest

from fairlead.emulator.state.catalogue import NEW, OLD, Catalogue
from fairlead.emulator.state.descriptions import AGENTS, COMMANDS


@pytest.mark.parametrize("catalogue", [OLD, NEW], ids=["2.1.38", "2.1.325"])
def test_every_name_of_a_catalogue_is_described(catalogue: Catalogue) -> None:
    assert set(catalogue.slash_commands) <= set(COMMANDS)
    assert set(catalogue.agents) <= set(AGENTS)


def test_nothing_is_described_that_no_version_has() -> None:
    assert set(COMMANDS) == {*OLD.slash_commands, *NEW.slash_commands}
    assert set(AGENTS) == {*OLD.agents, *NEW.agents}
