# SPDX-License-Identifier: Apache-2.0
"""What the elements of JUnit XML say of a test and of a suite (semantics, 1.6).

This module sums up what is said in attributes, elements and properties, by the table of
`hwci.ci.results.xml.evidence`. In which order elements come, it does not know.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hwci.ci.results.content import Position
from hwci.ci.results.model import LOG_END_MAX
from hwci.ci.results.places import (
    BOARDS,
    LOGS,
    TRIES_MAX,
    UNITS,
    VARIANTS,
    Place,
    attached,
    first_named,
    log_of,
)
from hwci.ci.results.verdicts import MESSAGE_MAX, AnyRule, judge, never_built
from hwci.ci.results.xml.evidence import (
    BARE,
    CERTAIN,
    COUNTS,
    ERROR_COUNTS,
    FAILURE_COUNTS,
    LIMITS,
    MAY_FAIL,
    RERUN,
    STATES,
    TELLING,
    TRIES,
    TRY,
    State,
    could_not_run,
    count,
    failures_counted,
    is_failure,
    is_unclear,
    joined,
    local,
    may_be_empty,
    names_failure,
    state_of,
)
from hwci.ci.results.xml.pytest_cases import PARTS, TEARDOWN, CaseEntry
from hwci.contract.vocabulary import Verdict
from hwci.said import counted

VAGUE_TYPES = {"", "failure", "error", "fail", "failed"}
"""Types that add nothing to the name of their element."""
VAGUE_MESSAGES = VAGUE_TYPES
"""Messages that say nothing of the cause, as LAVA's `failed`: the text counts, if there is one."""
SHOWN = 60
"""Characters of a name in a line for people."""
_YES = frozenset(("true", "yes"))
_PLACES = frozenset((*BOARDS, *LOGS, *UNITS, *VARIANTS))


@dataclass(slots=True)
class Words:
    """A message, or text in place of one, kept as far as rules look."""

    tag: str
    type: str = ""
    message: str = ""
    many: int = 0
    """How many failures an attribute counts."""
    text: list[str] = field(default_factory=list)
    room: int = MESSAGE_MAX
    end: str = ""
    """The last of what there was no room for."""

    def take(self, text: str) -> None:
        """Take more of the text."""
        if self.message.strip().lower() not in VAGUE_MESSAGES:
            return
        if self.room > 0:
            self.text.append(text[: self.room])
        self.end = (self.end + text[max(self.room, 0) :])[-LOG_END_MAX:]
        self.room -= len(text)

    def __str__(self) -> str:
        plain = self.plain
        if self.type in VAGUE_TYPES or plain.startswith(self.type):
            return plain
        return f"{self.type}: {plain}"

    @property
    def plain(self) -> str:
        """The message, without its type."""
        return "".join(self.text).strip() or self.message

    @property
    def last(self) -> str:
        """The end of the text."""
        return ("".join(self.text) + self.end)[-LOG_END_MAX:]

    @property
    def is_failure(self) -> bool:
        """An element named after failures says that there is one, if it does not deny it."""
        if self.tag in CERTAIN or self.many or self.type:
            return True
        text = self.plain
        if not text:
            return not may_be_empty(self.tag)
        return is_failure(text) and not (self.tag in LIMITS and count(text))


def words_of(tag: str, attributes: Mapping[str, str]) -> Words:
    """Return what an element says by its attributes; its text is still to come."""
    many = sum(count(value) or 0 for value in attributes.values()) if may_be_empty(tag) else 0
    message = attributes.get("message", "")[:MESSAGE_MAX]
    return Words(tag, attributes.get("type", ""), message, many)


def is_failure_by_name(tag: str, attributes: Mapping[str, str]) -> bool:
    """Return whether an element of no known name is a failure: an assertion may have passed."""
    return names_failure(tag) and not any(
        state_of(local(name), value) is State.PASSED for name, value in attributes.items()
    )


def _is_failed(name: str, value: str) -> bool:
    """Return whether an attribute of an element of no known name says that it failed."""
    return (key := local(name)) in STATES and state_of(key, value, exact=True) is State.FAILED


def _shown(name: str, value: str) -> str:
    return f"{name} {value[:SHOWN]!r}"


@dataclass(slots=True)
class Suite:
    """A `<testsuite>` or `<testsuites>`, and the seconds of the tests that were read before it."""

    number: int
    name: str
    duration_s: float = 0.0
    tests_s_before: float = 0.0
    path: tuple[str, ...] = ()
    places: Mapping[str, str] = field(default_factory=dict)
    """What names its board and variant."""
    host: str = ""
    failures: int = 0
    errors: int = 0
    """What it counts."""
    says: str = ""
    """What says that it failed as a whole."""
    unclear: str = ""
    """A word of which is not known what it says."""
    outside: list[Words] = field(default_factory=list)
    """Failures outside any test."""
    values: list[Words] = field(default_factory=list)
    failed_tests: int = 0
    shown_failures: int = 0
    shown_errors: int = 0
    """What its tests show."""
    _place: Place | None = None

    def place(self, places: Mapping[str, str]) -> Place:
        """Return where a test of it stands."""
        if not places and self._place is not None:
            return self._place
        whole = {**self.places, **places}
        board, variant = first_named(whole, BOARDS), first_named(whole, VARIANTS)
        unit = first_named(whole, UNITS)
        place = Place(self.path, board, variant, self.host, self.number, unit, log_of(whole))
        if not places:
            self._place = place
        return place

    def take(self, attributes: Mapping[str, str], *, exact: bool = False) -> None:
        """Take what attributes or properties say of it. `exact`: see `state_of`."""
        named = {local(name): value for name, value in attributes.items()}
        self.failures = max(self.failures, failures_counted(named, FAILURE_COUNTS))
        self.errors = max(self.errors, failures_counted(named, ERROR_COUNTS))
        self.host = named.get("hostname", self.host)
        if places := {name: value for name, value in named.items() if name in _PLACES}:
            self.places, self._place = {**self.places, **places}, None
        for name, value in named.items():
            state = state_of(name, value, exact=exact) if count(value) is None else None
            if state is State.FAILED:
                self.says = (
                    self.says or f"failed ({_shown(name, value)}), and none of its tests did"
                )
            elif state is State.NOT_RUN:
                self.says = self.says or f"did not pass ({_shown(name, value)})"
            elif is_unclear(name, value, exact=exact):
                self.unclear = self.unclear or _shown(name, value)

    def take_inside(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Take what an element of no known name says, beside the tests: such as a summary, or how
        its set-up ended.
        """
        self.take({name: value for name, value in attributes.items() if local(name) in COUNTS})
        if any(_is_failed(name, value) for name, value in attributes.items()):
            message = attributes.get("message", "")[:MESSAGE_MAX]
            self.outside.append(Words(tag, message=message, many=1))

    def add(self, suite: "Suite") -> None:
        """Add what a suite inside it shows."""
        self.failed_tests += suite.failed_tests
        self.shown_failures += suite.shown_failures
        self.shown_errors += suite.shown_errors

    def contradiction(self, *, is_file: bool) -> str:
        """Return what it says of failures that none of its tests shows; empty if nothing. What was
        returned counts as shown, so that it is not said of what is around it.
        """
        for words in self.values:
            self.take({words.tag: words.plain})
        name = f"The suite {self.name[:SHOWN]!r}" if self.name else "A suite without a name"
        if is_file:
            name = f"The whole file ({self.name[:SHOWN]!r})" if self.name else "The whole file"
        shown = max(self.failed_tests, self.shown_failures + self.shown_errors)
        if unshown := max(0, self._counted() - shown):
            self.shown_failures += unshown
            many = f"{counted(self.failures, 'failure')} and {counted(self.errors, 'error')}"
            return f"{name} counts {many}, its tests show {shown:,}"
        if self.says and not self.failed_tests:
            self.failed_tests += 1
            return f"{name} {self.says}"
        return ""

    def _counted(self) -> int:
        """Return how many failures it counts. A tool may count errors among the failures, too."""
        if self.errors <= self.shown_errors:
            return max(self.failures, self.errors)
        return self.failures + self.errors


@dataclass(slots=True)
class Case:
    """A `<testcase>`."""

    suite: Suite
    test_id: str
    duration_s: float
    at: Position | None = None
    """Where it stands, if it has no name."""
    status: str = ""
    says: dict[State, str] = field(default_factory=dict)
    """What says each thing of it."""
    unclear: str = ""
    """A word of which is not known what it says."""
    places: dict[str, str] = field(default_factory=dict)
    verdict: Verdict | None = None
    own: Words = field(default_factory=lambda: Words("testcase"))
    failures: list[Words] = field(default_factory=list)
    retried: list[Words] = field(default_factory=list)
    skips: list[Words] = field(default_factory=list)
    values: list[Words] = field(default_factory=list)
    inner_values: list[Words] = field(default_factory=list)
    """Those inside other elements."""
    output: Words = field(default_factory=lambda: Words("output"))
    tries: int = 0
    """How often it was tried before, without a word of each."""
    nth: int = 0
    """Which try it is."""
    outside: bool = False
    """It stands for failures outside any test."""

    def take(self, name: str, value: str) -> None:
        """Take what an attribute says."""
        key = local(name)
        if key in TELLING:
            self.say(key, value)
            if key in COUNTS and count(value) is None and value.lower() not in _YES:
                self.own.message = self.own.message or value[:MESSAGE_MAX]
        elif key in _PLACES:
            self.places[key] = value
        elif key in TRIES:
            self.tries = min(max(count(value) or 0, 0), TRIES_MAX)
        elif key in TRY:
            number = count(value)
            self.nth = int(is_failure(value)) if number is None else max(number, 0)

    def say(self, name: str, value: str, *, exact: bool = False) -> None:
        """Take what an attribute or an element says of how it ended."""
        if (state := state_of(name, value, exact=exact)) is not None:
            self.says.setdefault(state, _shown(name, value))
        elif is_unclear(name, value, exact=exact):
            self.unclear = self.unclear or _shown(name, value)

    def take_property(self, name: str, value: str) -> None:
        """Take what a property says: people have some of their own, such as `error`."""
        key = local(name)
        if key not in TELLING:
            self.take(name, value)
        elif key in STATES and state_of(key, value, exact=True) in (State.FAILED, None):
            self.say(key, value, exact=True)

    def take_inside(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Take what an element of no known name says, such as a step: its failure."""
        for name, value in attributes.items():
            if _is_failed(name, value):
                self.says.setdefault(State.FAILED, f"<{tag}> {_shown(name, value)}")
                self.own.message = self.own.message or attributes.get("message", "")[:MESSAGE_MAX]
            elif is_unclear(local(name), value, exact=True):
                self.unclear = self.unclear or f"<{tag}> {_shown(name, value)}"

    def end(self) -> None:
        """Sum up what was said in whole elements."""
        self._end_values()
        self._end_failures()
        if self.skips:
            self.says.setdefault(State.SKIPPED, f"<{self.skips[0].tag}>")

    def _end_values(self) -> None:
        for words in self.values:
            self.say(words.tag, words.plain or ("" if words.tag in STATES else "true"))
        for words in self.inner_values:
            self.say(words.tag, words.plain, exact=True)
        if self.own.text and not self.says and joined(text := self.own.plain) in BARE:
            self.say("status", text)

    def _end_failures(self) -> None:
        self.failures = [words for words in self.failures if words.is_failure]
        if any(words.message == MAY_FAIL for words in self.skips):
            self.failures = []
        if not self.failures and self.retried and self.retried[-1].tag in RERUN:
            self.failures.append(self.retried.pop())  # nothing says that it passed in the end
        if self.failures:
            self.says.setdefault(State.FAILED, f"<{self.failures[0].tag}>")
        elif State.FAILED in self.says:
            self.failures.append(self.own)

    @property
    def missing(self) -> str:
        """Why it could not run; empty if it ran or skipped itself."""
        if self.failures or not {State.NOT_RUN, State.SKIPPED} & self.says.keys():
            return ""
        reason, output = (str(self.skips[0]) if self.skips else ""), str(self.output)
        if State.NOT_RUN in self.says or could_not_run(self.status, reason, output):
            return output or reason or self.says.get(State.NOT_RUN, "")
        return ""


def entry_of(case: Case, rules: Sequence[AnyRule]) -> CaseEntry:
    """Return what a test's whole element says."""
    failures, missing = case.failures, case.missing
    idle = missing or State.SKIPPED in case.says
    earlier = [case.verdict or judge(str(words), rules) for words in case.retried]
    return CaseEntry(
        test_id=case.test_id,
        place=case.suite.place(
            {"logurl": log} | case.places if (log := attached(str(case.output))) else case.places
        ),
        duration_s=case.duration_s,
        run=bool(failures) or not idle,
        failed=bool(failures),
        unbuilt=bool(failures) and all(never_built(words.message) for words in failures),
        verdict=_verdict(case, rules),
        message=(message := str(failures[0]) if failures else ""),
        log_end=case.output.last if failures and not message else "",
        earlier=tuple(earlier or [Verdict.UNKNOWN] * case.tries),
        missing=missing,
        outside=case.outside,
        nth=case.nth,
        failures=len(failures),
        called=any(words.tag != "error" for words in failures),
        parts=any(PARTS.match(words.message) for words in failures),
        teardown=bool(failures)
        and all(
            failure.tag == "error" and failure.message.startswith(TEARDOWN) for failure in failures
        ),
    )


def _verdict(case: Case, rules: Sequence[AnyRule]) -> Verdict:
    """Return the verdict of the test itself, else of what failed first; without its message, of
    what it printed. A later failure, as in a teardown, does not explain an earlier one.
    """
    if case.verdict is not None or not case.failures:
        return case.verdict or Verdict.UNKNOWN
    return judge(str(case.failures[0]) or str(case.output), rules)
