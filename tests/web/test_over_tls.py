# SPDX-License-Identifier: Apache-2.0
"""The pages over TLS, where the names of our cookies have a prefix and the browser takes nothing
back that is not `Secure` (contract, "Auth").
"""

import http.client
import re
from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from hwci.server.app import serving
from hwci.server.settings import Settings
from tests.support.certificates import make_pair
from tests.support.running import EMAIL, NAME, PASSWORD, Hands, in_thread, running_in_thread
from tests.web.conftest import open_own_menu

NO_PROVIDER = "/api/auth/sso/none/login"
SAID = "Provider not found; GET /api/auth/sso lists those there are"
LOST = "You were not signed in; sign in again"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that speaks TLS itself, with the certificate of nobody."""
    folder = tmp_path_factory.mktemp("tls")
    pair = make_pair(folder)
    with running_in_thread(folder) as first:
        database = str(first.database)
    settings = Settings(database=database, port=0, tls_cert=pair.certificate, tls_key=pair.key)
    with in_thread(serving(settings, clock=Hands())) as found:
        yield found.url


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(ignore_https_errors=True)
    yield context.new_page()
    context.close()


@pytest.mark.parametrize(
    ("base_url", "name"),
    [("https://hwci.example.org", "__Secure-hwci_refusal"), (None, "hwci_refusal")],
)
def test_a_refusal_is_a_cookie_that_a_script_reads_as_it_is(
    tmp_path: Path, base_url: str | None, name: str
) -> None:
    with running_in_thread(tmp_path, base_url=base_url) as server:
        line = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=60)
        line.request("GET", NO_PROVIDER, headers={"Accept": "text/html"})
        result = line.getresponse().headers["Set-Cookie"]
        line.close()

    value = re.match(f"{name}=([^;]*);", result)
    assert value is not None, result
    assert re.fullmatch("[A-Za-z0-9%._~-]+", value[1])
    assert unquote(value[1]) == SAID
    assert bool(SimpleCookie(result)[name]["secure"]) is bool(base_url)


def test_a_person_who_is_refused_reads_why_once(page: Page, url: str) -> None:
    page.goto(url + NO_PROVIDER)

    expect(page.get_by_role("alert")).to_have_text(SAID)
    expect(page).to_have_url(f"{url}/sign-in")
    assert page.context.cookies() == []
    page.goto(f"{url}/sign-in?sso=refused")
    expect(page.get_by_role("alert")).to_have_text(LOST)


def test_words_that_nobody_wrote_so_leave_the_page_as_it_is(page: Page, url: str) -> None:
    page.context.add_cookies(
        [{"name": "__Secure-hwci_refusal", "value": "100%", "url": f"{url}/sign-in"}]
    )
    page.goto(f"{url}/sign-in?sso=refused")

    expect(page.get_by_role("alert")).to_have_text(LOST)
    expect(page.get_by_label("E-mail")).to_be_focused()


def cookies_of(page: Page, url: str) -> set[str]:
    return {str(one.get("name")) for one in page.context.cookies([f"{url}/api/auth"])}


def test_one_signs_in_stays_signed_in_and_signs_out(page: Page, url: str) -> None:
    page.goto(url)
    page.get_by_label("E-mail").fill(EMAIL)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator(".person")).to_contain_text(NAME)
    signed_in = {"__Secure-hwci_rt", "__Secure-hwci_signed_in"}
    assert cookies_of(page, url) == {*signed_in, "__Secure-hwci_device"}

    page.reload()
    expect(page.locator(".person")).to_contain_text(NAME)
    open_own_menu(page)
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in to hwci")).to_be_visible()
    assert cookies_of(page, url) == {"__Secure-hwci_device"}  # the device stays known
