# SPDX-License-Identifier: Apache-2.0
"""Result files as test runners write them, and as they arrive when something went wrong."""

import gzip
import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwci.ci.results.model import BoxResults, FileResults, merged
from hwci.ci.results.places import Attempt
from hwci.ci.results.read import ResultsFileError, read_results
from hwci.ci.results.verdicts import BUILT_IN
from hwci.ci.results.xml import escaping, junit
from hwci.contract.vocabulary import Verdict
from tests.ci.result_files import written

SAMPLES = Path(__file__).parent / "samples"

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return partial(written, tmp_path)


def read(path: Path) -> FileResults:
    return read_results(path, BUILT_IN)


def results_of(*names: str) -> BoxResults:
    return merged([read(SAMPLES / name) for name in names])


def rows(results: BoxResults) -> list[tuple[str, str, int]]:
    return [(item.id, item.outcome.value, item.attempts) for item in results.tests]


def fault_of(path: Path) -> str:
    with pytest.raises(ResultsFileError) as caught:
        read(path)
    return str(caught.value)


def test_pytest_results_are_read_and_its_empty_retries_are_failures() -> None:
    results = results_of("pytest.xml")

    assert rows(results) == [
        ("tests.test_uart.TestUart.test_loopback[115200]", "pass", 1),
        ("tests.test_uart.TestUart.test_break", "fail", 1),
        ("tests.test_flash.test_erase", "fail", 1),
        ("tests.test_spi.test_retried", "pass", 2),
        ("tests.test_spi.test_always_failing", "fail", 3),
    ]
    assert [item.verdict.value for item in results.tests if item.outcome == "fail"] == [
        "device",
        "unknown",
        "unknown",
    ]
    assert (results.skipped, results.succeeded) == (1, False)
    assert results.started_at == datetime(2026, 3, 2, 9, 15, 30, 250000, tzinfo=UTC)
    assert results.duration_s == 7.25


def test_googletest_leaves_disabled_tests_out_and_the_earliest_suite_is_the_start() -> None:
    results = results_of("googletest.xml")

    assert rows(results) == [
        ("Timer.TimerStarts", "pass", 1),
        ("Timer.Wraps", "fail", 1),
        ("Gpio.Toggles", "pass", 1),
    ]
    assert results.skipped == 1
    assert results.started_at == datetime(2026, 3, 2, 8, 59, 59, 900000, tzinfo=UTC)
    assert results.duration_s == pytest.approx(0.035)


def test_ctest_writes_one_suite_and_thousands_with_a_comma() -> None:
    results = results_of("ctest.xml")

    assert rows(results) == [("boot", "pass", 1), ("watchdog", "fail", 1)]
    assert [item.duration_s for item in results.tests] == [1230.25, 4.25]
    assert results.skipped == 2
    assert results.duration_s == 1234.5


def test_twister_names_tests_after_their_class_and_means_utc() -> None:
    results = results_of("twister.xml")

    assert rows(results) == [
        ("boot.mcuboot", "fail", 1),
        ("kernel.common.mutex.lock", "pass", 1),
        ("kernel.common.mutex.unlock", "fail", 1),
    ]
    assert results.started_at == datetime(2025, 11, 25, 12, 23, 59, 792861, tzinfo=UTC)
    assert results.duration_s == 90.5


def test_surefire_keeps_earlier_attempts_inside_the_test_and_suites_nest() -> None:
    results = results_of("surefire.xml")

    assert rows(results) == [
        ("a.B.flaky", "pass", 3),
        ("a.B.broken", "fail", 2),
        ("nested.no classname", "pass", 1),
    ]
    assert results.started_at is None
    assert results.duration_s == 3


def test_what_failed_and_is_all_that_a_later_file_holds_was_tried_again(write: Write) -> None:
    again = write(
        '<testsuite name="Linux-c++"><testcase classname="" name="watchdog" time="1"/></testsuite>'
    )

    results = merged([read(SAMPLES / "ctest.xml"), read(again)])

    assert rows(results) == [("boot", "pass", 1), ("watchdog", "pass", 2)]
    assert results.tests[1].duration_s == 5.25


def test_a_pass_that_is_given_twice_is_no_retry(write: Write) -> None:
    """GoogleTest repeats what passed, and a file may be named twice."""
    case = '<testcase name="a" time="2"/>'
    once = read(write(f'<testsuite name="x">{case}</testsuite>'))
    twice = read(write(f'<testsuite name="x">{case}{case}</testsuite>'))

    assert rows(merged([once, once])) == [("x.a", "pass", 1)]
    assert rows(merged([twice])) == [("x.a", "pass", 1)]
    assert merged([twice]).tests[0].duration_s == 4


@pytest.mark.parametrize("failed_at", range(3))
def test_a_repeat_that_failed_fails_its_test(write: Write, failed_at: int) -> None:
    cases = [f'<testcase name="a">{"<failure/>" * (at == failed_at)}</testcase>' for at in range(3)]
    results = merged([read(write(f'<testsuite name="x">{"".join(cases)}</testsuite>'))])

    assert rows(results) == [("x.a", "fail", 1)]
    [note] = results.notes
    assert note == (
        "1 test ran several times, and nothing tells the runs apart or says that they are tries:"
        " each passed only if it did every time (first: x.a, 3 times)."
    )


def test_a_gzipped_file_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    path = tmp_path / "results.xml"
    path.write_bytes(gzip.compress((SAMPLES / "ctest.xml").read_bytes()))

    assert rows(merged([read(path)])) == rows(results_of("ctest.xml"))


@pytest.mark.parametrize("time", ["", "soon", "-3", "nan", "inf", "1e999", "1e308"])
def test_a_duration_that_is_none_is_zero(write: Write, time: str) -> None:
    path = write(f'<testsuite name="x"><testcase name="a" time="{time}"/></testsuite>')

    assert read(path).attempts[0].duration_s == 0


@pytest.mark.parametrize("timestamp", ["", "yesterday", "2026-02-30T00:00:00", "2026-03-02"])
def test_a_timestamp_that_is_none_is_left_out(write: Write, timestamp: str) -> None:
    path = write(f'<testsuite name="x" timestamp="{timestamp}"><testcase name="a"/></testsuite>')

    assert read(path).started_at is None


def test_a_suite_without_time_lasts_as_long_as_its_tests(write: Write) -> None:
    path = write(
        '<testsuites><testsuite name="x"><testcase name="a" time="1.5"/></testsuite>'
        '<testsuite name="y"><testcase name="b" time="2"/></testsuite></testsuites>'
    )

    assert read(path).duration_s == 3.5


@pytest.mark.parametrize("word", ['status="notrun"', 'status="disabled"', 'result="skipped"'])
def test_a_test_that_was_listed_and_not_run_is_left_out(write: Write, word: str) -> None:
    path = write(f'<testsuite name="x"><testcase name="a" {word}/></testsuite>')

    assert read(path).attempts == []
    assert read(path).skipped == 1


def test_a_skipped_test_with_a_failure_failed(write: Write) -> None:
    path = write('<testsuite name="x"><testcase name="a"><skipped/><error/></testcase></testsuite>')

    assert rows(merged([read(path)])) == [("x.a", "fail", 1)]


def test_a_passed_test_carries_no_verdict(write: Write) -> None:
    blamed = '<properties><property name="hwci.verdict" value="infra"/></properties>'
    path = write(f'<testsuite name="x"><testcase name="a">{blamed}</testcase></testsuite>')

    item = merged([read(path)]).tests[0]

    assert "verdict" not in item.model_dump(exclude_unset=True)


def test_the_last_attempt_that_blames_decides_the_verdict(write: Write) -> None:
    def tried(verdict: str) -> str:
        blamed = f'<properties><property name="hwci.verdict" value="{verdict}"/></properties>'
        return f'<testcase name="a"><failure/>{blamed}</testcase>'

    path = write(
        f'<testsuite name="x">{tried("infra")}{tried("device")}'
        '<testcase name="a"><failure/></testcase></testsuite>'
    )

    assert merged([read(path)]).tests[0].verdict == "device"


@pytest.mark.parametrize(
    ("name", "place", "message"),
    [
        ("empty.xml", ":1:1", "It is empty"),
        ("page.xml", ":2:1", "It is not JUnit XML: its first element is <html>"),
        ("doctype.xml", ":2:21", "It declares a document type"),
    ],
)
def test_a_file_without_results_is_one_line_with_file_and_position(
    name: str, place: str, message: str
) -> None:
    path = SAMPLES / name

    line = fault_of(path)

    assert line.startswith(f"{path}{place}: {message}")
    assert "\n" not in line
    assert line.count(". ") == 1, "what happened, and what to do next"


@pytest.mark.parametrize(
    ("name", "place", "message"),
    [
        ("broken.xml", ":4:23", "Its XML is broken: not well-formed (invalid token)"),
        ("cut_short.xml", ":4:1", "It was cut short: not every element is closed"),
    ],
)
def test_what_was_read_whole_before_a_file_breaks_off_counts(
    name: str, place: str, message: str
) -> None:
    path = SAMPLES / name

    file = read(path)

    assert rows(merged([file])) == [("x.a", "pass", 1)]
    [fault] = file.faults
    assert fault == (
        f"{path}{place}: {message}: 1 test before that counted; what follows is lost. "
        "Let the test run write it again, or leave it out"
    )


def test_what_is_no_result_file_is_said_to_be_neither(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text("not json")

    assert "It is neither XML nor JSON: syntax error" in fault_of(path)


@pytest.mark.parametrize("bad", [b"\x00" * 512, b"&odd;", b"</testsuite>"])
def test_a_bad_byte_costs_what_stands_behind_it(tmp_path: Path, bad: bytes) -> None:
    path = tmp_path / "results.xml"
    case = b'<testcase name="%d" time="2"><failure>%s</failure></testcase>'
    cases = [case % (number, bad * (number == 3)) for number in range(6)]
    path.write_bytes(b'<testsuite name="x">\n' + b"\n".join(cases) + b"</testsuite>")

    file = read(path)

    assert [attempt.test_id for attempt in file.attempts] == ["x.0", "x.1", "x.2"]
    assert file.duration_s == 6
    [fault] = file.faults
    assert fault.startswith(f"{path}:5:")


def test_the_last_test_before_a_break_is_in_doubt_where_pytest_wrote_it(tmp_path: Path) -> None:
    """An empty case is a try that failed, when another one of its test follows."""
    path = tmp_path / "results.xml"
    whole = (SAMPLES / "pytest.xml").read_bytes()
    at = whole.index(b"<testcase", whole.index(b"test_retried"))
    path.write_bytes(whole[:at])

    whole_tests = rows(merged([read(path)]))

    assert whole_tests == rows(results_of("pytest.xml"))[:3]


def test_a_gzip_file_that_was_cut_short_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "results.xml.gz"
    path.write_bytes(gzip.compress((SAMPLES / "ctest.xml").read_bytes())[:30])

    assert fault_of(path).startswith(f"{path}: It is a gzip file that was cut short. ")


def test_what_was_unpacked_before_a_gzip_file_breaks_off_counts(tmp_path: Path) -> None:
    path = tmp_path / "results.xml.gz"
    path.write_bytes(gzip.compress((SAMPLES / "ctest.xml").read_bytes())[:-8])

    file = read(path)

    assert [attempt.test_id for attempt in file.attempts] == ["boot", "watchdog"]
    [fault] = file.faults
    assert fault.startswith(f"{path}: It is a gzip file that was cut short: 4 tests before that")


def test_a_pipe_is_an_error_and_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "results.xml"
    os.mkfifo(path)

    assert fault_of(path) == (
        f"{path}: It is not a file but a pipe or a device. Give a file that the tests wrote"
    )


def test_a_damaged_gzip_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "results.xml.gz"
    content = bytearray(gzip.compress((SAMPLES / "ctest.xml").read_bytes()))
    content[20] ^= 0xFF
    path.write_bytes(content)

    assert fault_of(path).startswith(f"{path}: It is a damaged gzip file (")


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "missing.xml"

    assert fault_of(path) == (
        f"{path}: It cannot be read: No such file or directory. Check the path and its permissions"
    )


def test_a_folder_is_an_error(tmp_path: Path) -> None:
    assert "It cannot be read: Is a directory" in fault_of(tmp_path)


@pytest.mark.parametrize("encoding", ["no-such-encoding", "utf-7", "punycode"])
def test_an_encoding_that_cannot_be_read_is_an_error(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "results.xml"
    path.write_bytes(f'<?xml version="1.0" encoding="{encoding}"?>\n<testsuite name="x"/>'.encode())

    assert fault_of(path).startswith(f"{path}:1:")


def test_a_file_of_tests_without_any_name_is_noted(write: Write) -> None:
    path = write('<testsuite name="x">\n<testcase/></testsuite>')

    assert fault_of(path) == (f"{path}:2:1: 1 test has neither name nor classname. Name every test")


def test_tests_without_any_name_cost_no_other(write: Write) -> None:
    path = write(
        '<testsuite name="x">\n<testcase name="a"/>\n<testcase><failure>f</failure></testcase>\n'
        '<testcase/><testcase name="b"><failure/></testcase></testsuite>'
    )

    file = read(path)

    assert rows(merged([file])) == [("x.a", "pass", 1), ("x.b", "fail", 1), ("x", "fail", 1)]
    [fault] = file.faults
    assert fault == (
        f"{path}:4:1: 1 test has neither name nor classname, and cannot be reported. "
        "Name every test"
    )


def test_a_verdict_that_is_none_costs_itself_alone(write: Write) -> None:
    path = write(
        '<testsuite name="x"><testcase name="a"><failure message="Timeout during flashing"/>\n'
        '<properties><property name="hwci.verdict" value="me"/></properties></testcase></testsuite>'
    )

    file = read(path)

    assert [attempt.verdict for attempt in file.attempts] == ["infra"]
    [fault] = file.faults
    assert fault == (
        f"{path}:2:13: The property hwci.verdict is 'me', which is not a verdict. "
        "Write one of device, infra, unknown"
    )


LONG = escaping.VALUE_BYTES_MAX * 3


@pytest.mark.parametrize("quote", ['"', "'"])
def test_a_value_of_megabytes_costs_neither_its_test_nor_those_behind_it(
    write: Write, quote: str
) -> None:
    noise = "&lt;\n" * (LONG // 5)
    path = write(
        f"<testsuite><testcase name='a'><failure message={quote}No debug probe detected"
        f" {noise}{quote} type='x'/></testcase>\n<testcase name='b'/>\n<oops"
    )
    results = read(path)

    assert [(attempt.test_id, attempt.outcome.value) for attempt in results.attempts] == [
        ("a", "fail"),
        ("b", "pass"),
    ]
    assert results.attempts[0].verdict is Verdict.INFRA
    assert f":{LONG // 5 + 3}:" in results.faults[0], "lines are counted as they stand"


def test_names_that_differ_behind_a_megabyte_are_two_tests(write: Write) -> None:
    names = [f"{'n' * LONG}{end}" for end in ("a", "b", "a")]
    cases = "".join(f'<testcase classname="c" name="{name}"/>' for name in names)
    ids = [attempt.test_id for attempt in read(write(f"<testsuite>{cases}</testsuite>")).attempts]

    assert ids[0] == ids[2] != ids[1]


@pytest.mark.parametrize("tag", [f"<{'t' * 9_000_000}/>", f"<!-- {'t' * 9_000_000} -->"])
def test_a_tag_that_is_too_long_costs_what_stands_behind_it(write: Write, tag: str) -> None:
    path = write(f"<testsuite><testcase name='a'/>{tag}<testcase name='b'/></testsuite>")
    results = read(path)

    assert [attempt.test_id for attempt in results.attempts] == ["a"]
    assert results.faults[0].endswith(
        ": It has a tag of more than 8 MiB: 1 test before that counted; what follows is lost."
        " Let the tests write less of it"
    )


VALUES = st.text(st.sampled_from("ab\n >=/\"'&<é"), max_size=200)


def read_in_pieces(content: bytes, size: int) -> Sequence[Attempt]:
    chunks = [content[at : at + size] for at in range(0, len(content), size)]
    return junit.junit_results(chunks, BUILT_IN).attempts


@given(st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=6), st.integers(1, 60))
def test_long_values_are_left_out_alike_wherever_the_chunks_end(
    cases: list[tuple[str, str]], size: int
) -> None:
    written = "".join(
        f"<testcase name={quoteattr(f'n{number}' + name)} time='1'>"
        f"<failure message={quoteattr(message)} type='t'/></testcase>"
        for number, (name, message) in enumerate(cases)
    )
    content = f"<testsuite>{written}</testsuite>".encode()
    whole = read_in_pieces(content, len(content))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(escaping, "VALUE_BYTES_MAX", 80)
        cut = read_in_pieces(content, size)
        assert cut == read_in_pieces(content, 60)

    assert len({attempt.test_id for attempt in cut}) == len(whole)
    assert all(
        one.message[:12] == other.message[:12] for one, other in zip(cut, whole, strict=True)
    )
