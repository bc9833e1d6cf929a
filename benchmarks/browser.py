# SPDX-License-Identifier: Apache-2.0
"""What a person opens, in Chromium: each page of the dashboard, for 30 and 90 days, with an empty
cache, after a report arrived.

This module decides when the first screen is there: when nothing in the window waits for an answer
any more. It judges nothing.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

from playwright.sync_api import Browser, BrowserContext, ViewportSize, sync_playwright

from benchmarks.data import KEPT, copied
from benchmarks.figure import Figure, milliseconds
from benchmarks.history import DAYS_AFTER, Size
from benchmarks.opened import PERIODS, first_row
from benchmarks.pages import arriving, send
from benchmarks.serving import Server, serving
from tests.support.running import EMAIL, PASSWORD
from tests.web.conftest import CHROMIUM, QUIET, ROOT_NEEDS_NO_SANDBOX, Account, Dashboard

ROUNDS = 3
_WINDOW: ViewportSize = {"width": 1280, "height": 900}
_STILL_MILLISECONDS = 500
_PATIENCE_MILLISECONDS = 60_000
# A new profile opens a window, whose own start keeps two cores busy.
_WINDOW_MILLISECONDS = 1_000

# Times are those of the page's own clock, which begins when the document is asked for.
_WATCH = """
window.seen = { tiles: null, screen: null, longest: 0 };
const inWindow = (element) => {
  const { top, bottom, width } = element.getBoundingClientRect();
  return width > 0 && bottom > 0 && top < innerHeight;
};
const waits = () => document.querySelector("main") === null
  || [...document.querySelectorAll('.waiting, [aria-busy="true"]')].some(inWindow);
const look = () => {
  const now = performance.now();
  if (document.querySelectorAll(".tile .figure").length >= 4) window.seen.tiles ??= now;
  window.seen.screen = waits() ? null : window.seen.screen ?? now;
  requestAnimationFrame(look);
};
requestAnimationFrame(look);
new PerformanceObserver((list) => {
  const tasks = list.getEntries().map((task) => task.duration);
  window.seen.longest = Math.max(window.seen.longest, ...tasks);
}).observe({ type: "longtask", buffered: true });
"""
_IS_STILL = f"() => performance.now() - (seen.screen ?? Infinity) > {_STILL_MILLISECONDS}"
_SEEN = """() => {
  const kinds = ["navigation", "resource"];
  const answers = kinds.flatMap((kind) => performance.getEntriesByType(kind));
  const bytes = answers.reduce((sum, answer) => sum + answer.transferSize, 0);
  return { ...seen, bytes, requests: answers.length };
}"""


class View(NamedTuple):
    """A page that was opened: milliseconds from its address to its tiles (None: it has none), to
    its first screen and of its longest task; bytes and requests.
    """

    tiles: float | None
    screen: float
    longest: float
    bytes: int
    requests: int


def browser(size: Size, kept: Path = KEPT, rounds: int = ROUNDS) -> Iterator[Figure]:
    """Measure each page in the browser."""
    with copied(size, kept) as data, serving(data) as server, sync_playwright() as driver:
        server.decide()
        arguments = [*ROOT_NEEDS_NO_SANDBOX, *QUIET]
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=arguments)
        for (page, days), views in _measure(chromium, server, rounds).items():
            yield _figure(f"{page}, {days} days, in the browser", views)
        chromium.close()


def _figure(name: str, views: Sequence[View]) -> Figure:
    screen = milliseconds([view.screen / 1000 for view in views])
    longest = milliseconds([view.longest / 1000 for view in views])
    last = views[-1]
    measured = f"{last.bytes / 1000:,.0f} kB, {last.requests} requests, longest task {longest}"
    tiles = [view.tiles / 1000 for view in views if view.tiles is not None]
    return Figure(name, screen, f"tiles {milliseconds(tiles)}, {measured}" if tiles else measured)


def _measure(
    chromium: Browser, server: Server, rounds: int
) -> Mapping[tuple[str, int], Sequence[View]]:
    """Return how each page of each period was opened. The first round only warms up."""
    dashboard = Dashboard(server.process.url, Account(EMAIL, PASSWORD))
    views: dict[tuple[str, int], list[View]] = defaultdict(list)
    sender, arrived = server.job(), arriving(server.data)
    for number in range(rounds + 1):
        for days in PERIODS:
            for page, path in addresses(server, days).items():
                send(sender, next(arrived))
                with chromium.new_context(viewport=_WINDOW) as context:
                    dashboard.sign_in(context)
                    view = _open(context, server.process.url + path)
                if number:
                    views[page, days].append(view)
    return views


def addresses(server: Server, days: int) -> Mapping[str, str]:
    """Return the address of each page, of so many days."""
    end = server.data.size.end + timedelta(days=DAYS_AFTER)
    period = {"days": days, "asOf": end.isoformat()}

    def address(page: str, **query: str) -> str:
        return f"/orgs/{server.data.facts.org_id}/{page}?{urlencode(query | period)}"

    box = first_row(server, "boxes", reported="true")["name"]
    return {
        "metrics": address("metrics"),
        "review": address("review"),
        "boxes": address("boxes"),
        "box": address("box", boxKey=box),
        "test": address("test", **first_row(server, "ci-analysis/tests")),
        "failures": address("failures"),
        "runs": address("runs"),
    }


def _open(context: BrowserContext, address: str) -> View:
    """Open a page, wait until its first screen is there and stays, and return what was seen."""
    page = context.new_page()
    page.add_init_script(_WATCH)
    page.wait_for_timeout(_WINDOW_MILLISECONDS)
    page.goto(address, wait_until="commit")
    page.wait_for_function(_IS_STILL, timeout=_PATIENCE_MILLISECONDS)
    return View(**page.evaluate(_SEEN))
