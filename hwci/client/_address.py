# SPDX-License-Identifier: Apache-2.0
"""Where the server is, and through which proxy it is reached.

This module decides what counts as an address of either, and reads the customary environment
variables for proxies (HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY). It opens no connection. A
faulty address is shown without what may be a password in it.
"""

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import SplitResult, unquote, urlsplit

from hwci.client.errors import ProxyAddressError, ServerAddressError

DEFAULT_PORTS = {"http": 80, "https": 443}

_PROXY = re.compile(
    r"(?:(?P<scheme>[a-z][a-z0-9+.-]*)://)?(?:(?P<user>.*)@)?(?P<place>.*)",
    re.IGNORECASE | re.DOTALL,
)


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


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy. `headers`: the credentials for it, which no other server may see."""

    address: ServerAddress
    headers: Mapping[str, str] = field(repr=False)


def parse_address(text: str) -> ServerAddress:
    """Take a server's address apart.

    Raises:
        ServerAddressError: it is malformed, or holds a user name, a password or a query.
    """
    # First of all: a password with a `/` in it would be taken for a port or a path.
    before, at, after = text.rpartition("@")
    if at:
        reason = "it holds a user name; keys and tokens are given apart"
        raise ServerAddressError(f"…@{after}" if before else text, reason)
    try:
        parts = urlsplit(text)
        port = parts.port
        host = parts.hostname or ""
        host.encode("idna")
    except ValueError as fault:
        raise ServerAddressError(text, str(fault)) from fault
    if parts.scheme not in ("http", "https"):
        raise ServerAddressError(text, "it begins neither with http:// nor https://")
    if unusable := _unusable(parts, host):
        raise ServerAddressError(text, unusable)
    scheme: Literal["http", "https"] = "https" if parts.scheme == "https" else "http"
    prefix = parts.path.rstrip("/")
    return ServerAddress(scheme, host, DEFAULT_PORTS[scheme] if port is None else port, prefix)


def is_of_this_machine(url: str) -> bool:
    """Return whether an address means the machine that asks."""
    host = urlsplit(url).hostname or ""
    return host in {"localhost", "::1"} or host.startswith("127.")


def _unusable(parts: SplitResult, host: str) -> str | None:
    if not host:
        return "it names no host"
    if not (host.isprintable() and " " not in host):
        return "its host holds blanks"
    if parts.query or parts.fragment:
        return "it holds a query or a fragment"
    if not (parts.path.isascii() and parts.path.isprintable() and " " not in parts.path):
        return "its path holds blanks or letters beyond ASCII"
    return None


def proxy_of(address: ServerAddress) -> Proxy | None:
    """Return the proxy that the environment names for this server.

    Raises:
        ProxyAddressError: it names a proxy that cannot be used.
    """
    from urllib.request import (  # noqa: PLC0415 - slow to import, and not for those who only ask
        getproxies,
        proxy_bypass,
    )

    proxies = getproxies()
    kind = address.scheme if proxies.get(address.scheme) else "all"
    proxy = proxies.get(kind)
    if not proxy or proxy_bypass(address.netloc):
        return None
    return _parse_proxy(f"{kind.upper()}_PROXY", proxy)


def on_the_way(reason: str, proxy: Proxy | None) -> str:
    """Add the proxy of a failed connection to the reason: it may be the one at fault."""
    return reason if proxy is None else f"{reason} (through the proxy {proxy.address.origin})"


def _parse_proxy(variable: str, text: str) -> Proxy:
    match = _PROXY.fullmatch(text)
    assert match is not None, "its last part takes anything"
    scheme, place = (match["scheme"] or "http").lower(), match["place"]
    if scheme != "http":
        # TLS to the proxy would need TLS within TLS; a password must not go there in the clear.
        reason = "proxies are spoken to over http:// only"
        raise ProxyAddressError(variable, f"{scheme}://{place}", reason)
    try:
        address = parse_address(f"http://{place}")
    except ServerAddressError as fault:
        raise ProxyAddressError(variable, fault.address, fault.reason) from None
    return Proxy(address, _authorization(match["user"]))


def _authorization(user: str | None) -> Mapping[str, str]:
    if user is None:
        return {}
    name, _, password = user.partition(":")
    pair = f"{unquote(name)}:{unquote(password)}"
    return {"Proxy-Authorization": f"Basic {b64encode(pair.encode()).decode()}"}
