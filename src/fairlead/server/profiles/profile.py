"""One profile: a name, the CLI's folder, and variables for the CLI. Pure.

The CLI keeps its login, its settings and its sessions in the folder that `CLAUDE_CONFIG_DIR` names,
so a folder of its own is an account of its own. The values of variables may be secrets: nothing
here shows them, and an error names only the variable.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from fairlead.errors import UsageError
from fairlead.host.options.environment import NESTED_MARKERS, child_environment
from fairlead.host.options.options import Options
from fairlead.host.options.passed_variables import check_names, passed_variables
from fairlead.wire.config_folder import VARIABLE

__all__ = ["DEFAULT", "LOGIN_VARIABLES", "Profile", "check_folders", "profile_environment"]

DEFAULT = "default"
"""The name of the profile that every server has: the environment of the server itself. Sessions,
limits and the store write it as an empty text."""

LOGIN_VARIABLES = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")
"""Logins that the CLI uses instead of the one in its folder. A profile does not inherit them, or
all profiles would be the same account."""

NAME_CHARS, LABEL_CHARS, FOLDER_CHARS = 32, 64, 1_000
VARIABLES, VALUE_CHARS = 100, 16_384

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A profile; raises `UsageError` for values that cannot work."""

    name: str
    config_dir: str
    """An absolute path."""
    label: str = ""
    """What clients show instead of the name."""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables with their values, which may be secrets."""
    pass_env: tuple[str, ...] = ()
    """Variables of the server's own environment, by name or by a beginning such as `OTEL_*`."""
    from_file: bool = False
    """Whether `serve.toml` defines it; clients cannot change it then."""

    def __post_init__(self) -> None:
        _check_name(self.name)
        if len(self.label) > LABEL_CHARS or not _is_visible(self.label.replace(" ", "")):
            raise UsageError(
                f"Profile {self.name}: a label has at most {LABEL_CHARS} visible characters."
            )
        _check_folder(self.name, self.config_dir)
        _check_variables(self.name, self.env)
        check_names(self.pass_env, f"Profile {self.name}: pass_env")

    @property
    def shown(self) -> str:
        """The name for people."""
        return self.label or self.name


def profile_environment(
    profile: Profile | None, options: Options, parent: Mapping[str, str]
) -> dict[str, str]:
    """All variables of a CLI with these options, in a profile; None is the default one."""
    if profile is None:
        return child_environment(parent, options)
    passed = passed_variables(profile.pass_env, parent)
    logins = {name: value for name, value in parent.items() if name in LOGIN_VARIABLES}
    inherited = {name: value for name, value in parent.items() if name not in logins}
    named = {name: parent[name] for name in (*options.pass_env, *passed) if name in parent}
    own = {**profile.env, VARIABLE: profile.config_dir}
    return {**child_environment(inherited, options), **named, **options.env, **own}


def check_folders(profiles: Iterable[Profile], default: str, real: Mapping[str, str]) -> None:
    """Raise `UsageError` if one profile's folder is that of another, or inside it.

    `default` is the CLI's own folder. `real` has the folders with symbolic links resolved.
    """
    seen: list[tuple[str, str]] = [(DEFAULT, real.get(default, default))] if default else []
    for profile in profiles:
        folder = real.get(profile.config_dir, profile.config_dir)
        for name, other in seen:
            if _is_within(folder, other) or _is_within(other, folder):
                raise UsageError(
                    f"Profile {profile.name}: its folder {profile.config_dir!r} and the folder of "
                    f"the profile {name}, {other!r}, must not be the same or inside each other. "
                    "Choose another config_dir."
                )
        seen.append((profile.name, folder))


def _is_within(folder: str, other: str) -> bool:
    return folder == other or folder.startswith(other.rstrip("/") + "/")


def _is_visible(text: str) -> bool:
    """Whether a text has no white space, controls or invisible characters."""
    return text.isprintable() and not any(character.isspace() for character in text)


def _check_name(name: str) -> None:
    if not 0 < len(name) <= NAME_CHARS or not _is_visible(name) or "/" in name:
        raise UsageError(
            f"{name[: 2 * NAME_CHARS]!r} cannot be the name of a profile. A name has 1 to "
            f"{NAME_CHARS} visible characters without spaces and slashes."
        )
    if name == DEFAULT:
        raise UsageError(
            f"The profile {DEFAULT!r} always exists and uses the server's own environment. Choose "
            "another name."
        )


def _check_folder(name: str, folder: str) -> None:
    problem = ""
    if not folder:
        problem = "needs a folder for the CLI, such as ~/.claude-work"
    elif len(folder) > FOLDER_CHARS or not folder.isprintable():
        problem = "has a folder whose path is too long or has invisible characters"
    elif not posixpath.isabs(folder) or posixpath.normpath(folder) != folder:
        problem = f"has the folder {folder!r}, which is not an absolute path"
    if problem:
        raise UsageError(f"Profile {name} {problem}. Set config_dir to an absolute path.")


def _check_variables(name: str, env: Mapping[str, str]) -> None:
    if len(env) > VARIABLES:
        raise UsageError(f"Profile {name}: at most {VARIABLES} variables can be set.")
    for variable, value in env.items():
        if not _VARIABLE.fullmatch(variable) or variable in NESTED_MARKERS:
            raise UsageError(f"Profile {name}: {variable[:80]!r} cannot be set as a variable.")
        if variable == VARIABLE:
            raise UsageError(f"Profile {name}: set config_dir instead of {VARIABLE}.")
        if "\0" in value or len(value) > VALUE_CHARS:
            raise UsageError(
                f"Profile {name}: the value of {variable} has a NUL character or more than "
                f"{VALUE_CHARS:,} characters."
            )
