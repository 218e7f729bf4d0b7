"""The headers of every response, which restrict what the browser lets pages of this server do (R7)."""

from __future__ import annotations

__all__ = ["DIAGRAM_HEADERS", "SECURITY_HEADERS"]

_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "worker-src 'self'",
        "manifest-src 'self'",
        "frame-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types fairlead svelte-trusted-html default",
    )
)

SECURITY_HEADERS: tuple[tuple[bytes, bytes], ...] = tuple(
    (name.encode(), value.encode())
    for name, value in (
        ("content-security-policy", _POLICY),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-embedder-policy", "require-corp"),
        ("permissions-policy", "camera=(), microphone=(), geolocation=(), payment=()"),
        ("cache-control", "no-store"),
    )
)
"""Inline styles are allowed because the virtual list positions rows by them; scripts are not."""

DIAGRAM_HEADERS = {
    "content-security-policy": "; ".join(
        (
            "sandbox allow-scripts",
            "default-src 'none'",
            "script-src 'unsafe-inline'",
            "style-src 'unsafe-inline'",
            "frame-ancestors 'self'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    ),
    "x-frame-options": "SAMEORIGIN",
}
"""For the page that draws diagrams, the only one that may be a frame, and only of the app. It has an
origin of its own and requests nothing; the page itself allows only its own script, by its hash."""
