"""`fairlead serve` on data folders that cannot be used: a message, an exit code, and no data
destroyed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
MOUNTED = ["unshare", "-rm"]


STATES_S = 300.0
"""Limit of the program that makes all states; it starts dozens of servers."""

pytestmark = pytest.mark.timeout(STATES_S + 60)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("states")
    can = shutil.which("unshare") and subprocess.run(
        [*MOUNTED, "mount", "-t", "tmpfs", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if not can or can.returncode:
        pytest.fail(
            "these tests need file systems of their own, and `unshare -rm mount -t tmpfs` does "
            "not work here. Allow user namespaces, or run them as root in a container that may "
            "mount."
        )
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "HOME": str(folder.parent)}
    done = subprocess.run(
        [*MOUNTED, sys.executable, "-m", "tests.faults.data_states", str(folder)],
        capture_output=True, text=True, timeout=STATES_S, check=False, env=env,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.matrix(target="faults", cases=4)
@pytest.mark.parametrize(
    ("state", "code", "words"),
    [
        ("in use", 20, "is in use by process"),
        ("somebody's letters", 21, "is not empty and contains no data of Fairlead"),
        ("a link", 21, "is a symbolic link"),
        ("a file", 21, "is a file, not a folder"),
        ("read-only", 22, "is read-only. Use another folder"),
        ("full at first", 23, "Free some space there, or choose another folder"),
        ("too full", 23, "Free some space there, or choose another folder"),
        ("damaged", 24, "fairlead serve --new-database"),
        ("no database", 24, "fairlead serve --new-database"),
        ("of another program", 25, "a database of another program"),
        ("newer", 26, "made by a newer Fairlead"),
    ],
)
def test_S43_a_data_folder_that_cannot_be_used_is_refused_in_words(
    seen: dict[str, Any], state: str, code: int, words: str
) -> None:
    found = seen[state]
    assert (found["started"], found["exit"]) == (False, code), found["said"]
    assert words in found["said"]
    assert "Traceback" not in found["said"]
    assert found.get("unchanged", True), "not a byte of it was changed"


@pytest.mark.parametrize("state", ["damaged", "no database", "of another program", "newer"])
def test_S44_a_new_database_is_begun_and_the_old_one_kept_byte_for_byte(
    seen: dict[str, Any], state: str
) -> None:
    found = seen[f"{state}, new"]
    assert (found["started"], found["exit"]) == (True, 0), found["said"]
    assert "the old database was moved to" in found["said"]
    assert len(found["kept"]) == 1
    assert found["kept"][0].startswith("fairlead.db.kept-")


def test_S44_a_database_that_can_be_used_is_not_moved(seen: dict[str, Any]) -> None:
    assert seen["good"]["exit"] == 0
    found = seen["whole, new"]
    assert (found["started"], found["exit"]) == (False, 2)
    assert "--new-database did nothing" in found["said"]


def test_S43_on_disks_of_many_sizes_a_new_store_is_opened_or_refused_as_full(
    seen: dict[str, Any],
) -> None:
    sizes = list(seen["sizes"].values())
    # Between the two there may be sizes that have room for an empty store and for nothing more.
    order = ["refused: disk_full", "disk_full", "ok"]
    assert {order[0], order[2]} <= set(sizes) <= set(order)
    assert sizes == sorted(sizes, key=order.index)


def test_S11_nothing_acknowledged_is_lost_on_a_file_system_that_fills_up(
    seen: dict[str, Any],
) -> None:
    found = seen["fills up"]
    assert found["refused"] == "disk_full"
    assert found["acknowledged"] > 50
    assert found["stored"] == found["acknowledged"]
    assert found["again"] == found["stored"] + 1, "and it goes on when there is room"
