# SPDX-License-Identifier: Apache-2.0
"""Everyone can read and use every page: axe finds no violation of WCAG 2.2 AA on any of them, in
any state, light and dark, wide and narrow; and a whole review is done by keyboard.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

from hwci.wire.sso import challenge_of
from tests.support.asking import ask
from tests.support.running import MEMBER_EMAIL, PASSWORD, RunningServer, running_in_thread
from tests.support.soak import rounds
from tests.web.conftest import Account, Dashboard
from tests.web.questions import come_to_the_question, provided_server
from tests.web.reading import SCHEMES, Scheme, go, luminance

AXE = (files("axe_playwright_python") / "axe.min.js").read_text()
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
ALL = {"type": "tag", "values": TAGS}
# A dark page differs from a light one in its colours, a narrow one in where things are and in
# words that it leaves out. `make soak` looks for everything in each.
COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
PLACES = ["target-size", "scrollable-region-focusable", "link-name", "button-name", "label"]
WIDE, NARROW = (1280, 900), (360, 740)
Looks = Sequence[tuple[Scheme, tuple[int, int], Mapping[str, Any]]]
FEW: Looks = (
    ("light", WIDE, ALL),
    ("light", NARROW, {"type": "rule", "values": PLACES}),
    ("dark", WIDE, COLOURS),
)
EACH: Looks = (
    ("light", WIDE, ALL),
    ("light", NARROW, ALL),
    ("dark", WIDE, COLOURS),
    ("dark", NARROW, COLOURS),
)
LOOKS = rounds(FEW, EACH)
# Pages whose parts others have too, in the same colours, are looked at dark in `make soak` alone.
PLAIN = rounds(FEW[:2], EACH)
# Of what is right, axe then leaves out where it is: a fifth of its work.
FOUND = """async (runOnly) => {
  const { violations } = await axe.run(document, { runOnly, resultTypes: ["violations"] });
  const told = (node) => `${node.target}: ${node.failureSummary}`;
  return violations.map(({ id, nodes }) => [id, nodes.map(told)]);
}"""
OTHER = "Resolved by a bench or harness change, ambiguous or dismissed"
NO_ID = "00000000-0000-4000-8000-000000000000"
# What leaves no row of the lists, and what they can be asked for by links, where they heed it.
EMPTIED = "?testId=none&branch=none&sha=12&runs.page=9&audit.page=9"
CHOSEN = (
    "failures?label=flake&testId=radio.lora_join&days=90&failures.limit=5",
    "runs?testId=radio.lora_join&helloOk=false&from=2020-01-01T00:00:00Z",
)
# Rows of a list are alike: five of them have what twenty have.
LISTS = (
    *("failures?failures.limit=5", "review", "runs?runs.limit=5"),
    *("boxes", "members", "audit-log?audit.limit=5"),
)
EDGES = """() => {
  const told = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const opaque = (colour) => (colour[3] ?? 1) > 0;
  const ground = (element) => {
    const own = told(getComputedStyle(element).backgroundColor);
    return opaque(own) || !element.parentElement ? own : ground(element.parentElement);
  };
  const shown = [...document.querySelectorAll("button, select, input:not([type=radio]), .choice")];
  return shown.filter((one) => one.checkVisibility())
    .map((one) => [one, getComputedStyle(one)])
    .map(([one, { borderTopWidth, borderTopColor }]) => [one, borderTopWidth, told(borderTopColor)])
    .filter(([, width, colour]) => width !== "0px" && opaque(colour))
    .map(([one, , colour]) => [one.outerHTML, colour, ground(one.parentElement)])
    .map(([what, ...colours]) => [what, ...colours.map((colour) => colour.slice(0, 3))]);
}"""
TABS = 400  # more than the controls of any page


def see(page: Page, looks: Looks = LOOKS) -> None:
    """See that axe finds nothing on the page as it stands, in these looks."""
    expect(page.locator(".waiting")).to_have_count(0)
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    for scheme, (width, height), rules in looks:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate("scrollTo(0, 0)")  # elsewhere a heading that stays covers part of some row
        found = page.evaluate(FOUND, rules)
        assert found == [], f"{scheme} {width} {page.url} {json.dumps(found, indent=1)}"


def see_each(page: Page, home: str, places: Sequence[str], looks: Looks = LOOKS) -> None:
    """See each of these pages: the first by its address, the others as a link leads to them."""
    page.goto(f"{home}/{places[0]}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    see(page, looks=looks)
    for place in places[1:]:
        go(page, f"{home}/{place}")
        see(page, looks=looks)


@pytest.fixture
def home(page: Page, demo: Dashboard) -> str:
    """Sign in to the demo; return the beginning of its organization's addresses."""
    return f"{demo.url}/orgs/{demo.sign_in(page.context)}"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """Run a server that nothing was reported to."""
    with running_in_thread(tmp_path_factory.mktemp("own")) as server:
        yield server


@pytest.fixture
def new(page: Page, own: RunningServer) -> str:
    """Sign in as the owner of an organization without any report."""
    Dashboard(own.url, Account(own.email, own.password)).sign_in(page.context)
    return f"{own.url}/orgs/{own.org_id}"


def test_axe_finds_what_is_wrong(page: Page, demo: Dashboard) -> None:
    page.goto(f"{demo.url}/sign-in")
    page.get_by_label("Password").evaluate("node => node.closest('label').replaceWith(node)")
    with pytest.raises(AssertionError, match="label"):
        see(page)


def test_the_doors(page: Page, demo: Dashboard, quiet_console: list[str]) -> None:
    page.goto(f"{demo.url}/sign-in")
    see(page)
    page.get_by_label("E-mail").fill("nobody@example.org")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    see(page)
    page.goto(f"{demo.url}/setup#token")
    see(page)
    page.get_by_label("E-mail").fill("nobody@example.org")
    page.get_by_label("Password").fill("password1234")
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_role("alert").first).to_be_visible()
    see(page)
    quiet_console.clear()  # the browser itself tells of what was refused


def test_the_page_of_a_reset_link(page: Page, own: RunningServer, quiet_console: list[str]) -> None:
    page.goto(f"{own.url}/reset#token")
    see(page, PLAIN)
    page.get_by_label("New password").fill("a pass phrase of mine")
    page.get_by_role("button", name="Set password").click()
    expect(page.get_by_role("alert")).to_be_visible()
    see(page, PLAIN)
    quiet_console.clear()  # the browser itself tells of what was refused


def test_the_question_about_a_command_line(
    page: Page, tmp_path: Path, quiet_console: list[str]
) -> None:
    with provided_server(tmp_path) as server:
        come_to_the_question(page, server, 51_234, challenge_of("v" * 43), "lab-pc-7")
        see(page, PLAIN)
        page.context.clear_cookies()
        page.get_by_role("button", name="No", exact=True).click()
        expect(page.get_by_role("alert")).to_be_visible()
        see(page, PLAIN)
    quiet_console.clear()  # the browser itself tells of what was refused, the provider of its own


def test_the_page_of_the_account(page: Page, new: str, quiet_console: list[str]) -> None:
    page.goto(f"{new.partition('/orgs')[0]}/account")
    expect(page.locator("tbody tr").first).to_be_visible()
    see(page, PLAIN)
    page.get_by_label("Current password").fill("a wrong guess")
    page.get_by_label("New password").fill("a pass phrase of mine")
    page.get_by_role("button", name="Change password").click()
    expect(page.get_by_role("alert")).to_be_visible()
    see(page, PLAIN)
    quiet_console.clear()  # the browser itself tells of what was refused


UNFOLDED, EMPTY = "?other=open&daily=open&timesToFix=open", "?merges.search=zz"
ALL_OF_IT = f"{UNFOLDED}&other.by=cause"


@pytest.mark.parametrize("query", rounds([ALL_OF_IT], ["", f"{UNFOLDED}&days=7", EMPTY, ALL_OF_IT]))
def test_the_metrics_page(page: Page, home: str, query: str) -> None:
    page.goto(f"{home}/metrics{query}")
    if "daily" in query:
        expect(page.locator("#daily tbody tr").first).to_be_visible()
        expect(page.locator("#times tbody tr").first).to_be_visible()
    if "cause" in query:
        page.locator("#other tbody .fold").first.click()
        expect(page.locator("#other .of-cause")).to_be_visible()
        page.locator("#merges").get_by_role("link", name="What to do about").first.click()
        expect(page.locator("#merges .plan li").first).to_be_visible()
    page.locator("#flaky").scroll_into_view_if_needed()
    expect(page.locator("#flaky .heat rect").first).to_be_attached()
    page.locator("#flaky tbody .fold").first.click()
    expect(page.locator("#flaky .strips")).to_be_visible()
    see(page)


def test_the_metrics_page_that_the_server_refuses(
    page: Page, home: str, quiet_console: list[str]
) -> None:
    page.route(re.compile(r"/ci-metrics\b"), lambda route: route.fulfill(status=503, json={}))
    page.goto(f"{home}/metrics?daily=open")
    expect(page.get_by_role("alert").first).to_be_visible()
    see(page)
    quiet_console.clear()


def test_the_finder(page: Page, home: str) -> None:
    page.goto(f"{home}/boxes")
    expect(page.locator("tbody tr").first).to_be_visible()
    page.keyboard.press("Control+k")
    for text, told in (("bench", "found"), ("nothing is called so", "Nothing fits")):
        page.get_by_role("combobox", name="Find").fill(text)
        expect(page.get_by_role("dialog").get_by_role("status")).to_contain_text(told)
        see(page, PLAIN)


def test_the_page_of_a_failure(page: Page, demo: Dashboard, home: str) -> None:
    asked, token = f"/api/orgs/{home.rpartition('/')[2]}/ci-failures?days=90&label=", demo.token()
    labels = rounds(("resolved", "flake"), ("resolved", "flake", "pending"))
    ids = [demo.ask(asked + label, token)["items"][0]["id"] for label in labels]
    see_each(page, home, [f"failures/{one}" for one in ids])


def test_the_page_of_a_commit(page: Page, demo: Dashboard, home: str) -> None:
    path = f"/api/orgs/{home.rpartition('/')[2]}/ci-metrics/real-bugs?days=90"
    bug = demo.ask(path, demo.token())["items"][0]
    commit = urlencode({"repoKey": bug["repoKey"], "sha": bug["brokenBy"]["to"], "days": 90})
    see_each(page, home, [f"commit?{commit}"])


def test_the_pages_of_lists(page: Page, home: str) -> None:
    see_each(page, home, LISTS)


def test_the_pages_of_lists_without_a_row(page: Page, home: str) -> None:
    see_each(page, home, [place + EMPTIED for place in ("failures", "runs", "audit-log")], PLAIN)


def test_the_pages_of_lists_of_which_some_rows_were_chosen(page: Page, home: str) -> None:
    see_each(page, home, [*CHOSEN, "review?list=reviewed&days=90"], PLAIN)


def test_the_pages_of_a_test_and_of_a_box(page: Page, home: str) -> None:
    page.goto(f"{home}/metrics?days=90")
    page.locator("#flaky tbody a").first.click()
    expect(
        page.get_by_role("region", name="Failures of the test").locator("tbody tr").first
    ).to_be_visible()
    see(page)
    page.locator(".columns").last.locator(".bars").press("Home")
    expect(page.locator(".columns-text")).to_be_visible()
    see(page)
    page.get_by_role("region", name="Boxes").get_by_role("link").first.click()
    expect(page.get_by_role("region", name="Shares")).to_be_visible()
    see(page)
    for place in ("test", "box"):
        page.goto(f"{home}/{place}")
        see(page)


def test_the_page_of_a_run(page: Page, home: str) -> None:
    page.goto(f"{home}/runs")
    page.locator("td[data-title=Run] a").first.click()
    expect(page.locator("#tests tbody tr").first).to_be_visible()
    for fold in page.locator(".changes .fold").all():
        fold.click()
    see(page)


def test_what_is_not_there(page: Page, home: str, quiet_console: list[str]) -> None:
    see_each(page, home, ("failures/" + NO_ID, "runs/" + NO_ID, "nothing"), PLAIN)
    quiet_console.clear()  # the browser itself tells of what was refused


def test_an_organization_without_reports(page: Page, new: str) -> None:
    see_each(page, new, ("metrics", *LISTS), PLAIN)


def test_a_box_whose_install_token_is_shown_and_one_that_is_renamed_or_removed(
    page: Page, new: str
) -> None:
    page.goto(f"{new}/boxes")
    page.get_by_role("textbox").first.fill("bench-1")
    page.keyboard.press("Enter")
    expect(page.get_by_role("cell", name="bench-1", exact=True)).to_be_visible()
    page.get_by_role("button", name="Rename bench-1").click()
    see(page, PLAIN)
    page.get_by_label("New name").fill("bench-2")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Remove bench-2").click()
    see(page, PLAIN)


def test_an_invitation_whose_link_is_shown_and_one_that_waits(
    page: Page, own: RunningServer, new: str
) -> None:
    guest = Account("guest@example.org", PASSWORD)
    body = {"email": guest.email, "password": guest.password, "organization": "Guest"}
    assert ask(own.url, "POST", "/api/auth/register", json_body=body).status == 201
    page.goto(f"{new}/members")
    page.get_by_label("Invite").fill(guest.email)
    page.keyboard.press("Enter")
    expect(page.get_by_role("cell", name=guest.email, exact=True)).to_be_visible()
    page.get_by_role("button", name="Leave this organization").click()
    see(page, PLAIN)

    link = page.locator(".token code").first.inner_text()
    home = Dashboard(own.url, guest).sign_in(page.context)
    page.goto(f"{own.url}/orgs/{home}/boxes")
    expect(page.locator(".waits")).to_be_visible()
    see(page, PLAIN)
    page.goto(link)
    expect(page.get_by_role("button", name="Accept")).to_be_visible()
    see(page, PLAIN)


def test_what_a_member_sees(page: Page, own: RunningServer) -> None:
    dashboard = Dashboard(own.url, Account(MEMBER_EMAIL, own.password))
    dashboard.sign_in(page.context)
    see_each(page, f"{own.url}/orgs/{own.org_id}", ("metrics", *LISTS), PLAIN)


def reach(page: Page, target: Locator, key: str = "Tab") -> None:
    """Go on by keyboard until the target has the focus, and see that it shows."""
    for _ in range(TABS):
        if target.evaluate_all("nodes => nodes.length > 0 && nodes[0] === document.activeElement"):
            expect(target.first).to_be_in_viewport()
            return
        page.keyboard.press(key)
    raise AssertionError(f"{target} is not reached")


def test_a_review_is_done_without_a_mouse(page: Page, demo: Dashboard) -> None:
    page.goto(f"{demo.url}/sign-in")
    expect(page.get_by_label("E-mail")).to_be_focused()
    page.keyboard.type(demo.account.email)
    page.keyboard.press("Tab")
    page.keyboard.type(demo.account.password)
    page.keyboard.press("Enter")
    expect(page.get_by_label("Tiles")).to_be_visible()

    reach(page, page.get_by_role("radio", checked=True))
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("days=90"))
    expect(page.get_by_role("radio", name="90d")).to_be_checked()

    reach(page, page.get_by_role("button", name=OTHER))
    page.keyboard.press("Enter")
    failure = page.locator("#other tbody a").first
    expect(failure).to_be_visible()
    reach(page, failure)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Checks")).to_be_visible()

    confirm = page.get_by_role("button", name=re.compile("^Confirm"))
    reset = page.get_by_role("button", name=re.compile("^Reset"))
    reach(page, confirm)
    page.keyboard.press("Enter")
    expect(reset).to_be_visible()
    reach(page, reset)
    page.keyboard.press("Enter")
    expect(reset).to_have_count(0)
    expect(confirm).to_be_visible()

    sign_out_by_keyboard(page)


def sign_out_by_keyboard(page: Page) -> None:
    reach(page, page.locator(".person .menu").last.get_by_role("button"), "Shift+Tab")
    page.keyboard.press("Enter")
    reach(page, page.get_by_role("button", name="Sign out"))
    page.keyboard.press("Enter")
    expect(page.get_by_label("Password")).to_be_visible()


def test_the_edges_of_what_is_pressed_or_filled_in_stand_out(page: Page, home: str) -> None:
    places = ("metrics?days=90&other=open", "review?days=90", "boxes", "runs", "members")
    for place in rounds(places[:3], places):
        page.goto(f"{home}/{place}")
        expect(page.locator("tbody tr, .cause").first).to_be_visible()
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            edges = page.evaluate(EDGES)

            assert edges
            for control, edge, behind in edges:
                lighter, darker = sorted((luminance(edge), luminance(behind)), reverse=True)
                assert (lighter + 0.05) / (darker + 0.05) >= 3, (place, scheme, control)


def test_forced_colours_show_which_page_it_is(page: Page, demo: Dashboard) -> None:
    page.emulate_media(forced_colors="active")
    page.goto(f"{demo.url}/orgs/{demo.sign_in(page.context)}/runs")
    links = page.get_by_role("navigation", name="Pages").get_by_role("link")
    expect(links.first).to_be_visible()

    line = "link => getComputedStyle(link).borderBottomColor"
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    lines = {link.get_attribute("aria-current"): link.evaluate(line) for link in links.all()}

    assert lines[None] == ground
    assert lines["page"] != ground
