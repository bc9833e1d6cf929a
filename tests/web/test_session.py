# SPDX-License-Identifier: Apache-2.0
"""The sign-in of a browser (contract, "Auth"): tabs, reloads and slow answers never end it, and
what ends it ends it everywhere.
"""

import http.client
import json
import re
from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, BrowserType, Page, Request, expect

from tests.support.asking import ask, bearer
from tests.support.running import (
    EMAIL,
    MEMBER_EMAIL,
    PASSWORD,
    Hands,
    RunningServer,
    running_in_thread,
)
from tests.support.soak import rounds
from tests.web.conftest import Account, Dashboard, module, open_own_menu
from tests.web.slow_proxy import slow_proxy

pytestmark = pytest.mark.own_tab

REFRESH = "/api/auth/refresh"
TABS, RELOADS, RENEWALS = rounds((3, 6, 3), (5, 40, 40))
OWNER, MEMBER = Account(EMAIL, PASSWORD), Account(MEMBER_EMAIL, PASSWORD)

# A call to the API as the pages make it, through the modules that the page itself has loaded.
ASK = f"""() => {{
  window.asked = {module("js/api.js")}
    .then((api) => api.get("/api/auth/me"))
    .then((me) => me.user.email, (error) => `${{error.status}} ${{error.message}}`);
}}"""
ASKED = "() => window.asked"

# A tab waits a quarter of a second for another that has the token. That is short on a busy machine,
# and how soon one answers is not a claim of these tests. `inVain`: none has it, so it waits.
WAIT_FOR_TABS = """
  const later = window.setTimeout.bind(window);
  window.setTimeout = (what, after, ...more) => {
    if (after !== 250) return later(what, after, ...more);
    window.asksTabs = true;
    return later(what, window.inVain ? after : 5_000, ...more);
  };
"""

# How long a page waits for an answer is the test's to say. Nothing else ends a question here.
PATIENCE = """
  window.patience = [];
  AbortSignal.timeout = () => {
    const ends = new AbortController();
    window.patience.push(ends);
    return ends.signal;
  };
"""
OUT_OF_PATIENCE = """window.patience.splice(0).forEach(
  (ends) => ends.abort(new DOMException("too long", "TimeoutError")))"""
# What the browser does 10 seconds after a note was left.
NOTE_ENDS = "document.cookie = 'hwci_renewing=; Path=/; Max-Age=0'"
# A note lasts until it is taken back, and how often a page looks at one the test can see.
NOTES_LAST = """
  const jar = Object.getOwnPropertyDescriptor(Document.prototype, "cookie");
  Object.defineProperty(document, "cookie", {
    get: () => jar.get.call(document),
    set: (text) => jar.set.call(document, text.replace("Max-Age=10;", "Max-Age=600;")),
  });
  const later = window.setTimeout.bind(window);
  window.looks = 0;
  window.setTimeout = (what, after, ...more) => {
    if (after === 25) window.looks += 1;
    return later(what, after, ...more);
  };
"""
# The locks of a page, as it has loaded them.
LOCKS = f"() => {module('js/lock.js')}.then((lock) => (window.lock = lock) && null)"
# Work under a lease, which ends when the test says so. `looks`: how often it was asked for.
WORK = """() => {
  const get = IDBObjectStore.prototype.get;
  window.looks = 0;
  IDBObjectStore.prototype.get = function (name) {
    window.looks += 1;
    return get.call(this, name);
  };
  const work = () => new Promise((end) => (window.end = end));
  window.lock.underLock("test", work, new AbortController().signal);
}"""
LEASED_UNTIL = """() => new Promise((give) => {
  window.indexedDB.open("hwci", 1).onsuccess = ({ target }) => {
    const asked = target.result.transaction("leases").objectStore("leases").get("test");
    asked.onsuccess = () => {
      target.result.close();
      give(asked.result.until);
    };
  };
})"""
# Some browsers tell a page that is left that its request failed, and some do not.
DEAF = """
  const ask = window.fetch;
  window.fetch = (...asked) => new Promise((give) => ask(...asked).then(give, () => {}));
"""


@pytest.fixture(scope="module")
def clock() -> Hands:
    return Hands()


@pytest.fixture(scope="module")
def server(clock: Hands, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server whose clock a test can move: access tokens end after 15 minutes."""
    with running_in_thread(tmp_path_factory.mktemp("server"), clock=clock) as found:
        yield found


@pytest.fixture
def board(server: RunningServer, context: BrowserContext) -> Dashboard:
    """A dashboard at which the browser is signed in."""
    found = Dashboard(server.url, OWNER)
    found.sign_in(context)
    return found


def renewals(context: BrowserContext) -> list[Request]:
    """Return the renewals that pages ask for from now on, as they come."""
    found: list[Request] = []

    def note(request: Request) -> None:
        if urlsplit(request.url).path == REFRESH:
            found.append(request)

    context.on("request", note)
    return found


def is_in(page: Page) -> None:
    """A page is there whose answers came: it says who is signed in."""
    expect(page.locator(".person .name")).to_be_visible()


def is_out(page: Page) -> None:
    expect(page.get_by_role("heading", name="Sign in to hwci")).to_be_visible()


def expect_refusals(said: list[str], status: int) -> None:
    """Take out of what the console said that the server refused with this status."""
    assert all(f"status of {status}" in line for line in said if line)
    said.clear()


def post(server: RunningServer, path: str, body: Any, cookie: str = "") -> SimpleCookie:
    """Ask as a browser does; return the cookies that the answer sets."""
    line = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=60)
    headers = {"Content-Type": "application/json", "Cookie": cookie}
    line.request("POST", path, json.dumps({**body, "session": "cookie"}), headers)
    answer = line.getresponse()
    answer.read()
    found = SimpleCookie()
    for value in answer.headers.get_all("Set-Cookie", []):
        found.load(value)
    line.close()
    return found


def held(found: SimpleCookie) -> str:
    return "; ".join(f"{name}={cookie.value}" for name, cookie in found.items())


def test_a_mark_that_scripts_can_read_comes_after_the_token_and_goes_with_it(
    server: RunningServer,
) -> None:
    first = post(server, "/api/auth/login", {"email": MEMBER_EMAIL, "password": PASSWORD})
    second = post(server, REFRESH, {}, held(first))
    third = post(server, "/api/auth/logout", {}, held(second))
    refused = post(server, REFRESH, {}, held(second))

    for found in (first, second, third, refused):
        assert [name for name in found if name != "hwci_device"] == ["hwci_rt", "hwci_signed_in"]
        mark, token = found["hwci_signed_in"], found["hwci_rt"]
        assert (mark["httponly"], mark["path"], mark["samesite"]) == ("", "/", "Strict")
        assert mark["max-age"] == token["max-age"]
    marks = {found["hwci_signed_in"].value for found in (first, second)}
    tokens = {found["hwci_rt"].value for found in (first, second)}
    assert len(marks) == len(tokens) == 2
    assert not marks & tokens
    assert third["hwci_signed_in"].value == refused["hwci_signed_in"].value == ""


def test_over_tls_the_mark_is_secure_too(tmp_path: Path) -> None:
    with running_in_thread(tmp_path, base_url="https://hwci.example.org") as public:
        found = post(public, "/api/auth/login", {"email": MEMBER_EMAIL, "password": PASSWORD})

    assert found["__Secure-hwci_signed_in"]["secure"] is True


def test_no_renewal_is_tried_while_nobody_is_signed_in(page: Page, server: RunningServer) -> None:
    tried = renewals(page.context)
    page.goto(server.url)

    is_out(page)
    assert tried == []


def test_many_tabs_renew_once_for_all_whenever_it_is_due(
    context: BrowserContext, board: Dashboard, clock: Hands
) -> None:
    context.add_init_script(WAIT_FOR_TABS)
    pages = [context.new_page() for _ in range(TABS)]
    for page in pages:
        page.goto(board.url)
        is_in(page)
    tried = renewals(context)
    pages[0].evaluate("window.inVain = true")  # it is the first to ask, mostly

    for turn in range(1, RENEWALS + 1):
        clock.move(minutes=16)
        for page in pages:
            page.evaluate(ASK)
        assert [page.evaluate(ASKED) for page in pages] == [EMAIL] * TABS
        assert len(tried) == turn
    assert all(page.evaluate("window.asksTabs") for page in pages[1:])
    for page in pages:
        page.reload()
        is_in(page)


def test_a_new_tab_takes_the_token_of_another(context: BrowserContext, board: Dashboard) -> None:
    context.add_init_script(WAIT_FOR_TABS)
    first = context.new_page()
    first.goto(board.url)
    is_in(first)
    tried = renewals(context)
    second = context.new_page()
    second.goto(board.url)

    is_in(second)
    assert tried == []
    assert second.evaluate("window.asksTabs")


def test_many_reloads_one_upon_the_other_do_not_sign_out(page: Page, board: Dashboard) -> None:
    page.goto(board.url)
    is_in(page)
    for turn in range(RELOADS):
        if turn % 2:
            page.goto(board.url, wait_until="commit")
        else:
            with page.expect_request(f"**{REFRESH}"):
                page.goto(board.url, wait_until="commit")

    is_in(page)


@pytest.mark.parametrize(
    ("late", "deaf"),
    rounds([(False, False), (True, True)], [(False, False), (True, False), (True, True)]),
)
def test_a_reload_while_the_answer_is_on_its_way_waits_for_it(
    page: Page, server: RunningServer, late: bool, deaf: bool
) -> None:
    page.add_init_script(NOTES_LAST + (DEAF if deaf else ""))
    with slow_proxy(server.url, REFRESH) as proxy:
        Dashboard(proxy.url, MEMBER).sign_in(page.context)
        page.goto(proxy.url)
        is_in(page)
        proxy.hold()
        page.reload()
        proxy.wait_until_kept()  # the server has taken the token; the browser has no answer
        page.evaluate("null")  # what was asked so far is told before this is answered
        tried = renewals(page.context)
        if late:
            page.evaluate(NOTE_ENDS)
        page.reload()
        page.wait_for_function("() => window.looks > 1")  # it waits for the mark, and asks nothing
        assert tried == []
        proxy.release()

        is_in(page)
        assert len(tried) == 1
        assert proxy.passed == 3


def test_an_abandoned_renewal_is_not_sent_a_second_time(page: Page, server: RunningServer) -> None:
    page.add_init_script(PATIENCE)
    with slow_proxy(server.url, REFRESH) as proxy:
        Dashboard(proxy.url, MEMBER).sign_in(page.context)
        tried = renewals(page.context)
        proxy.hold()
        page.goto(proxy.url)
        proxy.wait_until_kept()  # the server has taken the token; the browser has no answer
        page.evaluate(OUT_OF_PATIENCE)
        expect(page.get_by_role("alert").first).to_contain_text("The server did not answer")
        page.evaluate(NOTE_ENDS)
        page.get_by_role("button", name="Try again").first.click()
        page.wait_for_function("() => window.patience.length > 1")  # of the question, of its token
        proxy.release()

        is_in(page)
        assert len(tried) == proxy.passed == 1


def test_a_tab_that_is_closed_while_its_answer_is_on_its_way_takes_nobody_with_it(
    context: BrowserContext, server: RunningServer
) -> None:
    with slow_proxy(server.url, REFRESH) as proxy:
        Dashboard(proxy.url, MEMBER).sign_in(context)
        proxy.hold()
        closed, other = context.new_page(), context.new_page()
        closed.goto(proxy.url)
        proxy.wait_until_kept()
        other.goto(proxy.url)
        closed.close()
        proxy.release()

        is_in(other)


def test_a_renewal_that_never_reached_the_server_is_tried_again(
    page: Page, server: RunningServer, quiet_console: list[str]
) -> None:
    with slow_proxy(server.url, REFRESH) as proxy:
        Dashboard(proxy.url, MEMBER).sign_in(page.context)
        proxy.lose = True
        page.goto(proxy.url)
        expect(page.get_by_role("alert").first).to_contain_text("The server did not answer")
        page.get_by_role("button", name="Try again").first.click()

        is_in(page)  # the first renewal's note is kept for its 10 s
    assert all("ERR_CONTENT_LENGTH_MISMATCH" in line for line in quiet_console if line)
    quiet_console.clear()


def test_a_server_that_is_busy_ends_no_sign_in(
    page: Page, tmp_path: Path, quiet_console: list[str]
) -> None:
    with running_in_thread(tmp_path, clock=Hands(), auth_rate_limit="4/minute") as busy:
        Dashboard(busy.url, OWNER).sign_in(page.context)
        for _ in range(4):
            page.goto(busy.url)
            is_in(page)
        page.reload()

        expect(page.get_by_role("alert").first).to_contain_text("Rate limit exceeded, retry in")
        assert "/sign-in" not in page.url
    expect_refusals(quiet_console, 429)


def test_signing_out_in_one_tab_signs_out_in_all(
    context: BrowserContext, board: Dashboard, server: RunningServer
) -> None:
    first, second = context.new_page(), context.new_page()
    for page in (first, second):
        page.goto(board.url)
        is_in(page)
    cookies = context.cookies([server.url + "/api/auth"])
    open_own_menu(first)
    first.get_by_role("button", name="Sign out").click()

    is_out(first)
    is_out(second)
    left = context.cookies([server.url + "/api/auth"])
    assert [one.get("name") for one in left] == ["hwci_device"]  # the device stays known
    cookie = "; ".join(f"{one.get('name')}={one.get('value')}" for one in cookies)
    body = {"session": "cookie"}
    assert ask(server.url, "POST", REFRESH, ("Cookie", cookie), json_body=body).status == 401


def test_signing_in_in_one_tab_takes_the_others_along(
    context: BrowserContext, server: RunningServer
) -> None:
    first, second = context.new_page(), context.new_page()
    for page in (first, second):
        page.goto(f"{server.url}/sign-in")
    first.get_by_label("E-mail").fill(EMAIL)
    first.get_by_label("Password").fill(PASSWORD)
    first.get_by_role("button", name="Sign in").click()

    is_in(first)
    is_in(second)


def test_a_person_who_could_not_be_signed_out_sees_that(
    page: Page, board: Dashboard, quiet_console: list[str]
) -> None:
    page.goto(board.url)
    is_in(page)
    page.context.set_offline(True)
    open_own_menu(page)
    page.get_by_role("button", name="Sign out").click()

    expect(page.get_by_text("You are still signed in.")).to_be_visible()
    page.context.set_offline(False)
    assert all("ERR_INTERNET_DISCONNECTED" in line for line in quiet_console if line)
    quiet_console.clear()


def test_after_seven_days_away_one_signs_in_again_and_is_where_one_was(
    page: Page, board: Dashboard, clock: Hands, quiet_console: list[str]
) -> None:
    page.goto(board.url)
    is_in(page)
    expect(page).to_have_url(re.compile("/metrics$"))
    where = page.url + "?days=7"
    page.goto(where)
    is_in(page)
    clock.move(days=8)
    page.reload()
    is_out(page)
    expect_refusals(quiet_console, 401)
    page.get_by_label("E-mail").fill(EMAIL)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()

    is_in(page)
    expect(page).to_have_url(where)


def test_a_stolen_cookie_that_was_used_ends_the_sign_in(
    page: Page, board: Dashboard, server: RunningServer, clock: Hands, quiet_console: list[str]
) -> None:
    page.goto(board.url)
    is_in(page)
    (stolen,) = (
        cookie
        for cookie in page.context.cookies([server.url + REFRESH])
        if cookie.get("name") == "hwci_rt"
    )
    cookie = ("Cookie", f"hwci_rt={stolen.get('value')}")
    thief = ask(server.url, "POST", REFRESH, cookie, json_body={"session": "cookie"})
    assert thief.status == 200
    clock.move(minutes=16)
    page.reload()

    is_out(page)
    expect_refusals(quiet_console, 401)
    theirs = bearer(thief.json["accessToken"])
    assert ask(server.url, "GET", "/api/auth/me", theirs).status == 401


@pytest.fixture
def far(
    browser_type: BrowserType, browser_type_launch_args: dict[str, Any], server: RunningServer
) -> Iterator[tuple[BrowserContext, str]]:
    """A browser, and the address of a server that it takes for another machine's."""
    rule = "--host-resolver-rules=MAP hwci.test 127.0.0.1"
    given = {**browser_type_launch_args, "args": [*browser_type_launch_args["args"], rule]}
    with browser_type.launch(**given) as browser:
        yield browser.new_context(), f"http://hwci.test:{urlsplit(server.url).port}"


@pytest.mark.parametrize("count", rounds([3], [1, 3]))
def test_without_locks_on_plain_http_tabs_take_turns_by_a_lease(
    far: tuple[BrowserContext, str], clock: Hands, count: int
) -> None:
    """A page that came over plain HTTP from another machine has no locks."""
    context, url = far
    pages = [context.new_page() for _ in range(count)]
    pages[0].goto(f"{url}/sign-in")
    pages[0].get_by_label("E-mail").fill(MEMBER_EMAIL)
    pages[0].get_by_label("Password").fill(PASSWORD)
    pages[0].get_by_role("button", name="Sign in").click()
    is_in(pages[0])
    assert pages[0].evaluate("() => navigator.locks === undefined")
    for page in pages[1:]:
        page.goto(url)
    for _ in range(rounds(2, 5)):
        clock.move(minutes=16)
        for page in pages:
            page.evaluate(ASK)
        assert [page.evaluate(ASKED) for page in pages] == [MEMBER_EMAIL] * count


def test_a_lease_lasts_as_long_as_the_work_under_it(far: tuple[BrowserContext, str]) -> None:
    context, url = far
    context.clock.install()
    working, waiting = context.new_page(), context.new_page()
    for page in (working, waiting):
        page.goto(f"{url}/sign-in")
        page.evaluate(LOCKS)
    working.evaluate(WORK)
    working.wait_for_function("() => window.end")
    waiting.evaluate(WORK)
    for _ in range(4):  # together longer than a lease
        until = working.evaluate(LEASED_UNTIL)
        context.clock.fast_forward(5_000)
        working.wait_for_function(f"async (until) => (await ({LEASED_UNTIL})()) > until", arg=until)
    looks = waiting.evaluate("window.looks")
    waiting.wait_for_function("(looks) => window.looks > looks + 1", arg=looks)

    assert waiting.evaluate("window.end") is None
    working.evaluate("window.end()")
    waiting.wait_for_function("() => window.end")
