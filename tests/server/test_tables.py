# SPDX-License-Identifier: Apache-2.0
"""The four tables and the list of failures, sorted and searched over HTTP (contract, "CI metrics").

Which rows match and how they stand is the engine's, and shown there; here it is seen that each
table is asked, by every column that its answers name.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Any

import pytest

from hwci.contract.vocabulary import FailureColumn, FlakyColumn, MergeColumn, ResolvedColumn
from tests.server.many_rows import tell
from tests.server.small_history import AS_OF
from tests.support.asking import Reply, ask, bearer
from tests.support.running import RunningServer, running_in_thread

TABLES: dict[str, type[StrEnum]] = {
    "ci-metrics/unchecked-merges": MergeColumn,
    "ci-metrics/checked-merges": MergeColumn,
    "ci-metrics/real-bugs": ResolvedColumn,
    "ci-metrics/other-failures": ResolvedColumn,
    "ci-metrics/flakiest-tests": FlakyColumn,
    "ci-failures": FailureColumn,
}
COLUMNS = [(table, column) for table, columns in TABLES.items() for column in columns]


@pytest.fixture(scope="module")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server whose tables have several rows each."""
    with running_in_thread(tmp_path_factory.mktemp("told")) as server:
        tell(server)
        yield server


def reply(server: RunningServer, table: str, query: str = "") -> Reply:
    url = f"/api/orgs/{server.org_id}/{table}?{AS_OF}&{query}"
    return ask(server.url, "GET", url, bearer(server.member_token))


def rows(server: RunningServer, table: str, query: str = "") -> list[dict[str, Any]]:
    answer = reply(server, table, query)
    assert answer.status == 200, answer
    assert answer.json["total"] == len(answer.json["items"])
    return list(answer.json["items"])


def told_in(row: dict[str, Any], column: str) -> Any:
    """What a row says of a column; of the first failure its start, of an Unassigned merge ""."""
    value = row["firstFailure"]["startedAt"] if column == "startedAt" else row[column]
    return "" if value is None else value


@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_a_table_stands_by_each_column_of_its_rows_either_way(
    seeded: RunningServer, table: str, column: StrEnum
) -> None:
    whole = rows(seeded, table)
    up = sorted(whole, key=lambda row: told_in(row, column.value))
    down = sorted(whole, key=lambda row: told_in(row, column.value), reverse=True)

    assert len(whole) > 1
    assert rows(seeded, table, f"sort={column}") == up
    assert rows(seeded, table, f"sort=-{column}") == down


@pytest.mark.parametrize(
    ("table", "search", "total"),
    [
        ("ci-metrics/unchecked-merges", "topic", 1),
        ("ci-metrics/unchecked-merges", "unassigned", 2),
        ("ci-metrics/unchecked-merges", "Unassigned%20MAIN", 1),
        ("ci-metrics/unchecked-merges", "dddd", 1),
        ("ci-metrics/checked-merges", "topic", 1),
        ("ci-metrics/checked-merges", "hardware", 2),
        ("ci-metrics/checked-merges", "unassigned%204444", 1),
        ("ci-metrics/checked-merges", "dddd", 0),
        ("ci-metrics/real-bugs", "adc", 1),
        ("ci-metrics/other-failures", "ACME%20boot", 2),
        ("ci-metrics/flakiest-tests", "%20hardware%20", 4),
        ("ci-metrics/flakiest-tests", "u", 1),
        ("ci-metrics/flakiest-tests", "nowhere", 0),
        ("ci-failures", "USB%20bench-1", 4),
        ("ci-failures", "444444%20hardware", 1),
        ("ci-failures", "nowhere", 0),
    ],
)
def test_a_search_gives_the_rows_that_match_and_their_number(
    seeded: RunningServer, table: str, search: str, total: int
) -> None:
    found = rows(seeded, table, f"search={search}")

    assert len(found) == total
    assert found == [row for row in rows(seeded, table) if row in found]


def test_a_page_is_cut_from_what_matches_in_the_order_asked_for(seeded: RunningServer) -> None:
    query = "search=hardware&sort=testId&limit=2&page=2"
    answer = reply(seeded, "ci-metrics/flakiest-tests", query).json

    assert [row["testId"] for row in answer["items"]] == ["flash", "usb"]
    assert (answer["total"], answer["page"], answer["limit"]) == (4, 2, 2)


def test_failures_are_narrowed_by_test_and_label_before_they_are_searched(
    seeded: RunningServer,
) -> None:
    every = rows(seeded, "ci-failures")
    usb = [row for row in every if row["testId"] == "usb"]
    flakes = [row for row in usb if row["label"] == "flake"]

    assert 0 < len(flakes) < len(usb) < len(every)
    product = "repoKey=acme/firmware&suite=hardware"
    assert rows(seeded, "ci-failures", f"{product}&testId=usb") == usb
    assert rows(seeded, "ci-failures", "testId=usb&label=flake") == flakes
    assert rows(seeded, "ci-failures", "testId=usb&search=boot") == []
    assert (
        rows(seeded, "ci-failures", "testId=us") == rows(seeded, "ci-failures", "testId=USB") == []
    )
    answer = reply(seeded, "ci-failures", "testId=usb&sort=sha&limit=1&page=2").json
    assert answer["items"] == sorted(usb, key=lambda row: str(row["sha"]))[1:2]
    assert answer["total"] == len(usb)


def test_what_is_no_id_of_a_test_is_a_fault_of_the_query(seeded: RunningServer) -> None:
    for test_id in ("", "x" * 513, "%00"):
        found = reply(seeded, "ci-failures", f"testId={test_id}")
        assert found.issue_paths == [["query", "testId"]]


@pytest.mark.parametrize("table", TABLES)
def test_an_unknown_column_and_an_empty_search_are_faults_of_the_query(
    seeded: RunningServer, table: str
) -> None:
    assert reply(seeded, table, "sort=colour").issue_paths == [["query", "sort"]]
    assert reply(seeded, table, "search=%20").issue_paths == [["query", "search"]]
    assert reply(seeded, table, f"search={'x' * 201}").issue_paths == [["query", "search"]]


def test_broken_tests_are_left_out_of_the_table_and_its_history(seeded: RunningServer) -> None:
    def rows(table: str, broken: str) -> list[str]:
        path = f"/api/orgs/{seeded.org_id}/ci-metrics/{table}?{AS_OF}{broken}"
        reply = ask(seeded.url, "GET", path, bearer(seeded.token))
        assert reply.status == 200
        return [str(row["testId"]) for row in reply.json["items"]]

    every, broken, flaky = (
        rows("flakiest-tests", said) for said in ("", "&broken=true", "&broken=false")
    )

    assert broken
    assert flaky
    assert sorted(every) == sorted(broken + flaky)
    assert rows("flakiest-tests/history", "&broken=false") == flaky
    reply = ask(
        seeded.url,
        "GET",
        f"/api/orgs/{seeded.org_id}/ci-metrics/flakiest-tests?broken=maybe",
        bearer(seeded.token),
    )
    assert (reply.status, reply.json["issues"][0]["path"]) == (400, ["query", "broken"])


def test_other_failures_are_listed_by_class(seeded: RunningServer) -> None:
    def classes(of: str) -> list[str]:
        path = f"/api/orgs/{seeded.org_id}/ci-metrics/other-failures?{AS_OF}{of}"
        reply = ask(seeded.url, "GET", path, bearer(seeded.token))
        return sorted(str(row["class"]) for row in reply.json["items"])

    bugs = f"/api/orgs/{seeded.org_id}/ci-metrics/real-bugs?{AS_OF}"
    bug = ask(seeded.url, "GET", bugs, bearer(seeded.token)).json["items"][0]["id"]
    review = f"/api/orgs/{seeded.org_id}/ci-failures/{bug}"
    assert ask(seeded.url, "POST", f"{review}/dismiss", bearer(seeded.token)).status == 200

    every = classes("")
    for name in ("bench_or_harness", "ambiguous", "dismissed"):
        assert classes(f"&class={name}") == [one for one in every if one == name]
    assert set(every) == {"bench_or_harness", "dismissed"}
    assert ask(seeded.url, "POST", f"{review}/reset", bearer(seeded.token)).status == 200
    path = f"/api/orgs/{seeded.org_id}/ci-metrics/other-failures?class=real_fw_bug"
    reply = ask(seeded.url, "GET", path, bearer(seeded.token))
    assert (reply.status, reply.json["issues"][0]["path"]) == (400, ["query", "class"])
