# SPDX-License-Identifier: Apache-2.0
"""The page of one run: all that was told of it, as it goes (contract, "Runs and streams")."""

import re
from collections.abc import Iterator
from itertools import chain, count, takewhile
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from hwci.cli.terminal.tables import duration
from hwci.engine.facts import run_record_id
from tests.support.running import report
from tests.support.soak import rounds
from tests.web.conftest import Dashboard
from tests.web.live import Site, cells, row, sign, site

OUTCOMES = {"pass": "passed", "fail": "failed"}
VERDICTS = {"device": "Device", "infra": "Infra", "unknown": "None reported"}
FACTS = "nodes => nodes.map(one => [one.querySelector('dt'), one.querySelector('dd')]"
FACTS += ".map(part => part.innerText.trim().replace(/\\s+/g, ' ')))"
EVENTS = 60
OUTCOMES_SHOWN = "nodes => nodes.map(one => one.cells[1].innerText.trim())"


@pytest.fixture
def own(page: Page, tmp_path: Path) -> Iterator[Site]:
    with site(page, tmp_path) as made:
        yield made


class Demo:
    """The demo, and a browser that is signed in to it."""

    def __init__(self, page: Page, dashboard: Dashboard) -> None:
        self.page, self.dashboard = page, dashboard
        self.org, self.token = dashboard.sign_in(page.context), dashboard.token()

    def ask(self, path: str) -> Any:
        return self.dashboard.ask(f"/api/orgs/{self.org}/{path}", self.token)

    def run(self, fits: Any) -> Any:
        """Return the latest run of which this is true, whole; how long ago it was is chance."""
        pages = (self.ask(f"runs?limit=100&page={number}")["items"] for number in count(1))
        runs = chain.from_iterable(takewhile(bool, pages))
        return self.ask(f"runs/{next(run for run in runs if fits(run))['id']}")

    def open(self, run: Any) -> None:
        self.page.goto(f"{self.dashboard.url}/orgs/{self.org}/runs/{run['id']}")
        expect(self.page.locator(".facts")).to_be_visible()


@pytest.fixture
def reader(page: Page, demo: Dashboard) -> Demo:
    return Demo(page, demo)


def test_a_run_is_shown_with_all_that_the_api_has_of_it(reader: Demo) -> None:
    run = reader.run(lambda one: one["tests"]["failed"] and one["tests"]["retried"] > 1)
    reader.open(run)

    facts = dict(reader.page.locator(".facts > div").evaluate_all(FACTS))
    assert facts["Product"] == f"{run['suite']} {run['repoKey']}"
    assert facts["Run id"] == f"{run['runId']} attempt {run['runAttempt']}"
    plain = {"Branch": "branch", "Box": "boxKey", "Workflow": "workflow", "Trigger": "trigger"}
    for title, field in {**plain, "Conclusion": "conclusion"}.items():
        assert facts[title] == run[field], title
    assert facts["Commit"] == run["sha"][:12]
    assert facts["Hardware"] == "reached"
    times = reader.page.locator(".facts time").evaluate_all("nodes => nodes.map(n => n.dateTime)")
    assert times == [run["startedAt"], run["endedAt"]]
    counts = f"{run['tests']['passed']} tests passed, {run['tests']['failed']} failed"
    expect(reader.page.locator(".verdict-line")).to_contain_text(counts)
    assert shown_tests(reader.page) == sorted(map(as_shown, run["items"]))


def as_shown(item: Any) -> list[str]:
    retried = item["outcome"] == "pass" and item["attempts"] > 1
    outcome = "passed on a retry" if retried else OUTCOMES[item["outcome"]]
    verdict = VERDICTS[item["verdict"]] if item["outcome"] == "fail" else ""
    said = f"{item['id']}\n{item['message']}" if item["message"] else item["id"]
    return [said, outcome, str(item["attempts"]), duration(item["durationS"]), verdict]


def shown_tests(page: Page) -> list[list[str]]:
    rows = page.locator("#tests tbody tr")
    return sorted(cells(rows.nth(place)) for place in range(rows.count()))


def test_failed_tests_stand_first_and_tests_can_be_searched(reader: Demo) -> None:
    run = reader.run(lambda one: one["tests"]["failed"] and one["tests"]["retried"])
    reader.open(run)
    shown = reader.page.locator("#tests tbody tr").evaluate_all(OUTCOMES_SHOWN)
    order = ["failed", "passed on a retry", "passed"]
    assert shown == sorted(shown, key=order.index)

    wanted = run["items"][-1]["id"]
    reader.page.get_by_label("Search tests").fill(wanted.upper())
    expect(reader.page.locator("#tests tbody tr")).to_have_count(1)
    expect(row(reader.page, wanted)).to_be_visible()
    reader.page.reload()
    expect(reader.page.locator("#tests tbody tr")).to_have_count(1)
    reader.page.get_by_label("Search tests").fill("no such test")
    expect(reader.page.get_by_text("No test matches “no such test”")).to_be_visible()


def test_a_failed_test_leads_to_its_evidence(reader: Demo) -> None:
    run = reader.run(lambda one: one["tests"]["failed"] == 1)
    test = next(item["id"] for item in run["items"] if item["outcome"] == "fail")
    reader.open(run)

    reader.page.locator("#tests").get_by_role("link", name=test).click()

    expect(reader.page).to_have_url(re.compile("/failures/"))
    expect(reader.page.get_by_role("heading", level=1)).to_contain_text(test)
    failure = reader.ask(f"ci-failures/{reader.page.url.split('/')[-1]}")["failure"]
    keys = ("boxKey", "branch", "sha", "suite", "repoKey")
    assert [failure[key] for key in keys] == [run[key] for key in keys]


BOX = "bench-1"
LONG_BOX = "bench " + "\N{GRINNING FACE}" * 200
ALIKE = {  # what a search for the run's commit and box finds too
    "box": (BOX, {"box_key": f"{BOX} of others"}),
    "long box": (LONG_BOX, {"box_key": f"{LONG_BOX} of others"}),
    "branch": (BOX, {"branch": "other"}),
    "commit": (BOX, {"sha": report()["sha"] + "b" * 24}),
}


@pytest.mark.parametrize("what", rounds(["long box", "branch"], [*ALIKE]))
def test_a_failed_test_leads_to_the_evidence_of_no_other_run(own: Site, what: str) -> None:
    box, other = ALIKE[what]
    test = {"id": "boot", "outcome": "fail", "attempts": 1, "duration_s": 1.0}
    told = {"tests": [test], "conclusion": "failure", "box_key": box}
    own.benches.report(**{**told, "run_id": 1, **other})
    own.benches.hands.move(seconds=1)
    own.benches.report(**{**told, "run_id": 2})
    own.benches.report(**{**told, "run_id": 3, **other})
    run = next(one for one in own.benches.listed() if one["runId"] == 2)
    own.open(f"runs/{run['id']}")

    link = own.page.locator("#tests").get_by_role("link", name="boot")
    failure_id = str(link.get_attribute("href")).split("/")[-1]

    failure = own.ask(f"ci-failures/{failure_id}")["failure"]
    keys = ("boxKey", "branch", "sha", "suite", "repoKey")
    assert [failure[key] for key in keys] == [run[key] for key in keys]


def test_a_run_asks_for_the_failures_of_its_commit_alone_however_many(own: Site) -> None:
    tests = [{"id": f"t{number:03}", "outcome": "fail", "attempts": 1} for number in range(150)]
    failed = [{**test, "duration_s": 1.0} for test in tests]
    for number in range(2):
        own.benches.report(run_id=number, sha=f"{number}" * 40, tests=failed)
    own.benches.report(run_id=9, sha="a" * 40, tests=failed[:1])
    alone, many = (
        next(one for one in own.benches.listed() if one["runId"] == run) for run in (9, 1)
    )
    with own.page.expect_response(re.compile("/ci-failures[?]")) as answer:
        own.open(f"runs/{alone['id']}")

    asked = parse_qs(urlsplit(answer.value.url).query)
    assert asked["search"] == [f"{alone['sha']} {alone['boxKey']}"]
    assert answer.value.json()["total"] == 1
    expect(own.page.locator("#tests").get_by_role("link", name="t000")).to_be_visible()

    own.open(f"runs/{many['id']}")
    own.page.get_by_role("button", name="Show more of 50 further tests").click()
    expect(own.page.locator("#tests tbody td:first-child a")).to_have_count(150)


def test_the_changes_are_those_of_the_api(reader: Demo) -> None:
    run = reader.run(lambda one: one["trigger"] == "merge")
    reader.open(run)

    changes = reader.page.locator("#changes")
    expect(changes).to_contain_text(f"Since {run['changes']['baseSha'][:12]}")
    commits = changes.locator(".changes > li")
    expect(commits).to_have_count(len(run["changes"]["commits"]))
    for shown, commit in zip(commits.all(), run["changes"]["commits"], strict=True):
        expect(shown).to_contain_text(commit["subject"])
        shown.get_by_role("button", expanded=False).click()
        assert shown.locator(".paths li").all_inner_texts() == commit["files"]


def test_the_other_attempts_of_a_run_are_a_click_away(reader: Demo) -> None:
    run = reader.run(lambda one: one["runAttempt"] == 2)
    reader.open(run)
    others = reader.page.locator("#others")
    expect(others.get_by_role("heading")).to_contain_text("started again")
    expect(others).to_contain_text(f"CI started these under the number {run['runId']}, too")
    expect(others).to_contain_text(
        "An attempt after the first is the run again, or its failed jobs."
    )

    first = f"attempt 1 on {run['boxKey']}"
    others.get_by_role("link", name=first).click()

    expect(reader.page.get_by_role("heading", level=1)).not_to_contain_text("attempt 2")
    second = reader.page.get_by_role("link", name=f"attempt 2 on {run['boxKey']}")
    expect(second).to_be_visible()


# What CI started beside an attempt on a box, and what stands above it.
SAME_RUN: list[tuple[list[tuple[str, int]], str | None]] = [
    ([("bench-2", 1)], "The same CI run on other boxes 1"),
    ([("bench-1", 2)], "The same CI run, started again 1"),
    ([("bench-2", 1), ("bench-2", 2)], "The same CI run on other boxes, started again 2"),
    ([], None),
]


def test_what_else_ci_started_as_the_same_run_says_what_it_is(own: Site) -> None:
    for number, (others, title) in enumerate(SAME_RUN, 7):
        for box, attempt in [("bench-1", 1), *others]:
            own.benches.report(run_id=number, box_key=box, run_attempt=attempt)
        runs = own.ask(f"runs?boxKey=bench-1&ciRun={number}")["items"]
        (run,) = (one for one in runs if one["runAttempt"] == 1)
        own.open(f"runs/{run['id']}")

        expect(own.page.locator("#changes")).to_be_visible()
        if title is None:
            expect(own.page.locator("#others")).to_have_count(0)
        else:
            expect(own.page.locator("#others").get_by_role("heading")).to_have_text(title)
            repeats = own.page.locator("#others").get_by_text("An attempt after the first")
            expect(repeats).to_have_count(int("again" in title))


CUT = {"sha": "c" * 40, "subject": "cut short", "files": ["a.c"], "files_truncated": True}
NOT_TOLD: list[tuple[Any, str]] = [
    (None, "No change list was reported"),
    ({"base_sha": None, "commits": []}, "The commit tested before is unknown"),
    (
        {"base_sha": "b" * 40, "commits": [CUT], "truncated": True},
        "There are more commits; the report lists only these",
    ),
    ({"base_sha": "b" * 40, "commits": [CUT]}, "1 file; others were not reported"),
    (
        {"base_sha": "b" * 40, "commits": [{**CUT, "subject": ""}]},
        "no subject: the report has an empty one",
    ),
]


def test_what_was_not_reported_of_changes_is_stated_in_words(own: Site) -> None:
    for number, (changes, words) in enumerate(NOT_TOLD):
        own.benches.report(run_id=number, changes=changes)
        (run,) = (one for one in own.benches.listed() if one["runId"] == number)
        own.open(f"runs/{run['id']}")

        expect(own.page.locator("#changes")).to_contain_text(words)


def test_a_run_shows_the_pushes_that_it_covered_and_leads_to_its_ci_job(own: Site) -> None:
    job = 'https://ci.example/jobs/7?a=1&b="<script>'
    own.benches.report(run_id=4242, ci_url=job, covers_shas=["b" * 40, report()["sha"]])
    own.open(f"runs/{own.benches.listed()[0]['id']}")

    expect(own.page.get_by_text("It also covers 1 other commit: bbbbbbbbbb")).to_be_visible()
    link = own.page.locator(".facts").get_by_role("link", name="4242", exact=True)
    expect(link).to_have_attribute("href", job)
    expect(link).to_have_attribute("rel", "noopener noreferrer")


def test_boards_and_logs_of_tests_are_shown_where_a_report_names_any(own: Site) -> None:
    test = {"id": "boot", "outcome": "pass", "attempts": 1, "duration_s": 2.5}
    own.benches.report(run_id=1, tests=[test])
    log = "https://ci.example/2/boot.log"
    told = {"board": "0483:A1", "log_url": log}
    own.benches.report(
        run_id=2, tests=[{**test, **told}, {**test, **told, "id": "flash", "outcome": "fail"}]
    )
    boards = own.page.locator("#tests").get_by_role("columnheader", name="Board", exact=True)
    for number, shown in ((1, 0), (2, 1)):
        [run] = (run for run in own.benches.listed() if run["runId"] == number)
        own.open(f"runs/{run['id']}")
        expect(row(own.page, "boot")).to_be_visible()
        expect(boards).to_have_count(shown)
    assert cells(row(own.page, "boot"))[-1] == "0483:A1"
    leads = row(own.page, "boot").get_by_role("link", name="log", exact=True)
    expect(leads).to_have_attribute("href", log)

    row(own.page, "flash").get_by_role("link", name="flash", exact=True).click()
    leads = own.page.get_by_role("link", name="log of the test", exact=True)
    expect(leads).to_have_attribute("href", log)


def test_tests_tick_in_while_a_run_goes_and_its_report_takes_their_place(own: Site) -> None:
    key = own.benches.installed("bench-7")
    run = own.benches.opened(key, run_id=71)
    own.benches.feed(key, run, {"id": "before", "outcome": "pass", "attempts": 1})
    own.follow(f"runs/{run}")
    expect(own.page.locator(".verdict-line")).to_contain_text("1 test began so far")

    own.benches.feed(key, run, {"id": "flash"}, {"id": "boot"})
    expect(row(own.page, "flash")).to_contain_text("running")
    own.benches.feed(key, run, {"id": "boot", "outcome": "fail", "attempts": 3})
    expect(row(own.page, "boot")).to_contain_text("failed")
    expect(own.page.locator("#tests tbody tr").first).to_contain_text("boot")
    expect(own.page.locator(".verdict-line")).to_contain_text("1 test passed, 1 failed")

    tests = [
        {"id": "boot", "outcome": "fail", "attempts": 3, "duration_s": 2.5, "verdict": "infra"}
    ]
    own.benches.report(run_id=71, box_key="bench-7", conclusion="failure", tests=tests)
    expect(own.page.locator(".verdict-line")).to_contain_text("failed")
    expect(sign(own.page)).to_have_count(0)
    assert cells(row(own.page, "boot")) == ["boot", "failed", "3", "2.5 s", "Infra"]
    expect(row(own.page, "flash")).to_have_count(0)


def test_a_live_run_without_events_does_not_show_that_no_test_began(own: Site) -> None:
    own.follow(f"runs/{own.benches.opened(own.benches.installed('bench-7'), run_id=71)}")

    line = own.page.locator(".verdict-line")
    expect(line).to_contain_text("The box has sent no test yet; the report will have them.")
    expect(own.page.locator("#tests")).to_contain_text("The box has sent no test yet.")

    own.benches.report(run_id=71, box_key="bench-7")
    expect(row(own.page, "boot")).to_contain_text("passed")


@pytest.mark.own_tab
def test_events_of_tests_are_shown_without_asking_and_counted_as_the_api_does(own: Site) -> None:
    key = own.benches.installed("bench-7")
    run = own.benches.opened(key, run_id=71)
    own.follow(f"runs/{run}")
    expect(own.page.locator(".verdict-line")).to_contain_text("The box has sent no test yet")
    asked: list[str] = []
    own.page.on("request", lambda one: asked.append(one.url) if one.url.endswith(run) else None)

    tests = [{"id": f"t{number}", "outcome": "pass", "attempts": 2} for number in range(EVENTS)]
    for test in tests:
        own.benches.feed(key, run, test)

    told = own.ask(f"runs/{run}")["tests"]
    outcomes = f"{told['passed']} tests passed, {told['failed']} failed"
    words = f"{told['total']} tests began so far: {outcomes}"
    expect(own.page.locator(".verdict-line")).to_contain_text(words)
    expect(own.page.locator(".verdict-line")).to_contain_text(f"{told['retried']} took more than")
    assert len(asked) <= 1  # by the beginning of the stream


def test_a_run_with_many_tests_shows_them_by_and_by(own: Site) -> None:
    tests = [{"id": f"t{number}", "outcome": "pass", "attempts": 1} for number in range(700)]
    own.benches.report(tests=[{**test, "duration_s": 1.0} for test in tests])
    own.open(f"runs/{own.benches.listed()[0]['id']}")
    rows = own.page.locator("#tests tbody tr")
    expect(rows).to_have_count(100)

    own.page.get_by_role("button", name="Show more of 600 further tests").click()

    expect(rows).to_have_count(600)


def test_a_run_that_is_not_there_yet_appears_when_it_begins(
    own: Site, quiet_console: list[str]
) -> None:
    key = own.benches.installed("bench-7")
    head = own.benches.head(run_id=71)
    later = run_record_id(own.server.org_id, head["repo_key"], 71, 1, "bench-7")
    own.follow(f"runs/{later}")
    expect(own.page.get_by_role("heading", name="No such run")).to_be_visible()

    own.benches.opened(key, run_id=71)

    expect(own.page.get_by_role("heading", level=1)).to_contain_text("run 71")
    expect(own.page.locator(".verdict-line")).to_contain_text("running")
    quiet_console[:] = [line for line in quiet_console if "404" not in line]


def test_a_rerun_links_to_the_run_that_it_repeats(own: Site) -> None:
    own.benches.report(run_id=1)
    own.benches.report(run_id=2, rerun_of=1)
    own.benches.report(run_id=3, rerun_of=99)
    first, second, third = (
        next(one["id"] for one in own.benches.listed() if one["runId"] == run) for run in (1, 2, 3)
    )
    own.open(f"runs/{third}")
    expect(own.page.locator("dl.facts")).to_contain_text("99 not reported here")
    own.open(f"runs/{second}")
    own.page.locator("dl.facts div", has_text="Rerun of").get_by_role("link", name="1").click()

    expect(own.page).to_have_url(re.compile(f"/runs/{first}"))
