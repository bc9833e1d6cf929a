# SPDX-License-Identifier: Apache-2.0
"""Rows that lie in runs that lost their board: the tile and the tables say so, a click shows them
alone, and they are reviewed together.
"""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.support.lost_board import BUG, LOST_AT, OTHERS, REAL, lose_boards
from tests.support.running import MEMBER_EMAIL, PASSWORD, running_in_thread
from tests.web.conftest import Account, Dashboard
from tests.web.reading import Reader, part, rows, saved

MARK = "board lost"
TOGETHER = "Review together"
WAY = f"{len(REAL)} of them in runs that lost the board"


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    with running_in_thread(tmp_path_factory.mktemp("lost")) as server:
        lose_boards(server)
        yield Dashboard(server.url, Account(server.email, server.password))


@pytest.fixture
def reader(page: Page, dashboard: Dashboard) -> Reader:
    return Reader(page, dashboard, "metrics")


def ids_of(page: Page, table: str) -> list[str]:
    return sorted(re.findall(r"test_\d\d", row)[0] for row in rows(page, table).all_inner_texts())


def test_the_tile_leads_to_the_rows_which_are_marked_and_lie_among_the_others(
    reader: Reader,
) -> None:
    page = reader.page
    reader.open(**{"bugs.rows": "all"})
    expect(rows(page, "bugs")).to_have_count(len(REAL) + 1)
    marked = rows(page, "bugs").filter(has_text=MARK)
    expect(marked).to_have_count(len(REAL))
    expect(rows(page, "bugs").filter(has_text=BUG)).not_to_contain_text(MARK)

    page.get_by_role("region", name="Tiles").get_by_role("link", name=WAY).click()

    expect(rows(page, "bugs")).to_have_count(len(REAL))
    assert ids_of(page, "bugs") == REAL
    expect(page).to_have_url(re.compile(r"bugs\.lost=only"))
    _, found = saved(page, "Real FW bugs caught")
    assert len(found) == 1 + len(REAL)
    page.reload()
    expect(rows(page, "bugs")).to_have_count(len(REAL))
    part(page, "bugs").get_by_role("radio", name=re.compile("^By cause")).check()
    expect(rows(page, "bugs")).to_have_count(1)
    expect(rows(page, "bugs")).to_contain_text(MARK)
    part(page, "bugs").get_by_role("button", name="Show all: Real FW bugs caught").click()
    expect(rows(page, "bugs").filter(has_text=BUG)).to_be_visible()


def test_they_are_reviewed_together_and_what_was_done_is_undone(reader: Reader) -> None:
    page = reader.page
    reader.open()
    way = part(page, "bugs").get_by_role("button", name="Show them alone: Real FW bugs caught")
    way.click()
    together = part(page, "bugs").get_by_role("region", name=TOGETHER)
    together.get_by_label("Note").fill("the supply dropped")
    together.get_by_role("button", name=f"Dismiss {len(REAL)}").click()

    said = f"{len(REAL)} failures dismissed with the note “the supply dropped”"
    expect(page.get_by_text(said)).to_be_visible()
    expect(part(page, "bugs")).to_contain_text("No failure here lies in a run that lost the board")
    tile = page.get_by_role("region", name="Tiles")
    expect(tile).to_contain_text(f"{len(REAL)} dismissed")
    expect(tile).not_to_contain_text("that lost the board")

    page.get_by_role("button", name="Undo").click()

    expect(rows(page, "bugs")).to_have_count(len(REAL))
    expect(tile).to_contain_text(WAY)


def test_the_other_table_has_its_own_and_resets_them(reader: Reader) -> None:
    page = reader.page
    reader.open(other="open")
    way = part(page, "other").get_by_role("button", name=re.compile("^Show them alone"))
    expect(part(page, "other")).to_contain_text(
        f"{len(OTHERS)} of them in runs that lost the board"
    )
    way.click()
    expect(rows(page, "other")).to_have_count(len(OTHERS))
    together = part(page, "other").get_by_role("region", name=TOGETHER)
    together.get_by_role("button", name=f"Confirm {len(OTHERS)} as firmware bugs").click()
    expect(part(page, "other")).to_contain_text("No failure here lies in a run that lost the board")
    reader.open(**{"bugs.lost": "only"})
    expect(page.get_by_role("region", name="Tiles")).to_contain_text(
        f"{len(REAL) + len(OTHERS)} of them in runs that lost the board"
    )

    bugs = part(page, "bugs").get_by_role("region", name=TOGETHER)
    bugs.get_by_role("button", name=f"Reset {len(OTHERS)}").click()

    expect(page.get_by_role("region", name="Tiles")).to_contain_text(WAY)


def test_the_page_of_a_failure_says_where_the_board_was_lost(reader: Reader) -> None:
    page = reader.page
    for test, said in (
        (
            REAL[-1],
            f"In this run the board was lost at {LOST_AT}; what failed after it says little.",
        ),
        (BUG, "no sign that it was lost"),
    ):
        [failure] = reader.ask("ci-failures", testId=test, sha=_sha(test))["items"]
        page.goto(f"{reader.home}/failures/{failure['id']}")
        fact = page.locator(".facts div").filter(has=page.get_by_text("Board", exact=True))
        expect(fact).to_contain_text(said)


def _sha(test: str) -> str:
    return ("5" if test == BUG else "3") * 12


def test_a_member_sees_the_rows_and_no_review(page: Page, dashboard: Dashboard) -> None:
    member = Account(MEMBER_EMAIL, PASSWORD)
    org = dashboard.sign_in(page.context, member)
    page.goto(f"{dashboard.url}/orgs/{org}/metrics?bugs.lost=only")
    expect(rows(page, "bugs").first).to_contain_text(MARK)
    expect(part(page, "bugs").get_by_role("region", name=TOGETHER)).to_have_count(0)
