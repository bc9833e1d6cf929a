# SPDX-License-Identifier: Apache-2.0
"""Where credentials stand in a request (spec, "Authentication"). What they are worth is decided in
`services/access.py`.

A credential header that is given twice is refused: a proxy and we could read different ones.
"""

from aiohttp import hdrs, web

from hwci.server.errors import UnauthenticatedError

_SCHEME = "bearer "


def bearer_token(request: web.Request) -> str:
    """Give the access token. Raises `UnauthenticatedError`."""
    values = request.headers.getall(hdrs.AUTHORIZATION, [])
    if len(values) != 1 or not values[0].lower().startswith(_SCHEME):
        raise UnauthenticatedError("Send one header Authorization: Bearer with an access token")
    return values[0][len(_SCHEME) :].strip()


def api_key(request: web.Request) -> str:
    """Give the key of CI or of a box. Raises `UnauthenticatedError`."""
    values = request.headers.getall("X-API-Key", [])
    if len(values) != 1:
        raise UnauthenticatedError("Send one header X-API-Key with a key")
    return values[0].strip()
