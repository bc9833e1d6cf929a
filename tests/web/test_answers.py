# SPDX-License-Identifier: Apache-2.0
"""Answers that come late, torn or not at all: a page says so, keeps what it showed, and offers to
ask again (contract, "Auth").
"""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.asking import ask, ci_key
from tests.support.running import report, running_in_thread
from tests.support.soak import rounds
from tests.web.conftest import (
    PATIENCE_BY_THE_CLOCK,
    Account,
    Dashboard,
    module,
    never_answer,
)
from tests.web.slow_proxy import slow_proxy

UNANSWERED = "The server did not answer"
# The browser's own clock of such signals cannot be moved: it is told to be quicker.
QUICKER = """
  const after = AbortSignal.timeout.bind(AbortSignal);
  window.waited = [];
  AbortSignal.timeout = (milliseconds) => window.waited.push(milliseconds) && after(2000);
"""
PATIENCE_MILLISECONDS = 90_000
ASKS_IN_MORE_THAN = """seconds => {
  const said = document.querySelector("[role=alert]").textContent.match(/(\\d+):(\\d\\d):(\\d\\d)/);
  const half = 12 * 3600, now = new Date();
  const of = (hours, minutes, seconds) => (3600 * hours + 60 * minutes + 1 * seconds) % half;
  const left = of(...said.slice(1)) - of(now.getHours(), now.getMinutes(), now.getSeconds());
  return (left + half) % half > seconds;
}"""


@pytest.mark.own_tab
@pytest.mark.parametrize(
    "path", rounds(["/api/auth/refresh"], ["/api/auth/me", "/api/auth/refresh"])
)
def test_what_is_never_answered_is_given_up_and_can_be_asked_again(
    page: Page, tmp_path: Path, path: str
) -> None:
    with running_in_thread(tmp_path) as server, slow_proxy(server.url, path) as proxy:
        Dashboard(proxy.url, Account(server.email, server.password)).sign_in(page.context)
        page.add_init_script(QUICKER)
        proxy.hold()
        page.goto(proxy.url)

        expect(page.get_by_role("alert").first).to_contain_text(UNANSWERED)
        assert set(page.evaluate("window.waited")) == {PATIENCE_MILLISECONDS}
        expect(page.get_by_role("button", name="Try again").first).to_be_visible()


@pytest.mark.own_tab
def test_drawing_waits_a_little_for_the_sign_in_to_be_renewed(page: Page, tmp_path: Path) -> None:
    refresh, loaded = "/api/auth/refresh", f"() => {module('js/pages/metrics.js')}.then(() => null)"
    page.clock.install(time=0)
    page.clock.pause_at(1_000)
    with running_in_thread(tmp_path) as server, slow_proxy(server.url, refresh) as proxy:
        account = Account(server.email, server.password)
        organization = Dashboard(proxy.url, account).sign_in(page.context)
        proxy.hold()
        page.goto(f"{proxy.url}/orgs/{organization}/metrics")
        proxy.wait_until_kept()
        page.evaluate(loaded)

        expect(page.locator("#app > *")).to_have_count(0)
        page.clock.run_for(40)
        expect(page.get_by_role("link", name="Boxes")).to_be_visible()
        page.clock.resume()
        proxy.release()
        expect(page.get_by_role("heading", level=1, name="Metrics")).to_be_visible()


def test_a_person_who_comes_back_to_a_page_gets_no_answer_twice_until_something_is_new(
    page: Page, tmp_path: Path
) -> None:
    def figure(count: int) -> None:
        expect(page.get_by_label("Tiles")).to_contain_text(f"of {count} run report")

    def metrics() -> int:
        """Open the page of metrics from another one; return the status of its answer."""
        page.get_by_role("link", name="Runs").first.click()
        with page.expect_response(re.compile(r"/ci-metrics\?")) as found:
            page.get_by_role("link", name="Metrics").first.click()
        return found.value.status

    with running_in_thread(tmp_path) as server:
        account = Account(server.email, server.password)
        organization = Dashboard(server.url, account).sign_in(page.context)
        key = ci_key(server.ci_key)
        ask(server.url, "POST", "/api/ci/run-report", key, json_body=report(run_id=1))
        page.goto(f"{server.url}/orgs/{organization}/metrics")
        figure(1)
        assert metrics() == 304
        figure(1)
        ask(server.url, "POST", "/api/ci/run-report", key, json_body=report(run_id=2))
        assert metrics() == 200
        figure(2)


@pytest.mark.own_clock
@pytest.mark.parametrize(
    "asked",
    rounds(
        ["**/api/auth/me", "**/ci-metrics?*"],
        ["**/api/auth/me", "**/ci-metrics?*", "**/api/auth/refresh"],
    ),
)
def test_a_person_who_asks_too_often_learns_when_the_page_asks_again_and_it_does(
    page: Page, demo: Dashboard, quiet_console: list[str], asked: str
) -> None:
    refused = {"status": 429, "json": {"message": "Too much"}, "headers": {"Retry-After": "600"}}
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.route(asked, lambda route: route.fulfill(**refused))
    address = f"{demo.url}/orgs/{demo.sign_in(page.context)}/metrics?days=7&merges=checked"
    page.goto(address)
    box = page.get_by_role("alert")
    expect(box).to_contain_text("Too much")
    expect(box).to_contain_text(re.compile(r"asks again by itself at \d+:\d\d:\d\d"))
    page.wait_for_load_state("networkidle")
    page.unroute(asked)
    before = len(requests)

    page.clock.fast_forward(300_000)
    assert requests[before:] == []
    page.clock.fast_forward(301_000)

    expect(page.get_by_label("Tiles")).to_be_visible()
    expect(page).to_have_url(address)
    expect(page.get_by_role("alert")).to_have_count(0)
    quiet_console.clear()  # the browser itself tells of the status


def test_a_person_who_is_asked_to_wait_may_retry_earlier(
    page: Page, demo: Dashboard, quiet_console: list[str]
) -> None:
    refused = {"status": 429, "json": {"message": "Too much"}, "headers": {"Retry-After": "600"}}
    page.route("**/ci-metrics?*", lambda route: route.fulfill(**refused))
    page.goto(f"{demo.url}/orgs/{demo.sign_in(page.context)}/metrics")
    box = page.get_by_role("alert")
    expect(box).to_contain_text("Too much")
    page.unroute("**/ci-metrics?*")

    box.get_by_role("button", name="Try again").click()

    expect(page.get_by_label("Tiles")).to_be_visible()
    quiet_console.clear()


def test_a_torn_answer_is_shown_in_our_words(page: Page, demo: Dashboard) -> None:
    page.route("**/api/auth/me", lambda route: route.fulfill(body='{"user": {"na'))
    demo.sign_in(page.context)
    page.goto(demo.url)

    expect(page.get_by_role("alert")).to_contain_text(UNANSWERED)
    page.unroute("**/api/auth/me")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".person .name")).to_be_visible()


@pytest.mark.own_clock
def test_what_was_not_answered_is_asked_again_by_itself_after_growing_pauses(
    page: Page, demo: Dashboard, quiet_console: list[str]
) -> None:
    page.route("**/ci-metrics?*", lambda route: route.abort())
    page.goto(f"{demo.url}/orgs/{demo.sign_in(page.context)}/metrics")
    box = page.get_by_role("alert")
    expect(box).to_contain_text(UNANSWERED)
    expect(box).to_contain_text("This page asks again by itself")
    for pause in (5_000, 10_000):
        with page.expect_event("requestfailed"):
            page.clock.fast_forward(pause)
        expect(box).to_contain_text("This page asks again by itself")
    page.wait_for_function(ASKS_IN_MORE_THAN, arg=10)
    page.unroute("**/ci-metrics?*")

    page.clock.fast_forward(20_000)

    expect(page.get_by_label("Tiles")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    quiet_console.clear()  # the browser names what it could not load


@pytest.mark.own_clock
@pytest.mark.parametrize(
    "asked", rounds(["**/ci-metrics?*"], ["**/ci-metrics?*", "**/ci-analysis/page?*"])
)
def test_a_page_whose_answer_is_late_says_so_before_it_gives_up(
    page: Page, demo: Dashboard, quiet_console: list[str], asked: str
) -> None:
    page.add_init_script(PATIENCE_BY_THE_CLOCK)
    page.route(asked, never_answer)
    home = f"{demo.url}/orgs/{demo.sign_in(page.context)}"
    with page.expect_request(asked):
        page.goto(f"{home}/metrics")
    waiting = page.locator("main .waiting")
    expect(waiting).to_have_text("Loading…")
    page.clock.pause_at(page.evaluate("Date.now() / 1000 + 1"))

    page.clock.run_for(10_000)
    expect(waiting).to_have_text("The server has not answered yet; still waiting")
    page.clock.run_for(80_000)
    expect(page.get_by_role("alert").first).to_contain_text(UNANSWERED)
    expect(page.get_by_role("alert").first).to_contain_text("This page asks again by itself")
    expect(waiting).to_have_count(0)
    quiet_console.clear()  # the browser names what it gave up


KEEPS_FIGURES = (
    (
        "test?repoKey=acme/sensor-node&suite=sensor-fw&testId=radio.lora_join",
        "**/ci-analysis/test?*",
    ),
    ("boxes", "**/ci-analysis/boxes?*"),
    ("box?boxKey=bench-1", "**/ci-analysis/box?*"),
)


@pytest.mark.own_clock
@pytest.mark.parametrize(("address", "asked"), rounds(KEEPS_FIGURES[:1], KEEPS_FIGURES))
def test_a_page_that_keeps_its_figures_says_that_those_of_another_period_are_awaited(
    page: Page, demo: Dashboard, address: str, asked: str
) -> None:
    page.add_init_script(PATIENCE_BY_THE_CLOCK)
    page.goto(f"{demo.url}/orgs/{demo.sign_in(page.context)}/{address}")
    shown = page.locator("main p.quiet", has_text=re.compile(r"^30 days, "))
    expect(shown).to_be_visible()
    page.route(asked, never_answer)
    with page.expect_request(asked):
        page.get_by_text("7d", exact=True).click()

    expect(shown.locator(".renewing")).to_have_text("Loading…")
    page.clock.fast_forward(10_000)
    late = "The server has not answered yet; still waiting"
    expect(shown.locator(".renewing")).to_have_text(late)


AUDIT = "**/pages/audit_log.js"


def open_the_log(page: Page, demo: Dashboard) -> None:
    """Go from another page to that of the audit log, whose code the other has not."""
    page.goto(f"{demo.url}/orgs/{demo.sign_in(page.context)}/boxes")
    with page.expect_request(AUDIT):
        page.get_by_role("link", name="Audit log").click()


@pytest.mark.own_clock
def test_a_page_whose_code_is_late_says_so_and_is_shown_when_it_comes(
    page: Page, demo: Dashboard
) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.add_init_script(PATIENCE_BY_THE_CLOCK)
    page.route(AUDIT, hold)
    open_the_log(page, demo)
    waiting = page.locator("main .waiting")
    expect(waiting).to_have_text("Loading…")
    page.clock.fast_forward(10_000)
    expect(waiting).to_have_text("The server has not answered yet; still waiting")
    page.clock.fast_forward(80_000)
    expect(page.get_by_role("alert")).to_contain_text("This page did not load")
    expect(page.get_by_role("alert")).to_contain_text("This page asks again by itself")

    held[0].continue_()
    page.clock.fast_forward(5_000)

    expect(page.get_by_role("heading", level=1, name="Audit log")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.own_clock
def test_a_page_whose_code_did_not_come_loads_by_itself_once_the_server_answers(
    page: Page, demo: Dashboard, quiet_console: list[str]
) -> None:
    page.route(AUDIT, lambda route: route.abort())
    open_the_log(page, demo)
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("This page asks again by itself")
    address = "**/orgs/*/audit-log"
    page.route(address, lambda route: route.abort())  # of the document: the server is still away
    with page.expect_event("requestfailed"):
        page.clock.fast_forward(5_000)
    page.wait_for_function(ASKS_IN_MORE_THAN, arg=5)
    page.unroute(address)
    page.unroute(AUDIT)

    page.clock.fast_forward(10_000)

    expect(page.get_by_role("heading", level=1, name="Audit log")).to_be_visible()
    expect(alert).to_have_count(0)
    quiet_console.clear()  # the browser names what it could not load


@pytest.mark.own_clock
def test_a_page_whose_code_never_comes_is_loaded_anew_once_and_then_left_to_its_reader(
    page: Page, demo: Dashboard, quiet_console: list[str]
) -> None:
    page.route(AUDIT, lambda route: route.abort())
    open_the_log(page, demo)
    expect(page.get_by_role("alert")).to_contain_text("This page asks again by itself")
    with page.expect_event("load"):
        page.clock.fast_forward(5_000)

    expect(page.get_by_role("alert")).to_contain_text("This page did not load")
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    expect(page.get_by_text("asks again by itself")).to_have_count(0)
    quiet_console.clear()  # the browser names what it could not load


@pytest.mark.own_clock
def test_what_is_being_typed_is_not_lost_to_code_that_did_not_come(
    page: Page, demo: Dashboard, quiet_console: list[str]
) -> None:
    page.route("**/finder.js", lambda route: route.abort())
    page.goto(f"{demo.url}/orgs/{demo.sign_in(page.context)}/boxes")
    page.get_by_role("button", name="Find").click()
    page.get_by_role("combobox", name="Find").fill("bench")
    expect(page.get_by_role("alert")).to_contain_text("This page asks again by itself")
    page.clock.fast_forward(5_000)

    page.wait_for_function(ASKS_IN_MORE_THAN, arg=5)
    expect(page.get_by_role("combobox", name="Find")).to_have_value("bench")
    quiet_console.clear()  # the browser names what it could not load


def test_a_refused_history_of_flaky_tests_is_shown_and_asked_for_again(
    page: Page, demo: Dashboard, quiet_console: list[str]
) -> None:
    histories = re.compile("/flakiest-tests/history")
    page.route(histories, lambda route: route.abort())
    page.goto(f"{demo.url}/orgs/{demo.sign_in(page.context)}/metrics")
    flaky = page.locator("section#flaky")
    flaky.get_by_role("button", name=re.compile("show the boxes")).first.click()

    expect(flaky.get_by_role("alert")).to_have_count(2)
    expect(flaky.locator(".below")).to_contain_text(UNANSWERED)
    page.unroute(histories)
    flaky.locator(".below").get_by_role("button", name="Try again").click()
    expect(flaky.locator(".strips tbody tr").first).to_be_visible()
    expect(flaky.get_by_role("alert")).to_have_count(0)
    quiet_console.clear()  # the browser names what it could not load


def test_a_second_asking_that_fails_leaves_the_evidence_there(
    page: Page, demo: Dashboard, quiet_console: list[str]
) -> None:
    org, token = demo.sign_in(page.context), demo.token()
    bugs = demo.ask(f"/api/orgs/{org}/ci-metrics/real-bugs?days=90", token)["items"]
    bug = next(row["id"] for row in bugs if row["review"] is None)
    page.goto(f"{demo.url}/orgs/{org}/failures/{bug}")
    expect(page.get_by_role("heading", name="Checks")).to_be_visible()
    late = {"message": "Somebody was quicker"}
    page.route("**/ci-reviews", lambda route: route.fulfill(status=409, json=late))
    page.route(f"**/ci-failures/{bug}", lambda route: route.abort())
    page.get_by_role("button", name="Dismiss").click()

    expect(page.get_by_role("alert").first).to_contain_text(UNANSWERED)
    expect(page.get_by_role("heading", name="Checks")).to_be_visible()
    page.unroute(f"**/ci-failures/{bug}")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text(UNANSWERED)).to_have_count(0)
    quiet_console.clear()  # the browser names what it could not load
