"""`fairlead discover` on real CLIs: the names of their protocol are found in the program."""

from __future__ import annotations

import subprocess
import sys

from fairlead.testing.real_cli import RealCli, ensure

KNOWN = {
    "control request subtypes": "control request subtypes: ",
    "result subtypes": "result subtypes: 5 in the program, 0 unknown",
}


def test_requests_and_results_are_found_in_the_program(cli: RealCli) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "fairlead.commands.main",
            "discover",
            "--agent",
            str(ensure(cli.version).executable),  # The program itself, not a launcher.
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    for line in KNOWN.values():
        assert line in done.stdout
    counted = {
        line.split(":")[0]: int(line.split(":")[1].split()[0])
        for line in done.stdout.splitlines()
        if not line.startswith("  ")
    }
    assert counted["control request subtypes"] >= 12
    unknown = done.stdout.partition("control request subtypes")[2].splitlines()[1:]
    names = {line.strip() for line in unknown if line.startswith("  ")}
    assert not names & {"can_use_tool", "interrupt", "initialize", "set_model", "error", "success"}
    assert ("add_directory" in names) == (str(cli.version) in ("2.1.220", "2.1.325"))
