# SPDX-License-Identifier: Apache-2.0
"""The page of boxes: which are there and online; owners and admins add one and see its install
token once (contract, "Boxes").
"""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from hwci.demo.project import BOXES
from tests.support.asking import ask, bearer
from tests.support.running import ADMIN_EMAIL, MEMBER_EMAIL
from tests.support.soak import rounds
from tests.web.conftest import Dashboard
from tests.web.live import Site, cells, row, site

TOKEN = ".token .copyable code"


@pytest.fixture
def own(page: Page, tmp_path: Path) -> Iterator[Site]:
    with site(page, tmp_path) as made:
        yield made


def listed(page: Page, box: str) -> Locator:
    """Return the row of a box in the list, not in what stands below it."""
    return page.get_by_role("region", name="Boxes", exact=True).locator("tbody tr", has_text=box)


def add(page: Page, name: str) -> None:
    page.get_by_label("New box").fill(name)
    page.get_by_role("button", name="Add box").click()


def installs(own: Site, token: str) -> int:
    body = {"installToken": token}
    return ask(own.server.url, "POST", "/api/boxes/install", json_body=body).status


def state(shown: Locator) -> list[str]:
    """Return status and key of a box."""
    found = cells(shown)
    return [found[1], found[4]]


@pytest.mark.parametrize("email", rounds([ADMIN_EMAIL], [None, ADMIN_EMAIL]))
def test_a_box_that_is_added_shows_its_token_once(own: Site, email: str | None) -> None:
    own.sign_in(email)
    own.open("boxes")
    expect(own.page.get_by_text("There is no box yet")).to_be_visible()
    expect(own.page.get_by_text("hwci boxes create")).to_be_visible()

    add(own.page, "bench-7")
    shown = own.page.locator(".token")
    expect(shown.get_by_role("heading")).to_be_focused()
    expect(shown).to_contain_text(f"hwci box install --url {own.server.url}")
    token = own.page.locator(TOKEN).first.inner_text()
    expect(listed(own.page, "bench-7")).to_contain_text("not installed")

    own.page.reload()
    expect(listed(own.page, "bench-7")).to_be_visible()
    assert token not in own.page.content()
    assert token not in own.page.evaluate("JSON.stringify([localStorage, sessionStorage])")
    assert installs(own, token) == 201
    own.page.reload()
    expect(listed(own.page, "bench-7")).to_contain_text("online")
    assert state(listed(own.page, "bench-7")) == ["online", "installed"]


@pytest.mark.own_tab
def test_a_new_install_token_can_be_copied_works_and_is_forgotten_when_done(own: Site) -> None:
    page = own.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    own.benches.installed("bench-7")
    own.open("boxes")

    page.get_by_role("button", name="New install token for bench-7").click()
    token = page.locator(TOKEN).first.inner_text()
    page.get_by_role("button", name="Copy install token").click()
    expect(page.get_by_text("copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == token
    page.get_by_role("button", name="Done").click()

    expect(page.locator(".token")).to_have_count(0)
    expect(page.get_by_label("New box")).to_be_focused()
    assert token not in page.content()
    assert installs(own, token) == 201


def test_a_name_of_another_box_is_refused_beside_the_form_and_beside_the_new_name(
    own: Site, quiet_console: list[str]
) -> None:
    own.benches.installed("bench-7")
    own.benches.installed("bench-8")
    own.open("boxes")

    add(own.page, "bench-7")

    expect(own.page.get_by_role("alert")).to_have_text(
        "A box with this name exists. Make a new install token for it in the list below."
    )
    expect(own.page.get_by_label("New box")).to_have_value("bench-7")

    rename(own.page, "bench-7", "bench-8")

    expect(own.page.get_by_role("alert").last).to_have_text("Another box has this name.")
    expect(own.page.get_by_label("New name")).to_have_value("bench-8")
    own.page.get_by_role("button", name="Cancel").click()
    expect(own.page.get_by_label("New name")).to_have_count(0)
    expect(own.page.get_by_role("button", name="Rename bench-7")).to_be_focused()
    assert {box["name"] for box in own.ask("boxes")["items"]} == {"bench-7", "bench-8"}
    quiet_console[:] = [line for line in quiet_console if "409" not in line]


@pytest.mark.own_tab
def test_a_box_that_sends_comes_online_while_the_page_is_open(own: Site) -> None:
    key = own.benches.installed("bench-7")
    own.benches.hands.move(minutes=4)
    own.page.clock.install()
    own.open("boxes")
    expect(listed(own.page, "bench-7")).to_contain_text("offline")

    own.benches.beat(key)
    own.page.clock.fast_forward(60_000)

    expect(listed(own.page, "bench-7")).to_contain_text("online")


def test_the_benches_of_the_demo_are_boxes_that_are_online(page: Page, demo: Dashboard) -> None:
    page.goto(f"{demo.url}/orgs/{demo.sign_in(page.context)}/boxes")

    for name in BOXES:
        expect(listed(page, name)).to_contain_text("online")
        assert state(listed(page, name)) == ["online", "installed"]


def test_a_box_leads_to_its_page_which_has_its_runs(own: Site) -> None:
    own.benches.installed("bench-7")
    own.benches.report(run_id=71, box_key="bench-7")
    own.benches.report(run_id=72, box_key="other")
    own.open("boxes")

    listed(own.page, "bench-7").get_by_role("link", name="bench-7").click()

    expect(own.page).to_have_url(re.compile(r"/box\?boxKey=bench-7$"))
    expect(row(own.page, "run 71")).to_be_visible()
    expect(row(own.page, "run 72")).to_have_count(0)


def rename(page: Page, box: str, name: str) -> None:
    page.get_by_role("button", name=f"Rename {box}").click()
    expect(page.get_by_label("New name")).to_be_focused()
    page.keyboard.type(name)  # in place of the old one, which is selected
    page.keyboard.press("Enter")


@pytest.mark.parametrize("email", rounds([None], [None, ADMIN_EMAIL]))
def test_a_box_is_renamed_and_that_is_undone(own: Site, email: str | None) -> None:
    key = own.benches.installed("bench-7")
    own.benches.report(box_key="bench-7")
    own.sign_in(email)
    own.open("boxes")

    rename(own.page, "bench-7", "bench-9")

    expect(listed(own.page, "bench-9")).to_contain_text("online")
    expect(listed(own.page, "bench-7")).to_contain_text("only reported")
    expect(own.page.get_by_role("button", name="Rename bench-9", exact=True)).to_be_focused()
    message = own.page.locator(".toast")
    expect(message).to_contain_text("Box bench-7 is bench-9 now. Give the bench this name too")
    assert own.benches.beat(key).status == 204

    own.page.get_by_role("button", name="Undo: rename bench-9 to bench-7").click()
    expect(message).to_contain_text("Box bench-9 is bench-7 now.")
    expect(listed(own.page, "bench-7")).to_contain_text("online")
    assert [box["name"] for box in own.ask("boxes?reported=true")["items"]] == ["bench-7"]


def test_a_box_is_removed_after_a_second_click_and_its_runs_stay(own: Site) -> None:
    key = own.benches.installed("bench-7")
    own.benches.installed("bench-8")
    own.benches.report(run_id=71, box_key="bench-7")
    own.open("boxes")
    own.page.get_by_role("button", name="New install token for bench-7").click()
    expect(own.page.locator(TOKEN)).not_to_have_count(0)

    own.page.get_by_role("button", name="Remove bench-7").click()
    asked = own.page.get_by_role("group", name="Remove bench-7")
    expect(asked.get_by_role("button", name="Keep")).to_be_focused()
    assert own.benches.beat(key).status == 204
    asked.get_by_role("button", name="Remove").click()

    expect(own.page.locator(".toast")).to_contain_text("Box bench-7 is removed")
    expect(listed(own.page, "bench-7")).to_contain_text("only reported")
    expect(listed(own.page, "bench-7").get_by_role("button")).to_have_text(["Note…"])
    expect(own.page.locator(".token")).to_have_count(0)
    assert own.benches.beat(key).status == 401
    assert [run["runId"] for run in own.benches.listed()] == [71]


def others_than_of_tables(page: Page) -> list[str]:
    """Return the buttons of the page that stand below no table."""
    return page.locator("main button:not(.table-foot button)").all_inner_texts()


def test_a_member_sees_the_list_and_its_notes_and_no_controls(own: Site) -> None:
    own.sign_in(MEMBER_EMAIL)
    own.open("boxes")
    expect(own.page.get_by_text("An owner or admin adds one")).to_be_visible()
    own.benches.installed("bench-7")
    own.benches.member("POST", "box-notes", {"boxKey": "bench-7", "text": "new USB cable"})

    own.page.reload()

    expect(listed(own.page, "bench-7")).to_contain_text("online")
    expect(own.page.get_by_role("link", name="Runs", exact=True)).to_be_visible()
    expect(own.page.get_by_role("region", name="Notes").first).to_contain_text("new USB cable")
    expect(own.page.locator("main").get_by_role("textbox")).to_have_count(0)
    assert others_than_of_tables(own.page) == ["Exact times", "Dates"]


def test_the_worse_box_stands_first_on_the_page_in_words_with_its_counts(own: Site) -> None:
    for number in range(24):
        failed = number % 2 and "fail"
        item = {"id": "i2c", "outcome": failed or "pass", "attempts": 1, "duration_s": 1}
        box = f"bench-{number % 2 + 1}"
        own.benches.report(run_id=number, sha=f"{number // 2:07x}", box_key=box, tests=[item])
    own.open("boxes")
    compared = own.page.get_by_role("region", name="Boxes compared")

    expect(compared.locator("tbody tr")).to_have_count(2)
    worst = cells(compared.locator("tbody tr").first)
    assert worst[0] == "bench-2"
    assert worst[1].startswith("worse fails where bench-1 never does")
    assert worst[1].endswith("\n12 of 12 against 0 of 12 on the same commits")
    told = own.ask("ci-analysis/boxes?days=90")["boxes"][0]["neverReached"]
    within = f"{100 * told['low']:.1f} to {100 * told['high']:.1f} %"
    assert worst[2:4] == [f"0.0 % (0 of 12)\n{within}", "0.0 % (0 of 12)"]
    regions = own.page.get_by_role("region").evaluate_all("all => all.map(one => one.ariaLabel)")
    assert regions.index("Boxes compared") < regions.index("Boxes")
    expect(own.page.get_by_role("listitem").filter(has_text="i2c")).to_contain_text(
        "fails on bench-2 only (12 of 12 runs against 0 of 12 elsewhere on the same commits)"
    )


# Days ago.
@pytest.mark.parametrize(("noted", "counted"), rounds([(5, 1)], [(None, 3), (5, 1), (1, 3)]))
def test_the_runs_that_never_reached_the_hardware_are_those_that_the_number_counts(
    own: Site, noted: int | None, counted: int
) -> None:
    now = own.benches.hands.now
    for days in (100, 20, 10, 2):
        at = (now - timedelta(days=days)).isoformat()
        times = {"started_at": at, "ended_at": at}
        own.benches.report(run_id=days, hello_ok=False, tests=[], box_key="bench-1", **times)
    if noted:
        at = (now - timedelta(days=noted)).isoformat()
        path = f"/api/orgs/{own.server.org_id}/box-notes"
        note = {"boxKey": "bench-1", "at": at, "text": "new cable"}
        made = ask(own.server.url, "POST", path, bearer(own.server.token), json_body=note)
        assert made.status == 201, made.body
    own.open("boxes")
    link = own.page.get_by_role("region", name="Boxes compared").locator("tbody a").nth(1)
    expect(link).to_have_text(f"100.0 % ({counted} of {counted})")

    link.click()

    expect(own.page.locator("tbody tr")).to_have_count(counted)


def test_a_period_without_a_run_has_no_box_to_compare_and_says_so(own: Site) -> None:
    at = (own.benches.hands.now - timedelta(days=20)).isoformat()
    own.benches.report(box_key="bench-1", started_at=at, ended_at=at)
    own.open("boxes")
    compared = own.page.get_by_role("region", name="Boxes compared").locator("tbody tr")
    expect(compared).to_have_count(1)

    own.page.get_by_label("7d").check()

    expect(own.page.get_by_text("no run was reported, so there is no box")).to_be_visible()
    expect(compared).to_have_count(0)


def test_a_note_is_added_under_its_box_and_removed_again(own: Site) -> None:
    own.benches.report(run_id=1, box_key="bench-7")
    own.open("boxes")
    expect(own.page.get_by_role("region", name="Notes")).to_have_count(0)

    own.page.get_by_role("button", name="Note bench-7").click()
    field = own.page.get_by_label("What was done")
    expect(field).to_be_focused()
    field.fill("new USB cable")
    own.page.get_by_role("button", name="Add note").click()

    expect(own.page.get_by_role("button", name="Note bench-7")).to_be_focused()
    expect(own.page.get_by_text("From now on bench-7 is compared as a new box")).to_be_visible()
    notes = own.page.get_by_role("region", name="Notes").first
    expect(notes.locator("tbody tr")).to_contain_text("new USB cable")
    compared = own.page.get_by_role("region", name="Boxes compared").first
    expect(compared).to_contain_text("; it has not run since")

    own.page.get_by_role("button", name="Remove the note of bench-7").click()
    expect(own.page.get_by_role("region", name="Notes")).to_have_count(0)
    expect(compared).not_to_contain_text("the note of")
    assert own.ask("box-notes")["items"] == []
