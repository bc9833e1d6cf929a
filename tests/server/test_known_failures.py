# SPDX-License-Identifier: Apache-2.0
"""Known failures over HTTP: rules are made, listed and removed, and say of failures that they are
known, while nothing of the specification changes.
"""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from hwci.wire import limits
from tests.support.asking import Reply, ask, bearer
from tests.support.benches import Benches
from tests.support.running import Hands, running_in_thread

GOOD, BAD, FIXED = "a" * 40, "b" * 40, "c" * 40
FAILING = {"uart.echo": "timeout after 3 s", "uart.long": "burnt", "spi.echo": "timeout after 9 s"}
BY = {"ticket": "https://issues.example.org/7"}


def results(outcome: str) -> list[dict[str, Any]]:
    return [
        {"id": name, "outcome": outcome, "attempts": 1, "duration_s": 1.0, "verdict": "device"}
        | ({"message": message} if outcome == "fail" else {})
        for name, message in FAILING.items()
    ]


def play(benches: Benches) -> None:
    """Report a commit on which three tests fail, between two on which they pass."""
    for number, sha in enumerate((GOOD, BAD, FIXED), 1):
        outcome = "fail" if sha == BAD else "pass"
        fields = {"run_id": number, "sha": sha, "tests": results(outcome)}
        assert benches.report(**fields).status == 204
        benches.hands.move(minutes=1)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Benches]:
    hands = Hands()
    with running_in_thread(tmp_path_factory.mktemp("known"), clock=hands) as server:
        benches = Benches(server, hands)
        play(benches)
        yield benches


@pytest.fixture
def benches(played: Benches) -> Iterator[Benches]:
    """The same without a rule."""
    yield played
    for rule in rules(played):
        assert played.member("DELETE", f"known-failures/{rule['id']}").status == 204


def rules(benches: Benches) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = benches.member("GET", "known-failures?limit=100").json["items"]
    return listed


def until(benches: Benches, days: float = 30) -> str:
    return (benches.hands.now + timedelta(days=days)).isoformat()


def add(benches: Benches, **fields: Any) -> Reply:
    body = {**BY, "until": until(benches), **fields}
    return benches.member("POST", "known-failures", body)


def added(benches: Benches, **fields: Any) -> Any:
    reply = add(benches, **fields)
    assert reply.status == 201, reply
    return reply.json


def failures(benches: Benches, query: str = "") -> dict[str, Any]:
    items = benches.member("GET", f"ci-failures?limit=100{query}").json["items"]
    return {item["testId"]: item for item in items}


def test_any_member_makes_a_rule_which_is_listed_logged_and_removed(benches: Benches) -> None:
    server, body = benches.server, {**BY, "testId": "uart.*", "until": until(benches)}
    path = f"/api/orgs/{server.org_id}/known-failures"
    made = ask(server.url, "POST", path, bearer(server.member_token), json_body=body)
    assert made.status == 201
    assert rules(benches) == [made.json]
    assert (made.json["testId"], made.json["message"], made.json["boxKey"]) == (
        "uart.*",
        None,
        None,
    )

    again = add(benches, testId="uart.*", until=body["until"])
    assert again.error == (409, "A record with this rule already exists")
    removed = f"known-failures/{made.json['id']}"
    assert benches.member("DELETE", removed).status == 204
    assert benches.member("DELETE", removed).error == (404, "Rule not found")
    entries = benches.member("GET", "audit-log?limit=2").json["items"]
    assert [entry["action"] for entry in entries] == [
        "known_failure.removed",
        "known_failure.added",
    ]
    assert {(entry["details"]["name"], entry["details"]["testId"]) for entry in entries} == {
        (BY["ticket"], "uart.*")
    }


@pytest.mark.parametrize(
    ("fields", "paths"),
    [
        ({}, [["body"]]),
        ({"testId": "**"}, [["body", "testId"]]),
        ({"message": " * "}, [["body", "message"]]),
        ({"message": ""}, [["body", "message"]]),
        ({"testId": "x", "ticket": ""}, [["body", "ticket"]]),
        ({"testId": "x", "until": "tomorrow"}, [["body", "until"]]),
        ({"testId": "x" * (limits.TEST_ID_MAX + 1)}, [["body", "testId"]]),
        ({"message": "x" * (limits.MESSAGE_MAX + 1)}, [["body", "message"]]),
        ({"testId": "x", "ticket": "x" * (limits.NAME_MAX + 1)}, [["body", "ticket"]]),
        ({"testId": "x", "colour": "red"}, [["body", "colour"]]),
    ],
)
def test_what_is_no_rule_is_refused_by_its_field(
    benches: Benches, fields: dict[str, Any], paths: list[list[str]]
) -> None:
    refused = add(benches, **fields)
    assert (refused.status, refused.issue_paths) == (400, paths)


def test_a_rule_ends_within_a_year(benches: Benches) -> None:
    for days in (-1, 0, limits.KNOWN_FOR_MAX.days + 0.01):
        refused = add(benches, testId="x", until=until(benches, days))
        assert (refused.status, refused.issue_paths) == (400, [["body", "until"]])
    added(benches, testId="x", until=until(benches, limits.KNOWN_FOR_MAX.days))


def test_an_organization_has_so_many_rules(benches: Benches) -> None:
    for number in range(limits.KNOWN_FAILURES_MAX):
        added(benches, testId=f"test {number}")
    status, message = add(benches, testId="one more").error
    assert status == 409
    assert message.endswith("remove one that is over")


def test_failures_are_known_in_the_list_and_by_themselves(benches: Benches) -> None:
    assert {row["known"] for row in failures(benches).values()} == {None}
    rule = added(benches, message="timeout after * s")

    rows = failures(benches)
    known = {name for name, row in rows.items() if row["known"]}
    assert known == {"uart.echo", "spi.echo"}
    label = rows["uart.echo"]["known"]
    assert (label["id"], label["ticket"]) == (rule["id"], BY["ticket"])
    assert label["says"] == f"known: {BY['ticket']} until {rule['until'][:10]}"
    assert failures(benches, "&known=true").keys() == known
    assert failures(benches, "&known=false").keys() == {"uart.long"}
    assert failures(benches, "&known=true&testId=spi.echo").keys() == {"spi.echo"}
    assert benches.member("GET", "ci-failures?known=true&limit=1").json["total"] == len(known)
    assert benches.member("GET", "ci-failures?known=yes").issue_paths == [["query", "known"]]
    evidence = benches.member("GET", f"ci-failures/{rows['uart.echo']['id']}").json
    assert evidence["failure"] == rows["uart.echo"]


def test_a_run_counts_its_known_failures_apart(benches: Benches) -> None:
    [run] = [run for run in benches.listed() if run["sha"] == BAD]
    assert benches.show(run["id"])["knownFailures"] == 0
    added(benches, testId="uart.*", boxKey=run["boxKey"])

    shown = benches.show(run["id"])
    assert (shown["tests"]["failed"], shown["knownFailures"]) == (3, 2)
    assert [item["id"] for item in shown["items"] if item["known"]] == ["uart.echo", "uart.long"]
    added(benches, message="timeout")
    assert benches.show(run["id"])["knownFailures"] == 3
    [passed] = [run for run in benches.listed() if run["sha"] == GOOD]
    assert benches.show(passed["id"])["knownFailures"] == 0


def test_a_commit_counts_its_known_failures_apart(benches: Benches) -> None:
    added(benches, testId="uart.*")
    path = f"ci-analysis/commit?repoKey=acme/firmware&sha={BAD}"
    answer = benches.member("GET", path).json
    assert answer["knownFailures"] == 2
    assert sum(count["failures"] for count in answer["counts"]) == 3
    known = {row["testId"] for row in answer["failures"] if row["known"]}
    assert known == {"uart.echo", "uart.long"}


def test_what_fails_after_the_end_of_a_rule_is_not_known(played: Benches) -> None:
    added(played, testId="uart.*", until=until(played, 1))
    played.hands.move(hours=25)
    fields = {"run_id": 90, "sha": "d" * 40, "tests": results("fail")}
    assert played.report(**fields).status == 204

    rows = played.member("GET", "ci-failures?testId=uart.echo").json["items"]
    assert [bool(row["known"]) for row in rows] == [False, True]
    [rule] = rules(played)
    assert played.member("DELETE", f"known-failures/{rule['id']}").status == 204


def test_nothing_that_the_specification_answers_changes_by_a_byte(benches: Benches) -> None:
    end = benches.hands.now.isoformat().replace("+00:00", "Z")
    paths = [
        *("ci-metrics", "ci-metrics/trend", "ci-metrics/real-bugs", "ci-metrics/other-failures"),
        *("ci-metrics/unchecked-merges", "ci-metrics/checked-merges"),
        *("ci-metrics/flakiest-tests", "ci-metrics/flakiest-tests/history"),
    ]

    def bodies() -> list[bytes]:
        return [benches.member("GET", f"{path}?asOf={end}").body for path in paths]

    def rows() -> list[str]:
        items = benches.member("GET", f"ci-failures?asOf={end}").json["items"]
        return [json.dumps({**item, "known": None}) for item in items]

    before = bodies(), rows()
    added(benches, testId="uart.*")
    assert (bodies(), rows()) == before


def test_who_has_the_list_gets_it_anew_after_a_rule(benches: Benches) -> None:
    server = benches.server
    path = f"/api/orgs/{server.org_id}/ci-failures"
    first = ask(server.url, "GET", path, bearer(benches.token))
    had = [bearer(benches.token), ("If-None-Match", first.headers["etag"])]
    assert ask(server.url, "GET", path, *had).status == 304
    added(benches, testId="uart.*")
    assert ask(server.url, "GET", path, *had).status == 200
