"""A real CLI in the middle of a turn, whose host is killed."""

from __future__ import annotations

from fairlead.model_api.replies import use
from tests.e2e.real_cli.cli_harness import CliHarness
from tests.host.hosts import gone, host_at_work, long_command


async def test_C36_a_killed_host_leaves_no_cli_and_no_command(harness: CliHarness) -> None:
    pid_file = harness.project / "pid"
    harness.model.push(use("Bash", command=long_command(pid_file)))
    options = {
        "agent": str(harness.cli.executable),
        "version": harness.cli.version,
        "cwd": str(harness.project),
        "env": harness.env,
        "inherit_env": False,
    }
    async with host_at_work(options, pid_file) as work:
        work.host.kill()
        await gone(work.cli, work.command)
