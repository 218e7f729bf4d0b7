"""One call of Apprise: find the service of an address, and send it a message. Blocks.

Apprise is an optional package, and loading its services takes a second or more, so it is imported
at first use. Its log lines and those of its HTTP library contain addresses with passwords and
tokens: they go nowhere, and of what a service answered only the status is kept.
"""

from __future__ import annotations

import importlib.util
import logging
import re
from functools import cache
from typing import Any

from msgspec import Struct

from fairlead.server.notices.channels.address import check_address

__all__ = [
    "INSTALL",
    "Answer",
    "BadAddress",
    "CallFailed",
    "is_installed",
    "load",
    "send",
    "service_of",
]

INSTALL = "pip install 'fairlead[channels]'"
"""How the optional package is installed."""

OWN_PLUGINS = "apprise.plugins."
"""Where Apprise's own services are defined; every other one runs Python code of a third party."""

_LOGGERS = ("urllib3", "requests", "requests_oauthlib", "oauthlib", "charset_normalizer")
"""Of the packages that Apprise uses."""

_STATUS = re.compile(r"\berror=(\d{3})")

_UNREACHABLE = ("connection error", "socket exception", "timed out", "timeout")


class BadAddress(ValueError):
    """No message can be sent to an address; the text does not repeat it."""


class CallFailed(Exception):
    """Apprise or a service's code failed; the text names only the kind of the error."""


class Answer(Struct, frozen=True):
    """How a call ended: `problem` is empty if the service has the message."""

    problem: str = ""
    status: int | None = None
    """The HTTP status of the service, if it answered with an error."""


def is_installed() -> bool:
    """Whether the optional package is there."""
    return importlib.util.find_spec("apprise") is not None


@cache
def load() -> Any:
    """The package; raises `ImportError`."""
    for name in ("apprise", *_LOGGERS):
        logger = logging.getLogger(name)
        logger.propagate = False
        logger.addHandler(logging.NullHandler())
        # The result of a call needs Apprise's warnings, and nothing else.
        logger.setLevel(logging.WARNING if name == "apprise" else logging.CRITICAL + 1)
    import apprise
    import urllib3

    urllib3.disable_warnings()
    # Its list of services is read at first use, which takes most of the time.
    apprise.Apprise.instantiate("json://localhost", asset=_settings(apprise))
    return apprise


def service_of(url: str) -> str:
    """The name of the service of an address, such as "Slack"; raises `BadAddress`."""
    return str(_service(url).service_name)


def send(url: str, title: str, body: str) -> Answer:
    """Send a message; raises `BadAddress`."""
    apprise = load()
    service = _service(url)
    name = str(service.service_name)
    calls = apprise.Apprise(asset=_settings(apprise))
    calls.add(service)
    result = calls.notify(body=body, title=title, body_format=apprise.NotifyFormat.TEXT)
    attempts = [attempt for outcome in result for attempt in outcome.attempts]
    # Not `result` itself: an address with `optional=yes` makes every result a success.
    if attempts and attempts[-1]:
        return Answer()
    return _failure(name, " ".join(entry.message for attempt in attempts for entry in attempt))


def _service(url: str) -> Any:
    apprise = load()
    try:
        check_address(url)
    except ValueError as problem:
        raise BadAddress(f"This address is refused: {problem}.") from None
    service = apprise.Apprise.instantiate(url, asset=_settings(apprise))
    if service is None or not type(service).__module__.startswith(OWN_PLUGINS):
        raise BadAddress(
            "Apprise does not know this address, or it is incomplete. Its documentation lists the "
            "services and their addresses."
        )
    if not service.enabled:
        raise BadAddress(
            f"{service.service_name} needs another package that is not installed on the server."
        )
    return service


def _settings(apprise: Any) -> Any:
    """Nothing is written to disk, no redirect is followed, and no text is interpreted."""
    return apprise.AppriseAsset(
        app_id="Fairlead",
        app_desc="Fairlead",
        app_url="https://github.com/fairlead/fairlead",
        image_url_mask="",
        image_url_logo="",
        storage_mode="memory",
        http_redirects=False,
        interpret_emojis=False,
        interpret_escapes=False,
        pgp_autogen=False,
        pem_autogen=False,
        async_mode=False,
        service_timeout=0,  # Its deadline would leave an unknown thread behind.
    )


def _failure(name: str, logged: str) -> Answer:
    """What may be said about a failed call: log lines name topics, hosts and users."""
    match = _STATUS.search(logged)
    if match is not None:
        return Answer(f"{name} answered with status {match[1]}.", int(match[1]))
    if any(words in logged.lower() for words in _UNREACHABLE):
        return Answer(f"{name} cannot be reached.")
    return Answer(f"{name} did not accept the message.")
