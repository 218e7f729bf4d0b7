"""Checks of the profiles of a server, for `fairlead serve` and `fairlead doctor`.

Only names, folders and login states are printed, never the value of a variable.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import stat
from dataclasses import dataclass
from pathlib import Path

from fairlead.commands.agents import DEMO
from fairlead.commands.serving.settings import read_settings
from fairlead.errors import AgentNotFound, FairleadError, UsageError
from fairlead.host.options import agent
from fairlead.host.options.environment import child_environment
from fairlead.host.options.options import Options
from fairlead.host.options.passed_variables import unset_variables
from fairlead.server.profiles.config_dirs import real_paths
from fairlead.server.profiles.profile import Profile, check_folders, profile_environment
from fairlead.server.profiles.profiles import FILE, read_profiles
from fairlead.wire.config_folder import VARIABLE, config_folder

__all__ = ["LoginState", "check_profiles", "login_of"]

Finding = tuple[bool, str]
"""Whether it is in order, and what was found."""


@dataclass(frozen=True, slots=True)
class LoginState:
    """Whether a profile is logged in, and what to do if it is not."""

    words: str
    advice: str = ""
    is_ok: bool = True


async def login_of(profile: Profile, options: Options) -> LoginState:
    """Ask the CLI of a profile for its login."""
    if not await asyncio.to_thread(os.path.isdir, profile.config_dir):
        advice = f"log in with {_command(profile, options)} and type /login"
        return LoginState(
            "not used yet (the folder is made at the first session)", advice, is_ok=True
        )
    try:
        env = profile_environment(profile, options, os.environ)
        executable = agent.find(str(options.agent), env.get("PATH"))
        version = await agent.version_of(executable, env)
        logged_in = await agent.is_logged_in(executable, version, env)
    except AgentNotFound:
        return LoginState("the CLI was not found", is_ok=False)
    except FairleadError as problem:
        return LoginState(f"the CLI does not answer: {problem}", is_ok=False)
    if logged_in is None:
        return LoginState("this CLI does not report its login")
    if logged_in:
        return LoginState("logged in")
    advice = f"run {_command(profile, options)} and type /login, or set a key for the profile"
    return LoginState("not logged in, so every turn will fail", advice, is_ok=False)


async def check_profiles(name: str, data: Path) -> list[Finding]:
    """What is in order with the profiles of a data folder, and what is not."""
    try:
        defined = read_settings(data).profiles
    except UsageError as problem:
        return [(False, str(problem))]
    file = data / FILE
    findings = _check_file(file)
    own = [
        each
        for each in read_profiles(file)
        if each.name not in {profile.name for profile in defined}
    ]
    profiles = [*defined, *own]
    if name == DEMO:
        return findings  # The demo has no accounts.
    options = Options(agent=name)
    default = config_folder(child_environment(os.environ, options), str(Path.home()))
    try:
        folders = [each.config_dir for each in profiles]
        check_folders(profiles, default, real_paths([*folders, default]))
    except UsageError as problem:
        findings.append((False, str(problem)))
    for profile in profiles:
        findings += _check_folder(profile)
        state = await login_of(profile, options)
        advice = f": {state.advice}" if state.advice else ""
        findings.append((state.is_ok, f"profile {profile.name}: {state.words}{advice}"))
    return findings


def _check_file(file: Path) -> list[Finding]:
    try:
        mode = stat.S_IMODE(file.stat().st_mode)
    except OSError:
        return []
    if mode & 0o077:
        return [(False, f"{file} can be read by others; it has the values of variables. Run `chmod 600 {shlex.quote(str(file))}`")]  # fmt: skip
    return []


def _check_folder(profile: Profile) -> list[Finding]:
    where, folder = f"profile {profile.name}", profile.config_dir
    findings: list[Finding] = [
        (
            False,
            f"{where}: pass_env names {name}, which is not set here. Set it, or remove the name",
        )
        for name in unset_variables(profile.pass_env, os.environ)
    ]
    try:
        status = os.stat(folder)
    except FileNotFoundError:
        return [*findings, (True, f"{where}: {folder} does not exist yet")]
    except OSError as problem:
        return [*findings, (False, f"{where}: {folder}: {problem.strerror}. Choose another folder")]
    quoted = shlex.quote(folder)
    if not stat.S_ISDIR(status.st_mode):
        return [*findings, (False, f"{where}: {folder} is not a folder. Choose another config_dir")]
    if status.st_uid != os.getuid():
        words = f"{where}: {folder} belongs to another user. Choose another config_dir"
        return [*findings, (False, words)]
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return [*findings, (False, f"{where}: {folder} cannot be used. Run `chmod 700 {quoted}`")]
    if stat.S_IMODE(status.st_mode) & 0o077:
        words = f"{where}: others can read {folder}, where the CLI stores its login. Run `chmod 700 {quoted}`"
        return [*findings, (False, words)]
    return [*findings, (True, f"{where}: {folder}")]


def _command(profile: Profile, options: Options) -> str:
    return f"`{VARIABLE}={shlex.quote(profile.config_dir)} {shlex.quote(str(options.agent))}`"
