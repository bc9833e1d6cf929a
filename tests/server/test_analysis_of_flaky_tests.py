# SPDX-License-Identifier: Apache-2.0
"""What the runs of flaky tests suggest, over HTTP (contract, "Answers beside the rules").
What that is, is the analysis', and shown there; here it is seen to arrive.
"""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from hwci.analysis.certainty import ATTEMPTS_NEEDED, rates
from hwci.wire.codec import plain
from tests.server.many_rows import tell
from tests.support.asking import Reply, ask, bearer
from tests.support.running import RunningServer, running_in_thread

PERIOD = "asOf=2026-02-01T00:00:00Z"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_in_thread(tmp_path_factory.mktemp("told")) as server:
        tell(server)
        yield server


def reply(server: RunningServer, path: str) -> Reply:
    url = f"/api/orgs/{server.org_id}/{path}"
    return ask(server.url, "GET", url, bearer(server.member_token))


def items(server: RunningServer, path: str) -> list[dict[str, Any]]:
    answer = reply(server, path)
    assert answer.status == 200, answer
    found: list[dict[str, Any]] = answer.json["items"]
    return found


def name(row: dict[str, Any]) -> tuple[str, ...]:
    return row["repoKey"], row["suite"], row["testId"]


@pytest.mark.parametrize("query", ["", "&limit=2&page=2", "&sort=-testId", "&broken=false"])
def test_the_rows_are_those_of_the_specifications_table(told: RunningServer, query: str) -> None:
    table = items(told, f"ci-metrics/flakiest-tests?{PERIOD}{query}")
    found = items(told, f"ci-analysis/flaky-tests?{PERIOD}{query}")
    assert list(map(name, found)) == list(map(name, table))
    for row, of_table in zip(found, table, strict=True):
        assert {key: row[key] for key in of_table} == of_table
        if of_table["attempts"] < ATTEMPTS_NEEDED:
            assert (row["low"], row["high"]) == (None, None)
        else:
            assert 0 <= row["low"] <= row["flakeRate"] <= row["high"] <= 100
        assert (row["found"] is None) == row["text"].startswith("not enough data: ")
        assert (row["found"] is None) == (row["missing"] is not None)


@pytest.mark.parametrize("query", ["", "&limit=2&page=2", "&rankBy=lowerBound"])
def test_the_rate_on_each_box_is_that_of_its_attempts(told: RunningServer, query: str) -> None:
    found = items(told, f"ci-analysis/flaky-tests?{PERIOD}{query}")
    assert found
    for row in found:
        test = urlencode({key: row[key] for key in ("repoKey", "suite", "testId")})
        of_test = reply(told, f"ci-analysis/test?{PERIOD}&{test}").json
        counts = [(box["failedAttempts"], box["attempts"]) for box in of_test["boxes"]]
        assert [one["boxKey"] for one in row["onBoxes"]] == [
            box["boxKey"] for box in of_test["boxes"]
        ]
        for one, rate in zip(row["onBoxes"], rates(counts), strict=True):
            assert one["flakeRate"] == plain(rate)


def test_the_rank_by_the_lower_bound_is_a_choice(told: RunningServer) -> None:
    found = items(told, f"ci-analysis/flaky-tests?{PERIOD}&rankBy=lowerBound")
    lows = [row["low"] or 0 for row in found]
    assert lows == sorted(lows, reverse=True)
    assert reply(told, f"ci-analysis/flaky-tests?{PERIOD}&rankBy=highest").status == 400


@pytest.mark.parametrize("query", ["", "&broken=false", "&search=a"])
def test_the_rows_by_the_lower_bound_are_the_same_over_time(
    told: RunningServer, query: str
) -> None:
    ranked = f"{PERIOD}{query}&rankBy=lowerBound"
    found = items(told, f"ci-analysis/flaky-tests?{ranked}&limit=100")
    history = items(told, f"ci-analysis/flaky-tests/history?{ranked}&limit=100")
    assert len(found) > 1
    assert [name(row) for row in history] == [name(row) for row in found]
    page = items(told, f"ci-analysis/flaky-tests?{ranked}&limit=1&page=2")
    assert [name(row) for row in page] == [name(found[1])]

    plain = f"{PERIOD}{query}&limit=100"
    table = items(told, f"ci-metrics/flakiest-tests/history?{plain}")
    assert items(told, f"ci-analysis/flaky-tests/history?{plain}") == table
    by_rate = items(told, f"ci-analysis/flaky-tests?{ranked}&limit=100&sort=-flakeRate")
    assert [name(row) for row in by_rate] == [name(row) for row in table]


RATES = {"low", "high"}
ANSWERS = RATES | {"answer", "answerBox", "statement"}


@pytest.mark.parametrize(("detail", "more"), [("rates", RATES), ("answers", ANSWERS)])
@pytest.mark.parametrize("query", ["", "&rankBy=lowerBound", "&broken=false", "&limit=1&page=2"])
def test_rows_of_less_detail_are_parts_of_the_same_rows(
    told: RunningServer, query: str, detail: str, more: set[str]
) -> None:
    [shape, *_] = items(told, f"ci-metrics/flakiest-tests?{PERIOD}")
    rows = items(told, f"ci-analysis/flaky-tests?{PERIOD}{query}")

    assert items(told, f"ci-analysis/flaky-tests?{PERIOD}{query}&detail={detail}") == [
        {key: value for key, value in row.items() if key in shape.keys() | more} for row in rows
    ]
    assert rows
