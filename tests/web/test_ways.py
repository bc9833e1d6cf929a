# SPDX-License-Identifier: Apache-2.0
"""The ways between the pages: what a link takes along of what was chosen, and where on a page the
way back leads.
"""

import re
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.support.asking import ask, bearer
from tests.support.soak import rounds
from tests.web.conftest import Dashboard
from tests.web.live import site

PRODUCT = {"repoKey": "acme/sensor-node", "suite": "sensor-fw"}
# Done when the page stands still again.
SCROLLED_TO = """there => new Promise(done => {
  window.addEventListener("scrollend", () => done(), { once: true });
  there.scrollIntoView({ block: "center" });
})"""
CHOSEN = "days=90&repoKey=acme/sensor-node&suite=sensor-fw"


@pytest.fixture
def pages(page: Page, demo: Dashboard) -> str:
    """Sign in; return the address under which the pages of the organization stand."""
    return f"{demo.url}/orgs/{demo.sign_in(page.context)}"


def place(page: Page, name: str) -> Locator:
    """Return the link to a page above every page."""
    return page.get_by_role("navigation", name="Pages").get_by_role("link", name=name, exact=True)


def asks(page: Page, path: str, **query: str) -> None:
    """See that the page has this address, and asks for this and nothing else."""
    expect(page).to_have_url(re.compile(rf"/{path}(\?|$)"))
    found = parse_qs(urlsplit(page.url).query, keep_blank_values=True)
    assert found == {name: [value] for name, value in query.items()}


@pytest.mark.parametrize(
    ("path", "rows", "back"),
    [
        ("metrics?days=90&other=open&other.by=failure", "#other tbody tr", "Back to metrics"),
        ("failures?days=90", "tbody tr", "Back to failures"),
    ],
)
def test_the_way_back_leads_to_the_row_that_was_left(
    page: Page, pages: str, path: str, rows: str, back: str
) -> None:
    page.goto(f"{pages}/{path}")
    expect(page.locator(rows).first).to_be_visible()
    row = page.locator(rows).last
    link = row.get_by_role("link").first
    href = link.get_attribute("href")
    link.click()
    expect(page.get_by_role("heading", name="From the last pass")).to_be_visible()

    page.get_by_role("link", name=back).click()

    expect(page).to_have_url(f"{pages}/{path}")
    expect(page.locator(rows).last.locator(f"a[href='{href}']")).to_be_in_viewport()


def test_the_way_back_is_found_though_a_row_went_away_meanwhile(page: Page, pages: str) -> None:
    def fewer(route: Route) -> None:
        headers = route.request.headers
        del headers["if-none-match"]  # the tab has the answer, and this one is to be another
        answer = route.fetch(headers=headers)
        result = answer.json()
        del result["items"][0]
        route.fulfill(response=answer, json=result)

    page.goto(f"{pages}/failures?days=90")
    expect(page.locator("tbody tr").first).to_be_visible()
    page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
    link = page.locator("tbody tr").last.get_by_role("link").first
    href = link.get_attribute("href")
    link.click()
    expect(page.get_by_role("heading", name="From the last pass").first).to_be_visible()

    page.route("**/ci-failures?*", fewer)
    page.get_by_role("link", name="Back to failures").click()

    expect(page.locator(f"a[href='{href}']")).to_be_in_viewport()


def test_a_page_that_is_loaded_again_stays_where_one_was(page: Page, pages: str) -> None:
    page.goto(f"{pages}/metrics?days=90")
    title = page.locator("#flaky h2")
    expect(page.locator("#flaky tbody tr").first).to_be_visible()
    title.evaluate(SCROLLED_TO)

    page.reload()

    expect(title).to_be_in_viewport()


def test_period_and_product_go_along_to_the_pages_that_know_them_and_nothing_else(
    page: Page, pages: str
) -> None:
    page.goto(f"{pages}/metrics?{CHOSEN}&other=open&flaky.search=a&times=exact")
    expect(page.get_by_label("Tiles")).to_be_visible()

    place(page, "Failures").click()
    asks(page, "failures", days="90", times="exact", **PRODUCT)
    page.locator("tbody a").first.click()
    expect(page.get_by_role("heading", name="From the last pass")).to_be_visible()
    place(page, "Metrics").click()
    asks(page, "metrics", days="90", times="exact", **PRODUCT)
    place(page, "Boxes").click()
    asks(page, "boxes", days="90", times="exact")
    place(page, "Members").click()
    asks(page, "members", times="exact")
    place(page, "Failures").click()
    asks(page, "failures", days="90", times="exact", **PRODUCT)


@pytest.mark.parametrize("left", rounds(["metrics"], ["metrics", "failures"]))
def test_a_failure_that_is_loaded_again_leads_back_to_what_was_left(
    page: Page, pages: str, left: str
) -> None:
    page.goto(f"{pages}/{left}?{CHOSEN}&other=open")
    row = page.locator("tbody tr", has=page.locator("a[href*='/failures/']")).last
    link = row.locator("a[href*='/failures/']").first
    href = link.get_attribute("href")
    link.click()
    expect(page.get_by_role("heading", name="From the last pass")).to_be_visible()

    page.reload()
    expect(page.get_by_role("heading", name="From the last pass")).to_be_visible()
    for place_of in ("Metrics", "Failures"):
        address = place(page, place_of).get_attribute("href")
        assert address is not None
        assert parse_qs(urlsplit(address).query) == parse_qs(CHOSEN)
    page.get_by_role("link", name=f"Back to {left}").click()

    expect(page).to_have_url(f"{pages}/{left}?{CHOSEN}&other=open")
    expect(page.locator(f"a[href='{href}']").last).to_be_in_viewport()


BACK = re.compile("^Back to ")


def test_the_way_back_names_the_page_that_led_here_and_none_that_was_shown_before(
    page: Page, pages: str
) -> None:
    page.goto(f"{pages}/metrics?days=90")
    expect(page.locator("#flaky tbody a").first).to_be_visible()
    place(page, "Runs").click()
    page.locator("tbody tr").first.get_by_role("link", name=re.compile("^run ")).click()
    page.locator("main a[href*='/box?']").first.click()
    back = page.get_by_role("link", name=BACK)
    expect(back).to_have_text("Back to run")

    page.get_by_text("90d", exact=True).click()  # another choice of this page, and a place on it
    expect(page).to_have_url(re.compile("days=90"))
    page.get_by_role("link", name="Skip to content").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("#main$"))
    page.reload()
    expect(back).to_have_text("Back to run")

    back.click()
    expect(page).to_have_url(re.compile("/runs/[^/]+$"))


def test_a_page_that_none_of_ours_led_to_has_no_way_back(page: Page, pages: str) -> None:
    page.goto(f"{pages}/metrics?days=90")
    address = page.locator("#flaky tbody a").first.get_attribute("href")

    page.goto(f"{pages.partition('/orgs')[0]}{address}")

    expect(page.get_by_role("heading", name="By box")).to_be_visible()
    expect(page.get_by_role("link", name=BACK)).to_have_count(0)


def test_the_browsers_own_back_leaves_the_way_back_as_it_was(page: Page, pages: str) -> None:
    page.goto(f"{pages}/metrics?days=90")
    page.locator("#flaky tbody a").first.click()
    page.get_by_role("region", name="Failures of the test").locator("tbody a").first.click()
    expect(page.get_by_role("link", name=BACK)).to_have_text("Back to test")
    page.go_back()
    expect(page.get_by_role("link", name=BACK)).to_have_text("Back to metrics")
    page.go_forward()

    page.get_by_role("link", name=BACK).click()
    expect(page.get_by_role("heading", name="By box")).to_be_visible()
    page.get_by_role("link", name=BACK).click()

    expect(page).to_have_url(f"{pages}/metrics?days=90")


def test_a_failure_in_a_tab_of_its_own_leads_on(page: Page, pages: str) -> None:
    page.goto(f"{pages}/failures?{CHOSEN}")
    link = page.locator("tbody a[href*='/failures/']").first
    with page.context.expect_page() as opened:
        link.click(modifiers=["ControlOrMeta"])
    own = opened.value
    expect(own.get_by_role("heading", name="From the last pass")).to_be_visible()

    expect(own.get_by_role("link", name=BACK)).to_have_count(0)
    place(own, "Failures").click()

    expect(own.locator("tbody tr").first).to_be_visible()
    asks(own, "failures")


KEPT_SO = [
    "{torn",
    "null",
    "7",
    '{"path": "/orgs/ORG/metrics?days=7"}',
    '[null, 7, "/orgs/ORG/metrics?days=7", [], {}, {"path": null}]',
    '[{"path": ["/orgs/ORG/metrics?days=7"]}]',
    '[{"path": "https://evil.example/orgs/ORG/metrics?days=7", "scroll": 1}]',
    '[{"path": "//evil.example/orgs/ORG/metrics?days=7"}, {"path": "javascript:alert(1)"}]',
    '[{"path": "/orgs/another/metrics?days=7", "scroll": "far"}]',
]


@pytest.mark.parametrize("found", rounds(KEPT_SO[::3], KEPT_SO))
def test_what_a_tab_kept_and_was_not_written_so_leads_nowhere(
    page: Page, pages: str, demo: Dashboard, found: str
) -> None:
    org = pages.rpartition("/")[2]
    some = demo.ask(f"/api/orgs/{org}/ci-failures?limit=1", demo.token())["items"][0]["id"]
    page.goto(f"{demo.url}/healthz")
    page.evaluate("text => sessionStorage.setItem('hwci-seen', text)", found.replace("ORG", org))

    page.goto(f"{pages}/failures/{some}")

    expect(page.get_by_role("heading", name="From the last pass")).to_be_visible()
    expect(page.get_by_role("link", name=BACK)).to_have_count(0)
    expect(place(page, "Metrics")).to_have_attribute("href", f"/orgs/{org}/metrics")
    expect(place(page, "Failures")).to_have_attribute("href", f"/orgs/{org}/failures")


def test_runs_take_the_period_as_times_and_their_own_runs_lead_back_to_them(
    page: Page, pages: str, demo: Dashboard
) -> None:
    org = pages.rpartition("/")[2]
    latest = demo.ask(f"/api/orgs/{org}/runs?limit=1", demo.token())["items"][0]["startedAt"]
    page.goto(f"{pages}/failures?{CHOSEN}&asOf={latest}&label=pending")
    start = datetime.fromisoformat(latest) - timedelta(days=90)

    place(page, "Runs").click()

    expect(page).to_have_url(re.compile(r"/runs\?"))
    began = parse_qs(urlsplit(page.url).query)["from"][0]
    assert datetime.fromisoformat(began) == start
    times = {"from": began, "to": latest}
    asks(page, "runs", **PRODUCT, **times)
    page.get_by_label("Branch").fill("main")
    page.get_by_label("Branch").press("Enter")
    expect(page).to_have_url(re.compile("branch=main"))
    page.locator("tbody tr").first.get_by_role("link", name=re.compile("^run ")).click()
    page.get_by_role("link", name="All runs").click()
    asks(page, "runs", **PRODUCT, **times)
    place(page, "Metrics").click()
    asks(page, "metrics", days="90", asOf=latest, **PRODUCT)


@pytest.mark.parametrize("chosen", rounds(["days=never"], ["", "days=never", "days=99999999999"]))
def test_where_no_period_is_chosen_runs_of_all_times_are_shown(
    page: Page, pages: str, chosen: str, quiet_console: list[str]
) -> None:
    page.goto(f"{pages}/failures?{chosen}")
    expect(page.get_by_role("heading", level=1, name="Failures")).to_be_visible()

    place(page, "Runs").click()

    expect(page.locator("tbody tr")).to_have_count(20)
    asks(page, "runs")
    quiet_console.clear()  # the browser names what the API refused


def test_a_product_that_was_chosen_among_the_runs_goes_along(page: Page, pages: str) -> None:
    page.goto(f"{pages}/metrics?days=7")
    place(page, "Runs").click()
    page.get_by_label("Product").select_option(label="gateway-fw")
    expect(page).to_have_url(re.compile("suite=gateway-fw"))

    place(page, "Metrics").click()

    asks(page, "metrics", days="7", **{**PRODUCT, "suite": "gateway-fw"})


def test_a_suite_of_no_repository_goes_nowhere(page: Page, pages: str) -> None:
    page.goto(f"{pages}/runs?suite=sensor-fw")

    place(page, "Metrics").click()

    asks(page, "metrics")
    expect(page.get_by_label("Tiles")).to_be_visible()


def test_no_product_goes_along_to_another_organization(
    page: Page, tmp_path: Path, quiet_console: list[str]
) -> None:
    with site(page, tmp_path) as own:
        token = bearer(own.dashboard.token())
        ask(own.server.url, "POST", "/api/orgs", token, json_body={"name": "Other"})
        own.open("runs?repoKey=a/b&suite=x")
        page.get_by_role("button", name="Organization: ").click()
        page.get_by_role("link", name="Other").click()
        expect(page.get_by_role("heading", level=1, name="Metrics")).to_be_visible()
        place(page, "Boxes").click()
        expect(page.get_by_role("heading", level=1, name="Boxes")).to_be_visible()
        page.evaluate("history.go(-2)")
        expect(page.get_by_role("heading", level=1, name="Runs")).to_be_visible()
        page.evaluate("history.go(2)")
        expect(page.get_by_role("heading", level=1, name="Boxes")).to_be_visible()

        place(page, "Failures").click()

        asks(page, "failures")
        quiet_console.clear()  # the browser names what is refused while CI Metrics is off


def named_period(page: Page) -> Locator:
    """Return the words that say of which period the figures of a page are."""
    return page.locator("main p.quiet", has_text=re.compile(r"^\d+ days?, \d+ ")).first


def open_history(page: Page, metrics: str) -> None:
    """Go from the first row of what fails now to the page of its test."""
    page.goto(metrics)
    page.get_by_role("button", name="More of ").first.click()
    page.locator("#failing .below").get_by_role("link", name="history").click()


def test_a_period_that_was_chosen_goes_along_to_the_pages_of_tests_and_boxes(
    page: Page, pages: str
) -> None:
    open_history(page, f"{pages}/metrics?days=60")
    expect(page).to_have_url(re.compile(r"/test\?days=60&"))
    expect(named_period(page)).to_contain_text("60 days, ")

    page.get_by_role("region", name="By box").get_by_role(
        "link", name=re.compile("^bench-")
    ).first.click()
    expect(page).to_have_url(re.compile(r"/box\?days=60&"))
    expect(named_period(page)).to_contain_text("60 days, ")

    page.goto(f"{pages}/metrics?days=60")
    page.get_by_role("link", name="Compare them").click()
    expect(page).to_have_url(re.compile(r"/boxes\?days=60$"))
    expect(named_period(page)).to_contain_text("60 days, ")
    page.get_by_label("30d").check()
    expect(named_period(page)).to_contain_text("30 days, ")
    expect(page).to_have_url(re.compile("/boxes$"))
    for name in ("Members", "Boxes"):  # what was chosen last there is what it has again
        place(page, name).click()
        expect(page.get_by_role("heading", level=1, name=name)).to_be_visible()
    asks(page, "boxes")
    place(page, "Metrics").click()
    asks(page, "metrics", days="60")


def test_where_no_period_was_chosen_each_page_has_the_same_and_names_it(
    page: Page, pages: str
) -> None:
    open_history(page, f"{pages}/metrics")
    expect(page).to_have_url(re.compile(r"/test\?repoKey="))
    expect(named_period(page)).to_contain_text("30 days, ")
    for path in ("boxes", "box?boxKey=bench-1"):
        page.goto(f"{pages}/{path}")
        expect(named_period(page)).to_contain_text("30 days, ")


def test_boxes_are_compared_in_the_period_of_the_page_that_asks_which_is_worse(
    page: Page, pages: str
) -> None:
    page.goto(f"{pages}/metrics")
    page.get_by_role("link", name="Compare them").click()
    expect(named_period(page)).to_contain_text("30 days, ")


def test_a_row_of_what_fails_now_leads_to_how_sure_its_commit_is(page: Page, pages: str) -> None:
    page.goto(f"{pages}/metrics?failing=all")
    page.get_by_role("button", name="More of mqtt.tls_handshake").first.click()
    page.locator("#failing .below").get_by_role("link", name="history, and how sure").click()
    expect(page.locator(".answer + ul")).to_contain_text("% sure")


def test_a_period_of_the_past_goes_along_with_its_end(
    page: Page, pages: str, demo: Dashboard
) -> None:
    as_of = f"{demo.now() - timedelta(days=3):%Y-%m-%dT%H:%M:%SZ}"
    page.goto(f"{pages}/metrics?days=7&asOf={as_of}")
    page.locator("#flaky tbody tr").first.get_by_role("link").first.click()
    expect(page).to_have_url(re.compile(r"/test\?"))
    query = parse_qs(urlsplit(page.url).query)
    assert (query["days"], query["asOf"]) == (["7"], [as_of])
    expect(named_period(page)).to_contain_text("7 days, ")
