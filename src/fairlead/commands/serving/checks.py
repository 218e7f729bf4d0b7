"""Checks of the arguments of `fairlead serve`, before anything is started or printed.

Each function raises `UsageError` with the flag, the reason and a remedy.
"""

from __future__ import annotations

import argparse
import os
import ssl
from pathlib import Path

from fairlead.errors import UsageError
from fairlead.store.database.folder import FolderReadOnly, FolderRefused

__all__ = ["check_data_folder", "check_root", "check_tls", "default_data_folder", "port_number"]


def default_data_folder() -> Path:
    """The data folder of `fairlead serve` without --data."""
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "fairlead"


def port_number(text: str) -> int:
    """A port, for argparse."""
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; choose one from 0 to 65535")
    return int(text)


def check_data_folder(folder: Path) -> None:
    """Create the data folder if it is missing, and make sure that it can be used."""
    remedy = "Choose another folder with --data."
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError:
        raise FolderRefused(folder, "is a file, not a folder") from None
    except OSError as problem:
        raise UsageError(
            f"cannot create the data folder {str(folder)!r}: {problem.strerror}. {remedy}"
        ) from None
    if os.statvfs(folder).f_flag & os.ST_RDONLY:
        raise FolderReadOnly(folder)
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise UsageError(f"you may not read and write the data folder {str(folder)!r}. {remedy}")


def check_root(root: Path, flag: str = "--root") -> Path:
    """The folder as an absolute path."""
    if not root.expanduser().is_dir():
        raise UsageError(
            f"{flag}: {str(root)!r} is not a folder. Create it, or choose the folder with "
            "your projects."
        )
    return root.expanduser().resolve()


def check_tls(certificate: Path | None, key: Path | None) -> None:
    """Load the certificate and its key as the server will."""
    if certificate is None:
        if key is not None:
            raise UsageError("--key needs --certificate.")
        return
    for flag, file in (("--certificate", certificate), ("--key", key)):
        if file is not None:
            _check_readable(flag, file)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key, password=_no_password)
    except ssl.SSLError as problem:
        files = str(certificate) if key is None else f"{certificate} and {key}"
        raise UsageError(
            f"cannot use {files} for TLS: {problem.reason or problem}. --certificate takes a PEM "
            "certificate and --key its unencrypted PEM key."
        ) from None


def _check_readable(flag: str, file: Path) -> None:
    try:
        with file.open("rb"):
            pass
    except OSError as problem:
        raise UsageError(f"{flag}: cannot read {str(file)!r}: {problem.strerror}.") from None


def _no_password() -> str:
    raise UsageError("the TLS key is encrypted. Give --key a key without a passphrase.")
