# SPDX-License-Identifier: Apache-2.0
"""Where the server is, and through which proxy it is reached.

This module decides what counts as a server's address, and reads the customary environment
variables for proxies (HTTPS_PROXY, HTTP_PROXY, NO_PROXY). It opens no connection.
"""

from dataclasses import dataclass
from typing import Literal
from urllib.parse import SplitResult, urlsplit

from hwci.client.errors import ServerAddressError

DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """An address taken apart. `prefix`: the path below which the server stands, often empty."""

    scheme: Literal["http", "https"]
    host: str
    port: int
    prefix: str

    @property
    def netloc(self) -> str:
        """Host and port as a URL writes them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return f"{self.scheme}://{self.netloc}"

    def __str__(self) -> str:
        return self.origin + self.prefix


def parse_address(text: str) -> ServerAddress:
    """Take a server's address apart.

    Raises:
        ServerAddressError: it is none, or holds what an address should not: a password, a query.
    """
    try:
        parts = urlsplit(text)
        port = parts.port
        host = parts.hostname or ""
        host.encode("idna")
    except ValueError as fault:
        raise ServerAddressError(_without_user(text), str(fault)) from fault
    if parts.scheme not in ("http", "https"):
        raise ServerAddressError(_without_user(text), "it begins neither with http:// nor https://")
    if reason := _unusable(parts, host):
        raise ServerAddressError(_without_user(text), reason)
    scheme: Literal["http", "https"] = "https" if parts.scheme == "https" else "http"
    prefix = parts.path.rstrip("/")
    return ServerAddress(scheme, host, DEFAULT_PORTS[scheme] if port is None else port, prefix)


def _unusable(parts: SplitResult, host: str) -> str | None:
    if not host:
        return "it names no host"
    if "@" in parts.netloc:
        return "it holds a user name; keys and tokens are given apart"
    if parts.query or parts.fragment:
        return "it holds a query or a fragment"
    if not (parts.path.isascii() and parts.path.isprintable() and " " not in parts.path):
        return "its path holds blanks or letters beyond ASCII"
    return None


def _without_user(text: str) -> str:
    before, at, after = text.rpartition("@")
    return f"…@{after}" if at and before else text


def proxy_of(address: ServerAddress) -> str | None:
    """Give the proxy that the environment names for this server, as a URL."""
    from urllib.request import (  # noqa: PLC0415 - slow to import, and not for those who only ask
        getproxies,
        proxy_bypass,
    )

    proxies = getproxies()
    found = proxies.get(address.scheme) or proxies.get("all")
    if not found or proxy_bypass(address.netloc):
        return None
    return found if "://" in found else f"http://{found}"
