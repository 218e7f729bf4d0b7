"""The checklist is whole: each row has its tests, and each test of the checklist has its row."""

from __future__ import annotations

import inspect
from types import ModuleType

from tests.e2e.browser import (
    test_checklist_answers,
    test_checklist_panels,
    test_checklist_sessions,
    test_checklist_work,
    test_fast_mode,
)
from tests.e2e.browser.checklist import COMPONENTS, FEATURES

MODULES: tuple[ModuleType, ...] = (
    test_checklist_answers,
    test_checklist_panels,
    test_checklist_sessions,
    test_checklist_work,
    test_fast_mode,
)


def written() -> set[str]:
    """Every test of the checklist, by its module's ending and its name."""
    return {
        f"{_short(module)}.{name}"
        for module in MODULES
        for name, value in vars(module).items()
        if name.startswith("test_") and inspect.iscoroutinefunction(value)
    }


def _short(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2].removeprefix("test_").removeprefix("checklist_")


async def test_every_row_has_a_test_and_every_test_a_row() -> None:
    named = {test for tests in (*FEATURES.values(), *COMPONENTS.values()) for test in tests}
    assert named == written()


async def test_the_checklist_has_all_its_rows() -> None:
    assert len(FEATURES) == 36
    assert len(COMPONENTS) == 14
    assert all((*FEATURES.values(), *COMPONENTS.values()))
