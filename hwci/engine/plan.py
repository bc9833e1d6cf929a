# SPDX-License-Identifier: Apache-2.0
"""What another configuration of a product would change, before it is sent (spec, "Classification").

This module decides which resolved failures are told of: those whose class or reason the checks
would then give otherwise. The checks are those of any page; only the configuration differs. A
review stays what it is, whatever the checks say (semantics, 8.2).
"""

from collections.abc import Iterator

from hwci.engine.answers import Plan, Reclassified
from hwci.engine.classify import Classifier
from hwci.engine.facts import Product, SuiteConfig
from hwci.engine.groups import Group, groups_of
from hwci.engine.history import History, Period, Scope
from hwci.engine.reading import by_class, counts, newest_first


def plan(history: History, period: Period, configuration: SuiteConfig) -> Plan:
    """Classify a product's failures of a period twice: as it is, and as it would be."""
    product = Product(configuration.repo_key, configuration.suite)
    groups = groups_of(history.failures(Scope(*product), period), history.reviews())
    present, planned = Classifier(history), Classifier(history, {product: configuration})
    resolved = by_class(groups, period, present)
    dated = [group for members in resolved.values() for group in members]
    return Plan(
        before=counts(resolved),
        after=counts(by_class(groups, period, planned)),
        changes=list(_changes(newest_first(dated, lambda group: group.first), present, planned)),
    )


def _changes(
    groups: list[Group], present: Classifier, planned: Classifier
) -> Iterator[Reclassified]:
    for group in groups:
        before, after = present.automatic(group), planned.automatic(group)
        if (before.failure_class, before.reason) != (after.failure_class, after.reason):
            first = group.first
            yield Reclassified(first.id, first.key, first.first, before, after, group.review)
