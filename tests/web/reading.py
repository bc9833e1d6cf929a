# SPDX-License-Identifier: Apache-2.0
"""How tests read the pages of the demo, and ask its API for the same."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.soak import rounds
from tests.web.conftest import Dashboard

Scheme = Literal["light", "dark"]
SCHEMES: Sequence[Scheme] = ("light", "dark")
PRODUCT = {"repoKey": "acme/sensor-node", "suite": "sensor-fw"}


class Reader:
    """Someone who is signed in to the demo, and asks its API for the same."""

    def __init__(self, page: Page, demo: Dashboard, place: str = "test") -> None:
        self.page, self._demo, self._place, self.now = page, demo, place, demo.now
        self._token, self._org = demo.token(), demo.sign_in(page.context)
        self.home = f"{demo.url}/orgs/{self._org}"

    def ask(self, path: str, **query: Any) -> Any:
        address = f"/api/orgs/{self._org}/{path}?{urlencode(query)}"
        return self._demo.ask(address, self._token)

    def open(self, **query: Any) -> None:
        self.page.goto(f"{self.home}/{self._place}?{urlencode(query)}")


PRODUCTS: tuple[dict[str, str], ...] = (
    {},
    {"repoKey": "acme/sensor-node", "suite": "sensor-fw"},
    {"repoKey": "acme/sensor-node", "suite": "gateway-fw"},
)
PERIODS = (90, 30, 7)
of_each_period_and_product = pytest.mark.parametrize(
    ("days", "of"),
    rounds(tuple(zip(PERIODS, PRODUCTS, strict=True)), tuple(product(PERIODS, PRODUCTS))),
    ids=lambda one: str(one if isinstance(one, int) else one.get("suite", "all")),
)
"""In `make test` each period and each product once, in `make soak` each period of each product."""
of_one_period_and_product = pytest.mark.parametrize(
    ("days", "of"), rounds([(30, PRODUCTS[1])], [*product(PERIODS, PRODUCTS)])
)
"""In `make test` a period of a product, in `make soak` each of each."""
TABLES = {
    "merges": "unchecked-merges",
    "bugs": "real-bugs",
    "other": "other-failures",
    "flaky": "flakiest-tests",
}
CAUSES = {"bugs": "realBugs", "other": "otherFailures"}


class Asked:
    """The API at one moment, of one period and product."""

    def __init__(self, demo: Dashboard, token: str, org: str, query: Mapping[str, Any]) -> None:
        self._demo, self._token, self._org, self._query = demo, token, org, query

    def page(self) -> Any:
        return self._read("ci-metrics", {})

    def times_to_fix(self) -> Any:
        return self._read("ci-analysis/times-to-fix", {"limit": 100})["items"]

    def causes(self, table: str = "bugs") -> int:
        """Return how many causes the failures of a table have."""
        return int(self._read("ci-analysis/causes", {"table": CAUSES[table]})["total"])

    def pages_of_causes(self, table: str) -> Iterator[list[Any]]:
        """Return the causes of each page of a table of resolved failures."""
        return self._pages("ci-analysis/causes", {"table": CAUSES[table]})

    def trends(self) -> Any:
        return self._read("ci-analysis/trends", {})

    def pages(self, table: str) -> Iterator[list[Any]]:
        """Return the rows of each page of a table, as the page shows them."""
        return self._pages(f"ci-metrics/{TABLES[table]}", {})

    def _pages(self, path: str, query: Mapping[str, Any]) -> Iterator[list[Any]]:
        for number in range(1, 100):
            answer = self._read(path, {**query, "page": number})
            if answer["items"] or number == 1:
                yield answer["items"]
            if number * answer["limit"] >= answer["total"]:
                return

    def explained(self, number: int, merges: list[Any]) -> list[tuple[str, str | None]]:
        """Return why each merge of a page is unchecked, with the run that tells it, and the subject
        of its commit.
        """
        found = self._read("ci-analysis/unchecked-merges", {"page": number})["items"]
        for one, merge in zip(found, merges, strict=True):
            assert (one["sha"], one["suite"]) == (merge["sha"], merge["suite"])
        return [(_why(one), one["subject"]) for one in found]

    def histories(self, more: Mapping[str, Any]) -> Any:
        """Return the first rows of "Flakiest tests" over time."""
        return self._read("ci-metrics/flakiest-tests/history", more)

    def failures(self, test: Any) -> Any:
        """Return the failures of a row of "Flakiest tests"."""
        return self._read("ci-failures", {k: test[k] for k in ("repoKey", "suite", "testId")})

    def test(self, test: Any) -> Any:
        """Return what a test did on each box."""
        return self._read("ci-analysis/test", test)

    def suspect(self, test_id: str) -> Any:
        """Return what the runs of a flaky test suggest."""
        rows = self._read("ci-analysis/flaky-tests", {"search": test_id, "limit": 100})["items"]
        return next(row for row in rows if row["testId"] == test_id)

    def flakes(self) -> int:
        """Return the number of failures that are flakes."""
        return int(self._read("ci-failures", {"label": "flake"})["total"])

    def checked(self, more: Mapping[str, Any]) -> Any:
        """Return a page of the merges that were checked."""
        return self._read("ci-metrics/checked-merges", more)

    def runs(self, query: Mapping[str, str]) -> Any:
        """Return the runs that fit, of any time."""
        path = f"/api/orgs/{self._org}/runs?{urlencode(query)}"
        return self._demo.ask(path, self._token)

    def _read(self, path: str, more: Mapping[str, Any]) -> Any:
        query = urlencode({**self._query, **more})
        return self._demo.ask(f"/api/orgs/{self._org}/{path}?{query}", self._token)


def _why(merge: Any) -> str:
    told, run, others = merge["causeText"], merge.get("run"), merge["otherBoxes"]
    also = f"; also on {', '.join(others)}" if others else ""
    return told if run is None else f"{told}: run {run['runId']} on {run['boxKey']}{also}"


def between(low: float | None, high: float | None) -> str:
    """Write an interval, or that there is too little for one."""
    if low is None or high is None:
        return "not enough data"
    start, end = (percent(Decimal(str(one))) for one in (low, high))
    return f"{start.removesuffix(' %')} to {end}"


def range_of(share: Any) -> str:
    """Write the interval of a share, whose ends are between 0 and 1."""
    return between(*(None if share[end] is None else 100 * share[end] for end in ("low", "high")))


def percent(value: Decimal) -> str:
    """Write a percentage."""
    return f"{value.quantize(Decimal('0.1'), ROUND_HALF_UP)} %"


# Presses the arrow key until nothing changes. Each press from here would be three messages.
_WALK = """async (bars, shown) => {
    const press = async (key) => {
        bars.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
        await new Promise((drawn) => setTimeout(drawn));
    };
    const found = [];
    const last = () => found[found.length - 1]?.[0];
    const chart = bars.closest(".tile, .cockpit") ?? bars.closest(".columns");
    const text = () => chart.querySelector(shown).innerText;
    bars.focus();
    for (await press("Home"); text() !== last(); await press("ArrowRight"))
        found.push([text(), bars.ariaLabel, bars.href]);
    return found;
}"""


class Day(NamedTuple):
    """What a chart shows of a day, what is heard of it, and where it leads."""

    text: str
    name: str
    href: str


def each_day(bars: Locator, shown: str) -> list[Day]:
    """Return what a chart says of each of its days, from the first to the last; `shown`: where."""
    return [Day(*one) for one in bars.evaluate(_WALK, shown)]


_CHANGE_ADDRESS = """address => {
  history.pushState(null, "", address);
  dispatchEvent(new PopStateEvent("popstate"));
}"""


def change_address(page: Page, address: str) -> None:
    """Go to another address of the same server without loading the document again."""
    page.evaluate(_CHANGE_ADDRESS, address)


def go(page: Page, address: str) -> None:
    """Change the address to that of another page, and wait until its title is there."""
    page.locator("h1").evaluate("node => { node.dataset.left = 1; }")
    change_address(page, address)
    expect(page.locator("h1:not([data-left])")).to_be_visible()


def part(page: Page, anchor: str) -> Locator:
    """Return a part of the page by its name in addresses."""
    return page.locator(f"section#{anchor}")


def rows(page: Page, anchor: str) -> Locator:
    """Return the rows of a part's table, those below others left out."""
    return part(page, anchor).locator("tbody > tr:not(.below, .below tr)")


# What a spreadsheet runs, whether `,` or `;` parts its cells, and what must stay as it is.
FORMULAS = ("=1+1", "@SUM(A1)", "-2+3", "+4", ' "=5', "a;=6", "\t=7", "\uff1d8")


def opened(page: Page, demo: Dashboard, path: str) -> str:
    """Sign in and open a page of the organization; return the organization's id."""
    org = demo.sign_in(page.context)
    page.goto(f"{demo.url}/orgs/{org}/{path}")
    expect(page.locator("tbody tr").first).to_be_visible()
    return org


def csv_button(page: Page, label: str) -> Locator:
    """Return the button that saves the rows of a table."""
    name = re.compile(rf"CSV of ([\d,]+ rows?: )?{re.escape(label)}")
    return page.get_by_role("button", name=name)


def saved(page: Page, label: str) -> tuple[str, list[list[str]]]:
    """Save the rows of a table; return the name of the file and its lines."""
    with page.expect_download() as download:
        csv_button(page, label).click()
    text = Path(download.value.path()).read_text(encoding="utf-8-sig")
    return download.value.suggested_filename, list(csv.reader(text.splitlines()))


def luminance(colour: list[float]) -> float:
    """Return the relative luminance of a colour, as WCAG defines it."""
    parts = [one / 255 for one in colour]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
    return sum(w * one for w, one in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def unfolded(page: Page) -> Locator:
    """Unfold each row that is shown, and return what stands below them."""
    expect(page.locator("#failing tbody > tr:not(.below)").first).to_be_visible()
    for button in page.locator(".incident [aria-expanded=false]").all()[::-1]:
        button.click()
    return page.locator("#failing tbody > .below")
