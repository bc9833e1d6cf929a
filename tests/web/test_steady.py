# SPDX-License-Identifier: Apache-2.0
"""What a page shows stays where it is when something comes later: who reads it, the products, the
sign of a stream. The browser itself tells what moved.
"""

import re
from itertools import cycle, product
from typing import Any

import pytest
from playwright.sync_api import Page, Route, ViewportSize, expect

from tests.support.soak import rounds
from tests.web.conftest import Dashboard
from tests.web.moves import TELL_MOVES, TWO_FRAMES, moved

WHO = re.compile(r"/api/auth/me$")
RANGES = re.compile(r"/ci-analysis/flaky-tests\?.*detail=")
PHONE: ViewportSize = {"width": 390, "height": 6000}
# All that could move is seen: what is not, no browser tells.
DESK: ViewportSize = {"width": 1280, "height": 4000}
WORDS_WITHIN = """(tile) => {
    const bottom = (one) => one.getBoundingClientRect().bottom;
    return bottom(tile.querySelector(".trend-text")) <= bottom(tile);
}"""
PAGES = {
    "metrics": (
        "metrics?days=90&other=open",
        "/ci-metrics?",
        ".figures:has(.pending a):has(.trend rect) #other tbody tr button",
    ),
    "failure": ("failures/{failure}", "/ci-failures/", ".review button"),
    "failures": ("failures?days=90", "/ci-failures?", "tbody tr"),
    "runs": ("runs", "/runs?", "tbody tr"),
    "run": ("runs/{run}", "/runs/", "#tests tbody tr"),
    "boxes": ("boxes", "/boxes?", "tbody tr button"),
}
"""The address of each page, what it asks for beside who reads it, and what its reader sees then."""


def hold(page: Page, address: re.Pattern[str]) -> list[Route]:
    """Hold back what a page asks for at an address. Return what is held, as it comes."""
    held: list[Route] = []

    def keep(route: Route) -> None:
        held.append(route)

    page.route(address, keep)
    return held


@pytest.fixture(scope="module", autouse=True)
def watched(_tab_of_a_file: Page) -> None:
    """Watch what moves on all pages of this file."""
    _tab_of_a_file.add_init_script(TELL_MOVES)


@pytest.fixture
def addresses(page: Page, demo: Dashboard) -> dict[str, str]:
    """Sign in; return the address of each page."""
    organization, token = demo.sign_in(page.context), demo.token()
    api = f"/api/orgs/{organization}"
    bugs = demo.ask(f"{api}/ci-metrics/real-bugs?days=90", token)["items"]
    runs = demo.ask(f"{api}/runs?status=reported", token)["items"]
    known = {"failure": bugs[0]["id"], "run": runs[0]["id"]}
    home = f"{demo.url}/orgs/{organization}"
    return {name: f"{home}/{path.format(**known)}" for name, (path, _, _) in PAGES.items()}


@pytest.mark.parametrize(
    ("name", "size"),
    rounds([*zip(PAGES, cycle((DESK, PHONE)), strict=False)], [*product(PAGES, (DESK, PHONE))]),
    ids=lambda one: one if isinstance(one, str) else str(one["width"]),
)
def test_nothing_moves_when_it_is_known_who_reads_the_page(
    page: Page, addresses: dict[str, str], name: str, size: Any
) -> None:
    _, asks, shown = PAGES[name]
    held = hold(page, WHO)
    page.set_viewport_size(size)
    with page.expect_request(WHO), page.expect_response(lambda answer: asks in answer.url):
        page.goto(addresses[name])
    assert moved(page) == []  # nor by what came until then

    for route in held:
        route.continue_()

    expect(page.locator(shown).first).to_be_visible()
    assert moved(page) == []


def test_nothing_moves_when_what_runs_suggest_of_flaky_tests_comes(
    page: Page, addresses: dict[str, str]
) -> None:
    held = hold(page, RANGES)
    page.set_viewport_size(DESK)
    with page.expect_request(RANGES):
        page.goto(addresses["metrics"])
    expect(page.locator("#flaky tbody tr .heat").first).to_be_visible()
    page.wait_for_load_state("load")
    page.evaluate(TWO_FRAMES)
    page.evaluate("window.moved = []")

    for route in held:
        route.continue_()

    expect(page.locator("#flaky tbody tr .sure").first).to_contain_text("%")
    expect(page.locator("#flaky tbody tr .whom").first).to_contain_text("f")
    assert moved(page) == []


@pytest.mark.parametrize("width", rounds([1152], [1152, 1280]))
def test_the_page_keeps_its_height_while_the_pointer_moves_over_the_bars(
    page: Page, addresses: dict[str, str], width: int
) -> None:
    page.set_viewport_size({"width": width, "height": DESK["height"]})
    page.goto(addresses["metrics"])
    expect(page.locator("#flaky tbody tr").first).to_be_visible()
    height = "document.documentElement.scrollHeight"
    before = page.evaluate(height)

    for title in ("Merges checked on hardware", "Infra runs"):
        tile = page.locator(".tile", has_text=title)
        box = tile.locator(".bars").bounding_box()
        assert box is not None
        for part in (0.01, 0.5, 0.99):
            page.mouse.move(box["x"] + part * box["width"], box["y"] + box["height"] / 2)
            expect(tile.locator(".trend-text")).not_to_be_empty()
            assert page.evaluate(height) == before
            within = tile.evaluate(WORDS_WITHIN)
            assert within, "the words of a day end within their tile"
