# SPDX-License-Identifier: Apache-2.0
"""How smooth scrolling and typing are in Chromium on a metrics page whose tables are very long.
Prints what it measured; judges nothing.
"""

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
)
from tests.web.long_tables import TESTS_OF_A_REPORT, announcement, flaky_report, send

MERGES, TESTS = 5_000, 10_000
# A new profile opens a window, whose own start keeps two cores busy.
WINDOW_MILLISECONDS = 2_000
WHEELS = 60
WORD = "test_01234"
_TREND = ".tile .trend rect"

_WATCH = """
window.long = [];
new PerformanceObserver((list) => list.getEntries().forEach((e) => window.long.push(e.duration)))
  .observe({ type: "longtask", buffered: true });
"""
_LONG = "() => window.long.splice(0)"


def main() -> None:
    """Measure and print."""
    with sync_playwright() as driver:
        arguments = [*ROOT_NEEDS_NO_SANDBOX, *QUIET]
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=arguments)
        with tempfile.TemporaryDirectory() as folder, _full(Path(folder)) as server:
            _long_tables(browser, server)
        browser.close()


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
