# SPDX-License-Identifier: Apache-2.0
"""Narrow answers from a database equal the engine's definition over all facts."""

import random
from collections.abc import Sequence
from functools import partial

import pytest

from hwci.engine.facts import Facts, Review
from hwci.engine.history import History, Scope
from hwci.engine.page import tables
from hwci.engine.page.failures import evidence
from hwci.engine.page.over_time import read_dates
from hwci.engine.page.overview import Page, read_page
from hwci.engine.rules.classify import Classifier
from hwci.engine.rules.labels import groups_at
from hwci.engine.vocabulary import ReviewAction
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Writer
from tests.server.storage.conftest import NewDatabase
from tests.server.storage.histories import (
    EVER,
    NOON,
    ORG,
    HistoryDraw,
    periods,
    questions,
    scopes,
)
from tests.server.storage.kept import Kept
from tests.support.outcomes import FullRecordedRuns
from tests.support.reading import Reading, read_period
from tests.support.soak import rounds

HISTORIES = rounds(8, 160)
AT_ONCE = 4


def fill(seed: int, kept: Kept, sql: Writer) -> None:
    """Send one random history to a database and the reference, asking both as it grows."""
    draw = HistoryDraw(seed)
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
        word = Review(failure.key, action, "ada", "Ada", NOON, number=0)
        writer.put_review(ORG, failure.id, word)
    for writer in both if draw.random() < 0.2 else ():
        writer.drop_reviews(ORG, reviewed[:1])


def compare(seed: int, sql: Writer, facts: Facts) -> None:
    assert sql.facts(ORG) == facts
    narrow, definition = sql.history(ORG), FullRecordedRuns(ORG, facts)
    decide_and_keep(sql, definition, seed)
    answers = zip(
        questions(narrow, facts, random.Random(seed)),
        questions(definition, facts, random.Random(seed)),
        strict=True,
    )
    for (question, narrowly), (_, fully) in answers:
        assert narrowly == fully, f"seed {seed}: {question}"
    for scope in scopes():
        for period in periods(random.Random(seed)):
            narrowly, fully = (read_period(one, scope, period) for one in (narrow, definition))
            dates = read_dates(narrow, scope, period, [])
            assert dates == read_dates(definition, scope, period, []), f"seed {seed}: dates"
            for rows in (2, 20):
                page = read_page(narrow, scope, period, rows)
                assert page == read_page(definition, scope, period, rows), f"seed {seed}: page"
                assert_begins(page, definition, fully, rows)
    for failure in list(definition.failures(Scope(), EVER))[:5]:
        for most in (3, 200):
            found = evidence(narrow, failure.id, most)
            assert found == evidence(definition, failure.id, most), f"seed {seed}: evidence"


def assert_begins(page: Page, history: History, whole: Reading, rows: int) -> None:
    """A page shows what the whole tables begin with."""
    others, flaky = tables.OtherSelection(limit=rows), tables.FlakySelection(limit=rows)
    assert page.real_bugs == tables.real_bugs(
        history, whole.real_bugs, tables.Selection(limit=rows)
    )
    assert page.other_failures == tables.other_failures(history, whole.other_failures, others)
    assert page.unchecked_merges == tables.unchecked_merges(
        whole.unchecked_merges, tables.Selection(limit=rows)
    )
    assert page.flakiest_tests == tables.flakiest_tests(whole.flakiest_tests, flaky)


def decide_and_keep(sql: Writer, definition: FullRecordedRuns, seed: int) -> None:
    """What is still kept of earlier decisions is right; what was dropped is decided and kept."""
    classifier = Classifier(definition)
    episodes = sql.history(ORG).episodes(Scope(), EVER)
    for one, group in zip(episodes, groups_at(definition, episodes), strict=True):
        if one.decision is not None:
            assert one.decision[:2] == classifier.decide(group)[:2], f"seed {seed}: {one}"
    found = read_period(sql.history(ORG), Scope(), EVER)
    sql.keep_decisions(ORG, sql.version(ORG) - 1, found.decided)
    assert read_period(sql.history(ORG), Scope(), EVER).decided == found.decided
    sql.keep_decisions(ORG, sql.version(ORG), found.decided)
    assert read_period(sql.history(ORG), Scope(), EVER).decided == []


@pytest.mark.parametrize("first", range(0, HISTORIES, AT_ONCE))
async def test_every_answer_equals_the_definition(first: int, new_database: NewDatabase) -> None:
    for seed in range(first, first + AT_ONCE):
        storage = open_storage(new_database())
        # A busy machine takes longer than a request may.
        await storage.write(partial(fill, seed, Kept()), seconds=600)
        await storage.close()
