# SPDX-License-Identifier: Apache-2.0
"""Wherever a failure is reviewed: a server that stops in any step, an answer that is lost, another
person who reviews the same, a sign-in that ends. Each is told, nothing is lost or done twice, and
nobody writes over what they have not seen. `make test` goes through each place in some of these
moments, `make soak` through all in all.
"""

import re
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.asking import ask, bearer
from tests.support.held_port import held_port
from tests.support.running import Hands, running_in_thread
from tests.support.soak import rounds
from tests.web.conftest import PATIENCE_BY_THE_CLOCK, never_answer
from tests.web.live import Comeback, Site, ended, sign_in_again, site

REVIEWS = "**/ci-reviews"
CONFIRM = re.compile("^Confirm (all )?as firmware bug")
CONFIRMED = "[Cc]onfirmed as a real firmware bug"
NOT_YET = "The server has not answered yet; still waiting"
DISMISS = re.compile("^Dismiss")
PLACES = {
    "page": "failures/{failure}",
    "table": "metrics?other=open",
    "causes": "metrics?other=open&other.cause={failure}&bugs.cause={failure}",
    "inbox": "review",
}
WITH_A_MESSAGE = [place for place in PLACES if place != "page"]


def fill(own: Site) -> None:
    """Report a test that failed once and passes on the next commit: nothing decides why."""
    for number, outcome in enumerate(("fail", "pass")):
        test = {"id": "boot", "outcome": outcome, "attempts": 1, "duration_s": 1.0}
        own.benches.report(run_id=number, sha=f"{number:040x}", tests=[test])


def failure_id(own: Site) -> str:
    (found,) = own.ask("ci-failures?days=30&limit=100")["items"]
    return str(found["id"])


def look_at(own: Site, place: str) -> Page:
    own.open(PLACES[place].format(failure=failure_id(own)))
    expect(own.page.get_by_role("button", name=CONFIRM)).to_be_visible()
    return own.page


@pytest.fixture
def own(page: Page, tmp_path: Path) -> Iterator[Site]:
    with site(page, tmp_path) as made:
        fill(made)
        yield made


@pytest.fixture
def stopping(page: Page, tmp_path: Path) -> Iterator[Callable[[str], tuple[Site, Comeback]]]:
    """Return what opens a place, after which the server stops."""
    hands = Hands()
    with held_port() as port:

        def opened(place: str) -> tuple[Site, Comeback]:
            with running_in_thread(tmp_path, clock=hands, port=port) as server:
                own = Site(page, server, hands)
                own.sign_in()
                fill(own)
                look_at(own, place)
            return own, Comeback(server, hands)

        yield opened


def expect_message(page: Page, text: str) -> None:
    # Until both tables are asked again, a row that moves from one to the other is in both.
    expect(page.get_by_role("alert").filter(has_text=text).first).to_be_visible()


def done(page: Page, text: str) -> None:
    expect(page.get_by_role("status").filter(has_text=re.compile(text)).first).to_be_visible()


def press(page: Page, name: str | re.Pattern[str]) -> None:
    page.get_by_role("button", name=name).first.click()


def reset(page: Page, place: str) -> None:
    """Reset what was just reviewed: by Undo in the message that tells it, where there is one."""
    undo = page.locator(".toast").get_by_role("button", name="Undo")
    (undo if place in WITH_A_MESSAGE else page.get_by_role("button", name="Reset").first).click()


def expect_reset(page: Page, place: str) -> None:
    done(page, "[Uu]ndone" if place in WITH_A_MESSAGE else "review is reset")


def audit(own: Site) -> list[str]:
    """Return the reviews of the audit log, the first one first."""
    expect_message = [one["action"] for one in own.ask("audit-log?limit=100")["items"]]
    return [
        action for action in reversed(expect_message) if action in {"confirm", "dismiss", "reset"}
    ]


def review_now(own: Site) -> Any:
    resolved = own.ask(f"ci-failures/{failure_id(own)}")["resolved"]
    return resolved["review"] and resolved["review"]["action"]


def another_person(own: Site, action: str) -> None:
    own.benches.hands.move(seconds=1)  # no two people review in the same microsecond
    path = f"/api/orgs/{own.server.org_id}/ci-failures/{failure_id(own)}/{action}"
    assert ask(own.server.url, "POST", path, bearer(own.benches.token)).status == 200


@pytest.mark.parametrize("place", rounds(["causes", "inbox"], [*PLACES]))
def test_a_server_that_stops_before_a_review_is_told_and_the_review_is_made_once(
    stopping: Callable[[str], tuple[Site, Comeback]], place: str, quiet_console: list[str]
) -> None:
    own, comeback = stopping(place)
    page = own.page
    note = page.get_by_label("Note (optional)")
    if place != "table":
        note.fill("kept")
    press(page, CONFIRM)
    expect_message(page, "Nobody knows yet whether it was reviewed. The server did not answer.")
    page.get_by_role("button", name=CONFIRM).click(force=True)  # not sent before it is known
    with comeback.again():
        press(page, "Look again")
        expect_message(page, "It was not reviewed. Try again.")
        if place != "table":
            expect(note).to_have_value("kept")
        assert audit(own) == []
        press(page, CONFIRM)
        done(page, CONFIRMED)
        assert audit(own) == ["confirm"]
        expect(page.get_by_text("Loading")).to_have_count(0)
    reset(page, place)
    word = "undone" if place in WITH_A_MESSAGE else "reset"
    expect_message(page, f"Nobody knows yet whether it was {word}.")
    with comeback.again():
        press(page, "Look again")
        expect_message(page, f"It was not {word}. Try again.")
        reset(page, place)
        expect_reset(page, place)
        assert audit(own) == ["confirm", "reset"]
    page.goto("about:blank")  # asks nobody any more
    quiet_console.clear()  # the browser names what it could not load


def stop_the_clock(page: Page) -> None:
    """Let time pass on a page by `run_for` alone."""
    page.clock.pause_at(page.evaluate("Date.now() / 1000 + 1"))


@pytest.fixture
def hanging(own: Site, quiet_console: list[str]) -> Iterator[Callable[[str], Site]]:
    """Return what opens a place, after which the server answers nothing and the clock stands."""

    def opened(place: str) -> Site:
        own.page.add_init_script(PATIENCE_BY_THE_CLOCK)
        own.page.clock.install()
        look_at(own, place)
        own.page.route("**/api/**", never_answer)
        stop_the_clock(own.page)
        return own

    yield opened
    quiet_console.clear()  # the browser names what it gave up


@pytest.mark.own_tab
@pytest.mark.parametrize("place", rounds(["page", "table"], [*PLACES]))
def test_a_server_that_hangs_is_told_soon_and_the_review_ends_within_ninety_seconds(
    hanging: Callable[[str], Site], place: str
) -> None:
    page = hanging(place).page
    confirm = page.get_by_role("button", name=CONFIRM)
    late = page.get_by_role("status").filter(has_text=NOT_YET).first
    with page.expect_request(REVIEWS):
        confirm.click()

    page.clock.run_for(9_000)
    expect(page.get_by_text(NOT_YET)).to_have_count(0)
    page.clock.run_for(2_000)
    expect(late).to_be_visible()
    expect(confirm).to_be_focused()
    with page.expect_request("**/ci-failures/*"):  # what became of it
        page.clock.run_for(69_000)
    expect(late).to_be_visible()
    page.clock.run_for(10_000)

    expect_message(page, "Nobody knows yet whether it was reviewed. The server did not answer.")
    expect(page.get_by_text(NOT_YET)).to_have_count(0)


@pytest.mark.own_tab
def test_a_review_that_a_hanging_server_did_not_get_is_made_once_when_it_answers_again(
    hanging: Callable[[str], Site],
) -> None:
    own = hanging("page")
    page = own.page
    with page.expect_request(REVIEWS):
        press(page, CONFIRM)
    with page.expect_request("**/ci-failures/*"):
        page.clock.run_for(80_000)
    page.clock.run_for(10_000)
    with page.expect_request("**/ci-failures/*"):
        press(page, "Look again")
    expect(page.get_by_text("Looking…")).to_be_visible()
    page.clock.run_for(10_000)
    expect_message(page, "Nobody knows yet")
    page.unroute("**/api/**")
    page.clock.resume()
    press(page, "Look again")
    expect_message(page, "It was not reviewed. Try again.")
    assert audit(own) == []
    press(page, CONFIRM)
    done(page, CONFIRMED)
    assert audit(own) == ["confirm"]


@pytest.mark.own_tab
def test_a_sign_in_that_is_not_renewed_takes_a_review_no_more_time(
    hanging: Callable[[str], Site],
) -> None:
    page = hanging("page").page
    page.clock.fast_forward(3_600_000)  # the access token is used up
    with page.expect_request("**/api/auth/refresh"):
        press(page, CONFIRM)
    page.clock.run_for(80_000)
    page.clock.run_for(10_000)

    expect_message(page, "Nobody knows yet whether it was reviewed. The server did not answer.")


@pytest.mark.parametrize("place", rounds(["page", "causes"], [*PLACES]))
def test_a_review_whose_answer_was_lost_is_found_and_not_made_twice(
    own: Site, place: str, quiet_console: list[str]
) -> None:
    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page = look_at(own, place)
    page.route(REVIEWS, lose)

    press(page, CONFIRM)

    done(page, CONFIRMED)
    assert audit(own) == ["confirm"]
    reset(page, place)
    expect_reset(page, place)
    assert audit(own) == ["confirm", "reset"]
    assert review_now(own) is None
    quiet_console.clear()  # the browser names what it could not load


@pytest.mark.parametrize("place", rounds(["table", "causes"], [*PLACES]))
def test_what_another_person_reviewed_is_shown_before_it_is_written_over(
    own: Site, place: str, quiet_console: list[str]
) -> None:
    page = look_at(own, place)
    another_person(own, "confirm")

    press(page, DISMISS)

    expect_message(page, "boot on bench-1: Olga Owner reviewed it meanwhile. Nothing was changed.")
    assert audit(own) == ["confirm"]
    shown = re.compile("Confirmed (by|as).*Olga Owner|^Olga Owner$")
    expect(page.get_by_role("main").get_by_text(shown).last).to_be_visible()
    press(page, DISMISS)  # having seen it
    done(page, "[Dd]ismissed as")
    assert audit(own) == ["confirm", "dismiss"]
    quiet_console.clear()  # the browser itself logs the status


@pytest.mark.parametrize(
    ("place", "theirs"),
    rounds(
        [("table", "dismiss"), ("causes", "reset"), ("inbox", "dismiss")],
        [*product(WITH_A_MESSAGE, ("dismiss", "reset"))],
    ),
)
def test_the_reset_of_a_message_takes_nothing_back_that_another_person_did(
    own: Site, place: str, theirs: str, quiet_console: list[str]
) -> None:
    page = look_at(own, place)
    press(page, CONFIRM)
    done(page, CONFIRMED)
    another_person(own, theirs)

    reset(page, place)

    said = "A review was reset" if theirs == "reset" else "Olga Owner reviewed it"
    expect_message(page, f"boot on bench-1: {said} meanwhile. Nothing was changed.")
    assert audit(own) == ["confirm", theirs]
    assert review_now(own) == (None if theirs == "reset" else theirs)
    quiet_console.clear()  # the browser itself logs the status


def test_a_reset_on_a_later_visit_whose_answer_is_lost_is_found_and_not_made_twice(
    own: Site, quiet_console: list[str]
) -> None:
    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page = own.page
    another_person(own, "confirm")
    own.open("review?list=reviewed")
    page.route(REVIEWS, lambda route: route.abort())
    press(page, re.compile("^Reset"))
    expect_message(page, "It was not reset. Try again.")
    assert audit(own) == ["confirm"]
    page.unroute(REVIEWS)
    page.route(REVIEWS, lose)

    press(page, re.compile("^Reset"))

    done(page, "the review is reset; it counts as ambiguous")
    expect(page.locator(".cause")).to_have_count(0)
    assert audit(own) == ["confirm", "reset"]
    assert review_now(own) is None
    press(page, "Undo")
    done(page, "undone")
    assert audit(own) == ["confirm", "reset", "confirm"]
    quiet_console.clear()  # the browser names what it could not load


def test_an_undo_of_a_reset_takes_nothing_back_that_another_person_did_since(
    own: Site, quiet_console: list[str]
) -> None:
    page = own.page
    another_person(own, "confirm")
    own.open("review?list=reviewed")
    press(page, re.compile("^Reset"))
    done(page, "the review is reset")
    another_person(own, "confirm")

    press(page, "Undo")

    expect_message(page, "boot on bench-1: Olga Owner reviewed it meanwhile. Nothing was changed.")
    expect(page.locator(".cause")).to_contain_text("Confirmed by Olga Owner")  # it is back
    assert audit(own) == ["confirm", "reset", "confirm"]
    quiet_console.clear()  # the browser itself logs the status


def test_a_review_that_was_reset_meanwhile_is_in_nobody_s_way(own: Site) -> None:
    page = look_at(own, "page")
    another_person(own, "confirm")
    another_person(own, "reset")

    press(page, CONFIRM)  # what is there now is what they saw

    done(page, CONFIRMED)
    assert audit(own) == ["confirm", "reset", "confirm"]


@pytest.mark.parametrize("place", rounds(["page", "inbox"], ["page", "causes", "inbox"]))
def test_what_was_written_outlives_a_sign_in_that_ends(
    own: Site, place: str, quiet_console: list[str]
) -> None:
    page = look_at(own, place)
    where = page.url
    page.get_by_label("Note (optional)").fill("a long story")
    page.get_by_role("button", name=CONFIRM).scroll_into_view_if_needed()
    page.wait_for_load_state("networkidle")  # nothing else meets the end before the review
    ended(page)

    press(page, CONFIRM)

    sign_in_again(own)
    expect(page).to_have_url(where)
    expect(page.get_by_label("Note (optional)")).to_have_value("a long story")
    assert audit(own) == []
    press(page, CONFIRM)
    done(page, CONFIRMED)
    expect(page.get_by_label("Note (optional)").first).to_have_value("")
    quiet_console.clear()  # the browser itself logs the status
