# SPDX-License-Identifier: Apache-2.0
"""What fails now, the flakiest tests and the boxes compared: of all branches, of the default
branch, or of all others; the address has the choice.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.asking import ask, ci_key
from tests.web.live import Site, site

OF = {"repo_key": "acme/firmware", "suite": "hil"}


@pytest.fixture
def own(page: Page, tmp_path: Path) -> Iterator[Site]:
    """A bug on `main`, to which there is a merge; a flake and a bug on `topic`, on its own box."""
    with site(page, tmp_path) as made:
        runs = [
            ("main", "a", "main_bug", "fail", "bench-1"),
            ("topic", "b", "flake", "fail", "rig-2"),
        ]
        runs += [
            ("topic", "b", "flake", "pass", "rig-2"),
            ("topic", "c", "topic_bug", "fail", "rig-2"),
        ]
        for number, (branch, letter, test, outcome, box) in enumerate(runs):
            of = {**OF, "branch": branch, "sha": letter * 40, "box_key": box, "run_id": number}
            tests = [{"id": test, "outcome": outcome, "attempts": 1, "duration_s": 1.0}]
            made.benches.report(**of, tests=tests)
        body = {**OF, "sha": "a" * 40, "branch": "main"}
        body["merged_at"] = made.benches.times()["started_at"]
        server = made.server
        key = ci_key(server.ci_key)
        sent = ask(server.url, "POST", "/api/ci/merge-announce", key, json_body=body)
        assert sent.status == 204, sent.body
        yield made


def field(section: Page | Locator) -> Locator:
    return section.get_by_label("Branches")


def rows(section: Locator) -> Locator:
    return section.locator("tbody > tr")


def test_a_choice_of_branches_is_one_of_both_sections_and_kept_in_the_address(own: Site) -> None:
    own.open("metrics")
    failing, flaky = own.page.locator("#failing"), own.page.locator("#flaky")
    expect(rows(failing)).to_contain_text(["main_bug"])
    expect(rows(flaky)).to_have_count(3)
    tiles = own.page.locator(".tile").all_inner_texts()

    flaky.scroll_into_view_if_needed()
    field(failing).select_option("Default branch")

    expect(own.page).to_have_url(re.compile(r"[?&]branches=default\b"))
    expect(rows(failing)).to_contain_text(["main_bug"])
    expect(failing.locator(".total")).to_have_text("1")
    expect(rows(flaky)).to_contain_text(["main_bug"])
    expect(rows(flaky)).to_have_count(1)
    expect(flaky.locator(".total")).to_have_text("1")
    assert own.page.locator(".tile").all_inner_texts() == tiles

    field(flaky).select_option("Other branches")

    expect(rows(failing)).to_contain_text(["topic_bug"])
    expect(rows(failing)).to_have_count(1)
    expect(rows(flaky)).to_have_count(2)
    expect(rows(flaky).filter(has_text="flake")).to_have_count(1)
    own.page.reload()
    expect(field(failing)).to_have_value("others")
    expect(rows(failing)).to_contain_text(["topic_bug"])
    own.page.go_back()
    expect(rows(flaky)).to_have_count(1)

    field(failing).select_option("All branches")

    expect(own.page).not_to_have_url(re.compile("branches="))
    expect(rows(flaky)).to_have_count(3)


def test_the_boxes_compared_are_those_that_ran_the_branches(own: Site) -> None:
    own.open("boxes")
    compared = own.page.get_by_role("region", name="Boxes compared")
    expect(rows(compared)).to_have_count(2)

    field(own.page).select_option("Other branches")

    expect(rows(compared)).to_contain_text(["rig-2"])
    expect(rows(compared)).to_have_count(1)
    own.page.reload()
    expect(field(own.page)).to_have_value("others")
    expect(rows(compared)).to_have_count(1)


def test_an_address_with_another_choice_chooses_nothing(own: Site) -> None:
    own.open("metrics?branches=topic")

    expect(own.page).not_to_have_url(re.compile("branches="))
    expect(field(own.page.locator("#failing"))).to_have_value("")


def test_where_nothing_fails_on_the_branches_the_section_says_so(own: Site) -> None:
    tests = [{"id": "topic_bug", "outcome": "pass", "attempts": 1, "duration_s": 1.0}]
    own.benches.report(**OF, branch="topic", sha="d" * 40, box_key="rig-2", run_id=9, tests=tests)
    own.open("metrics?branches=others")

    expect(own.page.locator("#failing")).to_contain_text("No test is failing on these branches.")
