# SPDX-License-Identifier: Apache-2.0
"""Addresses that somebody wrote by hand, shortened or kept too long: a page says what is wrong with
them and leads on.
"""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.soak import rounds
from tests.web.conftest import Dashboard

# What is asked for, which of it is named in which words, and what is left of it.
REFUSED: Sequence[tuple[str, Sequence[str], str]] = (
    ("metrics?days=0&other=open", ["days=0 should be greater than or equal to 1"], "?other=open"),
    (
        "metrics?days=abc&suite=x",
        ["days=abc should be a whole number, in digits only", "suite=x needs `repoKey`"],
        "",
    ),
    ("metrics?days=9999", ["days=9999 should be less than or equal to 3650"], ""),
    ("metrics?merges.sort=sha&merges.search=" + "x" * 201, ["200 characters"], "?merges.sort=sha"),
    ("boxes?days=0", ["days=0 should be greater than or equal to 1"], ""),
    ("runs?status=bogus&branch=main", ["status=bogus should be 'running'"], "?branch=main"),
    (
        "review?days=0&review.search=" + "x" * 1000,
        ["days=0 should be greater than or equal to 1", "at most 200 characters"],
        "",
    ),
    ("runs?runs.page=0", ["runs.page=0 should be greater than or equal to 1"], ""),
)
LONG = "x" * 1000
NO_ID = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def home(page: Page, demo: Dashboard) -> str:
    """Sign in; return the beginning of the organization's addresses."""
    return f"{demo.url}/orgs/{demo.sign_in(page.context)}"


def says_what_is_refused(box: Locator, words: Sequence[str]) -> None:
    expect(box).to_have_count(1)
    expect(box.get_by_role("listitem")).to_have_count(len(words))
    for said in words:
        expect(box).to_contain_text(said)
    expect(box.get_by_role("button", name="Try again")).to_have_count(0)


def test_values_that_the_api_refuses_are_named_and_left_out_by_a_click(
    page: Page, home: str, quiet_console: list[str]
) -> None:
    for asked, words, left in rounds(REFUSED[::2], REFUSED):
        page.goto(f"{home}/{asked}")
        says_what_is_refused(page.get_by_role("alert"), words)

        page.get_by_role("link", name=re.compile("^Show the page without")).click()

        expect(page.get_by_role("alert")).to_have_count(0)
        expect(page).to_have_url(f"{home}/{asked.partition('?')[0]}{left}")
        expect(page.locator("table, .cause").first).to_be_visible()
    quiet_console.clear()  # the browser itself tells of each refusal


def test_what_is_wrong_with_a_table_is_shown_once_at_the_table(
    page: Page, home: str, quiet_console: list[str]
) -> None:
    page.goto(f"{home}/metrics?flaky.sort=bogus&flaky.page=-1")
    with page.expect_response(re.compile("/flakiest-tests/history")) as strips:
        page.locator("#flaky").scroll_into_view_if_needed()
    assert strips.value.status == 400
    strips.value.finished()

    says_what_is_refused(page.get_by_role("alert"), ["flaky.sort=bogus", "flaky.page=-1"])
    expect(page.get_by_role("alert")).to_contain_text("'testId'")
    page.locator("#flaky").get_by_role("link", name="without these values").click()
    expect(page.locator("#flaky tbody tr").first).to_be_visible()
    expect(page).to_have_url(f"{home}/metrics")
    quiet_console.clear()


def test_other_addresses_of_a_page_lead_to_it(page: Page, home: str) -> None:
    for path in ("", "/", "/metrics/"):
        page.goto(f"{home}{path}?days=7#flaky")
        expect(page.get_by_label("Tiles")).to_be_visible()
        expect(page).to_have_url(f"{home}/metrics?days=7#flaky")
    page.goto(f"{home}/boxes/")
    expect(page.get_by_role("heading", level=1, name="Boxes")).to_be_visible()
    expect(page).to_have_url(f"{home}/boxes")


def test_a_missing_page_is_named_with_links_to_others(
    page: Page, home: str, quiet_console: list[str]
) -> None:
    some = (
        (f"{home}/../../nothing", "No such page", "/nothing"),
        (f"{home}/../{NO_ID}/runs", "No such organization", NO_ID),
        (f"{home}/failures/{NO_ID}", "No such failure", NO_ID),
        (f"{home}/runs/short", "No such run", "short"),
        (f"{home}/{LONG}", "No such page", "x" * 100 + "…"),
        (f"{home}/failures/{LONG}", "No such failure", "x" * 200 + "…"),
        (f"{home}/box", "No box is named", "/box"),
        (f"{home}/test?testId=boot", "No test is named", "/test?testId=boot"),
    )
    others = (
        (f"{home}/nothing", "No such page", "/nothing"),
        (f"{home}/failures/short", "No such failure", "short"),
        (f"{home}/runs/{NO_ID}", "No such run", NO_ID),
        (f"{home}/runs/{LONG}", "No such run", "x" * 200 + "…"),
        (f"{home}/../{LONG}/boxes", "No such organization", "x" * 200 + "…"),
    )
    for path, title, sought in rounds(some, some + others):
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
        if title in {"No such page", "No such organization"}:
            expect(page).to_have_title(f"{title} · hwci")
        expect(page.locator("main .empty code")).to_contain_text(sought)
        ways = page.get_by_role("list", name="Ways on")
        expect(ways.get_by_role("link", name="Metrics of ")).to_have_attribute(
            "href", re.compile(re.escape(f"{home}/metrics".partition("/orgs")[2]))
        )
        expect(ways.get_by_role("link", name="Home page")).to_be_visible()
        expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    quiet_console.clear()


def test_an_unknown_product_is_named_as_unknown(
    page: Page, home: str, quiet_console: list[str]
) -> None:
    page.goto(f"{home}/metrics?days=7&repoKey=acme/none&suite=none")
    expect(page.get_by_text("names the repository 'acme/none'")).to_be_visible()
    expect(page.get_by_label("Tiles")).to_have_count(0)

    page.get_by_role("link", name="Show all products").click()

    expect(page.get_by_label("Tiles")).to_be_visible()
    expect(page).to_have_url(f"{home}/metrics?days=7")
    assert all("status of 404" in line for line in quiet_console if line)
    quiet_console.clear()


# Each page, and the parameters of its address that a person may have written. `{failure}` and
# `{run}`: one that exists.
PARAMETERS: Mapping[str, Sequence[str]] = {
    "metrics": ("days", "asOf", "repoKey", "suite", "flaky.page", "merges.sort", "other.class"),
    "failures": ("days", "asOf", "repoKey", "suite", "label", "testId", "failures.page"),
    "review": ("days", "asOf", "repoKey", "suite", "cause", "review.search"),
    "runs": ("repoKey", "suite", "branch", "boxKey", "sha", "status", "from", "to", "testId"),
    "test": ("days", "asOf", "repoKey", "suite", "testId"),
    "box": ("days", "asOf", "repoKey", "suite", "boxKey"),
    "boxes": ("boxes.page",),
    "members": ("members.page", "invited.page"),
    "audit-log": ("audit.page",),
    "failures/{failure}": ("commit",),
    "runs/{run}": ("tests.search",),
}
WHOLE = {
    "metrics": {"other": "open"},
    "test": {"repoKey": "acme/sensor-node", "suite": "gateway-fw", "testId": "mqtt.tls_handshake"},
    "box": {"boxKey": "bench-1"},
}
RAW = re.compile(r"undefined|NaN|\[object|Invalid Date|Error\b|null\b|Something went wrong")


VALUES = ("nothing", LONG)
WRITTEN = {
    (path, value): rounds(names[(place + first) % 2 :: 4] or names, names)
    for place, (path, names) in enumerate(PARAMETERS.items())
    for first, value in enumerate(VALUES)
}
"""Which parameters have which value, for each page: in `make soak` all have both."""


@pytest.mark.parametrize(("path", "value"), WRITTEN, ids=lambda one: one[:20])
def test_a_page_says_what_is_not_there_and_leads_on(
    page: Page, home: str, demo: Dashboard, path: str, value: str, quiet_console: list[str]
) -> None:
    org, token = home.rpartition("/")[2], demo.token()
    failure = demo.ask(f"/api/orgs/{org}/ci-failures?limit=1", token)["items"][0]["id"]
    run = demo.ask(f"/api/orgs/{org}/runs?limit=1", token)["items"][0]["id"]
    for name in WRITTEN[path, value]:
        product = {"repoKey": "acme/sensor-node"} if name == "suite" else {}
        query = urlencode({**WHOLE.get(path, {}), **product, name: value})
        page.goto(f"{home}/{path.format(failure=failure, run=run)}?{query}")

        said = page.locator("main :is([role=alert], .empty, p[role=status]:not(:empty))").first
        expect(said, name).to_be_visible()
        expect(said, name).not_to_be_empty()
        expect(page.locator("h1")).to_have_count(1)
        ways = page.locator("main :is(a[href], button, input)").filter(visible=True)
        expect(ways.first, name).to_be_visible()
        assert not RAW.search(page.locator("main").inner_text()), name
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    assert all(re.search("status of 40[04]", line) for line in quiet_console if line)
    quiet_console.clear()


def test_the_inbox_says_that_a_cause_of_the_address_is_not_among_those_to_review(
    page: Page, home: str
) -> None:
    page.goto(f"{home}/review?cause={NO_ID}")

    expect(page.get_by_text("The cause of this address is not among these")).to_be_visible()
    page.get_by_text("7d", exact=True).click()  # another list, whose first cause is open
    expect(page.locator(".cause").first).to_be_visible()
    expect(page.get_by_text("The cause of this address")).to_have_count(0)


def test_products_that_do_not_exist_are_left_out_of_the_inbox_by_a_click(
    page: Page, home: str, quiet_console: list[str]
) -> None:
    page.goto(f"{home}/review?days=7&repoKey=acme/none&suite=none")

    page.get_by_role("link", name="Show all products").click()

    expect(page).to_have_url(f"{home}/review?days=7")
    expect(page.locator(".cause, .empty").first).to_be_visible()
    quiet_console.clear()


def test_a_choice_that_there_is_not_is_taken_out_of_the_address(page: Page, home: str) -> None:
    choices = (
        ("metrics?merges=nope&failing=nope&days=7", "metrics?days=7"),
        (f"metrics?flaky.rank={LONG}&bugs.by=x&zone=x&bugs.rows=x#flaky", "metrics#flaky"),
        ("review?list=nope&times=nope", "review"),
        ("metrics?merges=checked&other=open&flaky.rank=low&bugs.by=failure&bugs.rows=all",) * 2,
        ("metrics?bugs.by=cause&other.by=x&days=7#bugs", "metrics?bugs.by=cause&days=7#bugs"),
        ("metrics?flaky.tests=flaked&days=7",) * 2,
    )
    for asked, left in rounds(choices[:4], choices):
        page.goto(f"{home}/{asked}")
        expect(page.locator("table, .cause").first).to_be_visible()
        expect(page).to_have_url(f"{home}/{left}")


def test_a_row_that_an_address_unfolds_and_is_not_there_is_named_until_it_is_left_out(
    page: Page, home: str
) -> None:
    asked = {"bugs.cause": LONG, "flaky.boxes": "nothing", "days": "90"}
    page.goto(f"{home}/metrics?{urlencode(asked)}")
    for part, thing in (("bugs", "cause"), ("flaky", "test")):
        section = page.locator(f"section#{part}")
        expect(
            section.get_by_text(f"The {thing} of this address is not among these")
        ).to_be_visible()
        section.get_by_role("button", name="Leave it out").click()
        expect(section.get_by_text("of this address")).to_have_count(0)
    expect(page).to_have_url(f"{home}/metrics?days=90&bugs.by=cause")

    page.locator("#bugs").get_by_role("button", name=re.compile("^Review: ")).first.click()
    expect(page).to_have_url(re.compile("bugs.cause="))
    expect(page.get_by_text("of this address")).to_have_count(0)


def test_a_period_that_has_not_ended_yet_is_called_so(page: Page, home: str) -> None:
    page.goto(f"{home}/metrics?asOf=2099-01-01T00:00:00Z")
    expect(page.get_by_text("ends in the future")).to_be_visible()
    page.get_by_role("link", name="up to now", exact=True).click()
    expect(page.get_by_label("Tiles")).to_be_visible()
    expect(page.get_by_text("ends in the future")).to_have_count(0)


def test_a_commit_that_is_not_around_a_failure_is_named(
    page: Page, home: str, demo: Dashboard
) -> None:
    org = home.rpartition("/")[2]
    (failure,) = demo.ask(f"/api/orgs/{org}/ci-failures?limit=1", demo.token())["items"]
    page.goto(f"{home}/failures/{failure['id']}?commit={LONG}")
    expect(page.get_by_text("x… is none of the commits around this failure")).to_be_visible()

    page.locator(".commit .subject").first.click()

    expect(page.get_by_text("none of the commits")).to_have_count(0)
