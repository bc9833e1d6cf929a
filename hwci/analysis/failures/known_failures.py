# SPDX-License-Identifier: Apache-2.0
"""Which failures are known, by the rules that people made (semantics, 16).

It is decided when somebody reads, so a rule counts for what failed before it was made, too. No
label, class or count knows of it. The first rule that matches is the one that is shown.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import NamedTuple
from uuid import UUID

from hwci.analysis.outcomes import RecordedRuns
from hwci.contract.known_failures import KnownBy, KnownFailure
from hwci.engine.starred import ANY, matcher


class Failed(NamedTuple):
    """A test that failed on a box in a run that started then."""

    test_id: str
    box_key: str
    started_at: datetime


class _Rule(NamedTuple):
    """A rule, ready to match. `has_message` None: any message will do, and none."""

    rule: KnownFailure
    is_of_test: Callable[[str], bool]
    has_message: Callable[[str], bool] | None


class KnownFailures:
    """The rules of an organization, ready to match."""

    def __init__(self, rules: Sequence[KnownFailure]) -> None:
        self._rules = [
            _Rule(
                rule,
                matcher(rule.test_id or ANY),
                None if rule.message is None else matcher(f"{ANY}{rule.message}{ANY}"),
            )
            for rule in rules
        ]
        self._of_test = cache(self._those_of_test)  # many failures are of one test

    def match(self, failed: Failed, message: str | None) -> KnownFailure | None:
        """Return the first rule that matches a failure with this message; None: it is not known."""
        return _first_that_has(self.that_may_match(failed), message)

    def that_may_match(self, failed: Failed) -> Sequence[_Rule]:
        """Return the rules that match a failure, whatever its message is."""
        return [
            rule
            for rule in self._of_test(failed.test_id)
            if rule.rule.box_key in {None, failed.box_key} and failed.started_at < rule.rule.until
        ]

    def _those_of_test(self, test_id: str) -> Sequence[_Rule]:
        return [rule for rule in self._rules if rule.is_of_test(test_id)]


def _first_that_has(rules: Sequence[_Rule], message: str | None) -> KnownFailure | None:
    """Return the first of these rules that a message matches; None: none does."""
    for rule, _, has_message in rules:
        if has_message is None or (message is not None and has_message(message)):
            return rule
    return None


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
    candidates: dict[UUID, Sequence[_Rule]] = {}
    for failure_id, failed in failures.items():
        history.check_time()
        if rules := known_failures.that_may_match(failed):
            candidates[failure_id] = rules
    messages = history.messages(
        [
            failure_id
            for failure_id, rules in candidates.items()
            if any(rule.has_message is not None for rule in rules)
        ]
    )
    known: dict[UUID, KnownFailure] = {}
    for failure_id, rules in candidates.items():
        history.check_time()
        rule = _first_that_has(rules, messages.get(failure_id))
        if rule is not None:
            known[failure_id] = rule
    return known
