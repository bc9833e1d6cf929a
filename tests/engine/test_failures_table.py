# SPDX-License-Identifier: Apache-2.0
"""The list of failures, filtered, searched and sorted (contract, "CI metrics"), against a slow
reference; and which of its rows the tile "Flaky failures" counts (semantics, 4.6).
"""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwci.contract.vocabulary import FailureColumn, Label, Verdict
from hwci.engine.facts import FailureKey, Lane
from hwci.engine.history import FailingRun, Failure, Place
from hwci.engine.page.failures import LabelledFailure
from hwci.engine.page.tables import FailureSelection, Sort, labelled_failures
from hwci.engine.periods import Period
from tests.engine.slow_tables import LAW, SMALL, TEXTS, slowly_found, slowly_sorted
from tests.engine.timeline import ALL, Past, item, minute, report, seen

VALUES: dict[FailureColumn, Callable[[LabelledFailure], Any]] = {
    FailureColumn.FIRST_STARTED_AT: lambda row: row.failure.first.started_at,
    FailureColumn.LAST_STARTED_AT: lambda row: row.failure.last_started_at,
    FailureColumn.REPO_KEY: lambda row: row.failure.key.lane[0],
    FailureColumn.SUITE: lambda row: row.failure.key.lane[1],
    FailureColumn.TEST_ID: lambda row: row.failure.key.lane[2],
    FailureColumn.BOX_KEY: lambda row: row.failure.key.lane[3],
    FailureColumn.BRANCH: lambda row: row.failure.key.lane[4],
    FailureColumn.SHA: lambda row: row.failure.key.sha,
    FailureColumn.LABEL: lambda row: row.label.value,
    FailureColumn.ITEMS: lambda row: row.failure.items,
    FailureColumn.VERDICT: lambda row: row.failure.first.verdict.value,
}
TEST_IDS = st.sampled_from(["boot", "boot ß", "usb"])


@st.composite
def failures(draw: st.DrawFn) -> LabelledFailure:
    repo, suite, box, branch, sha = draw(st.tuples(TEXTS, TEXTS, TEXTS, TEXTS, TEXTS))
    first, more = minute(draw(SMALL)), minute(draw(SMALL))
    verdict = draw(st.sampled_from(list(Verdict)))
    failure = Failure(
        id=UUID(int=draw(SMALL)),
        key=FailureKey(Lane(repo, suite, draw(TEST_IDS), box, branch), sha),
        place=Place(first, 3, 0, sha),
        items=draw(SMALL),
        first=FailingRun(first, 1, 1, "hil", verdict, 1),
        last_started_at=max(first, more),
        passed=False,
        next_pass=None,
    )
    return LabelledFailure(failure, draw(st.sampled_from(list(Label))), None)


def slowly(rows: list[LabelledFailure], wanted: FailureSelection) -> list[LabelledFailure]:
    found = [row for row in rows if wanted.label is None or row.label == wanted.label]
    if wanted.test_id is not None:
        found = [row for row in found if row.failure.key.lane.test_id == wanted.test_id]
    if wanted.search is not None:
        texts = list(FailureColumn)[2:8]  # from the repository to the commit
        found = slowly_found(found, wanted.search, lambda row: [VALUES[one](row) for one in texts])
    if wanted.sort is None:
        return found
    return slowly_sorted(found, VALUES[wanted.sort.column], up=not wanted.sort.descending)


@LAW
@given(
    st.lists(failures()),
    st.none() | st.text("abAS ßé-", max_size=6),
    st.none() | st.builds(Sort, st.sampled_from(FailureColumn), st.booleans()),
    st.none() | st.sampled_from(Label),
    st.none() | TEST_IDS,
)
def test_failures_are_filtered_and_sorted_as_in_the_slow_reference(
    rows: list[LabelledFailure],
    search: str | None,
    sort: Sort[FailureColumn] | None,
    label: Label | None,
    test_id: str | None,
) -> None:
    wanted = FailureSelection(search, sort, label=label, test_id=test_id)

    found = labelled_failures(rows, wanted).items

    # By identity: rows may be equal, and must keep their order even so.
    assert [id(row) for row in found] == [id(row) for row in slowly(rows, wanted)]


PICTURE = """
    box-1 | a:P b:F c:F d:P e:F e:P f:I g:F
    box-2 topic | c:U d:P
"""


def labelled() -> Sequence[LabelledFailure]:
    return seen(PICTURE).and_also(report("e:F", 9), report("e:F", 10)).labelled()


def shas(**wanted: Any) -> str:
    found = labelled_failures(labelled(), FailureSelection(**wanted, limit=9))
    assert found.total == len(found.items)
    return " ".join(
        f"{one.failure.key.sha}/{one.failure.key.lane.box_key[-1]}" for one in found.items
    )


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        (None, "g/1 f/1 e/1 c/1 b/1 c/2"),
        (Sort(FailureColumn.FIRST_STARTED_AT), "c/2 b/1 c/1 e/1 f/1 g/1"),
        (Sort(FailureColumn.LAST_STARTED_AT, descending=True), "e/1 g/1 f/1 c/1 b/1 c/2"),
        (Sort(FailureColumn.ITEMS, descending=True), "e/1 g/1 f/1 c/1 b/1 c/2"),
        (Sort(FailureColumn.SHA), "b/1 c/1 c/2 e/1 f/1 g/1"),
        (Sort(FailureColumn.BOX_KEY, descending=True), "c/2 g/1 f/1 e/1 c/1 b/1"),
        (Sort(FailureColumn.LABEL), "e/1 g/1 f/1 c/1 b/1 c/2"),
        (Sort(FailureColumn.VERDICT), "g/1 e/1 c/1 b/1 f/1 c/2"),
    ],
)
def test_failures_are_sorted_newest_first_or_by_any_column(
    sort: Sort[FailureColumn] | None, order: str
) -> None:
    assert shas(sort=sort) == order


@pytest.mark.parametrize(
    ("search", "found"),
    [("TOPIC boots", "c/2"), ("board app box-1 c", "c/1"), ("topic box-1", ""), ("main G", "g/1")],
)
def test_failures_are_found_by_product_test_box_branch_and_their_own_commit(
    search: str, found: str
) -> None:
    assert shas(search=search) == found


def test_a_test_is_selected_by_its_whole_id() -> None:
    made = [report("a:-", n, tests=[item("F", name)]) for n, name in enumerate(("usb", "usb 2"))]
    past = Past(made)

    for test_id, total in (("usb", 1), ("us", 0), ("USB", 0), ("usb 2", 1)):
        found = labelled_failures(past.labelled(), FailureSelection(test_id=test_id, limit=9))
        assert found.total == total, test_id


def test_the_tile_counts_the_items_of_its_flakes_in_the_period_and_a_row_counts_all() -> None:
    past = seen("box-1 | a:F").and_also(report("a:F", 5), report("a:F", 9), report("a:P", 20))

    def shown(first: float, last: float) -> tuple[int, list[int]]:
        period = Period(minute(first), minute(last))
        tiles = past.page(ALL, period).tiles
        rows = labelled_failures(
            past.labelled(ALL, period), FailureSelection(label=Label.FLAKE, limit=9)
        )
        return tiles.flaky_failures.count, [row.failure.items for row in rows.items]

    assert shown(0, 99) == (3, [3])
    assert shown(1, 9) == (2, [3])
    assert shown(5, 5) == (1, [3])
    assert shown(10, 99) == (0, [])
