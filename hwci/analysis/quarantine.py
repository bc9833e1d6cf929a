# SPDX-License-Identifier: Apache-2.0
"""Which tests with known failures may be put into quarantine: not run until a rule ends.

A test that is not run finds no bug. So one that is broken, pending or suspected of a race in the
firmware is left out, as is one that nobody can tell of, or that fails in other ways, too
(semantics, 16.4). This module claims nothing of a test: `statements.py` does.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from hwci.analysis.failures.known_failures import Failed, known_by, known_rules
from hwci.analysis.flaky.suspect_words import LIKELY
from hwci.analysis.flaky.suspects import Suspect, suspects_of
from hwci.analysis.outcomes import RecordedRuns
from hwci.analysis.statement_words import answer
from hwci.analysis.statements import Known, known_of_row
from hwci.contract.boxes.benches import Note
from hwci.contract.known_failures import KnownFailure, KnownTest
from hwci.contract.vocabulary import Claim, CommitKind
from hwci.engine.facts import Product, TestKey
from hwci.engine.history import Scope
from hwci.engine.page.reading import read_failures, read_flakiest
from hwci.engine.periods import Period
from hwci.said import counted

_RACE = "a race in the firmware is suspected"
_BROKEN = "it is broken"
_LEFT_OUT: Mapping[Claim, str] = {
    Claim.NO_RUN: "no run tells of it",
    Claim.NOT_SEEN: "the boxes on which it fails run it no more",
    Claim.FAILS_NOW: _BROKEN,
    Claim.BROKEN: _BROKEN,
    Claim.ALIKE: _RACE,
}
"""The claims of a test that keep it out of quarantine."""
_UNDECIDED = {Claim.TOO_FEW, Claim.ONLY_BOX, Claim.FLAKY}
"""The claims that name neither boxes nor the firmware."""
_OF_FIRMWARE = {CommitKind.FIRMWARE, CommitKind.BOTH}


def known_tests(
    history: RecordedRuns, scope: Scope, period: Period, notes: Mapping[str, Note]
) -> list[KnownTest]:
    """Return the tests with failures in the period that a rule knows which has not ended at its
    end, by name. `notes`: the latest one of each box that has any.
    """
    if not active_rules(history, period.end):
        return []
    rules = _rules_by_test(history, scope, period)
    current = {
        key: [rule for rule in own if rule is not None and rule.until > period.end]
        for key, own in rules.items()
    }
    rows = [
        row
        for row in read_flakiest(history, scope, period)
        if current.get((Product(row.repo_key, row.suite), row.test_id))
    ]
    tests = []
    for suspect in suspects_of(history, scope, period, rows, notes):
        test = suspect.test
        key = Product(test.repo_key, test.suite), test.test_id
        known, unknown = known_of_row(suspect), rules[key].count(None)
        conclusion = answer(known)
        tests.append(
            KnownTest(
                repo_key=test.repo_key,
                suite=test.suite,
                test_id=test.test_id,
                known=known_by(current[key][0]),
                failures=len(rules[key]) - unknown,
                statement=conclusion.statement,
                says=conclusion.sentence,
                left_out=_left_out(suspect, known, conclusion.statement.claim, unknown),
            )
        )
    return sorted(tests, key=lambda test: (test.repo_key, test.suite, test.test_id))


def active_rules(history: RecordedRuns, now: datetime) -> Sequence[UUID]:
    """Return the rules that have not ended."""
    return [rule.id for rule in history.known_failures() if rule.until > now]


def _rules_by_test(
    history: RecordedRuns, scope: Scope, period: Period
) -> Mapping[TestKey, Sequence[KnownFailure | None]]:
    """Return for each failure of the period the rule by which it is known, by test."""
    failures = [row.failure for row in read_failures(history, scope, period)]
    rules = known_rules(
        history,
        {
            failure.id: Failed(
                failure.key.lane.test_id, failure.key.lane.box_key, failure.first.started_at
            )
            for failure in failures
        },
    )
    by_test: dict[TestKey, list[KnownFailure | None]] = defaultdict(list)
    for failure in failures:
        lane = failure.key.lane
        by_test[lane.product, lane.test_id].append(rules.get(failure.id))
    return by_test


def _left_out(suspect: Suspect, known: Known, claim: Claim, unknown: int) -> str | None:
    """Return why a test must be run. `unknown`: so many of its failures no rule knows."""
    if claim in _LEFT_OUT:
        return _LEFT_OUT[claim]
    if suspect.pending:
        return "it is pending: it has not passed since it failed"
    if claim in _UNDECIDED and _is_of_firmware(known):
        return _RACE
    if unknown:
        return f"{counted(unknown, 'failure')} of it no rule knows"
    return None


def _is_of_firmware(known: Known) -> bool:
    """Whether likely a commit that changed firmware made it flaky."""
    if isinstance(known.found, str):
        return False
    since = known.found.since
    of_firmware = sum(chance for kind, chance in since.by_kind.items() if kind in _OF_FIRMWARE)
    return since.before < LIKELY and of_firmware >= LIKELY
