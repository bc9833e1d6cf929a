# SPDX-License-Identifier: Apache-2.0
"""The page of runs: it updates without a reload, its filters are in the address, and the API
decides what it shows (contract, "Runs and streams").
"""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.support.soak import rounds
from tests.web.conftest import Dashboard
from tests.web.live import Site, cells, row, site

COLUMNS = 11
ROWS = 20
GIVEN = {
    (True, "pass"): re.compile(r"passed( on a retry \d attempts)?$"),
    (True, "fail"): re.compile(r"failed( \d attempts)?$"),
    (False, "pass"): re.compile("never reached$"),
    (False, "fail"): re.compile("never reached$"),
}
EVENTS = 10
# The test ends the pace of a page: `pass()`. `heard()`: how many events of tests reached the page.
HELD_PACE = """
  const later = window.setTimeout.bind(window);
  window.held = [];
  window.pass = () => window.held.splice(0).forEach((due) => due());
  window.setTimeout = (what, after, ...more) =>
    after === 3_000 ? window.held.push(what) : later(what, after, ...more);
  const read = ReadableStreamDefaultReader.prototype.read;
  const text = new TextDecoder();
  let streamed = "";
  ReadableStreamDefaultReader.prototype.read = async function () {
    const found = await read.call(this);
    if (found.value) streamed += text.decode(found.value, { stream: true });
    return found;
  };
  window.heard = () => streamed.split("event: run.test\\n").length - 1;
"""


@pytest.fixture
def own(page: Page, tmp_path: Path) -> Iterator[Site]:
    with site(page, tmp_path) as made:
        yield made


# Live runs


def test_a_run_appears_counts_and_ends_without_a_reload(own: Site) -> None:
    key = own.benches.installed("bench-7")
    own.follow("runs")
    expect(own.page.get_by_text("No run was reported yet")).to_be_visible()
    begin = own.page.get_by_role("link", name="How to begin")
    expect(begin).to_have_attribute("href", re.compile("/metrics$"))
    own.page.evaluate("window.neverReloaded = true")

    run = own.benches.opened(key, run_id=71)
    shown = row(own.page, "run 71")
    expect(shown).to_contain_text("running")
    own.benches.feed(key, run, {"id": "boot"}, {"id": "flash", "outcome": "fail", "attempts": 3})
    expect(shown.locator("td").nth(9)).to_have_text("1")
    own.benches.feed(key, run, {"id": "boot", "outcome": "pass", "attempts": 2})
    expect(shown.locator("td").nth(8)).to_have_text("1")
    expect(shown.locator("td").nth(10)).to_have_text("2")

    own.benches.report(run_id=71, box_key="bench-7", conclusion="success")
    expect(shown.locator("td").first).to_have_text("passed")
    assert own.page.evaluate("window.neverReloaded")


def test_a_run_that_goes_silent_is_shown_as_lost(own: Site) -> None:
    key = own.benches.installed("bench-7")
    own.benches.opened(key, run_id=71)
    own.follow("runs")
    expect(row(own.page, "run 71")).to_contain_text("running")

    own.benches.hands.move(minutes=11)
    own.benches.report(run_id=72)  # the next event announces the loss too

    expect(row(own.page, "run 71")).to_contain_text("lost")


def test_a_new_run_stands_at_the_top_and_one_that_fits_no_filter_nowhere(own: Site) -> None:
    here, there = own.benches.installed("here"), own.benches.installed("there")
    own.benches.report(run_id=70, box_key="here")
    own.follow("runs?boxKey=here")

    own.benches.opened(there, run_id=71)
    own.benches.hands.move(minutes=1)
    own.benches.opened(here, run_id=72)

    expect(own.page.locator("tbody tr").first).to_contain_text("run 72")
    expect(row(own.page, "run 71")).to_have_count(0)
    own.page.get_by_role("button", name="Clear filters").click()
    expect(row(own.page, "run 71")).to_have_count(1)


@pytest.mark.own_tab
def test_events_change_the_rows_in_place_and_ask_for_none(own: Site) -> None:
    page, key = own.page, own.benches.installed("bench-7")
    run = own.benches.opened(key, run_id=71)
    page.add_init_script(HELD_PACE)
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url) if "/runs?" in one.url else None)
    own.follow("runs")
    page.wait_for_function("() => window.held.length === 1")  # the beginning asked at once
    for number in range(1, EVENTS + 1):
        own.benches.feed(key, run, {"id": f"t{number}", "outcome": "pass", "attempts": number})
        page.wait_for_function("(number) => window.heard() >= number", arg=number)
        expect(page.locator("table[aria-busy=false]")).to_be_visible()
    passed = row(page, "run 71").locator("td").nth(8)
    expect(passed).to_have_text(str(EVENTS))

    own.benches.hands.move(minutes=1)
    own.benches.opened(key, run_id=72)
    expect(page.locator("tbody tr").first).to_contain_text("run 72")
    own.benches.report(run_id=72, box_key="bench-7", conclusion="success")
    expect(row(page, "run 72").locator("td").first).to_have_text("passed")

    assert len(asked) <= 2  # by the page, and by the beginning of the stream
    shown = rows_but_times(page)
    page.reload()
    expect(passed).to_have_text(str(EVENTS))
    assert rows_but_times(page) == shown


def rows_but_times(page: Page) -> list[list[str]]:
    """Return the rows without how long each run has taken so far."""
    return [[*found[:7], *found[8:]] for found in map(cells, page.locator("tbody tr").all())]


@pytest.mark.own_tab
def test_an_answer_that_takes_longer_than_the_pace_is_waited_for(own: Site) -> None:
    page, key = own.page, own.benches.installed("bench-7")
    run = own.benches.opened(key, run_id=71)
    page.add_init_script(HELD_PACE)
    own.follow("runs")
    passed = row(page, "run 71").locator("td").nth(8)
    expect(passed).to_have_text("0")
    given_up: list[str] = []
    page.on("requestfailed", lambda one: given_up.append(one.url))
    kept: list[Route] = []

    def keep(route: Route) -> None:
        kept.append(route)

    page.route(re.compile("/runs\\?"), keep)

    earlier = own.benches.hands.now - timedelta(hours=1)  # the place of such a run is not known
    own.benches.opened(key, run_id=70, started_at=earlier.isoformat())
    while not kept:
        page.evaluate("window.pass()")
        page.wait_for_timeout(50)
    for number in range(1, EVENTS + 1):
        own.benches.feed(key, run, {"id": f"t{number}", "outcome": "pass", "attempts": 1})
        page.wait_for_function("(number) => window.heard() >= number", arg=number)
        page.evaluate("window.pass()")

    (answer,) = kept
    early = answer.fetch()
    own.benches.feed(key, run, {"id": "last", "outcome": "pass", "attempts": 1})
    page.wait_for_function("(number) => window.heard() >= number", arg=EVENTS + 1)
    answer.fulfill(response=early)
    expect(passed).to_have_text(str(EVENTS))
    page.unroute_all()
    page.evaluate("window.pass()")
    expect(passed).to_have_text(str(EVENTS + 1))
    assert given_up == []


# Rows


def test_the_rows_are_those_of_the_api(page: Page, demo: Dashboard) -> None:
    org, token = demo.sign_in(page.context), demo.token()
    page.goto(f"{demo.url}/orgs/{org}/runs?runs.page=3")
    expect(page.locator("tbody tr")).to_have_count(ROWS)

    told = demo.ask(f"/api/orgs/{org}/runs?page=3&limit={ROWS}", token)["items"]
    for place, run in enumerate(told):
        shown = cells(page.locator("tbody tr").nth(place))
        assert len(shown) == COLUMNS
        assert shown[0] == run["ending"].replace("-", " ")
        assert str(run["runId"]) in shown[1]
        assert run["workflow"] in shown[1]
        job = page.locator("tbody tr").nth(place).get_by_role("link", name="CI job")
        expect(job).to_have_attribute("href", run["ciUrl"])
        assert (run["suite"] in shown[2], shown[3]) == (True, run["boxKey"])
        assert run["branch"] in shown[4]
        assert shown[5] == run["sha"][:12]
        counts = [run["tests"][part] for part in ("passed", "failed", "retried")]
        assert shown[8:] == [str(count) for count in counts]
    link = page.locator("tbody tr").first.get_by_role("link", name=re.compile("^run "))
    link.click()

    expect(page).to_have_url(re.compile(f"/runs/{told[0]['id']}$"))
    expect(page.get_by_role("heading", level=1)).to_contain_text(str(told[0]["runId"]))


# Filters and pages


def test_filters_and_pages_stand_in_the_address(page: Page, demo: Dashboard) -> None:
    org = demo.sign_in(page.context)
    page.goto(f"{demo.url}/orgs/{org}/runs")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("Page 2 of")).to_be_visible()

    page.get_by_label("Product").select_option(label="gateway-fw")
    page.get_by_label("Branch").fill("main")
    page.get_by_label("Box").fill("bench-3")
    page.get_by_label("Box").press("Enter")
    page.get_by_label("Status").select_option("reported")

    expect(page).to_have_url(re.compile(r"suite=gateway-fw.*boxKey=bench-3.*status=reported"))
    assert "runs.page" not in page.url
    shows(page, fits(demo, org, "suite=gateway-fw&branch=main&boxKey=bench-3&status=reported"))
    page.reload()
    shows(page, fits(demo, org, "suite=gateway-fw&branch=main&boxKey=bench-3&status=reported"))
    expect(page.get_by_label("Branch")).to_have_value("main")
    page.get_by_label("Status").select_option("failed")
    shows(page, fits(demo, org, "suite=gateway-fw&branch=main&boxKey=bench-3&ending=failed"))
    assert "status=" not in page.url
    page.go_back()
    page.go_back()
    expect(page.get_by_label("Status")).to_have_value("")


def test_the_runs_of_all_products_of_a_repository_are_a_choice(own: Site) -> None:
    for number, (repo, suite) in enumerate([("a/b", "x"), ("a/b", "y"), ("c/d", "x")]):
        own.benches.report(run_id=70 + number, repo_key=repo, suite=suite)
    own.open("runs")
    expect(own.page.locator("tbody tr")).to_have_count(3)

    own.page.get_by_label("Product").select_option(label="All of a/b")

    expect(own.page.locator("tbody tr")).to_have_count(2)
    expect(row(own.page, "run 72")).to_have_count(0)
    expect(own.page).to_have_url(re.compile(r"/runs[?]repoKey=a(/|%2F)b$"))


@pytest.mark.parametrize(
    ("query", "name"),
    rounds(
        [("repoKey=a/b&suite=none", "a/b · none")],
        [
            ("suite=none", "none"),
            ("repoKey=acme/sensor-node", "All of acme/sensor-node"),
            ("repoKey=a/b&suite=none", "a/b · none"),
        ],
    ),
)
def test_what_the_address_asks_for_is_a_choice_in_any_case(
    page: Page, demo: Dashboard, query: str, name: str, quiet_console: list[str]
) -> None:
    page.goto(f"{demo.url}/orgs/{demo.sign_in(page.context)}/runs?{query}")
    expect(page.get_by_label("Product").locator("option:checked")).to_have_text(name)
    expect(page.get_by_label("Product").locator("option")).not_to_have_count(2)  # all have come
    expect(page.get_by_label("Product").locator("option:checked")).to_have_text(name)
    if "none" in query:
        expect(page.get_by_role("button", name="Show all runs")).to_be_visible()
        quiet_console.clear()  # the browser's own note of the 404


def test_a_run_is_found_by_the_number_that_its_ci_shows_and_by_the_beginning_of_its_hash(
    page: Page, demo: Dashboard
) -> None:
    org = demo.sign_in(page.context)
    number, sha = (fits(demo, org, "page=4")["items"][0][name] for name in ("runId", "sha"))
    page.goto(f"{demo.url}/orgs/{org}/runs")
    for label, typed, query in (
        ("CI number", f"#{number}", f"ciRun={number}"),
        *(("Commit", sha[:digits].upper(), f"sha={sha[:digits]}") for digits in (4, 10, 40)),
    ):
        page.get_by_label(label).fill(typed)
        page.get_by_label(label).press("Enter")

        found = fits(demo, org, query)
        expect(total(page)).to_have_text(counted(found["total"]))
        shows(page, found)
        page.get_by_label(label).fill("")
        page.get_by_label(label).press("Enter")
        expect(total(page)).to_have_count(0)


TYPED_AT_ONCE = """
  new MutationObserver((_, observer) => {
    const field = document.querySelector(".hash input");
    if (!field) return;
    observer.disconnect();
    field.value = "6ef9";
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }).observe(document, { childList: true, subtree: true });
"""


@pytest.mark.own_tab
def test_what_is_typed_as_soon_as_a_field_is_there_stays(page: Page, demo: Dashboard) -> None:
    org = demo.sign_in(page.context)
    page.add_init_script(TYPED_AT_ONCE)

    page.goto(f"{demo.url}/orgs/{org}/runs")
    expect(page.locator("tbody tr")).not_to_have_count(0)

    expect(page.get_by_label("Commit")).to_have_value("6ef9")


def test_text_that_cannot_begin_a_hash_is_not_requested(page: Page, demo: Dashboard) -> None:
    org = demo.sign_in(page.context)
    page.goto(f"{demo.url}/orgs/{org}/runs?sha=" + "0" * 40)
    expect(page.get_by_text("No run fits these filters")).to_be_visible()
    for text in ("6ef", "main", "6ef9-1"):
        page.get_by_label("Commit").fill(text)
        page.get_by_label("Commit").press("Enter")

        said = f"“{text}” is not the start of a commit hash. At least 4"
        expect(page.get_by_text(said)).to_be_visible()
    page.get_by_role("button", name="Clear filters").click()
    expect(page.locator("tbody tr")).to_have_count(ROWS)


def test_runs_are_found_by_whether_they_reached_the_hardware(page: Page, demo: Dashboard) -> None:
    org = demo.sign_in(page.context)
    page.goto(f"{demo.url}/orgs/{org}/runs")
    expect(page.locator("tbody tr")).to_have_count(ROWS)
    expect(total(page)).to_have_count(0)
    for choice, hello_ok in (("Reached", "true"), ("Never reached", "false")):
        page.get_by_label("Hardware").select_option(label=choice)

        found = fits(demo, org, f"helloOk={hello_ok}")
        expect(total(page)).to_have_text(counted(found["total"]))
        shows(page, found)
        never = page.locator("tbody tr", has_text="never reached")
        expect(never).to_have_count(0 if hello_ok == "true" else ROWS)


def test_a_link_may_ask_for_the_runs_between_two_times(page: Page, demo: Dashboard) -> None:
    org = demo.sign_in(page.context)
    runs = fits(demo, org, "page=3")["items"]
    between = urlencode({"from": runs[-1]["startedAt"], "to": runs[0]["startedAt"]})
    page.goto(f"{demo.url}/orgs/{org}/runs?branch=main&{between}")

    found = fits(demo, org, f"branch=main&{between}")
    expect(total(page)).to_have_text(counted(found["total"]))
    shows(page, found)
    expect(page.get_by_text(re.compile(r"Started from .*20\d\d.* to .*20\d\d"))).to_be_visible()

    page.get_by_role("button", name="Show all times").click()

    expect(total(page)).to_have_text(counted(fits(demo, org, "branch=main")["total"]))
    expect(page.get_by_label("Product")).to_be_focused()
    assert page.url.endswith("/runs?branch=main")


def test_a_link_may_ask_for_the_runs_of_a_test(page: Page, demo: Dashboard) -> None:
    org = demo.sign_in(page.context)
    test = "radio.lora_join"
    page.goto(f"{demo.url}/orgs/{org}/runs?testId={test}&retryPass=true&failedAttempt=true")

    only = page.locator(".only")
    told = f"Only runs of {test} in which it passed on a retry and in which an attempt failed"
    expect(only).to_contain_text(told)
    retried = fits(demo, org, f"testId={test}&retryPass=true")["total"]
    expect(total(page)).to_have_text(counted(retried))
    page.get_by_role("button", name="Show all its runs").click()
    given = page.locator("tbody td[data-title='This test']")
    for place, run in enumerate(fits(demo, org, f"testId={test}")["items"]):
        expect(given.nth(place)).to_have_text(GIVEN[run["helloOk"], run["result"]["outcome"]])
    every = fits(demo, org, f"testId={test}")["total"]
    assert every > retried
    expect(total(page)).to_have_text(counted(every))
    expect(page).to_have_url(re.compile(f"/runs[?]testId={test}$"))
    expect(page.get_by_label("Product")).to_be_focused()
    page.get_by_role("button", name="Show all tests").click()
    expect(page).to_have_url(re.compile("/runs$"))
    expect(only).to_have_count(0)
    expect(page.locator("tbody tr")).to_have_count(ROWS)
    expect(given).to_have_count(0)


def test_a_run_that_is_reported_again_shows_what_it_gave_then(own: Site) -> None:
    own.benches.report(run_id=71, tests=[boot("fail", 3)])
    own.follow("runs?testId=boot")
    given = own.page.locator("tbody td[data-title='This test']")
    expect(given).to_have_text("failed 3 attempts")

    own.benches.report(run_id=71, tests=[boot("pass", 2)])
    expect(given).to_have_text("passed on a retry 2 attempts")

    own.benches.report(run_id=71, tests=[boot("pass", 1)], hello_ok=False)
    expect(given).to_have_text("never reached")


def test_what_is_refused_can_be_taken_back(
    page: Page, demo: Dashboard, quiet_console: list[str]
) -> None:
    org = demo.sign_in(page.context)
    for query, button in (
        ("retryPass=true", "Show all tests"),
        ("testId=a&failedAttempt=maybe", "Show all tests"),
        ("from=yesterday", "Show all times"),
    ):
        page.goto(f"{demo.url}/orgs/{org}/runs?{query}")
        expect(page.get_by_role("alert")).to_be_visible()
        shown = page.get_by_text("Started from yesterday")  # as it stands
        expect(shown).to_have_count(int("yesterday" in query))

        page.get_by_role("button", name=button).click()

        expect(page.locator("tbody tr")).to_have_count(ROWS)
    quiet_console.clear()  # the browser itself logs the status


def test_filters_that_nothing_fits_can_be_taken_back(page: Page, demo: Dashboard) -> None:
    org = demo.sign_in(page.context)
    page.goto(f"{demo.url}/orgs/{org}/runs?branch=none&status=lost")

    page.get_by_role("button", name="Show all runs").click()

    expect(page.locator("tbody tr")).to_have_count(ROWS)
    assert page.url.endswith("/runs")
    expect(page.get_by_label("Product")).to_be_focused()
    page.get_by_label("Status").select_option("reported")
    page.get_by_role("button", name="Clear filters").click()
    expect(page.get_by_label("Product")).to_be_focused()


def boot(outcome: str, attempts: int) -> dict[str, Any]:
    """Return the test "boot" of a report."""
    return {
        "id": "boot",
        "outcome": outcome,
        "attempts": attempts,
        "duration_s": 1.5,
        "verdict": "unknown",
    }


def fits(demo: Dashboard, org: str, query: str) -> Any:
    """Return what the API lists."""
    scope = "repoKey=acme/sensor-node&" if "suite" in query else ""
    return demo.ask(f"/api/orgs/{org}/runs?limit={ROWS}&{scope}{query}", demo.token())


def total(page: Page) -> Locator:
    """Return the element with the number of runs."""
    return page.locator(".table-tools").get_by_role("status")


def counted(number: int) -> str:
    """Return a number of runs as the page writes it."""
    return f"{number:,} run{'' if number == 1 else 's'}"


def shows(page: Page, told: Any) -> None:
    """Check that the page has these runs, in this order."""
    links = page.locator("tbody tr td:nth-child(2) > a")
    expect(links).to_have_count(len(told["items"]))
    for place, run in enumerate(told["items"]):
        expect(links.nth(place)).to_have_attribute("href", re.compile(f"/{run['id']}($|[?])"))
