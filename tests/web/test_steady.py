# SPDX-License-Identifier: Apache-2.0
"""What a page shows stays where it is when something comes later: who reads it, the products, the
sign of a stream. The browser itself tells what moved.
"""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.web.conftest import Dashboard

pytestmark = pytest.mark.own_tab

WHO = re.compile(r"/api/auth/me$")
PHONE = {"width": 390, "height": 6000}
DESK = {"width": 1280, "height": 4000}  # all that could move is seen: what is not, no browser tells
TELL_MOVES = """
  window.moved = [];
  const tell = ({ value, sources }) => {
    const inMain = sources.filter(({ node }) => node?.parentElement?.closest("main"));
    const at = ({ x, y }) => `${x},${y}`;
    const named = ({ node, previousRect, currentRect }) =>
      `${node.outerHTML ?? node.data} from ${at(previousRect)} to ${at(currentRect)}`;
    if (inMain.length > 0) window.moved.push([value, ...inMain.map(named)]);
  };
  const moves = new PerformanceObserver((list) => list.getEntries().forEach(tell));
  moves.observe({ type: "layout-shift", buffered: true });
"""
TWO_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
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


def moved(page: Page) -> Any:
    """Return what moved until now, once it is drawn."""
    page.evaluate(TWO_FRAMES)
    return page.evaluate("window.moved")


@pytest.fixture
def addresses(page: Page, demo: Dashboard) -> dict[str, str]:
    """Sign in; give the address of each page."""
    organization, token = demo.sign_in(page.context), demo.token()
    api = f"/api/orgs/{organization}"
    bugs = demo.ask(f"{api}/ci-metrics/real-bugs?days=90", token)["items"]
    runs = demo.ask(f"{api}/runs?status=reported", token)["items"]
    known = {"failure": bugs[0]["id"], "run": runs[0]["id"]}
    home = f"{demo.url}/orgs/{organization}"
    return {name: f"{home}/{path.format(**known)}" for name, (path, _, _) in PAGES.items()}


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("name", PAGES)
def test_nothing_moves_when_it_is_known_who_reads_the_page(
    page: Page, addresses: dict[str, str], name: str, size: Any
) -> None:
    _, asks, shown = PAGES[name]
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.set_viewport_size(size)
    page.add_init_script(TELL_MOVES)
    page.route(WHO, hold)
    with page.expect_request(WHO), page.expect_response(lambda answer: asks in answer.url):
        page.goto(addresses[name])
    assert moved(page) == []  # nor by what came until then

    for route in held:
        route.continue_()

    expect(page.locator(shown).first).to_be_visible()
    assert moved(page) == []
