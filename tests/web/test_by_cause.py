# SPDX-License-Identifier: Apache-2.0
"""The tables of resolved failures have a row for each cause where that is chosen: one click away,
in the address and remembered (ADR 0013). That each row is the API's,
`test_metrics_figures.py` claims.
"""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Request, expect

from tests.support.soak import rounds
from tests.web.conftest import Dashboard
from tests.web.reading import Reader, csv_button, part, rows, saved

CAUSES = re.compile(r"/ci-analysis/causes\?")
TABLES = {"bugs": "realBugs", "other": "otherFailures"}
BY_CAUSE = re.compile("^By cause")
EACH_FAILURE = re.compile("^Each failure")


@pytest.fixture
def reader(page: Page, demo: Dashboard) -> Reader:
    return Reader(page, demo, "metrics")


@pytest.fixture
def period(demo: Dashboard) -> dict[str, Any]:
    """Ninety days up to one moment."""
    return {"days": 90, "asOf": demo.now().isoformat()}


def choice(page: Page, table: str, name: re.Pattern[str]) -> Locator:
    """Return one of the two choices above a table."""
    return part(page, table).get_by_role("radio", name=name)


def shows(page: Page, table: str, number: int, name: re.Pattern[str]) -> None:
    """Expect so many rows, all that there are, of this choice."""
    expect(choice(page, table, name)).to_be_checked()
    expect(rows(page, table)).to_have_count(number)


def test_the_first_table_asks_for_nothing_and_the_collapsed_one_when_causes_are_chosen(
    reader: Reader, period: dict[str, Any]
) -> None:
    page = reader.page
    sent: list[str] = []

    def note(request: Request) -> None:
        if CAUSES.search(request.url):
            sent.append(request.url)

    page.on("request", note)
    reader.open(**period)
    expect(rows(page, "bugs").first).to_be_visible()
    expect(page.locator("#flaky tbody tr").first).to_be_visible()
    assert sent == []

    part(page, "other").get_by_role("button").first.click()
    choice(page, "bugs", BY_CAUSE).check()
    expect(rows(page, "other").first).to_be_visible()
    expect(rows(page, "bugs").get_by_role("button", name="Review: ").first).to_be_visible()
    assert sent == []

    choice(page, "other", BY_CAUSE).check()

    expect(rows(page, "other").get_by_role("button", name="Review: ").first).to_be_visible()
    assert len(sent) == 1
    assert "table=otherFailures" in sent[0]


@pytest.mark.parametrize("table", rounds(["other"], [*TABLES]))
def test_causes_are_a_key_away_stay_in_the_address_and_a_key_leads_back(
    reader: Reader, period: dict[str, Any], table: str
) -> None:
    page = reader.page
    causes = reader.ask("ci-analysis/causes", **period, table=TABLES[table], limit=100)["total"]
    failures = reader.ask("ci-metrics", **period)[TABLES[table]]["total"]
    assert causes < failures
    everything = {"other": "open", f"{table}.rows": "all", f"{table}.limit": 100}
    reader.open(**period, **everything)
    shows(page, table, failures, EACH_FAILURE)

    choice(page, table, EACH_FAILURE).focus()
    page.keyboard.press("ArrowRight")

    shows(page, table, causes, BY_CAUSE)
    expect(choice(page, table, BY_CAUSE)).to_be_focused()
    expect(page).to_have_url(re.compile(rf"[?&]{table}\.by=cause"))
    page.reload()
    shows(page, table, causes, BY_CAUSE)
    choice(page, table, BY_CAUSE).focus()
    page.keyboard.press("ArrowLeft")
    shows(page, table, failures, EACH_FAILURE)
    expect(page).to_have_url(re.compile(rf"[?&]{table}\.by=failure"))
    page.go_back()
    shows(page, table, causes, BY_CAUSE)


@pytest.mark.parametrize("table", rounds(["bugs"], [*TABLES]))
def test_an_address_from_before_opens_what_it_opened(
    reader: Reader, period: dict[str, Any], table: str
) -> None:
    page = reader.page
    rest = {**period, "other": "open", f"{table}.rows": "all", f"{table}.limit": 100}
    causes = reader.ask("ci-analysis/causes", **period, table=TABLES[table])["total"]
    failures = reader.ask("ci-metrics", **period)[TABLES[table]]["total"]
    [cause] = reader.ask("ci-analysis/causes", **period, table=TABLES[table], limit=1)["items"]

    reader.open(**rest, **{f"{table}.cause": cause["id"]})
    shows(page, table, causes, BY_CAUSE)
    expect(part(page, table).locator("tr.below").first).to_be_visible()

    reader.open(**rest, **{f"{table}.by": "cause", f"{table}.sort": "testId"})
    shows(page, table, failures, EACH_FAILURE)
    heading = part(page, table).get_by_role("columnheader", name="Test and box")
    expect(heading).to_have_attribute("aria-sort", "ascending")
    for order in ("descending", "none"):
        heading.get_by_role("button").click()
        expect(heading).to_have_attribute("aria-sort", order)
        shows(page, table, failures, EACH_FAILURE)


def test_a_choice_is_of_the_person_who_made_it_and_an_address_goes_before_it(
    reader: Reader, period: dict[str, Any]
) -> None:
    page = reader.page
    reader.open(**period, other="open")
    choice(page, "bugs", BY_CAUSE).check()
    expect(page).to_have_url(re.compile(r"[?&]bugs\.by=cause"))
    [key] = page.evaluate("Object.keys(localStorage).filter(key => /switches/.test(key))")

    reader.open(**period, other="open")  # no word of it in the address
    expect(choice(page, "bugs", BY_CAUSE)).to_be_checked()
    expect(choice(page, "other", EACH_FAILURE)).to_be_checked()
    expect(page).to_have_url(re.compile(r"[?&]bugs\.by=cause"))
    page.goto(f"{reader.home}/metrics#other")
    expect(choice(page, "bugs", BY_CAUSE)).to_be_checked()
    expect(page).to_have_url(re.compile(r"bugs\.by=cause#other$"))

    said_otherwise = ({"bugs.by": "failure"}, {"bugs.search": "o"}, {"bugs.sort": "testId"})
    for said in rounds(said_otherwise[:2], said_otherwise):
        reader.open(**period, **said)
        expect(choice(page, "bugs", EACH_FAILURE)).to_be_checked()

    reader.open(**period)
    choice(page, "bugs", EACH_FAILURE).check()
    assert page.evaluate("key => localStorage.getItem(key)", key) is None, "as a plain address is"

    written = ('{"bugs.by": "x", "days": "7"}', "[1", "null", '"no"')
    for damaged in rounds(written[:2], written):
        page.evaluate("pair => localStorage.setItem(...pair)", [key, damaged])
        reader.open(**period)
        expect(choice(page, "bugs", EACH_FAILURE)).to_be_checked()

    page.evaluate("pair => localStorage.setItem(...pair)", [key, '{"bugs.by": "cause"}'])
    page.evaluate("key => localStorage.setItem(`${key}0`, localStorage.getItem(key))", key)
    page.evaluate("key => localStorage.removeItem(key)", key)
    reader.open(**period)  # as somebody else
    expect(choice(page, "bugs", EACH_FAILURE)).to_be_checked()


def test_what_counts_failures_leads_to_a_row_for_each_and_what_counts_causes_to_these(
    reader: Reader, period: dict[str, Any]
) -> None:
    page = reader.page
    counts = reader.ask("ci-metrics", **period)["tiles"]["realFwBugs"]
    causes = reader.ask("ci-analysis/causes", **period, table="realBugs")["total"]
    tile = page.locator(".tile", has_text="Real FW bugs caught")
    # What was searched and sorted before is no part of what they count.
    before = {"bugs.search": "ota", "bugs.page": 2, "other.search": "boot", "other.cause": "none"}

    for link, table, number, name in (
        (tile.locator("strong a"), "bugs", counts["real"], EACH_FAILURE),
        (tile.get_by_role("link", name=re.compile(r"^\d+ causes?$")), "bugs", causes, BY_CAUSE),
        (tile.get_by_role("link", name="bench"), "other", counts["benchOrHarness"], EACH_FAILURE),
        (tile.get_by_role("link", name="ambiguous"), "other", counts["ambiguous"], EACH_FAILURE),
    ):
        reader.open(**period, **before, **{"bugs.sort": "testId"})
        link.click()
        shows(page, table, number, name)


def test_a_file_has_a_row_for_each_failure_with_the_fields_of_the_columns_that_are_shown(
    reader: Reader, period: dict[str, Any]
) -> None:
    page = reader.page
    reader.open(**period, **{"other": "open", "bugs.by": "cause", "other.by": "cause"})
    for table, listed, label in (
        ("bugs", "real-bugs", "Real FW bugs caught"),
        ("other", "other-failures", "Resolved by a bench or harness change"),
    ):
        expect(rows(page, table).first).to_be_visible()
        failures = reader.ask(f"ci-metrics/{listed}", **period, limit=100)["items"]
        _, lines = saved(page, label)
        assert [line[lines[0].index("id")] for line in lines[1:]] == [one["id"] for one in failures]
        expect(csv_button(page, label)).to_have_text(f"CSV of {len(failures)} rows")

        part(page, table).get_by_role("button", name=f"Columns of {label}").click()
        part(page, table).get_by_role("checkbox", name="Status").uncheck()
        expect(part(page, table).get_by_role("columnheader", name="Status")).to_have_count(0)
        _, fewer = saved(page, label)
        assert set(lines[0]) - set(fewer[0]) == {"status"}
        page.evaluate("localStorage.removeItem('hwci-columns')")
        part(page, table).get_by_role("searchbox").fill("boot")
        found = reader.ask(f"ci-metrics/{listed}", **period, search="boot")["total"]
        expect(csv_button(page, label)).to_have_text("CSV")
        assert len(saved(page, label)[1]) == found + 1


def test_where_the_figures_do_not_come_the_causes_are_asked_for_and_counted_below(
    reader: Reader, period: dict[str, Any], quiet_console: list[str]
) -> None:
    page = reader.page
    period["days"] = 30  # so few that there is no search, which would count them, too
    causes = reader.ask("ci-analysis/causes", **period, table="realBugs")["total"]
    page.route("**/ci-analysis/page?*", lambda route: route.abort())

    reader.open(**period, **{"bugs.by": "cause"})

    shows(page, "bugs", causes, re.compile("^By cause$"))
    expect(part(page, "bugs").get_by_role("status").first).to_have_text(f"{causes} causes")
    quiet_console.clear()  # the browser names what it could not load


def test_a_cause_of_one_failure_leads_to_it_and_any_is_unfolded_to_its_review(
    reader: Reader, period: dict[str, Any]
) -> None:
    page = reader.page
    causes = reader.ask("ci-analysis/causes", **period, table="realBugs")["items"]
    reader.open(**period, **{"bugs.by": "cause", "bugs.rows": "all"})
    expect(rows(page, "bugs")).to_have_count(len(causes))
    alone = next(at for at, cause in enumerate(causes) if len(cause["failures"]) == 1)
    together = next(at for at, cause in enumerate(causes) if len(cause["failures"]) > 1)
    for number in rounds((alone, together), range(len(causes))):
        cause = causes[number]
        row, failures = rows(page, "bugs").nth(number), cause["failures"]
        names = [one["testId"] for one in failures]
        if len(failures) == 1:
            link = row.get_by_role("link", name=names[0], exact=True)
            expect(link).to_have_attribute("href", re.compile(f"/failures/{failures[0]['id']}$"))
        row.get_by_role("button", name="Review: ").click()

        below = part(page, "bugs").locator("tr.below")
        expect(below.locator("a[href*='/failures/']")).to_have_text(sorted(names))
        expect(below.get_by_label("Note")).to_be_focused()
        expect(below.get_by_role("button", name="Dismiss")).to_be_visible()
