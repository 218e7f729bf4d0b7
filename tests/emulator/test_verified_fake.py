"""The emulator against every scenario that was recorded on the versions that it emulates.

The host's side of a recording is played to the emulator as a real process, under a script that
makes the model say what it said. Its lines and the recording's agree in order, types, subtypes
and keys; what may differ is listed in `accepted_differences`.
"""

from __future__ import annotations

import fnmatch
import json
from pathlib import Path

import pytest

from tests.emulator.accepted_differences import DIFFERENCES, accepted
from tests.emulator.derived_script import derive
from tests.emulator.recorded_process import processes, scenarios
from tests.emulator.replayed_process import RECORDED_ROOT, Replay
from tests.emulator.scenario_files import furnish
from tests.emulator.skeleton import skeletons

VERSIONS = ("2.1.38", "2.1.325")
CASES = [(version, name) for version in VERSIONS for name in scenarios(version)]


def test_there_are_recordings_of_both_versions() -> None:
    assert {version for version, _ in CASES} == set(VERSIONS)


def test_each_accepted_difference_has_a_reason_and_a_recording() -> None:
    assert all(difference.reason.strip() for difference in DIFFERENCES)
    assert all(fnmatch.filter(scenarios(v), d.scenario) for d in DIFFERENCES for v in d.versions)


@pytest.mark.matrix(target="conformance")
@pytest.mark.parametrize(("version", "name"), CASES, ids=[f"{n}-{v}" for v, n in CASES])
def test_E1_the_emulator_writes_the_lines_of_the_recording(
    version: str, name: str, tmp_path: Path
) -> None:
    root = tmp_path.resolve()
    furnish(root, name)
    for number, recorded in enumerate(processes(version, name)):
        script = root / f"script-{number}.json"
        text = json.dumps(derive(recorded, version, name))
        script.write_text(text.replace(f"{RECORDED_ROOT}/", f"{root}/"))
        played = Replay(recorded, version, name, root, script).run()
        wanted = accepted(skeletons(recorded.written()), version, name)
        got = accepted(skeletons(played.lines), version, name)
        assert got == wanted, played.stderr
        assert played.exit_code == _exit_code(recorded.exit_code), played.stderr


def _exit_code(recorded: object) -> object:
    """The recording describes a process that had to be stopped."""
    return recorded if isinstance(recorded, int) else 143
