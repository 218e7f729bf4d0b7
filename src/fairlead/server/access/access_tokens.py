"""Access tokens of the web app: each is valid while the socket that received it is open.

The app uses them for HTTP requests. They are in memory only, so that a token that reaches another
program after the server has stopped is useless (abuse case T-43).
"""

from __future__ import annotations

import secrets

from fairlead.server.access.codes import hash_token

__all__ = ["AccessTokens"]


class AccessTokens:
    """The access tokens that are valid now."""

    def __init__(self) -> None:
        self._holders: dict[str, str] = {}
        """Hash of an access token -> hash of the device's own token."""

    def issue(self, holder: str) -> str:
        """A token for a device, which is identified by the hash of its own token."""
        token = secrets.token_urlsafe(32)
        self._holders[hash_token(token)] = holder
        return token

    def end(self, token: str | None) -> None:
        """Invalidate a token because its socket closed."""
        if token is not None:
            self._holders.pop(hash_token(token), None)

    def holder(self, digest: str) -> str | None:
        """The device whose access token has this hash."""
        return self._holders.get(digest)

    def __len__(self) -> int:
        return len(self._holders)
