# SPDX-License-Identifier: Apache-2.0
"""What the metrics page draws over time, over HTTP (contract, "CI metrics").

What is counted where is the engine's, and shown there; here it is seen to arrive, and to add up to
the figures that the page gives for the same query.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from hwci.contract.flaky.flaky_history import FlakyHistories
from hwci.contract.page.metrics import Trend
from hwci.wire.codec import adapter, plain
from tests.server.many_rows import tell
from tests.support.asking import Reply, ask, bearer
from tests.support.running import RunningServer, running_in_thread

pytestmark = pytest.mark.clock


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server with something to draw."""
    with running_in_thread(tmp_path_factory.mktemp("told")) as server:
        tell(server)
        yield server


def reply(server: RunningServer, path: str, query: str) -> Reply:
    url = f"/api/orgs/{server.org_id}/ci-metrics{path}?{query}"
    return ask(server.url, "GET", url, bearer(server.member_token))


def get(server: RunningServer, path: str, query: str) -> Any:
    answer = reply(server, path, query)
    assert answer.status == 200, answer
    return answer.json


PERIODS = [
    "asOf=2026-02-01T00:00:00Z",
    "asOf=2026-02-01T00:00:00Z&days=90&repoKey=acme/firmware",
    "asOf=2026-01-10T04:00:00Z&days=1&repoKey=acme/firmware&suite=hardware",
    "asOf=2026-01-11T03:00:00Z&days=1",
    "asOf=2026-02-01T00:00:00Z&days=3650",
    "asOf=0001-01-01T00:00:00Z",
    "",
]


def test_a_period_has_what_lies_between_its_ends_which_both_belong_to_it(
    told: RunningServer,
) -> None:
    merges = get(told, "/unchecked-merges", PERIODS[0])["items"]
    newest, oldest = merges[0]["mergedAt"], merges[-1]["mergedAt"]
    assert newest > oldest

    page = get(told, "", f"from={oldest}&asOf={newest}")

    assert page["period"] == {"days": 1, "from": oldest, "to": newest}
    assert page["uncheckedMerges"]["items"] == merges
    later = oldest.replace("00Z", "00.000001Z")
    assert get(told, "/unchecked-merges", f"from={later}&asOf={newest}")["items"] == merges[:-1]


@pytest.mark.parametrize("query", PERIODS)
def test_the_trend_is_of_the_pages_period_and_product_and_adds_up_to_its_tiles(
    told: RunningServer, query: str
) -> None:
    page, trend = get(told, "", query), get(told, "/trend", query)
    tiles, slots = page["tiles"], trend["slots"]

    if query:
        assert (trend["period"], trend["product"]) == (page["period"], page["product"])
    assert len(slots) == min(page["period"]["days"], 90)
    assert {name: sum(slot[name] for slot in slots) for name in list(slots[0])[2:]} == {
        "mergesChecked": tiles["mergesChecked"]["checked"],
        "mergesAnnounced": tiles["mergesChecked"]["announced"],
        "realFwBugs": tiles["realFwBugs"]["real"],
        "flakyFailures": tiles["flakyFailures"]["count"],
        "infraRuns": tiles["infraRuns"]["infra"],
        "runs": tiles["infraRuns"]["total"],
    }


def test_slots_lie_side_by_side_and_the_last_ends_with_the_period(told: RunningServer) -> None:
    trend = get(told, "/trend", "asOf=2026-01-10T12:00:00Z&days=2")

    nothing = dict.fromkeys(list(trend["slots"][0])[2:], 0)
    assert trend["slots"] == [
        {"from": "2026-01-08T12:00:00Z", "to": "2026-01-09T12:00:00Z", **nothing},
        {
            "from": "2026-01-09T12:00:00Z",
            "to": "2026-01-10T12:00:00Z",
            "mergesChecked": 3,
            "mergesAnnounced": 7,
            "realFwBugs": 2,
            "flakyFailures": 1,
            "infraRuns": 0,
            "runs": 8,
        },
    ]
    assert trend == plain(adapter(Trend).validate_python(trend))


@pytest.mark.parametrize("query", ["days=0", "asOf=today", "suite=hardware"])
def test_a_trend_of_no_period_or_product_is_at_fault(told: RunningServer, query: str) -> None:
    assert reply(told, "/trend", query).issue_paths == [["query", query.partition("=")[0]]]


def days(server: RunningServer, query: str) -> Reply:
    url = f"/api/orgs/{server.org_id}/ci-analysis/days?{query}"
    return ask(server.url, "GET", url, bearer(server.member_token))


TILES = {
    "mergesChecked": ("mergesChecked", "checked"),
    "mergesAnnounced": ("mergesChecked", "announced"),
    "realFwBugs": ("realFwBugs", "real"),
    "flakyFailures": ("flakyFailures", "count"),
    "infraRuns": ("infraRuns", "infra"),
    "runs": ("infraRuns", "total"),
}


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata", "America/St_Johns"])
@pytest.mark.parametrize("query", PERIODS)
def test_the_days_of_a_zone_add_up_to_the_tiles_and_a_whole_one_is_the_page_of_that_day(
    told: RunningServer, query: str, zone: str
) -> None:
    page, found = get(told, "", query)["tiles"], days(told, f"{query}&zone={zone}").json
    sums = {name: sum(day[name] for day in found["days"]) for name in TILES}
    assert sums == {name: page[tile][part] for name, (tile, part) in TILES.items()}
    assert found["zone"] == zone

    product = query[query.find("&repoKey") :] if "&repoKey" in query else ""
    whole = [day for day in found["days"] if day["whole"] and day["firstDay"] == day["lastDay"]]
    for day in [one for one in whole if one["runs"] or one["mergesAnnounced"]]:
        alone = get(told, "", f"asOf={day['to']}&days=1{product}")["tiles"]
        assert {name: day[name] for name in TILES} == {
            name: alone[tile][part] for name, (tile, part) in TILES.items()
        }


@pytest.mark.parametrize("zone", ["Mars/Base", "../etc/passwd", "Europe", "x" * 1000, ""])
def test_a_zone_that_does_not_exist_is_at_fault(told: RunningServer, zone: str) -> None:
    query = f"zone={zone}"
    for answer in (days(told, query), reply(told, "/flakiest-tests/history", query)):
        assert (answer.status, answer.issue_paths) == (400, [["query", "zone"]])


TABLES = ["", "&limit=1&page=2", "&sort=-testId&limit=2", "&search=hardware%20u", "&search=none"]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("period", PERIODS[:4])
def test_flaky_tests_over_time_are_the_rows_of_their_table_and_add_up_to_them(
    told: RunningServer, period: str, table: str
) -> None:
    rows = get(told, "/flakiest-tests", period + table)
    history = get(told, "/flakiest-tests/history", period + table)

    def total(row: dict[str, Any], name: str) -> int:
        return sum(slot[name] for slot in row["slots"])

    names = ["repoKey", "suite", "testId"]
    assert [
        (*[row[name] for name in names], total(row, "attempts"), total(row, "failedAttempts"))
        for row in history["items"]
    ] == [
        (*[row[name] for name in names], row["attempts"], row["failedAttempts"])
        for row in rows["items"]
    ]
    assert [row["boxesTotal"] for row in history["items"]] == [
        row["boxes"] for row in rows["items"]
    ]
    for name in ("total", "page", "limit"):
        assert history[name] == rows[name]


def test_a_slot_of_a_flaky_test_is_one_of_the_trend(told: RunningServer) -> None:
    query = "asOf=2026-01-10T12:00:00Z&days=2"
    history = get(told, "/flakiest-tests/history", query)
    (usb,) = (row for row in history["items"] if row["testId"] == "usb")

    assert usb == {
        "repoKey": "acme/firmware",
        "suite": "hardware",
        "testId": "usb",
        "slots": [{"slot": 1, "attempts": 7, "failedAttempts": 4}],
        "boxes": [
            {
                "boxKey": "bench-1",
                "slots": [{"slot": 1, "attempts": 7, "failedAttempts": 4}],
                "runReports": 7,
                "attempts": 7,
                "failedAttempts": 4,
                "retryPasses": 0,
                "flakeRate": pytest.approx(100 * 4 / 7),
            }
        ],
        "boxesTotal": 1,
    }
    assert history == plain(adapter(FlakyHistories).validate_python(history))


@pytest.mark.parametrize("zone", ["Pacific/Auckland", "America/New_York", "UTC"])
def test_the_slots_of_a_zone_are_its_days(told: RunningServer, zone: str) -> None:
    query = f"asOf=2026-01-10T12:00:00Z&days=2&zone={zone}"
    by_day = days(told, query).json["days"]
    history = get(told, "/flakiest-tests/history", query)
    shown = ["firstDay", "lastDay", "whole", "from", "to"]
    assert history["days"] == [{name: day[name] for name in shown} for day in by_day]

    for row in history["items"]:
        ran = {slot["slot"]: slot["attempts"] for slot in row["slots"]}
        for number, day in enumerate(history["days"]):
            period = f"from={day['from']}&asOf={day['to']}&search={row['testId']}"
            alone = get(told, "/flakiest-tests", f"{period}&limit=100")["items"]
            attempts = [one["attempts"] for one in alone if one["testId"] == row["testId"]]
            # A day on which each attempt passed has no row.
            assert attempts in ([], [ran.get(number)]), (row, day)
        assert sum(ran.values()) > 0
    assert history == plain(adapter(FlakyHistories).validate_python(history))


def test_the_history_of_flaky_tests_takes_the_query_of_their_table(told: RunningServer) -> None:
    for query in ("limit=101", "sort=class", "search=", "days=0"):
        path = ["query", query.partition("=")[0]]
        assert reply(told, "/flakiest-tests/history", query).issue_paths == [path]
