# SPDX-License-Identifier: Apache-2.0
"""A person of two organizations: the page says which one it shows, switches by pointer and by
keyboard, and shows nothing of the other one.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import UUID

import pytest
from playwright.sync_api import Page, expect

from hwci.server.app import SetCiMetrics
from hwci.wire import limits
from tests.support.asking import ask, bearer
from tests.support.running import MEMBER_EMAIL, ORGANIZATION, PASSWORD
from tests.support.soak import rounds
from tests.web.conftest import Account, Dashboard
from tests.web.live import Site, site

OTHER = "Other Works"
OURS = ("acme/firmware", "bench-ours", "test.ours")
PAGES = ("metrics", "failures", "review", "runs", "boxes", "members", "audit-log")


@pytest.fixture
def own(page: Page, tmp_path: Path) -> Iterator[Site]:
    """Runs of the first organization, of a test that failed and passed."""
    with site(page, tmp_path) as found:
        for number, outcome in enumerate(("fail", "pass"), 1):
            test = {"id": "test.ours", "outcome": outcome, "attempts": 1, "duration_s": 1.0}
            run = {"run_id": number, "sha": str(number) * 40, "box_key": "bench-ours"}
            assert found.benches.report(**run, tests=[test]).status == 204
        yield found


@pytest.fixture
def other(own: Site) -> str:
    """Make a second organization of the same owner, in which nothing ran; return its id."""
    token = bearer(own.dashboard.token())
    made = ask(own.server.url, "POST", "/api/orgs", token, json_body={"name": OTHER}).json
    turned_on = SetCiMetrics(org_id=UUID(made["id"]), enabled=True)
    with ThreadPoolExecutor() as threads:  # the browser's driver keeps a loop running in this one
        threads.submit(own.server.operate, turned_on).result()
    return str(made["id"])


def test_the_organization_is_named_and_a_click_switches_it(
    page: Page, own: Site, other: str
) -> None:
    own.open("runs?boxKey=bench-ours")
    shown = page.get_by_role("button", name=f"Organization: {ORGANIZATION}")

    shown.click()
    expect(page.get_by_role("link", name=ORGANIZATION)).to_have_attribute("aria-current", "true")
    page.get_by_role("link", name=OTHER).click()

    expect(page).to_have_url(f"{own.server.url}/orgs/{other}/metrics")
    expect(page).to_have_title(f"Metrics · {OTHER} · hwci")
    expect(page.get_by_role("button", name=f"Organization: {OTHER}")).to_be_visible()
    expect(shown).to_have_count(0)


def test_keys_alone_switch_it_and_back(page: Page, own: Site, other: str) -> None:
    own.open("metrics")
    for name, org_id in ((OTHER, other), (ORGANIZATION, str(own.server.org_id))):
        page.get_by_role("button", name="Organization: ").focus()
        page.keyboard.press("Enter")
        link = page.get_by_role("link", name=name)
        for _ in range(2):
            page.keyboard.press("Tab")
            if link.evaluate("link => link === document.activeElement"):
                break
        page.keyboard.press("Enter")

        expect(page).to_have_url(f"{own.server.url}/orgs/{org_id}/metrics")
        expect(page.get_by_role("button", name=f"Organization: {name}")).to_be_visible()
        expect(page.get_by_role("main")).to_be_focused()


def test_no_page_of_the_other_one_shows_anything_of_the_first(
    page: Page, own: Site, other: str
) -> None:
    for name in rounds(("metrics", "runs", "audit-log"), PAGES):
        own.open(name)
        expect(page.locator(".waiting")).to_have_count(0)
        page.get_by_role("button", name="Organization: ").click()
        page.get_by_role("link", name=OTHER).click()
        expect(page).to_have_title(f"Metrics · {OTHER} · hwci")
        if name != "metrics":
            page.goto(f"{own.server.url}/orgs/{other}/{name}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.locator(".waiting")).to_have_count(0)

        text = page.locator("body").inner_text()
        assert [one for one in OURS if one in text] == [], name


def test_a_page_of_an_organization_that_is_not_among_the_first_hundred_is_shown(
    page: Page, own: Site, quiet_console: list[str]
) -> None:
    person = {"email": MEMBER_EMAIL, "password": PASSWORD}
    answer = ask(own.server.url, "POST", "/api/auth/login", json_body=person).json
    token = bearer(answer["accessToken"])
    for number in range(limits.PAGE_LIMIT_MAX):
        body = {"name": f"Made {number}"}
        assert ask(own.server.url, "POST", "/api/orgs", token, json_body=body).status == 201
    member = Dashboard(own.server.url, Account(MEMBER_EMAIL, PASSWORD))
    page.context.clear_cookies()
    member.sign_in(page.context)

    page.goto(f"{own.server.url}/orgs/{own.server.org_id}/runs")
    expect(page).to_have_title(f"Runs · {ORGANIZATION} · hwci")
    expect(page.get_by_role("button", name=f"Organization: {ORGANIZATION}")).to_be_visible()
    page.goto(f"{own.server.url}/orgs/{UUID(int=7)}/runs")
    expect(page.get_by_role("heading", name="No such organization")).to_be_visible()
    quiet_console.clear()  # the browser itself tells of the refusals
