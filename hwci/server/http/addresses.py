# SPDX-License-Identifier: Apache-2.0
"""Where a request comes from, behind proxies or not (contract, "Everywhere").

This module decides which headers count: `X-Forwarded-For` and `X-Forwarded-Proto` of trusted
proxies, and neither `Forwarded` nor `X-Real-IP`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address

from aiohttp import web

from hwci.server.settings import Network

Address = IPv4Address | IPv6Address

_WITH_PORT = re.compile(r"\[(?P<six>[^\]]+)\](:\d+)?|(?P<four>\d+(\.\d+){3}):\d+", re.ASCII)
_SCHEMES = {"http", "https"}
_NOBODY = IPv4Address(0)
_KNOWN = 256


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a request comes from. `counted`: what limits count by, of IPv6 the /64."""

    address: str
    counted: str
    scheme: str


_KEY = web.RequestKey("origin", Origin)


def note_origin(request: web.BaseRequest, trusted: Sequence[Network]) -> None:
    """Find where a request comes from. Runs once, before anything needs it."""
    address, hops = _read(request.remote or "") or _NOBODY, 0
    schemes = _list(request, "X-Forwarded-Proto") if _among(address, trusted) else []
    for farther in _forwarded(request):
        if not _among(address, trusted):
            break
        address, hops = farther, hops + 1
    # Each proxy adds to the right, so both lists are counted from there.
    named = schemes[-min(max(hops, 1), len(schemes))].lower() if schemes else ""
    scheme = named if named in _SCHEMES else request.scheme
    request[_KEY] = Origin(str(address), _counted(address), scheme)


def sender(peer: str, trusted: Sequence[Network]) -> str | None:
    """Return the address at the other end, as limits count it; None if it is a trusted proxy."""
    address = _read(peer) or _NOBODY
    return None if _among(address, trusted) else _counted(address)


def address_of(request: web.BaseRequest) -> str:
    """Return the sender's address, as limits count it."""
    return request[_KEY].counted


def whole_address_of(request: web.BaseRequest) -> str:
    """Return the sender's address for the log; of malformed HTTP the connection's."""
    return request[_KEY].address if _KEY in request else request.remote or "-"


def scheme_of(request: web.BaseRequest) -> str:
    """Return `http` or `https`: a trusted proxy's word if there is one, else the connection's."""
    return request[_KEY].scheme if _KEY in request else request.scheme


def _forwarded(request: web.BaseRequest) -> Iterator[Address]:
    """Yield the addresses that the request passed, nearest first, up to what is not an address: a
    proxy that names none counts as the sender itself.
    """
    for text in reversed(_list(request, "X-Forwarded-For")):
        address = _read(text)
        if address is None:
            return
        yield address


def _list(request: web.BaseRequest, name: str) -> list[str]:
    values = ",".join(request.headers.getall(name, []))
    return [text for part in values.split(",") if (text := part.strip())]


@lru_cache(maxsize=_KNOWN)  # one connection sends many requests, one proxy those of many people
def _read(text: str) -> Address | None:
    """Read an address, perhaps with a port; IPv4 written as IPv6 is IPv4."""
    match = _WITH_PORT.fullmatch(text)
    try:
        address = ip_address(match["six"] or match["four"] if match else text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _among(address: Address, networks: Sequence[Network]) -> bool:
    return any(address in network for network in networks)


def _counted(address: Address) -> str:
    if isinstance(address, IPv4Address):
        return str(address)
    return f"{IPv6Address(int(address) >> 64 << 64)}/64"
