"""The settings file of `fairlead serve`: `serve.toml` in the data folder.

The file is written by the user and read once, when the server starts. A flag of the command line
replaces the value of the file. A key that is unknown or has the wrong type stops the start: a
setting that is silently ignored could leave a server more open than its owner believes.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairlead.errors import UsageError
from fairlead.server.profiles.config_dirs import full_path
from fairlead.server.profiles.profile import Profile
from fairlead.store.database.folder import SETTINGS_FILE

__all__ = ["ServeSettings", "apply_settings", "read_settings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeSettings:
    """The values of the file; None and empty mean that the file does not set them."""

    public_url: str | None = None
    trusted_proxy: tuple[str, ...] = ()
    pass_env: tuple[str, ...] = ()
    terminal: bool = False
    profiles: tuple[Profile, ...] = ()


def read_settings(data: Path) -> ServeSettings:
    """The settings in a data folder; the defaults if it has no such file."""
    file = data / SETTINGS_FILE
    try:
        text = file.read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return ServeSettings()
    except (OSError, UnicodeDecodeError) as problem:
        if not os.access(data, os.X_OK):  # `check_data_folder` says what is wrong with it.
            return ServeSettings()
        raise UsageError(f"cannot read {file}: {problem}. Fix the file, or remove it.") from None
    import tomllib  # Few servers have such a file.

    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise UsageError(f"{file} is not valid TOML: {problem}.") from None
    return _checked(file, content)


def apply_settings(arguments: argparse.Namespace, settings: ServeSettings) -> None:
    """Use the settings where the command line names no value."""
    arguments.public_url = arguments.public_url or settings.public_url
    arguments.trusted_proxy = arguments.trusted_proxy or list(settings.trusted_proxy)
    arguments.pass_env = arguments.pass_env or list(settings.pass_env)
    arguments.terminal = arguments.terminal or settings.terminal


def _checked(file: Path, content: Mapping[str, Any]) -> ServeSettings:
    known: dict[str, Callable[[Path, str, Any], Any]] = {
        "public_url": _text,
        "trusted_proxy": _texts,
        "pass_env": _texts,
        "terminal": _switch,
        "profiles": _profiles,
    }
    for key in content:
        if key not in known:
            names = ", ".join(sorted(known))
            raise UsageError(f"{file}: unknown setting {key!r}. The settings are {names}.")
    values = {key: known[key](file, key, value) for key, value in content.items()}
    return ServeSettings(**values)


def _switch(file: Path, key: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise UsageError(f"{file}: {key} must be true or false, such as {key} = true.")
    return value


def _profiles(file: Path, key: str, value: object) -> tuple[Profile, ...]:
    if not isinstance(value, dict):
        raise UsageError(f"{file}: write a profile as [profiles.NAME].")
    return tuple(_profile(file, name, fields) for name, fields in value.items())


def _profile(file: Path, name: str, fields: object) -> Profile:
    where = f"profiles.{name}"
    if not isinstance(fields, dict) or "config_dir" not in fields:
        raise UsageError(
            f'{file}: [{where}] needs a folder for the CLI, such as config_dir = "~/.claude-{name}".'
        )
    known: dict[str, Callable[[Path, str, Any], Any]] = {
        "config_dir": _text,
        "label": _text,
        "env": _variables,
        "pass_env": _texts,
    }
    for key in fields:
        if key not in known:
            names = ", ".join(sorted(known))
            raise UsageError(f"{file}: unknown setting {key!r} in [{where}]. They are {names}.")
    values = {key: known[key](file, f"{where}.{key}", value) for key, value in fields.items()}
    values["config_dir"] = full_path(values["config_dir"])
    try:
        return Profile(name=name, from_file=True, **values)
    except UsageError as problem:
        raise UsageError(f"{file}: {problem}") from None


def _variables(file: Path, key: str, value: object) -> dict[str, str]:
    """Variables with their values, which are never shown."""
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise UsageError(f'{file}: {key} must have texts as values, such as {{ NAME = "…" }}.')
    return value


def _text(file: Path, key: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise UsageError(f'{file}: {key} must be a text, such as {key} = "…".')
    return value


def _texts(file: Path, key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) and text for text in value):
        raise UsageError(f'{file}: {key} must be a list of texts, such as {key} = ["…"].')
    return tuple(value)
