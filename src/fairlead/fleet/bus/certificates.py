"""The certificates of a bus that a gateway runs by itself.

The gateway is its own certificate authority. A machine that joins gets the authority's certificate
over the gateway's HTTPS address and then accepts no other server as its bus.
"""

from __future__ import annotations

import datetime
import ipaddress
import os
from collections.abc import Sequence
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

__all__ = ["BusCertificates", "ensure_certificates"]

AUTHORITY_DAYS = 3650
SERVER_DAYS = 397
RENEW_DAYS = 60
"""A certificate with less time left is replaced when the gateway starts."""


class BusCertificates:
    """The files of a bus: its authority, and the server's certificate."""

    def __init__(self, folder: Path) -> None:
        self.authority = folder / "ca.pem"
        self.authority_key = folder / "ca.key"
        self.certificate = folder / "server.pem"
        self.key = folder / "server.key"


def ensure_certificates(folder: Path, names: Sequence[str]) -> BusCertificates:
    """The certificates in a folder, for a server with these names; made if they are missing,
    name other machines, or soon expire."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    files = BusCertificates(folder)
    if not (files.authority.exists() and files.authority_key.exists()):
        _make_authority(files)
    if not _is_good(files, names):
        _make_server(files, names)
    return files


def _make_authority(files: BusCertificates) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Fairlead bus authority")])
    certificate = (
        _builder(name, name, key, AUTHORITY_DAYS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(authority=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    _write(files.authority_key, _key_text(key))
    _write(files.authority, certificate.public_bytes(serialization.Encoding.PEM))


def _make_server(files: BusCertificates, names: Sequence[str]) -> None:
    authority = x509.load_pem_x509_certificate(files.authority.read_bytes())
    authority_key = serialization.load_pem_private_key(files.authority_key.read_bytes(), None)
    assert isinstance(authority_key, ec.EllipticCurvePrivateKey)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Fairlead bus")])
    certificate = (
        _builder(name, authority.subject, key, SERVER_DAYS)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(authority=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key()),
            critical=False,
        )
        .add_extension(
            x509.SubjectAlternativeName([_general_name(each) for each in names]), critical=False
        )
        .sign(authority_key, hashes.SHA256())
    )
    _write(files.key, _key_text(key))
    _write(files.certificate, certificate.public_bytes(serialization.Encoding.PEM))


def _is_good(files: BusCertificates, names: Sequence[str]) -> bool:
    if not (files.certificate.exists() and files.key.exists()):
        return False
    certificate = x509.load_pem_x509_certificate(files.certificate.read_bytes())
    left = certificate.not_valid_after_utc - datetime.datetime.now(datetime.UTC)
    alternative = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    wanted = {_general_name(each) for each in names}
    return left > datetime.timedelta(days=RENEW_DAYS) and wanted == set(alternative)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, days: int
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))  # For machines with a late clock.
        .not_valid_after(now + datetime.timedelta(days=days))
    )


def _usage(*, authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=authority,
        crl_sign=authority,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _key_text(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _write(path: Path, content: bytes) -> None:
    """Replace a file as a whole; only its owner can read it."""
    draft = path.with_name(f"{path.name}.new")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.write(handle, content)
        os.fsync(handle)
    finally:
        os.close(handle)
    os.replace(draft, path)
