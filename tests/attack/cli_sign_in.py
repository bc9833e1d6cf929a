# SPDX-License-Identifier: Apache-2.0
"""20 links that sign a person in for somebody else's command line: none gets a session."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from socket import AF_INET, AddressFamily
from typing import Any
from urllib.parse import parse_qs, urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from hwci.wire.sso import challenge_of
from tests.attack.scene import Attack, Scene
from tests.support.browsing import CONFIRMING_PAGE, Browser
from tests.support.providers import mock_provider, sso_file

LINKS = 20
HOST = "hwci.test"
VICTIM = {"sub": "victim", "email": "victim@example.org", "email_verified": True}
CONFIRMING = "/api/auth/sso/command-line"
PORT = 40_404


@contextmanager
def _provider(folder: Path) -> Iterator[Mapping[str, str]]:
    with mock_provider(VICTIM) as issuer:
        file = sso_file(folder, acme=issuer)
        yield {"HWCI_SSO_FILE": str(file), "HWCI_BASE_URL": f"http://{HOST}"}


class _Names(AbstractResolver):
    """Leads the address that people use to the server."""

    def __init__(self, port: int) -> None:
        self.port = port

    async def resolve(
        self, host: str, port: int = 0, family: AddressFamily = AF_INET
    ) -> list[ResolveResult]:
        at = self.port if host == HOST else port
        found = ResolveResult(
            hostname=host, host="127.0.0.1", port=at, family=family, proto=0, flags=0
        )
        return [found]

    async def close(self) -> None:
        """Keep nothing."""


async def _prepare_links(scene: Scene) -> str:
    got = 0
    for number in range(LINKS):
        connector = aiohttp.TCPConnector(resolver=_Names(scene.port))
        jar = aiohttp.CookieJar(unsafe=True)
        async with aiohttp.ClientSession(connector=connector, cookie_jar=jar) as http:
            got += await _opened(http, f"{number:02}" + "v" * 41)
    figure = f"{got} of {LINKS} prepared links got a session"
    assert got == 0, figure
    return figure


async def _opened(http: aiohttp.ClientSession, verifier: str) -> bool:
    """Let the victim's browser open a link of the attacker, whose page then asks for the code, too.
    Return whether the attacker, who listens at the port, gets a session.
    """
    browser = Browser(http, {"sub": "victim"})
    browser.accepts = None
    link = f"/api/auth/sso/acme/login?port={PORT}&challenge={challenge_of(verifier)}"
    stop = await browser.open(f"http://{HOST}{link}", until=f":{PORT}/")
    brought = [stop.url]
    if urlsplit(stop.url).path == CONFIRMING_PAGE:
        answer = {"challenge": challenge_of(verifier), "accepted": True}
        for header in ({"Origin": "http://evil.test"}, {"Sec-Fetch-Site": "cross-site"}):
            said = await http.post(f"http://{HOST}{CONFIRMING}", json=answer, headers=header)
            brought.append((await said.json()).get("url", ""))
    codes = [parse_qs(urlsplit(url).query).get("code", [""])[0] for url in brought]
    tries = [_exchanged(http, code, verifier) for code in codes if code]
    return any(await asyncio.gather(*tries))


async def _exchanged(http: aiohttp.ClientSession, code: str, verifier: str) -> bool:
    body: Any = {"code": code, "verifier": verifier}
    async with http.post(f"http://{HOST}/api/auth/sso/token", json=body) as answer:
        return answer.status == 200


ATTACK = Attack(
    _prepare_links,
    seconds=30.0,
    before="20 of 20 prepared links got a session, at 1dfd5083",
    beside=_provider,
)
