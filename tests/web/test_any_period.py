# SPDX-License-Identifier: Apache-2.0
"""Any period: dates by hand, days dragged over or chosen by key, a line at the same day in each
chart, the way out of a period in which nothing was reported, and figures up to now that stay so.
"""

import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Locator, Page, Request, expect

from tests.web.conftest import ZONE, Dashboard
from tests.web.live import site
from tests.web.moves import TELL_MOVES, moved
from tests.web.reading import Reader, part, rows

pytestmark = pytest.mark.usefixtures("in_new_zealand")


@pytest.fixture
def reader(page: Page, demo: Dashboard) -> Reader:
    """Someone in New Zealand who looks at the metrics of the demonstration."""
    return Reader(page, demo, "metrics")


def period_of(page: Page) -> tuple[str | None, str | None]:
    """Return `from` and `asOf` of the address."""
    query = parse_qs(urlsplit(page.url).query)
    return query.get("from", [None])[0], query.get("asOf", [None])[0]


def fill_in(page: Page, first: str, last: str) -> None:
    """Choose a period by its days."""
    page.locator(".page-head .menu").get_by_role("button", expanded=False).click()
    page.get_by_label("First day").fill(first)
    page.get_by_label("Last day").fill(last)
    page.get_by_role("button", name="Show", exact=True).click()


def local(demo: Dashboard, days_ago: int) -> datetime:
    """Return the midnight with which a day began in New Zealand."""
    now = demo.now().astimezone(ZoneInfo(ZONE)) - timedelta(days=days_ago)
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


def checked(page: Page) -> Locator:
    """Return the number of merges that were checked."""
    return page.locator(".tile .figure strong").first


def test_days_by_hand_are_whole_days_of_the_reader_and_the_address_holds_them(
    page: Page, demo: Dashboard, reader: Reader
) -> None:
    first, last = local(demo, 20), local(demo, 11)
    end = local(demo, 10) - timedelta(microseconds=1)
    told = reader.ask("ci-metrics", **{"from": first.isoformat(), "asOf": end.isoformat()})
    reader.open(days=90)
    page.locator(".tile .plot").first.wait_for()

    fill_in(page, f"{first:%Y-%m-%d}", f"{last:%Y-%m-%d}")

    expect(checked(page)).to_have_text(str(told["tiles"]["mergesChecked"]["checked"]))
    start, stop = period_of(page)
    assert start is not None
    assert stop is not None
    assert (datetime.fromisoformat(start), datetime.fromisoformat(stop)) == (first, end)
    chosen = page.locator(".page-head .menu").get_by_role("button")
    expect(chosen).to_be_focused()
    expect(chosen).to_have_text(re.compile(rf"{first.day}.*{last.day} "))
    expect(page.locator(".axis-first").first).to_have_text(re.compile(rf"^{first.day} \w+$"))
    expect(page.locator(".axis-last").first).to_have_text(re.compile(rf"^{last.day} \w+$"))
    chosen.click()
    expect(page.get_by_label("First day")).to_have_value(f"{first:%Y-%m-%d}")
    expect(page.get_by_label("Last day")).to_have_value(f"{last:%Y-%m-%d}")

    page.keyboard.press("Escape")
    page.get_by_role("link", name="up to now").click()

    expect(page.get_by_role("radio", name="90d")).to_be_checked()
    assert period_of(page) == (None, None)


def test_today_ends_now_and_a_number_of_days_leaves_the_dates(
    page: Page, demo: Dashboard, reader: Reader
) -> None:
    today = f"{local(demo, 0):%Y-%m-%d}"
    reader.open()

    fill_in(page, today, today)

    expect(page).to_have_url(re.compile("asOf="))
    end = period_of(page)[1]
    assert end is not None
    assert abs(datetime.fromisoformat(end) - demo.now()) < timedelta(minutes=5)
    page.get_by_text("7d", exact=True).click()
    expect(page.get_by_role("radio", name="7d")).to_be_checked()
    assert period_of(page) == (None, None)


@pytest.mark.parametrize(
    ("first", "last", "why"),
    [
        ("2026-05-09", "2026-05-03", "The last day is before the first. Exchange them."),
        ("", "2026-05-03", "Fill in both days"),
        ("02312026", "2026-05-03", "There is no such day. Look at its day and its month."),
        ("2999-01-01", "2999-01-02", "The first day is still to come"),
        ("2000-01-01", "2026-05-03", "Choose at most 3650 days."),
    ],
)
def test_days_that_make_no_period_say_why_and_leave_the_page(
    page: Page, reader: Reader, first: str, last: str, why: str
) -> None:
    reader.open()
    address = page.url
    page.locator(".page-head .menu").get_by_role("button").click()
    page.get_by_label("Last day").fill(last)
    if "-" in first or not first:
        page.get_by_label("First day").fill(first)
    else:
        page.get_by_label("First day").press_sequentially(first)

    page.keyboard.press("Enter")

    expect(page.locator(".dates [role=alert]")).to_contain_text(why)
    assert page.url == address


def test_an_address_that_ends_before_it_begins_says_so(
    page: Page, reader: Reader, quiet_console: list[str]
) -> None:
    reader.open(**{"from": "2026-05-03T00:00:00Z", "asOf": "2026-05-01T00:00:00Z"})
    expect(page.get_by_role("alert").first).to_contain_text("should not be after `asOf`")
    expect(page.locator(".page-head .menu").get_by_role("button")).to_have_text("Dates")

    page.get_by_role("link", name="Show the page without this value").first.click()

    expect(page.get_by_label("Tiles")).to_be_visible()
    quiet_console.clear()  # the browser names what was refused


def test_a_period_before_the_first_report_says_so_and_leads_to_the_last(
    page: Page, reader: Reader
) -> None:
    reader.open(**{"from": "2020-01-01T12:00:00Z", "asOf": "2020-01-31T12:00:00Z"})
    said = page.locator(".figures > .empty")
    expect(said).to_contain_text(
        re.compile(r"^Nothing was reported from 2 Jan .+ 1 Feb 2020\. Reports came after it")
    )

    said.get_by_role("link", name="Show 30 days up to now").click()

    expect(said).to_have_count(0)
    expect(checked(page)).not_to_have_text("0")
    assert period_of(page) == (None, None)


def test_a_period_after_the_last_report_leads_to_it(page: Page, tmp_path: Path) -> None:
    with site(page, tmp_path) as own:
        own.benches.report()
        last = own.ask("products")["items"][0]["lastReportAt"]
        end = datetime.fromisoformat(last) + timedelta(days=100)
        own.open(f"metrics?days=7&asOf={end:%Y-%m-%dT%H:%M:%SZ}")
        said = page.locator(".figures > .empty")
        expect(said).to_contain_text("It is after the last report")

        said.get_by_role("link", name=re.compile("^Show 7 days up to")).click()

        expect(page.locator(".tile", has_text="Infra runs").locator(".beside")).to_contain_text(
            "of 1 run report"
        )


def days_of(reader: Reader, days: int) -> Any:
    return reader.ask("ci-analysis/days", days=days, zone=ZONE)["days"]


def drag(page: Page, chart: Locator, days: int, first: int, last: int) -> None:
    box = chart.bounding_box()
    assert box is not None
    at = [box["x"] + box["width"] * (day + 0.5) / days for day in (first, last)]
    page.mouse.move(at[0], box["y"] + 20)
    page.mouse.down()
    page.mouse.move(at[1], box["y"] + 20, steps=5)


@pytest.mark.parametrize(("first", "last"), [(10, 20), (20, 10)])
def test_days_that_are_dragged_over_are_shown_alone_and_there_is_a_way_back(
    page: Page, reader: Reader, first: int, last: int
) -> None:
    days = days_of(reader, 30)
    reader.open()
    chart = page.locator(".tile .bars").nth(1)
    expect(chart.locator(".plot")).to_be_visible()

    drag(page, chart, len(days), first, last)
    expect(chart.locator(".several")).to_be_visible()
    page.mouse.up()

    begin, end = min(first, last), max(first, last)
    expect(page).to_have_url(re.compile("/metrics.*from="))
    assert period_of(page) == (days[begin]["from"], days[end]["to"])
    expect(page.locator(".tile .axis-first").first).to_have_text(re.compile(r"^\d+ \w+$"))
    page.get_by_role("link", name="up to now").click()
    expect(page.get_by_role("radio", name="30d")).to_be_checked()
    page.go_back()
    expect(page).to_have_url(re.compile("from="))
    page.go_back()
    expect(page.get_by_role("radio", name="30d")).to_be_checked()


def test_by_key_several_days_are_chosen_let_go_and_shown(page: Page, reader: Reader) -> None:
    days = days_of(reader, 30)
    reader.open()
    chart = page.locator(".tile .bars").first
    expect(chart.locator(".plot")).to_be_visible()
    chart.focus()
    for key in ("Home", "ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight"):
        page.keyboard.press(key)
    expect(chart).to_have_accessible_name(re.compile("Enter shows these days alone"))
    page.keyboard.press("Escape")
    expect(chart.locator(".several")).to_have_count(0)

    for key in ("Shift+ArrowRight", "Shift+ArrowRight", "Enter"):
        page.keyboard.press(key)

    expect(page).to_have_url(re.compile("/metrics.*from="))
    assert period_of(page) == (days[3]["from"], days[5]["to"])


def test_all_charts_point_at_the_same_day_and_so_do_the_strips_of_tests(
    page: Page, reader: Reader
) -> None:
    days = days_of(reader, 30)
    reader.open()
    page.locator("#flaky").scroll_into_view_if_needed()
    strip = rows(page, "flaky").locator(".heat").first
    expect(strip.locator("rect").first).to_be_attached()
    chart = page.locator(".tile .bars").nth(2)
    box = chart.bounding_box()
    assert box is not None

    chart.hover(position={"x": box["width"] * 12.5 / len(days), "y": 20})

    texts = page.locator(".tile .trend-text")
    expect(texts).to_have_count(4)
    day = datetime.fromisoformat(days[12]["firstDay"]).day
    for text in texts.all():
        expect(text).to_have_text(re.compile(rf"^{day} "))
    expect(page.locator(".tile .plot .pointed")).to_have_count(4)
    line = (
        "strip => ['left', 'width'].map(at => parseFloat(getComputedStyle(strip, '::after')[at]))"
    )
    left, width = strip.evaluate(line)
    whole = strip.evaluate("strip => strip.clientWidth")
    assert (left / whole * len(days), width / whole * len(days)) == pytest.approx((12, 1), abs=0.1)
    page.mouse.move(0, 0)
    expect(page.locator(".tile .plot .pointed")).to_have_count(0)
    assert strip.evaluate(line)[1] == 0


def test_the_strips_of_a_test_point_at_the_same_day(page: Page, reader: Reader) -> None:
    test = reader.ask("ci-metrics/flakiest-tests")["items"][0]
    page.goto(
        f"{reader.home}/test?" + "&".join(f"{k}={test[k]}" for k in ("repoKey", "suite", "testId"))
    )
    strips = page.locator(".columns")
    expect(strips.nth(1)).to_be_visible()

    strips.nth(1).locator(".bars").hover(position={"x": 50, "y": 5})

    expect(page.locator(".strip .pointed")).to_have_count(strips.count())
    places = page.locator(".strip .pointed").evaluate_all(
        "all => all.map(one => one.getAttribute('x'))"
    )
    assert len(set(places)) == 1
    expect(page.locator(".columns-text")).to_have_count(1)


@pytest.mark.own_clock
def test_figures_up_to_now_stay_so_while_they_are_looked_at_and_nothing_folds_or_moves(
    page: Page, tmp_path: Path
) -> None:
    page.add_init_script(TELL_MOVES)
    with site(page, tmp_path) as own:
        page.clock.install(time=own.benches.hands.now)
        own.benches.report(tests=[ended("boot", "fail"), ended("radio", "fail")])
        own.benches.report(run_id=2, tests=[ended("other", "pass")])
        own.open("metrics?failing=all")
        reports = page.locator(".tile", has_text="Infra runs").locator(".beside")
        expect(reports).to_contain_text("of 2 run reports")
        part(page, "daily").get_by_role("button", name="Day by day").click()
        expect(rows(page, "daily").first).to_be_visible()
        fold = part(page, "failing").locator(".incident").get_by_role("button").first
        fold.click()
        page.wait_for_load_state("networkidle")
        moved(page)  # what the two clicks moved
        page.evaluate("window.moved.length = 0")
        own.benches.report(run_id=3, tests=[ended("other", "pass")])

        page.clock.run_for(61_000)

        expect(reports).to_contain_text("of 3 run reports")
        expect(rows(page, "daily").first).to_contain_text("0 of 3")
        expect(fold).to_have_attribute("aria-expanded", "true")
        expect(part(page, "failing").locator(".incident-more").first).to_be_visible()
        assert moved(page) == []


def ended(test_id: str, outcome: str) -> dict[str, Any]:
    verdict = {"verdict": "device"} if outcome == "fail" else {}
    return {"id": test_id, "outcome": outcome, "attempts": 1, "duration_s": 1, **verdict}


@pytest.mark.own_clock
def test_a_period_with_an_end_is_not_asked_for_again(page: Page, demo: Dashboard) -> None:
    org = demo.sign_in(page.context)
    page.goto(f"{demo.url}/orgs/{org}/metrics?asOf={demo.now():%Y-%m-%dT%H:%M:%SZ}")
    expect(page.locator(".tile .plot")).to_have_count(4)
    expect(part(page, "flaky")).to_be_visible()
    asked: list[str] = []

    def note(request: Request) -> None:
        if "/ci-metrics?" in request.url:
            asked.append(request.url)

    page.on("request", note)
    page.clock.run_for(130_000)
    page.evaluate("new Promise(requestAnimationFrame)")
    assert asked == []
