# SPDX-License-Identifier: Apache-2.0
"""A result file may be of any size; what is kept of it may not."""

import gzip
import json
import tracemalloc
import zlib
from collections.abc import Iterator
from itertools import chain, repeat
from pathlib import Path

import pytest

from hwci.ci.results import content
from hwci.ci.results.model import FileResults
from hwci.ci.results.pytest_results import pytest_results
from hwci.ci.results.read import ResultsFileError, read_results
from hwci.ci.results.verdicts import BUILT_IN
from hwci.ci.results.xml.junit import junit_results

MIB = 1024 * 1024
LOG = b"uart: rx 0x41 0x42 0x43 ok\n" * (content.CHUNK_BYTES // 27)
CASE = b'<testcase classname="hil" name="t%d"><system-out>'


def with_logs(tests: int, chunks_each: int) -> Iterator[bytes]:
    yield b'<testsuite name="s">'
    for number in range(tests):
        yield CASE % number
        yield from repeat(LOG, chunks_each)
        yield b"</system-out></testcase>"
    yield b"</testsuite>"


def peak_of(chunks: Iterator[bytes]) -> tuple[FileResults, int]:
    tracemalloc.start()
    try:
        return junit_results(chunks, BUILT_IN), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_logs_of_any_size_are_read_in_the_same_memory() -> None:
    small, small_peak = peak_of(with_logs(3, 10))
    large, large_peak = peak_of(with_logs(3, 400))

    assert len(LOG) * 3 * 400 > 256 * MIB
    assert [one.test_id for one in large.attempts] == ["hil.t0", "hil.t1", "hil.t2"]
    assert (large.attempts, large.faults) == (small.attempts, ())
    assert large_peak < small_peak + 4 * MIB < 64 * MIB


@pytest.mark.parametrize(
    "element",
    [
        b"<property name='a' value='b'/>",
        b"<step>ok</step>",
        b"<!-- ok -->",
        b"<system-out>ok</system-out>",
    ],
)
def test_what_is_not_kept_of_a_test_has_no_limit(
    monkeypatch: pytest.MonkeyPatch, element: bytes
) -> None:
    monkeypatch.setattr(content, "KEPT_BYTES_MAX", 2 * MIB)
    case = b"<testcase name='a'>" + element * 1_000 + b"</testcase>"

    results = junit_results(chain([b"<testsuite>"], repeat(case, 20), [b"</testsuite>"]), BUILT_IN)

    assert (len(results.attempts), results.faults) == (20, ())


@pytest.mark.parametrize(
    "endless",
    [
        b"<testcase name='a'/>",
        b"<testcase name='a'><failure message='broken'/></testcase>",
        b"<testcase/>",
        b"<testsuite name='s' timestamp='2026-03-02T12:00:00Z'></testsuite>",
        b"<testcase name='a'><property name='hwci.verdict' value='odd'/></testcase>",
    ],
)
def test_what_is_kept_has_a_limit_and_what_came_before_counts(
    monkeypatch: pytest.MonkeyPatch, endless: bytes
) -> None:
    monkeypatch.setattr(content, "KEPT_BYTES_MAX", 2 * MIB)
    taken = 0

    def chunks() -> Iterator[bytes]:
        nonlocal taken
        yield b"<testsuites><testsuite name='s'><testcase name='first'/>"
        while True:
            taken += 1
            yield endless * 100

    results = junit_results(chunks(), BUILT_IN)

    assert results.attempts[0].test_id == "s.first"
    assert any("take more than 2 MiB" in fault for fault in results.faults)
    assert taken < 100


@pytest.mark.parametrize("inside", [b"<failure>%s</failure>", b"<failure message='%s'/>"])
def test_a_test_without_an_end_costs_itself_alone(
    monkeypatch: pytest.MonkeyPatch, inside: bytes
) -> None:
    monkeypatch.setattr(content, "KEPT_BYTES_MAX", 2 * MIB)
    endless = repeat(inside % (b"x" * 1_000) * 100)
    begin = [b"<testsuite name='s'><testcase name='first'/><testcase name='b'>"]

    results = junit_results(chain(begin, endless), BUILT_IN)

    assert [one.test_id for one in results.attempts] == ["s.first"]
    assert "take more than 2 MiB" in results.faults[-1]


def test_elements_within_each_other_have_a_limit() -> None:
    begin = [b"<testsuite name='s'><testcase name='first'/>"]

    results = junit_results(chain(begin, repeat(b"<a>" * 1_000)), BUILT_IN)

    assert [one.test_id for one in results.attempts] == ["s.first"]
    assert "It has more than 1,000 elements within each other" in results.faults[0]


def test_a_gzip_file_that_unpacks_without_end_is_read_up_to_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(content, "INFLATED_BYTES_MAX", 64 * MIB)
    path = tmp_path / "bomb.xml.gz"
    press = zlib.compressobj(9, zlib.DEFLATED, 31)
    with path.open("wb") as file:
        file.write(press.compress(b"<testsuite name='s'><testcase name='first'/>"))
        for _ in range(80):
            file.write(press.compress(b" " * MIB))
        file.write(press.flush())

    results = read_results(path, BUILT_IN)

    assert [one.test_id for one in results.attempts] == ["s.first"]
    assert "It unpacks to more than" in results.faults[0]


def test_a_gzip_file_of_more_than_256_mib_is_read(tmp_path: Path) -> None:
    path = tmp_path / "results.xml.gz"
    log = gzip.compress(LOG)
    with path.open("wb") as file:  # a file may be several, one after the other
        for chunk in with_logs(2, 520):
            file.write(log if chunk is LOG else gzip.compress(chunk))

    results = read_results(path, BUILT_IN)

    assert [one.test_id for one in results.attempts] == ["hil.t0", "hil.t1"]


def test_json_that_has_to_be_held_whole_has_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hwci.ci.results.read.KEPT_BYTES_MAX", MIB)
    path = tmp_path / "twister.json"
    path.write_text(json.dumps({"testsuites": [], "log": "x" * MIB}))

    with pytest.raises(ResultsFileError, match="It is JSON of more than"):
        read_results(path, BUILT_IN)


def lines_of(tests: int, message: str) -> Iterator[bytes]:
    yield b'{"kind": "hwci-results", "version": 1, "started_at": "2026-03-02T12:00:00Z"}\n'
    for number in range(tests):
        tried = {"tried": f"t.py::t{number}", "outcome": "fail", "message": message}
        yield json.dumps(tried).encode() + b"\n"


def test_lines_of_pytest_are_read_one_by_one_up_to_what_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(content, "KEPT_BYTES_MAX", 2 * MIB)

    whole = pytest_results(lines_of(1_000, "m" * 1_000), BUILT_IN)
    cut = pytest_results(lines_of(10_000, "m" * 1_000), BUILT_IN)

    assert (len(whole.attempts), whole.faults) == (1_000, ())
    assert len(cut.attempts) > 1_000
    assert "take more than 2 MiB" in cut.faults[0]


def test_a_line_of_pytest_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hwci.ci.results.pytest_results.KEPT_BYTES_MAX", 2 * MIB)

    with pytest.raises(content.ContentError, match="a line without an end"):
        pytest_results(chain(lines_of(0, ""), repeat(b"x" * content.CHUNK_BYTES)), BUILT_IN)
