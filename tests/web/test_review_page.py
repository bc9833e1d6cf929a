# SPDX-License-Identifier: Apache-2.0
"""The inbox of reviews: what it shows is the API's, keys go through it, and whatever happens during
a review, nothing is lost and nothing is done twice (contract, "Answers beside the rules").
"""

import re
from collections.abc import Iterator
from datetime import timedelta
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.support.asking import ask, bearer
from tests.support.running import MEMBER_EMAIL
from tests.support.soak import rounds
from tests.web.conftest import Dashboard
from tests.web.live import Site, site

REVIEWS = "**/ci-reviews"
TO_REVIEW = "ci-analysis/causes?days=30&toReview=true&limit=100"


@pytest.fixture
def own(page: Page, tmp_path: Path) -> Iterator[Site]:
    """A server with two causes: two tests that one commit broke and one fixed, and two others."""
    with site(page, tmp_path) as made:
        stories = (("a", {"boot": "pass"}), ("b", {"boot": "fail", "i2c": "fail"}))
        fixed = (
            ("c", {"boot": "pass", "i2c": "pass", "spi": "fail", "uart": "fail"}),
            ("d", {"spi": "pass", "uart": "pass"}),
        )
        for number, (sha, outcomes) in enumerate((*stories, *fixed)):
            at = (made.benches.hands.now - timedelta(minutes=9 - number)).isoformat()
            tests = [
                {"id": name, "outcome": outcome, "attempts": 1, "duration_s": 1.0}
                for name, outcome in outcomes.items()
            ]
            made.benches.report(
                run_id=number + 1, sha=sha * 40, started_at=at, ended_at=at, tests=tests
            )
        yield made


def rows(page: Page) -> Locator:
    return page.locator(".cause")


def opened(page: Page) -> Locator:
    return page.locator(".cause:has(> [aria-expanded=true])")


def opened_inbox(own: Site) -> Page:
    own.open("review")
    expect(rows(own.page)).to_have_count(2)
    return own.page


def confirmed_by_keys(own: Site) -> Page:
    """Open the inbox, and confirm the second cause there, of two failures."""
    page = opened_inbox(own)
    page.keyboard.press("j")
    page.keyboard.press("c")
    expect(page.locator(".toast")).to_contain_text("2 failures confirmed")
    return page


def audit(own: Site) -> list[str]:
    told = [one["action"] for one in own.ask("audit-log?limit=100")["items"]]
    return [action for action in told if action in {"confirm", "dismiss", "reset"}]


def reviewed(own: Site) -> dict[str, Any]:
    """Return the review of each failure by its test."""
    causes = own.ask("ci-analysis/causes?days=30&limit=100")["items"]
    return {row["testId"]: row["review"] for one in causes for row in one["failures"]}


def test_the_inbox_has_a_row_for_each_cause_of_the_api_in_its_order(
    page: Page, demo: Dashboard
) -> None:
    org = demo.sign_in(page.context)
    told = demo.ask(f"/api/orgs/{org}/{TO_REVIEW}", demo.token())
    page.goto(f"{demo.url}/orgs/{org}/review")

    expect(rows(page)).to_have_count(told["total"])
    first = told["items"][0]["failures"]
    links = opened(page).locator("a[href*='/failures/']")
    assert [str(link.get_attribute("href"))[-36:] for link in links.all()] == [
        one["id"] for one in sorted(first, key=itemgetter("testId"))
    ]
    assert first[0]["class"] == "ambiguous"


def facts(row: Locator) -> dict[str, str]:
    """Return what an unfolded cause says of itself, its white space as one."""
    texts = zip(
        row.locator(".of-cause dt").all_inner_texts(),
        row.locator(".of-cause dd").all_inner_texts(),
        strict=True,
    )
    return {title: re.sub(r"\s+", " ", value).strip() for title, value in texts}


def in_short(commit: dict[str, Any]) -> str:
    """Return how a commit of a cause is written, from its subject on."""
    kinds = [
        f"{one['kind']} {one['first']}"
        + (f" and {one['total'] - 1} more" if one["total"] > 1 else "")
        for one in commit["files"]
    ]
    cut = ["Its files were not fully reported."] if commit["filesTruncated"] else []
    return " ".join([commit["subject"], *kinds, *cut])


def test_a_cause_tells_its_message_and_what_broke_and_fixed_it_with_the_files_of_the_api(
    page: Page, demo: Dashboard
) -> None:
    org = demo.sign_in(page.context)
    query = "ci-analysis/causes?days=90&toReview=true&limit=100"
    told = demo.ask(f"/api/orgs/{org}/{query}", demo.token())["items"]
    page.goto(f"{demo.url}/orgs/{org}/review?days=90")
    expect(rows(page)).to_have_count(len(told))

    for cause in told[: rounds(4, len(told))]:
        first = cause["failures"][0]
        expect(opened(page).locator(f"a[href*='/failures/{first['id']}']")).to_be_visible()
        said, commits = facts(opened(page)), {one["sha"]: one for one in cause["commits"]}
        told_lines = said["Failure" if cause["failuresTotal"] == 1 else "Failures"]
        assert all(one["line"] in told_lines for one in cause["messages"])
        suspects = (first["brokenBy"] or {"commits": []})["commits"]
        for one in suspects:
            assert in_short(commits[one["sha"]]) in said["Broken by"]
        assert suspects or said["Broken by"] == "unknown"
        assert said["Fixed by"].endswith(in_short(commits[first["fix"]["sha"]]))
        page.keyboard.press("j")
    assert any(one["filesTruncated"] for cause in told for one in cause["commits"])


def test_keys_go_through_the_inbox_confirm_and_reset(own: Site) -> None:
    page = opened_inbox(own)
    page.keyboard.press("j")
    expect(opened(page)).to_contain_text("boot, i2c on bench-1")
    expect(opened(page).get_by_role("button").first).to_be_focused()
    expect(page).to_have_url(re.compile("cause="))
    page.keyboard.press("k")
    expect(opened(page)).to_contain_text("spi, uart on bench-1")
    page.keyboard.press("j")

    page.keyboard.press("c")

    expect(page.locator(".toast")).to_contain_text("2 failures confirmed")
    expect(opened(page)).to_contain_text("reviewed")
    expect(page.locator(".inbox")).to_contain_text("1 of 2 causes left to review")
    expect(page.get_by_role("heading", level=1)).to_have_text("Review 1")
    expect(page).to_have_title("Review (1) · hwci")
    expect(opened(page).get_by_role("button").first).to_be_focused()
    assert sorted(audit(own)) == ["confirm", "confirm"]
    page.keyboard.press("c")  # there is nothing left to confirm
    page.keyboard.press("u")
    expect(page.locator(".toast")).to_have_text("boot, i2c on bench-1: undone.")
    expect(opened(page).locator(".badge-good")).to_have_count(0)
    expect(opened(page).get_by_role("button").first).to_be_focused()
    assert sorted(audit(own)) == ["confirm", "confirm", "reset", "reset"]
    assert set(reviewed(own).values()) == {None}


def test_the_title_says_how_many_causes_wait_and_metrics_how_many_failures(
    own: Site, quiet_console: list[str]
) -> None:
    page = opened_inbox(own)
    expect(page.get_by_role("heading", level=1)).to_have_text("Review 2")
    expect(page).to_have_title("Review (2) · hwci")
    page.get_by_text("Reviewed", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Review")
    expect(page).to_have_title("Review · hwci")
    page.get_by_text("To review", exact=True).click()
    expect(page).to_have_title("Review (2) · hwci")
    page.route("**/ci-analysis/causes?*", lambda route: route.abort())
    page.get_by_text("7d", exact=True).click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page).to_have_title("Review · hwci")
    page.unroute("**/ci-analysis/causes?*")
    quiet_console.clear()  # the browser names what it could not load

    own.open("metrics?days=90&repoKey=acme/firmware")
    beside = page.locator("#bugs .to-review")
    expect(beside).to_have_text("4 ambiguous failures: Review by cause")
    page.locator("#bugs .to-review").get_by_role("link").click()
    expect(page).to_have_url(re.compile(r"/review\?days=90&repoKey=acme%2Ffirmware$"))
    expect(rows(page)).to_have_count(2)
    page.keyboard.press("c")
    expect(page.locator(".toast")).to_contain_text("2 failures confirmed")
    expect(rows(page).nth(1).get_by_role("button").first).to_be_focused()
    page.keyboard.press("c")
    expect(page.get_by_role("heading", level=1)).to_have_text("Review")

    own.open("metrics")
    expect(page.locator("#failing")).to_be_visible()
    expect(page.get_by_text("ambiguous failures")).to_have_count(0)


def test_the_way_to_review_has_the_number_that_waits_there_once_it_is_known(own: Site) -> None:
    page = own.page
    places = page.get_by_role("navigation", name="Pages")
    way = places.get_by_role("link", name=re.compile("^Review"))
    own.open("failures?days=90&repoKey=acme/firmware")
    expect(way).to_have_accessible_name("Review")

    places.get_by_role("link", name="Metrics").click()

    expect(way).to_have_accessible_name("Review 2")
    way.click()
    expect(rows(page)).to_have_count(2)
    page.keyboard.press("c")
    expect(way).to_have_accessible_name("Review 1")
    page.keyboard.press("u")
    expect(way).to_have_accessible_name("Review 2")
    page.keyboard.press("c")
    expect(way).to_have_accessible_name("Review 1")
    page.get_by_role("radio", name="To review").press("ArrowRight")
    expect(opened(page)).to_contain_text("spi, uart on bench-1")
    expect(way).to_have_accessible_name("Review 1")
    opened(page).get_by_role("button", name="Reset 2").click()
    expect(page.locator(".toast")).to_contain_text("the review is reset for 2 failures")
    expect(way).to_have_accessible_name("Review")  # a review elsewhere changed it
    page.get_by_role("radio", name="Reviewed").press("ArrowLeft")
    expect(way).to_have_accessible_name("Review 2")
    places.get_by_role("link", name="Failures").click()
    expect(way).to_have_accessible_name("Review 2")
    page.get_by_role("radio", name="7d").check()  # what waits there nobody asked for yet
    expect(way).to_have_accessible_name("Review")


def test_a_note_and_an_issue_go_with_each_review_and_no_key_is_taken_from_them(own: Site) -> None:
    page = opened_inbox(own)
    page.get_by_role("button", name="boot, i2c on bench-1", exact=True).click()
    page.keyboard.type("cold jacket, kudu")  # what is typed after a click is the note
    opened(page).get_by_label("Issue link").fill("https://issues.example.org/7")

    opened(page).get_by_role("button", name="Dismiss").click()

    said = "2 failures dismissed with the note “cold jacket, kudu”."
    expect(page.locator(".toast")).to_contain_text(said)
    found = reviewed(own)
    for test in ("boot", "i2c"):
        assert found[test]["action"] == "dismiss"
        assert found[test]["note"] == "cold jacket, kudu"
        assert found[test]["issue"] == "https://issues.example.org/7"
    assert (found["spi"], found["uart"]) == (None, None)
    page.keyboard.press("k")  # keys go on
    folded = rows(page).filter(has_text="boot, i2c on bench-1")
    expect(folded).to_contain_text("with the note “cold jacket, kudu”")
    expect(folded.get_by_role("link", name="https://issues.example.org/7")).to_be_visible()


def test_who_writes_at_once_after_a_key_keeps_the_focus(own: Site) -> None:
    page = opened_inbox(own)
    page.evaluate(
        """async () => {
            document.dispatchEvent(new KeyboardEvent("keydown", {key: "j", bubbles: true}));
            await null; // drawn, and not yet seen
            await null;
            document.querySelectorAll(".cause")[1].querySelector("input[name=note]").focus();
            await new Promise((seen) => requestAnimationFrame(() => setTimeout(seen)));
        }"""
    )
    expect(rows(page).nth(1).get_by_label("Note")).to_be_focused()


def test_a_cause_is_confirmed_with_its_note_by_the_keyboard_alone(own: Site) -> None:
    page = opened_inbox(own)
    first = opened(page)
    note = first.get_by_label("Note (optional)")
    while not note.evaluate("one => one === document.activeElement"):
        page.keyboard.press("Tab")
    expect(note).to_have_accessible_description("Ctrl+Enter confirms all 2")
    page.keyboard.type("cold jacket")
    page.keyboard.press("Enter")  # alone does nothing
    page.keyboard.press("Tab")
    page.keyboard.type("https://issues.example.org/7")
    page.keyboard.press("Enter")
    expect(first.get_by_label("Issue link")).to_be_focused()
    assert audit(own) == []

    page.keyboard.press("Control+Enter")

    said = "2 failures confirmed with the note “cold jacket”."
    expect(page.locator(".toast")).to_contain_text(said)
    expect(opened(page)).to_contain_text("boot, i2c on bench-1")
    expect(opened(page).get_by_role("button").first).to_be_focused()
    found = reviewed(own)
    for test in ("spi", "uart"):
        assert found[test]["action"] == "confirm"
        assert found[test]["note"] == "cold jacket"
        assert found[test]["issue"] == "https://issues.example.org/7"
    assert (found["boot"], found["i2c"]) == (None, None)

    page.keyboard.type("none but n")  # the first of them leads to the note
    expect(opened(page).get_by_label("Note (optional)")).to_be_focused()
    assert len(audit(own)) == 2
    page.keyboard.press("Meta+Enter")

    said = "2 failures confirmed with the note “one but n”."
    expect(page.locator(".toast")).to_contain_text(said)
    assert len(audit(own)) == 4


def test_the_keys_confirm_on_the_page_of_a_failure(own: Site) -> None:
    page = own.page
    own.open("failures/" + own.ask("ci-failures?search=spi")["items"][0]["id"])
    note = page.get_by_label("Note (optional)")
    note.fill("one journal bug")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/ci-reviews", hold)
    with page.expect_request("**/ci-reviews"):
        page.keyboard.press("Control+Enter")
    confirm = page.get_by_role("button", name="Confirm")
    expect(confirm).to_have_attribute("aria-disabled", "true")
    # Nothing moves meanwhile, and a second press sends nothing.
    expect(note).to_have_accessible_description("Ctrl+Enter confirms")
    page.keyboard.press("Control+Enter")
    held[0].continue_()
    expect(page.get_by_role("group", name="Review")).to_contain_text(
        "onfirmed as a real firmware bug"
    )
    expect(page.get_by_label("New note (optional)")).to_have_accessible_description("")
    assert len(held) == 1

    notes = {test: review and review["note"] for test, review in reviewed(own).items()}
    assert notes == {"boot": None, "i2c": None, "spi": "one journal bug", "uart": None}


def test_an_undo_opens_the_cause_as_it_was_with_what_was_written(own: Site) -> None:
    page = opened_inbox(own)
    first = opened(page)
    note = "the journal grows until the heap is used up, which is seen first by the watermark"
    first.get_by_label("Note").fill(note)
    first.get_by_label("Issue link").fill("https://issues.example.org/7")
    first.get_by_role("button", name="Confirm").click()
    cut = "with the note “the journal grows until the heap is used up, which is seen f…”. Undo"
    expect(page.locator(".toast")).to_contain_text(cut)
    expect(rows(page).first).to_contain_text(f"with the note “{note}”")
    expect(opened(page)).to_contain_text("boot, i2c on bench-1")
    page.keyboard.press("k")
    expect(opened(page)).to_contain_text("spi, uart on bench-1")
    expect(opened(page).get_by_label("Note")).to_have_value("")
    opened(page).get_by_label("New note").fill("typed since")
    page.keyboard.press("Tab")

    page.locator(".toast").get_by_role("button", name="Undo").click()

    expect(page.locator(".toast")).to_have_text("spi, uart on bench-1: undone.")
    expect(opened(page)).to_contain_text("spi, uart on bench-1")
    expect(opened(page).get_by_label("Note (optional) n", exact=True)).to_have_value("typed since")
    expect(opened(page).get_by_label("Issue link")).to_have_value("https://issues.example.org/7")


def test_each_different_message_is_shown_with_the_failures_that_have_it(
    page: Page, tmp_path: Path
) -> None:
    with site(page, tmp_path) as own:
        lines = ["no ACK\nat 0x1f", "CRC", "no ACK", "late", "lost", "cut", "odd", "even"]
        for number, outcome in enumerate(("fail", "pass")):
            tests = [
                {"id": f"t{at}", "outcome": outcome, "attempts": 1, "duration_s": 1, **message}
                for at, line in enumerate(lines)
                for message in [{"message": line} if outcome == "fail" else {}]
            ]
            own.benches.report(run_id=number, sha=f"{number:040x}", tests=tests)
        own.open("review")

        failures = opened(page).locator(".of-cause > div").filter(has_text="Failures")
        groups = failures.locator("dd > div")
        expect(groups).to_have_count(6)
        links = [
            (one.locator(":scope > *").first.inner_text(), one.locator("li > a"))
            for one in groups.all()
        ]
        shown = {line: held.all_inner_texts() for line, held in links}
        (cause,) = own.ask("ci-analysis/causes?days=30")["items"]
        names = {one["id"]: one["testId"] for one in cause["failures"]}
        told = {
            one["line"]: sorted(names[failure_id] for failure_id in one["failureIds"])
            for one in cause["messages"]
        }
        assert told["no ACK"] == ["t0", "t2"]
        others = sorted({*names.values()} - {name for held in told.values() for name in held})
        assert shown == told | {"other messages, or none reported": others}
        assert len(others) == cause["messagesTotal"] - len(told) == 2


def test_a_row_says_what_is_known_of_its_failures_and_offers_only_what_fits(own: Site) -> None:
    page = opened_inbox(own)
    unlisted = "no run reported its subject and files"
    said = facts(opened(page))
    failures = said.pop("Failures")
    assert {"spi history", "uart history"} == set(re.findall(r"(?:spi|uart) history", failures))
    assert failures.startswith("no message reported ")
    assert failures.endswith(" on bench-1 · harness verdict None reported")
    assert said == {
        "First failed on": f"{'c' * 12} {unlisted}",
        "Broken by": "unknown",
        "Fixed by": f"{'d' * 12} {unlisted}",
    }

    page.keyboard.press("j")
    expect(opened(page)).to_contain_text("2 failures on main, the first ")
    actions = opened(page).get_by_role("group", name="Review").get_by_role("button")
    expect(actions).to_have_text(["Confirm 2 as firmware bugs c", "Dismiss 2 d"])
    row = own.ask("ci-analysis/causes?days=30&limit=100")["items"][1]["failures"][0]
    why = f"Undecided: {row['reasonText'][0].lower()}{row['reasonText'][1:]}"
    expect(opened(page).get_by_text(why, exact=True)).to_have_count(1)  # not once for each
    expect(opened(page).get_by_text("None reported")).to_have_count(1)
    expect(opened(page).get_by_role("link", name="bench-1")).to_have_count(1)
    keys = page.locator(".inbox kbd")
    expect(keys).to_have_text(["j", "k", "n", "c", "d"])

    opened(page).get_by_label("Note").fill("a race")
    opened(page).get_by_role("button", name="Confirm").click()

    expect(actions).to_have_text(["Dismiss 2 d", "Reset 2"])
    expect(keys).to_have_text(["j", "k", "n", "d", "u"])
    own.open("review?list=reviewed")
    expect(opened(page)).to_contain_text("Confirmed by Olga Owner with the note “a race”")
    expect(opened(page).get_by_label("New note (optional)")).to_have_value("")
    expect(opened(page).get_by_label("New issue link (optional)")).to_be_visible()
    expect(keys).to_have_text(["n", "d"])


def test_the_message_of_a_review_goes_when_the_next_one_begins(own: Site) -> None:
    page = confirmed_by_keys(own)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(REVIEWS, hold)
    expect(opened(page)).to_contain_text("Confirmed by")
    page.keyboard.press("c")  # again, which changes nothing
    expect(page.locator(".toast")).to_contain_text("2 failures confirmed")
    page.keyboard.press("k")
    with page.expect_request(REVIEWS):
        page.keyboard.press("c")
    expect(page.locator(".toast")).to_be_empty()
    held[0].continue_()
    expect(page.locator(".toast")).to_contain_text("2 failures confirmed")


CLICK_TWICE = """() => new Promise((done) => {
    const confirm = () => document.querySelector("[aria-expanded=true] ~ .actions button");
    const first = confirm();
    new MutationObserver((_, watch) => {
        if (!confirm() || first.isConnected) return;
        watch.disconnect();
        confirm().click();
        done();
    }).observe(document.body, { childList: true, subtree: true });
    first.click();
})"""
"""Confirm the open cause, and click what stands there as soon as the next one is open."""


def test_a_second_click_where_the_next_cause_moved_to_reviews_nothing(own: Site) -> None:
    page = opened_inbox(own)
    expect(opened(page).get_by_role("button", name="Confirm 2")).to_be_visible()
    page.evaluate(CLICK_TWICE)
    expect(page.locator(".toast")).to_contain_text("2 failures confirmed")
    button = opened(page).get_by_role("button", name="Confirm 2")
    expect(button).not_to_have_attribute("aria-disabled", "true")
    assert audit(own) == ["confirm", "confirm"]

    button.hover()
    button.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Review")
    assert audit(own) == ["confirm"] * 4


def test_the_message_moves_no_row_and_covers_nothing_of_the_next_cause(own: Site) -> None:
    page = opened_inbox(own)
    page.set_viewport_size({"width": 1280, "height": 540})
    place = "row => row.getBoundingClientRect().top + scrollY"
    before = rows(page).first.evaluate(place)
    page.keyboard.press("c")
    toast, actions = page.locator(".toast"), opened(page).get_by_role("group", name="Review")
    expect(toast).to_contain_text(re.compile("[Cc]onfirmed"))
    expect(opened(page)).to_contain_text("boot, i2c on bench-1")

    assert rows(page).first.evaluate(place) == before
    expect(toast).to_be_in_viewport(ratio=1)
    expect(actions).to_be_in_viewport(ratio=1)
    above, below = opened(page).bounding_box(), toast.bounding_box()
    assert above is not None
    assert below is not None
    assert above["y"] + above["height"] <= below["y"]


def test_what_the_api_refuses_of_a_note_is_said_beside_it(
    own: Site, quiet_console: list[str]
) -> None:
    page = opened_inbox(own)
    opened(page).get_by_label("Issue link").fill("javascript:alert(1)")

    opened(page).get_by_role("button", name="Confirm").click()

    expect(opened(page).get_by_role("alert")).to_be_visible()
    expect(opened(page).get_by_label("Issue link")).to_have_attribute("aria-invalid", "true")
    assert audit(own) == []
    quiet_console.clear()  # the browser itself logs the status


def test_two_people_review_one_cause_and_the_second_is_told(
    own: Site, quiet_console: list[str]
) -> None:
    page = opened_inbox(own)
    page.keyboard.press("j")
    opened(page).get_by_label("Note").fill("mine")
    (row,) = own.ask("ci-analysis/causes?days=30&limit=100")["items"][1:]
    other = own.dashboard
    path = f"/api/orgs/{own.server.org_id}/ci-failures/{row['failures'][0]['id']}/confirm"
    assert ask(other.url, "POST", path, bearer(own.benches.token)).status == 200

    opened(page).get_by_role("button", name="Dismiss").click()

    expect(opened(page).get_by_role("alert")).to_contain_text("reviewed it meanwhile")
    expect(opened(page)).to_contain_text("Confirmed by")
    expect(opened(page).get_by_label("Note")).to_have_value("mine")
    assert audit(own) == ["confirm"]
    opened(page).get_by_role("button", name="Dismiss").click()  # having seen it
    expect(page.locator(".toast")).to_contain_text("2 failures dismissed")
    expect(page.locator(".toast").get_by_role("button")).to_have_text("Undo u")
    page.keyboard.press("u")
    expect(page.locator(".toast")).to_contain_text("undone")
    found = reviewed(own)
    first, second = (one["testId"] for one in row["failures"])
    assert (found[first]["action"], found[second]) == ("confirm", None)
    quiet_console.clear()  # the browser itself logs the status


def test_what_is_reset_among_the_reviewed_leaves_them_and_an_undo_brings_it_back(
    own: Site,
) -> None:
    page = opened_inbox(own)
    for note in ("a race", "loose cable"):
        opened(page).get_by_label("Note").fill(note)
        opened(page).get_by_role("button", name="Dismiss").click()
        expect(page.locator(".toast")).to_contain_text(f"with the note “{note}”")
        own.benches.hands.move(seconds=1)
    own.open("review")

    page.get_by_role("radio", name="To review").press("ArrowRight")

    expect(page).to_have_url(re.compile("list=reviewed"))
    expect(page.locator(".inbox")).to_contain_text("2 causes, the last review first.")
    actions = opened(page).get_by_role("group", name="Review").get_by_role("button")
    expect(actions).to_have_text(["Confirm 2 as firmware bugs c", "Reset 2"])
    actions.last.focus()
    page.keyboard.press("Enter")
    expect(rows(page)).to_have_count(1)
    expect(page.locator(".inbox")).to_contain_text("1 cause, the last review first.")
    expect(opened(page)).to_contain_text("spi, uart on bench-1")
    expect(opened(page).get_by_role("button", expanded=True)).to_be_focused()
    assert reviewed(own)["boot"] is None
    page.keyboard.press("u")
    expect(page.locator(".toast")).to_have_text("boot, i2c on bench-1: undone.")
    expect(rows(page)).to_have_count(2)
    expect(opened(page)).to_contain_text("boot, i2c on bench-1")
    expect(opened(page)).to_contain_text("Dismissed by Olga Owner with the note “loose cable”")
    for test in ("boot", "i2c"):
        found = reviewed(own)[test]
        assert (found["action"], found["note"]) == ("dismiss", "loose cable")

    reset_both(page)
    assert set(reviewed(own).values()) == {None}


def reset_both(page: Page) -> None:
    """Reset what is among the reviewed, after which there is nothing, and all is to be reviewed."""
    for left, tests in ((1, "boot, i2c"), (0, "spi, uart")):
        expect(opened(page)).to_contain_text(f"{tests} on bench-1")
        opened(page).get_by_role("button", name="Reset").click()
        said = f"{tests} on bench-1: the review is reset for 2 failures."
        expect(page.locator(".toast")).to_contain_text(said)
        expect(rows(page)).to_have_count(left)
    expect(page.locator(".toast")).to_be_focused()
    expect(page.get_by_text("No failure of this period was reviewed.")).to_be_visible()
    page.get_by_role("radio", name="Reviewed").press("ArrowLeft")
    expect(rows(page)).to_have_count(2)


def test_a_confirmed_failure_that_the_checks_count_alike_is_confirmed_again_by_an_undo(
    own: Site,
) -> None:
    own.benches.configure()
    for number, sha in enumerate("ef"):
        test = {"id": "dma", "outcome": "pass" if number else "fail", "attempts": 1}
        commit = {"sha": sha * 40, "subject": "Change", "files": ["src/a.c"]}
        own.benches.report(
            run_id=10 + number,
            sha=sha * 40,
            changes={"base_sha": "de"[number] * 40, "commits": [commit]},
            tests=[{**test, "duration_s": 1, **({} if number else {"verdict": "device"})}],
        )
    (row,) = own.ask("ci-metrics/real-bugs?days=30")["items"]
    for action in ("dismiss", "confirm"):
        path = f"/api/orgs/{own.server.org_id}/ci-failures/{row['id']}/{action}"
        assert ask(own.server.url, "POST", path, bearer(own.benches.token)).status == 200
    own.open("review?list=reviewed")
    page = own.page
    opened(page).get_by_role("button", name="Reset").click()
    expect(page.locator(".toast")).to_contain_text("it counts as a real firmware bug")

    page.locator(".toast").get_by_role("button", name="Undo").click()

    expect(page.locator(".toast")).to_contain_text("undone")
    assert reviewed(own)["dma"]["action"] == "confirm"


def test_a_reset_leaves_what_somebody_else_reviewed_otherwise_and_names_it(
    page: Page, tmp_path: Path, quiet_console: list[str]
) -> None:
    with site(page, tmp_path) as own:
        for number, outcome in enumerate(("fail", "pass")):
            tests = [
                {"id": name, "outcome": outcome, "attempts": 1, "duration_s": 1.0}
                for name in ("adc", "dac", "spi")
            ]
            own.benches.report(run_id=number, sha=f"{number:040x}", tests=tests)
        own.open("review")
        expect(rows(page)).to_have_count(1)
        page.keyboard.press("c")
        expect(page.locator(".toast")).to_contain_text("3 failures confirmed")
        own.open("review?list=reviewed")
        reset = opened(page).get_by_role("button", name="Reset")
        expect(reset).to_be_visible()
        (cause,) = own.ask("ci-analysis/causes?days=30")["items"]
        (dac,) = (one["id"] for one in cause["failures"] if one["testId"] == "dac")
        path = f"/api/orgs/{own.server.org_id}/ci-failures/{dac}/dismiss"
        own.benches.hands.move(seconds=1)  # no two people review in the same microsecond
        assert ask(own.server.url, "POST", path, bearer(own.server.admin_token)).status == 200

        reset.click()

        alert = opened(page).get_by_role("alert")
        expect(alert).to_contain_text("dac on bench-1: ")
        expect(alert).to_contain_text("reviewed it meanwhile. Nothing was changed.")
        assert audit(own) == ["dismiss", "confirm", "confirm", "confirm"]
        stays = re.compile(r"Reset leaves as it is: dac on bench-1 \(dismissed by .*\)\.")
        expect(opened(page).get_by_text(stays)).to_be_visible()
        reset.click()
        said = re.compile(
            r"the review is reset for 2 failures\."
            r" Another review stays: dac on bench-1 \(dismissed by .*\)\."
        )
        expect(page.locator(".toast")).to_contain_text(said)
        kept = reviewed(own)
        assert kept.pop("dac")["action"] == "dismiss"
        assert kept == {"adc": None, "spi": None}
        quiet_console.clear()  # the browser itself logs the status


def test_a_failure_leads_to_its_cause_in_the_list_that_has_it(own: Site) -> None:
    page = own.page
    cause = own.ask("ci-analysis/causes?days=30&limit=100")["items"][1]
    second = cause["failures"][1]["id"]

    own.open(f"failures/{second}")
    page.get_by_role("link", name="Review its whole cause").click()
    expect(opened(page)).to_contain_text("boot, i2c on bench-1")
    opened(page).get_by_role("button", name="Confirm").click()
    expect(page.locator(".toast")).to_contain_text("2 failures confirmed")
    own.open(f"failures/{second}")
    page.get_by_role("link", name="Reset its whole cause").click()
    expect(opened(page)).to_contain_text("boot, i2c on bench-1")
    opened(page).get_by_role("button", name="Reset").click()

    expect(page.locator(".toast")).to_contain_text("the review is reset for 2 failures")
    assert set(reviewed(own).values()) == {None}


def test_a_review_whose_answer_was_lost_is_found_and_not_made_twice(
    own: Site, quiet_console: list[str]
) -> None:
    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page = opened_inbox(own)
    page.route(REVIEWS, lose)
    page.route("**/ci-failures/*", lambda route: route.abort())
    page.keyboard.press("c")
    expect(opened(page).get_by_role("alert")).to_contain_text("Nobody knows yet")
    page.keyboard.press("c")  # is not sent before it is known
    page.unroute("**/ci-failures/*")

    opened(page).get_by_role("button", name="Look again").click()

    expect(page.locator(".toast")).to_contain_text(re.compile("[Cc]onfirmed"))
    assert audit(own) == ["confirm", "confirm"]
    page.unroute(REVIEWS)
    page.keyboard.press("u")
    expect(page.locator(".toast")).to_contain_text("undone")
    assert sorted(audit(own)) == ["confirm", "confirm", "reset", "reset"]
    quiet_console.clear()  # the browser names what it could not load


def test_a_member_reads_the_inbox_and_reviews_nothing(own: Site) -> None:
    own.sign_in(MEMBER_EMAIL)
    page = opened_inbox(own)

    page.keyboard.press("c")
    page.keyboard.press("j")

    expect(opened(page)).to_contain_text("boot, i2c on bench-1")
    expect(page.get_by_role("button", name=re.compile("^(Confirm|Dismiss|Reset)"))).to_have_count(0)
    assert audit(own) == []


def test_where_nothing_is_to_be_reviewed_the_page_says_so_and_where_to_look(
    page: Page, tmp_path: Path
) -> None:
    with site(page, tmp_path) as made:
        made.open("review")
        page.get_by_role("link", name="How to begin").click()
        expect(page.get_by_text("No report has arrived yet")).to_be_visible()
        made.benches.report()
        made.open("review")
        expect(page.get_by_text("Nothing to review")).to_be_visible()

        page.get_by_role("main").get_by_role("link", name="metrics").click()

        expect(page.get_by_text("No test is failing")).to_be_visible()


def test_more_causes_than_an_answer_holds_are_shown_and_found_by_words(
    page: Page, tmp_path: Path
) -> None:
    with site(page, tmp_path) as own:
        for number in range(103):
            for sha, outcome in (("a", "fail"), ("b", "pass")):
                test = {"id": "boot", "outcome": outcome, "attempts": 1, "duration_s": 1.0}
                own.benches.report(
                    run_id=2 * number + (sha == "b"),
                    sha=sha * 40,
                    branch=f"branch-{number}",
                    tests=[test],
                )
        own.open("review")
        expect(rows(page)).to_have_count(100)
        page.keyboard.press("c")
        expect(page.locator(".toast")).to_contain_text(re.compile("[Cc]onfirmed"))

        page.get_by_role("button", name="Show more").click()

        expect(rows(page)).to_have_count(103)
        expect(page.get_by_role("button", name="Show more")).to_have_count(0)
        expect(
            page.get_by_text("102 of 103 causes left to review, ambiguous ones first.")
        ).to_be_visible()
        expect(page.get_by_text(re.compile(r"\d causes"))).to_have_count(1)
        text = page.locator(".inbox ol").inner_text()
        assert len(set(re.findall(r"on branch-\d+,", text))) == 103

        page.get_by_role("searchbox", name="Search causes").fill("branch-42")

        expect(rows(page)).to_have_count(1)
        expect(opened(page)).to_contain_text("branch-42")
        expect(page).to_have_url(re.compile(r"review\.search=branch-42"))
        page.get_by_role("searchbox", name="Search causes").fill("no such thing")
        expect(page.get_by_text("No cause matches “no such thing”.")).to_be_visible()


def test_a_table_by_cause_is_unfolded_reviewed_together_and_reset(own: Site) -> None:
    page = own.page
    own.open("metrics?other=open&other.by=cause&bugs.by=cause")
    part, bugs = page.locator("#other"), page.locator("#bugs")
    confirm = part.get_by_role("button", name="Confirm 2 as firmware bugs: boot, i2c on bench-1")
    confirmed = page.get_by_role("status").filter(has_text="2 failures confirmed")
    expect(part.locator("tbody tr")).to_have_count(2)
    expect(part.locator(".total")).to_have_text("4")  # the title counts failures, as the tiles do
    page.goto(f"{page.url}&other.search=i2c")
    expect(part.locator("tbody tr")).to_have_count(1)
    page.go_back()
    part.get_by_role("button", name="boot, i2c on bench-1", exact=True).click()
    links = part.locator(".below a[href*='/failures/']")
    expect(links).to_have_count(2)
    assert set(links.all_inner_texts()) == {"boot", "i2c"}
    confirm.click()
    expect(confirmed).to_be_visible()
    expect(bugs.locator(".total")).to_have_text("2")
    expect(part.locator("tbody tr")).to_have_count(1)
    following = part.get_by_role("button", name="spi, uart on bench-1", exact=True)
    expect(following).to_be_focused()

    page.locator(".toast").get_by_role("button", name="Undo").click()

    expect(page.locator(".toast")).to_be_focused()
    expect(part.locator("tbody tr:not(.below)")).to_have_count(2)
    expect(bugs.locator(".total")).to_have_text("0")
    assert set(reviewed(own).values()) == {None}

    confirm.click()
    expect(confirmed).to_be_visible()
    reset_in(bugs, "boot, i2c on bench-1")
    assert set(reviewed(own).values()) == {None}


def reset_in(part: Locator, cause: str) -> None:
    """Reset the review of the only cause of a table."""
    part.get_by_role("button", name=cause, exact=True).click()
    part.get_by_role("button", name=f"Reset 2: {cause}").click()
    said = "The review is reset for 2 failures."
    expect(part.page.get_by_role("status").filter(has_text=said)).to_be_visible()
    expect(part.locator(".total")).to_have_text("0")


def test_a_row_by_cause_has_each_different_reason_and_status_of_its_failures_once(
    own: Site,
) -> None:
    (cause,) = own.ask("ci-analysis/causes?days=30&search=boot")["items"]
    (boot,) = (row for row in cause["failures"] if row["testId"] == "boot")
    path = f"/api/orgs/{own.server.org_id}/ci-reviews"
    seen = {"failureId": boot["id"], "seenReviewAt": None}
    body = {"reviews": [{**seen, "action": "confirm"}, {**seen, "action": "dismiss"}]}
    made = ask(own.server.url, "POST", path, bearer(own.benches.token), json_body=body)
    assert made.status == 200, made
    told = own.ask("ci-analysis/causes?days=30&search=boot")["items"][0]["failures"]

    own.open("metrics?other=open&other.by=cause")

    row = own.page.locator("#other tbody tr", has_text="boot, i2c")
    expect(row.locator("[data-title=Status] > div")).to_have_text([one["status"] for one in told])
    expect(row.locator("[data-title=Reason] .under")).to_have_text(
        [one["reasonText"] for one in told]
    )
    assert len({one["status"] for one in told}) == 2
    same = own.page.locator("#other tbody tr", has_text="spi, uart")
    expect(same.locator("[data-title=Status] > div")).to_have_text(["Automatic"])


def test_a_note_is_written_where_a_cause_stands_and_is_kept_by_each_of_its_failures(
    own: Site, quiet_console: list[str]
) -> None:
    page = own.page
    own.open("metrics?other=open&other.by=cause")
    part = page.locator("#other")

    part.get_by_role("button", name="Review: boot, i2c on bench-1").click()
    expect(part.get_by_label("Note (optional)")).to_be_focused()
    page.keyboard.type("seen on the bench")
    part.get_by_label("Issue link (optional)").fill("no address")
    part.get_by_role("button", name="Confirm 2").click()
    expect(part.get_by_role("alert")).to_be_visible()  # below the field
    part.get_by_label("Issue link (optional)").fill("https://example.org/1")
    page.keyboard.press("Control+Enter")

    expect(page.get_by_role("status").filter(has_text="2 failures confirmed")).to_be_visible()
    kept = {
        test: review and (review["note"], review["issue"]) for test, review in reviewed(own).items()
    }
    words = ("seen on the bench", "https://example.org/1")
    assert kept == {"boot": words, "i2c": words, "spi": None, "uart": None}
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(part.get_by_label("Note (optional)")).to_have_value("seen on the bench")
    expect(part.get_by_label("Issue link (optional)")).to_have_value("https://example.org/1")
    expect(page.locator(".toast")).to_have_text("Undone.")
    expect(page.locator(".toast")).to_be_focused()
    quiet_console.clear()  # the browser itself logs the status
