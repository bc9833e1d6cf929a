# SPDX-License-Identifier: Apache-2.0
"""One `<testcase>`: what it says of a try, and whom its words blame.

This module decides which words of a case are its message, and what became of it: it ran, it was
skipped, or its firmware was never built. What other cases say of the same test, it does not know.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hwci.ci.results.entries import Entry
from hwci.ci.results.verdicts import MESSAGE_MAX, Rule, judge, never_built
from hwci.engine.vocabulary import Verdict

UNTOLD_TYPES = {"", "failure", "error"}
"""Types that say no more than the element that bears them."""
TEARDOWN = "failed on teardown with"
"""How pytest begins the message of an error of a test's teardown."""


@dataclass(slots=True)
class _Words:
    """A message, or text where a message would be; kept as far as rules look."""

    tag: str
    type: str = ""
    message: str = ""
    text: list[str] = field(default_factory=list)
    room: int = MESSAGE_MAX

    def hear(self, text: str) -> None:
        if self.room > 0:
            self.text.append(text[: self.room])
            self.room -= len(text)

    def __str__(self) -> str:
        said = self.message or "".join(self.text).strip()
        if self.type in UNTOLD_TYPES or said.startswith(self.type):
            return said
        return f"{self.type}: {said}"


@dataclass(slots=True)
class Suite:
    """A `<testsuite>` that is being read, and what had been read when it began."""

    number: int
    name: str
    duration_s: float
    tests_s_before: float


@dataclass(slots=True)
class Case:
    """A `<testcase>` that is being read."""

    suite: Suite
    test_id: str
    duration_s: float
    run: bool
    verdict: Verdict | None = None
    failures: list[_Words] = field(default_factory=list)
    retried: list[_Words] = field(default_factory=list)
    output: _Words = field(default_factory=lambda: _Words("output"))
    _told: _Words | None = None

    def fail(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Begin an element that says that the test failed."""
        self._told = _words(tag, attributes)
        self.failures.append(self._told)

    def retry(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Begin an element that says that an earlier attempt failed."""
        self._told = _words(tag, attributes)
        self.retried.append(self._told)

    def print(self) -> None:
        """Begin an element of what the test printed."""
        self._told = self.output

    def hear(self, text: str) -> None:
        """Take text of the element that was begun."""
        if self._told is not None and not self._told.message:
            self._told.hear(text)


def _words(tag: str, attributes: Mapping[str, str]) -> _Words:
    return _Words(tag, attributes.get("type", ""), attributes.get("message", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseEntry(Entry):
    """A `<testcase>` that was read."""

    suite_number: int
    called: bool
    """The test itself failed, and not its setup or teardown only."""
    teardown: bool
    """Nothing but its teardown failed."""


def entry_of(case: Case, rules: Sequence[Rule]) -> CaseEntry:
    """Give what a whole case says."""
    failures = case.failures
    return CaseEntry(
        group=case.suite.name,
        suite_number=case.suite.number,
        test_id=case.test_id,
        duration_s=case.duration_s,
        run=case.run or bool(failures),
        failed=bool(failures),
        unbuilt=bool(failures) and all(never_built(words.message) for words in failures),
        verdict=_verdict(case, rules),
        earlier=tuple(case.verdict or judge(str(words), rules) for words in case.retried),
        called=any(words.tag == "failure" for words in failures),
        teardown=bool(failures) and all(map(_of_teardown, failures)),
    )


def _verdict(case: Case, rules: Sequence[Rule]) -> Verdict:
    """Believe the test itself, then what failed first; without its message, what it printed.

    What failed after that, as a teardown, does not explain what failed before.
    """
    if case.verdict is not None or not case.failures:
        return case.verdict or Verdict.UNKNOWN
    return judge(str(case.failures[0]) or str(case.output), rules)


def _of_teardown(words: _Words) -> bool:
    return words.tag == "error" and words.message.startswith(TEARDOWN)
