"""The "always" choices of one request, numbered, the narrowest first.

A client sends back only numbers of this list, so that no rule, mode or folder can come from a
client (T-21). `permissions.choices` creates the choices from the CLI's suggestions and from
narrower rules; this module adds their scopes and required roles. A choice that would disable
permission checks or exceed the server's ceiling is not offered, and only an owner's answer may
write a settings file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from fairlead.permissions.model.scopes import Scope
from fairlead.permissions.rules.book import RuleBook
from fairlead.permissions.rules.decisions import ToolCall
from fairlead.permissions.rules.paths import PathContext
from fairlead.permissions.rules.updates import problem_of
from fairlead.server.policy import Policy
from fairlead.server.protocol.pending_row import OfferedChoice
from fairlead.wire.updates import (
    AddDirectories,
    AddRules,
    PermissionUpdate,
    SetMode,
    UnknownUpdate,
    with_destination,
)

if TYPE_CHECKING:
    from fairlead.permissions.choices import Choice

__all__ = ["Offer", "denial", "offers"]

_LASTING = (Scope.LOCAL, Scope.PROJECT, Scope.USER)
"""Scopes that outlive the session because a settings file is written."""


class Offer(Struct, frozen=True, kw_only=True):
    """One change to the rules that an answer may make."""

    index: int
    label: str
    scope: str
    role: str
    """The least role that may choose it."""
    update: PermissionUpdate
    lets_through: str = ""
    """What else it allows, as a sentence."""
    examples: tuple[str, ...] = ()
    """Earlier calls of this session that it would have allowed."""
    may_ask: str = ""
    """Why the CLI may ask about this call again in spite of it; empty if it will not."""
    wide: bool = False
    """Whether it also allows calls unlike this one: a whole tool, a mode, a folder."""

    def shown(self) -> OfferedChoice:
        """The choice as a client gets it."""
        return OfferedChoice(
            index=self.index,
            kind=_kind(self.update),
            subject=_subject(self.update),
            label=self.label,
            scope=self.scope,
            role=self.role,
            lets_through=self.lets_through,
            examples=self.examples,
            may_ask=self.may_ask,
            wide=self.wide,
            deniable=denial(self) is not None,
        )


def offers(
    call: ToolCall,
    suggestions: Sequence[Any],
    policy: Policy,
    context: PathContext,
    earlier: Iterable[ToolCall] = (),
) -> tuple[Offer, ...]:
    """The choices for a call with these suggestions, which are plain JSON values."""
    # Loaded at the first request, in a thread: 20 modules that an idle server does not need.
    from fairlead.permissions.choices import always_choices

    suggested = [suggestion for suggestion in suggestions if isinstance(suggestion, Mapping)]
    choices = always_choices(call, suggested, earlier, RuleBook(), context)
    result: list[Offer] = []
    for choice, scope in _scoped(choices, policy):
        update = _in_scope(choice, scope)
        if update is not None and _is_allowed(update, policy):
            result.append(_offer(len(result), choice, scope, update))
    return tuple(result)


def denial(offer: Offer) -> PermissionUpdate | None:
    """The same rules as deny rules; None if the offer is not a rule."""
    if isinstance(offer.update, AddRules):
        return structs.replace(offer.update, behavior="deny")
    return None


def _scoped(choices: Sequence[Choice], policy: Policy) -> list[tuple[Choice, Scope]]:
    """Each choice for this session, and for a settings file if the CLI suggests it; no duplicates."""
    scoped: dict[tuple[str, Scope], tuple[Choice, Scope]] = {}
    for choice in choices:
        (update,) = choice.updates
        if isinstance(update, UnknownUpdate):
            continue
        lasting = update.destination in _LASTING and not isinstance(update, SetMode)
        scopes = [Scope.SESSION]
        if lasting and policy.wide_scopes:
            scopes.append(Scope(update.destination))
        what = repr(with_destination(update, Scope.SESSION.value))
        for scope in scopes:
            scoped.setdefault((what, scope), (choice, scope))
    return list(scoped.values())


def _in_scope(choice: Choice, scope: Scope) -> PermissionUpdate | None:
    (update,) = choice.updates
    moved = with_destination(update, scope.value)
    return moved if problem_of(moved) is None else None


def _is_allowed(update: PermissionUpdate, policy: Policy) -> bool:
    if isinstance(update, SetMode):
        return policy.allows_mode(update.mode)
    if isinstance(update, AddRules):
        return update.behavior == "allow" and bool(update.rules)
    return isinstance(update, AddDirectories) and bool(update.directories)


def _offer(index: int, choice: Choice, scope: Scope, update: PermissionUpdate) -> Offer:
    wide = not isinstance(update, AddRules) or any(not rule.rule_content for rule in update.rules)
    return Offer(
        index=index,
        label=f"{_what(update)} ({scope.in_words})",
        scope=scope.value,
        role="approver" if scope is Scope.SESSION else "owner",
        update=update,
        lets_through=choice.lets_through,
        examples=choice.examples,
        may_ask=choice.may_ask,
        wide=wide,
    )


def _kind(update: PermissionUpdate) -> str:
    if isinstance(update, SetMode):
        return "mode"
    return "rule" if isinstance(update, AddRules) else "folder"


def _subject(update: PermissionUpdate) -> str:
    if isinstance(update, AddRules):
        return ", ".join(str(rule) for rule in update.rules)
    if isinstance(update, SetMode):
        return update.mode
    return ", ".join(update.directories) if isinstance(update, AddDirectories) else ""


def _what(update: PermissionUpdate) -> str:
    if isinstance(update, AddRules):
        return ", ".join(
            str(rule) if rule.rule_content else f"any use of {rule.tool_name}"
            for rule in update.rules
        )
    if isinstance(update, SetMode):
        return f"mode {update.mode}"
    if isinstance(update, AddDirectories):
        return f"access to {', '.join(update.directories)}"
    return "a change"
