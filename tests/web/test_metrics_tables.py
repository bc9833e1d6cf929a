# SPDX-License-Identifier: Apache-2.0
"""The tables of the metrics page with other data than the demo's: very many rows, none at all, and
for a member (spec, "Metrics page (dashboard)").
"""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import product
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from hwci.server.app import SetCiMetrics
from hwci.server.clock import system_clock
from hwci.server.services.operator.commands import Command, KeepSent
from hwci.server.services.transfer.sent import Sent
from hwci.wire.reports import MergeAnnouncement
from tests.support.running import MEMBER_EMAIL, PASSWORD, RunningServer, report, running_in_thread
from tests.web.conftest import Account, Dashboard
from tests.web.long_tables import MERGES, TESTS, TESTS_OF_A_REPORT, announcement, flaky_report, send
from tests.web.reading import part, rows

DOM_ROWS_MAX = 120
COMMITS = ("e" * 40, "f" * 40)
"""A test is listed as failed on a box alone from two commits on."""


def metrics(page: Page, server: RunningServer, email: str | None = None) -> str:
    """Sign in; return the address of the server's metrics page."""
    dashboard = Dashboard(server.url, Account(email or server.email, PASSWORD))
    return f"{server.url}/orgs/{dashboard.sign_in(page.context)}/metrics"


def switch(server: RunningServer, *, on: bool) -> None:
    """Turn CI Metrics on or off, as the operator does."""
    as_operator(server, SetCiMetrics(org_id=server.org_id, enabled=on))


def as_operator(server: RunningServer, command: Command) -> None:
    """Carry out an operator's command beside the browser's own loop."""
    with ThreadPoolExecutor(1) as operator:
        operator.submit(server.operate, command).result()


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that nothing was ever reported to."""
    with running_in_thread(tmp_path_factory.mktemp("empty")) as server:
        yield server


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server with 2,000 unchecked merges, imported at once, and 2,000 tests flaky on one box."""
    merges = (MergeAnnouncement(**announcement(number)) for number in range(MERGES))
    sent = [Sent(announcement=merge) for merge in merges]
    with running_in_thread(tmp_path_factory.mktemp("full")) as server:
        as_operator(server, KeepSent(org_id=server.org_id, sent=sent))
        for sha, number in product(COMMITS, range(TESTS // TESTS_OF_A_REPORT)):
            send(server, "run-report", flaky_report(number, sha=sha))
            send(server, "run-report", flaky_report(number, "bench-2", attempts=1, sha=sha))
        yield server


def test_a_table_begins_with_five_rows_and_shows_all_when_it_is_asked_to(
    page: Page, full: RunningServer
) -> None:
    page.goto(metrics(page, full))
    expect(rows(page, "flaky")).to_have_count(5)
    expect(part(page, "flaky").get_by_role("button", name="Next")).to_have_count(0)
    button = part(page, "flaky").get_by_role("button", name="Show all 2,000")
    part(page, "flaky").get_by_role("button", name="Test", exact=True).click()
    expect(rows(page, "flaky").first).to_contain_text("test_00000")
    expect(rows(page, "flaky")).to_have_count(5)

    button.press("Enter")

    expect(rows(page, "flaky")).to_have_count(20)
    expect(button).to_be_focused()
    expect(page).to_have_url(re.compile(r"flaky\.rows=all"))
    expect(rows(page, "merges")).to_have_count(5)
    page.reload()
    part(page, "flaky").get_by_role("button", name="Next").click()
    expect(part(page, "flaky")).to_contain_text("Page 2 of 100")
    button.click()
    expect(rows(page, "flaky").first).to_contain_text("test_00000")
    expect(rows(page, "flaky")).to_have_count(5)


def test_thousands_of_rows_are_shown_a_page_at_a_time(page: Page, full: RunningServer) -> None:
    page.goto(f"{metrics(page, full)}?merges.rows=all&flaky.rows=all")
    expect(part(page, "merges").get_by_role("radio", name="Not checked (2,000)")).to_be_checked()
    expect(part(page, "flaky").locator(".total")).to_have_text("2,000")
    assert page.locator("tr").count() <= DOM_ROWS_MAX

    part(page, "merges").get_by_role("button", name="Next").click()

    expect(part(page, "merges")).to_contain_text("Page 2 of 100")
    expect(rows(page, "merges")).to_have_count(20)


def test_the_pages_of_one_test_and_of_one_box_draw_few_of_thousands(
    page: Page, full: RunningServer
) -> None:
    home = metrics(page, full).removesuffix("/metrics")
    page.goto(f"{home}/box?boxKey=bench-1")
    alone = page.get_by_role("region", name="Failed here alone", exact=True)
    expect(alone.locator("tbody tr").first).to_be_visible()
    expect(page.get_by_text("more tests")).to_be_visible()
    assert page.locator("tr").count() <= DOM_ROWS_MAX

    alone.get_by_role("link").first.click()

    expect(page.get_by_role("region", name="Boxes").locator("tbody tr")).to_have_count(3)
    assert page.locator("tr").count() <= DOM_ROWS_MAX


@pytest.mark.own_tab
def test_typing_sends_few_requests_and_keeps_the_focus(page: Page, full: RunningServer) -> None:
    """The page's clock is moved by hand: a busy machine would be a slow typist."""
    page.clock.install()
    page.goto(metrics(page, full))
    expect(rows(page, "flaky")).to_have_count(5)
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url) if "/flakiest-tests?" in one.url else None)
    field = page.get_by_label("Search Flakiest tests")

    page.clock.pause_at(system_clock() + timedelta(minutes=1))
    for letter in "test_01234":
        field.press(letter)
        page.clock.run_for(20)
    page.clock.resume()

    expect(rows(page, "flaky")).to_have_count(1)
    expect(rows(page, "flaky")).to_contain_text("test_01234")
    expect(field).to_be_focused()
    expect(field).to_have_value("test_01234")
    assert len(asked) <= 2


def test_a_search_is_not_changed_while_it_is_typed(page: Page, full: RunningServer) -> None:
    page.goto(metrics(page, full))
    field = page.get_by_label("Search Flakiest tests")
    field.press_sequentially("test_0123 ")
    expect(rows(page, "flaky")).to_have_count(10)
    expect(field).to_have_value("test_0123 ")
    field.press_sequentially("nothing")
    expect(part(page, "flaky")).to_contain_text("No test matches “test_0123 nothing”.")
    expect(field).to_be_focused()
    field.fill("")
    expect(rows(page, "flaky")).to_have_count(5)


BACK = """() => new Promise(gone => {
  addEventListener("popstate", gone, { once: true });
  history.back();
})"""


@pytest.mark.own_tab
def test_what_was_typed_just_before_the_way_back_is_not_searched_for(
    page: Page, tmp_path: Path
) -> None:
    """The page's clock is moved by hand: the way back is taken before what is typed counts."""
    page.clock.install()
    tests = [
        {"id": f"test_{number:02}", "outcome": "pass", "attempts": 2, "duration_s": 1.0}
        for number in range(12)
    ]
    with running_in_thread(tmp_path) as server:
        send(server, "run-report", report(tests=tests))
        page.goto(metrics(page, server))
        field = page.get_by_label("Search Flakiest tests")
        field.press_sequentially("test_0")
        expect(rows(page, "flaky")).to_have_count(10)

        page.clock.pause_at(system_clock() + timedelta(minutes=1))
        field.press("5")
        page.evaluate(BACK)
        page.clock.run_for(100)  # less than the pause after which it counts
        expect(field).to_have_value("")
        page.clock.run_for(1_000)

        assert page.evaluate("location.search") == ""
        page.clock.resume()
        expect(rows(page, "flaky")).to_have_count(5)


def test_the_way_back_undoes_page_search_and_order(page: Page, full: RunningServer) -> None:
    page.goto(f"{metrics(page, full)}?merges.rows=all")
    merges = part(page, "merges")
    first = rows(page, "merges").first.locator("code")
    expect(first).to_have_text("0" * 12)
    merges.get_by_role("button", name="Branch").click()
    expect(page).to_have_url(re.compile("merges.sort=branch"))
    merges.get_by_role("button", name="Next").click()
    expect(merges).to_contain_text("Page 2 of 100")
    page.get_by_label("Search Merges").fill("f" * 39)
    expect(merges).to_contain_text("No merge matches")

    page.go_back()

    expect(page.get_by_label("Search Merges")).to_have_value("")
    expect(merges).to_contain_text("Page 2 of 100")
    page.go_back()
    expect(merges).to_contain_text("Page 1 of 100")
    page.go_back()
    expect(page).not_to_have_url(re.compile("sort"))


def test_few_rows_are_not_searched_unless_the_address_says_so(page: Page, tmp_path: Path) -> None:
    with running_in_thread(tmp_path) as server:
        for number in range(5):
            send(server, "merge-announce", announcement(number))
        address, field = metrics(page, server), page.get_by_role("searchbox")
        page.goto(address)
        expect(rows(page, "merges")).to_have_count(5)
        expect(field).to_have_count(0)

        page.goto(f"{address}?merges.search={1:040x}")
        expect(rows(page, "merges")).to_have_count(1)
        field.fill("")
        expect(rows(page, "merges")).to_have_count(5)
        expect(field).to_be_focused()

        send(server, "merge-announce", announcement(6))
        page.goto(address)
        expect(field).to_have_count(1)


def test_an_address_holds_order_search_and_page_of_each_table(
    page: Page, full: RunningServer
) -> None:
    flaky = "flaky.sort=-testId&flaky.search=test_01&flaky.page=2"
    page.goto(f"{metrics(page, full)}?{flaky}&merges.page=900")
    expect(rows(page, "flaky").first).to_contain_text("test_01979")
    expect(part(page, "flaky")).to_contain_text("Page 2 of 50")
    expect(page.get_by_label("Search Flakiest tests")).to_have_value("test_01")
    page.get_by_role("button", name="Show the last one").click()
    expect(part(page, "merges")).to_contain_text("Page 100 of 100")


def test_the_strip_of_a_test_counts_boxes_that_are_not_shown_too(
    page: Page, tmp_path: Path
) -> None:
    with running_in_thread(tmp_path) as server:
        for number in range(52):
            outcome = "fail" if number == 51 else "pass"
            test = {"id": "boot", "outcome": outcome, "attempts": 1, "duration_s": 1.0}
            send(server, "run-report", report(run_id=1, box_key=f"box-{number:02}", tests=[test]))
        page.goto(metrics(page, server))

        strip = rows(page, "flaky").locator(".heat")
        strip.scroll_into_view_if_needed()  # it is asked for when it comes into view
        expect(strip.locator("svg")).to_have_accessible_name(
            re.compile(r"^failed on 1 of 1 day.*: 1\.9 %$")
        )
        page.get_by_role("button", name="52, show the boxes of boot").click()
        expect(page.locator(".strips")).to_contain_text("and 2 more boxes")


def test_a_merge_that_a_later_commit_of_its_push_checked_names_it(
    page: Page, tmp_path: Path
) -> None:
    with running_in_thread(tmp_path) as server:
        merge = {**announcement(1), "suite": None}
        send(server, "merge-announce", merge)
        page.goto(f"{metrics(page, server)}?merges=checked")
        expect(part(page, "merges")).to_contain_text("No merge of this period ran on hardware.")
        expect(part(page, "merges")).to_contain_text("“Not checked” lists them")
        covered = {"sha": "e" * 40, "covers_shas": [merge["sha"], "e" * 40], "suite": "hardware"}
        send(server, "run-report", report(repo_key=merge["repo_key"], box_key="box-7", **covered))

        page.reload()

        expect(rows(page, "merges")).to_have_count(1)
        expect(rows(page, "merges")).to_contain_text("Unassigned")
        expect(rows(page, "merges")).to_contain_text(f"at {'e' * 10}")
        expect(rows(page, "merges")).to_contain_text("hardware · box-7")


def test_an_organization_without_reports_sees_how_to_begin(
    page: Page, empty: RunningServer
) -> None:
    page.goto(metrics(page, empty))
    expect(page.get_by_role("heading", name="No report has arrived yet")).to_be_visible()

    page.locator("main").get_by_role("link", name="Boxes").click()

    expect(page.get_by_role("button", name="Add box")).to_be_visible()


def test_while_ci_metrics_is_off_its_pages_show_how_to_turn_it_on(
    page: Page, empty: RunningServer, quiet_console: list[str]
) -> None:
    switch(empty, on=False)
    try:
        address = metrics(page, empty)
        for place in ("metrics", "failures", "runs"):
            page.goto(address.replace("metrics", place))
            expect(page.get_by_role("heading", name="turn CI Metrics on")).to_be_visible()
            expect(page.locator(".first-steps")).to_contain_text(
                f"hwci admin ci-metrics enable {empty.org_id}"
            )
            expect(page.locator(".first-steps")).to_contain_text("--database, add")
            expect(page.get_by_role("alert")).to_have_count(0)
            expect(page.get_by_text("No run was reported yet")).to_have_count(0)
    finally:
        switch(empty, on=True)
    quiet_console.clear()  # the browser itself logs the status


def test_a_member_sees_the_status_and_no_actions(page: Page, full: RunningServer) -> None:
    for number, outcome in enumerate(("fail", "pass")):
        at = system_clock() - timedelta(hours=8 - number)
        test = {"id": "boot", "outcome": outcome, "attempts": 1, "duration_s": 1.5}
        times = {"started_at": at.isoformat(), "ended_at": at.isoformat()}
        send(
            full,
            "run-report",
            report(run_id=100 + number, sha=f"{number}" * 40, tests=[test], **times),
        )

    page.goto(f"{metrics(page, full)}?other=open&other.by=failure")
    expect(
        page.get_by_role("button", name="Confirm as firmware bug boot on bench-1")
    ).to_be_visible()
    page.goto(f"{metrics(page, full, MEMBER_EMAIL)}?other=open&other.by=failure")

    expect(rows(page, "other")).to_contain_text("Automatic")
    expect(page.get_by_role("button", name=re.compile("^(Confirm|Dismiss|Reset)"))).to_have_count(0)
