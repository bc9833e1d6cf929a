# SPDX-License-Identifier: Apache-2.0
"""Whatever CI, people and addresses say, a page shows it as text: nothing of it runs, nothing is
loaded, no rule of the document is broken, and no page grows wider than its window.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from hwci.wire.limits import PAGE_LIMIT_MAX
from tests.support.asking import ask, bearer
from tests.support.running import RunningServer
from tests.support.soak import rounds
from tests.web.conftest import Account, Dashboard, open_own_menu
from tests.web.hostile import GUEST, SIXTY, TEXTS, hostile_server, ids_of, in_address, three_from
from tests.web.reading import change_address, go

WATCH = """
window.broken = [];
const note = (event) => window.broken.push(event.violatedDirective);
document.addEventListener("securitypolicyviolation", note);
"""
# What a text could have done to a page, though nothing was said of it.
HARM = """() => {
  const all = [...document.querySelectorAll("*")];
  return {
    ran: "hacked" in window,
    broken: window.broken,
    listening: all.filter((e) => e.getAttributeNames().some((n) => n.startsWith("on"))).length,
    foreign: document.querySelectorAll("body script, iframe, object, base, img, style").length,
    leading: [...document.links].filter((a) => a.origin !== location.origin).map((a) => a.href),
    wider: Math.max(0, document.documentElement.scrollWidth - window.innerWidth),
  };
}"""
HARMLESS = {"ran": False, "broken": [], "listening": 0, "foreign": 0, "leading": [], "wider": 0}
NARROW: ViewportSize = {"width": 360, "height": 740}
WIDE: ViewportSize = {"width": 1280, "height": 900}
TEXT_OF_EACH = "nodes => nodes.map(node => node.textContent)"
# The browser itself tells of every answer that refuses; it is asked for what is not there.
REFUSED = "error: Failed to load resource"


@pytest.fixture(scope="module")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with hostile_server(tmp_path_factory.mktemp("hostile")) as server:
        yield server


NOT_OURS = (
    "https://example.org/orgs/x/metrics",
    "/\\\\example.org/orgs/x/metrics",
    "//example.org/",
    "javascript:window.hacked=1",
)


class Visitor:
    """Someone who looks at pages, and sees whether they were harmed."""

    def __init__(self, page: Page, server: RunningServer) -> None:
        self.page, self.server = page, server
        self.dashboard = Dashboard(server.url, Account(server.email, server.password))
        self.dashboard.sign_in(page.context)
        self.org = server.org_id
        self.home = f"{server.url}/orgs/{self.org}"

    def open(self, path: str) -> None:
        self.page.goto(f"{self.home}/{path}")

    def go(self, path: str) -> None:
        """Go to another page without loading the document again."""
        go(self.page, f"{self.home}/{path}")

    def texts(self, selector: str) -> set[str]:
        return set(self.page.locator(selector).evaluate_all(TEXT_OF_EACH))

    def settled(self) -> None:
        """See that nothing is awaited any more, and that the page is unharmed, narrow and wide."""
        expect(self.page.locator(".waiting")).to_have_count(0)
        for size in (NARROW, WIDE):
            self.page.set_viewport_size(size)
            assert self.page.evaluate(HARM) == HARMLESS, self.page.url

    def ask(self, path: str) -> Any:
        """Read all items of a list of the API."""
        address = f"/api/orgs/{self.org}/{path}"
        joined = "&" if "?" in path else "?"
        items: list[Any] = []
        while True:
            page = len(items) // 100 + 1
            answer = ask(
                self.server.url,
                "GET",
                f"{address}{joined}limit=100&page={page}",
                bearer(self.server.token),
            ).json
            items += answer["items"]
            if len(items) == answer["total"]:
                return items


@pytest.fixture(scope="module", autouse=True)
def watched(_tab_of_a_file: Page) -> None:
    """Watch all that a page of this file does."""
    _tab_of_a_file.add_init_script(WATCH)
    _tab_of_a_file.on("dialog", lambda dialog: pytest.fail(f"a dialog: {dialog.message}"))


@pytest.fixture
def visitor(page: Page, seeded: RunningServer) -> Visitor:
    return Visitor(page, seeded)


def part_of(first: int) -> Sequence[str]:
    """Return every third text, from one that differs between tests; all of them in `make soak`."""
    return rounds(TEXTS[first::3], TEXTS)


def only_refused(said: list[str]) -> None:
    """Take out what the browser says of answers that refuse."""
    said[:] = [line for line in said if line and not line.startswith(REFUSED)]


def pages(name: str, *, rows: int, more: int = 0) -> Iterable[str]:
    """Return the queries of a list's pages, if each text has so many rows there, and `more`."""
    last = -(-(rows * len(TEXTS) + more) // PAGE_LIMIT_MAX)
    return [f"{name}.limit={PAGE_LIMIT_MAX}&{name}.page={page}" for page in range(1, last + 1)]


def test_there_are_sixty() -> None:
    assert len(set(SIXTY)) == 60


def test_the_metrics_page_shows_all_of_them_as_text(visitor: Visitor) -> None:
    tests: set[str] = set()
    branches: set[str] = set()
    named = (pages(name, rows=3) for name in ("merges", "bugs", "other", "flaky"))
    for tables in map("&".join, zip(*named, strict=True)):
        visitor.open(f"metrics?other=open&daily=open&timesToFix=open&{tables}")
        flaky = visitor.page.locator("#flaky")
        # Tables above that fill up would push it out of sight again.
        expect(flaky.locator("tbody tr").first).to_be_visible()
        expect(visitor.page.locator(".waiting")).to_have_count(0)
        flaky.scroll_into_view_if_needed()
        expect(flaky.locator(".heat rect").first).to_be_attached()
        visitor.settled()
        tests |= visitor.texts("#bugs td > a") | visitor.texts("#other td > a")
        branches |= visitor.texts("#merges td[data-title=Branch]")

    assert tests == {test for text in TEXTS for test in ids_of(text)}
    assert branches == set(TEXTS)


def test_the_tables_by_cause_show_all_of_them_as_text(visitor: Visitor) -> None:
    tests: set[str] = set()
    named = (pages(name, rows=3) for name in ("bugs", "other"))
    for tables in map("&".join, zip(*named, strict=True)):
        visitor.open(f"metrics?other=open&bugs.by=cause&other.by=cause&{tables}")
        for table in ("#bugs", "#other"):
            expect(visitor.page.locator(f"{table} tbody tr, {table} .empty").first).to_be_visible()
        expect(visitor.page.locator(".waiting")).to_have_count(0)
        visitor.settled()
        tests |= visitor.texts("#bugs td > a") | visitor.texts("#other td > a")

    assert tests == {test for text in TEXTS for test in ids_of(text)}


def test_the_page_of_failures_shows_all_of_them_as_text(visitor: Visitor) -> None:
    seeded = visitor.ask("ci-failures")
    tests: set[str] = set()
    for page in pages("failures", rows=0, more=len(seeded)):
        visitor.open(f"failures?{page}")
        expect(visitor.page.locator("tbody tr").first).to_be_visible()
        visitor.settled()
        tests |= visitor.texts("tbody td:first-child > a")
    assert tests == {row["testId"] for row in seeded}
    assert tests == {test for text in TEXTS for test in ids_of(text)}


def test_the_finder_shows_each_as_text(visitor: Visitor) -> None:
    visitor.open("boxes")
    expect(visitor.page.locator("tbody tr").first).to_be_visible()
    visitor.page.keyboard.press("Control+k")
    field = visitor.page.get_by_role("combobox", name="Find")
    found = visitor.page.get_by_role("dialog")
    for text in part_of(1):
        field.fill(text)
        expect(found.get_by_role("status")).to_have_text(re.compile("found|Nothing fits"))
        visitor.settled()
        field.press("ArrowDown")
    assert {"Boxes", "Tests"} <= {
        name.partition(":")[0] for name in visitor.texts(".finder [role=group] > :first-child")
    }


def test_the_failures_of_one_test_are_those_of_its_whole_name(visitor: Visitor) -> None:
    visitor.open("failures")
    for text in part_of(0):
        change_address(visitor.page, f"{visitor.home}/failures?testId={in_address(text)}")
        found = visitor.page.locator("tbody td:first-child > a")
        expect(found).to_have_text([text])
        visitor.settled()
        assert visitor.texts("tbody td:first-child > a") == {text}
        assert text in visitor.texts(".only strong")


def test_the_page_of_a_test_shows_each_as_text(visitor: Visitor) -> None:
    visitor.open("test")
    for text in part_of(2):
        word = in_address(text)
        visitor.go(f"test?repoKey={word}&suite={word}&testId={word}")
        expect(visitor.page.get_by_role("region", name="Boxes").locator("tbody tr")).to_have_count(
            1
        )
        visitor.settled()
        assert visitor.texts("h1") == {text}
        assert visitor.texts("td[data-title=Box]") == {text}
        assert visitor.texts(".over-time li:nth-child(2) > span") == {text}
        visitor.page.locator(".commits .mark").last.hover()
        assert any(said.endswith(text) for said in visitor.texts(".columns-text"))


def test_the_page_of_a_box_shows_each_as_text(visitor: Visitor) -> None:
    visitor.open("box")
    for text in part_of(1):
        visitor.go(f"box?boxKey={in_address(text)}")
        runs = visitor.page.get_by_role("region", name="Runs of the box").locator("tbody tr")
        expect(runs).to_have_count(3)
        visitor.settled()
        assert visitor.texts("h1") == {text}
        assert visitor.texts("td[data-title=Test] a") == set()
        assert text in "".join(visitor.texts("td[data-title=Product]"))


def test_the_page_of_a_failure_shows_each_as_text(
    visitor: Visitor, quiet_console: list[str]
) -> None:
    visitor.open("failures/none")
    reviewed = visitor.ask("ci-metrics/real-bugs?search=reviewed")
    id_of = {row["repoKey"]: row["id"] for row in reviewed}
    for text in part_of(1):
        visitor.go(f"failures/{id_of[text]}?commits=all")
        visitor.settled()
        assert set(three_from(text)) <= visitor.texts(".commit .subject")
        assert set(three_from(text)) <= visitor.texts(".files code")
        said = visitor.page.locator("main").evaluate("node => node.textContent")
        assert f"reviewed {text}" in said
    only_refused(quiet_console)


def test_the_inbox_of_reviews_shows_each_as_text_and_keys_go_through_it(visitor: Visitor) -> None:
    told = visitor.ask("ci-analysis/causes?toReview=true")[:100]  # the most that the page shows
    visitor.open("review")
    rows, tests, paths, lines = visitor.page.locator(".cause"), set(), set(), set()
    expect(rows).to_have_count(len(told))
    told = told[: rounds(len(TEXTS), len(told))]  # a text is in several
    for number in range(len(told)):
        expect(rows.nth(number).locator("> [aria-expanded=true]")).to_have_count(1)
        tests |= visitor.texts(".cause .commits a[href*='/failures/']")
        paths |= visitor.texts(".cause .files-of-kind code")
        lines |= visitor.texts(".cause .message")
        if number % 20 == 0:
            visitor.settled()
        visitor.page.keyboard.press("j")
    assert tests == {row["testId"] for one in told for row in one["failures"]}
    commits = [commit for one in told for commit in one["commits"]]
    assert paths == {of_kind["first"] for commit in commits for of_kind in commit["files"]}
    assert lines == {said["line"] for one in told for said in one["messages"]}
    assert len(lines) > len(TEXTS) / 4


def test_the_pages_of_runs_show_each_as_text(visitor: Visitor) -> None:
    boxes: set[str] = set()
    for page in pages("runs", rows=3):
        visitor.open(f"runs?{page}")
        expect(visitor.page.locator("tbody tr").first).to_be_visible()
        visitor.settled()
        boxes |= visitor.texts("td[data-title=Box] a")
    assert boxes == set(TEXTS)


def test_the_page_of_a_run_shows_each_as_text(visitor: Visitor, quiet_console: list[str]) -> None:
    id_of = {run["branch"]: run["id"] for run in visitor.ask("runs") if run["tests"]["failed"]}
    assert set(id_of) == set(TEXTS)
    visitor.open("runs/none")
    for text in part_of(2):
        visitor.go(f"runs/{id_of[text]}")
        expect(visitor.page.locator("#tests tbody a")).to_have_count(3)
        visitor.page.locator(".changes .fold").first.click()
        visitor.settled()
        assert visitor.texts("#tests tbody a") == set(ids_of(text))
        assert set(three_from(text)) <= visitor.texts(".subject-text")
        assert set(three_from(text)) <= visitor.texts(".paths code")
    only_refused(quiet_console)


def test_the_pages_of_boxes_and_of_the_audit_log_show_each_as_text(visitor: Visitor) -> None:
    boxes: set[str] = set()
    people: set[str] = set()
    for page in pages("boxes", rows=1):
        visitor.open(f"boxes?{page}")
        expect(visitor.page.locator(".part.moving tbody tr")).to_have_count(len(TEXTS))
        visitor.settled()
        boxes |= visitor.texts("td[data-title=Box]")
    for page in pages("audit", rows=4):
        visitor.open(f"audit-log?{page}")
        expect(visitor.page.locator("tbody tr").first).to_be_visible()
        visitor.settled()
        people |= visitor.texts("td[data-title=Who]")
    assert boxes == set(TEXTS)
    assert set(TEXTS) <= people


def test_the_pages_of_members_and_invitations_show_each_as_text(visitor: Visitor) -> None:
    people: set[str] = set()
    for page in pages("members", rows=1, more=3):
        visitor.open(f"members?{page}")
        expect(visitor.page.locator("tbody tr").first).to_be_visible()
        visitor.settled()
        people |= visitor.texts("td[data-title=Name]")
    assert set(TEXTS) <= people

    visitor.dashboard.sign_in(visitor.page.context, Account(GUEST, visitor.server.password))
    organizations: set[str] = set()
    for page in pages("invitations", rows=1):
        visitor.page.goto(f"{visitor.server.url}/invitations?{page}")
        expect(visitor.page.locator("tbody tr")).to_have_count(len(TEXTS))
        visitor.settled()
        organizations |= visitor.texts("td[data-title=Organization]")
    assert organizations == set(TEXTS)


def test_an_organization_and_a_person_may_have_each_as_their_name(visitor: Visitor) -> None:
    visitor.open("boxes")
    visitor.page.get_by_role("button", name="Organization: ").click()
    offered = visitor.page.locator(".choices a")
    expect(offered).to_have_count(len(TEXTS) + 1)
    names = offered.evaluate_all("nodes => nodes.map(node => node.textContent)")
    assert set(TEXTS) <= set(names)


def test_an_address_may_say_any_of_them(visitor: Visitor, quiet_console: list[str]) -> None:
    for number, text in enumerate(rounds(TEXTS[::2], TEXTS)):
        word = in_address(text)
        places = (
            f"metrics?repoKey={word}&suite={word}&other=open&flaky.boxes={word}#{word}",
            f"metrics?days={word}&asOf={word}",
            f"metrics?other={word}&daily={word}&times={word}&flaky.search={word}&bugs.sort={word}",
            f"runs?repoKey={word}&branch={word}&boxKey={word}&sha={word}&status={word}",
            f"runs?helloOk={word}&from={word}&to={word}",
            f"failures?label={word}&testId={word}&asOf={word}&days={word}",
            f"failures?testId={word}&failures.search={word}&failures.sort={word}",
            f"test?repoKey={word}&suite={word}&testId={word}",
            f"test?repoKey={word}&suite={word}&testId=none&days={word}&asOf={word}",
            f"box?boxKey={word}&repoKey={word}&days={word}&asOf={word}",
        )
        visitor.open(places[number % len(places)])
        expect(visitor.page.get_by_role("heading", level=1)).to_be_visible()
        visitor.settled()
    only_refused(quiet_console)


def test_a_path_may_hold_any_of_them(visitor: Visitor, quiet_console: list[str]) -> None:
    page, own = visitor.page, f"/orgs/{visitor.org}"
    for number, text in enumerate(part_of(1)):
        word = in_address(text)
        places = (
            f"/orgs/{word}/metrics",
            f"{own}/failures/{word}",
            f"{own}/runs/{word}",
            f"/{word}",
        )
        page.goto(visitor.server.url + places[number % len(places)])
        expect(page.get_by_role("banner")).to_be_visible()
        visitor.settled()
    only_refused(quiet_console)


def test_a_sign_in_leads_nowhere_but_to_a_page_of_ours(
    page: Page, seeded: RunningServer, quiet_console: list[str]
) -> None:
    visitor = Visitor(page, seeded)
    page.context.clear_cookies()
    page.goto(f"{seeded.url}/sign-in")
    for text in rounds(NOT_OURS, (*NOT_OURS, *part_of(0)[::4])):
        page.goto(f"{seeded.url}/sign-in?next={in_address(text)}#{in_address(text)}")
        page.get_by_label("E-mail").fill(seeded.email)
        page.get_by_label("Password").fill(seeded.password)
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("heading", level=1, name="Metrics")).to_be_visible()
        visitor.settled()
        assert page.url.startswith(f"{seeded.url}/orgs/")
        open_own_menu(page)
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_label("Password")).to_be_visible()
    only_refused(quiet_console)


def test_a_set_up_link_may_hold_any_of_them(page: Page, seeded: RunningServer) -> None:
    visitor = Visitor(page, seeded)
    page.context.clear_cookies()  # a link leads who is signed in on to their invitations
    for text in part_of(2):
        page.goto(f"{seeded.url}/setup?{in_address(text)}#{in_address(text)}")
        expect(page.get_by_label("Password")).to_be_visible()
        visitor.settled()


def test_what_is_typed_into_a_search_is_text(visitor: Visitor) -> None:
    visitor.open("metrics")
    field = visitor.page.get_by_label("Search Merges, not checked")
    for text in TEXTS[2::6]:
        field.fill(text)
        expect(visitor.page.locator("#merges td[data-title=Branch]").first).to_contain_text(text)
        visitor.settled()
