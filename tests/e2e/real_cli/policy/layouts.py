"""Builds the folders of a scenario: the project, a folder next to it, the home, and its settings.

Each layout adds something to the plain one: symbolic links, a repository, a folder that looks like
a bare repository, or unusual names.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairlead.permissions import RuleBook, Scope, SettingsFiles, load_settings, parse_mode
from fairlead.permissions.rules.book import SourcedDirectory
from fairlead.testing.hermetic import trust
from tests.e2e.real_cli.policy.scenario import Scenario

__all__ = ["LAYOUTS", "Workspace"]

PLAIN = (
    "@P/a.txt", "@P/b.md", "@P/secret.txt", "@P/.env", "@P/package.json", "@P/Makefile",
    "@P/src/a.py", "@P/src/main.c", "@P/docs/readme.md", "@P/build/out.o", "@P/tests/test_a.py",
    "@O/x.txt", "@O/sub/y.txt", "@H/notes.txt", "@P/nb.ipynb",
)  # fmt: skip
ODD = (
    "@P/with space.txt", "@P/-dash", "@P/x~1", "@P/x.", "@P/x.CON", "@P/a:b", "@P/[x]", "@P/ä.txt",
    "@P/Secret.TXT", "@P/it's", "@P/$HOME.txt", "@P/.hidden/x", "@P/src/.env",
)  # fmt: skip
LINKS = {
    "@P/link": "@O",
    "@P/srclink": "@P/src",
    "@P/seclink": "@P/secret.txt",
    "@P/gitlink": "@P/.git",
    "@P/loop": "@P/loop",
    "@P/dangling": "@P/nowhere",
    "@P/dangling-out": "@O/new.txt",
    "@P/src/up": "..",
    "@H/linked": "@O",
}
SKILLS = {
    "plain": "description: d",
    "tools": "description: d\nallowed-tools: Bash(ls:*)",
    "hooked": 'description: d\nhooks:\n  PreToolUse:\n    - matcher: "Bash"\n      hooks:\n        '
    "- type: command\n          command: 'true'",
    "agentic": "description: d\ncontext: fork",
    "shelly": "description: d",
    "fenced": "description: d",
    "modeled": "description: d\nmodel: opus",
    "pinned": "description: d\nversion: 1\nlicense: x\nmetadata:\n  a: b",
    "quiet": "description: d\ndisable-model-invocation: true",
    "empty": "description: d\nallowed-tools:",
}
BODIES = {"shelly": "Say !`ls`.\n", "fenced": "```!\nls\n```\n"}
LAYOUTS = ("plain", "links", "repo", "bare", "odd")

_SCOPES = {"user": Scope.USER, "project": Scope.PROJECT, "local": Scope.LOCAL}


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folders of one scenario below `root`."""

    scenario: Scenario
    root: Path

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def outside(self) -> Path:
        return self.root / "outside"

    @property
    def home(self) -> Path:
        return self.root / "home"

    def real(self, value: Any) -> Any:
        """The value with the folders in place of their placeholders."""
        if isinstance(value, str):
            for mark, path in (("@P", self.project), ("@O", self.outside), ("@H", self.home)):
                value = value.replace(mark, str(path))
            return value
        if isinstance(value, dict):
            return {key: self.real(inner) for key, inner in value.items()}
        return [self.real(inner) for inner in value] if isinstance(value, list) else value

    def build(self) -> None:
        """Create all folders and files."""
        names = PLAIN + (ODD if self.scenario.layout == "odd" else ())
        for name in names:
            path = Path(self.real(name))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("x\n")
        if self.scenario.layout == "links":
            for name, target in LINKS.items():
                Path(self.real(name)).symlink_to(self.real(target))
        if self.scenario.layout in ("repo", "bare"):
            self._repository()
        for name, head in SKILLS.items():
            path = self.project / ".claude" / "skills" / name / "SKILL.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            body = BODIES.get(name, "Say hi.\n")
            path.write_text(f"---\nname: {name}\n{head}\n---\n{body}")
        self._own_files()
        (self.home / "tmp").mkdir(parents=True, exist_ok=True)
        if self.scenario.trusted:
            trust(self.home, self.project)
        for place in _SCOPES:
            path = self.settings_file(place)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(self.settings(place)))

    def _own_files(self) -> None:
        """A skill of the user, a slash command and an agent of the project."""
        for path, text in (
            (
                self.home / ".claude/skills/mine/SKILL.md",
                "---\nname: mine\ndescription: d\n---\nHi.\n",
            ),
            (
                self.project / ".claude/commands/command.md",
                "---\ndescription: d\n---\nHi $ARGUMENTS.\n",
            ),
            (self.project / ".claude/agents/own.md", "---\nname: own\ndescription: d\n---\nHi.\n"),
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def _repository(self) -> None:
        base = self.project if self.scenario.layout == "bare" else self.project / ".git"
        for folder in ("objects", "refs/heads", "hooks"):
            (base / folder).mkdir(parents=True)
        (base / "HEAD").write_text("ref: refs/heads/main\n")
        (base / "config").write_text("[core]\n\trepositoryformatversion = 0\n")

    def settings_file(self, place: str) -> Path:
        """The settings file of a scope."""
        folder = self.home if place == "user" else self.project
        name = "settings.local.json" if place == "local" else "settings.json"
        return folder / ".claude" / name

    def settings(self, place: str) -> dict[str, Any]:
        """The settings of a scope, as the CLI reads them."""
        permissions: dict[str, Any] = {}
        for where, behavior, rule in self.scenario.rules:
            if where == place:
                permissions.setdefault(behavior, []).append(self.real(rule))
        for where, path in self.scenario.directories:
            if where == place:
                permissions.setdefault("additionalDirectories", []).append(self.real(path))
        if self.scenario.mode_from == place != "flag":
            permissions["defaultMode"] = self.scenario.mode
        if self.scenario.bypass_disabled == place:
            permissions["disableBypassPermissionsMode"] = "disable"
        # Without it the CLI contacts a server of its vendor before it fetches a page.
        return {"skipWebFetchPreflight": True, "permissions": permissions}

    def flags(self) -> list[str]:
        """The command line options of the scenario."""
        given = ["--settings", json.dumps(self.settings("flag"))]
        if self.scenario.mode_from == "flag":
            given += ["--permission-mode", self.scenario.mode]
        for where, _, rule in self.scenario.rules:
            if where in ("allowedTools", "disallowedTools"):
                given += [f"--{where}", self.real(rule)]
        for where, path in self.scenario.directories:
            if where == "addDir":
                given += ["--add-dir", self.real(path)]
        return given

    def book(self) -> RuleBook:
        """What the policy decides by."""
        files = SettingsFiles(
            paths={scope: str(self.settings_file(place)) for place, scope in _SCOPES.items()}
        )
        flag = self.settings("flag")["permissions"]
        directories = flag.pop("additionalDirectories", ())
        flag.pop("disableBypassPermissionsMode", None)
        of_flag = RuleBook.of(**flag, scope=Scope.FLAG)
        named = [
            (where, self.real(rule)) for where, _, rule in self.scenario.rules if "Tools" in where
        ]
        of_line = RuleBook.of(
            allow=[rule for where, rule in named if where == "allowedTools"],
            deny=[rule for where, rule in named if where == "disallowedTools"],
            scope=Scope.CLI_ARG,
        )
        mode = parse_mode(self.scenario.mode)
        assert mode is not None
        modes = RuleBook.of(mode=mode, scope=Scope.CLI_ARG).modes
        added = [(Scope.FLAG, path) for path in directories] + [
            (Scope.CLI_ARG, self.real(path))
            for where, path in self.scenario.directories
            if where == "addDir"
        ]
        return load_settings(files).joined(
            RuleBook(
                rules=of_flag.rules + of_line.rules,
                directories=tuple(
                    SourcedDirectory(path=path, scope=scope) for scope, path in added
                ),
                modes=modes if self.scenario.mode_from == "flag" else (),
                bypass_disabled=self.scenario.bypass_disabled == "flag",
            )
        )
