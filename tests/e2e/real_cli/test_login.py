"""Whether a CLI is signed in, with a dummy key and without one."""

from __future__ import annotations

import pytest

from fairlead.host.options.agent import is_logged_in, version_of
from fairlead.testing.real_cli import RealCli
from fairlead.wire.versions import Feature


async def test_a_cli_with_a_key_is_signed_in_and_one_without_a_key_is_not(
    cli: RealCli, cli_env: dict[str, str]
) -> None:
    executable = str(cli.executable)
    version = await version_of(executable, cli_env)
    keyless = {name: value for name, value in cli_env.items() if name != "ANTHROPIC_API_KEY"}
    states = (
        await is_logged_in(executable, version, cli_env),
        await is_logged_in(executable, version, keyless),
    )
    assert states == ((True, False) if version.has(Feature.AUTH_STATUS) else (None, None))


@pytest.mark.only(before="2.1.120")
async def test_an_old_cli_is_not_asked_because_it_would_read_the_command_as_a_prompt(
    cli: RealCli, cli_env: dict[str, str]
) -> None:
    version = await version_of(str(cli.executable), cli_env)
    assert await is_logged_in("/no/such/program", version, cli_env) is None
