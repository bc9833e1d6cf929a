# SPDX-License-Identifier: Apache-2.0
"""The sign-in page, and the frame around every page, in a browser."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Page, expect

from hwci.server.settings import Registration
from tests.support.asking import ask
from tests.support.joining import invite
from tests.support.providers import mock_provider, sso_file
from tests.support.running import (
    EMAIL,
    MEMBER_EMAIL,
    NAME,
    ORGANIZATION,
    PASSWORD,
    Hands,
    RunningServer,
    running_in_thread,
)
from tests.support.soak import rounds
from tests.web.conftest import Account, Dashboard, open_own_menu

OWNER, MEMBER = Account(EMAIL, PASSWORD), Account(MEMBER_EMAIL, PASSWORD)
PERSON = {"sub": "olga", "email": EMAIL, "email_verified": True}
STRANGER = {"sub": "eve", "email": "eve@example.org", "email_verified": True}
NINA = {"sub": "nina", "email": "nina@example.org"}  # the provider does not say whose it is
VERA = {"sub": "vera", "email": "vera@example.org", "email_verified": True}

KEEPS_NOTHING = """
  const refuse = () => { throw new DOMException("Kept from it", "SecurityError"); };
  for (const place of ["localStorage", "sessionStorage"])
    Object.defineProperty(window, place, { get: refuse });
"""


QUICK_HAND = """new MutationObserver((_, seen) => {
  const field = document.querySelector("[type=password]");
  if (!field) return;
  seen.disconnect();
  field.focus();
}).observe(document, { childList: true, subtree: true })"""
"""Goes to the password as soon as it is there, before the first paint."""
PAINTED = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 200)))"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_in_thread(tmp_path_factory.mktemp("server")) as found:
        yield found


def fill(page: Page, email: str, password: str) -> None:
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()


@pytest.mark.own_tab
@pytest.mark.parametrize("path", rounds(["/sign-in"], ["/sign-in", "/setup#token"]))
def test_a_person_who_types_at_once_stays_in_the_field(
    page: Page, server: RunningServer, path: str
) -> None:
    page.add_init_script(QUICK_HAND)
    page.goto(server.url + path)
    page.evaluate(PAINTED)

    assert page.evaluate("document.activeElement.type") == "password"


def test_the_page_begins_in_its_first_field_and_works_by_keyboard(
    page: Page, server: RunningServer
) -> None:
    page.goto(server.url)
    expect(page.get_by_label("E-mail")).to_be_focused()
    expect(page).to_have_title("Sign in · hwci")
    page.keyboard.type(EMAIL)
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")

    expect(page.locator(".person")).to_contain_text(NAME)
    expect(page).to_have_url(f"{server.org_url.replace('/api', '')}/metrics")


def test_a_wrong_password_is_shown_and_can_be_typed_again(
    page: Page, server: RunningServer, quiet_console: list[str]
) -> None:
    page.goto(server.url)
    fill(page, EMAIL, "wrong")

    expect(page.get_by_role("alert")).to_have_text("Invalid e-mail or password")
    expect(page.get_by_label("Password")).to_be_focused()
    expect(page.get_by_label("E-mail")).to_have_value(EMAIL)
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.locator(".person")).to_contain_text(NAME)
    refused(quiet_console, 401)


def refused(said: list[str], status: int) -> None:
    """Take out of what the console said that the server refused."""
    assert all(f"status of {status}" in line for line in said if line)
    said.clear()


def test_a_person_who_tries_too_often_learns_when_to_try_again(
    page: Page, tmp_path: Path, quiet_console: list[str]
) -> None:
    with running_in_thread(tmp_path, clock=Hands(), auth_rate_limit="3/minute") as strict:
        page.goto(strict.url)
        fill(page, EMAIL, PASSWORD)

        said = re.compile(r"^Rate limit exceeded, retry in \d+ seconds?$")
        expect(page.get_by_role("alert")).to_have_text(said)
    refused(quiet_console, 429)


ELSEWHERE = (
    *("http://[", "/api/auth/me", "https://evil.example/", "//evil.example/sign-in"),
    *("/\\evil.example", "javascript:alert(1)", "/orgs/%2e%2e/none"),
    *("//evil.example/orgs/x/metrics#bugs", "#/orgs/x/metrics", "%"),
)
"""`test_hostile.py` has more of those that lead to others."""


@pytest.mark.parametrize("elsewhere", rounds(ELSEWHERE[:2], ELSEWHERE))
def test_a_sign_in_leads_to_our_own_pages_alone(
    page: Page, server: RunningServer, elsewhere: str
) -> None:
    page.goto(f"{server.url}/sign-in?next={quote(elsewhere, safe='')}")
    fill(page, EMAIL, PASSWORD)

    expect(page).to_have_url(f"{server.org_url.replace('/api', '')}/metrics")


def test_a_sign_in_leads_to_where_one_wanted_to_go(page: Page, server: RunningServer) -> None:
    wanted = f"{server.org_url.replace('/api', '')}/boxes?x=1#y"
    page.goto(wanted)
    expect(page.get_by_role("heading", name="Sign in to hwci")).to_be_visible()
    fill(page, EMAIL, PASSWORD)

    expect(page).to_have_url(wanted)


def test_a_sign_in_leads_to_the_part_of_a_page_that_a_link_meant(
    page: Page, demo: Dashboard
) -> None:
    org = demo.ask("/api/auth/me", demo.token())["organizations"][0]["id"]
    page.goto(f"{demo.url}/orgs/{org}/metrics?days=90#flaky")
    expect(page.get_by_role("heading", name="Sign in to hwci")).to_be_visible()
    fill(page, demo.account.email, demo.account.password)

    expect(page.locator("#flaky h2")).to_be_focused()
    expect(page.locator("#flaky h2")).to_be_in_viewport()
    expect(page).to_have_url(f"{demo.url}/orgs/{org}/metrics?days=90#flaky")


def test_a_person_who_was_signed_out_elsewhere_reads_why_and_comes_back(
    page: Page, server: RunningServer, quiet_console: list[str]
) -> None:
    shown = Dashboard(server.url, OWNER)
    wanted = f"{server.url}/orgs/{shown.sign_in(page.context)}/boxes"
    page.goto(wanted)
    expect(page.get_by_role("heading", level=1, name="Boxes")).to_be_visible()
    elsewhere = {"Authorization": f"Bearer {shown.token()}"}
    with urlopen(Request(f"{server.url}/api/auth/sessions", headers=elsewhere, method="DELETE")):
        page.reload()

    why = page.get_by_role("status").filter(has_text="Your sign-in has ended")
    expect(why).to_be_visible()
    page.goto(wanted)  # a page that is loaded again knows it too
    expect(why).to_be_visible()
    fill(page, OWNER.email, OWNER.password)

    expect(page).to_have_url(wanted)
    quiet_console.clear()  # the browser itself tells of the refusal


def test_a_refusal_that_came_when_its_page_was_gone_is_told(
    page: Page, server: RunningServer
) -> None:
    """That page left a note that it renewed, and the answer took the sign-in's cookies away."""
    page.context.clear_cookies()
    page.context.add_cookies([{"name": "hwci_renewing", "value": "1", "url": server.url}])

    page.goto(server.url)

    expect(page.get_by_role("status").filter(has_text="Your sign-in has ended")).to_be_visible()


def test_a_person_who_signs_out_sees_no_message_of_an_end(
    page: Page, server: RunningServer
) -> None:
    page.goto(f"{server.url}/orgs/{Dashboard(server.url, OWNER).sign_in(page.context)}/boxes")

    open_own_menu(page)
    page.get_by_role("button", name="Sign out").click()

    expect(page.get_by_role("heading", name="Sign in to hwci")).to_be_visible()
    expect(page.get_by_text("Your sign-in has ended")).to_have_count(0)


@pytest.fixture(scope="module")
def provided(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server whose people sign in through a provider, those who are invited."""
    folder = tmp_path_factory.mktemp("provided")
    with mock_provider(PERSON, STRANGER, VERA, NINA) as issuer:
        file = sso_file(folder, acme=issuer, away="http://127.0.0.1:9")
        invite = Registration.INVITE
        with running_in_thread(folder, registration=invite, sso_file=file) as found:
            yield found


@pytest.fixture
def strange_pages(provided: RunningServer, quiet_console: list[str]) -> Iterator[None]:
    """The provider's own pages may complain."""
    yield
    quiet_console[:] = [line for line in quiet_console if provided.url in line]


def at_provider(page: Page, server: RunningServer, subject: str) -> None:
    page.goto(f"{server.url}/sign-in")
    authorize(page, subject)


def authorize(page: Page, subject: str) -> None:
    """Go to the provider, and say yes there."""
    page.get_by_role("link", name="Sign in with Acme").click()
    page.locator("input[name=sub]").fill(subject)
    page.get_by_role("button", name="Authorize").click()


@pytest.mark.usefixtures("strange_pages")
def test_through_a_provider_one_comes_back_signed_in(page: Page, provided: RunningServer) -> None:
    at_provider(page, provided, "olga")

    expect(page.locator(".person")).to_contain_text(NAME)
    expect(page).to_have_url(f"{provided.org_url.replace('/api', '')}/metrics")


@pytest.mark.usefixtures("strange_pages")
def test_a_person_whose_e_mail_somebody_else_had_registered_reads_so_once(
    page: Page, provided: RunningServer
) -> None:
    token = invite(provided, provided.token, str(VERA["email"])).json["inviteToken"]
    body = {"email": VERA["email"], "password": PASSWORD, "inviteToken": token}
    assert ask(provided.url, "POST", "/api/auth/register", json_body=body).status == 201

    at_provider(page, provided, "vera")

    told = page.get_by_role("status").filter(has_text="nobody had proved to be yours")
    expect(told).to_contain_text("it has left 1 organization. If you miss one, ask an owner")
    page.reload()
    expect(page.locator(".person")).to_contain_text("vera@example.org")
    expect(told).to_have_count(0)


@pytest.mark.usefixtures("strange_pages")
def test_who_was_invited_registers_through_a_provider_that_says_nothing_of_their_e_mail(
    page: Page, provided: RunningServer
) -> None:
    token = invite(provided, provided.token, str(NINA["email"])).json["inviteToken"]
    page.goto(f"{provided.url}/setup#{token}")
    through = page.get_by_role("button", name="Register with Acme")
    through.click()
    expect(page.get_by_label("E-mail")).to_be_focused()
    page.get_by_label("E-mail").fill(str(NINA["email"]))
    through.click()
    page.locator("input[name=sub]").fill("nina")
    page.get_by_role("button", name="Authorize").click()

    expect(page.locator(".person")).to_contain_text("nina@example.org")
    expect(page).to_have_url(f"{provided.org_url.replace('/api', '')}/metrics")


def test_an_invitation_that_a_provider_cannot_help_with_is_explained_on_the_page(
    page: Page, provided: RunningServer, quiet_console: list[str]
) -> None:
    page.goto(f"{provided.url}/setup#made-up")
    page.get_by_label("E-mail").fill("eve@example.org")
    page.get_by_role("button", name="Register with Acme").click()

    expect(page.get_by_role("alert")).to_contain_text("The invitation is unknown")
    expect(page.get_by_role("heading", name="What to do now")).to_be_focused()
    expect(page.get_by_role("button", name="Register with Acme")).to_have_count(0)
    assert all("status of 403" in line for line in quiet_console if line)
    quiet_console.clear()


def test_without_an_invitation_the_set_up_page_has_no_provider(
    page: Page, provided: RunningServer
) -> None:
    page.goto(f"{provided.url}/setup")

    expect(page.get_by_text("You were invited? Open your link again")).to_be_visible()
    expect(page.get_by_role("button", name="Register with")).to_have_count(0)


@pytest.mark.usefixtures("strange_pages")
def test_through_a_provider_one_comes_to_where_one_wanted_to_go_once(
    page: Page, provided: RunningServer
) -> None:
    home = provided.org_url.replace("/api", "")
    page.goto(f"{home}/boxes?x=1#y")
    authorize(page, "eve")
    expect(page.get_by_role("alert")).to_be_visible()
    authorize(page, "olga")

    expect(page).to_have_url(f"{home}/boxes?x=1#y")
    page.goto(provided.url)
    expect(page).to_have_url(f"{home}/metrics")


@pytest.mark.usefixtures("strange_pages")
def test_a_person_whom_the_server_does_not_let_in_reads_why_on_the_page(
    page: Page, provided: RunningServer
) -> None:
    at_provider(page, provided, "eve")

    said = "Registration needs an invitation; ask an owner of your organization"
    expect(page.get_by_role("alert")).to_have_text(said)
    expect(page).to_have_url(f"{provided.url}/sign-in")
    fill(page, EMAIL, PASSWORD)
    expect(page.locator(".person")).to_contain_text(NAME)


@pytest.mark.usefixtures("strange_pages")
def test_a_person_who_says_no_at_the_provider_reads_so_on_the_page(
    page: Page, provided: RunningServer
) -> None:
    page.goto(f"{provided.url}/sign-in")
    page.get_by_role("link", name="Sign in with Acme").click()
    page.get_by_role("button", name="Deny").click()

    said = "Acme did not sign you in (access_denied); sign in again"
    expect(page.get_by_role("alert")).to_have_text(said)


def test_a_provider_that_is_away_is_named_on_the_page(page: Page, provided: RunningServer) -> None:
    page.goto(f"{provided.url}/sign-in")
    page.get_by_role("link", name="Sign in with Away").click()

    said = "Away cannot be reached now; try again in a minute"
    expect(page.get_by_role("alert")).to_have_text(said)


def test_a_link_cannot_put_words_on_the_page(page: Page, provided: RunningServer) -> None:
    page.goto(f"{provided.url}/sign-in?sso=Send+your+password+to+eve")

    said = "You were not signed in; sign in again"
    expect(page.get_by_role("alert")).to_have_text(said)


def dashboard(server: RunningServer, page: Page, account: Account = OWNER) -> str:
    """Sign in; return the address that pages of the organization begin with."""
    Dashboard(server.url, account).sign_in(page.context)
    return server.org_url.replace("/api", "")


@pytest.mark.own_tab
def test_a_chosen_theme_is_kept_and_there_before_the_first_paint(
    page: Page, server: RunningServer
) -> None:
    page.emulate_media(color_scheme="light")
    page.goto(dashboard(server, page) + "/metrics")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    open_own_menu(page)
    page.get_by_label("Theme").select_option("Dark theme")
    dark = page.evaluate(ground)
    assert dark != light
    other = page.context.new_page()
    other.goto(f"{server.url}/sign-in")
    assert other.evaluate(ground) == dark

    page.reload(wait_until="commit")
    expect(page.locator("#app")).to_be_attached()
    assert page.evaluate(ground) == dark
    open_own_menu(page)
    page.get_by_label("Theme").select_option("System theme")
    assert page.evaluate(ground) == light
    expect(other.locator("html:not([data-theme])")).to_be_attached()


@pytest.mark.own_tab
def test_a_browser_that_keeps_nothing_shows_everything(page: Page, server: RunningServer) -> None:
    page.add_init_script(KEEPS_NOTHING)
    page.goto(server.url)
    fill(page, EMAIL, PASSWORD)
    expect(page.locator(".person")).to_contain_text(NAME)
    expect(page).to_have_url(re.compile("/metrics$"))
    open_own_menu(page)
    page.get_by_label("Theme").select_option("Dark theme")

    expect(page.get_by_label("Theme")).to_have_value("")
    expect(page.locator("html:not([data-theme])")).to_be_attached()


def test_another_page_has_its_title_and_the_focus_and_back_is_where_one_was(
    page: Page, demo: Dashboard
) -> None:
    org = demo.sign_in(page.context)
    page.goto(f"{demo.url}/orgs/{org}/metrics")
    expect(page.get_by_role("heading", name=re.compile("^Flakiest tests"))).to_be_visible()
    expect(page).to_have_title(re.compile("^Metrics · .+ · hwci$"))
    page.mouse.wheel(0, 700)
    expect(page.get_by_role("heading", name="Metrics")).not_to_be_in_viewport()
    before = page.evaluate("window.scrollY")
    page.evaluate("document.querySelector('a[href$=\"/boxes\"]').click()")

    expect(page).to_have_title(re.compile("^Boxes · .+ · hwci$"))
    expect(page.locator("main")).to_be_focused()
    assert page.evaluate("window.scrollY") == 0
    page.go_back()
    expect(page.get_by_role("heading", name="Metrics")).to_be_attached()
    expect(page.get_by_role("heading", name="Metrics")).not_to_be_in_viewport()
    assert page.evaluate("window.scrollY") == before


def test_the_first_key_leads_past_the_navigation(page: Page, server: RunningServer) -> None:
    page.goto(dashboard(server, page) + "/boxes")
    expect(page.locator(".person")).to_contain_text(NAME)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")

    expect(page.locator("main")).to_be_focused()


def test_only_who_may_see_the_audit_log_is_led_there(page: Page, server: RunningServer) -> None:
    page.goto(dashboard(server, page, MEMBER) + "/boxes")

    expect(page.get_by_role("link", name="Boxes")).to_have_attribute("aria-current", "page")
    expect(page.get_by_role("link", name="Audit log")).to_have_count(0)


def test_the_organization_that_one_chose_is_the_one_that_one_comes_back_to(
    page: Page, tmp_path: Path, quiet_console: list[str]
) -> None:
    with running_in_thread(tmp_path) as server:
        page.goto(dashboard(server, page) + "/metrics")
        token = Dashboard(server.url, OWNER).token()
        page.request.post(
            f"{server.url}/api/orgs",
            data={"name": "Second"},
            headers={"Authorization": f"Bearer {token}"},
        )
        page.reload()
        first = page.url
        menu = page.get_by_role("button", name=f"Organization: {ORGANIZATION}")
        menu.press("Enter")
        expect(page.get_by_role("link", name=ORGANIZATION)).to_have_attribute(
            "aria-current", "true"
        )
        page.keyboard.press("Escape")
        expect(page.get_by_role("link", name="Second")).to_have_count(0)
        expect(menu).to_be_focused()
        menu.click()
        page.get_by_role("link", name="Second").click()
        expect(page).to_have_title("Metrics · Second · hwci")
        second = page.url
        page.goto(server.url)

        expect(page).to_have_url(second)
        expect(page.get_by_role("heading", name="turn CI Metrics on")).to_be_visible()
        page.evaluate("localStorage.clear()")
        page.goto(server.url)

        expect(page).to_have_url(first)
        expect(page.get_by_role("heading", name="No report has arrived yet")).to_be_visible()
    refused(quiet_console, 403)  # a new organization has no metrics yet


@pytest.mark.parametrize(
    "path",
    rounds(["/orgs/%zz/metrics"], ["/none", "/orgs/x/y", "/orgs/x/metrics", "/orgs/%zz/metrics"]),
)
def test_an_unknown_address_shows_a_page_that_leads_on(
    page: Page, server: RunningServer, quiet_console: list[str], path: str
) -> None:
    dashboard(server, page)
    page.goto(server.url + path)

    expect(page.get_by_role("heading", level=1, name=re.compile("^No such"))).to_be_visible()
    page.get_by_role("link", name="hwci", exact=True).click()
    expect(page.locator(".person")).to_contain_text(NAME)
    expect(page).to_have_url(re.compile("/metrics$"))
    refused(quiet_console, 404)


@pytest.mark.parametrize("path", rounds(["/sign-in"], ["/sign-in", "/setup", "/"]))
def test_on_a_phone_nothing_is_cut_off(page: Page, server: RunningServer, path: str) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    if path == "/":
        dashboard(server, page)
    page.goto(server.url + path)
    expect(page.get_by_role("button").last).to_be_visible()

    assert page.evaluate("document.documentElement.scrollWidth") == 360
