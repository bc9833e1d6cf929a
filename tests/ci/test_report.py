# SPDX-License-Identifier: Apache-2.0
"""What a job knows and what its files say become reports; what is missing is filled in."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from hwci.ci.reporting.report import (
    part_run_id,
    run_reports,
    written_reports,
)
from hwci.ci.results.model import BoxResults, FileResults, merged
from hwci.contract.vocabulary import Outcome, Trigger
from hwci.wire.reports import Changes, CommitItem, RunReport, TestItem

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
HALF_AN_HOUR = timedelta(minutes=30)
HEAD: dict[str, Any] = {
    "repo_key": "firmware",
    "workflow": "hil",
    "run_id": 41,
    "run_attempt": 1,
    "trigger": Trigger.MERGE,
    "branch": "main",
    "sha": "0123abc",
    "conclusion": "success",
}


def results(size: int = 1, started_at: datetime | None = NOON) -> BoxResults:
    tests = [
        TestItem(id=f"t{index}", outcome=Outcome.PASS, attempts=1, duration_s=0.5)
        for index in range(size)
    ]
    return BoxResults(tests, 0, started_at, 90.0)


def test_missing_times_come_from_the_files() -> None:
    (report,) = run_reports(HEAD, {"bench": results()})

    assert report.started_at == NOON
    assert report.ended_at == NOON + timedelta(seconds=90)


def test_times_that_were_given_stand() -> None:
    given = HEAD | {"started_at": NOON - timedelta(hours=1), "ended_at": NOON}

    (report,) = run_reports(given, {"bench": results()})

    assert (report.started_at, report.ended_at) == (given["started_at"], NOON)


def test_a_missing_end_follows_the_given_start() -> None:
    given = HEAD | {"started_at": NOON - timedelta(hours=1)}

    (report,) = run_reports(given, {"bench": results(started_at=None)})

    assert report.ended_at == NOON - timedelta(hours=1) + timedelta(seconds=90)


def test_a_run_that_waited_for_its_bench_ended_when_its_tests_did() -> None:
    """Azure says when the pipeline started, GitLab when the job did."""
    waited = HEAD | {"started_at": NOON - timedelta(hours=3)}

    (report,) = run_reports(waited, {"bench": replace(results(), ran_until=NOON + HALF_AN_HOUR)})

    assert (report.started_at, report.ended_at) == (waited["started_at"], NOON + HALF_AN_HOUR)


def test_files_end_where_their_tests_did_and_no_later_than_they_were_written() -> None:
    first = FileResults([], 0, NOON, 60.0, written_at=NOON + timedelta(days=9))
    later = replace(first, started_at=NOON + HALF_AN_HOUR)
    east = replace(first, started_at=NOON + timedelta(hours=5), written_at=NOON + HALF_AN_HOUR)
    untold = replace(first, started_at=None)

    ends = [merged(files).ran_until for files in ([first, later], [east], [untold])]

    assert ends == [NOON + timedelta(minutes=31), NOON + HALF_AN_HOUR, None]


@pytest.mark.parametrize(
    ("said", "size", "expected"),
    [(None, 1, True), (None, 0, True), (False, 1, False), (True, 0, True)],
)
def test_results_blame_no_bench_unless_the_check_is_reported_as_failed(
    said: bool | None, size: int, expected: bool
) -> None:
    head = HEAD if said is None else HEAD | {"hello_ok": said}

    (report,) = run_reports(head, {"bench": results(size)})

    assert report.hello_ok is expected


def test_each_box_has_its_own_report() -> None:
    reports = run_reports(HEAD, {"a": results(2), "b": results(1, NOON + timedelta(minutes=1))})

    assert [(report.box_key, report.started_at, len(report.tests)) for report in reports] == [
        ("a", NOON, 2),
        ("b", NOON + timedelta(minutes=1), 1),
    ]


def test_each_part_of_a_large_report_carries_changes_and_covered_commits() -> None:
    changes = Changes(
        base_sha=None, commits=[CommitItem(sha="0123abc", subject="fix", files=["a.c"])]
    )
    head = HEAD | {"changes": changes, "covers_shas": ["0123abc", "9876fed"]}

    reports = run_reports(head, {"bench": results(1_001)})

    assert [len(report.tests) for report in reports] == [1_000, 1]
    assert {report.run_attempt for report in reports} == {1}
    for report in reports:
        assert report.changes == changes
        assert report.covers_shas == ["0123abc", "9876fed"]
        assert report.part_of is not None
        assert (report.part_of.run_id, report.part_of.parts) == (41, 2)
    assert [report.run_id for report in reports] == [41, reports[1].run_id]
    assert reports[1].run_id not in {41, 0}


def test_missing_fields_are_not_sent_and_a_null_base_is() -> None:
    head = HEAD | {"changes": Changes(base_sha=None, commits=[])}

    (report,) = run_reports(head, {"bench": results()})
    sent = report.model_dump(mode="json", exclude_unset=True)

    assert "suite" not in sent
    assert "covers_shas" not in sent
    assert "part_of" not in sent
    assert sent["changes"] == {"base_sha": None, "commits": []}


def test_what_is_sent_reads_back_as_the_same_report() -> None:
    (report,) = run_reports(HEAD, {"bench": results(3)})

    assert RunReport.model_validate_json(report.model_dump_json(exclude_unset=True)) == report


def test_a_head_that_breaks_the_field_rules_is_refused_here() -> None:
    with pytest.raises(ValidationError, match="sha"):
        run_reports(HEAD | {"sha": "not a commit"}, {"bench": results()})


# A body that was written whole


def written(size: int, **fields: object) -> dict[str, Any]:
    (report,) = run_reports(HEAD, {"bench": results(0)})
    tests = [
        {"id": f"t{index}", "outcome": "pass", "attempts": 1, "duration_s": 0.5}
        for index in range(size)
    ]
    plain = report.model_dump(mode="json", exclude_unset=True)
    return {**plain, "hello_ok": True, "tests": tests, **fields}


def sent(body: dict[str, Any]) -> list[dict[str, Any]]:
    reports = written_reports(json.dumps(body).encode())
    return [report.model_dump(mode="json", exclude_unset=True) for report in reports]


def faults(body: dict[str, Any]) -> list[tuple[int | str, ...]]:
    with pytest.raises(ValidationError) as raised:
        sent(body)
    return [fault["loc"] for fault in raised.value.errors()]


@pytest.mark.parametrize("size", [0, 1_000])
def test_a_body_of_at_most_1000_tests_is_sent_as_it_was_written(size: int) -> None:
    body = written(size, suite="sensor-fw", covers_shas=["0123abc"], changes=None)

    assert sent(body) == [body]


def test_a_larger_one_is_cut_as_results_are_and_each_part_carries_the_rest() -> None:
    changes: dict[str, object] = {"base_sha": None, "commits": []}
    body = written(2_001, changes=changes, covers_shas=["0123abc", "9876fed"])

    parts = sent(body)

    assert [test for part in parts for test in part["tests"]] == body["tests"]
    assert [len(part["tests"]) for part in parts] == [1_000, 1_000, 1]
    assert [part["run_id"] for part in parts] == [41, part_run_id(41, 2), part_run_id(41, 3)]
    for number, part in enumerate(parts, start=1):
        own = {
            "run_id": part["run_id"],
            "tests": part["tests"],
            "part_of": {"run_id": 41, "part": number, "parts": 3},
        }
        assert part == {**body, **own}


def test_faults_are_placed_in_the_body_as_it_was_written() -> None:
    body = written(2_500, sha="no commit")
    body["tests"][2_345]["outcome"] = "skip"
    body["tests"][2_400]["id"] = "t7"
    del body["tests"][2_499]["attempts"]

    assert sorted(map(str, faults(body))) == [
        "('sha',)",
        "('tests', 2345, 'outcome')",
        "('tests', 2400, 'id')",
        "('tests', 2499, 'attempts')",
    ]


def test_a_part_that_someone_else_cut_has_to_fit_one_report() -> None:
    part_of = {"run_id": 41, "part": 1, "parts": 2}

    assert sent(written(1_000, part_of=part_of)) == [written(1_000, part_of=part_of)]
    assert faults(written(1_001, part_of=part_of)) == [("tests",)]
    assert len(sent(written(1_001, part_of=None))) == 2


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff"])
def test_what_is_no_body_at_all_is_refused(body: bytes) -> None:
    with pytest.raises(ValidationError):
        written_reports(body)
