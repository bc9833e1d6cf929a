# SPDX-License-Identifier: Apache-2.0
"""What is typed into a form and not sent yet outlives a sign-in that ends: the sign-in page says
why it is there, and leads back to the form as it was.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.running import ADMIN_EMAIL
from tests.support.soak import rounds
from tests.web.live import Site, ended, row, sign_in_again, site


@pytest.fixture
def own(page: Page, tmp_path: Path) -> Iterator[Site]:
    with site(page, tmp_path) as made:
        made.benches.installed("bench-1")
        yield made


def add_box(own: Site) -> None:
    own.page.get_by_label("New box").fill("bench-2")
    own.page.get_by_role("button", name="Add box").click()


def has_new_box(own: Site) -> None:
    expect(own.page.get_by_label("New box")).to_have_value("bench-2")
    own.page.get_by_role("button", name="Add box").click()
    expect(row(own.page, "bench-2")).to_be_visible()
    expect(own.page.get_by_label("New box")).to_have_value("")


def note(own: Site) -> None:
    own.page.get_by_role("button", name="Note bench-1").click()
    own.page.get_by_label("What was done").fill("new cable")
    own.page.get_by_role("button", name="Add note").click()


def has_note(own: Site) -> None:
    expect(own.page.get_by_label("What was done")).to_have_value("new cable")
    own.page.get_by_role("button", name="Add note").click()
    notes = own.page.get_by_role("region", name="Notes", exact=True)
    expect(notes).to_contain_text("new cable")
    expect(own.page.get_by_label("What was done")).to_have_count(0)


def rename(own: Site) -> None:
    own.page.get_by_role("button", name="Rename bench-1").click()
    own.page.get_by_label("New name").fill("bench-9")
    own.page.get_by_role("button", name="Rename", exact=True).click()


def has_name(own: Site) -> None:
    expect(own.page.get_by_label("New name")).to_have_value("bench-9")
    own.page.get_by_role("button", name="Rename", exact=True).click()
    expect(row(own.page, "bench-9")).to_be_visible()
    expect(own.page.get_by_label("New name")).to_have_count(0)


def invite(own: Site) -> None:
    own.page.get_by_label("Invite").fill("grace@example.com")
    own.page.get_by_label("Role").select_option("admin")
    own.page.get_by_role("button", name="Invite").click()


def has_invited(own: Site) -> None:
    expect(own.page.get_by_label("Invite")).to_have_value("grace@example.com")
    own.page.get_by_role("button", name="Invite").click()
    expect(row(own.page, "grace@example.com")).to_contain_text("admin")
    expect(own.page.get_by_label("Invite")).to_have_value("")


def opened(own: Site, path: str) -> None:
    """Open a page, and wait until it has asked for all that it shows: what it asks for after the
    sign-in has ended leads away from it, before anything is sent.
    """
    own.open(path)
    expect(own.page.locator("tbody tr").first).to_be_visible()
    own.page.wait_for_load_state("networkidle")


FORMS = {
    "box": ("boxes", add_box, has_new_box),
    "note": ("boxes", note, has_note),
    "name": ("boxes", rename, has_name),
    "invitation": ("members", invite, has_invited),
}


@pytest.mark.parametrize("form", rounds(["note", "invitation"], [*FORMS]))
def test_what_was_typed_is_there_after_signing_in_again(
    own: Site, form: str, quiet_console: list[str]
) -> None:
    path, send, is_kept_and_sent = FORMS[form]
    opened(own, f"{path}?times=exact")
    where = own.page.url
    ended(own.page)

    send(own)

    sign_in_again(own)
    expect(own.page).to_have_url(where)
    is_kept_and_sent(own)
    assert own.page.evaluate("sessionStorage.getItem('hwci-draft')") is None
    quiet_console.clear()  # the browser itself logs the status


def test_another_person_who_signs_in_does_not_see_what_was_typed(
    own: Site, quiet_console: list[str]
) -> None:
    opened(own, "boxes")
    ended(own.page)
    add_box(own)

    sign_in_again(own, ADMIN_EMAIL)

    expect(own.page.get_by_label("New box")).to_have_value("")
    quiet_console.clear()  # the browser itself logs the status
