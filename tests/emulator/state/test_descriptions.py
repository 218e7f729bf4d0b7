"""Every command and agent of the emulator has a description."""

from __future__ import annotations

import pytest

from fairlead.emulator.state.catalog import NEW, OLD, Catalog
from fairlead.emulator.state.descriptions import AGENTS, COMMANDS


@pytest.mark.parametrize("catalog", [OLD, NEW], ids=["2.1.38", "2.1.325"])
def test_every_name_of_a_catalog_is_described(catalog: Catalog) -> None:
    assert set(catalog.slash_commands) <= set(COMMANDS)
    assert set(catalog.agents) <= set(AGENTS)


def test_nothing_is_described_that_no_version_has() -> None:
    assert set(COMMANDS) == {*OLD.slash_commands, *NEW.slash_commands}
    assert set(AGENTS) == {*OLD.agents, *NEW.agents}
