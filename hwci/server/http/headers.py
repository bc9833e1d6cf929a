# SPDX-License-Identifier: Apache-2.0
"""What the headers of a request say: credentials (spec, "Authentication"), the kind of program,
whether it takes gzip, and whether one of our pages asks.

A credential header that is given twice is refused: a proxy and we could read different ones.
"""

import re

from aiohttp import hdrs, web

from hwci.server.errors import ForbiddenError, UnauthenticatedError
from hwci.wire import limits

_SCHEME = "bearer "


_NO_TOKEN = "Send one header Authorization: Bearer with an access token"
_NO_KEY_FOR_THIS = (
    "The key in X-API-Key does not open this: a reader key (rdr_…) reads metrics, failures and"
    " runs; for all else send Authorization: Bearer with an access token"
)
_KEY_AS_TOKEN = (
    "Authorization holds a reader key; send it in X-API-Key, without Authorization. It reads"
    " metrics, failures and runs"
)


def bearer_token(request: web.Request) -> str:
    """Return the access token. Raises `UnauthenticatedError`."""
    values = request.headers.getall(hdrs.AUTHORIZATION, [])
    if len(values) != 1 or not values[0].lower().startswith(_SCHEME):
        keyed = not values and "X-API-Key" in request.headers
        raise UnauthenticatedError(_NO_KEY_FOR_THIS if keyed else _NO_TOKEN)
    token = values[0][len(_SCHEME) :].strip()
    if token.startswith(limits.READER_KEY_PREFIX):
        raise UnauthenticatedError(_KEY_AS_TOKEN)
    return token


def reader_key(request: web.Request) -> str | None:
    """Return the reader key of a request that has no access token; None if it has none."""
    values = request.headers.getall("X-API-Key", [])
    if hdrs.AUTHORIZATION in request.headers or len(values) != 1:
        return None
    key = values[0].strip()
    return key if key.startswith(limits.READER_KEY_PREFIX) else None


def api_key(request: web.Request) -> str:
    """Return the key of CI or of a box. Raises `UnauthenticatedError`."""
    values = request.headers.getall("X-API-Key", [])
    if len(values) != 1:
        raise UnauthenticatedError("Send one header X-API-Key with a key")
    return values[0].strip()


GZIP = "gzip"
_CODING = re.compile(r"(gzip|\*)(?:;q=([01](?:\.\d{0,3})?))?", re.ASCII)


def takes_gzip(request: web.BaseRequest) -> bool:
    """Return whether an answer may be compressed (RFC 9110, 12.5.3); not without the header."""
    codings = ",".join(request.headers.getall(hdrs.ACCEPT_ENCODING, []))
    matches = (_CODING.fullmatch(coding.replace(" ", "")) for coding in codings.lower().split(","))
    weights = {match[1]: float(match[2] or 1) for match in matches if match}
    return weights.get(GZIP, weights.get("*", 0)) > 0


_HWCI = "hwci/"
# The first that fits counts: a browser names others too, for compatibility.
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Macintosh", "macOS"),
    ("Linux", "Linux"),
)
_UNKNOWN = "another program"


def client_of(request: web.BaseRequest) -> str:
    """Return the kind of program that sent a request, in our words: its own could be anything."""
    agent = request.headers.get(hdrs.USER_AGENT, "")
    if agent.startswith(_HWCI):
        return "hwci command line"
    browser = next((name for sign, name in _BROWSERS if sign in agent), None)
    system = next((name for sign, name in _SYSTEMS if sign in agent), None)
    if browser is None:
        return _UNKNOWN
    return browser if system is None else f"{browser} on {system}"


BASE_URL = web.AppKey("base_url", str)
"""The address that people use, if the operator has set it (`HWCI_BASE_URL`)."""


def require_own_origin(request: web.Request) -> None:
    """Raise `ForbiddenError` if a page of another site asks. Ours are those of the host that the
    request was sent to, and of the address that the operator has set for people.
    """
    origins = request.headers.getall(hdrs.ORIGIN, [])
    own = {request.host.lower(), _host(request.config_dict[BASE_URL])}
    if not all(_host(origin) and _host(origin) in own for origin in origins):
        raise ForbiddenError("A page of another site asks; open this from the server's own pages")


def _host(address: str) -> str:
    """Return host and port of an address; `null`, of a page that hides its origin, has none."""
    return address.lower().partition("://")[2].partition("/")[0]
