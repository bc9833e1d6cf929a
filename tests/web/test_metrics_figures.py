# SPDX-License-Identifier: Apache-2.0
"""Every figure of the metrics page is the API's, over periods and products, at one moment (spec,
"Metrics page (dashboard)"). Rows are compared as the words that a person reads, on every page of
every table.
"""

import re
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.moved import INSTANT
from tests.support.soak import rounds
from tests.web.conftest import Dashboard
from tests.web.reading import (
    TABLES,
    Asked,
    of_each_period_and_product,
    of_one_period_and_product,
    percent,
    range_of,
)
from tests.web.written import CAUSES, CELLS, WRITTEN, bare, counted, on_box

# What shows all rows of the specification's tables.
OPEN = {"other": "open", "timesToFix": "open", **{f"{name}.rows": "all" for name in TABLES}}
LISTED = {"bugs": "realBugs", "other": "otherFailures"}
BY_CAUSE = {"bugs.by": "cause", "other.by": "cause"}
FIRST_ROWS = 5  # of the failures on the page of a test
ADDRESSES = "all => all.map(one => one.getAttribute('href'))"
TITLES = "all => all.map(one => one.title)"


def is_of_the_instant(time: str) -> bool:
    """Return whether a time is of the day of the tests."""
    return abs(datetime.fromisoformat(time) - INSTANT) < timedelta(hours=12)


def test_the_demo_and_its_server_and_pages_have_the_clock_of_the_instant(
    page: Page, demo: Dashboard
) -> None:
    org = demo.sign_in(page.context)
    page.goto(f"{demo.url}/orgs/{org}/metrics")
    told = Asked(demo, demo.token(), org, {"days": 30}).page()["period"]["to"]
    runs = demo.ask(f"/api/orgs/{org}/runs?limit=1", demo.token())["items"]
    shown = page.evaluate("new Date().toISOString()")

    for time in (told, runs[0]["startedAt"], shown, demo.now().isoformat()):
        assert is_of_the_instant(time)


@pytest.mark.own_clock
def test_a_clock_that_a_test_moves_begins_at_the_instant(page: Page, demo: Dashboard) -> None:
    page.goto(f"{demo.url}/sign-in")
    assert is_of_the_instant(page.evaluate("new Date().toISOString()"))


@of_each_period_and_product
def test_every_figure_on_the_page_is_the_apis(
    page: Page, demo: Dashboard, days: int, of: dict[str, str]
) -> None:
    org, moment = demo.sign_in(page.context), demo.now().isoformat()
    query = {"days": days, "asOf": moment, **of}
    asked = Asked(demo, demo.token(), org, query)
    address = f"{demo.url}/orgs/{org}/metrics?{urlencode({**query, **OPEN})}"
    page.goto(address)
    expect(page.get_by_label("Tiles")).to_be_visible()

    expect(page.locator("#failing")).to_be_visible()
    assert [tile.inner_text() for tile in page.locator(".tile .figure, .tile .beside").all()] == (
        tiles(asked.page(), asked.causes(), asked.trends())
    )
    expect(page.locator(".tile .change")).to_have_text(changes(asked.trends()))
    shows_times_to_fix(page, asked)
    # How many causes the collapsed table has is asked for where they are chosen.
    shows_choice(page, asked, "bugs", causes=f" ({asked.causes('bugs')})")
    shows_choice(page, asked, "other", causes="")
    pages = {table: list(asked.pages(table)) for table in TABLES}
    for number, there in by_number(pages):
        if number > 1:
            page.goto(address + "".join(f"&{table}.page={number}" for table in there))
        for table, rows in there.items():
            expect(page.locator(f"#{table} tbody > tr")).to_have_count(len(rows))
            if rows:
                shown = page.locator(f"#{table} table").evaluate(CELLS)
                assert shown == [bare(WRITTEN[table](row, not of)) for row in rows]
        if there.get("merges"):
            causes, subjects = zip(*asked.explained(number, there["merges"]), strict=True)
            merges = page.locator("#merges")
            expect(merges.locator(".one-line")).to_have_text([one or "\u00a0" for one in subjects])
            expect(merges.locator(".why").last).to_have_attribute("title", causes[-1])
            assert merges.locator(".why").evaluate_all(TITLES) == list(causes)


def by_number(pages: dict[str, list[Any]]) -> list[tuple[int, dict[str, Any]]]:
    """Return the rows of each table that has so many pages, for each number of a page."""
    most = max(map(len, pages.values()))
    return [
        (
            number,
            {table: rows[number - 1] for table, rows in pages.items() if len(rows) >= number},
        )
        for number in range(1, most + 1)
    ]


def shows_times_to_fix(page: Page, asked: Asked) -> None:
    rows = asked.times_to_fix()
    assert rows
    expect(page.locator("#times tbody > tr")).to_have_count(len(rows))
    assert page.locator("#times table").evaluate(CELLS) == [bare(times_to_fix(row)) for row in rows]


def shows_choice(page: Page, asked: Asked, table: str, causes: str) -> None:
    """See that the choice above a table says how many rows each way has."""
    failures = asked.page()[LISTED[table]]["total"]
    expect(page.locator(f"#{table} fieldset.choice label")).to_have_text(
        [f"Each failure ({failures})", f"By cause{causes}"] if failures else []
    )


@of_one_period_and_product
def test_the_tables_of_resolved_failures_by_cause_have_the_causes_of_the_api(
    page: Page, demo: Dashboard, days: int, of: dict[str, str]
) -> None:
    org, moment = demo.sign_in(page.context), demo.now().isoformat()
    query = {"days": days, "asOf": moment, **of}
    asked = Asked(demo, demo.token(), org, query)
    address = f"{demo.url}/orgs/{org}/metrics?{urlencode({**query, **OPEN, **BY_CAUSE})}"
    page.goto(address)
    for table in CAUSES:
        shows_choice(page, asked, table, causes=f" ({asked.causes(table)})")
    for number, there in by_number({table: list(asked.pages_of_causes(table)) for table in CAUSES}):
        if number > 1:
            page.goto(address + "".join(f"&{table}.page={number}" for table in there))
        for table, rows in there.items():
            part = page.locator(f"#{table}")
            expect(part.locator("tbody > tr")).to_have_count(len(rows))
            if rows:
                shown = part.locator("table").evaluate(CELLS)
                assert shown == [bare(CAUSES[table](row, not of)) for row in rows]


@of_one_period_and_product
def test_the_numbers_of_infra_runs_and_of_flaky_failures_lead_to_rows_that_say_so(
    page: Page, demo: Dashboard, days: int, of: dict[str, str]
) -> None:
    org, moment = demo.sign_in(page.context), demo.now().isoformat()
    query = {"days": days, "asOf": moment, **of}
    asked = Asked(demo, demo.token(), org, query)
    tiles_told = asked.page()["tiles"]
    runs, failing_runs = tiles_told["infraRuns"], tiles_told["flakyFailures"]["count"]
    infra = page.locator(".tile", has_text="Infra runs")
    shown = page.locator(".table-tools").get_by_role("status")
    page.goto(f"{demo.url}/orgs/{org}/metrics?{urlencode(query)}")
    for link, rows in ((".figure a", runs["infra"]), (".beside a", runs["total"])):
        infra.locator(link).click()
        expect(shown).to_have_text(counted(rows, "run"))
        page.go_back()

    page.locator(".tile", has_text="Flaky failures").locator("strong a").click()
    for _ in range(2):
        expect(shown).to_have_text(counted(asked.flakes(), "failure"))
        expect(page.locator(".only")).to_contain_text(f"{failing_runs:,} in this period")
        page.reload()


def test_the_tile_leads_to_the_flakiest_tests_and_each_to_its_page_with_its_failures(
    page: Page, demo: Dashboard
) -> None:
    org, moment = demo.sign_in(page.context), demo.now().isoformat()
    query = {"days": 90, "asOf": moment}
    asked = Asked(demo, demo.token(), org, query)
    tests = next(asked.pages("flaky"))
    flaky = next(row for row in tests if row["flakyFailures"])
    broken = next(row for row in tests if not row["retryPasses"])
    for row in rounds((flaky,), (flaky, broken)):
        page.goto(f"{demo.url}/orgs/{org}/metrics?{urlencode({**query, **OPEN})}")
        page.get_by_label("Tiles").get_by_role("link", name="Flakiest tests").click()
        expect(page.locator("#flaky")).to_be_in_viewport()
        page.locator("#flaky").get_by_role("link", name=row["testId"], exact=True).click()

        expect(page.get_by_role("heading", level=1, name=row["testId"])).to_be_visible()
        expect(page.get_by_text(f"{row['repoKey']} · {row['suite']}")).to_be_visible()
        total = asked.failures(row)["total"]
        assert total > 0
        names = page.get_by_label("Failures of the test").locator("tbody td:first-child > a")
        expect(names).to_have_text([row["testId"]] * min(total, FIRST_ROWS))


def test_a_figure_of_a_flaky_test_leads_to_the_runs_that_it_counts(
    page: Page, demo: Dashboard
) -> None:
    org, moment = demo.sign_in(page.context), demo.now().isoformat()
    query = {"days": 90, "asOf": moment}
    asked = Asked(demo, demo.token(), org, query)
    row = next(row for row in next(asked.pages("flaky")) if row["retryPasses"])
    period = {"from": asked.page()["period"]["from"], "to": asked.page()["period"]["to"]}
    shown = page.locator(".table-tools").get_by_role("status")
    for figure, words, flag in (
        ("runReports", "runs", {}),
        ("failedAttempts", "failed attempts", {"failedAttempt": "true"}),
        ("retryPasses", "passes on a retry", {"retryPass": "true"}),
    ):
        page.goto(f"{demo.url}/orgs/{org}/metrics?{urlencode({**query, **OPEN})}")
        name = f"{row[figure]:,} {words} of {row['testId']}"
        page.locator("#flaky").get_by_role("link", name=name, exact=True).click()

        test = {name: row[name] for name in ("repoKey", "suite", "testId")}
        runs = asked.runs({**test, **period, "status": "reported", "helloOk": "true", **flag})
        if figure != "failedAttempts":  # a run may have several
            assert runs["total"] == row[figure]
        expect(shown).to_have_text(counted(runs["total"], "run"))


@of_one_period_and_product
def test_the_figures_of_each_box_of_a_flaky_test_are_the_apis_and_lead_to_their_runs(
    page: Page, demo: Dashboard, days: int, of: dict[str, str]
) -> None:
    org, moment = demo.sign_in(page.context), demo.now().isoformat()
    query = {"days": days, "asOf": moment, **of}
    asked = Asked(demo, demo.token(), org, query)
    row = max(next(asked.pages("flaky")), key=lambda one: (one["boxes"], one["retryPasses"]))
    test = {name: row[name] for name in ("repoKey", "suite", "testId")}
    found, suspect = asked.test(test), asked.suspect(test["testId"])
    ranges = {box["boxKey"]: box["flakeRate"] for box in suspect["onBoxes"]}
    period = {"from": asked.page()["period"]["from"], "to": asked.page()["period"]["to"]}
    reached = {**test, **period, "status": "reported", "helloOk": "true"}

    page.goto(f"{demo.url}/orgs/{org}/metrics?{urlencode({**query, **OPEN})}")
    page.get_by_role("button", name=f"show the boxes of {row['testId']}").click()
    boxes = page.get_by_role("region", name=f"Boxes of {row['testId']}")
    expect(boxes.locator(".sure").last).to_contain_text(re.compile("to|not enough data"))
    assert boxes.locator("table").evaluate(CELLS) == [
        bare(on_box(box, asked.runs({**reached, "boxKey": box["boxKey"]})["total"]))
        for box in found["boxes"]
    ]
    expect(boxes.locator(".sure")).to_have_text([range_of(share) for share in ranges.values()])
    assert list(ranges) == [box["boxKey"] for box in found["boxes"]]
    counted_runs = {"Run reports": {}, "Failed attempts": {"failedAttempt": "true"}}
    counted_runs["Passes on a retry"] = {"retryPass": "true"}
    for at, box in enumerate(found["boxes"]):
        for title, flag in counted_runs.items():
            link = boxes.locator("tbody tr").nth(at).locator(f"[data-title='{title}'] a")
            for href in link.evaluate_all(ADDRESSES):
                told = dict(parse_qsl(urlsplit(href).query))
                assert told == {**reached, "boxKey": box["boxKey"], **flag}
    total = asked.runs({**reached, "boxKey": found["boxes"][0]["boxKey"]})["total"]
    boxes.get_by_role("link", name=re.compile("runs? of")).first.click()
    expect(page.locator(".table-tools").get_by_role("status")).to_have_text(counted(total, "run"))


def test_the_number_of_checked_merges_leads_to_each_and_to_the_run_that_checked_it(
    page: Page, demo: Dashboard
) -> None:
    org, moment = demo.sign_in(page.context), demo.now().isoformat()
    query = {"days": 90, "asOf": moment}
    asked = Asked(demo, demo.token(), org, query)
    tiles_told, merges = asked.page()["tiles"], page.locator("#merges")
    checked = tiles_told["mergesChecked"]["checked"]
    page.goto(f"{demo.url}/orgs/{org}/metrics?{urlencode({**query, 'merges.search': 'main'})}")

    figure = page.locator(".tile", has_text="Merges checked").locator(".figure")
    figure.get_by_role("link", name=f"{checked:,}", exact=True).click()

    title = merges.get_by_role("heading", name="Merges checked on hardware")
    expect(merges.get_by_role("radio", name=f"Checked ({checked:,})", exact=True)).to_be_checked()
    expect(title).to_be_in_viewport()
    expect(merges.get_by_role("status").first).to_have_text(f"{checked:,} merges")
    for sort, number in ((None, 1), ("branch", 1), ("branch", 2)):
        if sort and number == 1:
            merges.get_by_role("button", name="Branch").click()
            expect(page).to_have_url(re.compile("merges.sort=branch"))
        if number == 2:
            merges.get_by_role("button", name="Next").click()
        more = {"page": number, **({"sort": sort} if sort else {})}
        shows_checked(page, asked.checked(more)["items"])
    page.reload()
    shows_checked(page, asked.checked({"page": 2, "sort": "branch"})["items"])

    merges.get_by_text(re.compile("^Not checked")).click()

    expect(page).not_to_have_url(re.compile("merges=|merges.page"))
    unchecked = tiles_told["mergesChecked"]["announced"] - checked
    choice = merges.get_by_role("radio", name=f"Not checked ({unchecked:,})")
    expect(choice).to_be_checked()
    expect(merges.get_by_role("columnheader", name="First checked by")).to_have_count(0)


def shows_checked(page: Page, rows: list[Any]) -> None:
    """See that the table has these checked merges, each with the run that checked it."""
    found = page.locator("#merges tbody tr")
    expect(found).to_have_count(len(rows))
    for texts in (
        [row["sha"][:12] for row in rows],
        [row["firstRun"]["boxKey"] for row in rows],
        [row["suite"] or "Unassigned" for row in rows],
    ):
        expect(found).to_contain_text(texts)
    expect(found.locator(".one-line")).to_have_text([row["subject"] or "\u00a0" for row in rows])
    runs = found.get_by_role("link", name=re.compile("^run ")).evaluate_all(ADDRESSES)
    assert [one.rpartition("/")[2] for one in runs] == [
        row["firstRun"]["runRecordId"] for row in rows
    ]


def test_the_trend_of_a_tile_shows_the_figure_of_the_tile_and_no_sum_of_its_own(
    page: Page, demo: Dashboard
) -> None:
    def more(route: Route) -> None:
        answer = route.fetch()
        result = answer.json()
        result["days"]["days"][0]["infraRuns"] += 1000
        route.fulfill(response=answer, json=result)

    page.route("**/ci-analysis/page?*", more)
    page.goto(f"{demo.url}/orgs/{demo.sign_in(page.context)}/metrics?days=90")

    tile = page.locator(".tile", has_text="Infra runs")
    trend = tile.get_by_role("group", name=re.compile("Infra runs: .* at most 1,0.. on"))
    figure = tile.locator(".figure").inner_text()
    expect(trend).to_have_accessible_name(re.compile(f"^Infra runs: {figure} in all, "))


def tiles(page: Any, causes: int, trends: Any) -> list[str]:
    """Write the tiles as they are read."""
    counts, unchecked = page["tiles"], page["uncheckedMerges"]["total"]
    merges, bugs, runs = counts["mergesChecked"], counts["realFwBugs"], counts["infraRuns"]
    beside = f"{bugs['benchOrHarness']} bench or harness, {bugs['ambiguous']} ambiguous"
    dismissed = f", {bugs['dismissed']} dismissed" if bugs["dismissed"] else ""
    flaky = page["flakiestTests"]["total"] > 0
    shares = {one["tile"]: share(one["now"]) for one in trends["tiles"]}
    return [
        f"{merges['checked']:,}" + (f" and {unchecked:,} not checked" if unchecked else ""),
        f"of {counted(merges['announced'], 'merge')}{shares['mergesChecked']}",
        f"{bugs['real']:,}" + (f" from {counted(causes, 'cause')}" if causes else ""),
        beside + dismissed,
        f"{counts['flakyFailures']['count']:,}" + (" see Flakiest tests" if flaky else ""),
        "failing runs on commits that also passed",
        f"{runs['infra']:,}",
        f"of {counted(runs['total'], 'run report')}{shares['infraRuns']}",
    ]


def changes(trends: Any) -> list[str]:
    """Write how the tiles changed."""
    before = f"{trends['period']['days']} days before"
    if trends["missing"]:
        return [f"no {before} to compare with"] * len(trends["tiles"])
    return [change(one, before) for one in trends["tiles"]]


def change(tile: Any, before: str) -> str:
    """Write how a tile changed."""
    part, total = tile["before"]["part"], tile["before"]["total"]
    if total is not None:
        return f"{percent(Decimal(100 * part) / total)} in the {before}"
    if tile["change"] == 0:
        return f"as many as in the {before}"
    return f"{tile['change']:+,} against the {before}".replace("-", "\N{MINUS SIGN}")


def times_to_fix(row: Any) -> list[str]:
    """Write how long failures of a product or box took."""
    known = row["repoKey"] is not None
    return [
        row["suite"] if known else "All products",  # all are of one repository
        row["boxKey"] or "All boxes",
        f"{row['incidents']:,}",
        f"{row['failing']:,}",
        *(row[of]["says"] + before(row, of) for of in ("toDetect", "toFix")),
    ]


def before(row: Any, of: str) -> str:
    """Write what it was in the period before."""
    return "" if row["before"] is None else f" · before: {row['before'][of]['half']}"


def share(figure: Any) -> str:
    """Write a part of a whole, with the interval of its share."""
    if not figure["total"]:
        return ""
    rate = percent(Decimal(100 * figure["part"]) / figure["total"])
    return f" · {rate} ({range_of(figure)})"
