# SPDX-License-Identifier: Apache-2.0
"""What another configuration of a product would change, before it is sent (spec, "Classification").

This module decides which resolved failures are listed: those that the checks would give another
class or reason. A review stays, whatever the checks give (semantics, 8.2). If the time runs out,
only the newest failures are compared.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from hwci.engine.facts import FailureKey, Product, Review, SuiteConfig
from hwci.engine.history import FailingRun, History, OutOfTimeError, Scope
from hwci.engine.page.reading import ClassCounts, resolved_episodes
from hwci.engine.periods import Period
from hwci.engine.rules.classify import Classification, Classifier, shown_class
from hwci.engine.rules.labels import Group, groups_at


@dataclass(frozen=True, slots=True)
class Reclassified:
    """A resolved failure that the checks would class otherwise with another configuration."""

    id: UUID
    key: FailureKey
    first: FailingRun
    before: Classification
    after: Classification
    review: Review | None


@dataclass(frozen=True, slots=True)
class Plan:
    """The tile, and each failure classed otherwise, of the newest `looked_at` of all `failures`."""

    before: ClassCounts
    after: ClassCounts
    changes: Sequence[Reclassified]
    looked_at: int
    failures: int


def plan(history: History, period: Period, configuration: SuiteConfig) -> Plan:
    """Classify a product's failures of a period with its configuration and with another one. Raises
    `OutOfTimeError`: there was no time for a single one.
    """
    product = Product(configuration.repo_key, configuration.suite)
    resolved = resolved_episodes(history, Scope(*product), period)
    present, planned = Classifier(history), Classifier(history, {product: configuration})
    compared: list[tuple[Group, Classification, Classification]] = []
    try:
        for group in groups_at(history, [one.episode for one in resolved]):
            both = present.automatic(group), planned.automatic(group)
            compared.append((group, *both))
    except OutOfTimeError:
        if not compared:
            raise
    return Plan(
        before=ClassCounts.of(
            Counter(shown_class(one.review, old).failure_class for one, old, _ in compared)
        ),
        after=ClassCounts.of(
            Counter(shown_class(one.review, new).failure_class for one, _, new in compared)
        ),
        changes=[
            Reclassified(one.first.id, one.first.key, one.first.first, before, after, one.review)
            for one, before, after in compared
            if (before.failure_class, before.reason) != (after.failure_class, after.reason)
        ],
        looked_at=len(compared),
        failures=len(resolved),
    )
