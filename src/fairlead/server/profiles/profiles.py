"""The profiles of one server: those of `serve.toml`, and those that owners made in the app.

The app's own are stored in `profiles.json` in the data folder, with mode 0600, because the values of
their variables may be secrets. No value is ever sent to a client. A profile of `serve.toml` takes
precedence over one of the app with the same name.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from fairlead.errors import UsageError
from fairlead.host.options.options import Options
from fairlead.server.profiles.config_dirs import full_path, prepare, real_paths
from fairlead.server.profiles.profile import (
    DEFAULT,
    Profile,
    check_folders,
    profile_environment,
)
from fairlead.server.refusal import Refusal

__all__ = ["FILE", "Profiles", "read_profiles"]

FILE = "profiles.json"
MOST = 50

log = logging.getLogger("fairlead")


class Profiles:
    """The profiles; those of the app in memory only until `load` names a file for them."""

    def __init__(self, from_file: Iterable[Profile] = (), default_folder: str = "") -> None:
        self.default_folder = default_folder
        """The CLI's folder without a profile; empty if it is not known."""
        self.changed: Callable[[], None] = lambda: None
        """Called in the event loop after a change."""
        self._file: Path | None = None
        self._profiles = {profile.name: profile for profile in from_file}
        self._check(self._profiles.values())

    def load(self, file: Path) -> None:
        """Read the stored profiles from this file, and write every change to it from now on."""
        self._file = file
        for profile in read_profiles(file):
            try:
                if profile.name in self._profiles:
                    raise UsageError(f"serve.toml has another profile {profile.name}.")
                self._check([*self._profiles.values(), profile])
            except UsageError as problem:
                log.warning("a profile of %s is not used: %s", file, problem)
            else:
                self._profiles[profile.name] = profile

    def read_again(self) -> None:
        """Read the profiles of the app again: another process of the server changed them. Blocks."""
        if self._file is not None:
            file = self._file
            self._profiles = {n: each for n, each in self._profiles.items() if each.from_file}
            self.load(file)

    def all(self) -> tuple[Profile, ...]:
        """All profiles but the default one, by name."""
        return tuple(self._profiles[name] for name in sorted(self._profiles))

    def find(self, name: str) -> Profile | None:
        """A profile by its name; None for the default one and for one that does not exist."""
        return self._profiles.get(name)

    def stored_name(self, name: str | None) -> str:
        """The name that a session stores, empty for the default; refuses an unknown profile."""
        if name in (None, "", DEFAULT):
            return ""
        if name not in self._profiles:
            raise missing(str(name))
        return str(name)

    def environment(self, name: str, options: Options) -> dict[str, str]:
        """The variables of a CLI in a profile; of the default one if it does not exist."""
        return profile_environment(self.find(name), options, os.environ)

    def for_start(self, name: str, options: Options) -> dict[str, str] | None:
        """The variables to start a CLI with; None for the default profile. Makes the folder.

        Blocks: call it in a thread.
        """
        if not name:
            return None
        profile = self._profiles.get(name)
        if profile is None:
            raise missing(name)
        prepare(name, profile.config_dir)
        return profile_environment(profile, options, os.environ)

    def put(self, profile: Profile) -> None:
        """Add or replace a profile of the app; refuses one that cannot work. Blocks."""
        before = self._own(profile.name)
        if before is None and len(self._profiles) >= MOST:
            raise Refusal("too_many", f"A server can have at most {MOST} profiles.")
        try:
            others = [each for each in self._profiles.values() if each.name != profile.name]
            self._check([*others, profile])
        except UsageError as problem:
            raise Refusal("bad_message", str(problem)) from None
        self._store({**self._profiles, profile.name: profile})

    def remove(self, name: str) -> None:
        """Remove a profile of the app; its folder stays as it is. Blocks."""
        if self._own(name) is None:
            raise missing(name)
        self._store({key: value for key, value in self._profiles.items() if key != name})

    def _own(self, name: str) -> Profile | None:
        """A profile that the app may change."""
        profile = self._profiles.get(name)
        if profile is not None and profile.from_file:
            raise Refusal(
                "conflict",
                f"The profile {name} is defined in serve.toml. Change it there, and restart the "
                "server.",
            )
        return profile

    def _check(self, profiles: Iterable[Profile]) -> None:
        listed = list(profiles)
        folders = [profile.config_dir for profile in listed]
        check_folders(listed, self.default_folder, real_paths([*folders, self.default_folder]))

    def _store(self, profiles: dict[str, Profile]) -> None:
        if self._file is not None:
            _write(self._file, [each for each in profiles.values() if not each.from_file])
        self._profiles = profiles


def missing(name: str) -> Refusal:
    """The refusal if a session's profile does not exist."""
    return Refusal("not_found", missing_words(name), check="profile")


def missing_words(name: str) -> str:
    """What to do about a profile that does not exist."""
    return (
        f"The profile {name[:80]!r} does not exist on this server. An owner can add it in the "
        "settings under Profiles, with the folder that it had."
    )


def read_profiles(file: Path) -> list[Profile]:
    """The profiles in a file that the app wrote; those that cannot be read are left out."""
    try:
        stored = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    entries = stored if isinstance(stored, list) else []
    profiles = []
    for entry in entries:
        try:
            profiles.append(_profile(entry))
        except (UsageError, LookupError, TypeError, AttributeError):
            log.warning("a profile in %s cannot be read", file)  # Its values are not shown.
    return profiles


def _profile(entry: Mapping[str, Any]) -> Profile:
    return Profile(
        name=str(entry["name"]),
        label=str(entry["label"]),
        config_dir=full_path(str(entry["config_dir"])),
        env={str(name): str(value) for name, value in entry["env"].items()},
        pass_env=tuple(map(str, entry["pass_env"])),
    )


def _write(file: Path, profiles: list[Profile]) -> None:
    entries = [
        {
            "name": profile.name,
            "label": profile.label,
            "config_dir": profile.config_dir,
            "env": dict(profile.env),
            "pass_env": list(profile.pass_env),
        }
        for profile in profiles
    ]
    part = file.with_name(f"{file.name}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(part, flags, 0o600), "w", encoding="utf-8") as opened:
            os.fchmod(opened.fileno(), 0o600)  # A part that a kill left may have another mode.
            json.dump(entries, opened)
            opened.flush()
            os.fsync(opened.fileno())
        part.replace(file)
    except OSError as problem:
        raise Refusal(
            "unavailable",
            f"Nothing was changed, because it could not be stored: {problem.strerror or problem}.",
        ) from problem
