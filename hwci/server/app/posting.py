# SPDX-License-Identifier: Apache-2.0
"""Requests to webhooks. This module decides how long one may take, that no answer is read or
redirect followed, and which addresses are refused: those of own networks, looked at when the
connection is made, so that a name cannot be another machine's meanwhile.
"""

import socket
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

import aiohttp
from aiohttp import hdrs
from aiohttp.connector import AddrInfoType

from hwci.server.errors import PostError
from hwci.server.services.webhooks.sending import Posted
from hwci.server.settings import Network

_PATIENCE = aiohttp.ClientTimeout(total=10, connect=5)
_NAT64 = IPv6Network("64:ff9b::/96")
_SITE_LOCAL = IPv6Network("fec0::/10")  # deprecated, and global to Python
_IPV4_BITS = 32
_OWN = "in a network of the server's own"


class Posting:
    """Sends requests until it is closed. `allowed`: own networks that it may send to."""

    def __init__(self, allowed: Iterable[Network] = ()) -> None:
        self._allowed = tuple(allowed)
        self._session: aiohttp.ClientSession | None = None

    async def __call__(self, posted: Posted) -> int:
        """Send a request and return the status of its answer. Raises `PostError`."""
        try:
            async with self._open().post(
                posted.address, data=posted.body, headers=posted.headers, allow_redirects=False
            ) as response:
                return response.status
        except TimeoutError as fault:
            raise PostError("it gives no answer within 10 seconds") from fault
        except (aiohttp.ClientError, OSError, ValueError) as fault:
            raise PostError(_reason(fault)) from fault

    async def close(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:  # made here: it belongs to the event loop that runs
            connector = aiohttp.TCPConnector(
                limit=0, use_dns_cache=False, socket_factory=self._socket
            )
            self._session = aiohttp.ClientSession(
                connector=connector,
                timeout=_PATIENCE,
                cookie_jar=aiohttp.DummyCookieJar(),
                skip_auto_headers=(hdrs.ACCEPT_ENCODING,),
                auto_decompress=False,
            )
        return self._session

    def _socket(self, found: AddrInfoType) -> socket.socket:
        """Return the socket of a connection that is about to be made, if it may be."""
        family, kind, protocol, _, (host, *_) = found
        if not self._may_reach(ip_address(str(host).partition("%")[0])):
            raise OSError(f"{host} is {_OWN}")
        return socket.socket(family, kind, protocol)

    def _may_reach(self, address: IPv4Address | IPv6Address) -> bool:
        address = _real(address)
        if any(address in network for network in self._allowed):
            return True
        reserved = address.is_multicast or address.is_reserved or address.is_unspecified
        return address.is_global and not reserved and address not in _SITE_LOCAL


def _real(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the IPv4 address that an IPv6 address leads to, else itself."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & (1 << _IPV4_BITS) - 1)
    return address.ipv4_mapped or address.sixtofour or (address.teredo or (None, address))[1]


def _reason(fault: Exception) -> str:
    """Return why a request failed, without its address, which may hold a secret."""
    if _OWN in str(getattr(fault, "os_error", "")):
        return f"its address is {_OWN}; the operator may allow it with HWCI_WEBHOOK_NETWORKS"
    if isinstance(fault, aiohttp.ClientConnectorDNSError):
        return "its name cannot be resolved"
    if isinstance(fault, aiohttp.ClientConnectionError):
        return "it cannot be reached, or ends the connection"
    return f"it gives no answer that can be read ({type(fault).__name__})"
