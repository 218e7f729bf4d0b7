"""The surroundings of a real CLI under test: nothing of the machine, nothing of the network.

`hermetic_env` is the whole environment of the child (it is not added to ours): a home of its own,
a dummy key, a model API on loopback, and no traffic that a turn does not need. With the key in
the environment and stream-json on stdio no version asks for a login, so an empty home is enough;
only the trust in a project has to be written down (`trust`, TRUTH 3).

Its neighbour `isolated` takes the network away; `real_cli` has the CLI itself.
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
    """The environment for a CLI; `extra` adds variables, or takes one away with None.

    As root, `IS_SANDBOX="1"` is needed for the mode bypassPermissions (TRUTH 1.3); it is set
    only if asked for. Keep the path of `home` short: 2.1.325 opens a socket below it.
    """
    temporary = home / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    env: dict[str, str | None] = {
        "HOME": str(home),
        # Else every CLI of this user shares /tmp/claude-UID and leaves settings files behind.
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
    """A PATH that has git, bash, node and the standard folders, and nothing else of ours."""
    found = [shutil.which(tool) for tool in TOOLS]
    folders = [str(Path(path).parent) for path in found if path]
    folders += [str(find_node().node.parent), *os.defpath.split(os.pathsep)]
    return os.pathsep.join(dict.fromkeys(folders))


def trust(home: Path, *projects: Path) -> None:
    """Accept the trust dialog for these projects, as a person would have in the terminal.

    Without it 2.1.325 ignores the allow rules in a project's own settings files.
    """
    path = home / ".claude.json"
    config = json.loads(path.read_text("utf-8")) if path.exists() else {}
    entries = config.setdefault("projects", {})
    for project in projects:
        entries.setdefault(str(project), {})["hasTrustDialogAccepted"] = True
    path.write_text(json.dumps(config), "utf-8")
