"""The emulator against golden conversations: generated host scripts that real CLIs were recorded on."""

from __future__ import annotations

import pytest

from tests.e2e.conversations.comparison import difference, equal, outline
from tests.e2e.conversations.generator import SEED, generate, generate_all
from tests.e2e.conversations.golden import VERSIONS, names, read
from tests.e2e.conversations.host_player import play_emulated
from tests.e2e.conversations.named_scripts import named_scripts

CASES = [(version, name) for version in VERSIONS for name in names(version)]
NAMED = {script.name for script in named_scripts()}
GENERATED_CASES = [case for case in CASES if case[1] not in NAMED]
NAMED_CASES = [case for case in CASES if case[1] in NAMED]


def test_a_number_and_a_seed_always_give_the_same_script() -> None:
    scripts = generate_all(100)
    assert [script.key for script in scripts] == [generate(n).key for n in range(100)]
    assert len({script.key for script in scripts}) == 100
    assert generate(7, SEED + 1).key != generate(7).key


def _ids(cases: list[tuple[str, str]]) -> list[str]:
    return [f"{name}-{version}" for version, name in cases]


@pytest.mark.matrix(target="conformance", cases=12)
@pytest.mark.parametrize(("version", "name"), GENERATED_CASES, ids=_ids(GENERATED_CASES))
async def test_E35_the_emulator_writes_what_the_real_cli_wrote(version: str, name: str) -> None:
    await _check(version, name)


@pytest.mark.matrix(target="conformance", cases=30)
@pytest.mark.parametrize(("version", "name"), NAMED_CASES, ids=_ids(NAMED_CASES))
async def test_E36_the_emulator_plays_the_named_scripts(version: str, name: str) -> None:
    await _check(version, name)


async def _check(version: str, name: str) -> None:
    script, wanted = read(version, name)
    lines = outline(await play_emulated(script, version))
    assert equal(wanted, lines, races=script.races), f"{script.theme}\n{difference(wanted, lines)}"
