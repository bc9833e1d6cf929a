# SPDX-License-Identifier: Apache-2.0
"""What a browser has to fetch before a page is shown: few bytes, and no file that the page does not
need.
"""

import gzip
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import CDPSession, Page, Route, expect

from tests.support.asking import ask, bearer
from tests.support.soak import rounds
from tests.web.conftest import SHOWN_MILLISECONDS, Dashboard, never_answer

# As measured with the demo, headers included.
FIRST_VIEW_BYTES = 110_000
BEFORE_THE_TILES_BYTES = 90_500
ROOM = 1.03
"""A limit of weight is so far above what was measured."""
# The heading of each page that anyone who is signed in can open by its address.
HEADINGS = {
    "metrics": "Metrics",
    "failures": "Failures",
    "review": "Review",
    "runs": "Runs",
    "boxes": "Boxes",
    "members": "Members",
    "audit-log": "Audit log",
}
FIGURES = re.compile(r"/ci-metrics(\?|$)")
MODULES_NAMED = "links => links.map(link => link.href)"


class Answer(NamedTuple):
    """An answer, and its size on the wire, headers included."""

    url: str
    bytes: int


class Wire:
    """What a page fetches, as the browser's DevTools protocol reports it."""

    def __init__(self, page: Page) -> None:
        self.answers: list[Answer] = []
        self._urls: dict[str, str] = {}
        self._page = page
        self.line: CDPSession = page.context.new_cdp_session(page)
        self.line.on("Network.responseReceived", self._begun)
        self.line.on("Network.loadingFinished", self._ended)
        self.line.send("Network.enable")
        self.line.send("Network.setCacheDisabled", {"cacheDisabled": True})

    def _begun(self, event: dict[str, Any]) -> None:
        self._urls[event["requestId"]] = event["response"]["url"]

    def _ended(self, event: dict[str, Any]) -> None:
        url = self._urls[event["requestId"]]
        self.answers.append(Answer(url, int(event["encodedDataLength"])))

    def wait_until(self, met: Callable[[], bool]) -> None:
        """Wait for a condition: the page may use an answer before the protocol reports it."""
        for _ in range(SHOWN_MILLISECONDS // 10):
            if met():
                return
            self._page.wait_for_timeout(10)

    def wait_for_modules(self, count: int) -> None:
        self.wait_until(lambda: len(self.modules) >= count)

    @property
    def modules(self) -> list[str]:
        """Return the addresses of the modules, without the script that sets the theme."""
        loaded = (answer.url for answer in self.answers if answer.url.endswith(".js"))
        return [url for url in loaded if not re.fullmatch(r".*/static/\w+/theme\.js", url)]


@pytest.fixture
def wire(page: Page) -> Iterator[Wire]:
    found = Wire(page)
    yield found
    found.line.detach()


def test_the_first_view_of_thirty_days_weighs_at_most_little_more_than_measured(
    page: Page, demo: Dashboard, wire: Wire
) -> None:
    organization = demo.sign_in(page.context)

    page.goto(f"{demo.url}/orgs/{organization}/metrics")
    expect(page.locator(".tile .trend rect").first).to_be_attached()
    page.locator("#flaky").scroll_into_view_if_needed()
    expect(page.locator("#flaky .heat rect").first).to_be_attached()
    page.wait_for_load_state("networkidle")

    heaviest = sorted(wire.answers, key=lambda answer: -answer.bytes)[:10]
    assert any("flakiest-tests/history" in answer.url for answer in wire.answers)
    assert sum(answer.bytes for answer in wire.answers) <= ROOM * FIRST_VIEW_BYTES, heaviest


def test_three_requests_and_few_bytes_come_before_the_tiles(
    page: Page, demo: Dashboard, wire: Wire
) -> None:
    organization = demo.sign_in(page.context)
    held: list[Route] = []
    asked: list[str] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.on("request", lambda one: asked.append(urlsplit(one.url).path))
    page.route(FIGURES, hold)

    page.goto(f"{demo.url}/orgs/{organization}/metrics")
    expect(page.get_by_role("link", name="Audit log")).to_be_visible()  # it is known who asks
    wire.wait_until(lambda: bool(held))

    before = [path for path in asked if path.startswith("/api/")]
    org = f"/api/orgs/{organization}"
    assert sorted(before) == ["/api/auth/me", "/api/auth/refresh", f"{org}/ci-metrics"]
    loaded = list(wire.answers)
    wire.answers.clear()
    held[0].continue_()
    expect(page.get_by_label("Tiles")).to_be_visible()
    wire.wait_until(lambda: any(FIGURES.search(answer.url) for answer in wire.answers))
    loaded += [answer for answer in wire.answers if FIGURES.search(answer.url)]
    assert sum(answer.bytes for answer in loaded) <= ROOM * BEFORE_THE_TILES_BYTES, loaded


def test_a_document_names_the_modules_of_its_page_and_no_others(
    page: Page, demo: Dashboard, wire: Wire
) -> None:
    organization = demo.sign_in(page.context)
    page.route(FIGURES, never_answer)  # after the tiles the page of metrics loads its last table
    for place, heading in rounds([*HEADINGS.items()][::2], [*HEADINGS.items()]):
        wire.answers.clear()

        page.goto(f"{demo.url}/orgs/{organization}/{place}")
        expect(page.get_by_role("heading", level=1, name=heading)).to_be_visible()

        named = page.locator("link[rel=modulepreload]").evaluate_all(MODULES_NAMED)
        wire.wait_for_modules(len(named))
        assert Counter(wire.modules) == Counter(named), place


def test_another_page_loads_what_it_adds(page: Page, demo: Dashboard, wire: Wire) -> None:
    organization = demo.sign_in(page.context)
    page.goto(f"{demo.url}/orgs/{organization}/boxes")
    expect(page.get_by_role("heading", level=1, name="Boxes")).to_be_visible()
    named = page.locator("link[rel=modulepreload]").evaluate_all(MODULES_NAMED)
    wire.wait_for_modules(len(named))
    wire.answers.clear()

    page.get_by_role("link", name="Audit log").click()

    expect(page.get_by_role("heading", level=1, name="Audit log")).to_be_visible()
    wire.wait_until(lambda: bool(wire.modules))
    (added,) = wire.modules
    assert added.endswith("/pages/audit_log.js")


def test_a_page_that_did_not_load_shows_an_error_and_loads_on_a_second_try(
    page: Page, demo: Dashboard, quiet_console: list[str]
) -> None:
    organization = demo.sign_in(page.context)
    page.goto(f"{demo.url}/orgs/{organization}/boxes")
    page.route("**/pages/audit_log.js", lambda route: route.abort())
    page.get_by_role("link", name="Audit log").click()
    expect(page.get_by_role("alert")).to_contain_text("did not load")
    page.unroute("**/pages/audit_log.js")

    page.get_by_role("button", name="Try again").click()

    expect(page.get_by_role("heading", level=1, name="Audit log")).to_be_visible()
    quiet_console.clear()  # the browser logs the aborted request


def test_metrics_are_compressed_for_clients_that_accept_it_and_tokens_never(
    demo: Dashboard,
) -> None:
    token = demo.token()
    organization = demo.ask("/api/orgs", token)["items"][0]["id"]
    asked = ("GET", f"/api/orgs/{organization}/ci-metrics?asOf=2026-01-01T00:00:00Z")

    plain = ask(demo.url, *asked, bearer(token))
    packed = ask(demo.url, *asked, bearer(token), ("Accept-Encoding", "br, gzip"))
    refused = ask(demo.url, *asked, bearer(token), ("Accept-Encoding", "gzip;q=0, *"))

    assert gzip.decompress(packed.body) == plain.body == refused.body
    assert packed.headers["content-encoding"] == "gzip"
    assert {reply.headers["vary"] for reply in (plain, packed)} == {"Accept-Encoding"}
    body = {"email": demo.account.email, "password": demo.account.password}
    signed_in = ask(
        demo.url, "POST", "/api/auth/login", ("Accept-Encoding", "gzip"), json_body=body
    )
    assert "content-encoding" not in signed_in.headers
