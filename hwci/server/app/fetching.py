# SPDX-License-Identifier: Apache-2.0
"""Requests to the providers of single sign-on, and to the issuers of the tokens of CI jobs.

This module decides how long it waits, how much it reads, and that it follows no redirect, which
could take a client secret along or lead to a machine that only this server can reach.
"""

import json
from http import HTTPStatus

import aiohttp
from aiohttp import hdrs

from hwci.server.errors import ProviderError
from hwci.server.services.people.relying_party import ERROR_CODE
from hwci.server.services.published_keys import Outgoing

_PATIENCE = aiohttp.ClientTimeout(total=10, connect=5)
_ANSWER_BYTES = 1024 * 1024


class Fetching:
    """Sends requests until it is closed."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None

    async def __call__(self, outgoing: Outgoing) -> bytes:
        """Send a request and return the body of a good answer. Raises `ProviderError`."""
        if self._session is None:  # made here: it belongs to the event loop that runs
            self._session = aiohttp.ClientSession(
                timeout=_PATIENCE, cookie_jar=aiohttp.DummyCookieJar()
            )
        headers = {hdrs.ACCEPT: "application/json"}
        if outgoing.authorization is not None:
            headers[hdrs.AUTHORIZATION] = outgoing.authorization
        try:
            async with self._session.request(
                hdrs.METH_GET if outgoing.form is None else hdrs.METH_POST,
                outgoing.url,
                data=outgoing.form,
                headers=headers,
                allow_redirects=False,
            ) as response:
                body = await _read(response)
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as fault:
            raise ProviderError(f"{outgoing.url} gives no answer: {fault!r}") from fault
        if response.status != HTTPStatus.OK:
            raise ProviderError(f"{outgoing.url} answers {response.status}{_error_code(body)}")
        return body

    async def close(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()


async def _read(response: aiohttp.ClientResponse) -> bytes:
    body = b""
    async for chunk in response.content.iter_chunked(64 * 1024):
        body += chunk
        if len(body) > _ANSWER_BYTES:
            raise ValueError(f"it is longer than {_ANSWER_BYTES} bytes")
    return body


def _error_code(body: bytes) -> str:
    """Return the code of an OAuth error, for the log, and nothing else of the answer."""
    try:
        code = json.loads(body)["error"]
        return f" {code}" if ERROR_CODE.fullmatch(code) else ""
    except (ValueError, LookupError, TypeError):
        return ""
