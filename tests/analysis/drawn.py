# SPDX-License-Identifier: Apache-2.0
"""Facts drawn by a seed, to ask what would change the class of their failures."""

import random
from dataclasses import replace

from hwci.contract.failures.failures import Review
from hwci.contract.people import Actor
from hwci.contract.runs.commits import ChangeList
from hwci.contract.vocabulary import Label, ReviewAction
from hwci.engine.facts import Facts, Product, Report, StoredReview
from hwci.engine.full_history import FullHistory
from hwci.engine.history import Scope
from hwci.engine.rules.labels import Group, groups_of
from tests.engine.timeline import CONFIG, ORG, REPO, SUITE, changes, commit, report
from tests.server.storage.histories import EVER, NOON, HistoryDraw


def line(seed: int) -> Facts:
    """Draw commits that one box ran one after the other, with lists that are missing or cut."""
    draw = random.Random(seed)
    shas = [f"{number:07x}" for number in range(9)]
    reports: list[Report] = []
    before: str | None = None
    for minute, sha in enumerate(shas):
        listed = []
        if draw.random() < 0.85:
            changed = draw.choice(["fw", "fw", "hs", "fw hs", "doc"])
            listed = [commit(sha, changed + draw.choice(["", "", " ~"]))]
        base = draw.choice([None, before, before, before])
        lists = changes(base, *listed, truncated=draw.random() < 0.15)
        unsent = draw.random() < 0.25 or before is None
        outcome = draw.choice("FFFUIPPP")
        reports.append(report(f"{sha}:{outcome}", minute, sent=None if unsent else lists))
        before = sha if draw.random() < 0.9 else before
    configs = {} if draw.random() < 0.1 else {Product(REPO, SUITE): CONFIG}
    return Facts(reports=tuple(reports), configs=configs)


def tangle(seed: int) -> Facts:
    """Draw a history of reports that meet by chance. A list that is based on its own commit is
    empty, as reporters send it.
    """
    draw = HistoryDraw(seed)
    reports: dict[object, Report] = {}
    for _ in range(60):
        one = draw.next_report()
        if one.changes is not None and one.changes.base_sha == one.sha:
            one = replace(one, changes=ChangeList(one.sha))
        reports[one.repo_key, one.run_id, one.run_attempt, one.box_key] = one
    configs = {Product(one.repo_key, one.suite): one for one in (draw.config() for _ in range(3))}
    facts = Facts(reports=tuple(reports.values()), configs=configs)
    reviews = {
        group.first.key: StoredReview(
            group.first.key,
            Review(draw.random.choice(list(ReviewAction)), Actor(ORG, "Ada"), NOON),
            number,
        )
        for number, group in enumerate(resolved(facts))
        if draw.random.random() < 0.1
    }
    return replace(facts, reviews=reviews)


def drawn(seed: int) -> Facts:
    """Draw a line of commits, or every fifth time a tangle."""
    return tangle(seed) if seed % 5 == 4 else line(seed)


def resolved(facts: Facts) -> list[Group]:
    """Return the failures that are resolved."""
    history = FullHistory(ORG, facts)
    groups = groups_of(history, history.failures(Scope(), EVER))
    return [one for one in groups if one.label is Label.RESOLVED]
