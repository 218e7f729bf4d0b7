"""What a device may do: viewer < approver < operator < owner (rule R8). Pure."""

from __future__ import annotations

from fairlead.server.refusal import Refusal

__all__ = ["ROLES", "may", "require"]

ROLES = ("viewer", "approver", "operator", "owner")


def may(role: str, needed: str) -> bool:
    """Whether a role includes another role; an unknown role includes none."""
    return role in ROLES and ROLES.index(role) >= ROLES.index(needed)


def require(role: str, needed: str, what: str) -> None:
    """Refuse an action that a role may not perform."""
    if not may(role, needed):
        raise Refusal(
            "forbidden", f"{what} requires the {needed} role; this device has the {role} role."
        )
