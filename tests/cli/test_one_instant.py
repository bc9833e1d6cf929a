# SPDX-License-Identifier: Apache-2.0
"""What a command reads in several requests is all of one instant: `asOf` is the same in each."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest

from tests.cli.conftest import Command

ORG = "00000000-0000-4000-8000-000000000001"
SHA = "a" * 40
TIME = "2026-01-01T00:00:00Z"
END = "2026-01-31T09:30:00.000001Z"
NOTHING: dict[str, Any] = {"items": [], "total": 0, "page": 1, "limit": 10}
PAGE = {
    "period": {"days": 7, "from": "2026-01-24T09:30:00.000001Z", "to": END},
    "product": None,
    "tiles": {
        "mergesChecked": {"checked": 0, "announced": 0},
        "realFwBugs": {"real": 0, "benchOrHarness": 0, "ambiguous": 0, "dismissed": 0},
        "flakyFailures": {"count": 0},
        "infraRuns": {"infra": 0, "total": 0},
    },
    **dict.fromkeys(("uncheckedMerges", "realBugs", "otherFailures", "flakiestTests"), NOTHING),
}
TRENDS = {
    "period": PAGE["period"],
    **dict.fromkeys(("before", "product", "recordedSince")),
    "tiles": [
        {"tile": tile, "now": {"part": 0, "total": 0}, "before": None, "change": None}
        for tile in ("mergesChecked", "infraRuns")
    ],
    "missing": "nothing_before",
}
MERGE = {"repoKey": "r", "suite": None, "sha": SHA, "branch": "b", "mergedAt": TIME}
FAILURE = {
    "repoKey": "r",
    "suite": "s",
    "testId": "t",
    "boxKey": "b",
    "branch": "main",
    "sha": SHA,
    "label": "pending",
    "items": 1,
    "firstStartedAt": TIME,
    "lastStartedAt": TIME,
    "verdict": "unknown",
    "groupId": None,
}

FLAKY = {
    "repoKey": "r",
    "suite": "s",
    "testId": "t",
    "boxes": 1,
    "runReports": 2,
    "attempts": 3,
    "failedAttempts": 1,
    "retryPasses": 1,
    "flakyFailures": 0,
    "flakeRate": 33.3,
}
ROWS = {"unchecked-merges": MERGE, "flakiest-tests": FLAKY}


class Answering(ThreadingHTTPServer):
    """A server of 250 rows of each kind that notes what it is asked for."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.asked: list[dict[str, list[str]]] = []

    @property
    def settings(self) -> dict[str, str]:
        url = f"http://127.0.0.1:{self.server_port}"
        return {"HWCI_URL": url, "HWCI_TOKEN": "token", "HWCI_ORG": ORG}


class Answers(BaseHTTPRequestHandler):
    server: Answering

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        query = parse_qs(address.query)
        self.server.asked.append(query)
        body = json.dumps(self.answer(address.path, query)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer(self, path: str, query: dict[str, list[str]]) -> dict[str, Any]:
        if path.endswith("/ci-metrics"):
            return PAGE
        if path.endswith("/trends"):
            return TRENDS
        if path.endswith("/lost-boards"):
            return {"realBugs": 0, "otherFailures": 0, "failures": []}
        if query.get("label") or path.endswith("/causes"):
            return NOTHING
        page = int(query.get("page", ["1"])[0])
        rows = [
            ROWS.get(path.rsplit("/", maxsplit=1)[-1]) or {**FAILURE, "id": str(UUID(int=row))}
            for row in range(100 * page, 100 * page + (100 if page < 3 else 50))
        ]
        return {"items": rows, "total": 250, "page": page, "limit": 100}

    def log_message(self, *_: object) -> None:
        """Keep the terminal of the test clean."""


@pytest.fixture
def answering() -> Iterator[Answering]:
    with Answering() as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def pages(server: Answering) -> tuple[list[list[str] | None], set[str]]:
    """Return the pages that were asked for, and the instants."""
    instants = {instant for query in server.asked for instant in query["asOf"]}
    return [query.get("page") for query in server.asked], instants


@pytest.mark.parametrize("given", [None, TIME])
def test_all_pages_of_a_whole_table(cli: Command, answering: Answering, given: str | None) -> None:
    as_of = ("--as-of", given) if given else ()
    whole = ("metrics", "--table", "unchecked-merges", "--json")
    code, out, _ = cli(*whole, *as_of, **answering.settings)

    asked, instants = pages(answering)
    assert (code, len(json.loads(out))) == (0, 250)
    assert asked == [None, ["2"], ["3"]]
    assert len(instants) == 1
    assert given is None or instants == {given}


def test_broken_tests_are_left_out_by_the_server_and_counted_by_it(
    cli: Command, answering: Answering
) -> None:
    whole = ("metrics", "--table", "flakiest-tests", "--hide-broken", "--json")
    code, out, err = cli(*whole, **answering.settings)

    assert (code, len(json.loads(out)), err) == (0, 250, "250 broken tests left out.\n")
    assert [query["broken"] for query in answering.asked] == [["false"]] * 3 + [["true"]]
    assert len(pages(answering)[1]) == 1


def test_all_failures_among_which_an_id_is_looked_for(cli: Command, answering: Answering) -> None:
    code, _, err = cli("failures", "show", "ffffffff", **answering.settings)

    asked, instants = pages(answering)
    assert (code, err.splitlines()[0]) == (
        1,
        "error: ffffffff names no failure of the last 30 days, nor an earlier one",
    )
    assert asked == [None, ["2"], ["3"]] * 2
    assert len(instants) == 1


def test_the_page_and_what_is_still_failing(cli: Command, answering: Answering) -> None:
    code, out, _ = cli("metrics", "--days", "7", "--repo", "r", **answering.settings)

    page, pending, incidents, causes, trends, lost = answering.asked
    assert code == 0
    assert "Still failing (pending) (0)" in out
    assert page == {"days": ["7"], "repoKey": ["r"], "limit": ["10"]}
    assert pending == {**page, "label": ["pending"], "asOf": [END]}
    assert incidents == {**pending, "limit": ["1"]}
    asked = {"table": ["realBugs"], "limit": ["1"]}
    assert causes == {**page, **asked, "asOf": [END]}
    assert trends == lost == {"days": ["7"], "repoKey": ["r"], "asOf": [END]}


def test_json_asks_for_the_page_alone(cli: Command, answering: Answering) -> None:
    assert cli("metrics", "--json", **answering.settings).code == 0
    assert len(answering.asked) == 1
