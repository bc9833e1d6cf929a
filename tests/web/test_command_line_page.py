# SPDX-License-Identifier: Apache-2.0
"""The page that asks whether a command line gets the sign-in of this browser."""

from collections.abc import Iterator
from queue import Queue

import pytest
from playwright.sync_api import Page, expect

from hwci.cli.session.loopback import Brought, listening
from hwci.wire.limits import MACHINE_MAX
from hwci.wire.sso import challenge_of, code_of
from tests.support.running import EMAIL, RunningServer
from tests.support.soak import rounds
from tests.web.hostile import SIXTY
from tests.web.questions import come_to_the_question, provided_server

VERIFIER = "v" * 43
CHALLENGE = challenge_of(VERIFIER)
NOBODY_WAITS = "No command line waits for this browser"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with provided_server(tmp_path_factory.mktemp("server")) as found:
        yield found


@pytest.fixture
def strange_pages(server: RunningServer, quiet_console: list[str]) -> Iterator[None]:
    """The provider's own pages, and a browser's own request for an icon, may complain."""
    yield
    quiet_console[:] = [line for line in quiet_console if server.url in line]


@pytest.fixture
def waiting() -> Iterator[tuple[int, "Queue[Brought]"]]:
    """A command line that waits: its port, and what is brought there."""
    with listening(CHALLENGE) as found:
        yield found


@pytest.mark.usefixtures("strange_pages")
def test_a_person_reads_who_waits_and_says_yes(
    page: Page, server: RunningServer, waiting: "tuple[int, Queue[Brought]]"
) -> None:
    port, arrivals = waiting
    come_to_the_question(page, server, port, CHALLENGE, "lab-pc-7")

    question = f"hwci on lab-pc-7 wants to sign in as {EMAIL}, at port {port} of this computer."
    expect(page.get_by_text(question)).to_be_visible()
    expect(page.get_by_text(code_of(CHALLENGE), exact=True)).to_be_visible()
    expect(page).to_have_title("Sign in to the command line · hwci")
    assert arrivals.empty(), "nothing goes there before the person says so"
    page.get_by_role("button", name="Yes, sign in").click()

    expect(
        page.get_by_text("You are signed in to hwci. You may close this window.")
    ).to_be_visible()
    assert arrivals.get(timeout=60).code


@pytest.mark.usefixtures("strange_pages")
def test_a_person_says_no_and_the_command_line_hears_so(
    page: Page, server: RunningServer, waiting: "tuple[int, Queue[Brought]]"
) -> None:
    port, arrivals = waiting
    come_to_the_question(page, server, port, CHALLENGE, "lab-pc-7")
    page.get_by_role("button", name="No", exact=True).click()

    expect(page.get_by_text("You said no in the browser")).to_be_visible()
    assert arrivals.get(timeout=60) == Brought(refusal="You said no in the browser")


@pytest.mark.usefixtures("strange_pages")
def test_no_key_that_is_pressed_already_says_yes(
    page: Page, server: RunningServer, waiting: "tuple[int, Queue[Brought]]"
) -> None:
    port, arrivals = waiting
    come_to_the_question(page, server, port, CHALLENGE, "lab-pc-7")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    for key in ("Enter", " "):
        page.keyboard.press(key)
    expect(page.get_by_role("button", name="Yes, sign in")).to_be_enabled()
    assert arrivals.empty()

    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("You are signed in to hwci.")).to_be_visible()
    assert arrivals.get(timeout=60).code


@pytest.mark.usefixtures("strange_pages")
def test_an_answer_that_comes_after_another_link_was_opened_is_refused_with_the_reason(
    page: Page,
    server: RunningServer,
    waiting: "tuple[int, Queue[Brought]]",
    quiet_console: list[str],
) -> None:
    """The link of somebody else in another tab does not get the yes that is said to this page."""
    port, arrivals = waiting
    come_to_the_question(page, server, port, CHALLENGE, "lab-pc-7")
    other = page.context.new_page()
    come_to_the_question(other, server, port, challenge_of("w" * 43), "lab-pc-7")
    page.get_by_role("button", name="Yes, sign in").click()

    expect(page.get_by_role("alert")).to_contain_text(NOBODY_WAITS)
    assert arrivals.empty()
    other.close()
    quiet_console.clear()  # the browser itself tells of what was refused


def test_where_nobody_waits_the_page_says_what_to_do(
    page: Page, server: RunningServer, quiet_console: list[str]
) -> None:
    page.goto(f"{server.url}/sign-in/command-line")

    expect(page.get_by_role("alert")).to_contain_text("run hwci login again")
    expect(page.get_by_role("button")).to_have_count(0)
    quiet_console.clear()  # the browser itself tells of what was refused


@pytest.mark.usefixtures("strange_pages")
def test_whatever_a_machine_calls_itself_is_text_on_a_page_no_wider_than_its_window(
    page: Page, server: RunningServer
) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    for text in (*SIXTY[:: rounds(24, 12)], "W" * MACHINE_MAX):
        machine = text[:MACHINE_MAX]
        come_to_the_question(page, server, 1, CHALLENGE, machine)

        assert page.locator("main bdi").first.text_content() == machine
        assert page.evaluate("'hacked' in window") is False
        assert page.evaluate("document.documentElement.scrollWidth") == 360
