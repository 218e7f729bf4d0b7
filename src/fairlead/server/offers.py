"""What "always" can mean for one request: choices by number, narrowest first.

A client sends back numbers of this list and nothing else, so that no rule, mode or folder can
come from a client (T-21). `permissions.choices` makes them, from the CLI's suggestions and from
narrower rules; here each gets its scopes and who may take it. What would switch permissions off
or pass the server's ceiling is not offered, and a settings file is written only for an owner.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from fairlead.errors import OptionError
from fairlead.permissions import updates as rulings
from fairlead.permissions.book import RuleBook
from fairlead.permissions.choices import Choice, always_choices
from fairlead.permissions.decisions import ToolCall
from fairlead.permissions.paths import Place
from fairlead.permissions.scopes import Scope
from fairlead.server.pending_row import OfferedChoice
from fairlead.server.policy import Policy
from fairlead.wire.tolerant import Misfit, build
from fairlead.wire.updates import AddDirectories, AddRules, PermissionUpdate, SetMode

__all__ = ["Offer", "denial", "offers"]

_KEPT = (Scope.LOCAL, Scope.PROJECT, Scope.USER)
"""Scopes that outlive the session: a settings file is written."""


class Offer(Struct, frozen=True, kw_only=True):
    """One thing that an answer may add to the rules."""

    index: int
    label: str
    scope: str
    role: str
    """Who may take it."""
    update: PermissionUpdate
    lets_through: str = ""
    """What else it lets through, in words."""
    examples: tuple[str, ...] = ()
    """Earlier calls of this session that it would have let through."""
    wide: bool = False
    """Whether it reaches beyond the like of this call: a whole tool, a mode, a folder."""

    def shown(self) -> OfferedChoice:
        """As a client sees it."""
        return OfferedChoice(
            index=self.index,
            label=self.label,
            scope=self.scope,
            role=self.role,
            lets_through=self.lets_through,
            examples=self.examples,
            wide=self.wide,
            deniable=denial(self) is not None,
        )


def offers(
    call: ToolCall,
    suggestions: Sequence[Any],
    policy: Policy,
    place: Place,
    earlier: Iterable[ToolCall] = (),
) -> tuple[Offer, ...]:
    """The choices for a call with these suggestions, which are plain JSON values."""
    suggested = [one for one in suggestions if isinstance(one, Mapping)]
    choices = always_choices(call, suggested, earlier, RuleBook(), place)
    found: list[Offer] = []
    for choice, scope in _placed(choices, policy):
        update = _in_scope(choice, scope)
        if update is not None and _harmless(update, policy):
            found.append(_offer(len(found), choice, scope, update))
    return tuple(found)


def denial(offer: Offer) -> PermissionUpdate | None:
    """The same rules, to deny the like from now on; None if it is no rule."""
    if isinstance(offer.update, AddRules):
        return structs.replace(offer.update, behavior="deny")
    return None


def _placed(choices: Sequence[Choice], policy: Policy) -> list[tuple[Choice, Scope]]:
    """Each choice for this session, and for ever where the CLI suggests that; no pair twice."""
    placed: dict[tuple[str, Scope], tuple[Choice, Scope]] = {}
    for choice in choices:
        (update,) = choice.updates
        if isinstance(update, rulings.UnknownUpdate):
            continue
        lasting = update.destination in _KEPT and not isinstance(update, rulings.ModeUpdate)
        scopes = [Scope.SESSION]
        if lasting and policy.wide_scopes:
            scopes.append(update.destination)
        what = repr(rulings.with_destination(update, Scope.SESSION))
        for scope in scopes:
            placed.setdefault((what, scope), (choice, scope))
    return list(placed.values())


def _in_scope(choice: Choice, scope: Scope) -> PermissionUpdate | None:
    (update,) = choice.updates
    try:
        plain = rulings.to_wire(rulings.with_destination(update, scope))
        found: PermissionUpdate = build(PermissionUpdate, plain, [])
    except (Misfit, OptionError):
        return None
    return found


def _harmless(update: PermissionUpdate, policy: Policy) -> bool:
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
        wide=wide,
    )


def _what(update: PermissionUpdate) -> str:
    if isinstance(update, AddRules):
        return ", ".join(
            str(rule) if rule.rule_content else f"every use of {rule.tool_name}"
            for rule in update.rules
        )
    if isinstance(update, SetMode):
        return f"the mode {update.mode}"
    if isinstance(update, AddDirectories):
        return f"work in {', '.join(update.directories)}"
    return "a change"
