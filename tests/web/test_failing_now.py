# SPDX-License-Identifier: Apache-2.0
"""What fails now stands under the tiles, a row for each incident: what it shows is the API's
(contract, "Answers beside the rules").
"""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.asking import ask, ci_key
from tests.support.benches import Benches
from tests.support.soak import rounds
from tests.web.conftest import Dashboard
from tests.web.live import site
from tests.web.reading import csv_button, saved, unfolded


def incidents(demo: Dashboard, org: str) -> list[Any]:
    """Return what still fails, in the order of the page: by band, each on branches of merges first,
    that of most of them before others.
    """
    path = f"/api/orgs/{org}/ci-analysis/incidents?days=90&label=pending&limit=100"
    found = demo.ask(path, demo.token())["items"]
    return sorted(found, key=lambda one: ["broken", "flaky", "bench"].index(one["band"]))


def rows(page: Page) -> Locator:
    return page.locator("#failing tbody > tr:not(.below)")


def test_each_incident_is_a_row_that_leads_to_its_failures(page: Page, demo: Dashboard) -> None:
    org = demo.sign_in(page.context)
    told = incidents(demo, org)
    page.goto(f"{demo.url}/orgs/{org}/metrics?days=90&failing=all")

    expect(page.locator("#failing .total")).to_have_text(str(len(told)))
    expect(rows(page)).to_have_count(len(told))
    for line, row, one in zip(rows(page).all(), unfolded(page).all(), told, strict=True):
        expect(row).to_contain_text("Harness verdict")  # not ours
        expect(row).to_contain_text(one["branch"])
        days = len(one["lastDays"])
        strip = line.get_by_role("img", name=re.compile(f"^Last {days} days: "))
        expect(strip.locator(".failed")).to_have_count(len(re.findall("[fb]", one["lastDays"])))
        since = line.locator("td[data-title='Failing since']")
        expect(since).to_contain_text(one["firstCommit"]["sha"][:12])
        for suspect in (one["suspects"] or {"commits": []})["commits"]:
            expect(row).to_contain_text(suspect["sha"][:12])
        expect(row).to_contain_text(one["lookFirst"])
        only = f"only {one['boxes'][0]} runs this test"
        expect(row.get_by_text(only)).to_have_count(int(one["onlyBox"]))
        tried = one["reruns"] or one["retries"]
        again = f"failed again: {tried} " if tried else "not tried again"
        expect(row).to_contain_text(again)
        links = row.locator("a[href*='/failures/']").evaluate_all("all => all.map(a => a.href)")
        assert [link.rsplit("/", 1)[1] for link in links] == [of["id"] for of in one["failures"]]


def test_what_fails_now_is_seen_without_scrolling(page: Page, demo: Dashboard) -> None:
    page.goto(f"{demo.url}/orgs/{demo.sign_in(page.context)}/metrics")
    for width, height in ((390, 844), (1024, 800), (1280, 800)):
        page.set_viewport_size({"width": width, "height": height})

        expect(rows(page).first.locator("a").first).to_be_in_viewport(ratio=1)
        if width >= 1280:
            expect(rows(page).nth(1)).to_be_in_viewport(ratio=1)


def test_what_fails_on_branches_without_merges_is_shown_when_it_is_asked_for(
    page: Page, tmp_path: Path
) -> None:
    failed = {"id": "boot", "outcome": "fail", "attempts": 1, "duration_s": 1.0}
    with site(page, tmp_path) as own:
        own.benches.report(branch="topic", tests=[failed])
        own.open("metrics")
        expect(page.locator("#failing")).to_contain_text(
            "No test is failing on a branch that merges"
        )

        page.get_by_role("button", name="Show all 1, 1 of them on other branches").click()

        expect(page).to_have_url(re.compile("failing=all"))
        expect(rows(page)).to_contain_text(["boot"])
        expect(unfolded(page)).to_contain_text("CI has not reported it as merged")


def test_a_branch_that_was_merged_since_says_whether_its_test_passes_there(
    page: Page, tmp_path: Path
) -> None:
    failed = {"id": "boot", "outcome": "fail", "attempts": 3, "duration_s": 1.0}
    with site(page, tmp_path) as own:
        benches, topic, merge = own.benches, "a" * 40, "b" * 40
        benches.report(run_id=1, branch="topic", sha=topic, tests=[failed])
        announce(benches, "main", merge)
        commits = [{"sha": sha, "subject": "", "files": []} for sha in (topic, merge)]
        listed = {"base_sha": "c" * 40, "commits": commits}
        passed = {**failed, "outcome": "pass"}
        benches.report(run_id=2, branch="main", sha=merge, changes=listed, tests=[passed])
        own.open("metrics?failing=all")

        expect(unfolded(page)).to_contain_text("merged to main: passes there")
        expect(unfolded(page)).to_contain_text("failed again: 2 retries in 1 run")


def test_boxes_that_pass_on_the_same_commits_are_named_two_and_a_number(
    page: Page, tmp_path: Path
) -> None:
    failed = {"id": "boot", "outcome": "fail", "attempts": 1, "duration_s": 1.0}
    passed = {**failed, "outcome": "pass"}
    with site(page, tmp_path) as own:
        own.benches.report(tests=[failed])
        for number in (2, 3):
            box = f"bench-{number}"
            own.benches.report(box_key=box, run_id=number, tests=[passed])
        own.open("metrics?failing=all")
        expect(unfolded(page)).to_contain_text("passes on bench-2 and bench-3, same commits")
        for box in ("bench-2", "bench-3"):
            link = unfolded(page).get_by_role("link", name=box, exact=True)
            expect(link).to_have_attribute("href", re.compile(rf"/box\?boxKey={box}$"))

        own.benches.report(box_key="bench-4", run_id=4, tests=[passed])
        page.reload()

        expect(unfolded(page)).to_contain_text(
            "passes on bench-2, bench-3 and 1 more, same commits"
        )


def test_the_row_the_test_and_the_failure_lean_on_one_thing_in_the_same_words(
    page: Page, demo: Dashboard
) -> None:
    org = demo.sign_in(page.context)
    told = incidents(demo, org)
    assert {one["onlyBox"] for one in told} == {True, False}
    some = [next(one for one in told if one["onlyBox"] is only) for only in (True, False)]
    for one in rounds(some, told):
        failure, words = one["failures"][0], one["lookFirst"]
        page.goto(f"{demo.url}/orgs/{org}/failures/{failure['id']}")
        expect(page.locator(".evidence")).to_contain_text(words)

        page.get_by_role("heading", level=1).get_by_role("link", name=failure["testId"]).click()
        expect(page).to_have_url(re.compile(r"/test\?"))
        expect(page.locator("main")).to_contain_text(words)


def test_a_row_is_one_line_and_unfolds_by_a_key(page: Page, tmp_path: Path) -> None:
    with site(page, tmp_path) as own:
        page.set_viewport_size({"width": 1280, "height": 800})
        announce(own.benches, "main", "a" * 40)
        failed = {"id": "boot", "outcome": "fail", "attempts": 1, "duration_s": 1.0}
        own.benches.report(tests=[failed])
        own.open("metrics")
        box = rows(page).first.bounding_box()
        assert box is not None
        assert box["height"] <= 37

        more = page.get_by_role("button", name="More of boot")
        more.press("Enter")

        expect(more).to_have_attribute("aria-expanded", "true")
        expect(page.locator("#failing .below")).to_contain_text("Harness verdict")


def test_on_a_phone_a_row_is_two_lines(page: Page, demo: Dashboard) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{demo.url}/orgs/{demo.sign_in(page.context)}/metrics")
    expect(rows(page).first).to_be_visible()

    for row in rows(page).all():
        box = row.bounding_box()
        assert box is not None
        assert box["height"] <= 2 * 32 + 8
        strip = row.get_by_role("img").bounding_box()
        assert strip is not None
        assert strip["x"] + strip["width"] <= box["x"] + box["width"]


@pytest.mark.own_clock
def test_an_unfolded_row_stays_so_when_the_page_renews_itself(page: Page, demo: Dashboard) -> None:
    page.goto(f"{demo.url}/orgs/{demo.sign_in(page.context)}/metrics")
    below = unfolded(page)
    before = rows(page).count()
    expect(below).to_have_count(before)

    with page.expect_response(re.compile(r"/ci-analysis/page\?")):
        page.clock.fast_forward(61_000)

    expect(page.locator(".page-head .renewing")).to_have_text("")
    expect(below).to_have_count(before)


def announce(benches: Benches, branch: str, sha: str) -> None:
    merged = {"repo_key": "acme/firmware", "branch": branch, "sha": sha}
    body = {**merged, "merged_at": benches.times()["started_at"]}
    ask(
        benches.server.url,
        "POST",
        "/api/ci/merge-announce",
        ci_key(benches.server.ci_key),
        json_body=body,
    )


def fail_on_three_branches(benches: Benches) -> None:
    """Report a failure on each of three branches; most merges went to main, none to topic."""
    failed = {"outcome": "fail", "attempts": 1, "duration_s": 1.0}
    for branch, sha in (("main", "a" * 40), ("main", "b" * 40), ("release", "c" * 40)):
        announce(benches, branch, sha)
    for number, branch in enumerate(("main", "topic", "release"), start=1):
        test = {"id": f"of-{branch}", **failed}
        benches.report(run_id=number, branch=branch, sha=f"{number}" * 40, tests=[test])


def test_the_branch_that_most_merges_went_to_comes_before_newer_incidents_of_others(
    page: Page, tmp_path: Path
) -> None:
    with site(page, tmp_path) as own:
        fail_on_three_branches(own.benches)
        own.open("metrics")
        expect(rows(page)).to_have_count(2)
        button = csv_button(page, "Failing now")  # a file has more rows than are shown
        expect(button).to_have_text("CSV of 3 rows")
        expect(button).to_have_accessible_name("CSV of 3 rows: Failing now")
        _, (_, *lines) = saved(page, "Failing now")
        assert len(lines) == 3

        page.get_by_role("button", name="Show all 3").click()

        expect(rows(page)).to_contain_text(["of-main", "of-release", "of-topic"])
        expect(button).to_have_text("CSV")


def fail_in_each_band(benches: Benches) -> None:
    """Break one test, let six fail once and blame the bench for one, each on a commit of main."""
    failed = {"outcome": "fail", "attempts": 1, "duration_s": 1.0}
    announce(benches, "main", "a" * 40)
    races = [f"race-{number}" for number in range(6)]
    passed = [{"id": name, **failed, "outcome": "pass"} for name in races]
    benches.report(run_id=1, branch="main", sha="0" * 40, tests=passed)
    named = ["power", *races, "crash"]
    for number, name in enumerate(named, start=2):
        verdict = "infra" if name == "power" else "device"
        sha = f"{number:040x}"
        tests = [{"id": name, "verdict": verdict, **failed}]
        benches.report(run_id=number, branch="main", sha=sha, tests=tests)


def test_broken_tests_are_rows_and_the_other_bands_are_a_line_each_that_unfolds(
    page: Page, tmp_path: Path
) -> None:
    with site(page, tmp_path) as own:
        fail_in_each_band(own.benches)
        own.open("metrics")
        expect(rows(page)).to_contain_text(["crash"])
        flaky = page.get_by_role("button", name="Probably flaky 6")
        bench = page.get_by_role("button", name="Blamed on the bench 1")
        expect(page.locator(".one-band").first).to_contain_text(re.compile("race-. and 5 others"))
        expect(page.locator(".one-band").last).to_contain_text("power")

        flaky.click()  # the page has some of its rows only

        races = page.locator(".one-band").first.locator("tbody > tr")
        expect(races).to_contain_text(["race-"] * 6)
        expect(rows(page)).to_have_count(7)
        bench.click()
        expect(rows(page).last).to_contain_text("power")
        flaky.click()
        expect(rows(page)).to_contain_text(["crash", "power"])


def test_where_all_are_shown_anyway_there_is_no_switch_that_shows_them(
    page: Page, tmp_path: Path
) -> None:
    failed = {"id": "boot", "outcome": "fail", "attempts": 1, "duration_s": 1.0}
    with site(page, tmp_path) as own:
        announce(own.benches, "main", "a" * 40)
        own.benches.report(tests=[failed])
        own.open("metrics?failing=all")

        expect(rows(page)).to_contain_text(["boot"])
        expect(page.get_by_role("button", name="Show all")).to_have_count(0)


def test_where_nothing_fails_or_ran_the_section_says_so(page: Page, tmp_path: Path) -> None:
    with site(page, tmp_path) as own:
        own.benches.report()
        own.open("metrics")
        expect(page.locator("#failing")).to_contain_text("No test is failing")
        merges = page.locator(".tile").first
        expect(merges).to_contain_text("No merge was announced in this period")
        expect(merges).not_to_contain_text("of 0")

        own.open("metrics?asOf=2020-01-01T00:00:00Z")

        said = "No run of this period was reported, so nothing is known to fail."
        expect(page.locator("#failing")).to_contain_text(said)


def test_without_an_answer_the_tables_are_shown_and_the_section_says_so(
    page: Page, demo: Dashboard, quiet_console: list[str]
) -> None:
    page.route("**/ci-analysis/page?*", lambda route: route.abort())
    page.goto(f"{demo.url}/orgs/{demo.sign_in(page.context)}/metrics")

    expect(page.locator("#failing").get_by_role("alert")).to_contain_text("did not answer")
    expect(page.locator("#merges tbody tr").first).to_be_visible()
    quiet_console.clear()  # the browser names what it could not load
