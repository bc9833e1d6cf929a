# SPDX-License-Identifier: Apache-2.0
"""What a failed test blames, by the message that its harness wrote (spec, "Test item").

This module decides verdicts by rules, which are data. A message without a rule is `unknown`: a
bench that is blamed wrongly hides a bug, a device that is blamed wrongly invents one. So a rule for
the bench names a part of the bench that failed, whatever the firmware did, and the only rule for
the device is a device that says itself that its tests failed. The words are in `bench_words.py`.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from hwci.ci.results.bench_words import BENCH, DEVICE, Words
from hwci.ci.results.expressions import TRY_SECONDS, EndlessError, Expressions
from hwci.contract.vocabulary import Verdict

_LAVA_LOG = '"lvl": "target"'
_OF_DEVICE = re.compile(rf'^- {{"dt": "[^"]*", {_LAVA_LOG}.*$', re.MULTILINE)
"""Lines of LAVA's log that its device wrote: they may hold the words of any tool, as a device may
have serial ports and probes of its own. Built-in rules do not see them.
"""
MESSAGE_MAX = 65_536
"""Rules look no further: the output of a whole test may stand in place of its message."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A message that the pattern matches anywhere has the verdict. `why`: who writes it, when."""

    pattern: re.Pattern[str]
    verdict: Verdict
    why: str

    def matches(self, message: str) -> bool:
        """Return whether a message has the verdict."""
        return self.pattern.search(message) is not None


class OwnRule:
    """A rule of a project, whose expression may never end on some message. Then it is tried no
    more, and `cut`.
    """

    def __init__(self, number: int, verdict: Verdict, expressions: Expressions) -> None:
        self._number = number
        self.verdict = verdict
        self._expressions = expressions
        self.cut = False

    def matches(self, message: str) -> bool:
        """Return whether a message has the verdict. Raises `EndlessError`: it cannot be known."""
        if self.cut:
            raise EndlessError
        try:
            return self._expressions.match(self._number, message)
        except EndlessError:
            self.cut = True
            raise


AnyRule = Rule | OwnRule


def judge(message: str, rules: Sequence[AnyRule]) -> Verdict:
    """Return the verdict of the first rule that matches, `unknown` if none does, or if one before
    it was cut: that one might have matched.
    """
    looked_at = message[:MESSAGE_MAX]
    of_tools = _OF_DEVICE.sub("", looked_at) if _LAVA_LOG in looked_at else looked_at
    try:
        for rule in rules:
            if rule.matches(of_tools if isinstance(rule, Rule) else looked_at):
                return rule.verdict
        return Verdict.UNKNOWN
    except EndlessError:
        return Verdict.UNKNOWN


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a project and, after them, those that are built in: the first match wins."""

    own: Sequence[OwnRule]
    patterns: Sequence[str]

    @property
    def all(self) -> Sequence[AnyRule]:
        """All of them."""
        return (*self.own, *BUILT_IN)

    def notices(self, path: object) -> list[str]:
        """Return a line for each rule of a project file that was cut."""
        return [
            f"warning: {path}: verdict {number}: {pattern[:_SHOWN]!r} was not done with a message"
            f" within {TRY_SECONDS:.0f} s, and is tried no more: such verdicts stay unknown. Let no"
            " part of it that repeats hold another one that does"
            for number, (rule, pattern) in enumerate(zip(self.own, self.patterns, strict=True), 1)
            if rule.cut
        ]


_SHOWN = 80


@contextmanager
def with_built_in(own: Sequence[tuple[re.Pattern[str], Verdict]]) -> Iterator[Rules]:
    """Yield the rules of a project with those that are built in."""
    patterns = [pattern.pattern for pattern, _ in own]
    with Expressions(patterns) as expressions:
        rules = [OwnRule(number, verdict, expressions) for number, (_, verdict) in enumerate(own)]
        yield Rules(rules, patterns)


def never_built(message: str) -> bool:
    """Return whether there was no firmware to run. Such a test is not an item of a report: it never
    reached the hardware, and a run of such tests only did not test its commit.
    """
    return _NEVER_BUILT.fullmatch(message) is not None


# Twister (`Build failure - undefined reference …` since it names details), and PlatformIO.
_NEVER_BUILT = re.compile(
    r"(?:CMake build failure|Build failure)(?: - .*)?|Building stage has failed, .*", re.DOTALL
)


def _rule(words: Words, verdict: Verdict) -> Rule:
    return Rule(re.compile(words.pattern), verdict, words.why)


BUILT_IN: tuple[Rule, ...] = (
    _rule(DEVICE, Verdict.DEVICE),
    *(_rule(words, Verdict.INFRA) for words in BENCH),
)
"""The words of harnesses and flash tools (`bench_words.py`)."""
