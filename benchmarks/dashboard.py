# SPDX-License-Identifier: Apache-2.0
"""How fast the metrics page is in Chromium: its first view on the demo, and scrolling and typing on
a page whose tables are very long. Prints what it measured; judges nothing.
"""

import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.support.running import RunningServer, running_in_thread
from tests.web.conftest import (
    CHROMIUM,
    QUIET,
    ROOT_NEEDS_NO_SANDBOX,
    Account,
    Dashboard,
    running_demo,
)
from tests.web.long_tables import TESTS_OF_A_REPORT, announcement, flaky_report, send

ROUNDS = 10
MERGES, TESTS = 5_000, 10_000
# A new profile opens a window, whose own start keeps two cores busy; and what the driver asks of a
# page, the page works out. Neither is a part of its first view.
WINDOW_MILLISECONDS = 2_000
VIEW_MILLISECONDS = 2_000
WHEELS = 60
WORD = "test_01234"
_TREND = ".tile .trend rect"

# Times of the page's own clock, which begins when the document is asked for.
_WATCH = """
window.seen = {};
new MutationObserver(() => {
  const figures = document.querySelectorAll(".tile .figure");
  if (figures.length >= 4) window.seen.tiles ??= performance.now();
  if (document.querySelector(".tile .trend rect")) window.seen.trends ??= performance.now();
}).observe(document, { childList: true, subtree: true });
window.long = [];
new PerformanceObserver((list) => list.getEntries().forEach((e) => window.long.push(e.duration)))
  .observe({ type: "longtask", buffered: true });
"""
_SEEN = """() => {
  const document = performance.getEntriesByType("navigation")[0].responseEnd;
  return { tiles: window.seen.tiles - document, trends: window.seen.trends - document };
}"""
_LONG = "() => window.long.splice(0)"


def main() -> None:
    """Measure and print."""
    with sync_playwright() as driver:
        arguments = [*ROOT_NEEDS_NO_SANDBOX, *QUIET]
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=arguments)
        with running_demo() as demo:
            _first_views(browser, demo)
        with tempfile.TemporaryDirectory() as folder, _full(Path(folder)) as server:
            _long_tables(browser, server)
        browser.close()


def _first_views(browser: Browser, demo: Dashboard) -> None:
    """Open the page of thirty days with an empty cache, each time in a new profile."""
    times: list[dict[str, float]] = []
    for _ in range(ROUNDS + 1):
        page = _opened(browser, demo)
        page.wait_for_timeout(VIEW_MILLISECONDS)
        times.append(page.evaluate(_SEEN))
        page.context.close()
    warm = times[1:]  # the first one starts processes of the browser
    print("First view of 30 days, ms after the document, empty cache")
    for name in ("tiles", "trends"):
        told = sorted(round(one[name]) for one in warm)
        print(f"  {name:8} median {round(statistics.median(told))}, all {told}")


def _long_tables(browser: Browser, server: RunningServer) -> None:
    dashboard = Dashboard(server.url, Account(server.email, server.password))
    page = _opened(browser, dashboard)
    page.locator(_TREND).first.wait_for(state="attached")
    page.locator("#flaky").scroll_into_view_if_needed()
    page.locator("#flaky .heat rect").first.wait_for(state="attached")
    print(f"{MERGES:,} unchecked merges and {TESTS:,} flaky tests: tasks over 50 ms")
    _print_long("opening", page)
    page.mouse.move(640, 450)
    for step in range(WHEELS):
        page.mouse.wheel(0, 200 if step < WHEELS / 2 else -200)
        page.wait_for_timeout(30)
    _print_long("scrolling", page)
    page.get_by_label("Search Flakiest tests").press_sequentially(WORD, delay=60)
    expect(page.locator("#flaky tbody tr")).to_have_count(1)
    _print_long("typing", page)
    page.context.close()


def _print_long(what: str, page: Page) -> None:
    long: list[float] = page.evaluate(_LONG)
    print(f"  {what:10} {[round(one) for one in long]}")


def _opened(browser: Browser, dashboard: Dashboard) -> Page:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    dashboard.share_clock(context)
    organization = dashboard.sign_in(context)
    page = context.new_page()
    page.add_init_script(_WATCH)
    page.wait_for_timeout(WINDOW_MILLISECONDS)
    page.goto(f"{dashboard.url}/orgs/{organization}/metrics", wait_until="commit")
    return page


@contextmanager
def _full(folder: Path) -> Iterator[RunningServer]:
    """Run a server with the fewest reports that make the tables so long."""
    with running_in_thread(folder) as server:
        reports: list[dict[str, Any]] = [flaky_report(n) for n in range(TESTS // TESTS_OF_A_REPORT)]
        for body in reports:
            send(server, "run-report", body)
        for number in range(MERGES):
            send(server, "merge-announce", announcement(number))
        yield server


if __name__ == "__main__":
    main()
