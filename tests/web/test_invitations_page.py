# SPDX-License-Identifier: Apache-2.0
"""Invitations in a browser: who is invited accepts or declines, who invites sees and withdraws, and
everyone but the last owner leaves (contract, "Organizations").
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.asking import ask
from tests.support.joining import invite
from tests.support.running import EMAIL, NAME, ORGANIZATION, PASSWORD, RunningServer
from tests.web.conftest import Account, Dashboard
from tests.web.live import Site, row, site

ADA = Account("ada@example.org", PASSWORD)


@pytest.fixture
def own(page: Page, tmp_path: Path) -> Iterator[Site]:
    """A server whose owner is signed in, and an account that belongs to no organization."""
    with site(page, tmp_path) as found:
        body = {"email": ADA.email, "password": ADA.password, "name": "Ada"}
        assert ask(found.server.url, "POST", "/api/auth/register", json_body=body).status == 201
        yield found


def link(server: RunningServer, role: str = "admin") -> str:
    """Invite Ada; return the link that its inviter hands on."""
    token = invite(server, server.token, ADA.email, role).json["inviteToken"]
    return f"{server.url}/setup#{token}"


def sign_in(page: Page, server: RunningServer) -> None:
    page.context.request.post(
        f"{server.url}/api/auth/login",
        data={"email": ADA.email, "password": ADA.password, "session": "cookie"},
        headers={"Origin": server.url},
    )


def test_a_person_who_is_signed_in_opens_the_link_sees_who_invites_to_what_and_accepts(
    page: Page, own: Site
) -> None:
    sign_in(page, own.server)
    page.goto(link(own.server))

    expect(page.get_by_role("heading", level=1, name="Invitations")).to_be_visible()
    assert "#" not in page.url, "the token has left the address"
    shown = row(page, ORGANIZATION)
    for words in ("admin", EMAIL, NAME):
        expect(shown).to_contain_text(words)
    page.get_by_role("button", name=f"Accept the invitation to {ORGANIZATION}").click()

    expect(page).to_have_title(f"Metrics · {ORGANIZATION} · hwci")
    expect(page.get_by_role("link", name="Audit log")).to_be_visible()  # an admin
    expect(page.locator(".waits")).to_have_count(0)


def test_a_person_who_has_an_account_and_is_signed_out_signs_in_on_the_way(
    page: Page, own: Site
) -> None:
    page.context.clear_cookies()
    page.goto(link(own.server))
    page.get_by_role("link", name="Sign in to accept or decline").click()
    page.get_by_label("E-mail").fill(ADA.email)
    page.get_by_label("Password").fill(ADA.password)
    page.get_by_role("button", name="Sign in", exact=True).click()

    page.get_by_role("button", name="Accept").click()

    expect(page).to_have_title(f"Metrics · {ORGANIZATION} · hwci")


def test_without_the_link_an_invitation_is_shown_on_every_page_and_can_be_declined(
    page: Page, own: Site
) -> None:
    link(own.server)
    sign_in(page, own.server)
    page.goto(own.server.url)
    expect(page.get_by_role("heading", level=1, name="No organization yet")).to_be_visible()
    expect(page.locator(".waits")).to_have_text("1 invitation to an organization waits for you.")
    page.get_by_role("link", name="1 invitation").click()

    expect(row(page, ORGANIZATION)).to_contain_text("open the link from the person who invited you")
    expect(page.get_by_role("button", name="Accept")).to_have_count(0)
    page.get_by_role("button", name=f"Decline the invitation to {ORGANIZATION}").click()

    expect(page.locator(".empty")).to_contain_text(f"No invitation waits for {ADA.email}")
    page.get_by_role("link", name="hwci", exact=True).click()
    expect(page.get_by_role("heading", level=1, name="No organization yet")).to_be_visible()
    expect(page.locator(".waits")).to_have_count(0)


def test_an_invitation_that_is_withdrawn_meanwhile_is_noted_beside_it(
    page: Page, own: Site, quiet_console: list[str]
) -> None:
    sign_in(page, own.server)
    page.goto(link(own.server))
    expect(page.get_by_role("button", name="Accept")).to_be_visible()
    own.benches.member("DELETE", f"invites/{own.ask('invites')['items'][0]['id']}")

    page.get_by_role("button", name="Accept").click()

    expect(page.get_by_role("alert")).to_contain_text("it was accepted, declined or withdrawn")
    assert all("status of 404" in line for line in quiet_console if line)
    quiet_console.clear()


def test_an_owner_invites_by_a_link_sees_what_is_open_and_withdraws(
    page: Page, own: Site, quiet_console: list[str]
) -> None:
    own.open("members")
    expect(page.get_by_role("cell", name=EMAIL, exact=True)).to_be_visible()
    page.get_by_label("Invite").fill(EMAIL)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("with this email already exists")

    page.get_by_label("Invite").fill("new@example.org")
    page.locator("select[name=role]").select_option("admin")
    page.get_by_role("button", name="Invite", exact=True).click()

    expect(page.get_by_role("heading", name="Invitation of new@example.org")).to_be_focused()
    expect(page.locator(".token code")).to_contain_text(f"{own.server.url}/setup#")
    expect(row(page, "new@example.org")).to_contain_text("admin")
    page.get_by_role("button", name="Withdraw the invitation of new@example.org").click()

    expect(page.get_by_text("There are no open invitations")).to_be_visible()
    expect(page.locator(".token")).to_have_count(0)
    assert own.ask("invites")["items"] == []

    page.get_by_role("button", name="Leave this organization").click()  # the last owner stays
    page.get_by_role("button", name="Leave", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("keeps at least one owner")
    assert all("status of 409" in line for line in quiet_console if line)
    quiet_console.clear()


def test_a_member_sees_the_members_and_leaves_in_two_steps(page: Page, own: Site) -> None:
    sign_in(page, own.server)
    page.goto(link(own.server, "member"))
    page.get_by_role("button", name="Accept").click()
    page.get_by_role("link", name="Members").click()
    expect(page.get_by_role("cell", name=ADA.email)).to_be_visible()
    expect(page.get_by_label("Invite")).to_have_count(0)
    page.get_by_role("button", name="Leave this organization").click()
    expect(page.get_by_role("button", name="Stay")).to_be_focused()

    page.get_by_role("button", name="Leave", exact=True).click()

    expect(page.get_by_role("heading", level=1, name="No organization yet")).to_be_visible()
    emails = [one["user"]["email"] for one in own.ask("members")["items"]]
    assert ADA.email not in emails


def test_a_link_for_another_e_mail_says_what_to_do(page: Page, own: Site) -> None:
    page.goto(link(own.server))  # the owner is signed in

    expect(page.locator(".empty")).to_contain_text(f"No invitation waits for {EMAIL}")
    expect(page.locator(".empty")).to_contain_text("is for another e-mail")
    assert Dashboard(own.server.url, ADA).token()
