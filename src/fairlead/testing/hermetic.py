"""The environment of a real CLI under test, which uses nothing of the user and no network.

`hermetic_env` is the whole environment of the child (nothing is inherited): its own home, a dummy
key, a model API on loopback, and no traffic that a turn does not need. With the key in the
environment and stream-json on stdio, no version asks for a login, so an empty home is enough; only
the trust in a project must be stored (`trust`, CLI-323).

`isolated` removes the network; `real_cli` provides the CLI.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from fairlead.testing.node import find_node

__all__ = ["DUMMY_KEY", "hermetic_env", "search_path", "trust"]

DUMMY_KEY = "sk-ant-dummy-key-that-opens-nothing"

TOOLS = ("git", "bash", "rg")
"""Programs that the CLI's own tools run, besides Node."""


def hermetic_env(home: Path, base_url: str, **extra: str | None) -> dict[str, str]:
    """The environment for a CLI; `extra` adds variables, or removes one with None.

    As root, `IS_SANDBOX="1"` is needed for the mode bypassPermissions (CLI-313); it is set
    only if asked for. Keep the path of `home` short: 2.1.325 opens a socket below it.
    """
    temporary = home / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    env: dict[str, str | None] = {
        "HOME": str(home),
        # Otherwise all CLIs of this user share /tmp/claude-UID and leave settings files behind.
        "TMPDIR": str(temporary),
        "CLAUDE_CODE_TMPDIR": str(temporary),
        "PATH": search_path(),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "ANTHROPIC_API_KEY": DUMMY_KEY,
        "ANTHROPIC_BASE_URL": base_url,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        **extra,
    }
    return {name: value for name, value in env.items() if value is not None}


def search_path() -> str:
    """A PATH with the folders of git, bash, rg and node, and the standard folders."""
    paths = [shutil.which(tool) for tool in TOOLS]
    folders = [str(Path(path).parent) for path in paths if path]
    folders += [str(find_node().node.parent), *os.defpath.split(os.pathsep)]
    return os.pathsep.join(dict.fromkeys(folders))


def trust(home: Path, *projects: Path) -> None:
    """Accept the trust dialog for these projects, as a user would in the terminal.

    Without it 2.1.325 ignores the allow rules in a project's own settings files.
    """
    path = home / ".claude.json"
    config = json.loads(path.read_text("utf-8")) if path.exists() else {}
    entries = config.setdefault("projects", {})
    for project in projects:
        entries.setdefault(str(project), {})["hasTrustDialogAccepted"] = True
    path.write_text(json.dumps(config), "utf-8")
