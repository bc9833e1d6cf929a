# SPDX-License-Identifier: Apache-2.0
"""What a database answers and derives, compared with the definition over all facts."""

import random
from collections import Counter

from hwci.contract.page.metrics import MetricsPage
from hwci.engine.facts import Facts
from hwci.engine.history import History, Scope
from hwci.engine.page import tables
from hwci.engine.page.evidence import evidence
from hwci.engine.page.over_time import read_dates
from hwci.engine.page.overview import read_page
from hwci.engine.rules.classify import Classifier
from hwci.engine.rules.labels import groups_at
from hwci.server.storage.ports import Writer
from hwci.server.storage.sqlite.checking import DERIVED
from hwci.server.storage.sqlite.connections import Connection
from tests.server.storage.histories import EVER, ORG, periods, questions, scopes
from tests.support.outcomes import FullRecordedRuns
from tests.support.reading import Reading, noted, read_period


def compare(seed: int, sql: Writer, facts: Facts) -> None:
    """Ask a database and the definition everything, and compare the answers."""
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
            dates = read_dates(narrow, scope, period)
            assert dates == read_dates(definition, scope, period), f"seed {seed}: dates"
            for rows in (2, 20):
                page = read_page(narrow, scope, period, rows)
                assert page == read_page(definition, scope, period, rows), f"seed {seed}: page"
                assert_begins(page, definition, fully, rows)
    for failure in list(definition.failures(Scope(), EVER))[:5]:
        for most in (3, 200):
            found = evidence(narrow, failure.id, most)
            assert found == evidence(definition, failure.id, most), f"seed {seed}: evidence"


def assert_begins(page: MetricsPage, history: History, whole: Reading, rows: int) -> None:
    """A page shows what the whole tables begin with."""
    others, flaky = tables.OtherSelection(limit=rows), tables.FlakySelection(limit=rows)
    for shown, listing in (
        (page.real_bugs, tables.real_bugs(history, whole.real_bugs, tables.Selection(limit=rows))),
        (page.other_failures, tables.other_failures(history, whole.other_failures, others)),
        (
            page.unchecked_merges,
            tables.unchecked_merges(whole.unchecked_merges, tables.Selection(limit=rows)),
        ),
        (page.flakiest_tests, tables.flakiest_tests(whole.flakiest_tests, flaky)),
    ):
        assert ([*shown.items], shown.total) == ([*listing.items], listing.total)


def decide_and_keep(sql: Writer, definition: FullRecordedRuns, seed: int) -> None:
    """What is still kept of earlier decisions is right; what was dropped is decided and kept."""
    classifier = Classifier(definition)
    episodes = sql.history(ORG).episodes(Scope(), EVER)
    for one, group in zip(episodes, groups_at(definition, episodes), strict=True):
        if one.decision is not None:
            assert one.decision[:2] == classifier.decide(group)[:2], f"seed {seed}: {one}"
    undecided = {one.id for one in episodes if one.decision is None and (one.fix or one.reviewed)}
    assert {one.id for one in sql.undecided(ORG, len(episodes))} == undecided, f"seed {seed}"
    found = read_period(sql.history(ORG), Scope(), EVER)
    sql.keep_decisions(noted(ORG, sql.version(ORG) - 1, found.decided))
    assert read_period(sql.history(ORG), Scope(), EVER).decided == found.decided
    sql.keep_decisions(noted(ORG, sql.version(ORG), found.decided))
    assert read_period(sql.history(ORG), Scope(), EVER).decided == []
    assert sql.undecided(ORG, 1) == []


# Tables of facts with derived columns in their rows.
MIXED = ("report", "item", "announcement")


def derived(connection: Connection) -> dict[str, Counter[tuple[object, ...]]]:
    """Return how often each row occurs: tables of facts whole; of ranks only the order counts."""
    return {
        table: Counter(connection.rows(f"SELECT {'*' if table in MIXED else columns} FROM {table}"))
        for table in DERIVED
        for columns in ["org_id, " + ", ".join(DERIVED[table])]
    }
