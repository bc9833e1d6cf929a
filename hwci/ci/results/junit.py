# SPDX-License-Identifier: Apache-2.0
"""JUnit XML, element after element (spec, "Test item"; semantics, 1.6).

This module decides what the elements of JUnit XML mean: those of pytest, GoogleTest, CTest,
Surefire, Robot Framework, Ceedling, PlatformIO and Twister are its models. It reads as a stream,
refuses document types, and names line and column of a fault. What was read whole before the XML
breaks off holds, and is kept; a piece that means nothing costs itself alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import groupby
from operator import attrgetter
from xml.parsers import expat

from hwci.ci.results.content import (
    WRITE_AGAIN,
    ContentError,
    CutError,
    Position,
    Room,
    lost_behind,
    one_line,
)
from hwci.ci.results.documents import Between, text_before
from hwci.ci.results.encoding import InUtf8
from hwci.ci.results.model import (
    Entry,
    FileResults,
    distinct_by_group,
    file_results,
    stable_id,
)
from hwci.ci.results.numbers import Numbers
from hwci.ci.results.times import Stamp, stamp
from hwci.ci.results.verdicts import MESSAGE_MAX, AnyRule, judge, never_built
from hwci.ci.results.xml_bytes import EscapedControls, OpenTag
from hwci.engine.vocabulary import Verdict

SUITES = {"testsuites", "testsuite"}
FAILED = {"failure", "error"}
RETRIED = {"flakyFailure", "flakyError", "rerunFailure", "rerunError"}
"""Earlier attempts of Surefire's and of pytest's, inside the test that was tried again."""
OUTPUT = {"system-out", "system-err"}
NOT_RUN = {"notrun", "disabled", "skipped", "suppressed"}
"""`status` or `result` of a test that GoogleTest or CTest listed and did not run."""
TAG_BYTES_MAX = 8 * 1024 * 1024
"""Bytes of a whole tag, or of a comment, beyond which a file is not read."""
DEPTH_MAX = 1_000
"""Elements within each other, beyond which a file is not read."""
ELEMENT_BYTES = 500
"""Bytes that a test or a failure takes beside its texts."""
VAGUE_TYPES = {"", "failure", "error", "fail", "failed"}
"""Types that add nothing to the name of their element."""
VAGUE_MESSAGES = VAGUE_TYPES
"""Messages that say nothing of the cause, as LAVA's `failed`: the text counts, if there is one."""
TEARDOWN = "failed on teardown with"
"""How pytest begins the message of an error of a test's teardown."""
VERDICT_PROPERTY = "hwci.verdict"
PYTEST_SUITE = "pytest"
PYTEST_FILE = "pytest tests"
"""The file's name, where pytest writes one: its suite may be called anything."""

NO_MORE_ELEMENTS = expat.errors.codes[expat.errors.XML_ERROR_NO_ELEMENTS]
JUNIT_FIX = "Give the JUnit XML file that the test runner writes"
NAMES_FIX = "Name every test"
NOT_JUNIT = {"robot": "Let robot write one, with --xunit FILE"}
"""Elements that begin the XML of test runners that write JUnit XML as well."""


def junit_results(
    chunks: Iterable[bytes], rules: Sequence[AnyRule], numbers: Numbers | None = None
) -> FileResults:
    """Read the content of one file, as far as it can be read. `numbers`: how it spells durations.

    Raises:
        ContentError: it is not JUnit XML, or is broken before its first test has ended.
    """
    document, text = _Document(rules, numbers or Numbers()), InUtf8(chunks)
    escaped = EscapedControls(text)
    try:
        for chunk in escaped:
            document.feed(chunk)
        document.feed(b"", last=True)
    except CutError as fault:
        document.cut(fault)
    read = document.results()
    return replace(read, notes=(*read.notes, *escaped.notes(), *text.notes(), *document.notes()))


# One test case


@dataclass(slots=True)
class _Words:
    """A message, or text in place of one, kept as far as rules look."""

    tag: str
    type: str = ""
    message: str = ""
    text: list[str] = field(default_factory=list)
    room: int = MESSAGE_MAX

    def take(self, text: str) -> None:
        if self.room > 0 and self.message.strip().lower() in VAGUE_MESSAGES:
            self.text.append(text[: self.room])
            self.room -= len(text)

    def __str__(self) -> str:
        said = "".join(self.text).strip() or self.message
        if self.type in VAGUE_TYPES or said.startswith(self.type):
            return said
        return f"{self.type}: {said}"


@dataclass(slots=True)
class _Suite:
    """A `<testsuite>` that is being read, and the seconds of the tests read before it."""

    number: int
    name: str
    duration_s: float
    tests_s_before: float


@dataclass(slots=True)
class _Case:
    """A `<testcase>` that is being read."""

    suite: _Suite
    test_id: str
    duration_s: float
    run: bool
    verdict: Verdict | None = None
    failures: list[_Words] = field(default_factory=list)
    retried: list[_Words] = field(default_factory=list)
    output: _Words = field(default_factory=lambda: _Words("output"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _CaseEntry(Entry):
    """A `<testcase>` that was read whole."""

    suite_number: int
    called: bool
    """The test itself failed, not only its setup or teardown."""
    teardown: bool
    """Nothing but its teardown failed."""


def _entry(case: _Case, rules: Sequence[AnyRule]) -> _CaseEntry:
    failures = case.failures
    return _CaseEntry(
        group=case.suite.name,
        suite_number=case.suite.number,
        test_id=case.test_id,
        duration_s=case.duration_s,
        run=case.run or bool(failures),
        failed=bool(failures),
        unbuilt=bool(failures) and all(never_built(words.message) for words in failures),
        verdict=_verdict(case, rules),
        message=str(failures[0]) if failures else "",
        earlier=tuple(case.verdict or judge(str(words), rules) for words in case.retried),
        called=any(words.tag == "failure" for words in failures),
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


def _pytest_tries(entries: Sequence[_CaseEntry]) -> list[_CaseEntry]:
    """Turn the earlier cases of a test into the failures that they were: pytest writes the failure
    of a try that it tried again into no case.

    pytest-rerunfailures and flaky try a test again only after it failed. Up to 16.6,
    pytest-rerunfailures wrote the last try only: such a test seems to have been tried once.
    """
    tries: dict[str, list[_CaseEntry]] = {}
    for entry in entries:
        own = tries.setdefault(entry.test_id, [])
        if own and own[-1].called and entry.teardown:
            continue  # pytest writes a case for a test that failed, and one for its teardown
        own.append(entry)
    return [
        entry if entry is own[-1] else replace(entry, failed=True)
        for own in tries.values()
        for entry in own
    ]


# One file


class _Document:
    """One file while it is read: expat calls the methods, element after element."""

    def __init__(self, rules: Sequence[AnyRule], numbers: Numbers) -> None:
        self._rules = rules
        self._numbers = numbers
        self._room = Room()
        self._entries: list[_CaseEntry] = []
        self._stamps: list[Stamp] = []
        self._duration_s = 0.0
        self._tests_s = 0.0
        self._begun = False
        self._no_suite = _Suite(0, "", 0.0, 0.0)
        self._suites: list[_Suite] = []
        self._suites_begun = 0
        self._of_pytest = False
        self._case: _Case | None = None
        self._text_of: str | None = None
        self._nameless: list[Position] = []
        self._faults: list[str] = []
        self._text_from = 0
        self._between: Between | None = None
        self._beside = Between()
        self._lines_before = 0
        self._begin_document()

    def _begin_document(self) -> None:
        self._begun = self._ended = False
        self._depth = 0
        self._open_tag = OpenTag()
        self._given_bytes = 0
        self._parser = expat.ParserCreate("utf-8")  # whatever encoding it declares
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.StartElementHandler = self._open
        self._parser.EndElementHandler = self._close

    def feed(self, chunk: bytes, *, last: bool = False) -> None:
        """Take the next bytes: of one document after the other, and of what stands between them."""
        if not self._given_bytes and not self._lines_before and text_before(chunk):
            self._between = self._beside
        while True:
            if self._between is not None:
                line = self._lines_before + 1
                chunk, lines = self._between.document(chunk, line, last=last)
                self._lines_before += lines
                if not chunk:
                    return
                self._between = None
                self._begin_document()
            rest = self._parse(chunk, last=last)
            if rest is None:
                return
            chunk, self._between = rest, self._beside

    def _parse(self, chunk: bytes, *, last: bool) -> bytes | None:
        """Parse the next bytes. Return what follows the document, None if that is blank so far."""
        chunk = self._open_tag.shortened(chunk)
        try:
            self._parser.Parse(chunk, last)
        except expat.ExpatError as fault:
            if self._ended:
                self._lines_before += self._parser.ErrorLineNumber - 1
                unread = self._given_bytes + len(chunk) - self._parser.ErrorByteIndex
                whole = self._open_tag.begun + chunk
                at = len(whole) - unread
                return whole[at - 1 :] if whole[at - 1 : at] == b"<" else whole[at:]
            position = Position(self._lines_before + fault.lineno, fault.offset + 1)
            raise CutError(self._broken(fault), WRITE_AGAIN, position) from fault
        self._given_bytes += len(chunk)
        unread = self._given_bytes - max(0, self._parser.CurrentByteIndex)
        if unread > TAG_BYTES_MAX:
            what = f"It has a tag of more than {TAG_BYTES_MAX // 1024**2} MiB"
            raise CutError(what, "Let the tests write less of it", self._here())
        self._open_tag.note(chunk, unread)
        return None

    def _open(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            what = f"It has more than {DEPTH_MAX:,} elements within each other"
            raise CutError(what, WRITE_AGAIN, self._here())
        was_outside = self._case is None
        self._start(tag, attributes)
        if was_outside and self._case is not None:
            self._room.begin()

    def _close(self, tag: str) -> None:
        self._depth -= 1
        if tag == self._text_of:
            self._room.lend(min(MESSAGE_MAX, self._parser.CurrentByteIndex - self._text_from))
        was_inside = self._case is not None
        self._end(tag)
        if was_inside and self._case is None:
            self._room.give_back()
            self._room.take(ELEMENT_BYTES)
        self._ended = not self._depth

    def cut(self, fault: CutError) -> None:
        """Keep what was read whole before the file broke off.

        Raises:
            CutError: nothing was.
        """
        self._leave_out_last_of_pytest()
        if not self._entries:
            raise fault
        while self._suites:
            self._end_suite(self._suites.pop())
        self._faults.append(lost_behind(fault, len(self._entries), "test"))

    def _leave_out_last_of_pytest(self) -> None:
        """Leave out the last test if pytest wrote it: what seems to have passed is a try that
        failed, or that broke its teardown, if another case of it follows.
        """
        entries = self._entries
        if entries and (self._of_pytest or entries[-1].group == PYTEST_SUITE):
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
            stamps=self._stamps,
            duration_s=self._duration_s,
            tried=self._tried(),
            faults=tuple(self._faults),
        )

    def notes(self) -> tuple[str, ...]:
        """Return notes on what was read otherwise than it stands."""
        return (*self._beside.notes(), *self._numbers.note())

    def _tried(self) -> Iterator[_CaseEntry]:
        """Yield what ran, suite after suite. Only pytest's cases need interpretation."""
        of_suite = attrgetter("suite_number")
        for _, entries in groupby(distinct_by_group(self._entries), key=of_suite):
            own = list(entries)
            of_pytest = self._of_pytest or own[0].group == PYTEST_SUITE
            yield from _pytest_tries(own) if of_pytest else own

    def _broken(self, fault: expat.ExpatError) -> str:
        if fault.code != NO_MORE_ELEMENTS:
            return f"Its XML is broken: {expat.ErrorString(fault.code)}"
        return "It was cut short: not every element is closed" if self._begun else "It is empty"

    def _fault(self, what: str, fix: str) -> ContentError:
        return ContentError(what, fix, self._here())

    def _here(self) -> Position:
        parser = self._parser
        line = self._lines_before + parser.CurrentLineNumber
        return Position(line, parser.CurrentColumnNumber + 1)

    def _doctype(self, *_: object) -> None:
        raise self._fault("It declares a document type, which may hide other files", "Remove it")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self._begun:
            self._begin(tag, attributes)
        if self._case is not None:
            self._inside(self._case, tag, attributes)
        elif tag == "testcase":
            self._case = self._new_case(attributes)
        elif tag in SUITES:
            self._begin_suite(tag, attributes)

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        self._begun = True
        self._of_pytest = attributes.get("name") == PYTEST_FILE
        if tag not in SUITES:
            what = f"It is not JUnit XML: its first element is <{tag[:40]}>"
            raise self._fault(what, NOT_JUNIT.get(tag, JUNIT_FIX))

    def _begin_suite(self, tag: str, attributes: dict[str, str]) -> None:
        lasted = self._numbers.seconds(attributes.get("time", ""))
        began = stamp(attributes.get("timestamp", ""))
        if began is not None:
            self._room.take(ELEMENT_BYTES)
            self._stamps.append(replace(began, took=timedelta(seconds=lasted)))
        if tag == "testsuite":
            self._suites_begun += 1
            name = attributes.get("name", "")
            self._suites.append(_Suite(self._suites_begun, name, lasted, self._tests_s))

    def _new_case(self, attributes: dict[str, str]) -> _Case:
        suite = self._suites[-1] if self._suites else self._no_suite
        # Ceedling and PlatformIO name a test within its suite only: `test_init` of many modules.
        classname = attributes.get("classname", suite.name)
        test_id = stable_id(classname, attributes.get("name", ""))
        if not {"name", "classname"} & attributes.keys():
            test_id = ""
        if not test_id:
            self._nameless.append(self._here())
        run = NOT_RUN.isdisjoint({attributes.get("status"), attributes.get("result")})
        return _Case(suite, test_id, self._numbers.seconds(attributes.get("time", "")), run)

    def _inside(self, case: _Case, tag: str, attributes: Mapping[str, str]) -> None:
        if tag in FAILED or tag in RETRIED:
            message = attributes.get("message", "")[:MESSAGE_MAX]
            words = _Words(tag, attributes.get("type", ""), message)
            (case.failures if tag in FAILED else case.retried).append(words)
            self._take_text(tag, words)
        elif tag in OUTPUT and self._text_of is None:
            self._take_text(tag, case.output)
        elif tag == "skipped":
            case.run = False
        elif tag == "property" and attributes.get("name") == VERDICT_PROPERTY:
            case.verdict = self._verdict_of(attributes.get("value", ""))

    def _take_text(self, tag: str, words: _Words) -> None:
        """Collect the text up to the end of an element, that of elements inside it as well."""
        self._room.lend(ELEMENT_BYTES + len(words.message))
        self._text_of, self._text_from = tag, self._parser.CurrentByteIndex
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
        if tag == self._text_of:
            self._text_of = None
            self._parser.CharacterDataHandler = None
        elif tag == "testcase" and self._case is not None:
            if self._case.test_id:
                self._take(_entry(self._case, self._rules))
            self._case = None
        elif tag == "testsuite" and self._case is None:
            self._end_suite(self._suites.pop())

    def _take(self, entry: _CaseEntry) -> None:
        self._room.take(len(entry.test_id) + len(entry.message))
        self._entries.append(entry)
        if entry.run and not entry.unbuilt:
            self._tests_s += entry.duration_s

    def _end_suite(self, suite: _Suite) -> None:
        if not self._suites:
            self._duration_s += suite.duration_s or self._tests_s - suite.tests_s_before
