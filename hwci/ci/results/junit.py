# SPDX-License-Identifier: Apache-2.0
"""JUnit XML, element after element (spec, "Test item"; semantics, 1.6).

This module decides what the elements of JUnit XML mean: those of pytest, GoogleTest, CTest,
Surefire, Robot Framework, Ceedling, PlatformIO and Twister are its models. It reads as a stream,
refuses document types, and names line and column of a fault. What was read whole before the XML
breaks off holds, and is kept; a piece that means nothing costs itself alone.
"""

import hashlib
import re
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain, groupby, repeat
from operator import attrgetter
from xml.parsers import expat

from hwci.ci.results.content import (
    WRITE_AGAIN,
    ContentError,
    CutError,
    Position,
    lost_behind,
    one_line,
)
from hwci.ci.results.model import (
    Entry,
    FileResults,
    distinct_by_group,
    file_results,
    moment,
    seconds,
    stable_id,
)
from hwci.ci.results.verdicts import MESSAGE_MAX, AnyRule, judge, never_built
from hwci.engine.vocabulary import Verdict
from hwci.said import counted

SUITES = {"testsuites", "testsuite"}
FAILED = {"failure", "error"}
RETRIED = {"flakyFailure", "flakyError", "rerunFailure", "rerunError"}
"""Earlier attempts of Surefire's and of pytest's, inside the test that was tried again."""
OUTPUT = {"system-out", "system-err"}
NOT_RUN = {"notrun", "disabled", "skipped", "suppressed"}
"""`status` or `result` of a test that GoogleTest or CTest listed and did not run."""
VALUE_BYTES_MAX = 2 * 1024 * 1024
"""Bytes of an attribute's value that are read, many times what is kept of any, and more than one
chunk has, in which each byte may be written as four letters."""
TAG_BYTES_MAX = 8 * 1024 * 1024
"""Bytes of a whole tag, or of a comment, beyond which a file is not read."""
VAGUE_TYPES = {"", "failure", "error"}
"""Types that add nothing to the name of their element."""
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
    return replace(document.results(), notes=escaped.notes())


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
        if self.room > 0 and not self.message:
            self.text.append(text[: self.room])
            self.room -= len(text)

    def __str__(self) -> str:
        said = self.message or "".join(self.text).strip()
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


class _OpenTag:
    """What the parser was given and has not read: the beginning of a tag, which it reads anew with
    each further piece. So what is too long of a value is not given to it; a digest stands for that,
    as two names that begin alike are two tests. It is the same wherever the pieces end.
    """

    def __init__(self) -> None:
        self._begun = b""
        self._quote = b""
        self._room = 0
        self._left_out = hashlib.sha256()

    def shortened(self, chunk: bytes) -> bytes:
        """Return what to give to the parser of the next bytes: lines stay lines."""
        if not self._quote:
            return chunk
        value, quote, rest = chunk.partition(self._quote)
        kept = _whole_letters(value, max(0, self._room))
        self._room -= len(value)
        lost = value[len(kept) :]
        self._left_out.update(lost)
        given = kept + b"\n" * lost.count(b"\n")
        if not quote:
            return given
        if self._room < 0:
            given += b"~" + self._left_out.hexdigest().encode()
        self._quote = b""
        return given + quote + rest

    def note(self, given: bytes, unread: int) -> None:
        """Note what the parser was given, and how many bytes of all that it has not read."""
        self._begun = (self._begun + given)[-unread:] if unread else b""
        if unread and not self._quote:
            self._quote, length = _open_value(self._begun)
            self._room = VALUE_BYTES_MAX - length
            self._left_out = hashlib.sha256()


def _whole_letters(value: bytes, room: int) -> bytes:
    """Return the beginning of a value: so many bytes, without a part of a letter or reference."""
    if len(value) <= room:
        return value
    while room and value[room] in _WITHIN_LETTER:
        room -= 1
    reference = value.rfind(b"&", max(0, room - _LONGEST_REFERENCE), room)
    is_whole = reference < 0 or b";" in value[reference:room]
    return value[: room if is_whole else reference]


def _open_value(tag: bytes) -> tuple[bytes, int]:
    """Return the quote that ends the value in which a tag breaks off, and the length so far."""
    if tag.startswith((b"<!", b"<?")) or b"\0" in tag[:4]:
        return b"", 0
    at = 0
    while quote := _QUOTE.search(tag, at):
        end = tag.find(quote[0], quote.end())
        if end < 0:
            return quote[0], len(tag) - quote.end()
        at = end + 1
    return b"", 0


_WITHIN_LETTER = range(0x80, 0xC0)
"""The bytes of a letter of UTF-8 but its first."""
_QUOTE = re.compile(b"[\"']")


class _Document:
    """One file while it is read: expat calls the methods, element after element."""

    def __init__(self, rules: Sequence[AnyRule]) -> None:
        self._rules = rules
        self._entries: list[_CaseEntry] = []
        self._started_at: datetime | None = None
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
        self._open_tag = _OpenTag()
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
            started_at=self._started_at,
            duration_s=self._duration_s,
            tried=self._tried(),
            faults=tuple(self._faults),
        )

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
        return Position(parser.CurrentLineNumber, parser.CurrentColumnNumber + 1)

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
        started_at = moment(attributes.get("timestamp", ""))
        if started_at is not None:
            self._started_at = min(started_at, self._started_at or started_at)
        if tag == "testsuite":
            name, lasted = attributes.get("name", ""), seconds(attributes.get("time", ""))
            self._suites_begun += 1
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
        return _Case(suite, test_id, seconds(attributes.get("time", "")), run)

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
        self._entries.append(entry)
        if entry.run and not entry.unbuilt:
            self._tests_s += entry.duration_s

    def _end_suite(self, suite: _Suite) -> None:
        if not self._suites:
            self._duration_s += suite.duration_s or self._tests_s - suite.tests_s_before


# Characters that XML forbids

CONTROLS = bytes([*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20)])
"""The control characters that XML 1.0 forbids."""
_ALLOWED = (
    *(range(one, one + 1) for one in b"\t\n\r"),
    range(0x20, 0xD800),
    range(0xE000, 0xFFFE),
    range(0x10000, 0x110000),
)
"""The characters of XML 1.0 ("Char" of its grammar)."""
_HOLE = 512
"""So many zeros in a row, a sector of a disk, stand where a machine that crashed lost the content:
nothing says how many tests were there, so the file ends at them."""
_DIGITS = 60
"""Most digits of a reference, with zeros before the number."""
_CONTROL_OR_REFERENCE = re.compile(
    b"\0{%d,}|[%b]|&#(?!9;|10;|13;|x[9aAdD];)(?:([0-9]{1,%d})|x([0-9a-fA-F]{1,%d}));"
    % (_HOLE, CONTROLS, _DIGITS, _DIGITS)
)
_LONGEST_REFERENCE = len("&#x;") + _DIGITS
_WIDE = (b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<")
"""How UTF-16 begins, where the bytes of controls are halves of letters."""


_ENCODING = re.compile(rb"""(?:\xef\xbb\xbf)?<\?xml[^>]*?\sencoding\s*=\s*["']([^"']*)""")
_AS_UTF8 = {b"utf-8", b"utf8", b"us-ascii", b"ascii"}


class EscapedControls:
    r"""The content of a file, chunk after chunk, with its control characters escaped as `\x1b`, and
    so are references to characters that XML forbids (`&#27;`, in CDATA as well), and bytes that are
    not UTF-8 where the file names no other encoding: a board's serial line is full of them, and the
    first would end the XML there. So no two names become one. `many`: how many of both there were
    so far. `line`: that of the first one. `foreign`: whether there were bytes that are not UTF-8.
    """

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._utf8 = getincrementaldecoder("utf-8")("backslashreplace")
        self._lines_before = 1
        self.many = 0
        self.line = 1
        self.foreign = False

    def __iter__(self) -> Iterator[bytes]:
        """Yield the chunks."""
        first = next(self._chunks, b"")
        chunks = chain((first,), self._chunks)
        if first.startswith(_WIDE):
            return chunks
        named = _ENCODING.match(first)
        is_utf8 = named is None or named[1].lower() in _AS_UTF8
        if named is not None and is_utf8:  # the parser ends at a letter beyond ASCII
            first = first[: named.start(1)] + b"utf-8" + first[named.end(1) :]
            chunks = chain((first,), self._chunks)
        return self._escaped(self._in_utf8(chunks) if is_utf8 else chunks)

    def _in_utf8(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        for chunk, last in chain(zip(chunks, repeat(False)), [(b"", True)]):
            waiting = len(self._utf8.getstate()[0])  # the beginning of a letter
            whole = self._utf8.decode(chunk, last).encode()
            left = len(self._utf8.getstate()[0])
            self.foreign |= waiting + len(chunk) != len(whole) + left
            if not last or whole:
                yield chunk if whole == chunk else whole

    def _escaped(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        begun = b""  # what may be the beginning of a reference
        for chunk, last in chain(zip(chunks, repeat(False)), [(b"", True)]):
            whole = begun + chunk if begun else chunk
            cut = whole.rfind(b"&", max(0, len(whole) - _LONGEST_REFERENCE))
            begun = b"" if last or cut < 0 or b";" in whole[cut:] else whole[cut:]
            whole = whole[: len(whole) - len(begun)] if begun else whole
            if not last or whole:
                yield self._without_controls(whole)

    def _without_controls(self, content: bytes) -> bytes:
        # Most files hold none, and this finds out faster than any pattern.
        escaped = content
        if b"&#" in content or len(content.translate(None, CONTROLS)) < len(content):
            escaped = _CONTROL_OR_REFERENCE.sub(self._in_words, content)
        if not self.many:
            self._lines_before += content.count(b"\n")
        return escaped

    def _in_words(self, found: re.Match[bytes]) -> bytes:
        if found[1] or found[2]:
            number = int(found[1]) if found[1] else int(found[2], 16)
        else:
            number = found[0][0]
        if any(number in allowed for allowed in _ALLOWED) or len(found[0]) >= _HOLE:
            return found[0]
        if not self.many:
            self.line = self._lines_before + found.string.count(b"\n", 0, found.start())
        self.many += 1
        return b"\\x%02x" % number

    def notes(self) -> tuple[str, ...]:
        """Return notes, to stand behind the name of the file, if there were any."""
        encoding = ": It holds bytes that are not UTF-8; they are read as text, such as \\xe9"
        foreign = (f"{encoding}. Let what writes the file write UTF-8",) if self.foreign else ()
        if not self.many:
            return foreign
        have = counted(self.many, "character")
        what = f"It holds {have} that XML forbids, read as text, such as \\x1b"
        return (f":{self.line}: {what}. Let what writes the file leave them out", *foreign)
