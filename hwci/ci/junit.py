# SPDX-License-Identifier: Apache-2.0
"""JUnit XML, plain or gzipped, as test results (spec, "Test item"; semantics, 1.6).

This module decides what each dialect of JUnit XML says: pytest, GoogleTest, CTest, Surefire and
Twister are its models. It reads as a stream, refuses document types and what inflates without
end, and names file, line and column of a fault. What a report is, it does not know.
"""

import gzip
import math
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import IO, NamedTuple
from xml.parsers import expat

from hwci.ci.results import Attempt, FileResults, stable_id
from hwci.engine.vocabulary import Outcome, Verdict
from hwci.wire.base import parse_time

INFLATED_BYTES_MAX = 256 * 1024 * 1024
CHUNK_BYTES = 256 * 1024
GZIP_MAGIC = b"\x1f\x8b"

SUITES = {"testsuites", "testsuite"}
FAILED = {"failure", "error"}
RETRIED = {"flakyFailure", "flakyError", "rerunFailure", "rerunError"}
"""Surefire's earlier attempts stand inside the test that was tried again."""
NOT_RUN = {"notrun", "disabled", "skipped", "suppressed"}
"""`status` or `result` of a test that GoogleTest or CTest listed and did not run."""
VERDICT_PROPERTY = "hwci.verdict"
PYTEST_SUITE = "pytest"

NO_MORE_ELEMENTS = expat.errors.codes[expat.errors.XML_ERROR_NO_ELEMENTS]
WRITE_AGAIN = "Let the test run write it again, or leave it out"


class Position(NamedTuple):
    """A place in a file, both counted from 1."""

    line: int
    column: int


class JunitFileError(Exception):
    """A file that holds no results that could be read. The message is one line."""

    def __init__(self, path: str, position: Position | None, what: str, fix: str) -> None:
        super().__init__(path, position, what, fix)
        self.path = path
        self.position = position
        self.what = what
        self.fix = fix

    def __str__(self) -> str:
        place = "" if self.position is None else f":{self.position.line}:{self.position.column}"
        return f"{self.path}{place}: {self.what}. {self.fix}"


class _ContentError(Exception):
    """A fault of the content, before anyone knows the file's name."""

    def __init__(self, what: str, fix: str, position: Position | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.fix = fix
        self.position = position


def read_junit(path: Path) -> FileResults:
    """Read the results of one file.

    Raises:
        JunitFileError: it cannot be read, is broken, or is no JUnit XML.
    """
    try:
        with path.open("rb") as file:
            return _read(file)
    except _ContentError as fault:
        raise JunitFileError(str(path), fault.position, fault.what, fault.fix) from fault
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise JunitFileError(
            str(path), None, f"It cannot be read: {reason}", "Check the path and its permissions"
        ) from fault


def _read(file: IO[bytes]) -> FileResults:
    document = _Document()
    for chunk in _inflated(file):
        document.feed(chunk)
    return document.end()


def _inflated(file: IO[bytes]) -> Iterator[bytes]:
    magic = file.read(len(GZIP_MAGIC))
    file.seek(0)
    source = gzip.GzipFile(fileobj=file) if magic == GZIP_MAGIC else file
    size = 0
    try:
        while chunk := source.read(CHUNK_BYTES):
            size += len(chunk)
            if size > INFLATED_BYTES_MAX:
                raise _ContentError(
                    "It holds more than 256 MiB of XML", "Split the results into files"
                )
            yield chunk
    except EOFError as fault:
        raise _ContentError("It is a gzip file that was cut short", WRITE_AGAIN) from fault
    except (gzip.BadGzipFile, zlib.error) as fault:
        raise _ContentError(f"It is a damaged gzip file ({fault})", WRITE_AGAIN) from fault


@dataclass(slots=True)
class _Case:
    """A `<testcase>` that is being read."""

    test_id: str
    duration_s: float
    run: bool
    failed: bool = False
    retried: int = 0
    verdict: Verdict = Verdict.UNKNOWN

    def attempts(self) -> Iterator[Attempt]:
        """Give the earlier attempts, which failed, and the one that decided."""
        for _ in range(self.retried):
            yield Attempt(self.test_id, Outcome.FAIL, 0.0, self.verdict)
        outcome = Outcome.FAIL if self.failed else Outcome.PASS
        yield Attempt(self.test_id, outcome, self.duration_s, self.verdict)


@dataclass(slots=True)
class _Suite:
    """A `<testsuite>` that is being read, and what had been read when it began."""

    name: str
    duration_s: float
    attempts_before: int
    tests_s_before: float


class _Document:
    """One file while it is read: expat calls the methods, element after element."""

    def __init__(self) -> None:
        self._attempts: list[Attempt] = []
        self._skipped = 0
        self._started_at: datetime | None = None
        self._duration_s = 0.0
        self._tests_s = 0.0
        self._begun = False
        self._suites: list[_Suite] = []
        self._case: _Case | None = None
        self._parser = expat.ParserCreate()
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end

    def feed(self, chunk: bytes, *, last: bool = False) -> None:
        """Take the next bytes."""
        try:
            self._parser.Parse(chunk, last)
        except expat.ExpatError as fault:
            position = Position(fault.lineno, fault.offset + 1)
            raise _ContentError(self._broken(fault), WRITE_AGAIN, position) from fault
        except (LookupError, ValueError) as fault:
            # Python looks the declared encoding up, and tells so when there is none.
            raise self._fault(f"Its encoding cannot be read ({fault})", "Write UTF-8") from fault

    def end(self) -> FileResults:
        """Give what the whole file held."""
        self.feed(b"", last=True)
        return FileResults(self._attempts, self._skipped, self._started_at, self._duration_s)

    def _broken(self, fault: expat.ExpatError) -> str:
        if fault.code != NO_MORE_ELEMENTS:
            return f"Its XML is broken: {expat.ErrorString(fault.code)}"
        return "It was cut short: not every element is closed" if self._begun else "It is empty"

    def _fault(self, what: str, fix: str) -> _ContentError:
        parser = self._parser
        place = Position(parser.CurrentLineNumber, parser.CurrentColumnNumber + 1)
        return _ContentError(what, fix, place)

    def _doctype(self, *_: object) -> None:
        raise self._fault("It declares a document type, which may hide other files", "Remove it")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self._begun:
            self._begun = True
            if tag not in SUITES:
                what = f"It is not JUnit XML: its first element is <{tag[:40]}>"
                raise self._fault(what, "Give the JUnit XML file that the test runner writes")
        if self._case is not None:
            self._inside(self._case, tag, attributes)
        elif tag == "testcase":
            self._case = self._test(attributes)
        elif tag in SUITES:
            self._begin_suite(tag, attributes)

    def _begin_suite(self, tag: str, attributes: dict[str, str]) -> None:
        started_at = _time(attributes.get("timestamp", ""))
        if started_at is not None:
            self._started_at = min(started_at, self._started_at or started_at)
        if tag == "testsuite":
            name, seconds = attributes.get("name", ""), _seconds(attributes.get("time", ""))
            self._suites.append(_Suite(name, seconds, len(self._attempts), self._tests_s))

    def _test(self, attributes: dict[str, str]) -> _Case:
        test_id = stable_id(attributes.get("classname", ""), attributes.get("name", ""))
        if not test_id:
            raise self._fault("A test has neither name nor classname", "Name every test")
        run = NOT_RUN.isdisjoint({attributes.get("status"), attributes.get("result")})
        return _Case(test_id, _seconds(attributes.get("time", "")), run)

    def _inside(self, case: _Case, tag: str, attributes: dict[str, str]) -> None:
        if tag in FAILED:
            case.failed = True
        elif tag in RETRIED:
            case.retried += 1
        elif tag == "skipped":
            case.run = False
        elif tag == "property" and attributes.get("name") == VERDICT_PROPERTY:
            case.verdict = self._verdict(attributes.get("value", ""))

    def _verdict(self, text: str) -> Verdict:
        try:
            return Verdict(text)
        except ValueError as fault:
            what = f"The property {VERDICT_PROPERTY} is {text[:40]!r}"
            raise self._fault(what, f"Write one of {', '.join(Verdict)}") from fault

    def _end(self, tag: str) -> None:
        if tag == "testcase" and self._case is not None:
            self._take(self._case)
            self._case = None
        elif tag == "testsuite" and self._case is None:
            self._end_suite(self._suites.pop())

    def _take(self, case: _Case) -> None:
        if not (case.run or case.failed):
            self._skipped += 1
            return
        self._attempts.extend(case.attempts())
        self._tests_s += case.duration_s

    def _end_suite(self, suite: _Suite) -> None:
        if suite.name == PYTEST_SUITE:
            _fail_what_was_retried(self._attempts, suite.attempts_before)
        if not self._suites:
            self._duration_s += suite.duration_s or self._tests_s - suite.tests_s_before


def _fail_what_was_retried(attempts: list[Attempt], first: int) -> None:
    """Turn the earlier entries of a pytest suite's repeats into the failures that they were.

    pytest tries a test again only after it failed, and writes the failure into no entry but the
    last; read as they stand, the earlier ones would be passes.
    """
    decided: set[str] = set()
    for index in range(len(attempts) - 1, first - 1, -1):
        attempt = attempts[index]
        if attempt.test_id in decided:
            attempts[index] = replace(attempt, outcome=Outcome.FAIL)
        decided.add(attempt.test_id)


def _seconds(text: str) -> float:
    """Read `1,234.5`; what is no such number, or below zero as after a clock was set, is 0."""
    try:
        seconds = float(text.replace(",", ""))
    except ValueError:
        return 0.0
    return seconds if 0 <= seconds < math.inf else 0.0


def _time(text: str) -> datetime | None:
    """Read a suite's `timestamp`; one without offset is UTC."""
    for written in (text, f"{text}Z"):
        with suppress(ValueError):
            return parse_time(written.strip().replace(" ", "T", 1))
    return None
