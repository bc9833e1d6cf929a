# SPDX-License-Identifier: Apache-2.0
"""The four tables of the metrics page, as they open for somebody who never saw it, are those of
the specification: each by its name, its columns, its rows and how many these are. Every row of the
database is reported here; the words of the specification are read from its text.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.support.asking import ask, ci_key
from tests.support.running import MEMBER_EMAIL, NAME
from tests.web.live import Site, site
from tests.web.reading import TABLES, part, rows, saved
from tests.web.written import CELLS, WRITTEN, bare

SPECIFICATION = Path(__file__).parents[2] / "docs" / "specification.md"
FIRST_ROWS = 5


class Table(NamedTuple):
    """A table as the specification has it: its name, the words of its contents by the column that
    shows them, and how many rows the reports below make.
    """

    name: str
    columns: dict[str, str]
    total: int


OF_FLAKY = ("Run reports", "Attempts", "Failed attempts", "Passes on a retry", "Flake rate")
EXPECTED = {
    "merges": Table(
        "Merges not checked on hardware",
        {
            "Commit": "Announced merges no run checked",
            "Product": "in All products also the product",
        },
        total=6,
    ),
    "bugs": Table(
        "Real FW bugs caught",
        {
            "First failure": "First failure of each real bug",
            "Broken by": "the commit that broke the test (a range of commits if several qualify)",
            "Fixed by": "the fixing commit",
            "Harness verdict": "the harness verdict",
        },
        total=7,
    ),
    "other": Table(
        "Resolved by a bench or harness change",
        {
            "Test and box": "Other resolved failures",
            "Reason": "with reason",
            "Status": "a Status column",
            "Review": "rows carry Confirm, Dismiss, Reset",
        },
        total=7,
    ),
    "flaky": Table(
        "Flakiest tests",
        {
            "Test": "Per test",
            "Boxes": "number of boxes",
            **{title: title.lower() for title in OF_FLAKY},
        },
        total=16,
    ),
}
BUGS = [f"bug_{number}" for number in range(7)]
BENCH = [f"bench_{number}" for number in range(5)]
DOUBT = ["doubt_0", "doubt_1"]


def item(name: str, outcome: str, verdict: str | None = None, attempts: int = 1) -> dict[str, Any]:
    told = {} if verdict is None else {"verdict": verdict}
    return {"id": name, "outcome": outcome, "attempts": attempts, "duration_s": 1.0, **told}


def changes(base: str, *commits: str) -> dict[str, Any]:
    made = [{"sha": sha, "subject": f"Change {sha[:3]}", "files": ["src/a.c"]} for sha in commits]
    return {"base_sha": base, "commits": made}


def announce(own: Site, sha: str, **product: str) -> None:
    server, merged_at = own.benches.server, own.benches.times()["started_at"]
    body = {"repo_key": "acme/firmware", "branch": "main", "merged_at": merged_at, "sha": sha}
    key = ci_key(server.ci_key)
    path = "/api/ci/merge-announce"
    assert ask(server.url, "POST", path, key, json_body={**body, **product}).status == 204


def review(own: Site, test: str, action: str) -> None:
    (failure,) = own.ask(f"ci-failures?search={test}")["items"]
    body = {"reviews": [{"failureId": failure["id"], "seenReviewAt": None, "action": action}]}
    made = own.benches.member("POST", "ci-reviews", body)
    assert made.status == 200, made.body


def fill(own: Site) -> None:
    """Report seven bugs on one box, of which one is dismissed, five problems of the bench, two
    failures that nothing decides, of which one is confirmed, and two flaky tests.
    """
    before, broken, other, fixed = ("0" * 40, "a" * 40, "b" * 40, "c" * 40)
    own.benches.configure(harness_paths=["ci/**"])
    announce(own, broken, suite="hardware")
    for number in range(1, 4):
        announce(own, f"{number:040x}", suite="hardware")
    announce(own, "d" * 40, suite="hardware")
    announce(own, "d" * 40, suite="gateway")
    announce(own, "e" * 40)
    failed = [
        *(item(name, "fail", "device") for name in BUGS),
        *(item(name, "fail", "infra") for name in BENCH),
        *(item(name, "fail") for name in DOUBT),
        item("retried", "pass", attempts=3),
        item("again", "fail", "device"),
    ]
    passed = [item(name, "pass") for name in (*BUGS, *BENCH, *DOUBT, "retried", "again")]
    own.benches.report(
        run_id=1, sha=broken, tests=failed, changes=changes(before, other, broken), covers_shas=[]
    )
    own.benches.hands.move(minutes=1)
    own.benches.report(run_id=2, sha=broken, tests=[item("again", "pass")], covers_shas=[])
    own.benches.report(run_id=3, sha=broken, hello_ok=False, tests=[], covers_shas=[])
    own.benches.hands.move(minutes=1)
    own.benches.report(
        run_id=4, sha=fixed, tests=passed, changes=changes(broken, fixed), covers_shas=[]
    )
    review(own, BUGS[0], "dismiss")
    review(own, DOUBT[0], "confirm")


@pytest.fixture
def own(page: Page, tmp_path: Path) -> Iterator[Site]:
    with site(page, tmp_path) as made:
        fill(made)
        made.sign_in()
        yield made


def contents(table: str) -> str:
    """Return what the specification says of a table of the page."""
    text = SPECIFICATION.read_text(encoding="utf-8").partition("| Table | Contents |")[2]
    told: list[tuple[str, str]] = re.findall(
        r"^\| ([^|]+) \| ([^|]+) \|$", text.partition("\n\n")[0], re.MULTILINE
    )
    return dict(told)[EXPECTED[table].name]


def headings(page: Page, table: str) -> list[str]:
    return [one.strip() for one in part(page, table).locator("thead th").all_inner_texts()]


@pytest.mark.parametrize("table", EXPECTED)
def test_the_columns_are_what_the_specification_says(table: str) -> None:
    for words in EXPECTED[table].columns.values():
        assert words in contents(table)


def test_each_table_opens_with_the_specifications_columns_rows_and_count(own: Site) -> None:
    page, sent = own.page, list[str]()
    page.on("request", lambda request: sent.append(urlsplit(request.url).path))
    own.open("metrics")
    fold = part(page, "other").get_by_role("button", expanded=False).first
    expect(fold).to_contain_text(EXPECTED["other"].name)  # collapsed until its title is clicked
    expect(rows(page, "other")).to_have_count(0)
    fold.click()

    for table, (name, columns, total) in EXPECTED.items():
        of_api = own.ask(f"ci-metrics/{TABLES[table]}?limit=100")
        expect(rows(page, table)).to_have_count(FIRST_ROWS)
        expect(part(page, table).locator("h2")).to_contain_text(name)
        titles = headings(page, table)
        assert [title for title in titles if title in columns] == list(columns)
        assert (table, of_api["total"]) == (table, total)
        if table == "merges":
            shown = part(page, table).get_by_role("radio", name=f"Not checked ({total})")
            expect(shown).to_be_checked()
        else:
            expect(part(page, table).locator(".total")).to_have_text(str(total))
        written = [bare(WRITTEN[table](row, True)) for row in of_api["items"]]
        there = part(page, table).locator("table")
        assert there.evaluate(CELLS) == written[:FIRST_ROWS]
        part(page, table).get_by_role("button", name=f"Show all {total}").click()
        expect(rows(page, table)).to_have_count(total)
        assert there.evaluate(CELLS) == written
        _, lines = saved(page, "Merges, not checked" if table == "merges" else name)
        assert len(lines) == 1 + total

    assert not [path for path in sent if path.endswith("/ci-analysis/causes")]


def test_each_failure_has_its_status_and_what_its_state_lets_a_reviewer_do(own: Site) -> None:
    page = own.page
    own.open("metrics?other=open&other.rows=all&bugs.rows=all")
    for table, test, status, actions in (
        ("bugs", BUGS[1], "Automatic", ["Dismiss"]),
        ("bugs", DOUBT[0], NAME, ["Dismiss", "Reset"]),
        ("other", BUGS[0], NAME, ["Confirm as firmware bug", "Reset"]),
        ("other", BENCH[0], "Automatic", ["Confirm as firmware bug"]),
        ("other", DOUBT[1], "Automatic", ["Confirm as firmware bug", "Dismiss"]),
    ):
        row = rows(page, table).filter(has=page.get_by_role("link", name=test, exact=True))
        expect(row.locator("[data-title=Status]")).to_have_text(status)
        expect(row.locator("[data-title=Review] button")).to_have_text(actions)


def test_a_member_sees_the_same_rows_without_the_buttons_of_reviewers(own: Site) -> None:
    page = own.page
    own.sign_in(MEMBER_EMAIL)
    own.open("metrics?other=open")
    for table in ("bugs", "other"):
        expect(rows(page, table)).to_have_count(FIRST_ROWS)
        assert headings(page, table)[-1] == "Status"
        expect(rows(page, table).get_by_role("button", name="Confirm")).to_have_count(0)
