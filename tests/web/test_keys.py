# SPDX-License-Identifier: Apache-2.0
"""`?` lists the keys of a page: those that it binds, and no others."""

import re

from playwright.sync_api import Page, expect

from tests.web.conftest import Dashboard

REVIEW = ["j", "k", "c", "d", "n", "Ctrl Enter", "u"]


def open_page(page: Page, demo: Dashboard, path: str) -> None:
    page.goto(f"{demo.url}/orgs/{demo.sign_in(page.context)}/{path}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_a_page_lists_the_keys_that_it_binds_and_escape_closes_them(
    page: Page, demo: Dashboard
) -> None:
    open_page(page, demo, "boxes")
    keys = page.get_by_role("dialog", name="Keys")

    page.keyboard.press("?")

    expect(keys.locator("kbd")).to_have_text(["Ctrl K", "?"])
    page.keyboard.press("Escape")
    expect(keys).to_have_count(0)
    page.keyboard.press("?")
    keys.get_by_role("button", name="Close").click()
    expect(keys).to_have_count(0)


def test_the_review_page_has_those_of_its_causes_too(page: Page, demo: Dashboard) -> None:
    open_page(page, demo, "review")
    expect(page.get_by_text(re.compile("left to review|to review")).first).to_be_visible()

    page.keyboard.press("?")

    shown = page.get_by_role("dialog", name="Keys").locator("kbd")
    expect(shown.filter(has_text=re.compile("^j$"))).to_have_count(1)
    assert {*REVIEW, "Ctrl K", "?"} == {*shown.all_inner_texts()}


def test_a_question_mark_in_a_field_is_text(page: Page, demo: Dashboard) -> None:
    open_page(page, demo, "runs")
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Find")

    field.press_sequentially("a?")

    expect(field).to_have_value("a?")
    expect(page.get_by_role("dialog", name="Keys")).to_have_count(0)
