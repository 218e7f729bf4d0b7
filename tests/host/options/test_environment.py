"""The child's environment: what passes, what does not, and what the options add."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.host.options.environment import (
    CLI_SETTINGS,
    NESTED_MARKERS,
    SYSTEM,
    child_environment,
)
from fairlead.host.options.options import Options

ALWAYS = {"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1"}

PASSES = [
    "HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TZ",
    "TMPDIR", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "SSL_CERT_FILE", "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS", "http_proxy", "https_proxy", "no_proxy", "all_proxy", "HTTP_PROXY",
    "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL",
    "ANTHROPIC_MODEL", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK",
    "DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER", "DO_NOT_TRACK", "IS_SANDBOX", "MCP_TIMEOUT",
    "BASH_DEFAULT_TIMEOUT_MS",
]  # fmt: skip

CANARIES = [
    "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "GOOGLE_APPLICATION_CREDENTIALS", "AZURE_CLIENT_SECRET",
    "GITHUB_TOKEN", "GH_TOKEN", "OPENAI_API_KEY", "DATABASE_URL", "PGPASSWORD", "NPM_TOKEN",
    "SSH_AUTH_SOCK", "DJANGO_SECRET_KEY", "STRIPE_KEY", "PASSWORD", "SLACK_TOKEN", "VAULT_TOKEN",
    "KUBECONFIG", "DOCKER_AUTH_CONFIG", "NODE_OPTIONS", "LD_PRELOAD", "PYTHONPATH", "PWD",
    "FAIRLEAD_TOKEN", "MY_ANTHROPIC_API_KEY", "anthropic_api_key", "Http_Proxy", "LCD_SECRET",
    "PATHS", "HOMEBREW_GITHUB_API_TOKEN", "CLAUDE", "XDG", "CLOUDSDK_CORE_ACCOUNT",
]  # fmt: skip


@pytest.mark.parametrize("name", PASSES)
def test_what_the_cli_needs_passes(name: str) -> None:
    assert child_environment({name: "value"}, Options()) == {name: "value", **ALWAYS}


@pytest.mark.parametrize("name", CANARIES)
def test_a_secret_of_the_parent_does_not_pass(name: str) -> None:
    assert child_environment({name: "canary"}, Options()) == ALWAYS


@pytest.mark.parametrize("name", sorted(NESTED_MARKERS))
def test_a_marker_of_a_session_around_this_one_does_not_pass(name: str) -> None:
    assert child_environment({name: "1"}, Options()) == ALWAYS


@given(st.dictionaries(st.sampled_from(CANARIES) | st.text(min_size=1), st.just("canary")))
def test_no_variable_passes_that_is_not_named(parent: dict[str, str]) -> None:
    prefixes = ("LC_", "XDG_", "ANTHROPIC_", "CLAUDE_")
    child = child_environment(parent, Options())
    named = {*PASSES, *SYSTEM, *CLI_SETTINGS}
    assert {name for name in child if name not in named and not name.startswith(prefixes)} == set()
    assert set(CANARIES).isdisjoint(child)


@pytest.mark.parametrize(
    ("switch", "passes"),
    [
        ("CLAUDE_CODE_USE_BEDROCK", {"AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"}),
        (
            "CLAUDE_CODE_USE_VERTEX",
            {"GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_CORE_ACCOUNT"},
        ),
        ("CLAUDE_CODE_USE_FOUNDRY", {"AZURE_CLIENT_SECRET"}),
    ],
)
@pytest.mark.parametrize("where", ["parent", "options"])
def test_credentials_of_a_cloud_pass_only_to_a_cli_that_uses_it(
    switch: str, passes: set[str], where: str
) -> None:
    secrets = dict.fromkeys(CANARIES, "canary")
    if where == "parent":
        child = child_environment({**secrets, switch: "1"}, Options())
    else:
        child = child_environment(secrets, Options(env={switch: "true"}))
    assert {name for name, value in child.items() if value == "canary"} == passes


@pytest.mark.parametrize("off", ["", "0", "false", "No", " off "])
def test_a_cloud_that_is_switched_off_gets_no_credentials(off: str) -> None:
    parent = {"CLAUDE_CODE_USE_BEDROCK": off, "AWS_PROFILE": "canary"}
    assert "AWS_PROFILE" not in child_environment(parent, Options())


def test_the_caller_may_switch_a_cloud_of_the_parent_off() -> None:
    parent = {"CLAUDE_CODE_USE_BEDROCK": "1", "AWS_PROFILE": "canary"}
    child = child_environment(parent, Options(env={"CLAUDE_CODE_USE_BEDROCK": "0"}))
    assert "AWS_PROFILE" not in child


def test_what_the_caller_adds_wins_over_everything() -> None:
    first = {
        "GITHUB_TOKEN": "mine",
        "PATH": "/mine",
        "CLAUDECODE": "1",
        "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "0",
    }
    child = child_environment({"PATH": "/theirs", "GITHUB_TOKEN": "theirs"}, Options(env=first))
    assert child == first


def test_nothing_is_inherited_if_the_caller_says_so() -> None:
    parent = {**dict.fromkeys(PASSES, "theirs"), "CLAUDE_CODE_USE_BEDROCK": "1", "AWS_X": "y"}
    child = child_environment(parent, Options(inherit_env=False, env={"PATH": "/mine"}))
    assert child == {"PATH": "/mine", **ALWAYS}


def test_file_checkpoints_are_asked_for_by_a_variable() -> None:
    child = child_environment({}, Options(file_checkpoints=True))
    assert child == {**ALWAYS, "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING": "1"}


def test_the_parents_own_environment_is_left_as_it_is() -> None:
    parent = {"PATH": "/bin", "SECRET": "x"}
    child_environment(parent, Options(env={"A": "b"}))
    assert parent == {"PATH": "/bin", "SECRET": "x"}
