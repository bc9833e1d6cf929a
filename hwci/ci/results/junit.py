# SPDX-License-Identifier: Apache-2.0
"""JUnit XML, element after element (spec, "Test item"; semantics, 1.6).

This module decides what the elements of JUnit XML mean: those of pytest, GoogleTest, CTest,
Surefire, Robot Framework, Ceedling, PlatformIO and Twister are its models. It reads as a stream,
refuses document types, and names line and column of a fault. What was read whole before the XML
breaks off holds, and is kept; a piece that means nothing costs itself alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from pathlib import PurePath
from xml.parsers import expat

from hwci.ci.results.content import (
    WRITE_AGAIN,
    ContentError,
    CutError,
    Position,
    lost_behind,
    one_line,
)
from hwci.ci.results.evidence import (
    DENIABLE,
    ERROR_COUNTS,
    ERRORS,
    FAILURE_COUNTS,
    FAILURES,
    LISTS,
    MAY_FAIL,
    OUTPUT,
    RERUN,
    RETRIED,
    SKIPS,
    STATES,
    SUCCESSES,
    TELLING,
    State,
    could_not_run,
    count,
    counted,
    is_failure,
    local,
    said,
)
from hwci.ci.results.model import FileResults, file_results, moment, seconds
from hwci.ci.results.names import stable_id
from hwci.ci.results.places import BOARDS, Place
from hwci.ci.results.pytest_xml import FILE, PARTS, SUITE, TEARDOWN, CaseEntry, tried
from hwci.ci.results.verdicts import MESSAGE_MAX, AnyRule, judge, never_built
from hwci.ci.results.xml_bytes import EscapedControls, OpenTag
from hwci.engine.vocabulary import Verdict
from hwci.said import counted as in_words

SUITES = {"testsuites", "testsuite"}
TAG_BYTES_MAX = 8 * 1024 * 1024
"""Bytes of a whole tag, or of a comment, beyond which a file is not read."""
VAGUE_TYPES = {"", "failure", "error"}
"""Types that add nothing to the name of their element."""
VERDICT_PROPERTY = "hwci.verdict"
SHOWN = 60
"""Characters of a name in a line for people."""

NO_MORE_ELEMENTS = expat.errors.codes[expat.errors.XML_ERROR_NO_ELEMENTS]
JUNIT_FIX = "Give the JUnit XML file that the test runner writes"
LOG_FIX = "Look at its log: what failed is not among the results"
NAMES_FIX = "Name every test"
NOT_JUNIT = {"robot": "Let robot write one, with --xunit FILE"}
"""Elements that begin the XML of test runners that write JUnit XML as well."""


def junit_results(chunks: Iterable[bytes], rules: Sequence[AnyRule]) -> FileResults:
    """Read the content of one file, as far as it can be read.

    Raises:
        ContentError: it is not JUnit XML, or is broken before its first test has ended.
    """
    document, escaped = _Document(rules), EscapedControls(chunks)
    try:
        for chunk in escaped:
            document.feed(chunk)
        document.feed(b"", last=True)
    except CutError as fault:
        document.cut(fault)
    read = document.results()
    return replace(read, notes=(*read.notes, *escaped.notes()))


# One test case


@dataclass(slots=True)
class _Words:
    """A message, or text in place of one, kept as far as rules look."""

    tag: str
    type: str = ""
    message: str = ""
    text: list[str] = field(default_factory=list)
    room: int = MESSAGE_MAX
    many: int = 0
    """How many failures an attribute counts."""

    def take(self, text: str) -> None:
        if self.room > 0 and not self.message:
            self.text.append(text[: self.room])
            self.room -= len(text)

    def __str__(self) -> str:
        said = self.message or "".join(self.text).strip()
        if self.type in VAGUE_TYPES or said.startswith(self.type):
            return said
        return f"{self.type}: {said}"

    @property
    def is_failure(self) -> bool:
        """An element named after failures says that there is one, if it does not deny it."""
        text = self.message or "".join(self.text).strip()
        if self.tag not in DENIABLE or self.many or self.type:
            return True
        return is_failure(text) if text else self.tag not in LISTS


def _words(tag: str, attributes: Mapping[str, str]) -> _Words:
    many = sum(count(value) or 0 for value in attributes.values()) if tag in LISTS else 0
    message = attributes.get("message", "")[:MESSAGE_MAX]
    return _Words(tag, attributes.get("type", ""), message, many=many)


@dataclass(slots=True)
class _Suite:
    """A `<testsuite>` or `<testsuites>` that is being read, and the seconds of the tests read
    before it.
    """

    number: int
    name: str
    duration_s: float = 0.0
    tests_s_before: float = 0.0
    path: tuple[str, ...] = ()
    board: str = ""
    host: str = ""
    failures: int = 0
    errors: int = 0
    """What it counts."""
    says: str = ""
    """What says that it failed as a whole."""
    outside: list[_Words] = field(default_factory=list)
    """Failures outside any test."""
    values: list[_Words] = field(default_factory=list)
    failed_tests: int = 0
    shown_failures: int = 0
    shown_errors: int = 0
    """What its tests show."""

    def place(self, board: str = "") -> Place:
        """Return where a test of it stands."""
        return Place(self.path, board or self.board, self.host, self.number)

    def add(self, suite: "_Suite") -> None:
        """Add what a suite inside it shows."""
        self.failed_tests += suite.failed_tests
        self.shown_failures += suite.shown_failures
        self.shown_errors += suite.shown_errors

    def unshown(self) -> int:
        """Return how many failures it counts beyond those that are shown. A tool may count the
        tests that failed, or each failure; it may count errors among the failures, too.
        """
        shown = max(self.failed_tests, self.shown_failures + self.shown_errors)
        both = self.failures + self.errors
        if self.errors <= self.shown_errors:
            both = max(self.failures, self.errors)
        return max(0, both - shown)


@dataclass(slots=True)
class _Case:
    """A `<testcase>` that is being read."""

    suite: _Suite
    test_id: str
    duration_s: float
    at: Position
    status: str = ""
    says: dict[State, str] = field(default_factory=dict)
    """What says each thing of it."""
    board: str = ""
    verdict: Verdict | None = None
    own: _Words = field(default_factory=lambda: _Words("testcase"))
    failures: list[_Words] = field(default_factory=list)
    retried: list[_Words] = field(default_factory=list)
    skips: list[_Words] = field(default_factory=list)
    values: list[_Words] = field(default_factory=list)
    output: _Words = field(default_factory=lambda: _Words("output"))
    outside: bool = False
    """It stands for failures outside any test."""

    def say(self, name: str, value: str) -> None:
        """Take what an attribute, an element or a property says."""
        state = said(name, value)
        if state is not None:
            self.says.setdefault(state, f"{name} {value[:SHOWN]!r}")

    def end(self) -> None:
        """Sum up what was said in whole elements."""
        for words in self.values:
            self.say(words.tag, str(words) or "true")
        self.failures = [words for words in self.failures if words.is_failure]
        if any(words.message == MAY_FAIL for words in self.skips):
            self.failures = []
        if not self.failures and self.retried and self.retried[-1].tag in RERUN:
            self.failures.append(self.retried.pop())  # nothing says that it passed in the end
        if self.failures:
            self.says.setdefault(State.FAILED, f"<{self.failures[0].tag}>")
        elif State.FAILED in self.says:
            self.failures.append(self.own)
        if self.skips:
            self.says.setdefault(State.SKIPPED, f"<{self.skips[0].tag}>")

    @property
    def missing(self) -> str:
        """Why it could not run; empty if it ran or skipped itself."""
        if self.failures:
            return ""
        reason = str(self.skips[0]) if self.skips else ""
        if State.NOT_RUN in self.says or could_not_run(self.status, reason):
            return str(self.output) or reason or self.says.get(State.NOT_RUN, "")
        return ""


def _entry(case: _Case, rules: Sequence[AnyRule]) -> CaseEntry:
    failures, missing = case.failures, case.missing
    idle = missing or State.SKIPPED in case.says
    return CaseEntry(
        test_id=case.test_id,
        place=case.suite.place(case.board),
        duration_s=case.duration_s,
        run=bool(failures) or not idle,
        failed=bool(failures),
        unbuilt=bool(failures) and all(never_built(words.message) for words in failures),
        verdict=_verdict(case, rules),
        message=str(failures[0]) if failures else "",
        earlier=tuple(case.verdict or judge(str(words), rules) for words in case.retried),
        missing=missing,
        outside=case.outside,
        failures=len(failures),
        called=any(words.tag != "error" for words in failures),
        parts=any(PARTS.match(words.message) for words in failures),
        teardown=bool(failures)
        and all(it.tag == "error" and it.message.startswith(TEARDOWN) for it in failures),
    )


def _verdict(case: _Case, rules: Sequence[AnyRule]) -> Verdict:
    """Return the verdict of the test itself, else of what failed first; without its message, of
    what it printed. A later failure, as in a teardown, does not explain an earlier one.
    """
    if case.verdict is not None or not case.failures:
        return case.verdict or Verdict.UNKNOWN
    return judge(str(case.failures[0]) or str(case.output), rules)


# One file


class _Document:
    """One file while it is read: expat calls the methods, element after element."""

    def __init__(self, rules: Sequence[AnyRule]) -> None:
        self._rules = rules
        self._entries: list[CaseEntry] = []
        self._started_at: datetime | None = None
        self._duration_s = 0.0
        self._tests_s = 0.0
        self._begun = False
        self._root = _Suite(0, "")
        self._suites: list[_Suite] = []
        self._suites_begun = 0
        self._of_pytest = False
        self._counts_of_pytest: dict[int, int | None] = {}
        self._case: _Case | None = None
        self._text_of: str | None = None
        self._nameless: list[Position] = []
        self._faults: list[str] = []
        self._twofold: dict[State, list[str]] = {State.PASSED: [], State.SKIPPED: []}
        self._open_tag = OpenTag()
        self._given_bytes = 0
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end

    def feed(self, chunk: bytes, *, last: bool = False) -> None:
        """Take the next bytes."""
        chunk = self._open_tag.shortened(chunk)
        try:
            self._parser.Parse(chunk, last)
        except expat.ExpatError as fault:
            position = Position(fault.lineno, fault.offset + 1)
            raise CutError(self._broken(fault), WRITE_AGAIN, position) from fault
        except (LookupError, ValueError) as fault:
            # Python looks the declared encoding up, and raises these if there is none.
            raise self._fault(f"Its encoding cannot be read ({fault})", "Write UTF-8") from fault
        self._given_bytes += len(chunk)
        unread = self._given_bytes - max(0, self._parser.CurrentByteIndex)
        if unread > TAG_BYTES_MAX:
            what = f"It has a tag of more than {TAG_BYTES_MAX // 1024**2} MiB"
            raise CutError(what, "Let the tests write less of it", self._here())
        self._open_tag.note(chunk, unread)

    def cut(self, fault: CutError) -> None:
        """Keep what was read whole before the file broke off.

        Raises:
            CutError: nothing was.
        """
        self._leave_out_last_of_pytest()
        if not self._entries:
            raise fault
        while self._suites:
            self._end_suite(self._suites.pop(), whole=False)
        self._faults.append(lost_behind(fault, len(self._entries), "test"))

    def _leave_out_last_of_pytest(self) -> None:
        """Leave out the last test if pytest wrote it: what seems to have passed is a try that
        failed, or that broke its teardown, if another case of it follows.
        """
        entries = self._entries
        if entries and entries[-1].place.number in self._counts_of_pytest:
            last = entries[-1].test_id
            while entries and entries[-1].test_id == last:
                entries.pop()

    def results(self) -> FileResults:
        """Return what the file holds.

        Raises:
            ContentError: it has tests, and none of them has a name.
        """
        if self._nameless:
            have = "1 test has" if len(self._nameless) == 1 else f"{len(self._nameless)} tests have"
            what = f"{have} neither name nor classname"
            if not self._entries:
                raise ContentError(what, NAMES_FIX, self._nameless[0])
            what = f"{what}, and cannot be reported"
            self._faults.append(one_line(self._nameless[0], what, NAMES_FIX))
        return file_results(
            self._entries,
            started_at=self._started_at,
            duration_s=self._duration_s,
            tried=self._tried(),
            faults=tuple(self._faults),
            notes=tuple(self._contradictions()),
        )

    def _tried(self) -> Iterator[CaseEntry]:
        """Yield what ran, suite after suite. Only pytest's cases need interpretation."""
        of_pytest = self._counts_of_pytest
        for number, own in groupby(self._entries, key=lambda entry: entry.place.number):
            cases = list(own)
            yield from tried(cases, of_pytest[number]) if number in of_pytest else cases

    def _contradictions(self) -> Iterator[str]:
        """Yield a line for each way in which tests are said to have failed, and something else."""
        for state, names in self._twofold.items():
            if names:
                what = f"{_tests(len(names))} said to have failed and to have {state.value}, too"
                if state is State.SKIPPED:
                    what = f"{_tests(len(names))} said to have failed and to be skipped, too"
                yield one_line(None, f"{what} (first: {names[0]})", "What failed wins")

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
        tag = local(tag)
        if not self._begun:
            self._begin(tag, attributes)
        if self._case is not None:
            self._inside(self._case, tag, attributes)
        elif tag == "testcase":
            self._case = self._new_case(attributes)
        elif tag in SUITES:
            self._begin_suite(tag, attributes)
        elif self._text_of not in OUTPUT:
            self._outside(self._suites[-1] if self._suites else self._root, tag, attributes)

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        self._begun = True
        self._of_pytest = attributes.get("name") == FILE
        if tag not in SUITES:
            what = f"It is not JUnit XML: its first element is <{tag[:40]}>"
            raise self._fault(what, NOT_JUNIT.get(tag, JUNIT_FIX))

    def _begin_suite(self, tag: str, attributes: dict[str, str]) -> None:
        started_at = moment(attributes.get("timestamp", ""))
        if started_at is not None:
            self._started_at = min(started_at, self._started_at or started_at)
        name, around = attributes.get("name", ""), self._suites[-1] if self._suites else self._root
        suite = _Suite(0, name, 0.0, self._tests_s, around.path, around.board, around.host)
        suite.path += (name,) if name else ()
        _take_attributes(suite, attributes)
        if tag == "testsuites" and not self._suites:
            self._root = suite
            return
        self._suites_begun += 1
        suite.number = self._suites_begun
        suite.duration_s = seconds(attributes.get("time", ""))
        if self._of_pytest or name == SUITE:
            self._counts_of_pytest[suite.number] = count(attributes.get("tests", ""))
        self._suites.append(suite)

    def _new_case(self, attributes: dict[str, str]) -> _Case:
        suite = self._suites[-1] if self._suites else self._root
        # Ceedling and PlatformIO name a test within its suite only: `test_init` of many modules.
        classname = attributes.get("classname", suite.name)
        test_id = stable_id(classname, attributes.get("name", ""))
        if not {"name", "classname"} & attributes.keys():
            test_id = ""
        case = _Case(suite, test_id, seconds(attributes.get("time", "")), self._here())
        case.own.message = attributes.get("message", "")[:MESSAGE_MAX]
        for name, value in attributes.items():
            key = local(name)
            if key in TELLING:
                case.say(key, value)
            elif key in BOARDS:
                case.board = value
            elif key == "app_path":  # pytest-embedded: the firmware of the test
                case.board = PurePath(value).name
        case.status = attributes.get("status", "")
        if State.FAILED in case.says:  # what failed may stand in its text
            self._parser.CharacterDataHandler = case.own.take
        return case

    def _inside(self, case: _Case, tag: str, attributes: Mapping[str, str]) -> None:
        if self._text_of in RETRIED:
            return
        if tag in FAILURES or tag in ERRORS or tag in RETRIED:
            words = _words(tag, attributes)
            (case.retried if tag in RETRIED else case.failures).append(words)
            self._take_text(tag, words)
        elif tag in OUTPUT and self._text_of is None:
            self._take_text(tag, case.output)
        elif tag in SKIPS:
            case.skips.append(_words(tag, attributes))
            self._take_text(tag, case.skips[-1])
        elif tag == "property":
            self._property(case, attributes.get("name", ""), attributes.get("value", ""))
        elif tag in STATES or tag in SUCCESSES:
            case.values.append(_Words(tag, message=attributes.get("value", "")))
            self._take_text(tag, case.values[-1])

    def _property(self, case: _Case, name: str, value: str) -> None:
        key = name.lower()
        if name == VERDICT_PROPERTY:
            case.verdict = self._verdict_of(value)
        elif key in BOARDS:
            case.board = value
        elif key in STATES and said(key, value) is State.FAILED:
            case.say(key, value)

    def _outside(self, suite: _Suite, tag: str, attributes: Mapping[str, str]) -> None:
        """Take an element beside the tests of a suite."""
        if tag in FAILURES or tag in ERRORS:
            suite.outside.append(_words(tag, attributes))
            self._take_text(tag, suite.outside[-1])
        elif tag == "property":
            _take_attributes(suite, {attributes.get("name", ""): attributes.get("value", "")})
        elif tag in STATES or tag in SUCCESSES:
            suite.values.append(_Words(tag, message=attributes.get("value", "")))
            self._take_text(tag, suite.values[-1])
        elif tag in OUTPUT:
            self._text_of = tag

    def _take_text(self, tag: str, words: _Words) -> None:
        """Collect the text up to the end of an element, that of elements inside it as well."""
        self._text_of = tag
        self._parser.CharacterDataHandler = words.take

    def _verdict_of(self, text: str) -> Verdict | None:
        try:
            return Verdict(text)
        except ValueError:
            what = f"The property {VERDICT_PROPERTY} is {text[:40]!r}, which is not a verdict"
            fix = f"Write one of {', '.join(Verdict)}"
            self._faults.append(one_line(self._here(), what, fix))
            return None

    def _end(self, tag: str) -> None:
        tag = local(tag)
        if tag == self._text_of:
            self._text_of = None
            case = self._case
            of_case = case is not None and State.FAILED in case.says
            self._parser.CharacterDataHandler = case.own.take if case and of_case else None
        elif tag == "testcase" and self._case is not None:
            self._parser.CharacterDataHandler = self._text_of = None
            self._end_case(self._case)
            self._case = None
        elif tag in SUITES and self._case is None:
            self._end_suite(self._suites.pop() if self._suites else self._root)

    def _end_case(self, case: _Case) -> None:
        case.end()
        suite = case.suite
        if not case.test_id:
            if case.failures:
                suite.outside += case.failures
            else:
                self._nameless.append(case.at)
            return
        entry = _entry(case, self._rules)
        suite.failed_tests += entry.failed or bool(entry.missing)
        errors = sum(words.tag in ERRORS for words in case.failures)
        suite.shown_errors += errors
        suite.shown_failures += len(case.failures) - errors + len(case.retried)
        if entry.failed:
            for state, names in self._twofold.items():
                if why := case.says.get(state):
                    names.append(f"{case.test_id[:SHOWN]!r}, {why} and {case.says[State.FAILED]}")
        self._take(entry)

    def _take(self, entry: CaseEntry) -> None:
        self._entries.append(entry)
        if entry.run and not entry.unbuilt:
            self._tests_s += entry.duration_s

    def _end_suite(self, suite: _Suite, *, whole: bool = True) -> None:
        self._end_outside(suite)
        if whole:
            self._compare(suite)
        if suite is self._root:
            return
        (self._suites[-1] if self._suites else self._root).add(suite)
        if not self._suites:
            self._duration_s += suite.duration_s or self._tests_s - suite.tests_s_before

    def _end_outside(self, suite: _Suite) -> None:
        """Turn failures outside any test into a failed test that is named by its suite."""
        failures = [words for words in suite.outside if words.is_failure]
        if not failures:
            return
        name = next((name for name in (suite.name, *suite.path[::-1]) if name), "testsuite")
        case = _Case(suite, stable_id("", name), 0.0, self._here(), failures=failures, outside=True)
        suite.outside = []
        self._end_case(case)

    def _compare(self, suite: _Suite) -> None:
        """Find failures that a suite counts or speaks of, and that none of its tests shows."""
        for words in suite.values:
            _take_attributes(suite, {words.tag: str(words)})
        name = f"The suite {suite.name[:SHOWN]!r}" if suite.name else "A suite without a name"
        name = f"The whole file ({suite.name[:SHOWN]!r})" if suite is self._root else name
        unshown = suite.unshown()
        if unshown:
            shown = max(suite.failed_tests, suite.shown_failures + suite.shown_errors)
            counts = f"{in_words(suite.failures, 'failure')} and"
            what = (
                f"{name} counts {counts} {in_words(suite.errors, 'error')}, its tests show {shown}"
            )
        elif suite.says and not suite.failed_tests:
            what = f"{name} failed ({suite.says}), and none of its tests did"
        else:
            return
        self._faults.append(one_line(None, what, LOG_FIX))
        suite.shown_failures += unshown
        suite.failed_tests += not unshown


def _take_attributes(suite: _Suite, attributes: Mapping[str, str]) -> None:
    """Take what attributes or properties say of a suite."""
    named = {local(name): value for name, value in attributes.items()}
    suite.failures = max(suite.failures, counted(named, FAILURE_COUNTS))
    suite.errors = max(suite.errors, counted(named, ERROR_COUNTS))
    for name, value in named.items():
        if name in BOARDS:
            suite.board = value
        elif name == "hostname":
            suite.host = value
        elif name in TELLING and count(value) is None and said(name, value) is State.FAILED:
            suite.says = suite.says or f"{name} {value[:SHOWN]!r}"


def _tests(many: int) -> str:
    return "1 test is" if many == 1 else f"{many} tests are"
