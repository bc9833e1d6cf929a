# SPDX-License-Identifier: Apache-2.0
"""A certificate for the loopback address and for names that lead there, made for a test."""

import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from hwci.server.settings import Settings


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, as files."""

    certificate: Path
    key: Path

    @property
    def trusting(self) -> ssl.SSLContext:
        """What a client needs to trust it."""
        return ssl.create_default_context(cafile=self.certificate)

    @property
    def settings(self) -> Settings:
        """The settings of a server that has it."""
        return Settings(database="memory:", port=0, tls_cert=self.certificate, tls_key=self.key)


def make_pair(folder: Path, password: bytes | None = None, hosts: Iterable[str] = ()) -> Pair:
    """Write a certificate, of these hosts too, and its key; a password encrypts the key."""
    folder.mkdir(exist_ok=True)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "hwci")])
    now = datetime.now(UTC)  # noqa: TID251 - a certificate of today
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName(
                [x509.IPAddress(ip_address("127.0.0.1")), *map(x509.DNSName, hosts)]
            ),
            critical=False,
        )
        .sign(key, hashes.SHA256())
    )
    kept = (
        serialization.BestAvailableEncryption(password)
        if password
        else serialization.NoEncryption()
    )
    pair = Pair(folder / "certificate.pem", folder / "key.pem")
    pair.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    pair.key.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, kept)
    )
    return pair
