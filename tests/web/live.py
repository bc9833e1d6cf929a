# SPDX-License-Identifier: Apache-2.0
"""A server with boxes for tests of pages that move, and a browser that is signed in to it; and a
server that is stopped and comes back at the same address.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Locator, Page, expect

from hwci.server.app import serving
from hwci.server.settings import Settings
from tests.support.benches import Benches
from tests.support.running import Hands, RunningServer, in_thread, running_in_thread
from tests.web.conftest import Account, Dashboard


class Site:
    """Benches, and a browser beside them whose owner looks at the organization's pages."""

    def __init__(self, page: Page, server: RunningServer, hands: Hands) -> None:
        self.page = page
        self.benches = Benches(server, hands)
        self.server = server
        self.dashboard = Dashboard(server.url, Account(server.email, server.password))

    def sign_in(self, email: str | None = None) -> None:
        account = Account(email or self.server.email, self.server.password)
        self.dashboard.sign_in(self.page.context, account)

    def open(self, path: str) -> None:
        self.page.goto(f"{self.server.url}/orgs/{self.server.org_id}/{path}")

    def follow(self, path: str) -> None:
        """Open a page that moves, and wait until it does."""
        self.open(path)
        expect(sign(self.page)).to_have_text("Live")

    def ask(self, path: str) -> Any:
        reply = self.benches.member("GET", path)
        assert reply.status == 200, reply.body
        return reply.json


@contextmanager
def site(page: Page, folder: Path, **options: Any) -> Iterator[Site]:
    """Run a server and sign its owner in; `options` as of `running`."""
    hands = Hands()
    with running_in_thread(folder, clock=hands, **options) as server:
        made = Site(page, server, hands)
        made.sign_in()
        yield made


def ended(page: Page) -> None:
    """End the sign-in of a page, as the server does after some days."""
    refusal = {"status": 401, "json": {"message": "The token has expired"}}
    page.route("**/api/**", lambda route: route.fulfill(**refusal))


def sign_in_again(own: Site, email: str | None = None) -> None:
    """See why the sign-in page is there, and sign in."""
    expect(own.page.get_by_text("Your sign-in has ended")).to_be_visible()
    own.page.unroute("**/api/**")
    own.page.get_by_label("E-mail").fill(email or own.server.email)
    own.page.get_by_label("Password").fill(own.server.password)
    own.page.get_by_role("button", name="Sign in").click()


def sign(page: Page) -> Locator:
    """Return the sign that says whether a page is live."""
    return page.locator(".live-sign")


def row(page: Page, text: str) -> Locator:
    """Return the row of a table that has this text."""
    return page.locator("tbody tr", has_text=text)


def cells(found: Locator) -> list[str]:
    """Return the texts of a row."""
    return [text.strip() for text in found.locator("td").all_inner_texts()]


class Comeback:
    """A server on one database that stops, and comes back at the same address or at another."""

    def __init__(self, first: RunningServer, hands: Hands) -> None:
        self._hands = hands
        self.first = first
        self.settings = Settings(
            database=str(first.database),
            port=urlsplit(first.url).port or 0,
            rate_limit="off",
            auth_rate_limit="off",
        )

    @contextmanager
    def again(self) -> Iterator[Benches]:
        """Serve at the same address."""
        with in_thread(serving(self.settings, clock=self._hands)) as server:
            yield self._benches(server.url)

    @contextmanager
    def elsewhere(self) -> Iterator[Benches]:
        """Serve where no page of the first one looks."""
        settings = replace(self.settings, port=0)
        with in_thread(serving(settings, clock=self._hands)) as server:
            yield self._benches(server.url)

    def _benches(self, url: str) -> Benches:
        return Benches(replace(self.first, url=url), self._hands)
