# SPDX-License-Identifier: Apache-2.0
"""The charts of the tiles: each day says the API's figures in the reader's zone and leads to its
rows, by pointer, key and finger.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Browser, Locator, Page, Position, expect

from tests.support.running import running_in_thread
from tests.support.soak import rounds
from tests.web import around_midnight
from tests.web.conftest import ZONE, Account, Dashboard
from tests.web.reading import (
    SCHEMES,
    Asked,
    between,
    each_day,
    luminance,
    of_one_period_and_product,
    percent,
    rows,
)

pytestmark = pytest.mark.usefixtures("in_new_zealand")

TILES = {
    "Merges checked on hardware": ("mergesChecked", "mergesAnnounced", "checked"),
    "Real FW bugs caught": ("realFwBugs", None, None),
    "Flaky failures": ("flakyFailures", None, None),
    "Infra runs": ("infraRuns", "runs", "infra"),
}
COLOURS = """() => {
    const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const painted = (colour) => {
        if (!CSS.supports("color", colour)) throw new Error(colour);
        pen.fillStyle = colour;
        pen.fillRect(0, 0, 1, 1);
        return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const of = (one, name) => painted(getComputedStyle(document.querySelector(one))[name]);
    const column = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    const inStrip = (kind) => {
        column.setAttribute("class", kind);
        document.querySelector(".heat svg").append(column);
        const found = painted(getComputedStyle(column).fill);
        column.remove();
        return found;
    };
    return {
        tile: of(".tile", "backgroundColor"),
        marks: [[".plot-bad .counted", "fill"], [".plot-warn .counted", "fill"],
            [".plot-good .counted", "fill"], [".plot .rest", "fill"], [".plot .rate", "stroke"],
            [".plot .band", "stroke"]].map(([one, name]) => of(one, name)),
        column: inStrip("ran"),
        levels: [0, 1, 2, 3].map((level) => inStrip(`failed-${level}`)),
    };
}"""


class Reader:
    """Who looks at the charts of one period and product at one moment, from New Zealand or
    elsewhere.
    """

    def __init__(
        self,
        page: Page,
        demo: Dashboard,
        days: int,
        of: Mapping[str, str],
        zone: str = ZONE,
    ) -> None:
        self.page = page
        org, token = demo.sign_in(page.context), demo.token()
        query = {"days": days, "asOf": demo.now().isoformat(), **of}
        self.asked = Asked(demo, token, org, query)
        self.told = demo.ask(
            f"/api/orgs/{org}/ci-analysis/days?{urlencode({**query, 'zone': zone})}", token
        )["days"]
        page.goto(f"{demo.url}/orgs/{org}/metrics?{urlencode(query)}")
        expect(page.locator(".tile .plot")).to_have_count(4)

    def tile(self, title: str) -> Locator:
        return self.page.locator(".tile", has=self.page.get_by_role("heading", name=title))

    def point(self, title: str, number: int) -> Position:
        """Return where the bar of a day is, within its chart."""
        box = self.tile(title).locator(".bars").bounding_box()
        assert box is not None
        return {"x": box["width"] * (number + 0.5) / len(self.told), "y": box["height"] / 2}


def name(day: Any) -> str:
    """Write a day as a reader calls it; one that the period cuts is a part."""
    first = date.fromisoformat(day["firstDay"])
    month = f"{first:%b}".replace("Sep", "Sept")
    return f"{first.day} {month}{'' if day['whole'] else ' (part)'}"


def text(day: Any, title: str) -> str:
    """Write what a chart says of a day."""
    part, whole, share = TILES[title]
    words = f"{name(day)}: {day[part]:,}"
    if whole and day[whole]:
        words += f" of {day[whole]:,}"
    if share and day[share]:
        figure = day[share]
        low, high = (None if figure[end] is None else 100 * figure[end] for end in ("low", "high"))
        rate = percent(Decimal(100 * figure["part"]) / figure["total"])
        words += f", {rate} ({between(low, high)})"
    return words


@of_one_period_and_product
def test_each_day_says_the_figures_of_the_api_in_the_zone_of_the_reader(
    page: Page, demo: Dashboard, days: int, of: dict[str, str]
) -> None:
    reader = Reader(page, demo, days, of)
    assert {day["firstDay"] == day["lastDay"] for day in reader.told} == {True}
    assert not reader.told[-1]["whole"]

    for title in TILES:
        chart = reader.tile(title).locator(".bars")
        shown = each_day(chart, ".trend-text")
        said = [day.text for day in shown]
        assert said == [text(day, title) for day in reader.told]
        named = [
            f"{title}, {words}. Arrow keys choose another day, with Shift several" for words in said
        ]
        assert [day.name for day in shown] == named
        expect(chart).to_have_accessible_name(named[-1])
        ends = reader.tile(title).locator(".axis-first, .axis-last").all_inner_texts()
        assert ends == [said[0].partition(":")[0], said[-1].partition(":")[0]]
        most = max(max(day[one] for one in TILES[title][:2] if one) for day in reader.told)
        expect(reader.tile(title).locator(".count-most")).to_have_text(f"{max(1, most):,}")


def test_a_bar_leads_to_its_rows(page: Page, demo: Dashboard) -> None:
    reader = Reader(page, demo, 30, {})
    for title, (part, *_) in TILES.items():
        number = max(
            (at for at, day in enumerate(reader.told) if day["whole"]),
            key=lambda at: reader.told[at][part],
        )
        day = reader.told[number]
        assert day[part] > 0

        reader.tile(title).locator(".bars").click(position=reader.point(title, number))

        shows_the_rows_of(reader, title, day)
        page.go_back()
        begins = page.locator(".tile .axis-first")
        expect(begins).to_have_text([name(reader.told[0])] * len(TILES))  # as it was


def shows_the_rows_of(reader: Reader, title: str, day: Any) -> None:
    """Whether the page that a bar led to counts what the bar does, and lists that."""
    part, whole, _ = TILES[title]
    number, page = day[part], reader.page
    if part == "infraRuns":
        status = page.locator(".table-tools").get_by_role("status")
        expect(status).to_have_text(re.compile(rf"^{number:,} runs?$"))
        return
    if part == "flakyFailures":
        expect(page.locator(".only")).to_contain_text(f": {number:,} in this period")
        return
    expect(reader.tile(title).locator(".figure strong")).to_have_text(f"{number:,}")
    anchor = "merges" if whole else "bugs"
    expect(page.locator(f"#{anchor}").get_by_role("heading", level=2)).to_be_in_viewport()
    expect(rows(page, anchor)).to_have_count(number)
    if whole:
        expect(reader.tile(title).locator(".beside")).to_contain_text(f"of {day[whole]:,} merge")
        expect(page.get_by_role("radio", name=f"Checked ({number:,})", exact=True)).to_be_checked()


@pytest.fixture(scope="module")
def around(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """A server with something in each hour that counts, around two days of 25 hours."""
    with running_in_thread(tmp_path_factory.mktemp("around")) as server:
        around_midnight.tell(server, *LONG_DAYS.values())
        yield Dashboard(server.url, Account(server.email, server.password))


LONG_DAYS = {
    zone: datetime.fromisoformat(day).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
    for zone, day in {"Europe/Berlin": "2025-10-26", "Pacific/Auckland": "2025-04-06"}.items()
}


@pytest.mark.parametrize("zone", rounds([ZONE], [*LONG_DAYS]))
def test_the_bars_of_days_that_the_period_cuts_or_that_have_25_hours_lead_to_their_rows_alone(
    browser: Browser, around: Dashboard, zone: str
) -> None:
    end = around_midnight.end_of_period(LONG_DAYS[zone])
    with browser.new_context(timezone_id=zone) as context:
        page = context.new_page()
        period = {"asOf": end.isoformat()}
        reader = Reader(page, around, around_midnight.DAYS, period, zone)
        first, _, long, last = reader.told
        assert [day["whole"] for day in reader.told] == [False, True, True, False]
        assert ends_after(long) - begins(long) == timedelta(hours=25)
        links = {
            title: [
                day.href for day in each_day(reader.tile(title).locator(".bars"), ".trend-text")
            ]
            for title in TILES
        }
        for title, (part, *_) in TILES.items():
            assert [day[part] for day in reader.told] == [2, 2, 3, 2]
            cut = ((first, links[title][0]), (last, links[title][3]))
            for day, href in ((long, links[title][2]), *rounds(cut[:1], cut)):
                page.goto(href)
                shows_the_rows_of(reader, title, day)


def begins(day: Any) -> datetime:
    return datetime.fromisoformat(day["from"])


def ends_after(day: Any) -> datetime:
    return datetime.fromisoformat(day["to"]) + timedelta(microseconds=1)


def test_the_strip_of_a_flaky_test_has_a_column_for_each_day_of_the_reader(
    page: Page, demo: Dashboard
) -> None:
    reader = Reader(page, demo, 30, {})
    told = reader.asked.histories({"zone": ZONE, "limit": 5})
    assert [day["from"] for day in told["days"]] == [day["from"] for day in reader.told]
    strips = rows(page, "flaky").locator(".heat svg")
    page.locator("#flaky").scroll_into_view_if_needed()
    expect(strips).to_have_count(len(told["items"]))

    for strip, one in zip(strips.all(), told["items"], strict=True):
        failing = [slot for slot in one["slots"] if slot["failedAttempts"]]
        assert strip.locator("title").all_text_contents() == [
            f"{name(told['days'][slot['slot']])}: {slot['failedAttempts']:,} of"
            f" {slot['attempts']:,} attempt{'s' if slot['attempts'] > 1 else ''} failed"
            for slot in failing
        ]
        worst = max(failing, key=lambda slot: slot["failedAttempts"] / slot["attempts"])
        most = re.escape(f"most on {name(told['days'][worst['slot']])}: ")
        expect(strip).to_have_accessible_name(re.compile(most))


def test_by_key_a_chart_is_one_stop_and_its_day_is_opened(page: Page, demo: Dashboard) -> None:
    reader = Reader(page, demo, 30, {})
    reader.tile("Infra runs").locator(".beside a").focus()

    page.keyboard.press("Tab")

    chart = reader.tile("Infra runs").locator(".bars")
    expect(chart).to_be_focused()
    for key in ("ArrowLeft", "ArrowLeft", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    day = reader.told[-2]
    expect(page).to_have_url(re.compile(re.escape(urlencode({"from": day["from"]}))))


@pytest.mark.own_tab
def test_a_first_touch_shows_the_day_and_a_second_goes_there(page: Page, demo: Dashboard) -> None:
    line = page.context.new_cdp_session(page)
    line.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    reader = Reader(page, demo, 30, {})
    tile, at = reader.tile("Infra runs"), reader.point("Infra runs", 12)
    box = tile.locator(".bars").bounding_box()
    assert box is not None
    where = {"x": box["x"] + at["x"], "y": box["y"] + at["y"]}

    def touch() -> None:
        for kind, points in (("touchStart", [where]), ("touchEnd", [])):
            line.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch()
    expect(tile.locator(".trend-text")).to_have_text(text(reader.told[12], "Infra runs"))
    expect(page).to_have_url(re.compile("/metrics"))

    touch()
    expect(page).to_have_url(re.compile("/runs"))


@pytest.mark.own_tab
def test_a_zone_that_the_server_does_not_know_is_utc(
    page: Page, demo: Dashboard, quiet_console: list[str]
) -> None:
    page.add_init_script(
        "const own = Intl.DateTimeFormat.prototype.resolvedOptions;"
        "Intl.DateTimeFormat.prototype.resolvedOptions = function () {"
        "  return { ...own.call(this), timeZone: 'Mars/Base' }; };"
    )
    with page.expect_response(lambda one: "zone=UTC" in one.url and one.ok):
        page.goto(f"{demo.url}/orgs/{demo.sign_in(page.context)}/metrics")

    expect(page.locator(".tile .plot")).to_have_count(4)
    quiet_console.clear()  # the browser names what was refused


def test_bars_and_lines_stand_out_from_what_is_behind_them(page: Page, demo: Dashboard) -> None:
    Reader(page, demo, 90, {})
    page.locator("#flaky").scroll_into_view_if_needed()
    expect(page.locator(".heat svg").first).to_be_visible()
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        shown = page.evaluate(COLOURS)

        for mark in shown["marks"]:
            assert contrast(shown["tile"], mark) >= 3, (scheme, mark)
        levels = [contrast(shown["column"], level) for level in shown["levels"]]
        assert levels[0] >= 3, (scheme, levels)
        for fewer, more in pairwise(levels):
            assert more >= 1.15 * fewer, (scheme, levels)


def contrast(one: list[float], other: list[float]) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)
