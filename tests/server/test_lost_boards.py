# SPDX-License-Identifier: Apache-2.0
"""Failures of runs that lost their board, over HTTP: they are named beside what the specification
answers, which knows no lost board.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.server.small_history import get
from tests.support.asking import ask, bearer
from tests.support.lost_board import BUG, LOST_AGAIN_AT, LOST_AT, OTHERS, REAL, lose_boards
from tests.support.running import RunningServer, running_in_thread


@pytest.fixture(scope="module")
def lost(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_in_thread(tmp_path_factory.mktemp("lost")) as server:
        lose_boards(server)
        yield server


def items(server: RunningServer, path: str, query: str = "limit=100") -> list[dict[str, Any]]:
    answer = get(server, path, query)
    found: list[dict[str, Any]] = answer["items"]
    assert len(found) == min(answer["total"], answer["limit"])
    return found


def names_of(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(row["testId"] for row in rows)


def test_the_rows_of_each_table_that_lie_in_lost_runs_are_counted_and_named(
    lost: RunningServer,
) -> None:
    found = get(lost, "ci-analysis/lost-boards", "")
    page = get(lost, "ci-metrics", "limit=100")
    rows = [*page["realBugs"]["items"], *page["otherFailures"]["items"]]

    assert page["tiles"]["realFwBugs"]["real"] == len(REAL) + 1
    assert (found["realBugs"], found["otherFailures"]) == (len(REAL), len(OTHERS))
    named = [row for row in rows if row["id"] in found["failures"]]
    assert names_of(named) == sorted([*REAL, *OTHERS])
    assert len(found["failures"]) == len(named)


@pytest.mark.parametrize(
    ("table", "tests", "path"),
    [("realBugs", REAL, "real-bugs"), ("otherFailures", OTHERS, "other-failures")],
)
def test_the_lists_have_the_records_of_the_specification(
    lost: RunningServer, table: str, tests: list[str], path: str
) -> None:
    every = {row["id"]: row for row in items(lost, f"ci-metrics/{path}")}
    found = items(lost, "ci-analysis/lost-boards/resolved", f"table={table}&limit=100&sort=testId")

    assert [row["testId"] for row in found] == tests
    assert all(every[row["id"]] == row for row in found)
    [cause] = items(lost, "ci-analysis/causes", f"table={table}&lostBoard=true")
    assert names_of(cause["failures"]) == tests


def test_failures_are_listed_as_all_are_and_narrowed_likewise(lost: RunningServer) -> None:
    every = {row["id"]: row for row in items(lost, "ci-failures")}
    path = "ci-analysis/lost-boards/failures"
    found = items(lost, path)

    assert names_of(found) == sorted([*REAL, *OTHERS])
    assert all(every[row["id"]] == row for row in found)
    assert names_of(items(lost, path, f"testId={LOST_AT}")) == [LOST_AT]
    assert items(lost, path, "label=pending") == []
    assert names_of(items(lost, path, f"sha={'3' * 12}")) == REAL
    assert get(lost, path, "limit=1&page=2")["total"] == len(REAL) + len(OTHERS)


def test_a_failure_says_at_which_test_the_board_was_lost(lost: RunningServer) -> None:
    def said(test: str, digit: str) -> Any:
        query = f"testId={test}&sha={digit * 12}"
        [failure] = items(lost, "ci-failures", query)
        return get(lost, f"ci-analysis/failures/{failure['id']}", "")["lostBoard"]

    rest = "; what failed after it says little."
    assert said("test_08", "3") == f"In this run the board was lost at {LOST_AT}{rest}"
    assert said("test_08", "7") == f"In this run the board was lost at {LOST_AGAIN_AT}{rest}"
    assert said(LOST_AT, "3") == f"In this run the board was lost at this test{rest}"
    assert said(BUG, "5") is None


def test_a_review_leaves_them_where_they_are_in_the_other_table(lost: RunningServer) -> None:
    rows = items(lost, "ci-analysis/lost-boards/resolved", "table=realBugs&limit=100")
    reviews = [{"failureId": one["id"], "action": "dismiss", "seenReviewAt": None} for one in rows]

    def review(reviews: list[dict[str, Any]]) -> list[dict[str, Any]]:
        path = f"/api/orgs/{lost.org_id}/ci-reviews"
        reply = ask(lost.url, "POST", path, bearer(lost.token), json_body={"reviews": reviews})
        assert reply.status == 200, reply
        made: list[dict[str, Any]] = reply.json["items"]
        return made

    made = review(reviews)

    found = get(lost, "ci-analysis/lost-boards", "")
    assert (found["realBugs"], found["otherFailures"]) == (0, len(REAL) + len(OTHERS))
    path = "ci-analysis/lost-boards/resolved"
    assert names_of(items(lost, path, "class=dismissed")) == REAL
    assert names_of(items(lost, "ci-metrics/real-bugs")) == [BUG]
    again = [
        {"failureId": one["id"], "action": "reset", "seenReviewAt": one["review"]["at"]}
        for one in made
    ]
    review(again)
    assert get(lost, "ci-analysis/lost-boards", "")["realBugs"] == len(REAL)


@pytest.mark.parametrize("path", ["", "/resolved", "/failures"])
def test_a_product_that_nothing_names_is_not_found(lost: RunningServer, path: str) -> None:
    url = f"/api/orgs/{lost.org_id}/ci-analysis/lost-boards{path}?repoKey=acme/none"
    assert ask(lost.url, "GET", url, bearer(lost.member_token)).status == 404


@pytest.mark.parametrize("path", ["real-bugs", "other-failures", ""])
def test_what_the_specification_answers_takes_no_such_filter(
    lost: RunningServer, path: str
) -> None:
    url = f"/api/orgs/{lost.org_id}/ci-metrics/{path}".rstrip("/")
    reply = ask(lost.url, "GET", f"{url}?lostBoard=true", bearer(lost.member_token))
    assert reply.status == 400
