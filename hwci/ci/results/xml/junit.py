# SPDX-License-Identifier: Apache-2.0
"""JUnit XML, element after element (spec, "Test item"; semantics, 1.6).

This module decides what the elements of JUnit XML mean: those of pytest, GoogleTest, CTest,
Surefire, Robot Framework, Ceedling, PlatformIO and Twister are its models. It reads as a stream,
refuses document types, and names line and column of a fault. What was read whole before the XML
breaks off holds, and is kept; a piece that means nothing costs itself alone.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import groupby
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
from hwci.ci.results.model import FileResults, file_results
from hwci.ci.results.names import stable_id
from hwci.ci.results.numbers import Numbers
from hwci.ci.results.times import Stamp, stamp
from hwci.ci.results.verdicts import MESSAGE_MAX, AnyRule
from hwci.ci.results.xml.documents import Between, text_before
from hwci.ci.results.xml.elements import (
    SHOWN,
    Case,
    Suite,
    Words,
    entry_of,
    is_failure_by_name,
    words_of,
)
from hwci.ci.results.xml.encoding import InUtf8, codec_of
from hwci.ci.results.xml.escaping import EscapedControls, OpenTag
from hwci.ci.results.xml.evidence import (
    ERRORS,
    FAILURES,
    OUTPUT,
    RETRIED,
    SKIPS,
    STATES,
    SUCCESSES,
    State,
    count,
    local,
)
from hwci.ci.results.xml.pytest_cases import FILE, SUITE, CaseEntry, tried
from hwci.contract.vocabulary import Verdict

SUITES = {"testsuites", "testsuite"}
TAG_BYTES_MAX = 8 * 1024 * 1024
"""Bytes of a whole tag, or of a comment, beyond which a file is not read."""
DEPTH_MAX = 1_000
"""Elements within each other, beyond which a file is not read."""
ELEMENT_BYTES = 500
"""Bytes that a test or a failure takes beside its texts."""
VERDICT_PROPERTY = "hwci.verdict"

PLAIN = frozenset(("name", "classname", "time", "timestamp", "file", "line", "id"))
"""Attributes of a test that say nothing of how it ended."""

TWOFOLD = {State.PASSED: "have passed", State.SKIPPED: "be skipped"}

NO_MORE_ELEMENTS = expat.errors.codes[expat.errors.XML_ERROR_NO_ELEMENTS]
JUNIT_FIX = "Give the JUnit XML file that the test runner writes"
LOG_FIX = "Look at its log: what failed is not among the results"
WORDS_FIX = "Let the tests write one such as passed, failed or skipped"
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


# One file


class _Document:
    """One file while it is read: expat calls the methods, element after element."""

    def __init__(self, rules: Sequence[AnyRule], numbers: Numbers) -> None:
        self._rules = rules
        self._numbers = numbers
        self._room = Room()
        self._entries: list[CaseEntry] = []
        self._stamps: list[Stamp] = []
        self._duration_s = 0.0
        self._tests_s = 0.0
        self._suites: list[Suite] = []
        self._suites_begun = 0
        self._of_pytest = False
        self._counts_of_pytest: dict[int, int | None] = {}
        self._case: Case | None = None
        self._case_depth = 0
        self._text_of: str | None = None
        self._nameless: list[Position] = []
        self._faults: list[str] = []
        self._unclear = 0
        self._first_unclear = ""
        self._twofold: Counter[State] = Counter()
        self._first_twofold: dict[State, str] = {}
        self._text_from: int | None = None
        self._between: Between | None = None
        self._beside = Between()
        self._codecs: list[str] = []
        self._lines_before = 0
        self._begin_document()

    def _begin_document(self) -> None:
        self._begun = self._ended = False
        self._declared = ""
        self._root = Suite(0, "")
        self._depth = 0
        self._open_tag = OpenTag()
        self._given_bytes = 0
        self._parser = expat.ParserCreate("utf-8")  # whatever encoding it declares
        self._parser.buffer_text = True
        self._parser.XmlDeclHandler = self._declaration
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
        if local(tag) == self._text_of and self._text_from is not None:
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
        while self._suites:
            self._end_suite(self._suites.pop(), whole=False)
        self._end_suite(self._root, whole=False)
        if not self._entries:
            raise fault
        self._faults.append(lost_behind(fault, len(self._entries), "test"))

    def _leave_out_last_of_pytest(self) -> None:
        """Leave out the last test if pytest wrote it: what seems to have passed is a try that
        failed, or that broke its teardown, if another case of it follows.
        """
        entries, open_suites = self._entries, {suite.number for suite in self._suites}
        if entries and entries[-1].place.number in self._counts_of_pytest.keys() & open_suites:
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
        read = file_results(
            self._entries,
            stamps=self._stamps,
            duration_s=self._duration_s,
            kind="JUnit XML",
            tried=self._tried(),
            faults=tuple(self._faults),
        )
        return replace(read, notes=(*self._contradictions(), *self._unclear_words()))

    def notes(self) -> tuple[str, ...]:
        """Return notes on what was read otherwise than it stands."""
        return (*self._beside.notes(), *self._encodings(), *self._numbers.note())

    def _encodings(self) -> Iterator[str]:
        """Yield a line if a document says that it is not in the encoding of the first one."""
        if len(self._codecs) > 1:
            first, other = (codec[:SHOWN].upper() for codec in self._codecs[:2])
            what = f"Its first document is {first} and a later one {other}; it is read as the first"
            yield one_line(None, what, "Let all of them be UTF-8")

    def _tried(self) -> Iterator[CaseEntry]:
        """Yield what ran, suite after suite. Only pytest's cases need interpretation."""
        of_pytest = self._counts_of_pytest
        for number, own in groupby(self._entries, key=lambda entry: entry.place.number):
            cases = list(own)
            yield from tried(cases, of_pytest[number]) if number in of_pytest else numbered(cases)

    def _contradictions(self) -> Iterator[str]:
        """Yield a line for each way in which tests are said to have failed, and something else."""
        for state, words in TWOFOLD.items():
            if many := self._twofold[state]:
                what = f"{_tests(many)} said to have failed and to {words}, too"
                first = self._first_twofold[state]
                yield one_line(None, f"{what} (first: {first})", "What failed wins")

    def _unclear_words(self) -> Iterator[str]:
        """Yield a line if it is not known what words of some results say."""
        if many := self._unclear:
            results = "1 result is" if many == 1 else f"{many:,} results are"
            what = f"{results} given by a word that is not known (first: {self._first_unclear})"
            yield one_line(None, f"{what}, which counts as none", WORDS_FIX)

    def _note_unclear(self, name: str, word: str) -> None:
        self._unclear += 1
        self._first_unclear = self._first_unclear or f"{name[:SHOWN]!r}, {word}"

    def _broken(self, fault: expat.ExpatError) -> str:
        if fault.code != NO_MORE_ELEMENTS:
            what = "Its XML is broken" if self._begun else "It is neither XML nor JSON"
            return f"{what}: {expat.ErrorString(fault.code)}"
        return "It was cut short: not every element is closed" if self._begun else "It is empty"

    def _fault(self, what: str, fix: str) -> CutError:
        """Return a fault of one document; those before it hold."""
        return CutError(what, fix, self._here())

    def _here(self) -> Position:
        parser = self._parser
        line = self._lines_before + parser.CurrentLineNumber
        return Position(line, parser.CurrentColumnNumber + 1)

    def _declaration(self, _version: str, encoding: str | None, _standalone: int) -> None:
        self._declared = encoding or ""

    def _doctype(self, *_: object) -> None:
        raise self._fault("It declares a document type, which may hide other files", "Remove it")

    def _start(self, raw_tag: str, attributes: dict[str, str]) -> None:
        tag = local(raw_tag)
        if not self._begun:
            self._begin(tag, attributes)
        if self._case is not None:
            self._inside(self._case, raw_tag, attributes)
        elif tag == "testcase":
            self._case_depth = self._depth
            self._case = self._new_case(attributes)
        elif tag in SUITES:
            self._begin_suite(tag, attributes)
        elif self._text_of not in OUTPUT:
            self._outside(self._suites[-1] if self._suites else self._root, raw_tag, attributes)

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        self._begun = True
        codec = codec_of(self._declared or "utf-8") or self._declared
        if not self._codecs or (self._declared and codec not in self._codecs):
            self._codecs.append(codec)
        self._of_pytest = attributes.get("name") == FILE
        if tag not in SUITES:
            what = f"It is not JUnit XML: its first element is <{tag[:40]}>"
            raise self._fault(what, NOT_JUNIT.get(tag, JUNIT_FIX))

    def _begin_suite(self, tag: str, attributes: dict[str, str]) -> None:
        lasted = self._numbers.seconds(attributes.get("time", ""))
        began = stamp(attributes.get("timestamp", ""))
        if began is not None:
            self._room.take(ELEMENT_BYTES)
            self._stamps.append(replace(began, took=timedelta(seconds=lasted)))
        name, around = attributes.get("name", ""), self._suites[-1] if self._suites else self._root
        suite = Suite(0, name, 0.0, self._tests_s, around.path, around.places, around.host)
        suite.path += (name,) if name else ()
        suite.take(attributes)
        if tag == "testsuites" and not self._suites:
            self._root = suite
            return
        self._suites_begun += 1
        suite.number = self._suites_begun
        suite.duration_s = lasted
        if self._of_pytest or name == SUITE:
            self._counts_of_pytest[suite.number] = count(attributes.get("tests", ""))
        self._suites.append(suite)

    def _new_case(self, attributes: dict[str, str]) -> Case:
        suite = self._suites[-1] if self._suites else self._root
        # Ceedling and PlatformIO name a test within its suite only: `test_init` of many modules.
        classname = attributes.get("classname", suite.name)
        test_id = stable_id(classname, attributes.get("name", ""))
        if not {"name", "classname"} & attributes.keys():
            test_id = ""
        at = None if test_id else self._here()
        case = Case(suite, test_id, self._numbers.seconds(attributes.get("time", "")), at)
        case.own.message = attributes.get("message", "")[:MESSAGE_MAX]
        for name, value in attributes.items():
            if name not in PLAIN:
                case.take(name, value)
        case.status = attributes.get("status", "")
        self._parser.CharacterDataHandler = case.own.take
        return case

    def _inside(self, case: Case, raw_tag: str, attributes: Mapping[str, str]) -> None:
        tag, is_direct = local(raw_tag), self._depth == self._case_depth + 1
        if self._text_of in RETRIED:
            return
        if (
            tag in FAILURES
            or tag in ERRORS
            or tag in RETRIED
            or (is_direct and is_failure_by_name(raw_tag, attributes))
        ):
            words = words_of(tag, attributes)
            (case.retried if tag in RETRIED else case.failures).append(words)
            self._take_text(tag, words)
        elif tag in OUTPUT and self._text_of is None:
            self._take_text(tag, case.output)
        elif tag in SKIPS:
            case.skips.append(words_of(tag, attributes))
            self._take_text(tag, case.skips[-1])
        elif tag == "property":
            self._property(case, attributes.get("name", ""), attributes.get("value", ""))
        else:
            case.take_inside(tag, attributes)
            if tag in STATES or tag in SUCCESSES:
                values = case.values if is_direct else case.inner_values
                values.append(Words(tag, message=attributes.get("value", "")))
                self._take_text(tag, values[-1])

    def _property(self, case: Case, name: str, value: str) -> None:
        if name == VERDICT_PROPERTY:
            case.verdict = self._verdict_of(value)
        else:
            case.take_property(name, value)

    def _outside(self, suite: Suite, raw_tag: str, attributes: Mapping[str, str]) -> None:
        """Take an element beside the tests of a suite."""
        tag = local(raw_tag)
        if tag in FAILURES or tag in ERRORS or is_failure_by_name(raw_tag, attributes):
            suite.outside.append(words_of(tag, attributes))
            self._take_text(tag, suite.outside[-1])
        elif tag == "property":
            suite.take({attributes.get("name", ""): attributes.get("value", "")}, exact=True)
        elif tag in STATES or tag in SUCCESSES:
            suite.values.append(Words(tag, message=attributes.get("value", "")))
            self._take_text(tag, suite.values[-1])
        elif tag in OUTPUT:
            self._text_of, self._text_from = tag, None
        else:
            suite.take_inside(tag, attributes)

    def _take_text(self, tag: str, words: Words) -> None:
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
        tag = local(tag)
        if tag == self._text_of:
            self._text_of = None
            self._parser.CharacterDataHandler = self._case.own.take if self._case else None
        elif tag == "testcase" and self._case is not None:
            self._parser.CharacterDataHandler = self._text_of = None
            self._end_case(self._case)
            self._case = None
        elif tag in SUITES and self._case is None:
            self._end_suite(self._suites.pop() if self._suites else self._root)

    def _end_case(self, case: Case) -> None:
        case.end()
        suite = case.suite
        if not case.test_id:
            if case.failures:
                suite.outside += case.failures
            elif case.at is not None:
                self._nameless.append(case.at)
            return
        entry = entry_of(case, self._rules)
        suite.failed_tests += entry.failed or bool(entry.missing)
        errors = sum(words.tag in ERRORS for words in case.failures)
        suite.shown_errors += errors
        suite.shown_failures += len(case.failures) - errors + len(case.retried)
        if case.unclear and not entry.failed:
            self._note_unclear(case.test_id, case.unclear)
        if entry.failed:
            for state in TWOFOLD.keys() & case.says.keys():
                says = f"{case.says[state]} and {case.says[State.FAILED]}"
                self._twofold[state] += 1
                self._first_twofold.setdefault(state, f"{case.test_id[:SHOWN]!r}, {says}")
        self._take(entry)

    def _take(self, entry: CaseEntry) -> None:
        self._room.take(len(entry.test_id) + len(entry.message) + len(entry.log_end))
        self._entries.append(entry)
        if entry.run and not entry.unbuilt:
            self._tests_s += entry.duration_s

    def _end_suite(self, suite: Suite, *, whole: bool = True) -> None:
        self._end_outside(suite)
        if whole and (what := suite.contradiction(is_file=suite is self._root)):
            self._faults.append(one_line(None, what, LOG_FIX))
        if suite.unclear:
            self._note_unclear(suite.name, suite.unclear)
        if suite is self._root:
            return
        (self._suites[-1] if self._suites else self._root).add(suite)
        if not self._suites:
            self._duration_s += suite.duration_s or self._tests_s - suite.tests_s_before

    def _end_outside(self, suite: Suite) -> None:
        """Turn failures outside any test into a failed test that is named by its suite."""
        failures = [words for words in suite.outside if words.is_failure]
        if not failures:
            return
        name = next((name for name in (suite.name, *suite.path[::-1]) if name), "testsuite")
        case = Case(suite, stable_id("", name), 0.0, failures=failures, outside=True)
        suite.outside = []
        self._end_case(case)


def numbered(cases: Sequence[CaseEntry]) -> Iterator[CaseEntry]:
    """Yield the cases of a suite. What failed was tried again if a later case says that it is."""
    last: dict[str, int] = {}
    for case in reversed(cases):
        last.setdefault(case.test_id, case.nth)
    for case in cases:
        again = case.failed and case.nth < last[case.test_id]
        yield replace(case, tried_again=True) if again else case


def _tests(many: int) -> str:
    return "1 test is" if many == 1 else f"{many} tests are"
