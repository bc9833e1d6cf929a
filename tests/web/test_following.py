# SPDX-License-Identifier: Apache-2.0
"""How a page follows a stream: bytes are read however they are cut, and a stream that was cut is
taken up again (contract, "Runs and streams").
"""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Request, expect

from hwci.client.following import EventStream
from tests.support.held_port import held_port
from tests.support.running import Hands, running_in_thread
from tests.web.conftest import Dashboard, module
from tests.web.live import Comeback, Site, row, sign, site
from tests.web.slow_proxy import slow_proxy

STREAM = (
    b"\xef\xbb\xbf: following\nretry: 2000\nid: 7\n\n"
    b'id: 8\r\nevent: run.test\r\ndata: {"a":\r\ndata: 1}\r\n\r\n'
    b":\n\n: a comment\rdata\rdata:  two\r\rretry: soon\nid:\ndata:x\n\n"
    + "event: run.lost\nid: 9\ndata: Prüfstand 🔧\n\nid: a\0b\nother: x\n\n".encode()
    + b"event: cut\ndata: never ends"
)
READ = f"""async (pieces) => {{
  const {{ EventStream }} = await {module("js/following.js")};
  const read = (parts) => {{
    const stream = new EventStream();
    const events = parts.flatMap((part) => stream.feed(new Uint8Array(part)));
    return {{ events, id: stream.id, retry: stream.retry }};
  }};
  return pieces.map(read);
}}"""

PAST_SILENCE_MILLISECONDS = 46_000
PAST_BACKOFF_MILLISECONDS = 2_000
ASKED_AT = """
  const ask = window.fetch;
  window.askedAt = [];
  window.fetch = (path, options) => {
    if (path.endsWith("/runs/stream")) window.askedAt.push(Date.now());
    return ask(path, options);
  };
"""


def test_events_are_read_however_their_bytes_are_cut(page: Page, demo: Dashboard) -> None:
    halves = [[STREAM[:place], STREAM[place:]] for place in range(len(STREAM) + 1)]
    single = [STREAM[place : place + 1] for place in range(len(STREAM))]
    pieces = [[list(part) for part in parts] for parts in (*halves, single)]
    page.goto(f"{demo.url}/sign-in")

    found = page.evaluate(READ, pieces)

    expected = as_the_client_reads(STREAM)
    assert len(expected["events"]) == 4
    for number, read in enumerate(found):
        assert read == expected, number


def as_the_client_reads(data: bytes) -> dict[str, Any]:
    """Return what our client for Python reads of the same bytes."""
    stream = EventStream()
    events = [{"id": one.id, "type": one.type, "data": one.data} for one in stream.feed(data)]
    return {"events": events, "id": stream.id, "retry": stream.retry}


@pytest.fixture
def comeback(page: Page, tmp_path: Path) -> Iterator[Comeback]:
    """A server that has stopped, after a browser has signed in to it; its port stays its own."""
    hands = Hands()
    with held_port() as port:
        with running_in_thread(tmp_path, clock=hands, port=port) as server:
            Site(page, server, hands).sign_in()
        yield Comeback(server, hands)


def test_a_stream_that_was_cut_resumes_with_what_happened_meanwhile(
    page: Page, comeback: Comeback, quiet_console: list[str]
) -> None:
    asked = streams_of(page)
    with comeback.again() as benches:
        key = benches.installed("bench-7")
        Site(page, comeback.first, benches.hands).follow("runs")
        run = benches.opened(key, run_id=71)
        expect(row(page, "run 71")).to_contain_text("running")
    expect(sign(page)).to_have_text("Reconnecting…")
    with comeback.elsewhere() as benches:
        benches.feed(key, run, {"id": "boot", "outcome": "fail", "attempts": 3})
        benches.opened(key, run_id=72)
    with comeback.again():
        expect(sign(page)).to_have_text("Live")
        expect(row(page, "run 72")).to_contain_text("running")
        expect(row(page, "run 71").locator("td").nth(9)).to_have_text("1")
        assert asked[0].headers.get("last-event-id") is None
        assert asked[-1].headers["last-event-id"] == "1"
    complaints_of_an_absent_server(quiet_console)


def test_a_stream_that_cannot_resume_starts_again(
    page: Page, comeback: Comeback, tmp_path: Path, quiet_console: list[str]
) -> None:
    asked = streams_of(page)
    with comeback.again() as benches:
        key = benches.installed("bench-7")
        Site(page, comeback.first, benches.hands).follow("runs")
    shutil.copy(comeback.first.database, tmp_path / "before.db")
    with comeback.again() as benches:
        expect(sign(page)).to_have_text("Live")
        benches.opened(key, run_id=71)
        expect(row(page, "run 71")).to_contain_text("running")
    shutil.copy(tmp_path / "before.db", comeback.first.database)
    comeback.first.database.with_name("hwci.db.sums").unlink()  # they are of the later file
    with comeback.again() as benches:
        expect(row(page, "run 71")).to_have_count(0)
        expect(sign(page)).to_have_text("Live")
        benches.opened(key, run_id=72)
        expect(row(page, "run 72")).to_contain_text("running")
        assert "last-event-id" not in asked[-1].headers
        assert "409" in "".join(quiet_console)
    complaints_of_an_absent_server(quiet_console)


@pytest.mark.own_tab
def test_a_page_that_nobody_looks_at_follows_nothing(page: Page, tmp_path: Path) -> None:
    page.clock.install()
    with site(page, tmp_path) as own:
        key = own.benches.installed("bench-7")
        own.follow("runs")
        with page.expect_event("requestfailed", is_stream):
            look(page, hidden=True)
            page.clock.fast_forward(20_000)
        own.benches.opened(key, run_id=71)

        with page.expect_request(is_stream) as asked:
            look(page, hidden=False)

        assert asked.value.headers["last-event-id"] == "0"
        expect(row(page, "run 71")).to_contain_text("running")


# What is longer than a timer of a browser takes is a day.
@pytest.mark.own_tab
@pytest.mark.parametrize(("asked", "waits"), [("60", 60), ("999999999", 86_400)])
def test_a_server_that_asks_for_patience_is_not_asked_before(
    page: Page, tmp_path: Path, quiet_console: list[str], asked: str, waits: int
) -> None:
    page.clock.install()
    page.add_init_script(ASKED_AT)
    busy = {"status": 429, "json": {"message": "Too much"}, "headers": {"Retry-After": asked}}
    with site(page, tmp_path) as own:
        page.route("**/runs/stream", lambda route: route.fulfill(**busy), times=1)
        own.open("runs")
        expect(sign(page)).to_have_text("Reconnecting…")
        # A jump in time ends a request that is still under way.
        expect(page.get_by_text("No run was reported yet")).to_be_visible()
        for _ in range(3):
            page.clock.fast_forward(waits * 1000 // 3)
        page.clock.fast_forward(PAST_BACKOFF_MILLISECONDS)

        expect(sign(page)).to_have_text("Live")
        first, second = page.evaluate("window.askedAt")
        assert second - first >= waits * 1000
    quiet_console.clear()  # the browser itself tells of the refusal


def test_an_event_that_is_no_json_is_passed_over(page: Page, tmp_path: Path) -> None:
    bad = "id: 0\n\nid: 0\nevent: run.started\ndata: {torn\n\n"
    headers = {"content-type": "text/event-stream"}
    with site(page, tmp_path) as own:
        streams = re.compile("/runs/stream")
        page.route(streams, lambda route: route.fulfill(body=bad, headers=headers), times=1)
        asked = streams_of(page)
        own.follow("runs")
        key = own.benches.installed("bench-7")
        expect(sign(page)).to_have_text("Live")
        own.benches.opened(key, run_id=71)

        expect(row(page, "run 71")).to_contain_text("running")
        assert asked[-1].headers["last-event-id"] == "0"


def test_a_fault_of_the_page_does_not_end_its_stream(
    page: Page, tmp_path: Path, quiet_console: list[str]
) -> None:
    odd = "id: 0\n\nid: 0\nevent: run.test\ndata: null\n\n"
    headers = {"content-type": "text/event-stream"}
    with site(page, tmp_path) as own:
        key = own.benches.installed("bench-7")
        run = own.benches.opened(key, run_id=71)
        streams = re.compile("/runs/stream")
        page.route(streams, lambda route: route.fulfill(body=odd, headers=headers), times=1)
        own.open(f"runs/{run}")
        own.benches.feed(key, run, {"id": "flash"})

        expect(row(page, "flash")).to_contain_text("running")
        expect(sign(page)).to_have_text("Live")
    assert any("TypeError" in line or "null" in line for line in quiet_console)
    quiet_console.clear()


@pytest.mark.own_tab
def test_a_stream_that_falls_silent_is_cut_and_taken_up(page: Page, tmp_path: Path) -> None:
    page.clock.install()
    with site(page, tmp_path) as own:
        key = own.benches.installed("bench-7")
        own.follow("runs")
        own.benches.opened(key, run_id=71)
        expect(row(page, "run 71")).to_contain_text("running")

        with page.expect_request(is_stream) as asked:
            page.clock.fast_forward(PAST_SILENCE_MILLISECONDS)

        assert asked.value.headers["last-event-id"] == "1"
        own.benches.opened(key, run_id=72)
        expect(row(page, "run 72")).to_contain_text("running")
        expect(sign(page)).to_have_text("Live")


@pytest.mark.own_tab
def test_a_question_that_nobody_answers_is_asked_again(page: Page, tmp_path: Path) -> None:
    page.clock.install()
    with site(page, tmp_path) as own:
        path = f"/api/orgs/{own.server.org_id}/runs/stream"
        with slow_proxy(own.server.url, path) as proxy:
            proxy.swallow = True
            with page.expect_request(is_stream):
                page.goto(f"{proxy.url}/orgs/{own.server.org_id}/runs")
            expect(sign(page)).to_have_text("Connecting…")

            page.clock.fast_forward(PAST_SILENCE_MILLISECONDS)

            expect(sign(page)).to_have_text("Live")
            own.benches.opened(own.benches.installed("bench-7"), run_id=71)
            expect(row(page, "run 71")).to_contain_text("running")


def test_a_page_that_is_left_follows_nothing(page: Page, tmp_path: Path) -> None:
    with site(page, tmp_path) as own:
        own.follow("runs")
        with page.expect_event("requestfailed", is_stream):
            page.get_by_role("link", name="Boxes").click()
        expect(page.get_by_role("heading", name="Boxes")).to_be_visible()


def test_a_stream_goes_on_with_a_renewed_token(
    page: Page, tmp_path: Path, quiet_console: list[str]
) -> None:
    with site(page, tmp_path) as own:
        asked = streams_of(page)
        key = own.benches.installed("bench-7")
        own.follow("runs")
        own.benches.opened(key, run_id=71)
        expect(row(page, "run 71")).to_contain_text("running")

        own.benches.hands.move(minutes=16)
        own.benches.opened(key, run_id=72)

        expect(row(page, "run 72")).to_contain_text("running")
        first, last = asked[0].headers, asked[-1].headers
        assert last["authorization"] != first["authorization"]
        assert int(last["last-event-id"]) >= 1
    # Only the server's clock was moved: the browser learns from a refusal that its token is old.
    said = [line for line in quiet_console if "401" not in line]
    quiet_console[:] = said


def streams_of(page: Page) -> list[Request]:
    """Return the requests for streams, as they will come."""
    asked: list[Request] = []
    page.on("request", lambda request: asked.append(request) if is_stream(request) else None)
    return asked


def is_stream(request: Request) -> bool:
    return "/runs/stream" in request.url


def look(page: Page, *, hidden: bool) -> None:
    """Turn to another tab, or back, as the page is told of it."""
    result = json.dumps(hidden)
    page.evaluate(
        f"Object.defineProperty(document, 'hidden', {{value: {result}, configurable: true}});"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )


def complaints_of_an_absent_server(said: list[str]) -> None:
    """Take out what the browser says of a server that is away."""
    away = ("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "503", "409")
    said[:] = [line for line in said if not any(word in line for word in away)]
