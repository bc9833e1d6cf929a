# SPDX-License-Identifier: Apache-2.0
"""CTRF: each status, the tries that are told, what tests are called, and files that are not so."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hwci.ci.results.model import BoxResults, FileResults, merged
from hwci.ci.results.read import ResultsFileError, read_results
from hwci.ci.results.verdicts import BUILT_IN

SAMPLES = Path(__file__).parent / "samples" / "ctrf"
BROKEN = (SAMPLES / "playwright-0.0.29.json").read_text()
FLASH = "Timeout during flashing"


def read(path: Path, *others: Path) -> BoxResults:
    return merged([read_results(file, BUILT_IN) for file in (path, *others)], without_secrets=str)


def case(name: str = "a", status: str = "passed", **fields: Any) -> dict[str, Any]:
    return {"name": name, "status": status, "duration": 500} | fields


def document(*tests: Any, **results: Any) -> dict[str, Any]:
    return {"reportFormat": "CTRF", "specVersion": "1.0.0", "results": {"tests": tests} | results}


def file_of(folder: Path, *tests: Any, **results: Any) -> FileResults:
    path = folder / "ctrf.json"
    path.write_text(json.dumps(document(*tests, **results)))
    return read_results(path, BUILT_IN)


def of(folder: Path, *tests: Any, **results: Any) -> BoxResults:
    return merged([file_of(folder, *tests, **results)], without_secrets=str)


def rows(results: BoxResults) -> list[tuple[str, str, int]]:
    return [(item.id, item.outcome.value, item.attempts) for item in results.tests]


def fault_of(folder: Path, content: str) -> str:
    path = folder / "ctrf.json"
    path.write_text(content)
    with pytest.raises(ResultsFileError) as caught:
        read_results(path, BUILT_IN)
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith(str(path))
    return line.removeprefix(str(path))


# What tools wrote


UART = [("echoes", "pass", 1), ("waits for CTS", "pass", 2), ("parity", "fail", 3)]


@pytest.mark.parametrize(
    ("tool", "tests"),
    [
        (
            "jest-0.0.11",
            [
                *((f"uart.test.js.uart flow {name}", *end) for name, *end in UART),
                ("uart.test.js.top", "pass", 1),
            ],
        ),
        (
            "mocha-0.0.11",
            [
                ("uart echoes", "pass", 1),
                ("uart waits", "pass", 2),
                ("uart parity", "fail", 3),
                ('uart hook "before all" hook for "never"', "fail", 1),
            ],
        ),
        (
            "vitest-1.3.0",
            [
                ("uart > echoes", "pass", 1),
                ("uart > waits", "pass", 2),
                ("uart > parity", "fail", 3),
            ],
        ),
        (
            "playwright-0.0.29",
            [
                (f"bench-1.uart.spec.ts.uart.{name}", *end)
                for name, *end in (*UART, ("hangs", "fail", 3))
            ],
        ),
    ],
)
def test_what_reporters_write_is_read_though_each_does_it_otherwise(
    tool: str, tests: list[tuple[str, str, int]]
) -> None:
    results = read(SAMPLES / f"{tool}.json")

    assert rows(results) == tests
    assert (results.skipped, results.missing) == (2, {})
    assert results.started_at is not None
    assert results.started_at.date().isoformat() == "2025-11-25"


def test_pytest_has_the_names_of_its_junit_xml() -> None:
    results = read(SAMPLES / "pytest-0.6.1.json")

    assert [(item.id, item.outcome.value, item.attempts) for item in results.tests[1:5]] == [
        ("hil.test_uart.TestUart.test_flow", "pass", 2),
        ("hil.test_uart.TestUart.test_parity", "fail", 3),
        ("hil.test_uart.TestUart.test_baud[9600]", "pass", 1),
        ("hil.test_uart.TestUart.test_baud[115200]", "fail", 1),
    ]
    parity = results.tests[2]
    assert parity.verdict == "infra"
    assert parity.duration_s == pytest.approx(0.009)
    assert results.started_at == datetime(2025, 11, 25, 11, 51, 38, 996_000, tzinfo=UTC)
    assert results.duration_s == pytest.approx(0.234)


def test_one_run_in_ctrf_and_in_junit_xml_counts_once(tmp_path: Path) -> None:
    xml = tmp_path / "out.xml"
    suite = '<testsuite name="pytest" timestamp="2025-11-25T11:51:38.996+00:00" time="0.234">'
    case_of = '<testcase classname="hil.test_uart.TestUart" name="{}" time="{}">{}</testcase>'
    xml.write_text(
        suite
        + case_of.format("test_echo", 0.001, "")
        + case_of.format("test_baud[115200]", 0.007, '<failure message="assert"/>')
        + "</testsuite>"
    )

    both = read(SAMPLES / "pytest-0.6.1.json", xml)

    assert rows(both) == rows(read(SAMPLES / "pytest-0.6.1.json"))
    assert "2 tests of it stand in" in both.notes[0]


# How a test ended


@pytest.mark.parametrize(
    ("status", "raw", "outcome", "skipped", "missing"),
    [
        ("passed", None, ["pass"], 0, []),
        ("failed", None, ["fail"], 0, []),
        ("skipped", "blocked", [], 1, []),
        ("pending", None, [], 1, []),
        ("other", "todo", [], 1, []),
        ("other", "timedOut", ["fail"], 0, []),
        ("other", "cancelled", [], 0, ["its status is other (cancelled)"]),
        ("other", "passed", [], 0, ["its status is other (passed)"]),
        ("other", "frobbed", [], 0, ["its status is other (frobbed)"]),
        ("other", None, [], 0, ["its status is other"]),
    ],
)
def test_what_no_status_says_to_have_passed_did_not(
    tmp_path: Path,
    status: str,
    raw: str | None,
    outcome: list[str],
    skipped: int,
    missing: list[str],
) -> None:
    results = of(tmp_path, case("a", status, rawStatus=raw), case("b"))

    assert [item.outcome.value for item in results.tests if item.id == "a"] == outcome
    assert (results.skipped, list(results.missing.values())) == (skipped, missing)
    assert results.succeeded is (status in {"passed", "skipped", "pending"} or raw == "todo")


def tried(number: int, status: str, **fields: Any) -> dict[str, Any]:
    return {"attempt": number, "status": status} | fields


FAILED = tried(1, "failed", duration=250, message=FLASH)


@pytest.mark.parametrize(
    ("status", "fields", "attempts"),
    [
        ("passed", {"retries": 0, "flaky": False}, 1),
        ("passed", {"retries": 2, "flaky": True}, 3),
        ("passed", {"retries": 2}, 3),
        ("passed", {"flaky": True}, 2),
        # Set up to be tried twice, and never tried again: else it would be flaky.
        ("passed", {"retries": 2, "flaky": False}, 1),
        ("passed", {"retryAttempts": [FAILED], "retries": 1}, 2),
        ("passed", {"retryAttempts": [FAILED, tried(2, "passed")], "retries": 1}, 2),
        ("passed", {"retryAttempts": [FAILED, tried(2, "passed")]}, 2),
        ("passed", {"retryAttempts": [], "retries": 1}, 2),
        ("failed", {"retries": 2, "flaky": False}, 3),
        ("failed", {"retryAttempts": [FAILED, FAILED], "retries": 2}, 3),
        ("failed", {"retryAttempts": [FAILED, tried(2, "failed")], "retries": 1}, 2),
        ("failed", {"retryAttempts": [tried(2, "failed", start=9), FAILED], "start": 9}, 2),
        ("failed", {"retryAttempts": [FAILED, tried(2, "skipped")], "retries": 2}, 2),
    ],
)
def test_tries_are_counted_whether_the_last_one_is_listed_or_not(
    tmp_path: Path, status: str, fields: dict[str, Any], attempts: int
) -> None:
    [row] = rows(of(tmp_path, case("a", status, **fields)))

    assert row == ("a", "pass" if status == "passed" else "fail", attempts)


def test_each_listed_try_has_its_time_and_its_verdict(tmp_path: Path) -> None:
    results = of(tmp_path, case("a", "failed", retryAttempts=[FAILED], message="no echo"))

    [item] = results.tests
    assert (item.verdict.value, item.message, item.duration_s) == ("infra", "no echo", 0.75)


def test_a_test_that_was_skipped_after_it_had_failed_failed(tmp_path: Path) -> None:
    results = of(tmp_path, case("a", "skipped", retryAttempts=[FAILED]))

    assert rows(results) == [("a", "fail", 1)]


def test_a_trace_stands_for_a_message_that_is_not_there(tmp_path: Path) -> None:
    results = of(tmp_path, case("a", "failed", trace=FLASH), case("b", "failed", message=None))

    assert [item.verdict.value for item in results.tests] == ["infra", "unknown"]
    assert [item.message for item in results.tests] == [FLASH, None]


def test_a_message_of_a_test_that_passed_blames_nobody(tmp_path: Path) -> None:
    [item] = of(tmp_path, case("a", "passed", message=FLASH)).tests

    assert (item.verdict.value, item.message) == ("unknown", None)


def test_extra_and_labels_hold_what_properties_hold_in_xml(tmp_path: Path) -> None:
    verdict = {"hwci.verdict": "device"}
    tests = [
        case("a", "failed", message=FLASH, extra=verdict),
        case("b", "failed", labels=verdict),
        case("c", "failed", message=FLASH, extra={"hwci.verdict": "me"}),
        case("d", "passed", extra=[1], labels="x"),
    ]

    file = file_of(tmp_path, *tests)

    verdicts = [item.verdict.value for item in merged([file]).tests]
    assert verdicts == ["device", "device", "infra", "unknown"]
    [line] = file.faults
    assert "hwci.verdict of 'c' is 'me', which is none. Write one of device, infra" in line


# What a test is called


@pytest.mark.parametrize(
    ("name", "suite", "test_id"),
    [
        ("echoes", ["uart", "flow"], "uart.flow.echoes"),
        ("echoes", "uart > flow", "uart.flow.echoes"),
        ("uart flow echoes", ["file", "uart", "flow"], "file.uart flow echoes"),
        ("uart::echoes", ["uart"], "uart::echoes"),
        ("uart > echoes", "uart > echoes", "uart > echoes"),
        ("uart_echoes", ["uart"], "uart.uart_echoes"),
        ("echoes", None, "echoes"),
        ("echoes", [], "echoes"),
    ],
)
def test_a_test_is_called_by_its_suites_and_its_name(
    tmp_path: Path, name: str, suite: Any, test_id: str
) -> None:
    assert rows(of(tmp_path, case(name, suite=suite))) == [(test_id, "pass", 1)]


@pytest.mark.parametrize("root", ["/builds/1/", "/home/ci/work 2/", "C:\\ci\\3\\"])
def test_files_tell_tests_of_one_name_apart_wherever_the_checkout_is(
    tmp_path: Path, root: str
) -> None:
    by_name = [f"{root}hil/uart.js", f"{root}hil/can.js"]
    by_folder = [f"{root}hil/uart/index.js", f"{root}hil/can/index.js"]

    names = [
        [item.id for item in of(tmp_path, *(case("a", filePath=path) for path in paths)).tests]
        for paths in (by_name, by_folder)
    ]

    assert names == [["uart.js.a", "can.js.a"], ["uart.index.js.a", "can.index.js.a"]]


@pytest.mark.parametrize("fields", [{"device": "{}"}, {"extra": {"Board-Name": "/dev/{}"}}])
def test_a_pass_on_one_board_heals_no_failure_on_another(
    tmp_path: Path, fields: dict[str, Any]
) -> None:
    one, two = (json.loads(json.dumps(fields).replace("{}", name)) for name in ("one", "two"))

    results = of(tmp_path, case("a", **one), case("a", "failed", **two))

    assert rows(results) == [("one.a", "pass", 1), ("two.a", "fail", 1)]


def test_a_test_that_stands_there_twice_passed_if_it_did_each_time(tmp_path: Path) -> None:
    results = of(tmp_path, case("a"), case("a", "failed"), case("a"))

    assert rows(results) == [("a", "fail", 1)]
    assert "1 test ran several times" in results.notes[0]


# What else it says


def test_a_summary_that_counts_more_failures_than_its_tests_show_is_a_fault(
    tmp_path: Path,
) -> None:
    file = file_of(tmp_path, case("a", "failed"), case("b"), summary={"failed": 2})

    assert "Its summary counts 2 failures, its tests show 1. Look at its log" in file.faults[0]
    assert file_of(tmp_path, case("a", "failed"), summary={"failed": 1}).faults == ()


@pytest.mark.parametrize(
    ("summary", "tests", "started", "lasted"),
    [
        ({"start": 1772442930000, "stop": 1772442932500}, [case()], 1772442930, 2.5),
        ({"start": 1772442930000.5, "stop": None}, [case()], 1772442930, 0.5),
        ({"start": 1000, "stop": 1250}, [case()], None, 0.25),
        ({"start": 1772442930000, "stop": 1}, [case(), case("b")], 1772442930, 1),
        ({"start": 0, "stop": 10**300}, [case()], None, 0.5),
        ({}, [case(start=1772442930)], 1772442930, 0.5),
        ({}, [case(start=[1])], None, 0.5),
    ],
)
def test_a_run_began_and_lasted_as_its_summary_has_it_else_its_tests(
    tmp_path: Path,
    summary: dict[str, Any],
    tests: list[dict[str, Any]],
    started: int | None,
    lasted: float,
) -> None:
    file = file_of(tmp_path, *tests, summary=summary)

    at = None if started is None else datetime.fromtimestamp(started, UTC)
    assert (file.started_at, file.duration_s) == (at, lasted)


@pytest.mark.parametrize("duration", [-5, 10**308, 10**4000, "x", None, [[1]], "Infinity"])
def test_a_duration_that_no_clock_measured_is_none(tmp_path: Path, duration: Any) -> None:
    [item] = of(tmp_path, case(duration=duration)).tests

    assert item.duration_s == 0


def test_a_test_may_take_a_day(tmp_path: Path) -> None:
    assert of(tmp_path, case(duration=86_400_000)).tests[0].duration_s == 86_400


def test_characters_that_no_text_can_hold_lose_no_test(tmp_path: Path) -> None:
    results = of(tmp_path, case("\ud800", "failed", message="\udcff"), case("b"))

    assert rows(results) == [("\ufffd", "fail", 1), ("b", "pass", 1)]


def test_documents_from_before_the_format_had_a_name_are_read(tmp_path: Path) -> None:
    path = tmp_path / "ctrf.json"
    path.write_text(json.dumps({"results": {"tool": {"name": "go"}, "tests": [case()]}}))

    assert rows(read(path)) == [("a", "pass", 1)]


# Files that are not as they should be


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"results": {"tests": 3}}, "It is not as CTRF has it: results.tests: Input should be"),
        ({"results": {"tests": [{}]}}, "It is not as CTRF has it: results.tests.0.status: Field"),
        ({"results": {"tests": [case("")]}}, "results.tests.0.name: Value should have at least 1"),
        ({"results": {"tests": [case("a", "odd")]}}, "results.tests.0.status: Input should be"),
        ({"results": {"tests": [case(retries=-1)]}}, "results.tests.0.retries: Input should be"),
        ({"results": {"tests": [case(retries=10**9)]}}, "results.tests.0.retries: Input should be"),
        (
            {"results": {"tests": [case(retryAttempts=[FAILED] * 1_001)]}},
            "results.tests.0.retryAttempts: Value should have at most 1000",
        ),
        (
            {"results": {"tests": [case(suite=["a"] * 101)]}},
            "results.tests.0.suite: Value should have at most 100",
        ),
        ({"results": {"tests": [case(flaky="x")]}}, "results.tests.0.flaky: Input should be"),
        ({"results": {"tests": [case(suite=3)]}}, "results.tests.0.suite: Input should be"),
        ({"results": {}}, "It is JSON without results of a known format. Give JUnit"),
        ({"results": [1]}, "It is JSON without results of a known format. Give JUnit"),
        ({"reportFormat": "other"}, "It is JSON without results of a known format. Give JUnit"),
        ({"reportFormat": ["CTRF"]}, "It is JSON without results of a known format. Give JUnit"),
        ({"specVersion": "2.0.0"}, "It is CTRF of the later version 2.0.0. Update hwci"),
        ({"specVersion": "10.1.0"}, "It is CTRF of the later version 10.1.0. Update hwci"),
    ],
)
def test_what_is_not_so_is_one_line(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    assert message in fault_of(tmp_path, json.dumps(document(case()) | change))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("[" * 100_000, "Its JSON cannot be read"),
        ("9" * 5_000, "Its JSON cannot be read (Exceeds the limit"),
        ("[" * 900 + "]" * 900, "Input should be 'passed'"),
    ],
)
def test_nothing_is_too_deep_or_too_large_to_be_a_line(
    tmp_path: Path, value: str, message: str
) -> None:
    content = json.dumps(document(case(status="X"))).replace('"X"', value)

    assert message in fault_of(tmp_path, content)


@pytest.mark.parametrize(
    "name",
    ["duration", "start", "extra", "labels", "message", "trace", "rawStatus", "filePath", "device"],
)
def test_what_is_nested_deeply_where_it_does_not_count_costs_no_test(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / "ctrf.json"
    deep = "[" * 900 + "]" * 900
    path.write_text(json.dumps(document(case(**{name: "X"}))).replace('"X"', deep))

    assert rows(read(path)) == [("a", "pass", 1)]


def test_tests_before_a_file_breaks_off_count(tmp_path: Path) -> None:
    """At whatever place: what counts is the beginning of what the whole file says."""
    whole = rows(read(SAMPLES / "playwright-0.0.29.json"))
    path = tmp_path / "ctrf.json"
    counts = set()
    for end in range(BROKEN.index('"waits for CTS"'), len(BROKEN.rstrip()) - 1, 13):
        path.write_text(BROKEN[:end])
        file = read_results(path, BUILT_IN)
        result = rows(merged([file]))
        assert result == whole[: len(result)]
        counts.add(len(result))
        [line] = file.faults
        assert "before that counted; what follows is lost" in line
    assert counts == {1, 2, 3, 4}


def test_a_file_that_breaks_off_before_its_first_test_holds_nothing(tmp_path: Path) -> None:
    first = BROKEN.index("}", BROKEN.index('"tests": [') + 1)
    for end in range(1, first, 7):
        assert "Its JSON is broken" in fault_of(tmp_path, BROKEN[:end])


def test_a_later_member_still_counts_where_a_file_breaks_off(tmp_path: Path) -> None:
    path = tmp_path / "ctrf.json"
    whole = json.dumps(document(case("x::a"), tool={"name": "pytest"}))
    path.write_text(f'{whole[:-1]}, "extra": {{')

    assert rows(read(path)) == [("x.a", "pass", 1)]
