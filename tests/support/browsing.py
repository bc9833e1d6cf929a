# SPDX-License-Identifier: Apache-2.0
"""A person's browser, as far as a sign-in needs one: it keeps cookies, follows redirects and fills
in the forms that it meets. As a program it opens one address: `python browsing.py FIELDS URL`.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.cookies import Morsel
from typing import Any
from urllib.parse import urljoin, urlsplit

import aiohttp

HOPS_MAX = 20
CONFIRMING_PAGE = "/sign-in/command-line"


@dataclass
class Form:
    action: str
    fields: dict[str, str] = field(default_factory=dict)
    buttons: set[str] = field(default_factory=set)


class Forms(HTMLParser):
    """The forms of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[Form] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.found.append(Form(given.get("action", "")))
        elif self.found and tag == "input" and "name" in given:
            self.found[-1].fields[given["name"]] = given.get("value", "")
        elif self.found and tag == "button" and "name" in given:
            self.found[-1].buttons.add(given["name"])


@dataclass(frozen=True)
class Stop:
    """Where a browser came to rest: the answer there, or an address that it did not go to."""

    url: str
    status: int = 0
    body: bytes = b""

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def message(self) -> tuple[int, str]:
        assert self.json["statusCode"] == self.status
        return self.status, self.json["message"]


class Browser:
    """`fields`: what its person writes into forms, by name. `presses`: a button to look for.
    `accepts`: whether they let a command line sign in that waits; None: they answer nothing.
    """

    def __init__(self, http: aiohttp.ClientSession, fields: Mapping[str, str]) -> None:
        self.http = http
        self.fields = fields
        self.presses: str | None = None
        self.accepts: bool | None = True
        self.visited: list[str] = []

    def cookies(self) -> dict[str, Morsel[str]]:
        return {cookie.key: cookie for cookie in self.http.cookie_jar}

    async def open(self, url: str, until: str | None = None) -> Stop:
        """Go to an address, and on. `until`: do not go to one that holds this."""
        form: Mapping[str, str] | None = None
        for _ in range(HOPS_MAX):
            if until is not None and until in url:
                return Stop(url)
            self.visited.append(url)
            async with self.http.request(
                "GET" if form is None else "POST", url, data=form, allow_redirects=False
            ) as answer:
                body, status = await answer.read(), answer.status
                is_page = status == 200 and answer.content_type == "text/html"
            if "Location" in answer.headers:
                url, form = urljoin(url, answer.headers["Location"]), None
                continue
            if urlsplit(url).path == CONFIRMING_PAGE and self.accepts is not None:
                url, form = await self.answer(url), None
                continue
            found = Forms(body.decode()).found if is_page else []
            if not found:
                return Stop(url, status, body)
            url, form = self._filled(url, found)
        raise AssertionError(f"the browser is sent round and round: {self.visited}")

    async def answer(self, page: str) -> str:
        """Do what the page about a command line that waits does; return where it leads."""
        url = urljoin(page, "/api/auth/sso/command-line")
        async with self.http.get(url) as waiting:
            challenge = (await waiting.json())["challenge"]
        body = {"challenge": challenge, "accepted": self.accepts}
        async with self.http.post(url, json=body) as answer:
            return str((await answer.json())["url"])

    def _filled(self, url: str, forms: list[Form]) -> tuple[str, dict[str, str]]:
        pressed = [form for form in forms if self.presses in form.buttons]
        form = (pressed or forms)[0]
        filled = {name: self.fields.get(name, value) for name, value in form.fields.items()}
        if pressed and self.presses is not None:
            filled[self.presses] = self.fields[self.presses]
        return urljoin(url, form.action) if form.action else url, filled


@asynccontextmanager
async def browsing(**fields: str) -> AsyncIterator[Browser]:
    """Open a browser without cookies. An address that is a number may set some, as in browsers."""
    jar = aiohttp.CookieJar(unsafe=True)
    async with aiohttp.ClientSession(cookie_jar=jar) as http:
        yield Browser(http, fields)


async def _open(fields: Mapping[str, str], url: str) -> None:
    async with browsing(**fields) as browser:
        await browser.open(url)


if __name__ == "__main__":
    asyncio.run(_open(json.loads(sys.argv[1]), sys.argv[2]))
