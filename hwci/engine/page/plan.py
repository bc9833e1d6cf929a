# SPDX-License-Identifier: Apache-2.0
"""What another configuration of a product would change, before it is sent (spec, "Classification").

This module decides which resolved failures are listed: those that the checks would give another
class or reason. A review stays, whatever the checks give (semantics, 8.2). If the time runs out,
only the newest failures are compared.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from hwci.contract.failures.failures import ReclassifiedFailure
from hwci.contract.page.metrics import RealFwBugs, SuiteConfigPlan
from hwci.contract.scope import ProductKey
from hwci.contract.shape import ListPage
from hwci.engine.facts import Product, SuiteConfig
from hwci.engine.history import History, OutOfTimeError, Scope
from hwci.engine.page.reading import bugs_by_class, resolved_episodes
from hwci.engine.periods import Period
from hwci.engine.rules.classify import Classification, Classifier, shown_class
from hwci.engine.rules.labels import Group, groups_at


def plan(
    history: History,
    period: Period,
    configuration: SuiteConfig,
    paged: Callable[[Sequence[ReclassifiedFailure]], ListPage[ReclassifiedFailure]],
) -> SuiteConfigPlan:
    """Classify a product's failures of a period with its configuration and with another one.
    `paged`: the page of the changes that is shown. Raises `OutOfTimeError`: there was no time for a
    single one.
    """
    product = Product(configuration.repo_key, configuration.suite)
    resolved = resolved_episodes(history, Scope(*product), period)
    present, planned = Classifier(history), Classifier(history, {product: configuration})
    compared: list[tuple[Group, Classification, Classification]] = []
    try:
        for group in groups_at(history, [row.episode for row in resolved]):
            both = present.automatic(group), planned.automatic(group)
            compared.append((group, *both))
    except OutOfTimeError:
        if not compared:
            raise
    return SuiteConfigPlan(
        period=period,
        product=ProductKey(repo_key=product.repo_key, suite=product.suite),
        before=_counted((group, old) for group, old, _ in compared),
        after=_counted((group, new) for group, _, new in compared),
        changes=paged(
            [
                _reclassified(group, before, after)
                for group, before, after in compared
                if (before.failure_class, before.reason) != (after.failure_class, after.reason)
            ]
        ),
        complete=len(compared) == len(resolved),
        looked_at=len(compared),
        failures=len(resolved),
    )


def _counted(classes: Iterable[tuple[Group, Classification]]) -> RealFwBugs:
    return bugs_by_class(
        Counter(shown_class(group.review, automatic).failure_class for group, automatic in classes)
    )


def _reclassified(
    group: Group, before: Classification, after: Classification
) -> ReclassifiedFailure:
    first = group.first
    return ReclassifiedFailure(
        **first.key.lane._asdict(),
        id=first.id,
        sha=first.key.sha,
        started_at=first.first.started_at,
        before=before.told,
        after=after.told,
        review=group.review,
    )
