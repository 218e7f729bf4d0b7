"""The files in the project and the home of each recorded scenario.

The recordings show what the CLI made of these files, not the files; they are reconstructed from
that. Programs that the machine may lack (npm, node, make, git) are small scripts.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = "{root}"

FILES: dict[str, dict[str, str]] = {
    "add_dir": {"outside/x.txt": "X\n"},
    "control_new": {"project/a.txt": "A\n"},
    "parallel": {"project/a.txt": "A\n", "project/b.txt": "B\n"},
    "perm_edit_changed": {"project/a.txt": "one\ntwo\nthree\n"},
    "perm_parallel_reads": {"outside/x.txt": "X\n", "outside/d/y.txt": "Y\n"},
    "perm_suggestions": {"outside/x.txt": "X\n"},
    "rules": {"project/secret.txt": "s\n", "outside/x.txt": "X\n"},
    "tools_files": {
        "project/a.txt": "one\ntwo\nthree\n",
        "project/b.txt": "bee\n",
        "project/p.png": "",
    },
    "tools_search": {"project/a.txt": "one\ntwo\n", "project/d/b.txt": "two\ntwo\n"},
}
MODES = ("default", "plan", "dontAsk", "auto", "manual", "delegate", "bypassPermissions")
for _mode in (*(f"mode_{name}" for name in MODES), "mode_skip_flag"):
    FILES[_mode] = {"project/a.txt": "A\n", "outside/x.txt": "X\n"}

USER_SETTINGS: dict[str, Any] = {
    "rules": {
        "permissions": {
            "allow": ["Bash(npm:*)", "Bash(git status)", "Bash(make *)", "Read({root}/outside/**)"],
            "ask": ["Bash(npm run deploy)", "Bash(ls)"],
            "deny": ["Bash(npm publish)", "Read(./secret.txt)"],
        }
    },
    "setting_sources": {"permissions": {"allow": ["Bash(npm:*)"]}},
}

_HOOKS = {
    "hooks": {
        "SessionStart": [{"hooks": [{"type": "command", "command": "echo started"}]}],
        "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "echo user-ctx"}]}],
        "PreToolUse": [
            {
                "matcher": "Bash",
                "hooks": [{"type": "command", "command": "echo pre-out; echo pre-err >&2"}],
            }
        ],
        "PostToolUse": [
            {
                "matcher": "Bash",
                "hooks": [{"type": "command", "command": 'echo \'{"systemMessage":"from hook"}\''}],
            }
        ],
        "Stop": [{"hooks": [{"type": "command", "command": "true"}]}],
    }
}
USER_SETTINGS["hooks_settings"] = _HOOKS
# The recording has no message of a hook, and 2.1.325 writes every `systemMessage` (CLI-1609), so its
# PostToolUse hook cannot have printed one.
USER_SETTINGS["hooks_settings_plain"] = {"hooks": {**_HOOKS["hooks"], "PostToolUse": []}}

PROJECT_SETTINGS: dict[str, Any] = {
    "rules_project": {"permissions": {"allow": ["Bash(npm:*)"]}},
}

SERVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    schema = {"type": "object", "properties": {"s": {"type": "string"}}}
    result = {
        "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                       "serverInfo": {"name": "st", "version": "1"}},
        "tools/list": {"tools": [{"name": "echo", "description": "d", "inputSchema": schema}]},
        "tools/call": {"content": [{"type": "text", "text": "echo"}]},
    }[asked["method"]]
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""

PROGRAMS = {
    "npm": "echo 11.19.1",
    "node": "echo v24.0.0",
    "make": "echo \"make: *** No rule to make target '$1'.  Stop.\" >&2; exit 2",
    "git": "echo 'fatal: not a git repository' >&2; exit 128",
}


def furnish(root: Path, name: str) -> None:
    """Write the files of a scenario to a folder."""
    for folder in ("project", "home/.claude", "tmp", "outside", "bin"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for program, body in PROGRAMS.items():
        path = root / "bin" / program
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
    (root / "bin" / "python3").symlink_to(sys.executable)
    for path_name, text in FILES.get(name, {}).items():
        path = root / path_name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    if name in USER_SETTINGS:
        _settings(root / "home/.claude/settings.json", USER_SETTINGS[name], root)
    if name in PROJECT_SETTINGS:
        _settings(root / "project/.claude/settings.json", PROJECT_SETTINGS[name], root)
    if name in ("mcp_config", "strict_mcp"):
        (root / "project/st.py").write_text(SERVER)
        server = {"type": "stdio", "command": "python3", "args": ["st.py"]}
        (root / "project/.mcp.json").write_text(json.dumps({"mcpServers": {"proj": server}}))


def _settings(path: Path, settings: Any, root: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(settings).replace(ROOT, str(root)))
