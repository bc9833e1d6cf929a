# SPDX-License-Identifier: Apache-2.0
"""The browser's way to a provider and back: redirects, and the cookie that binds both ends."""

from aiohttp import web

from hwci.server.http.route import Call
from hwci.wire.sso import SsoCallbackQuery, SsoLoginQuery


async def begin(call: Call, query: SsoLoginQuery) -> web.StreamResponse:
    """Redirect to the provider."""
    raise NotImplementedError


async def finish(call: Call, query: SsoCallbackQuery) -> web.StreamResponse:
    """Sign the browser, or the command line, in."""
    raise NotImplementedError
