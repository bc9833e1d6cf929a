# SPDX-License-Identifier: Apache-2.0
"""JUnit XML, element after element (spec, "Test item"; semantics, 1.6).

This module decides what the elements of JUnit XML mean: those of pytest, GoogleTest, CTest,
Surefire, Robot Framework, Ceedling, PlatformIO and Twister are its models. It reads as a stream,
refuses document types, and names line and column of a fault. What was read whole before the XML
breaks off is true, and is kept; a piece that says nothing costs itself alone. Which cases are tries
of one test, it leaves to others.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from xml.parsers import expat

from hwci.ci.results.content import WRITE_AGAIN, ContentError, CutError, Position, one_line
from hwci.ci.results.entries import attempts_of, told_apart
from hwci.ci.results.junit.cases import Case, CaseEntry, Suite, entry_of
from hwci.ci.results.junit.controls import Spelled
from hwci.ci.results.junit.tries import pytest_tries
from hwci.ci.results.model import FileResults, stable_id
from hwci.ci.results.times import moment, seconds
from hwci.ci.results.verdicts import Rule
from hwci.engine.vocabulary import Verdict

SUITES = {"testsuites", "testsuite"}
FAILED = {"failure", "error"}
RETRIED = {"flakyFailure", "flakyError", "rerunFailure", "rerunError"}
"""Earlier attempts of Surefire's and of pytest's, inside the test that was tried again."""
OUTPUT = {"system-out", "system-err"}
NOT_RUN = {"notrun", "disabled", "skipped", "suppressed"}
"""`status` or `result` of a test that GoogleTest or CTest listed and did not run."""
VERDICT_PROPERTY = "hwci.verdict"
PYTEST_SUITE = "pytest"
PYTEST_FILE = "pytest tests"
"""The file's name, where pytest writes one: its suite may be called anything."""

NO_MORE_ELEMENTS = expat.errors.codes[expat.errors.XML_ERROR_NO_ELEMENTS]
GIVE_JUNIT = "Give the JUnit XML file that the test runner writes"
NAME_THEM = "Name every test"
NOT_JUNIT = {"robot": "Let robot write one, with --xunit FILE"}
"""Elements that begin the XML of test runners that write JUnit XML as well."""


def junit_results(chunks: Iterable[bytes], rules: Sequence[Rule]) -> FileResults:
    """Read the content of one file, as far as it can be read.

    Raises:
        ContentError: it is no JUnit XML, or is broken before its first test has ended.
    """
    document, spelled = _Document(rules), Spelled(chunks)
    try:
        for chunk in spelled:
            document.feed(chunk)
        document.feed(b"", last=True)
    except CutError as fault:
        document.cut(fault)
    return replace(document.results(), notes=spelled.notes())


class _Document:
    """One file while it is read: expat calls the methods, element after element."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self._entries: list[CaseEntry] = []
        self._started_at: datetime | None = None
        self._duration_s = 0.0
        self._tests_s = 0.0
        self._begun = False
        self._all = Suite(0, "", 0.0, 0.0)
        self._suites: list[Suite] = []
        self._suites_begun = 0
        self._of_pytest = False
        self._case: Case | None = None
        self._heard: str | None = None
        self._nameless: list[Position] = []
        self._faults: list[str] = []
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end

    def feed(self, chunk: bytes, *, last: bool = False) -> None:
        """Take the next bytes."""
        try:
            self._parser.Parse(chunk, last)
        except expat.ExpatError as fault:
            position = Position(fault.lineno, fault.offset + 1)
            raise CutError(self._broken(fault), WRITE_AGAIN, position) from fault
        except (LookupError, ValueError) as fault:
            # Python looks the declared encoding up, and tells so when there is none.
            raise self._fault(f"Its encoding cannot be read ({fault})", "Write UTF-8") from fault

    def cut(self, fault: CutError) -> None:
        """Keep what was read whole before the file broke off.

        Raises:
            CutError: nothing was.
        """
        self._leave_out_what_is_in_doubt()
        if not self._entries:
            raise fault
        while self._suites:
            self._end_suite(self._suites.pop())
        kept = _counted(len(self._entries), "test")
        what = f"{fault.what}: {kept} before that counted, what stands behind it is not known"
        self._faults.append(one_line(fault.position, what, fault.fix))

    def _leave_out_what_is_in_doubt(self) -> None:
        """Leave out the last test where pytest wrote it: what seems to have passed is a try that
        failed, or that broke its teardown, when another case of it follows.
        """
        entries = self._entries
        if entries and (self._of_pytest or entries[-1].group == PYTEST_SUITE):
            last = entries[-1].test_id
            while entries and entries[-1].test_id == last:
                entries.pop()

    def results(self) -> FileResults:
        """Give what the file held.

        Raises:
            ContentError: it has tests, and none of them has a name.
        """
        if self._nameless:
            have = "have" if len(self._nameless) > 1 else "has"
            what = f"{_counted(len(self._nameless), 'test')} {have} neither name nor classname"
            if not self._entries:
                raise ContentError(what, NAME_THEM, self._nameless[0])
            what = f"{what}, and cannot be reported"
            self._faults.append(one_line(self._nameless[0], what, NAME_THEM))
        return FileResults(
            faults=tuple(self._faults),
            attempts=attempts_of(self._tried()),
            skipped=sum(not entry.run for entry in self._entries),
            unbuilt=sum(entry.unbuilt for entry in self._entries),
            started_at=self._started_at,
            duration_s=self._duration_s,
        )

    def _tried(self) -> Iterator[CaseEntry]:
        """Give what ran, suite after suite."""
        of_suite = attrgetter("suite_number")
        for _, entries in groupby(told_apart(self._entries), key=of_suite):
            own = list(entries)
            of_pytest = self._of_pytest or own[0].group == PYTEST_SUITE
            yield from pytest_tries(own) if of_pytest else own

    def _broken(self, fault: expat.ExpatError) -> str:
        if fault.code != NO_MORE_ELEMENTS:
            return f"Its XML is broken: {expat.ErrorString(fault.code)}"
        return "It was cut short: not every element is closed" if self._begun else "It is empty"

    def _fault(self, what: str, fix: str) -> ContentError:
        return ContentError(what, fix, self._here())

    def _here(self) -> Position:
        parser = self._parser
        return Position(parser.CurrentLineNumber, parser.CurrentColumnNumber + 1)

    def _doctype(self, *_: object) -> None:
        raise self._fault("It declares a document type, which may hide other files", "Remove it")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self._begun:
            self._begin(tag, attributes)
        if self._case is not None:
            self._inside(self._case, tag, attributes)
        elif tag == "testcase":
            self._case = self._test(attributes)
        elif tag in SUITES:
            self._begin_suite(tag, attributes)

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        self._begun = True
        self._of_pytest = attributes.get("name") == PYTEST_FILE
        if tag not in SUITES:
            what = f"It is not JUnit XML: its first element is <{tag[:40]}>"
            raise self._fault(what, NOT_JUNIT.get(tag, GIVE_JUNIT))

    def _begin_suite(self, tag: str, attributes: dict[str, str]) -> None:
        started_at = moment(attributes.get("timestamp", ""))
        if started_at is not None:
            self._started_at = min(started_at, self._started_at or started_at)
        if tag == "testsuite":
            name, lasted = attributes.get("name", ""), seconds(attributes.get("time", ""))
            self._suites_begun += 1
            self._suites.append(Suite(self._suites_begun, name, lasted, self._tests_s))

    def _test(self, attributes: dict[str, str]) -> Case:
        suite = self._suites[-1] if self._suites else self._all
        # Ceedling and PlatformIO name a test within its suite only: `test_init` of many modules.
        classname = attributes.get("classname", suite.name)
        test_id = stable_id(classname, attributes.get("name", ""))
        if not {"name", "classname"} & attributes.keys():
            test_id = ""
        if not test_id:
            self._nameless.append(self._here())
        run = NOT_RUN.isdisjoint({attributes.get("status"), attributes.get("result")})
        return Case(suite, test_id, seconds(attributes.get("time", "")), run)

    def _inside(self, case: Case, tag: str, attributes: dict[str, str]) -> None:
        if tag in FAILED:
            case.fail(tag, attributes)
            self._hear(tag, case)
        elif tag in RETRIED:
            case.retry(tag, attributes)
            self._hear(tag, case)
        elif tag in OUTPUT and self._heard is None:
            case.print()
            self._hear(tag, case)
        elif tag == "skipped":
            case.run = False
        elif tag == "property" and attributes.get("name") == VERDICT_PROPERTY:
            case.verdict = self._verdict(attributes.get("value", ""))

    def _hear(self, tag: str, case: Case) -> None:
        """Take the text up to the end of an element, that of elements inside it as well."""
        self._heard = tag
        self._parser.CharacterDataHandler = case.hear

    def _verdict(self, text: str) -> Verdict | None:
        try:
            return Verdict(text)
        except ValueError:
            what = f"The property {VERDICT_PROPERTY} is {text[:40]!r}, which says nothing"
            fix = f"Write one of {', '.join(Verdict)}"
            self._faults.append(one_line(self._here(), what, fix))
            return None

    def _end(self, tag: str) -> None:
        if tag == self._heard:
            self._heard = None
            self._parser.CharacterDataHandler = None
        elif tag == "testcase" and self._case is not None:
            if self._case.test_id:
                self._take(entry_of(self._case, self._rules))
            self._case = None
        elif tag == "testsuite" and self._case is None:
            self._end_suite(self._suites.pop())

    def _take(self, entry: CaseEntry) -> None:
        self._entries.append(entry)
        if entry.run and not entry.unbuilt:
            self._tests_s += entry.duration_s

    def _end_suite(self, suite: Suite) -> None:
        if not self._suites:
            self._duration_s += suite.duration_s or self._tests_s - suite.tests_s_before


def _counted(many: int, what: str) -> str:
    return f"{many} {what}" if many == 1 else f"{many} {what}s"
