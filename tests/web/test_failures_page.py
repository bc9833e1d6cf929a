# SPDX-License-Identifier: Apache-2.0
"""The page of failures: which of them it lists stands in its address, and what it shows is the
API's (contract, "CI metrics"). That the tiles lead to it, `test_metrics_figures.py` claims.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.web.conftest import Dashboard
from tests.web.live import Site, cells, site

ROWS = 20
VERDICT_LINES = {
    "flake": "^Flake A flake",
    "resolved": "^(Real firmware bug|Bench or harness|Ambiguous|Dismissed) ",
    "pending": "^Pending Still failing",
}
LABELS = {"flake": "Flake", "resolved": "Resolved", "pending": "Pending"}
VERDICTS = {"device": "Device", "infra": "Infra", "unknown": "None reported"}
ONE_PRODUCT = {"repoKey": "acme/sensor-node", "suite": "gateway-fw"}
LONG_AGO = "2020-01-01T00:00:00Z"
LEADING = "links => links.map(link => link.pathname.split('/').pop())"


class Failures:
    """The page in a browser, and the API beside it, at one moment."""

    def __init__(self, page: Page, demo: Dashboard) -> None:
        self.page, self._demo, self._token = page, demo, demo.token()
        self._org = demo.sign_in(page.context)
        self.moment = demo.now().isoformat()

    def open(self, **query: Any) -> None:
        asked = urlencode({"asOf": self.moment, **query})
        self.page.goto(f"{self._demo.url}/orgs/{self._org}/failures?{asked}")
        expect(self.page.get_by_role("heading", level=1, name="Failures")).to_be_visible()

    def ask(self, **query: Any) -> Any:
        asked = urlencode({"asOf": self.moment, "limit": ROWS, **query})
        return self._demo.ask(f"/api/orgs/{self._org}/ci-failures?{asked}", self._token)

    def metrics(self, **query: Any) -> Any:
        asked = urlencode({"asOf": self.moment, **query})
        return self._demo.ask(f"/api/orgs/{self._org}/ci-metrics?{asked}", self._token)

    def shows(self, told: Any, *, all_products: bool = True) -> None:
        """See that the page has these failures, in this order, and says how many there are."""
        expect(total(self.page)).to_have_text(counted(told["total"]))
        rows = self.page.locator("tbody tr")
        places = [f"{row['boxKey']} · {row['branch']} history" for row in told["items"]]
        expect(rows.locator("td:first-child > a")).to_have_text(
            [row["testId"] for row in told["items"]]
        )
        expect(rows.locator("td:first-child .under")).to_have_text(places)
        expect(rows.locator(".sha")).to_have_text([row["sha"][:12] for row in told["items"]])
        leading = rows.locator("td:first-child > a").evaluate_all(LEADING)
        assert leading == [row["id"] for row in told["items"]]
        for place, row in enumerate(told["items"]):
            shown = cells(rows.nth(place))
            product = [row["suite"]] if all_products else []
            assert shown[1:-5] == [*product, LABELS[row["label"]]]
            assert shown[-2:] == [str(row["items"]), VERDICTS[row["verdict"]]]


@pytest.fixture
def failures(page: Page, demo: Dashboard) -> Failures:
    return Failures(page, demo)


@pytest.fixture
def own(page: Page, tmp_path: Path) -> Iterator[Site]:
    with site(page, tmp_path) as made:
        yield made


def total(page: Page) -> Locator:
    """Return where the page says how many failures there are."""
    return page.locator(".table-tools").get_by_role("status")


def counted(number: int) -> str:
    """Write a number of failures."""
    return f"{number:,} failure{'' if number == 1 else 's'}"


# What it lists


@pytest.mark.parametrize("label", [None, *LABELS])
def test_the_rows_are_those_of_the_api_and_lead_to_their_evidence_and_back(
    failures: Failures, label: str | None
) -> None:
    page, chosen = failures.page, {} if label is None else {"label": label}
    of = ONE_PRODUCT if label in {None, "pending"} else {}
    failures.open(days=90, **of, **chosen)
    told = failures.ask(days=90, **of, **chosen)
    failures.shows(told, all_products=not of)
    if label is None:
        return

    page.locator("tbody a").first.click()

    expect(page.locator(".verdict-line")).to_have_text(re.compile(VERDICT_LINES[label]))
    expect(page.get_by_role("heading", level=1)).to_contain_text(told["items"][0]["testId"])
    page.get_by_role("link", name="Back to failures").click()
    failures.shows(told, all_products=not of)
    expect(page).to_have_url(re.compile(f"days=90.*label={label}"))


def test_label_period_and_product_are_chosen_and_stand_in_the_address(failures: Failures) -> None:
    page = failures.page
    failures.open()
    failures.shows(failures.ask())
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("Page 2 of")).to_be_visible()

    page.get_by_text("Resolved", exact=True).first.click()
    expect(page).not_to_have_url(re.compile(r"failures\.page"))
    page.get_by_text("90d", exact=True).click()
    page.get_by_label("Product").select_option(label="gateway-fw")

    expect(page).to_have_url(re.compile(r"label=resolved&days=90&repoKey=.*&suite=gateway-fw"))
    chosen = {"label": "resolved", "days": 90, **ONE_PRODUCT}
    failures.shows(failures.ask(**chosen), all_products=False)
    page.reload()
    failures.shows(failures.ask(**chosen), all_products=False)
    expect(page.get_by_role("radio", name="Resolved")).to_be_checked()
    page.go_back()
    expect(page.get_by_label("Product")).to_have_value("")
    failures.shows(failures.ask(label="resolved", days=90))


def test_the_server_sorts_searches_and_turns_over(failures: Failures) -> None:
    page = failures.page
    failures.open(days=90)
    page.get_by_role("button", name="Failing runs").click()
    failures.shows(failures.ask(days=90, sort="-items"))

    page.get_by_label("Search Failures").fill("bench-2 main")
    failures.shows(failures.ask(days=90, sort="-items", search="bench-2 main"))
    page.get_by_role("button", name="Next").click()
    failures.shows(failures.ask(days=90, sort="-items", search="bench-2 main", page=2))

    expect(page).to_have_url(re.compile(r"failures\.sort=-items.*failures\.search=bench-2"))
    page.reload()
    failures.shows(failures.ask(days=90, sort="-items", search="bench-2 main", page=2))


def test_the_failures_of_one_test_are_listed_until_all_are_wanted(failures: Failures) -> None:
    page, test = failures.page, "radio.lora_join"
    failures.open(days=90, testId=test, label="pending")
    page.get_by_role("button", name="Show its other failures").click()
    failures.shows(failures.ask(days=90, testId=test))

    failures.open(days=90, testId=test, label="flake")
    failures.shows(failures.ask(days=90, testId=test, label="flake"))
    expect(page.get_by_text(f"Only {test}")).to_be_visible()

    page.get_by_role("button", name="Show all tests").click()

    failures.shows(failures.ask(days=90, label="flake"))
    expect(page.get_by_role("radio", name="Flake")).to_be_focused()
    assert "testId" not in page.url


def test_a_period_of_the_past_is_named_and_leads_to_the_present(failures: Failures) -> None:
    page = failures.page
    failures.open(asOf="2026-01-31T10:00:00Z", label="pending")
    expect(page.locator(".page-head")).to_contain_text(re.compile("31.*2026|2026.*31"))

    page.get_by_role("link", name="up to now").click()

    expect(page.get_by_role("link", name="up to now")).to_have_count(0)
    expect(page).to_have_url(re.compile(r"/failures\?label=pending$"))


# Where it leads


# What it says of nothing


def test_nothing_at_all_leads_to_the_first_steps(own: Site) -> None:
    own.open("failures")
    expect(own.page.get_by_text("No report has arrived yet")).to_be_visible()

    own.page.get_by_role("link", name="How to begin").click()

    expect(own.page.get_by_text("hwci merge-announce").first).to_be_visible()


def test_a_period_without_failures_leads_to_the_runs(failures: Failures) -> None:
    page = failures.page
    failures.open(asOf=LONG_AGO)
    expect(total(page)).to_have_text("0 failures")
    nothing = page.get_by_text("No test failed in this period")
    expect(nothing).to_be_visible()
    for label, said in (
        ("Flake", "passed on the same commit and box too"),
        ("Resolved", "has to pass on a later commit"),
        ("Pending", "is still failing"),
    ):
        page.get_by_role("radio", name=label).check()
        expect(page.get_by_text(said)).to_be_visible()
        page.get_by_role("button", name="Show all failures").click()
        expect(nothing).to_be_visible()
        expect(page.get_by_role("radio", name="All")).to_be_focused()

    page.locator("main").get_by_role("link", name="Runs").click()

    expect(page.get_by_role("heading", level=1, name="Runs")).to_be_visible()


def test_a_product_that_was_never_reported_is_named(
    failures: Failures, quiet_console: list[str]
) -> None:
    page = failures.page
    failures.open(repoKey="acme/nothing", suite="none", label="flake")
    expect(page.get_by_text("names the repository 'acme/nothing'")).to_be_visible()
    quiet_console.clear()

    page.get_by_role("button", name="Show all products").click()

    failures.shows(failures.ask(label="flake"))
    expect(page.get_by_role("radio", name="Flake")).to_be_focused()


def test_a_test_that_only_passed_on_retries_leads_to_its_attempts(own: Site) -> None:
    test = {"id": "radio.join", "outcome": "pass", "attempts": 2, "duration_s": 1.0}
    own.benches.report(tests=[test])
    own.open("metrics")
    for told in ("1 run of", "1 failed attempt of", "1 pass on a retry of"):
        expect(own.page.get_by_role("link", name=f"{told} radio.join")).to_be_visible()
    own.page.locator("#flaky").get_by_role("link", name="radio.join", exact=True).click()
    expect(own.page.get_by_text("a pass on a retry is not a failure")).to_be_visible()

    own.open("failures?testId=radio.join")
    expect(total(own.page)).to_have_text("0 failures")
    own.page.get_by_role("link", name="See its attempts").click()

    expect(own.page.get_by_label("Search Flakiest tests")).to_have_value("radio.join")
    expect(own.page.locator("#flaky tbody tr")).to_have_count(1)


# What a row counts


def test_a_flake_that_failed_twice_on_its_commit_is_one_row_of_two_runs(own: Site) -> None:
    for number, outcome in enumerate(("fail", "fail", "pass"), 1):
        test = {"id": "boot", "outcome": outcome, "attempts": 1, "duration_s": 1.0}
        own.benches.report(run_id=number, tests=[test])
    own.open("metrics")
    tile = own.page.locator(".tile", has_text="Flaky failures")
    expect(tile.locator(".figure strong")).to_have_text("2")

    tile.get_by_role("link", name="2", exact=True).click()

    expect(total(own.page)).to_have_text("1 failure")
    expect(own.page.locator("tbody td[data-title='Failing runs']")).to_have_text("2")
    expect(own.page.get_by_text("failing runs one by one: 2 in this period.")).to_be_visible()


def test_the_number_of_the_tile_is_shown_beside_that_of_the_rows(failures: Failures) -> None:
    for query in ({"days": 7}, {"days": 90}, {"days": 90, **ONE_PRODUCT}):
        tiles = failures.metrics(**query)["tiles"]
        failures.open(label="flake", **query)
        counts = f"one by one: {tiles['flakyFailures']['count']:,} in this period."
        expect(failures.page.get_by_text(counts)).to_be_visible()
    failures.open(label="flake", testId="radio.lora_join")
    expect(total(failures.page)).to_be_visible()
    expect(failures.page.get_by_text("one by one")).to_have_count(0)  # it is of all tests
