# SPDX-License-Identifier: Apache-2.0
"""`twister.json`: each status of Twister's, and what its XML cannot say."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hwci.ci.results import BoxResults, merged
from hwci.ci.results_file import ResultsFileError, read_results
from hwci.ci.verdicts import BUILT_IN

SAMPLE = Path(__file__).parent / "samples" / "twister.json"


def read(path: Path) -> BoxResults:
    return merged([read_results(path, BUILT_IN)])


def suite(**fields: Any) -> dict[str, Any]:
    return {
        "name": "tests/a/a.b",
        "platform": "frdm_k64f/mk64f12",
        "runnable": True,
        "retries": 0,
        "execution_time": "1.00",
        "testcases": [],
    } | fields


def case(name: str, status: str | None, **fields: Any) -> dict[str, Any]:
    return {"identifier": name, "status": status, "execution_time": "0.50"} | fields


def of(tmp_path: Path, *suites: dict[str, Any]) -> BoxResults:
    path = tmp_path / "twister.json"
    path.write_text(json.dumps({"environment": {}, "testsuites": suites}))
    return read(path)


def rows(results: BoxResults) -> list[tuple[str, str, int]]:
    return [(item.id, item.outcome.value, item.attempts) for item in results.tests]


def test_twisters_own_file_is_read_by_its_statuses() -> None:
    results = read(SAMPLE)

    assert [(item.id, item.outcome.value, item.verdict.value) for item in results.tests] == [
        ("kernel.common.mutex.lock", "pass", "unknown"),
        ("kernel.common.mutex.unlock", "fail", "device"),
        ("kernel.fpu.sharing", "fail", "infra"),
        ("kernel.fpu.saving", "fail", "infra"),
        ("sample.hello", "pass", "unknown"),
        ("boot.mcuboot", "fail", "infra"),
    ]
    assert results.skipped == 4
    assert results.unbuilt == 1
    assert results.started_at == datetime(2025, 11, 25, 12, 23, 59, tzinfo=UTC)
    assert results.duration_s == pytest.approx(127.19)


def test_a_suite_of_one_test_was_tried_as_often_as_it_was_tried_again() -> None:
    [hello] = [item for item in read(SAMPLE).tests if item.id == "sample.hello"]

    assert hello.attempts == 3


def test_which_of_many_tests_failed_before_is_not_invented(tmp_path: Path) -> None:
    cases = [case("a.b.one", "passed"), case("a.b.two", "passed")]

    results = of(tmp_path, suite(status="passed", retries=2, testcases=cases))

    assert rows(results) == [("a.b.one", "pass", 1), ("a.b.two", "pass", 1)]


def test_a_blocked_test_is_left_out_where_another_tells_what_happened(tmp_path: Path) -> None:
    cases = [case("a.b.one", "started"), case("a.b.two", "blocked")]

    results = of(tmp_path, suite(status="failed", reason="Timeout", testcases=cases))

    assert rows(results) == [("a.b.one", "fail", 1)]
    assert results.skipped == 1


def test_a_device_that_never_spoke_fails_every_test_of_its_suite(tmp_path: Path) -> None:
    cases = [case("a.b.one", "blocked"), case("a.b.two", "blocked")]

    results = of(tmp_path, suite(status="failed", reason="Timeout", testcases=cases))

    assert rows(results) == [("a.b.one", "fail", 1), ("a.b.two", "fail", 1)]
    assert {item.verdict.value for item in results.tests} == {"unknown"}


def test_a_reason_of_the_test_itself_goes_before_that_of_its_suite(tmp_path: Path) -> None:
    cases = [case("a.b.one", "failed", reason="RunID mismatch")]

    results = of(tmp_path, suite(status="failed", reason="Testsuite failed", testcases=cases))

    assert results.tests[0].verdict == "unknown"


def test_a_test_that_was_only_built_did_not_run(tmp_path: Path) -> None:
    cases = [case("a.b.one", "passed")]

    results = of(tmp_path, suite(status="passed", runnable=False, testcases=cases))

    assert (rows(results), results.skipped) == ([], 1)


def test_boards_of_one_file_do_not_try_each_others_tests_again(tmp_path: Path) -> None:
    results = of(
        tmp_path,
        suite(platform="one", testcases=[case("a.b.c", "passed")]),
        suite(platform="two", testcases=[case("a.b.c", "failed")]),
    )

    assert rows(results) == [("one.a.b.c", "pass", 1), ("two.a.b.c", "fail", 1)]


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({"testsuites": [{}]}, "It is not as Twister writes it: testsuites.0.name: Field required"),
        ({"testsuites": 3}, "It is not as Twister writes it: testsuites: "),
        (
            {"testsuites": [{"name": "a", "testcases": [{"identifier": "b", "status": "odd"}]}]},
            "The status of 'b' is 'odd'. No Twister is known to write that",
        ),
    ],
)
def test_what_twister_does_not_write_is_told(
    tmp_path: Path, document: dict[str, Any], told: str
) -> None:
    path = tmp_path / "twister.json"
    path.write_text(json.dumps(document))

    with pytest.raises(ResultsFileError) as caught:
        read(path)

    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
