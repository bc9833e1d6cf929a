# SPDX-License-Identifier: Apache-2.0
"""The set-up page in a browser: the first user of a server, and who was invited."""

import re
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from hwci.server.settings import Registration
from tests.support.asking import ask, bearer
from tests.support.joining import join
from tests.support.running import RunningServer, running_in_thread
from tests.web.conftest import Account, Dashboard

LONG = "a pass phrase of mine"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("server")
    with running_in_thread(folder, registration=Registration.INVITE) as found:
        yield found


def invited(server: RunningServer, email: str) -> str:
    """Invite somebody; return the link of the set-up page."""
    path = f"/api/orgs/{server.org_id}/invites"
    body = {"email": email, "role": "admin"}
    made = ask(server.url, "POST", path, bearer(server.token), json_body=body).json
    return f"{server.url}/setup#{made['inviteToken']}"


def fill(page: Page, **fields: str) -> None:
    for title, value in fields.items():
        page.get_by_label(title).fill(value)
    page.get_by_role("button", name="Register").click()


@contextmanager
def fresh(folder: Path) -> Iterator[str]:
    """Run `hwci serve` on a new database; return the link that it prints."""
    database = str(folder / "hwci.db")
    command = [sys.executable, "-m", "hwci", "serve", "--port", "0", "--database", database]
    with subprocess.Popen([*command, "--quiet"], stderr=subprocess.PIPE, bufsize=0) as process:
        assert process.stderr is not None
        try:
            given = b""
            while not re.search(rb"/setup#\S+\n", given):
                assert select.select([process.stderr], [], [], 60)[0], given
                given += process.stderr.read(65_536) or b""
                assert process.poll() is None, given
            found = re.search(rb"\S+/setup#\S+", given)
            assert found is not None
            yield found[0].decode()
        finally:
            process.terminate()
            process.communicate()


def without_metrics(page: Page, said: list[str]) -> None:
    """Take out of what the console said that a new organization has no metrics yet."""
    page.wait_for_load_state("networkidle")
    assert all("status of 403" in line for line in said if line)
    said.clear()


def test_the_first_user_registers_by_the_link_that_the_server_prints(
    page: Page, tmp_path: Path, quiet_console: list[str]
) -> None:
    with fresh(tmp_path) as link:
        page.goto(link)
        expect(page.get_by_label("E-mail")).to_be_focused()
        expect(page.get_by_text("Your link, from the server")).to_be_visible()
        assert "#" not in page.url, "the token has left the address"
        fill_all(page, "first@example.org")

        expect(page).to_have_title(re.compile("Metrics · First Firmware · hwci"))
        expect(page.locator(".person")).to_contain_text("Fay First")
        without_metrics(page, quiet_console)


def fill_all(page: Page, email: str) -> None:
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Your name").fill("Fay First")
    page.get_by_label("New organization").fill("First Firmware")
    page.get_by_label("Password").fill(LONG)
    page.get_by_role("button", name="Register").click()


def test_a_person_who_is_invited_joins_by_the_link_without_an_organization_of_their_own(
    page: Page, server: RunningServer
) -> None:
    page.goto(invited(server, "new@example.org"))
    fill(page, **{"E-mail": "new@example.org", "Password": LONG})

    expect(page).to_have_title("Metrics · Acme Firmware · hwci")
    expect(page.get_by_role("link", name="Audit log")).to_be_visible()


def test_a_link_is_taken_where_the_page_stands_already(
    page: Page, server: RunningServer, quiet_console: list[str]
) -> None:
    link = invited(server, "late@example.org")
    page.goto(f"{server.url}/setup")
    fill(page, **{"E-mail": "late@example.org", "Password": LONG})
    expect(page.get_by_role("heading", name="What to do now")).to_be_focused()

    page.goto(link)

    expect(
        page.get_by_text("Your link, from the server or an invitation, works once")
    ).to_be_visible()
    assert "#" not in page.url, "the token has left the address"
    expect(page.get_by_label("E-mail")).to_have_value("late@example.org")
    page.get_by_role("button", name="Register").click()
    expect(page).to_have_title("Metrics · Acme Firmware · hwci")
    assert all("status of 403" in line for line in quiet_console if line)
    quiet_console.clear()


def test_the_rules_of_a_password_are_shown_before(page: Page, server: RunningServer) -> None:
    page.goto(f"{server.url}/setup")

    password = page.get_by_label("Password")
    expect(password).to_have_accessible_description(re.compile("At least 12 characters"))
    expect(password).to_have_attribute("minlength", "12")
    expect(password).to_have_attribute("autocomplete", "new-password")


def test_faults_are_shown_beside_their_fields(
    page: Page, server: RunningServer, quiet_console: list[str]
) -> None:
    page.goto(invited(server, "long@example.org"))
    name = page.get_by_label("Your name")
    fill(page, **{"E-mail": "long@example.org", "Your name": "x" * 256, "Password": LONG})

    expect(name).to_have_attribute("aria-invalid", "true")
    expect(name).to_have_accessible_description(re.compile("at most 255 characters"))
    fill(page, **{"Your name": "Lo"})
    expect(page.locator(".person")).to_contain_text("Lo")
    assert all("status of 400" in line for line in quiet_console if line)
    quiet_console.clear()


@pytest.mark.parametrize(
    ("token", "said"),
    [
        ("", "Registration needs an invitation; ask an owner of your organization"),
        (
            "#made-up",
            "The invitation is unknown, was used or withdrawn, or has expired; ask for a new one",
        ),
    ],
)
def test_without_a_good_invitation_the_page_says_whom_to_ask(
    page: Page, server: RunningServer, quiet_console: list[str], token: str, said: str
) -> None:
    page.goto(f"{server.url}/setup{token}")
    fill(page, **{"E-mail": "eve@example.org", "Password": LONG})

    expect(page.get_by_role("alert")).to_have_text(said)
    expect(page.get_by_role("heading", name="What to do now")).to_be_focused()
    expect(page.get_by_text("ask the owner or admin who invited you")).to_be_visible()
    expect(page.get_by_role("link", name="Sign in")).to_be_visible()
    expect(page.get_by_label("Password")).to_be_hidden()
    page.get_by_role("button", name="Back to what I typed").click()
    expect(page.get_by_label("E-mail")).to_have_value("eve@example.org")
    assert all("status of 403" in line for line in quiet_console if line)
    quiet_console.clear()


@pytest.fixture(scope="module")
def anyone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server where anyone may register."""
    folder = tmp_path_factory.mktemp("anyone")
    with running_in_thread(folder, registration=Registration.OPEN) as found:
        yield found


def test_where_anyone_may_register_the_page_needs_no_link_and_a_taken_e_mail_is_shown(
    page: Page, anyone: RunningServer, quiet_console: list[str]
) -> None:
    page.goto(f"{anyone.url}/sign-in")
    page.get_by_role("link", name="register").click()
    fill_all(page, anyone.email)
    expect(page.get_by_role("alert")).to_contain_text("email")
    assert all("status of 409" in line for line in quiet_console if line)
    quiet_console.clear()

    fill_all(page, "any@example.org")

    expect(page.locator(".person")).to_contain_text("Fay First")
    without_metrics(page, quiet_console)


def test_a_person_who_has_no_organization_makes_one_in_the_page(
    page: Page, anyone: RunningServer, quiet_console: list[str]
) -> None:
    page.goto(f"{anyone.url}/setup")
    fill(page, **{"E-mail": "alone@example.org", "Password": LONG})
    none = page.get_by_role("heading", level=1, name="No organization yet")
    expect(none).to_be_visible()
    name = page.get_by_label("Name of the organization")
    make = page.get_by_role("button", name="Create organization")
    name.fill("   ")
    make.click()
    expect(page.get_by_role("alert")).to_contain_text("at least 1 character")

    name.fill(" Lone Firmware ")
    make.click()

    expect(page).to_have_title("Metrics · Lone Firmware · hwci")
    expect(page.get_by_role("link", name="Audit log")).to_be_visible()  # its owner
    expect(page.get_by_role("heading", name="turn CI Metrics on")).to_be_visible()
    assert all(re.search("status of 40[03]", line) for line in quiet_console if line)
    quiet_console.clear()


def test_a_person_who_has_no_organization_joins_one_elsewhere_and_looks_again(
    page: Page, anyone: RunningServer
) -> None:
    page.goto(f"{anyone.url}/setup")
    fill(page, **{"E-mail": "lonely@example.org", "Password": LONG})
    expect(page.get_by_text("invite lonely@example.org")).to_be_visible()
    lonely = Dashboard(anyone.url, Account("lonely@example.org", LONG)).token()
    join(anyone.url, str(anyone.org_id), anyone.token, lonely)

    page.get_by_role("button", name="Refresh").click()

    expect(page).to_have_title("Metrics · Acme Firmware · hwci")
