"""What a device may do: viewer < approver < operator < owner (rule R8). Pure."""

from __future__ import annotations

from fairlead.server.refusal import Refusal

__all__ = ["ROLES", "may", "require"]

ROLES = ("viewer", "approver", "operator", "owner")


def may(role: str, needed: str) -> bool:
    """Whether a role reaches as far as another; a role that is not known reaches nowhere."""
    return role in ROLES and ROLES.index(role) >= ROLES.index(needed)


def require(role: str, needed: str, what: str) -> None:
    """Refuse what a role may not do."""
    if not may(role, needed):
        raise Refusal("forbidden", f"{what} takes the role {needed}; this device is a {role}")
