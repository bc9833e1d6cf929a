# SPDX-License-Identifier: Apache-2.0
"""The page of one's own account in a browser, and that of a reset link."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID, uuid4

import pytest
from playwright.sync_api import Page, expect

from hwci.server.app import CommandResult, ResetPassword, SetCiMetrics, SetUserEnabled, operate
from tests.support.asking import Reply, ask
from tests.support.running import PASSWORD, RunningServer, running_in_thread
from tests.support.soak import rounds
from tests.web.conftest import Account, Dashboard, open_own_menu

NEW = "another good password"
HOSTILE = "<img src=x onerror=window.hacked=1>\"'><script>window.hacked=1</script> Firefox/1"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_in_thread(tmp_path_factory.mktemp("server")) as found:
        yield found


def by_operator(
    server: RunningServer, command: ResetPassword | SetCiMetrics | SetUserEnabled
) -> CommandResult:
    """Carry a command out, beside the event loop that the browser's driver keeps."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(operate, str(server.database), command).result()


@pytest.fixture
def email(page: Page, server: RunningServer) -> str:
    """Register somebody with an organization, in which no page is refused; sign this browser in."""
    address = f"{uuid4().hex}@example.org"
    body = {"email": address, "password": PASSWORD, "organization": "Engines"}
    made = ask(server.url, "POST", "/api/auth/register", json_body=body)
    org_id = UUID(made.json["organization"]["id"])
    by_operator(server, SetCiMetrics(org_id=org_id, enabled=True))
    Dashboard(server.url, Account(address, PASSWORD)).sign_in(page.context)
    return address


def login(server: RunningServer, email: str, password: str = PASSWORD, agent: str = "") -> Reply:
    """Sign in elsewhere."""
    body = {"email": email, "password": password}
    return ask(server.url, "POST", "/api/auth/login", ("User-Agent", agent), json_body=body)


def fill(page: Page, current: str, new: str) -> None:
    page.get_by_label("Current password").fill(current)
    page.get_by_label("New password").fill(new)
    page.get_by_role("button", name="Change password").click()


def rows(page: Page) -> list[str]:
    return page.locator("tbody tr").all_inner_texts()


def test_a_password_is_changed_and_only_this_page_stays_signed_in(
    page: Page, server: RunningServer, email: str
) -> None:
    page.goto(f"{server.url}/account")
    expect(page).to_have_title("Your account · hwci")
    expect(page.locator("tbody tr")).to_have_count(2)
    fill(page, PASSWORD, NEW)

    expect(page.get_by_text("Your password is changed. 1 other session ended.")).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.get_by_label("New password")).to_have_value("")
    assert login(server, email).status == 401
    assert login(server, email, NEW).status == 200
    page.reload()
    expect(page.locator("tbody tr")).to_have_count(2)


@pytest.mark.usefixtures("email")
def test_what_is_wrong_with_a_password_is_shown_beside_its_field(
    page: Page, server: RunningServer, quiet_console: list[str]
) -> None:
    page.goto(f"{server.url}/account")
    fill(page, "a wrong guess", NEW)

    current = page.get_by_label("Current password")
    expect(current).to_have_accessible_description("Should be the password that you have now")
    fill(page, PASSWORD, "aaaaaaaaaaaaa")
    new = page.get_by_label("New password")
    expect(new).to_have_accessible_description(re.compile("one character repeated"))
    expect(current).to_have_accessible_description("")
    assert all("status of 400" in line for line in quiet_console if line)
    quiet_console.clear()


def test_a_session_is_ended_in_the_list_and_all_others_by_a_button(
    page: Page, server: RunningServer, email: str
) -> None:
    others = [login(server, email, agent=f"hwci/{n}").json for n in range(3)]
    page.goto(f"{server.url}/account")
    expect(page.locator("tbody tr")).to_have_count(5)

    page.get_by_role("button", name="End the session from hwci").first.click()
    expect(page.get_by_text("Session ended.")).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(4)
    body = {"refreshToken": others[-1]["refreshToken"]}
    assert ask(server.url, "POST", "/api/auth/refresh", json_body=body).status == 401

    page.get_by_role("button", name="End all other sessions").click()
    expect(page.get_by_text("3 other sessions ended.")).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(1)
    assert "this one" in rows(page)[0]

    page.get_by_role("button", name="Sign out here").click()
    expect(page).to_have_url(re.compile("/sign-in"))


def test_a_page_whose_session_is_ended_elsewhere_goes_to_the_sign_in_and_comes_back(
    page: Page, server: RunningServer, email: str
) -> None:
    page.goto(f"{server.url}/account")
    expect(page.locator("tbody tr")).to_have_count(2)
    for enabled in (False, True):
        by_operator(server, SetUserEnabled(email=email, enabled=enabled))
    page.context.clear_cookies()
    page.reload()

    expect(page.get_by_role("heading", name="Sign in to hwci")).to_be_visible()
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_title("Your account · hwci")


def test_whatever_a_program_says_of_itself_is_shown_in_words_of_ours(
    page: Page, server: RunningServer, email: str
) -> None:
    for agent in (HOSTILE, "<b>bold</b>", "=1+1", "\u202egnp".encode().decode("latin-1")):
        assert login(server, email, agent=agent).status == 200

    page.goto(f"{server.url}/account")
    expect(page.locator("tbody tr")).to_have_count(6)

    assert page.evaluate("'hacked' in window") is False
    clients = {text.split("\n")[0].split("\t")[0].strip() for text in rows(page)}
    assert all("<" not in one and "=" not in one for one in clients)
    expect(page.get_by_role("cell", name="Firefox", exact=True)).to_have_count(1)
    expect(page.get_by_role("cell", name="another program", exact=True)).to_have_count(4)


@pytest.mark.usefixtures("email")
@pytest.mark.parametrize("width", rounds([360], [360, 1280]))
def test_the_page_fits_its_window_and_is_reached_from_every_other(
    page: Page, server: RunningServer, width: int, quiet_console: list[str]
) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    page.goto(f"{server.url}/orgs/{uuid4()}/boxes")
    open_own_menu(page)
    page.get_by_role("link", name="Account").click()

    expect(page.get_by_role("heading", name="Your account")).to_be_visible()
    expect(page.locator("tbody tr").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    quiet_console.clear()  # the browser itself tells of an organization that is not there


# The operator's link


def link(server: RunningServer, email: str) -> str:
    token = by_operator(server, ResetPassword(email=email)).reset_token
    return f"{server.url}/reset#{token}"


def set_password(page: Page, password: str) -> None:
    page.get_by_label("New password").fill(password)
    page.get_by_role("button", name="Set password").click()


def test_by_the_operators_link_one_sets_a_new_password_and_signs_in(
    page: Page, server: RunningServer, email: str
) -> None:
    page.goto(link(server, email))
    expect(page.get_by_label("New password")).to_be_focused()
    assert "#" not in page.url, "the token has left the address"
    set_password(page, NEW)

    expect(page.get_by_role("heading", name="Your password is set")).to_be_focused()
    page.get_by_role("link", name="Sign in with the new password").click()
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(NEW)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1, name="Metrics")).to_be_visible()
    assert login(server, email).status == 401


def test_a_link_that_was_used_says_whom_to_ask(
    page: Page, server: RunningServer, email: str, quiet_console: list[str]
) -> None:
    used = link(server, email)
    page.goto(used)
    set_password(page, "aaaaaaaaaaaaa")
    field = page.get_by_label("New password")
    expect(field).to_have_accessible_description(re.compile("one character repeated"))
    set_password(page, NEW)
    expect(page.get_by_role("heading", name="Your password is set")).to_be_visible()

    page.goto(f"{server.url}/sign-in")
    page.goto(used)
    set_password(page, NEW)

    expect(page.get_by_role("alert")).to_contain_text("was used or has expired; ask the operator")
    assert all(re.search("status of 40[03]", line) for line in quiet_console if line)
    quiet_console.clear()


def test_without_a_token_the_page_says_how_to_get_a_link(page: Page, server: RunningServer) -> None:
    page.goto(f"{server.url}/reset")

    expect(
        page.get_by_text("Invalid link. The operator of this server can make a new one")
    ).to_be_visible()
