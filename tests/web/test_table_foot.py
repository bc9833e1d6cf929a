# SPDX-License-Identifier: Apache-2.0
"""What every table of the API has: headings that stay, a page of another size, a page by its
number, and all rows as a file that no spreadsheet runs. And how times and tiles are laid out.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.support.soak import rounds
from tests.web.conftest import Dashboard
from tests.web.live import site
from tests.web.reading import FORMULAS, csv_button, opened, saved

PLAIN = ("a=1", 'says "no", twice', "bücher/1")


def test_a_page_of_another_size_begins_with_the_page_that_has_the_first_row(
    page: Page, demo: Dashboard
) -> None:
    opened(page, demo, "runs?runs.page=6")
    first = page.locator("tbody tr").first.locator("td").nth(1).inner_text()

    page.get_by_label("Rows of a page of Runs").select_option("50")

    expect(page.locator("tbody tr")).to_have_count(50)
    expect(page).to_have_url(re.compile(r"runs\?runs.page=3&runs.limit=50$"))
    page.reload()
    expect(page.locator("tbody tr")).to_have_count(50)
    expect(page.locator("tbody tr").first.locator("td").nth(1)).to_have_text(first)
    page.get_by_label("Rows of a page of Runs").select_option("20")
    expect(page).to_have_url(re.compile(r"runs\?runs.page=6$"))


@pytest.mark.parametrize("limit", rounds(["101"], ["0", "101", "many"]))
def test_a_size_that_the_api_refuses_is_named_with_the_way_on(
    page: Page, demo: Dashboard, limit: str, quiet_console: list[str]
) -> None:
    org = demo.sign_in(page.context)
    page.goto(f"{demo.url}/orgs/{org}/runs?runs.limit={limit}&branch=main")
    expect(page.get_by_role("alert")).to_contain_text(f"runs.limit={limit}")

    page.get_by_role("link", name="Show the page without this value").click()

    expect(page).to_have_url(re.compile(r"runs\?branch=main$"))
    expect(page.locator("tbody tr")).to_have_count(20)
    quiet_console.clear()  # the browser itself logs the status


def test_a_page_is_reached_by_its_number_and_one_beyond_the_last_means_the_last(
    page: Page, demo: Dashboard
) -> None:
    opened(page, demo, "runs?runs.limit=100")
    number = page.get_by_label("Go to page of Runs")

    number.fill("4")
    number.press("Enter")
    expect(page.get_by_text("Page 4 of")).to_be_visible()
    expect(page).to_have_url(re.compile("runs.page=4"))
    number.fill("999")
    number.press("Enter")

    expect(page.get_by_text(re.compile(r"^Page (\d+) of \1$"))).to_be_visible()
    expect(page.get_by_role("button", name="Next")).to_have_attribute("aria-disabled", "true")


def test_a_file_has_all_rows_of_the_filter_in_the_order_of_the_table(
    page: Page, demo: Dashboard
) -> None:
    chosen = "days=90&label=pending"
    org = opened(page, demo, f"failures?{chosen}&failures.sort=testId&failures.search=bench")
    asked = f"/api/orgs/{org}/ci-failures?{chosen}&sort=testId&search=bench&limit=100"
    answer = demo.ask(asked, demo.token())
    assert 1 < answer["total"] <= 100

    name, (header, *lines) = saved(page, "Failures")

    assert name == "hwci-failures.csv"
    assert [
        [row[field] or "" for field in ("id", "testId", "boxKey")] for row in answer["items"]
    ] == [[line[header.index(field)] for field in ("id", "testId", "boxKey")] for line in lines]
    assert set(header) == set(flat(answer["items"][0]))


def flat(row: Mapping[str, Any], within: str = "") -> Mapping[str, Any]:
    """Return the fields of a row, those of an object within it under both names."""
    result: dict[str, Any] = {}
    for name, value in row.items():
        deeper = isinstance(value, dict)
        result |= flat(value, f"{within}{name}.") if deeper else {within + name: value}
    return result


def test_a_file_has_more_rows_than_the_api_gives_at_once(page: Page, demo: Dashboard) -> None:
    org = opened(page, demo, "runs?branch=main&suite=gateway-fw&repoKey=acme/sensor-node")
    asked = f"/api/orgs/{org}/runs?branch=main&suite=gateway-fw&repoKey=acme/sensor-node&limit=1"
    total = demo.ask(asked, demo.token())["total"]
    assert total > 100

    expect(csv_button(page, "Runs")).to_have_text(f"CSV of {total:,} rows")
    _, (header, *lines) = saved(page, "Runs")

    assert len({line[header.index("id")] for line in lines}) == len(lines) == total


@pytest.mark.own_tab
def test_a_file_waits_for_a_server_that_asks_to_wait(
    page: Page, demo: Dashboard, quiet_console: list[str]
) -> None:
    opened(page, demo, "failures?days=90&label=pending")
    refused: list[str] = []

    def once(route: Route) -> None:
        if refused:
            return route.continue_()
        refused.append(route.request.url)
        return route.fulfill(status=429, headers={"Retry-After": "1"}, json={"error": "Slower"})

    page.route(re.compile(r"/ci-failures\?.*limit=100"), once)
    _, lines = saved(page, "Failures")

    assert len(lines) > 1
    assert refused
    quiet_console.clear()  # the browser itself logs the status


def test_no_cell_of_a_file_is_a_formula(page: Page, tmp_path: Path) -> None:
    with site(page, tmp_path) as own:
        failed = {"outcome": "fail", "attempts": 1, "duration_s": 1.0}
        tests = [{"id": name, **failed} for name in (*FORMULAS, *PLAIN)]
        assert own.benches.report(tests=tests).status == 204
        own.open("failures")
        expect(page.locator("tbody tr")).to_have_count(len(tests))

        _, (header, *lines) = saved(page, "Failures")

    found = {line[header.index("testId")] for line in lines}
    assert set(PLAIN) <= found
    harmful = re.compile(r"""(^|;)[\s"]*[=+\-@\uff1d]""")  # an apostrophe before makes it text
    assert [cell for line in lines for cell in line if harmful.search(cell)] == []
    assert "'=1+1" in found


@pytest.mark.parametrize(
    ("path", "part"),
    rounds(
        [("metrics?flaky.limit=50", "#flaky")],
        [("failures", "main"), ("runs", "main"), ("metrics?flaky.limit=50", "#flaky")],
    ),
)
def test_the_headings_stay_while_a_table_is_scrolled(
    page: Page, demo: Dashboard, path: str, part: str
) -> None:
    page.set_viewport_size({"width": 1024, "height": 300})
    opened(page, demo, path)
    table = page.locator(f"{part} table")
    table.locator("tbody tr").last.scroll_into_view_if_needed()

    heading = table.locator("th").first

    expect(heading).to_be_in_viewport()
    assert heading.evaluate("node => node.getBoundingClientRect().top") == 0
    # What gets the focus above is not below them.
    link = table.locator("tbody a").first
    link.focus()
    tops = "node => node.getBoundingClientRect().top"
    bottom = heading.evaluate("node => node.getBoundingClientRect().bottom")
    assert link.evaluate(tops) >= bottom


def test_the_tiles_stand_two_or_four_beside_each_other(page: Page, demo: Dashboard) -> None:
    opened(page, demo, "metrics")
    for width, rows in ((390, 2), (1024, 2), (1440, 1)):
        page.set_viewport_size({"width": width, "height": 900})
        tops = page.locator(".tile").evaluate_all(
            "nodes => nodes.map(node => node.getBoundingClientRect().top)"
        )
        assert len(tops) == 4
        assert len(set(tops)) == rows, width


def test_a_time_reads_alike_everywhere_and_names_the_zone_of_its_reader(
    browser: Browser, demo: Dashboard
) -> None:
    with browser.new_context(locale="de-DE", timezone_id="Asia/Kolkata") as context:
        demo.share_clock(context)
        page = context.new_page()
        org = opened(page, demo, "runs?times=exact")
        token = demo.token()
        at = demo.ask(f"/api/orgs/{org}/runs?limit=1", token)["items"][0]["startedAt"]
        shown = page.locator("tbody time").first
        assert shown.get_attribute("datetime") == at
        expect(shown).to_have_text(re.compile(r"^\d+ [A-Z]\w+ 20\d\d, \d\d:\d\d:\d\d GMT\+5:30$"))
        page.goto(f"{demo.url}/orgs/{org}/metrics")
        expect(page.locator(".period")).to_have_text(
            re.compile(r"^\d+ .*[A-Z].* 20\d\d, as of \d\d:\d\d:\d\d GMT\+5:30$")
        )


def test_a_table_that_has_no_room_scrolls_and_the_page_does_not(
    page: Page, demo: Dashboard
) -> None:
    page.set_viewport_size({"width": 700, "height": 500})
    opened(page, demo, "runs")
    scroll = page.locator(".table-scroll")

    assert scroll.evaluate("node => node.scrollWidth > node.clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth") == 700
    page.set_viewport_size({"width": 1440, "height": 500})
    expect(scroll).to_have_class(re.compile(r"\bfits\b"))
