# SPDX-License-Identifier: Apache-2.0
"""`twister.json`: each status of Twister's, and what its XML cannot say."""

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hwci.ci.results.model import BoxResults, merged
from hwci.ci.results.read import ResultsFileError, read_results
from hwci.ci.results.verdicts import BUILT_IN

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


def test_a_blocked_test_is_left_out_where_another_shows_what_happened(tmp_path: Path) -> None:
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
    ("document", "message"),
    [
        ({"testsuites": [{}]}, "It is not as Twister writes it: testsuites.0.name: Field required"),
        ({"testsuites": 3}, "It is not as Twister writes it: testsuites: "),
        (
            {"testsuites": [{"name": "a", "testcases": [{"identifier": "b", "status": "odd"}]}]},
            "The status of 'b' is 'odd'. No Twister is known to write that",
        ),
    ],
)
def test_what_twister_does_not_write_is_an_error(
    tmp_path: Path, document: dict[str, Any], message: str
) -> None:
    path = tmp_path / "twister.json"
    path.write_text(json.dumps(document))

    with pytest.raises(ResultsFileError) as caught:
        read(path)

    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_suite_that_failed_without_its_tests_is_noted(tmp_path: Path) -> None:
    """As when a device crashed after its tests: no field names the test."""
    path = tmp_path / "twister.json"
    failed = suite(status="failed", reason="Fault", testcases=[case("a.b.one", "passed")])
    fine = suite(name="tests/c/c.d", status="passed", testcases=[case("c.d.one", "passed")])
    path.write_text(json.dumps({"testsuites": [failed, fine]}))

    read = read_results(path, BUILT_IN)

    assert rows(merged([read])) == [("a.b.one", "pass", 1), ("c.d.one", "pass", 1)]
    [line] = read.faults
    assert line.startswith(f"{path}: The suite 'tests/a/a.b' failed ('Fault'), and none of its")


def test_tests_without_a_status_did_not_begin_where_their_suite_failed(tmp_path: Path) -> None:
    cases = [case("a.b.one", None), case("a.b.two", None)]

    failed = of(tmp_path, suite(status="failed", reason="Timeout during flashing", testcases=cases))
    result = of(tmp_path, suite(status="failed", testcases=[*cases, case("a.b.three", "failed")]))
    idle = of(tmp_path, suite(status=None, testcases=cases))

    assert rows(failed) == [("a.b.one", "fail", 1), ("a.b.two", "fail", 1)]
    assert {item.verdict.value for item in failed.tests} == {"infra"}
    assert (rows(result), result.skipped) == ([("a.b.three", "fail", 1)], 2)
    assert (rows(idle), idle.skipped) == ([], 2)


def test_characters_that_no_text_can_hold_lose_no_test(tmp_path: Path) -> None:
    odd = case("a.b.\ud800", "failed", reason="got \udcff and Timeout during flashing")

    results = of(tmp_path, suite(testcases=[odd, case("a.b.two", "passed")]))

    assert rows(results) == [("a.b.\ufffd", "fail", 1), ("a.b.two", "pass", 1)]
    assert results.tests[0].verdict == "infra"


def test_durations_that_no_clock_measured_are_not_added_up(tmp_path: Path) -> None:
    cases = [case("a.b.one", "passed", execution_time="1e308")] * 2

    [item] = of(tmp_path, suite(testcases=cases)).tests

    assert (item.attempts, item.duration_s) == (1, 0.0)


BROKEN = SAMPLE.read_text()


def test_suites_before_a_file_breaks_off_count(tmp_path: Path) -> None:
    """At whatever place: what counts is the beginning of what the whole file says."""
    whole = rows(read(SAMPLE))
    path = tmp_path / "twister.json"
    first = BROKEN.index('"samples/hello')
    counts = set()
    for end in range(first, len(BROKEN.rstrip()) - 1, 7):
        path.write_text(BROKEN[:end])
        found = read_results(path, BUILT_IN)
        result = rows(merged([found]))
        assert result == whole[: len(result)]
        counts.add(len(result))
        assert found.started_at == datetime(2025, 11, 25, 12, 23, 59, tzinfo=UTC)
        [line] = found.faults
        assert line.startswith(f"{path}:")
        assert "before that counted; what follows is lost" in line
    assert counts == {4, 5, 6}


@pytest.mark.parametrize("end", ['"testsuites"', '"tests/kernel/common', '"tests/kernel/fpu'])
def test_a_file_that_breaks_off_in_its_first_suite_holds_nothing(tmp_path: Path, end: str) -> None:
    path = tmp_path / "twister.json"
    path.write_text(BROKEN[: BROKEN.index(end)].rpartition("}")[0])

    with pytest.raises(ResultsFileError, match="Its JSON is broken"):
        read(path)


def test_a_broken_suite_costs_itself_and_what_stands_behind_it(tmp_path: Path) -> None:
    path = tmp_path / "twister.json"
    path.write_text(BROKEN.replace('"name":"samples/hello/sample.hello",', '"name":sample.hello,'))

    found = read_results(path, BUILT_IN)

    assert [item.id for item in merged([found]).tests] == [item.id for item in read(SAMPLE).tests][
        :4
    ]
    assert found.faults[0].startswith(
        f"{path}:33:20: Its JSON is broken: Expecting value: 2 suites"
    )


def test_suites_of_a_gzip_file_that_was_cut_short_count(tmp_path: Path) -> None:
    path = tmp_path / "twister.json.gz"
    suites = [suite(name=f"tests/a/{at:064x}", testcases=[case("b", "passed")]) for at in range(99)]
    packed = gzip.compress(json.dumps({"testsuites": suites}).encode())
    path.write_bytes(packed[: len(packed) * 3 // 4])

    found = read_results(path, BUILT_IN)

    assert 0 < len(found.attempts) < 99
    assert "It is a gzip file that was cut short: " in found.faults[0]
