"""What differs between versions of the CLI when it decides about a call.

Five versions were measured, each is a family: 2.1.29 (`FIRST`), 2.1.38 (`CLASSIC`), 2.1.120
(`MIDDLE`), 2.1.220 (`LATE`) and 2.1.325 (`CURRENT`). A version between two of them is taken for
the older one. Everything the policy knows of a version stands here as data. Neighbours: `policy`,
`bash_policy`, `readonly`, `suggestions` read it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

__all__ = ["CLASSIC", "CURRENT", "FAMILIES", "FIRST", "LATE", "MIDDLE", "Family", "family_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """How one generation of the CLI decides."""

    name: str
    since: tuple[int, ...]
    """The first version that is taken to behave so."""
    doubts: frozenset[str]
    """Shell features that this family asks about although our grammar understands them."""
    duration: re.Pattern[str]
    """What `timeout` may be given so that the command behind it is looked at instead."""
    wrappers: frozenset[str]
    """Programs that an allow rule looks through, as in `timeout 5 npm test`."""
    wrapper_options: bool
    """Whether options of those programs are understood (`timeout -k 1 5 …`), or only the plain form."""
    readonly_wrappers: frozenset[str]
    """Programs that a read-only command may stand behind."""
    slash_star_is_idle: bool
    """Whether the path pattern `/**` covers nothing instead of everything."""
    bare_star: bool
    """Whether `npm run *` also matches a bare `npm run`."""
    extra_safe_variables: frozenset[str]
    """Environment prefixes beyond the common ones that an allow rule looks past."""
    extra_protected: frozenset[str]
    """File and directory names beyond the common ones that only a person may let be written."""
    extra_readonly: frozenset[str]
    """Read-only programs beyond the common ones."""
    sed_reads_files: bool
    """Whether `sed -n` that names a file only looks; else it does so at the end of a pipe alone."""
    plain_words_only: bool
    """Whether a read-only command must do without `!`, `#`, `%` and escapes in its words."""
    mcp_globs: bool
    """Whether `mcp__server__get*` is understood."""
    rules_cover_edit_commands: bool
    """Whether an allow rule such as `Bash(rm:*)` counts for rm, mv, cp … at all."""
    whole_tool_covers_protected: bool
    """Whether an allow rule for the whole tool counts for protected files."""
    bypass_covers_protected: bool
    """Whether the mode bypassPermissions lets protected files be written without asking."""
    read_denial_stops_writes: bool
    """Whether a file that may not be read may not be written either."""
    readonly_variables: bool
    """Whether a read-only command may have a harmless environment prefix."""
    classifier_in_plan: bool
    """Whether plan mode hands commands and fetches to the CLI's own classifier."""
    project_needs_trust: bool
    """Whether allow rules of the project's shared file wait for the workspace to be trusted."""
    wildcard_suggestions: bool
    """Whether `npm run build` is suggested as `npm run *`."""
    rule_beside_path: bool
    """Whether a command stopped by a path is also offered as a rule."""


CLASSIC = Family(
    name="2.1.38",
    since=(2, 1, 38),
    doubts=frozenset(
        (
            "and-redirect",
            "blank-line",
            "comment",
            "control-flow",
            "glob-in-read-only",
            "here-document",
            "here-string",
            "input-redirect",
            "pipe-stderr",
        )
    ),
    duration=re.compile(r"\d+[smhd]?"),
    wrappers=frozenset(("timeout", "time", "nice", "nohup")),
    wrapper_options=False,
    readonly_wrappers=frozenset(),
    slash_star_is_idle=True,
    bare_star=False,
    extra_safe_variables=frozenset(),
    extra_protected=frozenset(),
    extra_readonly=frozenset(),
    sed_reads_files=True,
    plain_words_only=True,
    mcp_globs=False,
    rules_cover_edit_commands=False,
    whole_tool_covers_protected=True,
    bypass_covers_protected=True,
    read_denial_stops_writes=False,
    readonly_variables=False,
    classifier_in_plan=False,
    project_needs_trust=False,
    wildcard_suggestions=False,
    rule_beside_path=False,
)

FIRST = replace(CLASSIC, name="2.1.29", since=(0,), sed_reads_files=False)

CURRENT = Family(
    name="2.1.325",
    since=(2, 1, 325),
    doubts=frozenset(("cd-with-git",)),
    duration=re.compile(r"\d+(?:\.\d+)?[smhd]?"),
    wrappers=frozenset(
        ("timeout", "time", "nice", "nohup", "stdbuf", "command", "builtin", "xargs")
    ),
    wrapper_options=True,
    readonly_wrappers=frozenset(("timeout", "command", "builtin")),
    slash_star_is_idle=False,
    bare_star=True,
    extra_safe_variables=frozenset(("CI", "COLUMNS", "LINES", "CLICOLOR")),
    extra_protected=frozenset(
        (
            ".bash_login",
            ".bash_logout",
            ".bash_aliases",
            ".zshenv",
            ".zlogin",
            ".npmrc",
            ".yarnrc",
            ".yarnrc.yml",
            ".yarn",
            ".husky",
            ".devcontainer",
            ".envrc",
            ".pre-commit-config.yaml",
            ".cargo",
            ".config/git",
            "bunfig.toml",
            ".pnp.cjs",
            ".pnpmfile.cjs",
            ".bazelrc",
            "lefthook.yml",
        )
    ),
    extra_readonly=frozenset(
        (
            "cmp",
            "comm",
            "egrep",
            "expr",
            "fgrep",
            "fmt",
            "node --version",
            "numfmt",
            "pr",
            "printf",
            "seq",
            "test",
            "tsort",
        )
    ),
    sed_reads_files=True,
    plain_words_only=False,
    mcp_globs=True,
    rules_cover_edit_commands=True,
    whole_tool_covers_protected=False,
    bypass_covers_protected=True,
    read_denial_stops_writes=True,
    readonly_variables=True,
    classifier_in_plan=True,
    project_needs_trust=True,
    wildcard_suggestions=True,
    rule_beside_path=True,
)

LATE = replace(
    CURRENT,
    name="2.1.220",
    since=(2, 1, 220),
    readonly_wrappers=frozenset(("command", "builtin")),
    read_denial_stops_writes=False,
)

MIDDLE = replace(
    LATE,
    name="2.1.120",
    since=(2, 1, 120),
    wrappers=LATE.wrappers - LATE.readonly_wrappers,
    readonly_wrappers=frozenset(),
    extra_protected=frozenset((".husky",)),
    rules_cover_edit_commands=False,
    bypass_covers_protected=False,
    classifier_in_plan=False,
    rule_beside_path=False,
)

FAMILIES = (FIRST, CLASSIC, MIDDLE, LATE, CURRENT)
"""From the oldest to the newest."""


def family_of(version: str) -> Family:
    """The family of a version such as "2.1.38"; the newest for a text that is no version."""
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:3])
    if not numbers:
        return CURRENT
    return max(
        (family for family in FAMILIES if family.since <= numbers),
        key=lambda family: family.since,
    )
