# SPDX-License-Identifier: Apache-2.0
"""The page of one box: every figure on it is the API's, rows of boxes lead to it, and an address
that names no box says so and leads on.
"""

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from hwci.demo.project import BOXES
from tests.support.soak import rounds
from tests.web.conftest import Dashboard
from tests.web.live import cells, site
from tests.web.reading import PRODUCT, Reader, between, each_day, percent

SHARES = ("reached", "lostBoard", "blamed", "failedAttempts")


@pytest.fixture
def reader(page: Page, demo: Dashboard) -> Reader:
    return Reader(page, demo, "box")


def bare(text: str) -> str:
    return re.sub(r"\s", "", text)


def rate(part: int, total: int) -> str:
    return bare(f"{percent(Decimal(100 * part) / total)} ({part:,} of {total:,})")


def written(share: Any) -> str:
    if share is None:
        return "none"
    ends = (None if share[end] is None else 100 * share[end] for end in ("low", "high"))
    return rate(share["part"], share["total"]) + bare(between(*ends))


@pytest.mark.parametrize(
    ("days", "of"),
    rounds([(90, {}), (7, PRODUCT)], [(90, {}), (30, PRODUCT), (7, PRODUCT)]),
)
def test_every_figure_on_the_page_is_the_apis(
    reader: Reader, days: int, of: dict[str, str]
) -> None:
    query = {"days": days, "asOf": reader.now().isoformat(), **of}
    for box in rounds(BOXES[:1], BOXES[:2]):
        found = reader.ask("ci-analysis/box", **query, boxKey=box)
        reader.open(**query, boxKey=box)

        page = reader.page
        expect(page.get_by_role("heading", level=1)).to_have_text(box)
        expect(page.get_by_text(found["box"]["answer"])).to_be_visible()
        expect(page.get_by_text(found["box"]["evidence"])).to_be_visible()
        rows = page.get_by_role("region", name="Shares").locator("tbody tr")
        expect(rows).to_have_count(len(SHARES))
        counts = found["box"]["counts"]
        same, others = (
            rate(counts["failed"], counts["results"]),
            rate(counts["othersFailed"], counts["othersResults"]),
        )
        said = page.get_by_text("First attempts that failed, of the same tests").inner_text()
        assert bare(said).endswith(f":{same}here,{others}ontheothers.")
        assert [[bare(one) for one in cells(row)[1:]] for row in rows.all()] == [
            [written(found["shares"][one]), written(found["others"][one])] for one in SHARES
        ]
        hours = int(found["boardSeconds"] / 3600 + 0.5)
        expect(page.get_by_text(f"{hours:,} board hour")).to_be_visible()
        last_run = page.get_by_text("Last run: ").locator("time").first
        expect(last_run).to_have_attribute("datetime", found["box"]["lastRunAt"])
        alone = page.get_by_role("region", name="Failed here alone", exact=True)
        shown = [cells(row) for row in alone.locator("tbody tr").all()]
        assert [[row[0], *row[2:]] for row in shown] == [
            [one["testId"], f"{one['commits']:,}", f"{one['of']:,}"] for one in found["alone"]
        ]


def test_a_box_that_is_compared_with_none_has_the_shares_of_all_runs_alone(reader: Reader) -> None:
    query = {"days": 90, "asOf": reader.now().isoformat(), "boxKey": BOXES[-1]}
    assert reader.ask("ci-analysis/box", **query)["box"]["counts"]["results"] == 0
    reader.open(**query)

    rows = reader.page.get_by_role("region", name="Shares").locator("tbody tr")
    expect(rows).to_have_count(len(SHARES))
    expect(reader.page.get_by_text("First attempts that failed, of the same")).to_have_count(0)


def test_the_comparison_stands_first_then_the_days_and_the_shares_of_all_runs_apart(
    reader: Reader,
) -> None:
    reader.open(days=90, asOf=reader.now().isoformat(), boxKey=BOXES[1])

    sections = reader.page.locator("main section")
    expect(sections.filter(has_text="All runs, whatever they tested")).to_contain_text(
        "Attempts that failed"
    )
    titles = [title.inner_text() for title in sections.get_by_role("heading", level=2).all()]
    assert titles[:2] == ["Against the other boxes", "Day by day"]
    assert titles.index("All runs, whatever they tested") > 1


def part_of(part: int, total: int) -> str:
    return f"{percent(Decimal(100 * part) / total)} ({part:,} of {total:,})" if total else "none"


def test_the_days_are_those_of_the_api_as_strips_on_one_axis_and_as_a_table(
    reader: Reader,
) -> None:
    page, box = reader.page, BOXES[1]
    query = {"days": 90, "asOf": reader.now().isoformat(), "boxKey": box}
    zone = page.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone")
    found = reader.ask("ci-analysis/box", **query, zone=zone)
    by_day = {day["day"]: day for day in found["byDay"]}
    reader.open(**query)
    section = page.get_by_role("region", name="Day by day")
    expect(section.locator(".strip")).to_have_count(5)

    runs = each_day(section.get_by_role("link", name=re.compile("^Runs")), ".day-words")
    assert len(runs) == len(found["days"]) == 91
    for number, day in enumerate(runs):
        told = by_day.get(number)
        said = "silent, no run" if told is None else f"{told['runs']} run"
        assert f": {said}" in day.text
        assert f": {said}" in day.name
    unreached = section.get_by_role("link", name=re.compile("^Never reached the hardware"))
    for number, day in enumerate(each_day(unreached, ".day-words")):
        if told := by_day.get(number):
            assert part_of(told["neverReached"], told["runs"]) in day.name
            assert "helloOk=false" in day.href

    section.get_by_role("button", name="Figures of each day").click()
    rows = section.locator("tbody tr")
    expect(rows).to_have_count(len(by_day))
    assert [cells(row)[1:6] for row in rows.all()] == [
        [
            f"{day['runs']:,}",
            part_of(day["neverReached"], day["runs"]),
            part_of(day["lostBoard"], day["runs"] - day["neverReached"]),
            part_of(day["counts"]["failed"], day["counts"]["results"]),
            part_of(day["counts"]["othersFailed"], day["counts"]["othersResults"]),
        ]
        for day in reversed(found["byDay"])
    ]


def test_a_share_of_one_percent_is_seen_on_a_strip(page: Page, tmp_path: Path) -> None:
    with site(page, tmp_path) as made:
        tests = [
            {"id": f"t{at}", "outcome": "pass", "attempts": 1, "duration_s": 1} for at in range(100)
        ]
        for number, box in enumerate(("bench-1", "bench-2")):
            failed = [{**tests[0], "outcome": "fail"}, *tests[1:]] if box == "bench-1" else tests
            made.benches.report(run_id=number, sha="a" * 40, box_key=box, tests=failed)
        made.open("box?boxKey=bench-1")

        strip = page.locator(".strip.share").last
        whole, bar = strip.bounding_box(), strip.locator(".failed").bounding_box()
        assert whole is not None
        assert bar is not None
        assert bar["height"] >= whole["height"] / 2
        expect(page.get_by_text("Failed first attempts 0 to 1 %")).to_be_visible()


def test_a_note_is_written_on_the_page_flags_its_day_and_is_removed(
    page: Page, tmp_path: Path
) -> None:
    with site(page, tmp_path) as made:
        made.benches.report(box_key="bench-1")
        made.open("box?boxKey=bench-1")
        notes = page.get_by_role("region", name="Notes").first
        flags = page.get_by_role("link", name=re.compile("^Notes, "))
        expect(flags).to_have_accessible_name(re.compile("^Notes, 0 notes"))

        notes.get_by_role("button", name="Note bench-1").click()
        page.keyboard.type("new cable")
        page.keyboard.press("Enter")

        expect(flags).to_have_accessible_name(re.compile("^Notes, 1 note; .*: new cable"))
        expect(page.locator(".strip .pennant")).to_have_count(1)
        expect(page.locator(".strip path.flag")).to_have_count(5)
        expect(page.get_by_text("before the note of")).to_be_visible()
        expect(notes.get_by_role("button", name="Note bench-1")).to_be_focused()
        flags.click()
        expect(page).to_have_url(re.compile("#notes$"))
        expect(notes.locator("tbody tr")).to_contain_text("new cable")

        notes.get_by_role("button", name="Remove the note of bench-1").click()
        expect(page.locator(".strip .pennant")).to_have_count(0)


def test_a_test_leads_to_its_boxes_and_a_box_to_its_tests_and_runs(reader: Reader) -> None:
    page, box = reader.page, BOXES[0]
    page.goto(f"{reader.home}/boxes")
    page.get_by_role("region", name="Boxes", exact=True).get_by_role("link", name=box).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(box)
    expect(page).to_have_title(f"{box} · hwci")

    page.get_by_role("region", name="Failed here alone", exact=True).get_by_role(
        "link"
    ).first.click()
    expect(page).to_have_url(re.compile("/test\\?"))
    page.get_by_role("region", name="Boxes").get_by_role("link", name=box, exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(box)
    runs = page.get_by_role("region", name="Runs of the box")
    expect(runs.locator("tbody tr")).to_have_count(5)
    page.get_by_role("button", name=re.compile("Show all .*: Runs of the box")).click()
    expect(runs.locator("tbody tr")).to_have_count(20)
    found = reader.ask("runs", boxKey=box)["items"]
    numbers = [f"run {one['runId']}" for one in found]
    links = runs.locator("tbody").get_by_role("link", name=re.compile("^run "))
    assert [link.inner_text().partition(",")[0] for link in links.all()] == numbers


def test_what_is_not_there_says_so_and_leads_on(reader: Reader, quiet_console: list[str]) -> None:
    page, box = reader.page, BOXES[0]
    for asked, said in (
        ({"boxKey": "bench-"}, "did you mean bench-"),
        ({"boxKey": "x" * 1000}, "should have at most 255 characters"),
        ({"boxKey": box, "repoKey": "acme/none"}, "names the repository 'acme/none'"),
        ({"boxKey": box, "days": "x" * 1000}, "should be a whole number"),
    ):
        reader.open(**asked)
        expect(page.get_by_role("alert").first).to_contain_text(said)
        expect(page.get_by_role("link", name="All boxes")).to_be_visible()
    page.get_by_role("link", name="Show the page without this value").click()
    expect(page.get_by_role("region", name="Shares")).to_be_visible()

    reader.open()
    expect(page.get_by_role("heading", level=1)).to_have_text("No box is named")
    reader.open(boxKey=box, asOf="2001-01-01T00:00:00Z")
    expect(page.get_by_text("Look back 90 days, or see all boxes.")).to_be_visible()
    expect(page.get_by_role("link", name="all boxes")).to_have_attribute(
        "href", re.compile("/boxes\\?asOf=2001")
    )
    reader.open(boxKey=box, repoKey=PRODUCT["repoKey"], suite="gateway-fw")
    expect(page.get_by_text("No run of gateway-fw in this period")).to_contain_text(
        "Look back 90 days, choose another product, or see all boxes."
    )
    expect(page.get_by_text("No run of gateway-fw was reported on this box.")).to_be_visible()
    quiet_console.clear()  # the browser itself tells of each refusal


def test_the_boards_of_a_box_stand_there_each_with_its_sentence(page: Page, tmp_path: Path) -> None:
    with site(page, tmp_path) as made:
        for number in range(24):
            board, commit = number % 2 + 1, number // 2
            tests = [
                {
                    "id": f"t{at}",
                    "outcome": "fail" if board == 1 and at % 2 else "pass",
                    "attempts": 1,
                    "duration_s": 1,
                    "board": f"A{board}",
                }
                for at in range(8)
            ]
            made.benches.report(run_id=number, sha=f"{commit + 10:040}", tests=tests)
        made.open("box?boxKey=bench-1")

        rows = page.get_by_role("region", name="Boards", exact=True).locator("tbody tr")
        expect(rows).to_have_count(2)
        first, last = (cells(row) for row in rows.all())
        assert first[0] == "A1"
        assert first[1].startswith("worse fails where A2 never does")
        assert first[2].startswith("0.0 % (0 of 12)")
        assert last[0] == "A2"


def test_where_no_report_arrived_the_page_says_how_to_begin(
    page: Page, tmp_path: Path, quiet_console: list[str]
) -> None:
    with site(page, tmp_path) as made:
        made.open("test?repoKey=acme/firmware&suite=hardware&testId=boot")
        expect(page.get_by_role("link", name="How to begin")).to_be_visible()
        quiet_console.clear()  # the browser names the answer 404
        made.open("box?boxKey=bench-1")

        notes = page.get_by_role("region", name="Notes")
        expect(notes.get_by_role("button", name="Note bench-1")).to_be_visible()
        expect(notes).to_contain_text("from then on it is compared as a new one")
        page.get_by_role("link", name="How to begin").click()

        expect(page.get_by_text("No report has arrived yet")).to_be_visible()
