# SPDX-License-Identifier: Apache-2.0
"""Which pages are ours (contract, "Auth", "Runs and streams"): a browser says in `Origin` whose
page asks. Programs send none, and are let in by what they hold.

This module decides what counts as our own: the host that the request was sent to, and the address
that the operator says people use.
"""

from aiohttp import hdrs, web

from hwci.server.errors import ForbiddenError

BASE_URL = web.AppKey("base_url", str)
"""The operator's word, where there is one (`HWCI_BASE_URL`)."""


def require_own_origin(request: web.Request) -> None:
    """Raise `ForbiddenError` when a page of another site asks."""
    given = request.headers.getall(hdrs.ORIGIN, [])
    own = {request.host.lower(), _host(request.config_dict[BASE_URL])}
    if not all(_host(origin) and _host(origin) in own for origin in given):
        raise ForbiddenError("A page of another site asks; open this from the server's own pages")


def _host(address: str) -> str:
    """Give host and port of an address. `null`, a page that hides where it is from, has none."""
    return address.lower().partition("://")[2].partition("/")[0]
