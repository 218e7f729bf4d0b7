"""The fingerprint of the reducing code covers every module of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fairlead.store.code_version import PACKAGES, modules_below

SOURCE = Path(__file__).parents[2] / "src" / "fairlead"


@pytest.mark.parametrize("package", PACKAGES)
def test_every_module_of_a_package_is_in_the_fingerprint(package: str) -> None:
    folder = SOURCE / package
    expected = {path.relative_to(folder).as_posix() for path in folder.rglob("*.py")}
    assert {name for name, _ in modules_below(folder)} == expected
