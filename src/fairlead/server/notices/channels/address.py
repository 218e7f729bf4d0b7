"""The address of a channel: checked before it is stored, and never shown again (B126). Pure.

An address such as `ntfys://token@ntfy.example.org/topic` contains a password, a token or a secret
topic. Clients see only its scheme. Some of Apprise's services act on the server's own machine, or
read one of its files; those are refused.
"""

from __future__ import annotations

from urllib.parse import parse_qsl, quote, urlencode

__all__ = ["MESSAGE_ARGUMENTS", "check_address", "for_message", "masked", "scheme_of"]

LONGEST = 2_048

LOCAL = frozenset(
    {"blink1", "dbus", "gio", "glib", "gnome", "growl", "kde", "macosx", "qt", "syslog", "windows"}
)
"""Schemes that show something on the server's own screen, log to it, or control its devices."""

NO_SERVICE = frozenset({"file", "memory", "exec", "cmd", "data", "javascript"})
"""Schemes that Apprise or other programs use for files and commands; none is a channel."""

FILE_ARGUMENTS = frozenset({"keyfile", "subfile", "pgpprv", "pgppub"})
"""Arguments that name a file of the server's machine."""

TEMPLATE_IDS = frozenset(
    {"gupshup", "kaleyra", "klr", "msg91", "notifyre", "onesignal", "sendgrid", "sendpulse",
     "whatsapp"}
)  # fmt: skip
"""Schemes whose `template` is an id; for every other it is a file."""

MESSAGE_ARGUMENTS = {
    "ntfy": "click={link}",
    "hassio": "nid={tag}",
    "bark": "id={tag}&url={link}",
    "json": ":session={session}&:notice={number}&:url={link}",
    "form": ":session={session}&:notice={number}&:url={link}",
    "xml": ":session={session}&:notice={number}&:url={link}",
}
"""Scheme -> what is added to the address of a message: its link, the tag under which it replaces
the last message of its session, or for web hooks the session and the number of the notice."""


def scheme_of(url: str) -> str:
    """The scheme of an address in lower case; empty if it has none."""
    scheme, separator, _ = url.partition("://")
    plain = scheme.strip().lower()
    return plain if separator and plain.isascii() and plain.isalnum() else ""


def masked(url: str) -> str:
    """The address as clients see it."""
    return f"{scheme_of(url)}://…"


def check_address(url: str) -> None:
    """Check an address; raises `ValueError` with the reason, which does not repeat the address."""
    scheme = scheme_of(url)
    if not scheme:
        raise ValueError("it must begin with the name of a service, such as ntfy:// or slack://")
    if len(url) > LONGEST or any(ord(c) < 32 or ord(c) == 127 for c in url):
        raise ValueError("it is too long or has control characters")
    if scheme in LOCAL:
        raise ValueError(f"{scheme}:// acts on the server's own machine")
    if scheme in NO_SERVICE:
        raise ValueError(f"{scheme}:// is not a service that messages can be sent to")
    for name, _ in _arguments(url):
        if name in FILE_ARGUMENTS or (name == "template" and scheme not in TEMPLATE_IDS):
            raise ValueError(f"its argument {name} names a file of the server's machine")


def for_message(url: str, *, link: str, session: str, number: int) -> str:
    """The address with the arguments of one message; what the user has set is kept."""
    added = MESSAGE_ARGUMENTS.get(scheme_of(url).removesuffix("s"), "")
    if not added:
        return url
    own = {name for name, _ in _arguments(url)}
    tag = f"fairlead-{session}" if session else "fairlead"
    values = {"link": link, "tag": tag, "session": session, "number": str(number)}
    pairs = [part.partition("=") for part in added.split("&")]
    new = {name: value.format(**values) for name, _, value in pairs if name not in own}
    return f"{url}{'&' if '?' in url else '?'}{urlencode(new, quote_via=quote, safe=':')}"


def _arguments(url: str) -> list[tuple[str, str]]:
    query = url.partition("?")[2]
    pairs = parse_qsl(query.replace(";", "&"), keep_blank_values=True)
    return [(name.strip().lower(), value) for name, value in pairs]
