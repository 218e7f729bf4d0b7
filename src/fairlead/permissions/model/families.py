"""What differs between versions of the CLI when it decides about a call.

Five versions were measured, and each is a family: 2.1.29 (`FIRST`), 2.1.38 (`CLASSIC`), 2.1.120
(`MIDDLE`), 2.1.220 (`LATE`) and 2.1.325 (`CURRENT`). A version between two of them is treated like
the older one. Everything that the policy knows about a version is data in this file. Neighbors:
`policy`, `bash_policy`, `readonly` and `suggestions` read it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from fairlead.wire.versions import Version

__all__ = ["CLASSIC", "CURRENT", "FAMILIES", "FIRST", "LATE", "MIDDLE", "Family", "family_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """How one group of versions decides."""

    name: str
    since: Version
    """The first version that is assumed to behave like this."""
    doubts: frozenset[str]
    """Shell features that this family asks about although the grammar understands them."""
    duration: re.Pattern[str]
    """The durations for which `timeout 5 npm test` is treated like `npm test`."""
    wrappers: frozenset[str]
    """Programs that an allow rule skips, as in `timeout 5 npm test`."""
    wrapper_options: bool
    """Whether options of those programs are known (`timeout -k 1 5 …`), or only the plain form."""
    readonly_wrappers: frozenset[str]
    """Programs that may precede a read-only command."""
    slash_star_is_idle: bool
    """Whether the path pattern `/**` covers nothing instead of everything."""
    bare_star: bool
    """Whether `npm run *` also matches a bare `npm run`."""
    literal_arguments: bool
    """Whether an allow rule is compared with the arguments as written, quotes included."""
    extra_safe_variables: frozenset[str]
    """Variables, besides the common ones, whose assignment an allow rule skips."""
    extra_protected: frozenset[str]
    """Protected file and directory names, besides the common ones."""
    extra_readonly: frozenset[str]
    """Read-only programs, besides the common ones."""
    never_readonly: frozenset[str]
    """Programs and subcommands that other versions treat as read-only, and this one does not (CLI-1543)."""
    sed_reads_files: bool
    """Whether `sed -n` with a file is read-only; otherwise only `sed -n` in a pipe is."""
    plain_words_only: bool
    """Whether a read-only command may not have `!`, `#`, `%` or escapes in its words."""
    mcp_globs: bool
    """Whether `mcp__server__get*` is understood."""
    rules_cover_edit_commands: bool
    """Whether an allow rule such as `Bash(rm:*)` applies to rm, mv, cp … at all."""
    whole_tool_covers_protected: bool
    """Whether an allow rule for the whole tool applies to protected files."""
    bypass_covers_protected: bool
    """Whether the mode bypassPermissions allows writing protected files."""
    read_denial_stops_writes: bool
    """Whether a file that may not be read may not be written either."""
    readonly_variables: bool
    """Whether a read-only command may have a harmless assignment before it."""
    classifier_in_plan: bool
    """Whether plan mode passes commands and fetches to the CLI's own classifier."""
    classifier_in_auto: bool
    """Whether there is a mode auto, which does the same (CLI-1542)."""
    project_needs_trust: bool
    """Whether allow rules and directories of the project's own files need a trusted workspace."""
    project_may_bypass: bool
    """Whether `defaultMode: bypassPermissions` in the project's own files has an effect."""
    colons_are_ambiguous: bool
    """Whether a file tool asks about a path with a colon or with a dot at its end."""
    refuses_links: bool
    """Whether a file that is itself a symbolic link is never written by a file tool."""
    malformed_drops_file: bool
    """Whether one malformed rule makes the CLI ignore its whole settings file."""
    bash_rules_need_parse: bool
    """Whether a command that cannot be analyzed asks in every mode if Bash has deny or ask rules."""
    skills_ask: bool
    """Whether a skill that grants tools or runs hooks asks."""
    wildcard_suggestions: bool
    """Whether `npm run build` is suggested as `npm run *`."""
    rule_beside_path: bool
    """Whether a command stopped by a path is also offered as a rule."""


CLASSIC = Family(
    name="2.1.38",
    since=Version(2, 1, 38),
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
    literal_arguments=False,
    extra_safe_variables=frozenset(),
    extra_protected=frozenset(),
    extra_readonly=frozenset(),
    never_readonly=frozenset(),
    sed_reads_files=True,
    plain_words_only=True,
    mcp_globs=False,
    rules_cover_edit_commands=False,
    whole_tool_covers_protected=True,
    bypass_covers_protected=True,
    read_denial_stops_writes=False,
    readonly_variables=False,
    classifier_in_plan=False,
    classifier_in_auto=False,
    project_needs_trust=False,
    project_may_bypass=True,
    colons_are_ambiguous=True,
    refuses_links=False,
    malformed_drops_file=True,
    bash_rules_need_parse=False,
    skills_ask=True,
    wildcard_suggestions=False,
    rule_beside_path=False,
)

FIRST = replace(
    CLASSIC,
    name="2.1.29",
    since=Version(0, 0, 0),
    sed_reads_files=False,
    never_readonly=frozenset(
        (
            "docker inspect",
            "docker logs",
            "expand",
            "fold",
            "readlink",
            "rev",
            "tac",
            "tree",
            "unexpand",
        )
    ),
)

_PROTECTED_IN_CURRENT = """.bash_aliases .bash_login .bash_logout .bazeliskrc .bazelrc .bazelversion .bunfig.toml .cargo .config/git
    .devcontainer .devcontainer.json .envrc .husky .lefthook.yaml .lefthook.yml .mvn .npmrc .pnp.cjs
    .pnp.loader.mjs .pnpmfile.cjs .pre-commit-config.yaml .yarn .yarnrc .yarnrc.yml .zlogin .zlogout
    .zshenv bunfig.toml gradle-wrapper.properties lefthook.yaml lefthook.yml
    maven-wrapper.properties"""

CURRENT = Family(
    name="2.1.325",
    since=Version(2, 1, 325),
    doubts=frozenset(("cd-with-git", "for-loop", "redirected-control-flow")),
    duration=re.compile(r"\d+(?:\.\d+)?[smhd]?"),
    wrappers=frozenset(
        ("timeout", "time", "nice", "nohup", "stdbuf", "command", "builtin", "xargs")
    ),
    wrapper_options=True,
    readonly_wrappers=frozenset(("timeout", "command", "builtin")),
    slash_star_is_idle=False,
    bare_star=True,
    literal_arguments=True,
    extra_safe_variables=frozenset(("CI", "COLUMNS", "LINES", "CLICOLOR")),
    extra_protected=frozenset(_PROTECTED_IN_CURRENT.split()),
    extra_readonly=frozenset(
        (
            "[",
            "[[",
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
    never_readonly=frozenset(),
    sed_reads_files=True,
    plain_words_only=False,
    mcp_globs=True,
    rules_cover_edit_commands=True,
    whole_tool_covers_protected=False,
    bypass_covers_protected=True,
    read_denial_stops_writes=True,
    readonly_variables=True,
    classifier_in_plan=True,
    classifier_in_auto=True,
    project_needs_trust=True,
    project_may_bypass=False,
    colons_are_ambiguous=False,
    refuses_links=True,
    malformed_drops_file=False,
    bash_rules_need_parse=True,
    skills_ask=True,
    wildcard_suggestions=True,
    rule_beside_path=True,
)

LATE = replace(
    CURRENT,
    name="2.1.220",
    since=Version(2, 1, 220),
    readonly_wrappers=frozenset(("command", "builtin")),
    read_denial_stops_writes=False,
)

MIDDLE = replace(
    LATE,
    name="2.1.120",
    since=Version(2, 1, 120),
    wrappers=LATE.wrappers - LATE.readonly_wrappers,
    readonly_wrappers=frozenset(),
    extra_protected=frozenset((".husky",)),
    rules_cover_edit_commands=False,
    bypass_covers_protected=False,
    classifier_in_plan=False,
    rule_beside_path=False,
)

FAMILIES = (FIRST, CLASSIC, MIDDLE, LATE, CURRENT)
"""Oldest first."""


def family_of(version: str) -> Family:
    """The family of a version such as "2.1.38"; the newest for a text that is no version."""
    parsed = Version.parse(version)
    if parsed is None:
        return CURRENT
    return max(
        (family for family in FAMILIES if family.since <= parsed),
        key=lambda family: family.since,
    )
