# SPDX-License-Identifier: Apache-2.0
"""The server's own TLS: its certificate, key and versions. Without them it speaks plain HTTP, on a
loopback address or behind a proxy that speaks TLS.
"""

import ssl
from pathlib import Path

from hwci.server.errors import SettingsError
from hwci.server.settings import Settings


def tls_context(settings: Settings) -> ssl.SSLContext | None:
    """Return the context for TLS; None if the server speaks plain HTTP. Raises `SettingsError`."""
    certificate, key = settings.tls_cert, settings.tls_key
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise SettingsError("TLS needs both a certificate and its key", "name both or none of them")
    for path in (certificate, key):
        _require_readable(path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(certificate, key, password=_refuse_password)
    except ssl.SSLError as fault:
        raise SettingsError(
            f"{certificate} and {key} are not a certificate and its key, both in PEM "
            f"({fault.reason or fault})",
            "name the files of one pair",
        ) from fault
    return context


def _require_readable(path: Path) -> None:
    try:
        path.read_bytes()
    except OSError as fault:
        raise SettingsError(
            f"Cannot read {path} for TLS: {fault.strerror}", "name a file that can be read"
        ) from fault


def _refuse_password() -> str:
    """Refuse an encrypted key: a server cannot ask for its password."""
    raise SettingsError(
        "The key for TLS is encrypted", "name one that is not, such as openssl pkey writes"
    )
