"""A real CLI in the middle of a turn, whose host is killed."""

from __future__ import annotations

from fairlead.model_api.replies import use
from tests.e2e.real_cli.stage import Stage
from tests.host.hosts import gone, host_at_work, long_command


async def test_C36_a_killed_host_leaves_no_cli_and_no_command(stage: Stage) -> None:
    pid_file = stage.project / "pid"
    stage.model.push(use("Bash", command=long_command(pid_file)))
    options = {
        "agent": str(stage.cli.executable),
        "version": stage.cli.version,
        "cwd": str(stage.project),
        "env": stage.env,
        "inherit_env": False,
    }
    async with host_at_work(options, pid_file) as work:
        work.host.kill()
        await gone(work.cli, work.command)
