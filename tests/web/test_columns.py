# SPDX-License-Identifier: Apache-2.0
"""Which columns a table shows is the reader's choice, kept in this browser; and a table without
pages is saved as a file like any other.
"""

import re
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.soak import rounds
from tests.web.conftest import Dashboard
from tests.web.live import site
from tests.web.reading import FORMULAS, opened, saved

ALL = ["Status", "Run", "Product", "Box", "Branch", "Commit", "Started", "Duration"]
COUNTS = ["Passed", "Failed", "Retried"]
KEPT_SO = ["{", "null", "7", '{"runs": "status"}', '{"runs": [1, null]}']
KEPT = "localStorage.getItem('hwci-columns')"


def headings(page: Page) -> list[str]:
    return page.get_by_role("columnheader").all_inner_texts()


def menu(page: Page, words: str = "Columns") -> Locator:
    return page.get_by_role("button", name=f"{words} of Runs", exact=True)


def test_a_column_goes_stays_away_in_this_browser_and_all_come_back_in_one_click(
    page: Page, demo: Dashboard
) -> None:
    org = opened(page, demo, "runs")
    assert headings(page) == [*ALL, *COUNTS]

    menu(page).click()
    page.get_by_role("checkbox", name="Branch").uncheck()
    page.get_by_role("checkbox", name="Retried").uncheck()

    expect(page.get_by_role("columnheader", name="Retried")).to_have_count(0)
    assert headings(page) == [one for one in [*ALL, *COUNTS] if one not in ("Branch", "Retried")]
    page.reload()
    expect(menu(page, "Columns (2 hidden)")).to_be_visible()
    assert "Branch" not in headings(page)
    # Other tables keep theirs.
    page.goto(f"{demo.url}/orgs/{org}/failures?days=90&label=pending")
    expect(page.get_by_role("button", name="Columns of Failures", exact=True)).to_be_visible()
    page.goto(f"{demo.url}/orgs/{org}/runs")
    menu(page, "Columns (2 hidden)").click()
    page.get_by_role("button", name="Show all").click()
    expect(page.get_by_role("columnheader", name="Retried")).to_be_visible()
    assert headings(page) == [*ALL, *COUNTS]


def test_columns_are_chosen_by_keys_alone_and_the_menu_says_what_it_is(
    page: Page, demo: Dashboard
) -> None:
    opened(page, demo, "runs")
    button = menu(page)
    button.focus()
    page.keyboard.press("Enter")
    expect(button).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Tab")
    first = page.get_by_role("checkbox", name="Status")
    expect(first).to_be_focused()
    page.keyboard.press("Space")
    expect(first).not_to_be_checked()
    expect(first).to_be_focused()
    expect(page.get_by_role("columnheader", name="Status")).to_have_count(0)

    page.keyboard.press("Escape")

    expect(menu(page, "Columns (1 hidden)")).to_be_focused()
    expect(first).to_have_count(0)


def test_a_column_by_which_a_row_is_known_cannot_go(page: Page, demo: Dashboard) -> None:
    opened(page, demo, "runs")
    menu(page).click()
    offered = page.get_by_role("checkbox")
    expect(offered).to_have_count(len([*ALL, *COUNTS]) - 2)
    labels = [one.strip() for one in page.locator(".table-foot .choices label").all_inner_texts()]
    assert {"Run", "Box"}.isdisjoint(labels)
    # Nor by what somebody wrote in its place.
    page.evaluate("""localStorage.setItem('hwci-columns', '{"runs": ["run", "box", "sha"]}')""")
    page.reload()
    expect(menu(page, "Columns (1 hidden)")).to_be_visible()
    assert headings(page) == [one for one in [*ALL, *COUNTS] if one != "Commit"]


@pytest.mark.parametrize("kept", rounds(KEPT_SO[:4:3], KEPT_SO))
def test_an_invalid_choice_shows_all_columns(page: Page, demo: Dashboard, kept: str) -> None:
    opened(page, demo, "runs")
    page.evaluate("kept => localStorage.setItem('hwci-columns', kept)", kept)
    page.reload()
    expect(page.locator("tbody tr").first).to_be_visible()
    assert headings(page) == [*ALL, *COUNTS]


@pytest.mark.own_tab
def test_a_browser_that_keeps_nothing_hides_a_column_until_the_page_is_left(
    page: Page, demo: Dashboard
) -> None:
    page.add_init_script("Storage.prototype.setItem = () => { throw new Error('full'); };")
    opened(page, demo, "runs")
    menu(page).click()
    page.get_by_role("checkbox", name="Branch").uncheck()
    expect(page.get_by_role("columnheader", name="Branch")).to_have_count(0)
    assert page.evaluate(KEPT) is None


def test_a_table_without_pages_is_a_file_too(page: Page, demo: Dashboard) -> None:
    query = {"days": 30, "asOf": demo.now().isoformat()}
    org = opened(page, demo, f"metrics?daily=open&{urlencode(query)}")
    zone = page.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone")
    asked = f"/api/orgs/{org}/ci-analysis/days?{urlencode({**query, 'zone': zone})}"
    told = demo.ask(asked, demo.token())["days"]
    days = page.get_by_role("region", name="Day by day")
    expect(days.locator("tbody tr")).to_have_count(len(told))

    name, (header, *lines) = saved(page, "Day by day")

    assert name == "hwci-days.csv"
    fields = ("firstDay", "runs", "mergesChecked")
    assert [[line[header.index(field)] for field in fields] for line in reversed(lines)] == [
        [str(day[field]) for field in fields] for day in told
    ]


# Where, a table, the columns that stay when all others are hidden, and the fields of its file then:
# those of these columns, and what a row is known by.
WITHOUT = (
    (
        "runs?helloOk=false",
        "Runs",
        ["Run", "Box"],
        "id workflow runId runAttempt boxKey conclusion helloOk ciRun ciUrl result tests",
    ),
    (
        "failures?days=90&label=pending",
        "Failures",
        ["Test and box", "Product"],
        "id repoKey suite testId boxKey branch groupId",
    ),
    (
        "metrics?days=90",
        "Real FW bugs caught",
        ["Test and box", "Product"],
        "class reason reasonText id repoKey suite testId boxKey branch automatic label",
    ),
    (
        "metrics?days=90",
        "Flakiest tests",
        ["Test", "Product"],
        "repoKey suite testId flakyFailures",
    ),
    ("metrics?days=90&daily=open", "Day by day", ["Day"], "firstDay lastDay whole from to"),
    (
        "boxes",
        "Boxes compared",
        ["Box"],
        "counts commits comparison missing lastRunAt boxKey note before idle lastSeenAt",
    ),
    ("audit-log", "Audit log", ["When", "What"], "id at action details"),
)


OWN_ORDERS = {"runs": "Started", "boxes": "Added", "audit-log": "When", "failures": "First failed"}


@pytest.mark.parametrize(("path", "label", "stay", "fields"), WITHOUT, ids=str)
def test_a_file_has_not_what_hidden_columns_would_tell(
    page: Page, demo: Dashboard, path: str, label: str, stay: list[str], fields: str
) -> None:
    opened(page, demo, path)
    if sorted_by := OWN_ORDERS.get(path.partition("?")[0]):
        heading = page.get_by_role("columnheader", name=sorted_by, exact=True)
        expect(heading).to_have_attribute("aria-sort", "descending")
    table = page.get_by_role("region", name=label, exact=True).last
    whole = saved(page, label)[1][0]
    page.get_by_role("button", name=f"Columns of {label}", exact=True).click()
    choices = page.locator(".choices").get_by_role("checkbox")
    expect(choices.first).to_be_visible()
    for choice in choices.all():
        choice.uncheck()
    expect(table.get_by_role("columnheader")).to_have_text(stay)

    _, (header, *lines) = saved(page, label)

    expect(choices).to_have_count(0)  # folded, as the focus went elsewhere
    assert lines
    assert sorted({one.partition(".")[0] for one in header}) == sorted(fields.split())
    assert set(header) < set(whole)
    page.get_by_role("button", name=re.compile(rf"hidden\) of {label}")).click()
    page.get_by_role("button", name="Show all", exact=True).click()
    expect(table.get_by_role("columnheader")).not_to_have_count(len(stay))
    assert saved(page, label)[1][0] == whole


def test_no_cell_of_such_a_file_is_a_formula(page: Page, tmp_path: Path) -> None:
    with site(page, tmp_path) as own:
        passed = {"outcome": "pass", "attempts": 1, "duration_s": 1.0}
        assert own.benches.report(tests=[{"id": one, **passed} for one in FORMULAS]).status == 204
        own.open(f"runs/{own.ask('runs')['items'][0]['id']}")
        expect(page.locator("#tests tbody tr")).to_have_count(len(FORMULAS))

        _, (header, *lines) = saved(page, "Tests")

    found = [line[header.index("id")] for line in lines]
    assert len(found) == len(FORMULAS)
    assert "'=1+1" in found
    assert [cell for cell in found if re.search(r"""(^|;)[\s"]*[=+\-@\uff1d]""", cell)] == []
