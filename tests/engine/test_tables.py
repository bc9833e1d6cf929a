# SPDX-License-Identifier: Apache-2.0
"""Tables sorted and searched (contract, "CI metrics"), against a slow reference."""

from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwci.contract.flaky.flaky_tests import FlakyTest
from hwci.contract.runs.merges import Merge
from hwci.contract.vocabulary import FailureColumn, FlakyColumn, MergeColumn, ResolvedColumn
from hwci.engine.facts import Lane
from hwci.engine.full_history import FullHistory
from hwci.engine.page.reading import Classified
from hwci.engine.page.tables import (
    FAILURES,
    FLAKIEST,
    MERGES,
    RESOLVED,
    FlakySelection,
    OtherSelection,
    Selection,
    Sort,
    Table,
    flakiest_tests,
    other_failures,
    real_bugs,
    unchecked_merges,
)
from hwci.engine.rules.merges import in_order
from tests.engine.slow_tables import LAW, SMALL, TEXTS, slowly_found, slowly_sorted
from tests.engine.timeline import (
    MAIN,
    ORG,
    REPO,
    SUITE,
    Past,
    flaky_test,
    item,
    minute,
    report,
    seen,
)


@st.composite
def flaky_tests(draw: st.DrawFn) -> FlakyTest:
    names = draw(st.tuples(TEXTS, TEXTS, TEXTS))
    counts = draw(st.tuples(SMALL, SMALL, SMALL, SMALL, SMALL))
    return flaky_test(*names, *counts, draw(SMALL), draw(SMALL) / 2)


@st.composite
def merges(draw: st.DrawFn) -> Merge:
    suite = draw(st.none() | TEXTS)
    return Merge(draw(TEXTS), suite, draw(TEXTS), draw(TEXTS), minute(draw(SMALL)))


FLAKY_FIELDS = {
    "repoKey": "repo_key",
    "suite": "suite",
    "testId": "test_id",
    "boxes": "boxes",
    "runReports": "run_reports",
    "attempts": "attempts",
    "failedAttempts": "failed_attempts",
    "retryPasses": "retry_passes",
    "flakyFailures": "flaky_failures",
    "flakeRate": "flake_rate",
}


@LAW
@given(st.lists(flaky_tests()), st.sampled_from(list(FlakyColumn)), st.booleans())
def test_flaky_tests_stand_by_any_column_and_equal_ones_as_they_stood(
    rows: list[FlakyTest], column: FlakyColumn, down: bool
) -> None:
    found = FLAKIEST.listing(rows, Selection(sort=Sort(column, down))).items

    def value(row: FlakyTest) -> Any:
        return getattr(row, FLAKY_FIELDS[column.value])

    # By identity: rows may be equal, and must keep their order all the same.
    assert [id(row) for row in found] == [
        id(row) for row in slowly_sorted(rows, value, up=not down)
    ]


@LAW
@given(st.lists(merges()), st.sampled_from(list(MergeColumn)), st.booleans())
def test_merges_stand_by_any_column_and_equal_ones_as_they_stood(
    rows: list[Merge], column: MergeColumn, down: bool
) -> None:
    found = MERGES.listing(rows, Selection(sort=Sort(column, down))).items
    names = {MergeColumn.MERGED_AT: "merged_at", MergeColumn.REPO_KEY: "repo_key"}

    def value(row: Merge) -> str | datetime:
        given: str | datetime | None = getattr(row, names.get(column, column.value))
        return given or ""

    assert [id(row) for row in found] == [
        id(row) for row in slowly_sorted(rows, value, up=not down)
    ]


@LAW
@given(st.lists(flaky_tests()), st.text("abAS ßé-", max_size=6))
def test_a_row_is_found_when_every_word_occurs_in_one_of_its_texts(
    rows: list[FlakyTest], search: str
) -> None:
    found = FLAKIEST.listing(rows, Selection(search)).items

    assert found == slowly_found(rows, search, lambda row: [row.repo_key, row.suite, row.test_id])


@LAW
@given(
    st.lists(merges()),
    st.text("abUnsg ", max_size=4),
    st.sampled_from(list(MergeColumn)),
)
def test_what_is_found_stands_as_it_would_among_all(
    rows: list[Merge], search: str, column: MergeColumn
) -> None:
    def texts(row: Merge) -> list[str]:
        return [row.repo_key, row.suite or "Unassigned", row.branch, row.sha]

    everything = MERGES.listing(rows, Selection(sort=Sort(column))).items

    assert MERGES.listing(rows, Selection(search, Sort(column))).items == slowly_found(
        everything, search, texts
    )


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        (MERGES, MergeColumn),
        (RESOLVED, ResolvedColumn),
        (FLAKIEST, FlakyColumn),
        (FAILURES, FailureColumn),
    ],
)
def test_every_column_of_a_table_has_a_value(
    table: Table[Any, Any], columns: type[StrEnum]
) -> None:
    assert set(table.values) == set(columns)


def flaky(test_id: str, suite: str = SUITE) -> FlakyTest:
    return flaky_test(REPO, suite, test_id, 1, 1, 1, 1, 0, 0, 100.0)


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("uart", ["UART::tx", "uart fast"]),
        ("TX uart", ["UART::tx"]),
        ("uart fast", ["uart fast"]),
        ("appuart", []),
        ("app uart", ["UART::tx", "uart fast"]),
        ("STRASSE", ["Straße"]),
        ("boot-kit", ["spi"]),
        ("xyz", []),
    ],
)
def test_words_are_found_in_any_text_whatever_their_case(search: str, found: list[str]) -> None:
    rows = [flaky("UART::tx"), flaky("uart fast"), flaky("Straße"), flaky("spi", "boot-kit")]

    assert [row.test_id for row in FLAKIEST.listing(rows, Selection(search)).items] == found


def test_an_unassigned_merge_is_found_by_that_word_and_stands_before_those_of_products() -> None:
    made = [
        Merge(REPO, suite, sha, MAIN, minute(at))
        for at, (sha, suite) in enumerate([("c1", "app"), ("c2", None), ("c3", "app")])
    ]
    reading = Past().announced(*made).read()

    named = unchecked_merges(reading.unchecked_merges, Selection("unASSigned", limit=9))
    by_suite = unchecked_merges(
        reading.unchecked_merges, Selection(sort=Sort(MergeColumn.SUITE), limit=2)
    )
    assert ([one.sha for one in named.items], named.total) == (["c2"], 1)
    assert ([one.sha for one in by_suite.items], by_suite.total) == (["c2", "c3"], 3)


def test_merges_of_one_instant_stand_by_product_those_of_none_first() -> None:
    made = [Merge(REPO, suite, "c1", MAIN, minute(0)) for suite in ("app", "APP", None)]

    assert [merge.suite for merge in in_order(made)] == [None, "APP", "app"]


PICTURE = """
    box-1 | a:I b:P c:I d:I e:P f:U g:P h:F i:P
    box-2 topic | c:U d:P
"""
CHANGED = dict.fromkeys("hi", "fw")


def rows_of(**wanted: Any) -> list[str]:
    """Return the first failing commits of "Resolved by a bench or harness change", as asked for."""
    past = seen(PICTURE, CHANGED)
    found = other_failures(
        past.history, past.read().other_failures, OtherSelection(**wanted, limit=9)
    )
    assert found.total == len(found.items)
    return [f"{one.first_failure.sha}/{one.box_key[-1]}" for one in found.items]


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        (None, "f/1 c/1 c/2 a/1"),
        (Sort(ResolvedColumn.STARTED_AT), "a/1 c/2 c/1 f/1"),
        (Sort(ResolvedColumn.BOX_KEY), "f/1 c/1 a/1 c/2"),
        (Sort(ResolvedColumn.BOX_KEY, descending=True), "c/2 f/1 c/1 a/1"),
        (Sort(ResolvedColumn.BRANCH, descending=True), "c/2 f/1 c/1 a/1"),
        (Sort(ResolvedColumn.FAILING_COMMITS, descending=True), "c/1 f/1 c/2 a/1"),
        (Sort(ResolvedColumn.VERDICT), "c/1 a/1 f/1 c/2"),
        (Sort(ResolvedColumn.CLASS), "f/1 c/2 c/1 a/1"),
    ],
)
def test_resolved_failures_stand_by_any_column(
    sort: Sort[ResolvedColumn] | None, order: str
) -> None:
    assert " ".join(rows_of(sort=sort)) == order


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("box-2", ["c/2"]),
        ("TOPIC boots", ["c/2"]),
        ("board app box-1 main", ["f/1", "c/1", "a/1"]),
        ("topic box-1", []),
    ],
)
def test_resolved_failures_are_found_by_product_test_box_and_branch(
    search: str, found: list[str]
) -> None:
    assert rows_of(search=search) == found


def test_a_resolved_failure_is_found_by_its_first_and_last_commit_and_its_fix() -> None:
    past = seen("box-1 | 1111aaa:P 2222bbb:F 3333ccc:F 4444ddd:F 5555eee:P", {"2222bbb": "fw"})
    reading = past.read()

    for search, total in [("2222", 1), ("4444DDD", 1), ("5555eee", 1), ("1111", 0), ("3333", 0)]:
        real = real_bugs(past.history, reading.real_bugs, Selection(search, limit=9)).total
        others = other_failures(
            past.history, reading.other_failures, OtherSelection(search, limit=9)
        ).total
        assert real + others == total, search


def test_a_slice_of_what_matches_is_described_and_nothing_else() -> None:
    described: list[str] = []

    class Counting(FullHistory):
        def pass_started_at(self, lane: Lane, sha: str) -> datetime | None:
            described.append(sha)
            return super().pass_started_at(lane, sha)

    past = seen(PICTURE, CHANGED)
    history = Counting(ORG, past.facts)
    wanted = OtherSelection("box-1", Sort(ResolvedColumn.STARTED_AT))

    found = other_failures(history, past.read().other_failures, replace(wanted, offset=1, limit=1))

    assert ([one.first_failure.sha for one in found.items], found.total) == (["c"], 3)
    assert described == ["e"]


def test_flaky_tests_are_searched_and_sorted_before_they_are_cut() -> None:
    names = ["uart", "spi", "Uart 2", "gpio"]
    past = Past([report("a:-", n, tests=[item("F", name)]) for n, name in enumerate(names)])
    wanted = FlakySelection("uart", Sort(FlakyColumn.TEST_ID, descending=True))

    found = flakiest_tests(past.read().flakiest_tests, replace(wanted, limit=1))

    assert ([one.test_id for one in found.items], found.total) == (["uart"], 2)


def test_a_resolved_failure_is_held_with_the_class_that_people_see() -> None:
    past = seen("box-1 | a:P b:F c:P d:F e:P", {"b": "fw", "c": "fw"}).reviewed("d", "dismiss")
    reading = past.read()

    rows: list[Classified] = [*reading.real_bugs, *reading.other_failures]
    result = {row.episode.key.sha: row.failure_class.value for row in rows}
    assert result == {"b": "real_fw_bug", "d": "dismissed"}
