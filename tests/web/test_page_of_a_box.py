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
from tests.web.reading import PRODUCT, Reader, between, percent

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
        region = page.get_by_role("region", name="Against the other boxes", exact=True)
        last_run = region.get_by_text("Last run: ").locator("time").first
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
    expect(reader.page.get_by_text("First attempts that failed")).to_have_count(0)


def test_the_shares_of_all_runs_stand_under_a_heading_of_their_own_below_the_comparison(
    reader: Reader,
) -> None:
    reader.open(days=90, asOf=reader.now().isoformat(), boxKey=BOXES[1])

    section = reader.page.get_by_role("region", name="Against the other boxes")
    heading = section.get_by_role("heading", level=3)
    expect(heading).to_have_text("All runs, whatever they tested")
    order = section.inner_text()
    places = [
        order.index(words)
        for words in ("of the same tests on the same commits", "All runs", "Attempts that failed")
    ]
    assert places == sorted(places)


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

        rows = page.get_by_role("list", name="Boards").get_by_role("listitem")
        expect(rows).to_have_count(2)
        expect(rows.first).to_contain_text("A1: worse fails where A2 never does")
        expect(rows.last).to_contain_text("A2: ")


def test_where_no_report_arrived_the_page_says_how_to_begin(
    page: Page, tmp_path: Path, quiet_console: list[str]
) -> None:
    with site(page, tmp_path) as made:
        made.open("test?repoKey=acme/firmware&suite=hardware&testId=boot")
        expect(page.get_by_role("link", name="How to begin")).to_be_visible()
        quiet_console.clear()  # the browser names the answer 404
        made.open("box?boxKey=bench-1")

        notes = page.get_by_role("region", name="Notes")
        expect(notes.get_by_role("link", name="Boxes")).to_be_visible()
        expect(notes).to_contain_text("from then on it is compared as a new one")
        page.get_by_role("link", name="How to begin").click()

        expect(page.get_by_text("No report has arrived yet")).to_be_visible()
