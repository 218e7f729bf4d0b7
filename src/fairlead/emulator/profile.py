"""Everything that differs between the two emulated versions, in one table.

The rest of the emulator asks a `Profile` and never compares version numbers. The values were
measured (TRUTH 1 and 5); a field says what the newer version does that the older one does not,
unless its comment says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

from fairlead.emulator.catalogue import NEW, OLD, Catalogue, Model
from fairlead.errors import UsageError

__all__ = ["DEFAULT_VERSION", "PROFILES", "Profile", "profile_of"]

DEFAULT_VERSION = "2.1.325"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How one version of the CLI behaves."""

    version: str
    catalogue: Catalogue
    modes: tuple[str, ...]
    """Permission modes that the command line takes."""
    settable_modes: tuple[str, ...] | None
    """Modes that set_permission_mode takes; None for anything at all."""
    is_modern: bool
    """Frames and fields that came after 2.1.38: lifecycle, timestamps, meta, terminal_reason."""
    tolerates_unknown_input: bool
    """A blank line or an unknown type on stdin is ignored; else it is exit 1 (TRUTH 1.9)."""
    answers_unknown_requests: bool
    """Else an unknown control request is met with silence (TRUTH 1.2)."""
    answers_mode_twice: bool
    can_initialize_again: bool
    merges_queue: bool
    """Messages that wait become one turn; else one turn each (TRUTH 1.5)."""
    tools_start_while_streaming: bool
    reports_retries: bool
    slash_output_is_assistant: bool
    unknown_slash_goes_to_model: bool
    permission_hook_runs_beside_request: bool
    backgrounds_agents: bool
    """Subagents run in the background unless told otherwise."""
    announces_tasks: bool
    cost_survives_resume: bool
    handshakes_mcp_twice: bool
    trusts_projects: bool
    """Allow rules of the project's settings are obeyed at once."""

    @property
    def default_model(self) -> Model:
        return self.catalogue.models[0]


_OLD = Profile(
    version="2.1.38",
    catalogue=OLD,
    modes=("acceptEdits", "bypassPermissions", "default", "delegate", "dontAsk", "plan"),
    settable_modes=None,
    is_modern=False,
    tolerates_unknown_input=False,
    answers_unknown_requests=False,
    answers_mode_twice=True,
    can_initialize_again=False,
    merges_queue=False,
    tools_start_while_streaming=False,
    reports_retries=False,
    slash_output_is_assistant=False,
    unknown_slash_goes_to_model=False,
    permission_hook_runs_beside_request=False,
    backgrounds_agents=False,
    announces_tasks=False,
    cost_survives_resume=False,
    handshakes_mcp_twice=True,
    trusts_projects=True,
)

_NEW = Profile(
    version="2.1.325",
    catalogue=NEW,
    modes=("acceptEdits", "auto", "bypassPermissions", "manual", "dontAsk", "plan"),
    settable_modes=("acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan"),
    is_modern=True,
    tolerates_unknown_input=True,
    answers_unknown_requests=True,
    answers_mode_twice=False,
    can_initialize_again=True,
    merges_queue=True,
    tools_start_while_streaming=True,
    reports_retries=True,
    slash_output_is_assistant=True,
    unknown_slash_goes_to_model=True,
    permission_hook_runs_beside_request=True,
    backgrounds_agents=True,
    announces_tasks=True,
    cost_survives_resume=True,
    handshakes_mcp_twice=False,
    trusts_projects=False,
)

PROFILES = {profile.version: profile for profile in (_OLD, _NEW)}


def profile_of(version: str) -> Profile:
    """The profile of an emulated version."""
    if version not in PROFILES:
        known = " or ".join(PROFILES)
        raise UsageError(f"FAIRLEAD_EMULATE is {known}, not {version!r}")
    return PROFILES[version]
