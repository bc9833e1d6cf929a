# SPDX-License-Identifier: Apache-2.0
"""A resolved failure as people read it: a group with its class, its suspects and its fix.

This module puts the answers about one group together (contract, "A resolved failure"). It does not
know which groups a page shows. A flake or a pending failure is given in the same shape, with its
label: that is what a reset may leave behind.
"""

from uuid import UUID

from hwci.engine.answers import Fix, ResolvedFailure
from hwci.engine.history import History
from hwci.engine.rules.causes import broken_by
from hwci.engine.rules.classify import Classifier
from hwci.engine.rules.labels import Group, group_of


def describe(history: History, group: Group, classifier: Classifier) -> ResolvedFailure:
    """Tell all about a group."""
    return ResolvedFailure(
        id=group.first.id,
        key=group.first.key,
        first=group.first.first,
        last_failing_sha=group.last.key.sha,
        failing_commits=len(group.failures),
        broken_by=broken_by(history, group, classifier.under_test(group)),
        fix=_fix(history, group),
        shown=classifier.shown(group),
        automatic=classifier.automatic(group),
        review=group.review,
        label=group.label,
    )


def resolved_failure(history: History, failure_id: UUID) -> ResolvedFailure | None:
    """Tell all about the group of a failure; None when there is no such failure."""
    failure = history.failure(failure_id)
    if failure is None:
        return None
    return describe(history, group_of(history, failure), Classifier(history))


def _fix(history: History, group: Group) -> Fix | None:
    """Give the first passed commit after the group, and when it first passed."""
    if group.fix is None:
        return None
    started_at = history.pass_started_at(group.first.key.lane, group.fix)
    return None if started_at is None else Fix(group.fix, started_at)
