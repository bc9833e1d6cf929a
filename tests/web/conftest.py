# SPDX-License-Identifier: Apache-2.0
"""A real browser before a real server: Chromium as the system's packages install it, and `hwci
demo` with its ninety days of history. The demo, its server and its pages all have the clock of
`tests/support/moved.py`, so that a test sees the same on every day.

These tests run in a process of their own (`make test` says how): the driver of the browser keeps an
event loop running, beside which no test that waits could start its own.
"""

import json
import os
import re
import select
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Error, Page, Route, expect

from hwci.server.web.site import the_site
from tests.support.moved import moved_clock, moved_command, until_the_instant

# Where there is one without windows, it takes a third less of the machine.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
PATIENCE_SECONDS = 180.0
SHOWN_MILLISECONDS = 60_000
"""What a page should come to show, it shows within this; how soon is not a claim of these tests."""
expect.set_options(timeout=SHOWN_MILLISECONDS)
ROOT_NEEDS_NO_SANDBOX = ("--no-sandbox",) if os.geteuid() == 0 else ()
# A test's browser asks nobody but the server of the test. What the address bar drops down are pages
# of their own, which each new window would draw, at more cost than a test's page. The driver turns
# features off too, and the browser heeds the last list alone: the others here are the driver's.
_WITHOUT = (
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup"),
    *("DestroyProfileOnBrowserClose", "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades"),
    *("MediaRouter", "OptimizationHints", "PaintHolding", "PreconnectToSearch"),
)
# A page of a test lives too short for what its compilers optimize: a tenth of the tests' time.
PLAIN_SCRIPTS = "--js-flags=--no-maglev --no-turbofan --always-sparkplug"
QUIET = (
    PLAIN_SCRIPTS,
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    f"--disable-features={','.join(_WITHOUT)}",
)

# What the pages of one server take for the time, once: the tests of a file share a tab.
MOVE_CLOCK = """
  if (location.origin === "%s" && String(Date.now).includes("[native code]")) {
    const real = Date, moved = %d;
    window.Date = class Date extends real {
      constructor(...given) { given.length ? super(...given) : super(real.now() + moved); }
      static now() { return real.now() + moved; }
    };
  }
"""

ZONE = "Pacific/Auckland"
"""Far from UTC, for tests of days."""
HERE = Path(__file__).parent
ROOT = HERE.parents[1]
IN_BROWSER = {"browser", "context", "page"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a browser where it cannot run, and say why."""
    reason = None
    if CHROMIUM is None:
        reason = "no Chromium on this machine: apt-get install chromium"
    elif not all(HERE in item.path.parents for item in items):
        reason = "tests in a browser run apart from others: pytest tests/web"
    if reason is None:
        return
    for item in items:
        needed = IN_BROWSER.intersection(getattr(item, "fixturenames", ()))
        if HERE in item.path.parents and needed:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def base_url() -> None:
    """Each test says whom it asks; the plugin's own fixture is of a kind that pytest gives up."""


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Start the system's Chromium rather than one that the driver would fetch."""
    arguments = [*ROOT_NEEDS_NO_SANDBOX, *QUIET]
    own = {"executable_path": CHROMIUM, "args": arguments}
    return {**browser_type_launch_args, **own}


class Account(NamedTuple):
    """Who may sign in."""

    email: str
    password: str


@dataclass(frozen=True)
class Dashboard:
    """A server with a dashboard, who may sign in to it, and how far ahead its clock is."""

    url: str
    account: Account
    ahead: timedelta = timedelta(0)

    def now(self) -> datetime:
        """Return the time of the server."""
        return moved_clock(self.ahead)()

    def share_clock(self, context: BrowserContext) -> None:
        """Give the server's time to its pages in a browser."""
        if self.ahead:
            milliseconds = self.ahead // timedelta(milliseconds=1)
            context.add_init_script(MOVE_CLOCK % (self.url, milliseconds))

    def sign_in(self, context: BrowserContext, account: Account | None = None) -> str:
        """Sign a browser in, as the page does; return the id of the account's organization."""
        account = account or self.account
        body = {"email": account.email, "password": account.password, "session": "cookie"}
        answer = context.request.post(
            f"{self.url}/api/auth/login", data=body, headers={"Origin": self.url}
        )
        assert answer.ok, answer.text()
        return str(answer.json()["organization"]["id"])

    def ask(self, path: str, token: str) -> Any:
        """Read from the API without the browser."""
        request = Request(self.url + path, headers={"Authorization": f"Bearer {token}"})
        with urlopen(request, timeout=PATIENCE_SECONDS) as answer:
            return json.load(answer)

    def token(self, account: Account | None = None) -> str:
        """Sign in without the browser; return the access token."""
        account = account or self.account
        body = json.dumps({"email": account.email, "password": account.password}).encode()
        request = Request(
            f"{self.url}/api/auth/login", body, headers={"Content-Type": "application/json"}
        )
        with urlopen(request, timeout=PATIENCE_SECONDS) as answer:
            return str(json.load(answer)["accessToken"])


PATIENCE_BY_THE_CLOCK = """
  AbortSignal.timeout = (milliseconds) => {
    const end = new AbortController();
    setTimeout(() => end.abort(new DOMException("too long", "TimeoutError")), milliseconds);
    return end.signal;
  };
"""
"""Lets `page.clock` move how long a page waits for an answer: the browser's own clock of such
signals it does not reach."""


def never_answer(route: Route) -> None:
    """Leave a request without an answer, as a server does that hangs."""


def open_own_menu(page: Page) -> None:
    """Unfold what is below the person's name."""
    page.locator(".person .menu").last.get_by_role("button", expanded=False).click()


def module(name: str) -> str:
    """Write what gives a page one of its modules, as the page itself has loaded it: by the file
    that it was sent in.
    """
    site, variable = the_site(), re.sub(r"\W", "_", name.removesuffix(".js"))
    file = next(
        one for one, text in site.scripts.items() if f"\nconst {variable} = (" in f"\n{text}"
    )
    return f'import("{site.base}{file}").then((file) => file.{variable})'


@pytest.fixture(scope="session")
def demo() -> Iterator[Dashboard]:
    """`hwci demo`, until the tests end. What a test changes there, it changes back."""
    with running_demo() as dashboard:
        import_statistics(dashboard)
        yield dashboard


def import_statistics(dashboard: Dashboard) -> None:
    """Ask for an estimate until there is one. The first imports what computes it, which on a busy
    machine takes longer than an answer may.
    """
    token = dashboard.token()
    organization = dashboard.ask("/api/auth/me", token)["organizations"][0]["id"]
    end = monotonic() + PATIENCE_SECONDS
    while True:
        try:
            dashboard.ask(f"/api/orgs/{organization}/ci-analysis/flaky-tests", token)
            return
        except HTTPError as refused:
            if refused.code != HTTPStatus.SERVICE_UNAVAILABLE or monotonic() > end:
                raise


@contextmanager
def running_demo() -> Iterator[Dashboard]:
    """Run `hwci demo` at its instant. Most tests sign in to it twice."""
    ahead = until_the_instant()
    command = moved_command(ahead, "demo", "--port", "0")
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0, cwd=ROOT
    ) as process:
        try:
            result = _read_until(process, b"Serving until")
            yield _dashboard(result, ahead)
        finally:
            process.terminate()
            process.communicate()


def _read_until(process: "subprocess.Popen[bytes]", word: bytes) -> str:
    assert process.stdout is not None
    result, end = b"", monotonic() + PATIENCE_SECONDS
    while word not in result:
        assert monotonic() < end, result.decode()
        ready, _, _ = select.select([process.stdout], [], [], 1)
        if ready:
            # A reader with a buffer would hold back lines that `select` then waits for.
            more = os.read(process.stdout.fileno(), 65_536)
            assert more, result.decode()
            result += more
    return result.decode()


def _dashboard(message: str, ahead: timedelta) -> Dashboard:
    url = re.search(r"^Server +(\S+)$", message, re.MULTILINE)
    account = re.search(r"^Sign-in +(\S+), password (\S+)$", message, re.MULTILINE)
    assert url is not None, message
    assert account is not None, message
    return Dashboard(url[1], Account(account[1], account[2]), ahead)


@pytest.fixture(scope="module")
def _tab_of_a_file(browser: Browser) -> Iterator[Page]:
    with browser.new_context() as context:
        yield context.new_page()


@pytest.fixture
def page(request: pytest.FixtureRequest) -> Page:
    """One tab for all tests of a file: a new one is a third of most tests. A test marked `own_tab`
    has its own, as it adds scripts to it for itself alone, moves its clock or gets permissions.
    The time on it is the demo's, for a test of it. One marked `own_clock` goes on from there by
    `page.clock`, in a tab of its own.
    """
    own_clock = request.node.get_closest_marker("own_clock")
    if own_clock is None and request.node.get_closest_marker("own_tab") is None:
        found: Page = request.getfixturevalue("tab")
    else:
        context: BrowserContext = request.getfixturevalue("context")
        found = context.new_page()
    if "demo" in request.fixturenames:
        demo: Dashboard = request.getfixturevalue("demo")
        if own_clock is None:
            demo.share_clock(found.context)
        else:
            found.clock.install(time=demo.now())
    return found


# To go elsewhere would be a tenth of a test's work. So the page that a test leaves stays, but asks
# and keeps nothing any more, and has an address from which any other is loaded anew.
LEAVE = """() => {
  window.fetch = () => new Promise(() => {});
  window.setTimeout = () => 0;
  stop();
  if (origin === "null") return;
  history.replaceState(null, "", "/left");
  localStorage.clear();
  sessionStorage.clear();
  Storage.prototype.setItem = () => {};
}"""


@pytest.fixture
def tab(_tab_of_a_file: Page) -> Iterator[Page]:
    """The tab of a file. After a test it is as a new one."""
    page = _tab_of_a_file
    yield page
    page.unroute_all()
    page.evaluate(LEAVE)
    page.context.clear_cookies()
    page.emulate_media(color_scheme="light", reduced_motion="null")
    page.set_viewport_size({"width": 1280, "height": 720})


@pytest.fixture
def in_new_zealand(page: Page) -> Iterator[None]:
    """Move the tab there for a test."""
    line = page.context.new_cdp_session(page)
    line.send("Emulation.setTimezoneOverride", {"timezoneId": ZONE})
    yield
    line.detach()


@pytest.fixture(autouse=True)
def quiet_console(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """No page says anything in the browser's console, or breaks one of its own rules; a test that
    expects a complaint takes it out of the list.
    """
    said: list[str] = []

    def complain(message: ConsoleMessage) -> None:
        said.append(_complaint(message))

    def fail(error: Error) -> None:
        said.append(str(error))

    page: Page | None = request.getfixturevalue("page") if "page" in request.fixturenames else None
    if page is not None:
        page.context.set_default_timeout(SHOWN_MILLISECONDS)
        page.on("console", complain)
        page.on("pageerror", fail)
    yield said
    if page is not None:
        page.remove_listener("console", complain)
        page.remove_listener("pageerror", fail)
    assert [line for line in said if line] == []


def _complaint(message: ConsoleMessage) -> str:
    if message.type not in {"error", "warning"}:
        return ""
    return f"{message.type}: {message.text} ({message.location['url']})"
