# SPDX-License-Identifier: Apache-2.0
"""A result file is known by what it holds, and a file without results is one line of an error."""

import gzip
import json
from pathlib import Path

import pytest

from hwci.ci.results.read import ResultsFileError, read_results
from hwci.ci.results.verdicts import BUILT_IN

SAMPLES = Path(__file__).parent / "samples"
BEGIN = {"kind": "hwci-results", "version": 1, "started_at": "2026-03-02T09:15:30+00:00"}
PASSED = {"tried": "hil/test_uart.py::TestA::test_b[a/b]", "outcome": "pass", "duration_s": 1.5}
END = {"ended_at": "2026-03-02T09:15:40+00:00"}


def lines(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def fault_of(path: Path) -> str:
    with pytest.raises(ResultsFileError) as caught:
        read_results(path, BUILT_IN)
    return str(caught.value)


@pytest.mark.parametrize(
    ("content", "tests"),
    [
        ((SAMPLES / "ctest.xml").read_bytes(), ["boot", "watchdog"]),
        (b"\xef\xbb\xbf" + (SAMPLES / "ctest.xml").read_bytes(), ["boot", "watchdog"]),
        (b'\n {"testsuites": [{"name": "a/b", "status": "passed"}]}', ["b"]),
        (b'\xef\xbb\xbf{"testsuites": [{"name": "a/b", "status": "passed"}]}', ["b"]),
        (b'{"results": {"tests": [{"name": "b", "status": "passed"}]}}', ["b"]),
        (lines(BEGIN, PASSED, END), ["hil.test_uart.TestA.test_b[a/b]"]),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", ["results.xml", "results.json", "results"])
def test_a_file_is_known_by_its_content_whatever_it_is_called(
    tmp_path: Path, content: bytes, tests: list[str], packed: bool, name: str
) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if packed else content)

    assert [attempt.test_id for attempt in read_results(path, BUILT_IN).attempts] == tests


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", ":1:1: It is empty"),
        (b'{"testsuites": [', ":1:17: Its JSON is broken: Expecting value"),
        (
            b'{"tests": []}',
            ": It is JSON without results of a known format. Give JUnit",
        ),
        (b"[1]", ": It is JSON without results of a known format"),
        (b"[" * 200_000, ": Its JSON cannot be read"),
        (b'{"a": "\xff"}', ": Its JSON cannot be read"),
        (lines(BEGIN | {"version": 2}), ": It was written by another hwci, as version 2"),
        (lines(BEGIN) + b"odd\n" + lines(END), ":2:1: It is broken: Invalid JSON"),
        (lines(BEGIN, PASSED | {"outcome": "odd"}, END), ":2:1: It is broken: Input should be"),
        (lines(BEGIN, PASSED | {"verdict": "me"}, END), ":2:1: It is broken: Input should be"),
    ],
)
def test_a_file_without_results_is_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "results"
    path.write_bytes(content)

    line = fault_of(path)

    assert line.startswith(f"{path}{message}")
    assert "\n" not in line


def test_lines_before_a_broken_one_count_and_what_was_begun_there_is_not_known(
    tmp_path: Path,
) -> None:
    path = tmp_path / "results"
    path.write_bytes(lines(BEGIN, PASSED, {"begun": "hil/test_b.py::test_b"}) + b"odd\n")

    read = read_results(path, BUILT_IN)

    assert [attempt.outcome for attempt in read.attempts] == ["pass"]
    [fault] = read.faults
    assert fault.startswith(f"{path}:4:1: It is broken: Invalid JSON")


def test_a_run_lasted_from_its_begin_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "results"

    path.write_bytes(lines(BEGIN, PASSED, END))
    assert read_results(path, BUILT_IN).duration_s == 10
    path.write_bytes(lines(BEGIN, PASSED))
    assert read_results(path, BUILT_IN).duration_s == 1.5


def test_a_message_is_judged_and_a_verdict_that_was_given_is_believed(tmp_path: Path) -> None:
    path = tmp_path / "results"
    failed = PASSED | {"outcome": "fail", "message": "Timeout during flashing"}
    path.write_bytes(lines(BEGIN, failed, failed | {"verdict": "device"}, END))

    verdicts = [attempt.verdict.value for attempt in read_results(path, BUILT_IN).attempts]

    assert verdicts == ["infra", "device"]
