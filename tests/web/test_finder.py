# SPDX-License-Identifier: Apache-2.0
"""The finder: Ctrl-K, a part of a name, Enter, and one is there; without a mouse, and with a screen
reader that is told what is chosen.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.support.asking import ask, bearer
from tests.web.conftest import Dashboard
from tests.web.live import site

PRODUCT = {"repoKey": "acme/sensor-node", "suite": "gateway-fw"}


@pytest.fixture
def home(page: Page, demo: Dashboard) -> str:
    """Open a page of the demo; return the beginning of its organization's addresses."""
    home = f"{demo.url}/orgs/{demo.sign_in(page.context)}"
    page.goto(f"{home}/boxes")
    expect(page.locator("tbody tr").first).to_be_visible()
    return home


def find(page: Page, text: str) -> Locator:
    """Type into the finder, and wait for all that fits; return it."""
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Find").fill(text)
    found = page.get_by_role("dialog", name="Find")
    expect(found.get_by_role("status")).to_have_text(re.compile("found|Nothing"))
    return found


# What is typed, and the kind, the page and the query of what it leads to.
LED_TO: Sequence[tuple[str, str, str, Mapping[str, str]]] = (
    ("lora join", "Tests", "test", {"suite": "sensor-fw", "testId": "radio.lora_join"}),
    ("gateway-fw", "Products", "metrics", PRODUCT),
    ("BENCH-2", "Boxes", "box", {"boxKey": "bench-2"}),
    ("audit", "Pages", "audit-log", {}),
    ("account", "Pages", "account", {}),
)


@pytest.mark.usefixtures("home")
def test_a_part_of_a_name_leads_there(page: Page) -> None:
    for text, kind, path, query in LED_TO:
        found = find(page, text)
        expect(found.get_by_role("group", name=kind).get_by_role("option").first).to_have_attribute(
            "aria-selected", "true"
        )

        page.keyboard.press("Enter")

        expect(page).to_have_url(re.compile(rf"/{path}(\?|$)"))
        expect(found).to_have_count(0)
        shown = parse_qs(urlsplit(page.url).query)
        assert query.items() <= {name: value for name, (value,) in shown.items()}.items()


def test_a_commit_is_found_by_the_beginning_of_its_hash(
    page: Page, home: str, demo: Dashboard
) -> None:
    asked = f"/api{urlsplit(home).path}/runs?limit=1"
    sha = demo.ask(asked, demo.token())["items"][0]["sha"]

    found = find(page, sha[:6].upper())
    expect(found.get_by_role("group", name="Commits").get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")

    expect(page).to_have_url(re.compile(rf"/commit\?.*sha={sha}"))
    expect(page.get_by_role("heading", level=1)).to_contain_text(sha[:12])


def test_a_merge_that_nothing_ran_on_is_found_with_its_cause_and_leads_to_its_page(
    page: Page, home: str, demo: Dashboard, quiet_console: list[str]
) -> None:
    asked = f"/api{urlsplit(home).path}/ci-analysis/unchecked-merges?days=90&limit=100"
    merges = demo.ask(asked, demo.token())["items"]
    merge = next(one for one in merges if one["cause"] == "nothing_ran")

    found = find(page, merge["sha"][:6])
    option = found.get_by_role("group", name="Merges not checked").get_by_role("option")
    expect(option).to_contain_text(merge["causeText"])
    page.keyboard.press("Enter")

    expect(page).to_have_url(re.compile(rf"/commit\?.*sha={merge['sha']}"))
    expect(page.locator("#merged")).to_contain_text(merge["causeText"])
    expect(page.get_by_text("No run of the last 90 days")).to_be_visible()
    quiet_console.clear()  # the browser names the answer 404


@pytest.mark.usefixtures("home")
def test_the_arrow_keys_choose_and_a_screen_reader_is_told(page: Page) -> None:
    found = find(page, "lora")
    field, options = page.get_by_role("combobox", name="Find"), found.get_by_role("option")
    names = options.all_inner_texts()
    assert len(names) > 2

    for key, place in (("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1)):
        page.keyboard.press(key)
        chosen = options.nth(place)
        expect(chosen).to_have_attribute("aria-selected", "true")
        own = chosen.get_attribute("id")
        expect(field).to_have_attribute("aria-activedescendant", str(own))
    expect(found.locator("[aria-selected=true]")).to_have_count(1)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")  # from the first to the last
    expect(options.last).to_have_attribute("aria-selected", "true")

    page.get_by_role("combobox", name="Find").fill("no such thing")
    expect(found.get_by_role("status")).to_contain_text("Nothing fits “no such thing”")
    page.keyboard.press("Enter")
    expect(found).to_be_visible()


@pytest.mark.usefixtures("home")
def test_escape_gives_the_focus_back_and_the_button_opens_it_as_well(page: Page) -> None:
    link = page.get_by_role("navigation", name="Pages").get_by_role("link", name="Runs")
    link.focus()
    found = find(page, "lora")
    page.keyboard.press("Escape")
    expect(found).to_have_count(0)
    expect(link).to_be_focused()

    page.get_by_role("button", name="Find").click()

    expect(page.get_by_role("combobox", name="Find")).to_be_focused()
    expect(page.get_by_role("combobox", name="Find")).to_have_value("")
    page.get_by_role("option", name="Runs").click()
    expect(page.get_by_role("heading", level=1, name="Runs")).to_be_visible()


@pytest.mark.usefixtures("home")
def test_a_server_that_refuses_is_heard_and_the_rest_is_found(
    page: Page, quiet_console: list[str]
) -> None:
    page.route("**/ci-analysis/tests?*", lambda route: route.abort())
    found = find(page, "bench-2")

    expect(found.get_by_role("alert")).to_be_visible()
    expect(found.get_by_role("option", name="bench-2")).to_be_visible()
    quiet_console.clear()  # the browser itself tells of what failed


def test_while_ci_metrics_is_off_only_pages_and_boxes_are_asked_for(
    page: Page, tmp_path: Path
) -> None:
    with site(page, tmp_path) as own:
        body = {"name": "Other"}
        token = bearer(own.dashboard.token())
        other = ask(own.server.url, "POST", "/api/orgs", token, json_body=body).json["id"]
        page.goto(f"{own.server.url}/orgs/{other}/members")
        expect(page.locator("tbody tr").first).to_be_visible()

        found = find(page, "runs")

        expect(found.get_by_role("option")).to_have_text(["Runs"])
        expect(found.get_by_role("alert")).to_have_count(0)


@pytest.mark.own_tab
def test_what_is_typed_before_the_list_is_loaded_is_kept_and_enter_waits_for_the_whole_list(
    page: Page, demo: Dashboard
) -> None:
    page.goto(f"{demo.url}/orgs/{demo.sign_in(page.context)}/members")
    expect(page.locator("tbody tr").first).to_be_visible()
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/finder.js", hold)
    page.route("**/ci-analysis/tests?*", hold)

    with page.expect_request("**/finder.js"):
        page.keyboard.press("Control+k")
    page.keyboard.type("lora join")
    page.keyboard.press("Enter")
    expect(page.get_by_role("combobox", name="Find")).to_have_value("lora join")
    with page.expect_request("**/ci-analysis/tests?*"):
        held.pop().continue_()
    expect(page.get_by_role("dialog", name="Find").get_by_role("status")).to_have_text("Searching…")
    assert page.url.endswith("/members")
    held.pop().continue_()

    expect(page).to_have_url(re.compile(r"/test\?.*testId=radio\.lora_join"))


@pytest.mark.usefixtures("home")
def test_enter_on_a_list_of_the_text_before_goes_to_what_fits_the_whole_text(page: Page) -> None:
    find(page, "lora join")

    page.get_by_role("combobox", name="Find").fill("tls handshake")
    page.keyboard.press("Enter")  # at once: it has not been asked for yet

    expect(page).to_have_url(re.compile(r"/test\?.*testId=mqtt\.tls_handshake"))
