# SPDX-License-Identifier: Apache-2.0
"""The page of one test: every figure on it is the API's, rows of tests lead to it, and an address
that names no test says so and leads on.
"""

import re
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from hwci.said import percent as chance
from tests.support.soak import rounds
from tests.web.conftest import ZONE, Dashboard
from tests.web.live import cells, site
from tests.web.reading import PRODUCT, Reader, between, each_day, percent

WORDS = {"failed": "failed", "lost": "lost", "retried": "passed on a retry", "passed": "passed"}


@pytest.fixture
def reader(page: Page, demo: Dashboard) -> Reader:
    return Reader(page, demo)


def flaky_tests(reader: Reader, **query: Any) -> list[str]:
    found = reader.ask("ci-metrics/flakiest-tests", **query)["items"]
    return [one["testId"] for one in found]


def seconds(number: float) -> str:
    """Write how long a test of the demo took: under a minute."""
    return f"{Decimal(str(number)).quantize(Decimal('0.1'), ROUND_HALF_UP)} s"


def written(box: Any) -> list[str]:
    """Return the cells of a row as a person reads them, without blanks, but for the last run."""
    first = box["first"]
    percents = Decimal(100 * first["part"]) / first["total"]
    rate = f"{percent(percents)} ({first['part']} of {first['total']})"
    low, high = (None if first[end] is None else 100 * first[end] for end in ("low", "high"))
    rate += between(low, high)
    names = {"device": "device", "infra": "infra", "unknown": "none reported"}
    verdicts = [f"{box['verdicts'][key]} {word}" for key, word in names.items()]
    said = ", ".join(one for one in verdicts if not one.startswith("0 "))
    figures = [str(box[key]) for key in ("passed", "retried", "failed", "lost")]
    took = box.get("took")
    durations = took and f"{seconds(took['middle'])}9 of 10 in {seconds(took['nineOfTen'])}"
    shown = [box.get("boxKey", "All boxes"), rate, *figures, "runs", said, durations or ""]
    return [re.sub(r"\s", "", one) for one in shown]


def test_a_bisection_is_commits_with_their_chances_and_a_command_to_paste(reader: Reader) -> None:
    end = reader.now().isoformat()
    query, test_id, found = next(
        (query, one, told)
        for days in (30, 14, 60, 7, 21, 45)
        for query in [{"days": days, "asOf": end, **PRODUCT}]
        for one in flaky_tests(reader, **query, limit=100)
        if (told := reader.ask("ci-analysis/bisection", **query, testId=one)["found"])
        and told["nextRuns"]
    )
    reader.open(**query, testId=test_id)
    section = reader.page.get_by_role("region", name="Bisection")
    expect(section).to_contain_text(found["says"])
    run = found["nextRuns"][0]
    expect(section.locator(".copyable code")).to_have_text([run["command"], found["then"]])
    likeliest = max(found["commits"], key=lambda one: one["chance"])
    shown = section.get_by_role("region", name="Commits that may have broken it")
    rows = shown.locator("tbody tr")
    assert 1 < rows.count() <= 5
    failed = f"{likeliest['failed']} of {likeliest['runs']}"
    expect(rows.first).to_contain_text(likeliest["sha"][:12])
    expect(rows.first.locator("td[data-title='Runs that failed']")).to_have_text(failed)
    expect(rows.first.locator("td[data-title='Chance']")).to_have_text(chance(likeliest["chance"]))

    test_id, missing = next(
        (one, told)
        for one in flaky_tests(reader, **query, limit=100)
        if (told := reader.ask("ci-analysis/bisection", **query, testId=one))["missing"] == "fixed"
    )
    reader.open(**query, testId=test_id)
    expect(section).to_contain_text(f"{missing['missingText']}. {missing['toDo']}")


@pytest.mark.parametrize(
    ("days", "suite"),
    rounds(
        [(30, "gateway-fw"), (7, "sensor-fw")],
        [(90, "sensor-fw"), (30, "gateway-fw"), (7, "sensor-fw")],
    ),
)
def test_every_figure_on_the_page_is_the_apis(reader: Reader, days: int, suite: str) -> None:
    query = {"days": days, "asOf": reader.now().isoformat(), **PRODUCT, "suite": suite}
    for test_id in flaky_tests(reader, **query, limit=rounds(1, 2)):
        found = reader.ask("ci-analysis/test", **query, testId=test_id)
        reader.open(**query, testId=test_id)

        expect(reader.page.get_by_role("heading", level=1)).to_have_text(test_id)
        words = f"{found['answer']} {found['says']}"
        first, *rest = re.split(r"(?<=\.) (?=[A-Z])", words)
        expect(reader.page.locator(".page-head + p")).to_contain_text(f"{days} days, ")
        expect(reader.page.locator(".page-head + p + p")).to_have_text(first)
        expect(reader.page.locator(".page-head + p + p + ul > li")).to_have_text(rest)
        assert re.match("Fails now|Flaky|Broken|Fixed|Not enough data", found["answer"])
        rows = reader.page.get_by_role("region", name="Boxes").locator("tbody tr")
        boxes = found["boxes"] + ([found["all"]] if len(found["boxes"]) > 1 else [])
        expect(rows).to_have_count(len(boxes))
        shown = [[re.sub(r"\s", "", one) for one in cells(row)[:-1]] for row in rows.all()]
        assert shown == [written(one) for one in boxes]
        for box, strip in zip(found["boxes"], strips(reader.page), strict=True):
            told = of_each_day(strip)
            assert told == [said(box, at, day) for at, day in enumerate(found["days"])]
        marks = {one["day"]: one["commits"] for one in found["commits"]}
        shown_marks = of_each_day(reader.page.locator(".columns").first)
        assert {
            at: int(more[1]) if (more := re.search(r": (\d+) commits, the last", one)) else 1
            for at, one in enumerate(shown_marks)
            if "no new commit" not in one
        } == marks


def strips(page: Page) -> list[Locator]:
    """Return the strip of each box, without that of the commits."""
    return page.locator(".columns").all()[1:]


def of_each_day(strip: Locator) -> list[str]:
    """Return what a strip says of each of its days, from the first to the last."""
    return [day.text for day in each_day(strip.locator(".bars"), ".columns-text")]


def day_name(day: Any) -> str:
    first = date.fromisoformat(day["firstDay"])
    month = f"{first:%b}".replace("Sep", "Sept")
    return f"{first.day} {month}{'' if day['whole'] else ' (part)'}"


def said(box: Any, at: int, day: Any) -> str:
    """Write what the strip of a box says of a day."""
    tries = next((one for one in box["days"] if one["day"] == at), None)
    if tries is None:
        return f"{day_name(day)}: not run"
    kinds = {key: word for key, word in WORDS.items() if tries[key]}
    words = f"{day_name(day)}: {', '.join(f'{tries[key]} {word}' for key, word in kinds.items())}"
    if 0 < tries["unnamed"] < sum(tries[key] for key in WORDS):
        words += f" ({tries['unnamed']} of them named no test, and is not in the list)"
    return words


@pytest.mark.usefixtures("in_new_zealand")
def test_a_column_leads_to_exactly_the_runs_it_counts(reader: Reader) -> None:
    query = {"days": 30, "asOf": reader.now().isoformat(), **PRODUCT}
    [test_id] = flaky_tests(reader, **query, limit=1)
    reader.open(**query, testId=test_id)
    expect(reader.page.get_by_role("region", name="Boxes")).to_be_visible()
    found = reader.ask("ci-analysis/test", **query, testId=test_id, zone=ZONE)
    compared = 0
    for box, strip in zip(found["boxes"], strips(reader.page), strict=True):
        shown = each_day(strip.locator(".bars"), ".columns-text")
        assert [day.text for day in shown] == [
            said(box, at, day) for at, day in enumerate(found["days"])
        ]
        for at in range(0, len(shown), rounds(8, 4)):
            tries = next((one for one in box["days"] if one["day"] == at), None)
            if tries is None:
                continue
            asked = dict(parse_qsl(urlsplit(shown[at].href).query))
            listed = reader.ask("runs", **asked, limit=1)["total"]
            number = sum(tries[key] for key in WORDS)
            assert listed == number - (tries["unnamed"] if tries["unnamed"] < number else 0)
            compared += 1
    assert compared > 2


def test_a_period_is_chosen_and_a_column_is_pointed_at_touched_and_opened(reader: Reader) -> None:
    page = reader.page
    [test_id] = flaky_tests(reader, **PRODUCT, days=90, limit=1)
    reader.open(**PRODUCT, testId=test_id)
    expect(page.get_by_label("30d")).to_be_checked()
    page.get_by_text("7d", exact=True).click()
    expect(page).to_have_url(re.compile("days=7$"))
    expect(page.get_by_role("heading", level=1)).to_have_text(test_id)
    expect(page.get_by_text(re.compile("^7 days, "))).to_be_visible()
    bars = page.locator(".columns .bars").last

    def middle() -> dict[str, float]:
        place = bars.bounding_box()
        assert place is not None
        return {"x": place["x"] + place["width"] / 2, "y": place["y"] + place["height"] / 2}

    page.mouse.move(middle()["x"], middle()["y"])
    expect(page.locator(".columns-text")).to_have_count(1)
    page.mouse.move(0, 0)
    expect(page.locator(".columns-text")).to_have_count(0)
    line = page.context.new_cdp_session(page)
    for times, address in ((1, r"/test\?"), (2, r"/runs\?.*testId=")):
        for kind, points in (("touchStart", [middle()]), ("touchEnd", [])):
            line.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        if times == 1:
            expect(page.locator(".columns-text")).to_have_count(1)
        expect(page).to_have_url(re.compile(address))


def test_a_row_of_flakiest_tests_leads_to_its_test_and_that_to_each_failure(
    reader: Reader,
) -> None:
    page, query = reader.page, {"asOf": reader.now().isoformat(), **PRODUCT}
    page.goto(f"{reader.home}/metrics?{urlencode(query)}")
    link = page.locator("#flaky tbody a").first
    test_id = link.inner_text()
    link.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(test_id)

    failures = reader.ask("ci-failures", days=90, **query, testId=test_id)
    rows = page.get_by_role("region", name="Failures of the test").locator("tbody tr")
    expect(rows).to_have_count(min(5, failures["total"]))
    rows.first.get_by_role("link").first.click()
    expect(page).to_have_url(re.compile(f"/failures/{failures['items'][0]['id']}"))
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text(test_id)
    page.get_by_role("link", name="Back to metrics").click()
    expect(page).to_have_url(re.compile("/metrics"))


def test_what_failed_before_the_period_is_one_link_away(page: Page, tmp_path: Path) -> None:
    with site(page, tmp_path) as own:
        for number, (days, outcome) in enumerate(((40, "fail"), (39, "pass"), (0, "pass"))):
            test = {"id": "boot", "outcome": outcome, "attempts": 1, "duration_s": 1.0}
            at = (own.benches.hands.now - timedelta(days=days, minutes=9)).isoformat()
            own.benches.report(
                run_id=number, sha=f"{number:040x}", tests=[test], started_at=at, ended_at=at
            )
        run = own.benches.listed()[0]
        own.open(
            f"test?{urlencode({name: run[name] for name in ('repoKey', 'suite')})}&testId=boot"
        )
        failures = page.get_by_role("region", name="Failures")
        expect(failures).to_contain_text("No run of this test failed in this period")

        failures.get_by_role("link", name="Look back 90 days").click()

        expect(page).to_have_url(re.compile("days=90"))
        expect(failures.locator("tbody tr")).to_have_count(1)


def test_what_is_not_there_says_so_and_leads_on(reader: Reader, quiet_console: list[str]) -> None:
    page = reader.page
    [test_id] = flaky_tests(reader, **PRODUCT, days=90, limit=1)
    for asked, said in (
        ({**PRODUCT, "testId": test_id[:-1]}, f"did you mean {test_id}?"),
        ({**PRODUCT, "suite": "sensor-fv", "testId": test_id}, "did you mean sensor-fw?"),
        ({**PRODUCT, "testId": "x" * 1000}, "should have at most 512 characters"),
        ({**PRODUCT, "testId": test_id, "days": "0"}, "days=0 should be greater than"),
        ({**PRODUCT, "testId": test_id, "asOf": "x" * 1000}, "date-time with an offset"),
    ):
        reader.open(**asked)
        expect(page.get_by_role("alert").first).to_contain_text(said)
        expect(page.get_by_role("link", name="All failures")).to_be_visible()
    page.get_by_role("link", name="Show the page without this value").click()
    expect(page.get_by_role("region", name="Boxes")).to_be_visible()

    reader.open(**PRODUCT)
    expect(page.get_by_role("heading", level=1)).to_have_text("No test is named")
    expect(page.get_by_role("link", name="Metrics of ")).to_be_visible()

    reader.open(**PRODUCT, testId=test_id, asOf="2001-01-01T00:00:00Z")
    expect(
        page.get_by_text("No run of this period had the test. Look back 90 days")
    ).to_be_visible()
    quiet_console.clear()  # the browser itself tells of each refusal


def test_rows_that_name_a_test_or_a_box_lead_to_their_pages(reader: Reader) -> None:
    page, home = reader.page, reader.home
    [failure] = reader.ask("ci-failures", **PRODUCT, days=90, limit=1)["items"]
    [run] = reader.ask("runs", **PRODUCT, status="reported", helloOk="true", limit=1)["items"]
    test_id, box = failure["testId"], failure["boxKey"]
    to_test = re.compile(rf"/test\?.*testId={re.escape(test_id)}")

    page.goto(f"{home}/failures?days=90&{urlencode(PRODUCT)}")
    row = page.locator("tbody tr").first
    expect(row.get_by_role("link", name="history")).to_have_attribute("href", to_test)
    expect(row.get_by_role("link", name=box, exact=True)).to_have_attribute("href", to_box(box))

    page.goto(f"{home}/failures/{failure['id']}")
    title = page.get_by_role("heading", level=1)
    expect(title.get_by_role("link", name=test_id)).to_have_attribute("href", to_test)
    expect(title.get_by_role("link", name=box, exact=True)).to_have_attribute("href", to_box(box))

    page.goto(f"{home}/runs/{run['id']}")
    facts = page.locator(".facts").get_by_role("link", name=run["boxKey"], exact=True)
    expect(facts).to_have_attribute("href", to_box(run["boxKey"]))
    expect(page.locator("#tests tbody a[href*='/test?']").first).to_be_visible()

    page.goto(f"{home}/runs?{urlencode(PRODUCT)}")
    links = page.locator("td[data-title=Box] a")
    expect(links.first).to_have_attribute("href", re.compile(r"/box\?boxKey="))
    page.goto(f"{home}/metrics?days=90&failing=all&merges=checked")
    for region in ("Failing now", "Merges, checked"):
        rows = page.get_by_role("region", name=region, exact=True).locator("tbody")
        expect(rows.locator("a[href*='/box?days=90&boxKey=']").first).to_be_attached()


def to_box(box: str) -> re.Pattern[str]:
    return re.compile(rf"/box\?(.*&)?boxKey={re.escape(box)}(&|$)")


def test_an_unfolded_cause_leads_to_the_box_and_the_test_of_each_failure(reader: Reader) -> None:
    page = reader.page
    query = {"days": 90, "toReview": "true", "limit": 100}
    causes = reader.ask("ci-analysis/causes", **query)["items"]
    places = (("metrics?days=90&other=open&other.by=cause", "#other"), ("review?days=90", ".cause"))
    for address, within in rounds(places[:1], places):
        page.goto(f"{reader.home}/{address}")
        if within == "#other":
            page.locator("#other tbody .fold").first.click()
        failures = page.locator(f"{within} .commits li:has(a[href*='/failures/'])")
        expect(failures.first).to_be_visible()
        for row in rounds(failures.all()[:3], failures.all()):
            failure = row.locator("a[href*='/failures/']")
            box, test = row.locator("a[href*='/box?']"), row.locator("a[href*='/test?']")
            if box.count() == 0:  # all failed on one, which is named once
                box = page.locator(f"{within} .of-cause p a[href*='/box?']")
            (shown,) = (
                one
                for cause in causes
                for one in cause["failures"]
                if str(failure.get_attribute("href")).endswith(f"/failures/{one['id']}")
            )
            expect(box).to_have_text(shown["boxKey"])
            expect(box).to_have_attribute("href", to_box(shown["boxKey"]))
            of_test = dict(parse_qsl(urlsplit(str(test.get_attribute("href"))).query))
            named = {name: shown[name] for name in ("repoKey", "suite", "testId")}
            assert of_test == {"days": "90", **named}


def test_what_names_a_box_on_the_metrics_page_leads_to_its_page(reader: Reader) -> None:
    page, home = reader.page, reader.home
    asked = {"days": 90, "asOf": reader.now().isoformat()}
    plan = reader.ask("ci-analysis/merge-plan", **asked)["runs"]["items"]
    answers = reader.ask(
        "ci-analysis/flaky-tests", **asked, detail="answers", flaked="true", limit=5
    )
    page.goto(f"{home}/metrics?{urlencode({**asked, 'merges.plan': 'open'})}")
    runs = page.locator("#merges .plan a[href*='/box?']")
    expect(runs).to_have_text([one["boxKey"] for one in plan])
    words = page.locator("#flaky .whom")
    words.last.scroll_into_view_if_needed()
    expect(words).to_have_text([one["answer"] for one in answers["items"]])
    boxes = [one.get("answerBox") for one in answers["items"]]
    assert any(boxes)
    for place, box in enumerate(boxes):
        link = words.nth(place).get_by_role("link")
        if box is None:
            expect(link).to_have_count(0)
        else:
            expect(link).to_have_attribute("href", to_box(box))


def test_what_names_a_box_on_the_other_pages_leads_to_its_page(reader: Reader) -> None:
    page, home = reader.page, reader.home
    tests = reader.ask("ci-analysis/boxes", days=90)["tests"]
    assert tests
    page.goto(f"{home}/boxes?days=90")
    for one in tests:
        row = page.get_by_role("listitem").filter(has_text=f"{one['testId']} {one['says']}")
        link = row.get_by_role("link", name=one["boxKey"], exact=True)
        expect(link).to_have_attribute("href", to_box(one["boxKey"]))

    reader.open(days=90, **PRODUCT, testId=tests[0]["testId"])
    found = reader.ask("ci-analysis/test", **PRODUCT, testId=tests[0]["testId"], days=90)
    names = page.locator(".over-time li > span a")
    expect(names).to_have_text([box["boxKey"] for box in found["boxes"]])
    for link in names.all():
        expect(link).to_have_attribute("href", to_box(link.inner_text()))

    page.goto(f"{home}/audit-log")
    entries = reader.ask("audit-log", limit=20)["items"]
    place, details = next(
        (place, one["details"]) for place, one in enumerate(entries) if one["action"] == "dismiss"
    )
    row = page.locator("tbody tr").nth(place)
    box, test = row.locator("a[href*='/box?']"), row.get_by_role("link", name="history")
    expect(box).to_have_text(details["boxKey"])
    expect(box).to_have_attribute("href", to_box(details["boxKey"]))
    expect(test).to_have_attribute("href", re.compile(re.escape(details["testId"])))
