"""The one list of permission modes and efforts, and those who take it from there."""

from __future__ import annotations

from typing import get_args

from fairlead.emulator.state.profile import PROFILES
from fairlead.host.literals import PermissionMode
from fairlead.host.options.options import PERMISSION_MODES
from fairlead.permissions.model.modes import Mode, parse_mode
from fairlead.server import policy
from fairlead.wire.modes import MODES


def test_the_modes_of_permissions_are_those_of_the_protocol() -> None:
    assert {mode.value for mode in Mode} == set(MODES)


def test_options_take_every_mode_and_one_alias() -> None:
    assert PERMISSION_MODES == MODES
    assert set(get_args(PermissionMode)) == {*MODES, "manual"}


def test_a_client_can_ask_for_every_mode_but_no_checks_in_the_order_of_the_list() -> None:
    assert (*policy.MODES, "bypassPermissions") == MODES


def test_an_emulated_version_has_modes_that_mean_one_of_the_list() -> None:
    old, new = PROFILES["2.1.38"], PROFILES["2.1.325"]
    assert old.modes == (
        "acceptEdits", "bypassPermissions", "default", "delegate", "dontAsk", "plan",
    )  # fmt: skip
    assert new.modes == (
        "acceptEdits", "auto", "bypassPermissions", "manual", "dontAsk", "plan",
    )  # fmt: skip
    assert new.settable_modes == (
        "acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan",
    )  # fmt: skip
    assert all(parse_mode(mode) is not None for mode in (*old.modes, *new.modes))
