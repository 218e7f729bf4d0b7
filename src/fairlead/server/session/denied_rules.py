"""Rules by which a user has denied calls for the rest of a session: later calls of that kind are denied without a
request.

A denial cannot carry rules to the CLI; only an approval can. So the server keeps these rules
itself and answers by them before any device is asked. So that they also cover calls that the CLI
would not ask about, a CLI that takes settings while it runs gets them at once (`settings`,
CLI-334); an older one gets them with the next approval (`unsent`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fairlead.permissions.model.scopes import Behavior
from fairlead.permissions.rules.book import RuleBook
from fairlead.permissions.rules.decisions import ToolCall
from fairlead.permissions.rules.paths import PathContext
from fairlead.permissions.rules.updates import apply_update
from fairlead.wire.updates import AddRules, PermissionUpdate, read

__all__ = ["DeniedRules"]


class DeniedRules:
    """The deny rules of one session."""

    def __init__(self, stored: Iterable[Any] = ()) -> None:
        """`stored` are the rules of the session's log, as on the wire."""
        self._updates: list[PermissionUpdate] = []
        self._book = RuleBook()
        self._sent = 0
        self.add(read(plain) for plain in stored)

    def __bool__(self) -> bool:
        return bool(self._updates)

    def add(self, updates: Iterable[PermissionUpdate]) -> None:
        """Deny what these rules cover from now on."""
        for update in updates:
            self._updates.append(update)
            self._book = apply_update(self._book, update)

    def verdict(self, call: ToolCall, place: PathContext) -> str | None:
        """The rule that denies a call, as text; None if no rule covers it."""
        if not self._updates:
            return None
        # Loaded with the first rule: the choices of the denied request have loaded it before.
        from fairlead.permissions.policy import check

        decision = check(call, self._book, place)
        by_rule = decision.behavior is Behavior.DENY and decision.rule is not None
        return decision.words if by_rule else None

    def settings(self) -> dict[str, Any]:
        """All rules as settings for the CLI, which replaces those it got in this way before."""
        rules = [
            str(rule)
            for update in self._updates
            if isinstance(update, AddRules)
            for rule in update.rules
        ]
        return {"permissions": {"deny": list(dict.fromkeys(rules))}}

    def sent(self) -> None:
        """The CLI knows all rules."""
        self._sent = len(self._updates)

    def unsent(self) -> tuple[PermissionUpdate, ...]:
        """The rules that the CLI does not know yet; they count as sent from now on."""
        fresh = tuple(self._updates[self._sent :])
        self._sent = len(self._updates)
        return fresh

    def restarted(self) -> None:
        """A new CLI process knows none of the rules."""
        self._sent = 0
