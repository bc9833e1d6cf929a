# SPDX-License-Identifier: Apache-2.0
"""Which failures are known, by the rules that people made (semantics, 16).

It is decided when somebody reads, so a rule counts for what failed before it was made, too. No
label, class or count knows of it. The first rule that matches is the one that is shown.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import NamedTuple
from uuid import UUID

from hwci.analysis.outcomes import RecordedRuns
from hwci.contract.known_failures import KnownBy, KnownFailure

ANY = "*"
"""What stands for any characters in a pattern; nothing else is special."""


class Failed(NamedTuple):
    """A test that failed on a box in a run that started then."""

    test_id: str
    box_key: str
    started_at: datetime


class KnownFailures:
    """The rules of an organization, ready to match."""

    def __init__(self, rules: Sequence[KnownFailure]) -> None:
        @cache
        def of_test(test_id: str) -> Sequence[KnownFailure]:
            return [rule for rule in rules if _fits(rule.test_id, test_id)]

        self._of_test = of_test

    def that_may_match(self, failed: Failed) -> Sequence[KnownFailure]:
        """Return the rules that match a failure, whatever its message is."""
        return [
            rule
            for rule in self._of_test(failed.test_id)
            if rule.box_key in {None, failed.box_key} and failed.started_at < rule.until
        ]

    def match(self, failed: Failed, message: str | None) -> KnownFailure | None:
        """Return the first rule that matches a failure with this message; None: it is not known."""
        return _first(self.that_may_match(failed), message)


def known_by(rule: KnownFailure) -> KnownBy:
    """Return what is said of a failure that a rule matches."""
    says = f"known: {rule.ticket} until {rule.until:%Y-%m-%d}"
    return KnownBy(id=rule.id, ticket=rule.ticket, until=rule.until, says=says)


def known_rules(
    history: RecordedRuns, failures: Mapping[UUID, Failed]
) -> Mapping[UUID, KnownFailure]:
    """Return the rule by which each of these failures is known, by its message as `messages` has
    it; no entry for one that is not.
    """
    if not history.known_failures():
        return {}
    known_failures = KnownFailures(history.known_failures())
    candidates: dict[UUID, Sequence[KnownFailure]] = {}
    for failure_id, failed in failures.items():
        history.check_time()
        if rules := known_failures.that_may_match(failed):
            candidates[failure_id] = rules
    messages = history.messages(
        [
            failure_id
            for failure_id, rules in candidates.items()
            if any(rule.message is not None for rule in rules)
        ]
    )
    rows = {
        failure_id: _first(rules, messages.get(failure_id))
        for failure_id, rules in candidates.items()
    }
    return {failure_id: rule for failure_id, rule in rows.items() if rule is not None}


def _first(rules: Sequence[KnownFailure], message: str | None) -> KnownFailure | None:
    return next(
        (rule for rule in rules if rule.message is None or _has(rule.message, message)), None
    )


def _has(pattern: str, message: str | None) -> bool:
    """Whether a message has what a pattern says, anywhere."""
    return message is not None and _fits(f"{ANY}{pattern}{ANY}", message)


def _fits(pattern: str | None, text: str) -> bool:
    """Whether a pattern matches a whole text. Each part between two `*` is looked for once, from
    where the one before ended: the first place is as good as any later one.
    """
    if pattern is None:
        return True
    first, *others = pattern.split(ANY)
    if not others:
        return text == pattern
    *middle, last = others
    if not text.startswith(first):
        return False
    at = len(first)
    for part in middle:
        found = text.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return len(text) - at >= len(last) and text.endswith(last)
