# SPDX-License-Identifier: Apache-2.0
"""What another configuration of a product would change, before it is sent (spec, "Classification").

This module decides which resolved failures are told of: those whose class or reason the checks
would then give otherwise. The checks are those of any page; only the configuration differs. A
review stays what it is, whatever the checks say (semantics, 8.2). When the time is over, it tells
of those that it came to, the newest first.
"""

from collections import Counter
from collections.abc import Iterable

from hwci.engine.answers import ClassCounts, Classification, Plan, Reclassified
from hwci.engine.facts import Product, SuiteConfig
from hwci.engine.history import History, OutOfTimeError, Period, Scope
from hwci.engine.page.reading import counts, newest_first, resolved_in
from hwci.engine.rules.classify import Classifier, shown_as
from hwci.engine.rules.labels import Group, groups_of


def plan(history: History, period: Period, configuration: SuiteConfig) -> Plan:
    """Classify a product's failures of a period twice: as it is, and as it would be.

    Raises:
        OutOfTimeError: there was no time for a single one.
    """
    product = Product(configuration.repo_key, configuration.suite)
    groups = groups_of(history.failures(Scope(*product), period), history.reviews())
    resolved = newest_first(resolved_in(groups, period), lambda group: group.first)
    present, planned = Classifier(history), Classifier(history, {product: configuration})
    seen: list[tuple[Group, Classification, Classification]] = []
    try:
        for group in resolved:
            both = present.automatic(group), planned.automatic(group)
            seen.append((group, *both))
    except OutOfTimeError:
        if not seen:
            raise
    return Plan(
        before=_counts((group, before) for group, before, _ in seen),
        after=_counts((group, after) for group, _, after in seen),
        changes=[
            Reclassified(one.first.id, one.first.key, one.first.first, before, after, one.review)
            for one, before, after in seen
            if (before.failure_class, before.reason) != (after.failure_class, after.reason)
        ],
        looked_at=len(seen),
        failures=len(resolved),
    )


def _counts(seen: Iterable[tuple[Group, Classification]]) -> ClassCounts:
    return counts(Counter(shown_as(group, found).failure_class for group, found in seen))
