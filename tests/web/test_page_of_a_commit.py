# SPDX-License-Identifier: Apache-2.0
"""The page of one commit: what it says is the API's, each hash leads to it, and so does Find."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from hwci.contract.runs.one_commit import NOT_CHECKED, WHOSE
from hwci.contract.vocabulary import Whose
from tests.web.conftest import Dashboard
from tests.web.live import cells
from tests.web.reading import Reader

DAYS = 90


@pytest.fixture
def reader(page: Page, demo: Dashboard) -> Reader:
    return Reader(page, demo, "commit")


@pytest.fixture
def bug(reader: Reader) -> Any:
    """A bug of which one commit is known to have broken the test."""
    rows = reader.ask("ci-metrics/real-bugs", days=DAYS, limit=100)["items"]
    return next(row for row in rows if len(row["brokenBy"]["commits"]) == 1)


def open_commit(reader: Reader, repo_key: str, sha: str) -> Any:
    """Open the page of a commit; return what the API tells of it."""
    about = {"repoKey": repo_key, "sha": sha, "days": DAYS}
    reader.open(**about)
    expect(reader.page.get_by_role("heading", level=1)).to_contain_text(sha[:12])
    return reader.ask("ci-analysis/commit", **about, asOf=reader.now().isoformat())


def rows_of(page: Page, label: str) -> list[list[str]]:
    table = page.get_by_role("region", name=label, exact=True)
    expect(table.locator("tbody tr").first).to_be_visible()
    return [cells(row) for row in table.locator("tbody tr").all()]


def test_what_failed_on_it_and_where_it_ran_is_as_the_api_has_it(reader: Reader, bug: Any) -> None:
    page, repo, sha = reader.page, bug["repoKey"], bug["brokenBy"]["to"]
    commit = open_commit(reader, repo, sha)

    expect(page.get_by_text("ran on hardware")).to_be_visible()
    expect(page.locator(".verdict-line")).to_contain_text(commit["subject"])
    failed = rows_of(page, "Tests that failed on it")
    assert [row[0].split()[0] for row in failed] == [row["testId"] for row in commit["failures"]]
    for row, told in zip(failed, commit["failures"], strict=True):
        assert row[1].startswith(WHOSE[Whose(told["whose"])])
        assert row[2] == ", ".join(told["failedOn"])
        assert row[3] == (", ".join(told["passedOn"]) or "none")
        for words in (told["says"], told["evidence"], told["toSettle"] or ""):
            assert words in row[4]
    runs = rows_of(page, "Runs of the commit")
    assert [(row[1], row[5], row[6]) for row in runs] == [
        (run["boxKey"], str(run["tests"]), str(run["failed"])) for run in commit["runs"]
    ]
    merges = reader.ask("ci-analysis/merges", repoKey=repo, sha=sha, days=DAYS)["items"]
    expect(page.locator("#merged li")).to_have_count(len(merges))
    page.get_by_role("region", name="Tests that failed on it").get_by_role("link").first.click()
    expect(page).to_have_url(re.compile(f"/failures/{commit['failures'][0]['failureId']}"))


def test_what_a_commit_broke_and_what_fixed_it_is_told_by_both(reader: Reader, bug: Any) -> None:
    for sha, word in ((bug["brokenBy"]["to"], "broke"), (bug["fix"]["sha"], "fixed")):
        open_commit(reader, bug["repoKey"], sha)
        rows = rows_of(reader.page, "Failures that it broke or fixed")

        own = [row for row in rows if bug["testId"] in row[1] and bug["boxKey"] in row[1]]
        assert [row[0] for row in own] == [word]


def test_a_merge_that_never_ran_says_why_and_what_would_check_it(
    reader: Reader, quiet_console: list[str]
) -> None:
    merges = reader.ask("ci-analysis/unchecked-merges", days=DAYS, limit=100)["items"]
    merge = next(row for row in merges if row["run"] is None)
    page = reader.page
    reader.open(repoKey=merge["repoKey"], sha=merge["sha"], days=DAYS)

    merged = page.locator("#merged")
    expect(merged).to_contain_text("not checked")
    expect(merged).to_contain_text(merge["causeText"])
    expect(merged.get_by_text(f"git checkout --detach {merge['sha']}")).to_be_visible()
    expect(page.get_by_text("No run of the last 90 days")).to_be_visible()
    quiet_console.clear()  # the browser names the answer 404


def test_a_run_that_never_reached_the_hardware_checks_no_commit(reader: Reader) -> None:
    merges = reader.ask("ci-analysis/unchecked-merges", days=DAYS, limit=100)["items"]
    merge = next(row for row in merges if row["cause"] == "hardware_not_reached")
    open_commit(reader, merge["repoKey"], merge["sha"])

    expect(reader.page.locator(".verdict-line")).to_contain_text("not checked")
    expect(reader.page.locator(".verdict-line")).to_contain_text(NOT_CHECKED)
    assert {row[5] for row in rows_of(reader.page, "Runs of the commit")} == {
        "never reached the hardware"
    }


def test_each_hash_and_find_lead_to_it_in_the_period_of_the_page(reader: Reader, bug: Any) -> None:
    page, sha = reader.page, bug["brokenBy"]["to"]
    page.goto(f"{reader.home}/metrics?days={DAYS}")
    page.locator("#bugs").get_by_role("link", name=sha[:12]).first.click()
    expect(page).to_have_url(re.compile(rf"/commit\?.*days={DAYS}.*sha={sha}"))
    expect(page).to_have_title(f"{sha[:12]} · hwci")

    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill(bug["fix"]["sha"][:10])
    page.get_by_role("option", name=bug["fix"]["sha"][:12]).first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(bug["fix"]["sha"][:12])


def test_an_address_without_a_commit_and_one_that_nobody_knows_lead_on(
    reader: Reader, quiet_console: list[str]
) -> None:
    page = reader.page
    reader.open(repoKey="acme/sensor-node")
    expect(page.get_by_role("heading", level=1)).to_have_text("No commit is named")

    reader.open(repoKey="acme/sensor-node", sha="f" * 40, days=DAYS)
    expect(page.get_by_role("link", name="Look back 365 days")).to_be_visible()
    quiet_console.clear()  # the browser names the answer 404
