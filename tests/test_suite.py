"""`make test` runs failures again and names every test that needed it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.suite import Part, main, run

pytestmark = pytest.mark.timeout(300)  # Each test starts pytest several times.

TESTS = """
from pathlib import Path

def test_steady():
    pass

def test_shy():
    mark = Path(__file__).with_name("mark")
    seen = mark.exists()
    mark.touch()
    assert seen

{more}
"""


def part(folder: Path, name: str, more: str = "") -> Part:
    folder = folder / name
    folder.mkdir()
    (folder / f"test_{name}.py").write_text(TESTS.format(more=more))
    return Part(name, f"the part {name}", str(folder), workers=0, network=True, caches=folder)


def test_a_test_that_passes_alone_is_named_and_one_that_does_not_fails_the_run(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    passing = part(tmp_path, "passing")
    failing = part(tmp_path, "failing", "def test_broken():\n    assert not 1\n")
    assert run([passing]) == 0
    assert "NEEDED A SECOND, SERIAL RUN: " in capfd.readouterr().out
    assert run([passing, failing]) == 1
    output = capfd.readouterr().out
    assert "passing ended with exit code 0" in output
    assert "the part failing" in output
    named = [line for line in output.splitlines() if "RUN: " in line or "TWICE: " in line]
    assert [(line.split(":")[1].strip(), line.rpartition("::")[2]) for line in named] == [
        ("FAILED TWICE", "test_broken"),
        ("NEEDED A SECOND, SERIAL RUN", "test_shy"),
    ]


def test_a_run_without_tests_fails(tmp_path: Path) -> None:
    empty = Part("empty", "nothing", str(tmp_path), workers=0, network=True, caches=tmp_path)
    assert run([empty]) == 5


def test_an_unknown_part_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["brwoser"])
    assert "the parts are others, browser, wheel" in capsys.readouterr().err
