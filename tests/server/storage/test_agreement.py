# SPDX-License-Identifier: Apache-2.0
"""Narrow answers from a database equal the engine's definition over all facts."""

import random
from collections.abc import Sequence
from datetime import timedelta
from functools import partial

import pytest

from hwci.contract.failures.failures import Review
from hwci.contract.people import Actor
from hwci.contract.vocabulary import ReviewAction
from hwci.engine.facts import StoredReview
from hwci.engine.history import Scope
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Writer
from hwci.server.storage.records import Kept as Kind
from tests.server.storage.agreeing import compare
from tests.server.storage.conftest import NewDatabase
from tests.server.storage.histories import EVER, NOON, ORG, HistoryDraw
from tests.server.storage.kept import Kept
from tests.support.soak import rounds

HISTORIES = rounds(8, 160)
AT_ONCE = 4


def fill(seed: int, kept: Kept, sql: Writer) -> None:
    """Send one random history to a database and the reference, asking both as it grows."""
    draw = HistoryDraw(seed)
    removals = random.Random(seed)
    both: tuple[Writer | Kept, ...] = (sql, kept)
    events = draw.random.randrange(4, 40)
    for number in range(events):
        if draw.random.random() < 0.3:
            announcement, config = draw.announcement(), draw.config()
            for writer in both:
                writer.announce(ORG, announcement, NOON)
                writer.put_config(ORG, config, NOON)
        if draw.random.random() < 0.25:
            review(draw.random, kept, both)
        if removals.random() < 0.1:
            remove(removals, both)
        report = draw.next_report()
        for writer in both:
            writer.put_report(ORG, report, NOON)
        if number % 13 == 12 or number == events - 1:
            compare(seed, sql, kept.facts(ORG))


def review(draw: random.Random, kept: Kept, both: Sequence[Writer | Kept]) -> None:
    """Review a failure, or take a review back; a store does not ask whether it is legal."""
    failures = sorted(kept.history(ORG).failures(Scope(), EVER), key=lambda one: one.id)
    reviewed = sorted(kept.reviews)
    for writer in both if failures and draw.random() < 0.8 else ():
        failure = failures[len(failures) // 2]
        action = list(ReviewAction)[len(failures) % 2]
        word = StoredReview(failure.key, Review(action, Actor(ORG, "Ada"), NOON))
        writer.put_review(ORG, failure.id, word)
    for writer in both if draw.random() < 0.2 else ():
        writer.drop_reviews(ORG, reviewed[:1])


def remove(draw: random.Random, both: Sequence[Writer | Kept]) -> None:
    """Keep something no longer, in turns."""
    kind, before = draw.choice(list(Kind)), NOON + timedelta(hours=draw.randrange(1, 9))
    most = draw.choice((1, 3, 99))
    for writer in both:
        while writer.drop_aged(ORG, kind, before, most):
            pass


@pytest.mark.parametrize("first", range(0, HISTORIES, AT_ONCE))
async def test_every_answer_equals_the_definition(first: int, new_database: NewDatabase) -> None:
    for seed in range(first, first + AT_ONCE):
        storage = open_storage(new_database())
        # A busy machine takes longer than a request may.
        await storage.write(partial(fill, seed, Kept()), seconds=600)
        await storage.close()
