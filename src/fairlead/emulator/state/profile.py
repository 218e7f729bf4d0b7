"""Everything that differs between the two emulated versions.

The rest of the emulator asks a `Profile` for a behavior by its name and never compares versions.
What only the newer version does is in `behaviors`; here are the other differences. The values were
measured (docs/cli-behaviour.md).
"""

from __future__ import annotations

from fairlead.emulator.state.behaviors import Behaviors, without_all
from fairlead.emulator.state.catalog import NEW, OLD, Catalog, Model
from fairlead.errors import UsageError
from fairlead.wire.modes import MODES

__all__ = ["DEFAULT_VERSION", "PROFILES", "Profile", "profile_of"]

DEFAULT_VERSION = "2.1.325"

_SORTED = tuple(sorted(MODES))
"""The modes in the order in which the CLI lists them."""


class Profile(Behaviors, frozen=True, kw_only=True):
    """How one version of the CLI behaves."""

    version: str
    catalog: Catalog
    modes: tuple[str, ...]
    """Permission modes that the command line accepts."""
    settable_modes: tuple[str, ...] | None
    """Modes that set_permission_mode accepts; None for any text."""
    output_limit: int
    """Tokens of the longest reply."""
    tolerates_unknown_input: bool
    """A blank line or an unknown type on stdin is ignored; else it is exit 1 (CLI-902)."""
    answers_unknown_requests: bool
    """Else an unknown control request is not answered (CLI-215)."""
    answers_mode_twice: bool
    can_initialize_again: bool
    merges_queue: bool
    """Queued prompts become one turn; else one turn each (CLI-518)."""
    tools_start_while_streaming: bool
    reports_retries: bool
    slash_output_is_assistant: bool
    unknown_slash_goes_to_model: bool
    permission_hook_runs_during_request: bool
    backgrounds_agents: bool
    """Subagents run in the background by default."""
    announces_tasks: bool
    cost_survives_resume: bool
    handshakes_mcp_twice: bool
    lists_added_servers_twice: bool
    """`mcp_status` lists a program that `mcp_set_servers` added twice (CLI-806)."""
    manages_configured_servers_only: bool
    """`mcp_toggle` and `mcp_reconnect` do not know servers that the host added (CLI-806)."""
    plan_keeps_bypass: bool
    """Plan mode asks for nothing if the session may bypass permissions (CLI-1607)."""
    honors_client_composed: bool
    """A user message marked `client_composed` runs no slash command; else the mark is ignored."""
    trusts_projects: bool
    """Allow rules of the project's settings are obeyed at once."""

    @property
    def default_model(self) -> Model:
        return self.catalog.models[0]


_OLD = Profile(
    version="2.1.38",
    catalog=OLD,
    modes=tuple(sorted({*MODES, "delegate"} - {"auto"})),
    settable_modes=None,
    **without_all(),
    output_limit=32_000,
    tolerates_unknown_input=False,
    answers_unknown_requests=False,
    answers_mode_twice=True,
    can_initialize_again=False,
    merges_queue=False,
    tools_start_while_streaming=False,
    reports_retries=False,
    slash_output_is_assistant=False,
    unknown_slash_goes_to_model=False,
    permission_hook_runs_during_request=False,
    backgrounds_agents=False,
    announces_tasks=False,
    cost_survives_resume=False,
    handshakes_mcp_twice=True,
    lists_added_servers_twice=True,
    plan_keeps_bypass=True,
    manages_configured_servers_only=True,
    honors_client_composed=False,
    trusts_projects=True,
)

_NEW = Profile(
    version="2.1.325",
    catalog=NEW,
    modes=tuple("manual" if mode == "default" else mode for mode in _SORTED),
    settable_modes=_SORTED,
    output_limit=128_000,
    tolerates_unknown_input=True,
    answers_unknown_requests=True,
    answers_mode_twice=False,
    can_initialize_again=True,
    merges_queue=True,
    tools_start_while_streaming=True,
    reports_retries=True,
    slash_output_is_assistant=True,
    unknown_slash_goes_to_model=True,
    permission_hook_runs_during_request=True,
    backgrounds_agents=True,
    announces_tasks=True,
    cost_survives_resume=True,
    handshakes_mcp_twice=False,
    lists_added_servers_twice=False,
    plan_keeps_bypass=False,
    manages_configured_servers_only=False,
    honors_client_composed=True,
    trusts_projects=False,
)

PROFILES = {profile.version: profile for profile in (_OLD, _NEW)}


def profile_of(version: str) -> Profile:
    """The profile of an emulated version."""
    if version not in PROFILES:
        known = " or ".join(PROFILES)
        raise UsageError(f"FAIRLEAD_EMULATE is {known}, not {version!r}")
    return PROFILES[version]
