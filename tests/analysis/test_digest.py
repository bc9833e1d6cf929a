# SPDX-License-Identifier: Apache-2.0
"""What a digest tells of a period, however short: by small pictures."""

from datetime import timedelta

import pytest

from hwci.analysis.periods.digest import LOOK_BACK, ROWS_MAX, digest
from hwci.contract.periods.digest import DigestRow
from hwci.contract.runs.merges import Merge
from hwci.contract.vocabulary import DigestSubject, NameKind
from hwci.engine.facts import Report
from hwci.engine.periods import Period
from tests.analysis.stories import run
from tests.engine.timeline import ALL, MAIN, ORG, REPO, SUITE, Past, minute
from tests.support.outcomes import FullRecordedRuns

HOUR, DAY = 60, 24 * 60


def told(past: Past, start: float, end: float) -> dict[DigestSubject, list[str]]:
    """Return the rows of each section of the digest of what lies between two minutes."""
    period = Period(minute(start), minute(end))
    found = digest(FullRecordedRuns(ORG, past.facts), ALL, period)
    assert [section.subject for section in found.sections] == [*DigestSubject]
    for section in found.sections:
        assert section.says.endswith(f": {section.total}") == (section.total > 0)
    return {section.subject: [*map(text, section.rows)] for section in found.sections}


def text(row: DigestRow) -> str:
    return "".join(part.text for part in row.parts)


def broken_from(at: float, until: float, box: str = "box-1") -> list[Report]:
    """A test fails between two minutes, on commit b, and passes before on a and then on c."""
    return [
        run("a", at - 1, {"i2c": "P"}, box),
        run("b", at, {"i2c": "F"}, box, base="a"),
        run("c", until, {"i2c": "P"}, box, base="b"),
    ]


def test_what_began_in_the_period_and_still_fails_is_newly_broken() -> None:
    past = Past(broken_from(5 * HOUR, 9 * HOUR)[:2])
    row = "i2c on box-1, branch main since 2026-01-01, broken by b"

    assert told(past, 4 * HOUR, 6 * HOUR)[DigestSubject.BROKEN] == [row]
    assert told(past, 6 * HOUR, 8 * HOUR)[DigestSubject.BROKEN] == []


@pytest.mark.parametrize(
    ("start", "end", "is_fixed"),
    [(4, 8, False), (4, 9, True), (8, 10, True), (9, 10, True), (9.5, 10, False)],
)
def test_what_passed_again_in_the_period_is_fixed_whenever_it_failed(
    start: float, end: float, is_fixed: bool
) -> None:
    past = Past(broken_from(5 * HOUR, 9 * HOUR))
    rows = told(past, start * HOUR, end * HOUR)[DigestSubject.FIXED]
    assert rows == (["i2c on box-1, branch main, by c"] if is_fixed else [])


def test_what_failed_longer_ago_than_it_looks_back_is_not_told_as_fixed() -> None:
    back = LOOK_BACK / timedelta(minutes=1)
    past = Past(broken_from(5, back + 10))
    assert told(past, back + 4, back + 20)[DigestSubject.FIXED] != []
    assert told(past, back + 6, back + 20)[DigestSubject.FIXED] == []


def test_a_bench_is_silent_after_a_day_without_a_run_however_short_the_period_is() -> None:
    past = Past([run("a", 5, {"i2c": "P"}), run("b", 3 * DAY, {"i2c": "P"}, "box-2")])
    for start, end, silent in (
        (3 * DAY - 10, 3 * DAY, ["box-1"]),
        (4, 20 * HOUR, []),
        (20 * HOUR, 21 * HOUR, []),
        (25 * HOUR, 26 * HOUR, ["box-1"]),
        (2, 3 * DAY, []),
        (10 * DAY, 17 * DAY, ["box-1", "box-2"]),
        (20 * DAY, 21 * DAY, []),  # longer ago than it looks back
    ):
        assert told(past, start, end)[DigestSubject.SILENT] == silent, (start, end)


def test_flakes_and_merges_that_nothing_ran_are_told_and_a_quiet_time_tells_nothing() -> None:
    past = Past([run("a", 1, {"i2c": "F"}), run("a", 2, {"i2c": "P"})])
    past = past.announced(Merge(REPO, SUITE, "b", MAIN, minute(3)))
    found = told(past, 0, 5)
    assert found[DigestSubject.FLAKY] == ["i2c: 1 of 2 attempts failed"]
    assert found[DigestSubject.UNCHECKED] == ["b to main, merged 2026-01-01"]
    assert told(past, 10, 15) == {subject: [] for subject in DigestSubject}


def test_of_many_the_first_are_rows_and_names_are_marked() -> None:
    names = [f"test{number:02}" for number in range(ROWS_MAX + 2)]
    runs = [run("a", 1, dict.fromkeys(names, "F")), run("a", 2, dict.fromkeys(names, "P"))]
    found = digest(FullRecordedRuns(ORG, Past(runs).facts), ALL, Period(minute(0), minute(5)))
    flaky = next(one for one in found.sections if one.subject is DigestSubject.FLAKY)
    assert (flaky.says, flaky.total, len(flaky.rows)) == ("Flaky: 12", 12, ROWS_MAX)
    assert (flaky.rows[0].repo_key, flaky.rows[0].suite) == (REPO, SUITE)
    assert [part.kind for part in flaky.rows[0].parts] == [NameKind.TEST, None]


@pytest.mark.parametrize(
    ("boxes", "where"),
    [(2, "box-0 and box-1"), (3, "box-0, box-1 and box-2"), (5, "box-0, box-1, box-2 and 2 more")],
)
def test_of_many_boxes_three_are_named(boxes: int, where: str) -> None:
    runs = [one for box in range(boxes) for one in broken_from(5 + box / 9, 9, f"box-{box}")[:2]]
    (row,) = told(Past(runs), 0, 8)[DigestSubject.BROKEN]
    assert row.startswith(f"i2c on {where}, branch main since")


def test_a_period_at_the_beginning_of_time_has_nothing_before_it() -> None:
    past = Past([run("a", 1, {"i2c": "P"})])
    first = Period(minute(0).replace(year=1), minute(0).replace(year=1, hour=3))
    found = digest(FullRecordedRuns(ORG, past.facts), ALL, first)
    assert {section.total for section in found.sections} == {0}
