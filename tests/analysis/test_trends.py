# SPDX-License-Identifier: Apache-2.0
"""Trends: a period against the one before, on small examples, and on random histories by the pages
of both.
"""

import random
from datetime import UTC, datetime, timedelta

from hwci.analysis.certainty import Tally
from hwci.analysis.periods.trends import period_before, share_change, trends
from hwci.contract.page.metrics import Tiles
from hwci.contract.periods.trends import ShareChange, Trends
from hwci.engine.history import Scope
from hwci.engine.page.overview import read_page
from hwci.engine.periods import Period, last_days
from tests.engine.timeline import ALL, BOX, REPO, SUITE, Past, minute, report, seen
from tests.support.soak import rounds

DAY = 24 * 60
NOW = minute(4 * DAY)


def test_the_change_of_a_share_has_the_interval_of_a_published_example() -> None:
    # Newcombe, Statistics in Medicine 17 (1998), table II, examples (a) and (h), method 10.
    change = share_change(Tally(56, 70), Tally(48, 80))
    assert rounded(change) == [0.2, 0.0524, 0.3339]
    assert rounded(share_change(Tally(10, 10), Tally(0, 10))) == [1, 0.6075, 1]
    assert share_change(Tally(1, 2), Tally(0, 0)) is None
    assert share_change(Tally(3, 3), Tally(9, 9)) is share_change(Tally(9, 9), Tally(3, 3)) is None
    assert share_change(Tally(4, 4), Tally(9, 9)) is not None


def rounded(change: ShareChange | None) -> list[float]:
    assert change is not None
    return [round(end, 4) for end in (change.change, change.low, change.high)]


def figures(tiles: Tiles) -> list[tuple[int, int | None]]:
    """Return part and total of each tile of a page."""
    return [
        (tiles.merges_checked.checked, tiles.merges_checked.announced),
        (tiles.real_fw_bugs.real, None),
        (tiles.flaky_failures.count, None),
        (tiles.infra_runs.infra, tiles.infra_runs.total),
    ]


def now(found: Trends) -> list[tuple[int, int | None]]:
    return [(tile.now.part, tile.now.total) for tile in found.tiles]


def then(found: Trends) -> list[tuple[int, int | None]] | None:
    """Return part and total of each tile in the period before; None if it is not compared with."""
    assert (found.missing is None) == all(tile.before is not None for tile in found.tiles)
    return [(tile.before.part, tile.before.total) for tile in found.tiles if tile.before] or None


def test_the_period_before_ends_where_the_period_begins_and_is_as_long() -> None:
    period = last_days(7, NOW)
    before = period_before(period)

    assert before is not None
    assert period.start - before.end == timedelta(microseconds=1)
    assert before.end - before.start == timedelta(days=7)


def test_the_period_before_25_hours_has_25_hours() -> None:
    before = period_before(Period(minute(0), minute(25 * 60)))

    assert before is not None
    assert before.end - before.start == timedelta(hours=25)


def test_a_period_from_year_1_has_no_period_before() -> None:
    assert period_before(last_days(7, datetime.min.replace(tzinfo=UTC))) is None


def test_a_run_at_the_border_counts_once() -> None:
    runs = [report("a:L", -DAY), report("b:L", 3 * DAY)]
    found = trends(Past(runs).history, ALL, last_days(1, NOW))

    infra = found.tiles[-1]
    assert infra.before is not None
    assert (infra.now.part, infra.before.part) == (1, 0)


def test_periods_are_compared_only_if_records_go_back_before_both() -> None:
    late = Past([report("a:L", 2 * DAY + 1), report("b:L", 3 * DAY + 1)])
    early = late.and_also(report("x:P", 2 * DAY - 1))

    compared = trends(late.history, ALL, last_days(1, NOW))
    assert (then(compared), compared.recorded_since) == (None, minute(2 * DAY + 1))
    assert then(trends(early.history, ALL, last_days(1, NOW))) is not None


def test_a_product_without_records_is_not_compared() -> None:
    found = trends(seen(f"{BOX} | a:P").history, Scope(REPO, "boot"), last_days(1, NOW))

    assert (then(found), found.recorded_since) == (None, None)


def test_both_periods_have_the_tiles_of_their_pages() -> None:
    differ = 0
    for seed in range(rounds(100, 5_000)):
        draw = random.Random(seed)
        runs = [report("s:P", -DAY)]
        for number in range(draw.randint(1, 20)):
            token = f"{draw.choice('abcdef')}:{draw.choice('PFIUL')}"
            suite = draw.choice([SUITE, "boot"])
            runs.append(report(token, draw.uniform(0, 4 * DAY), suite=suite, run_id=number))
        history, days = Past(runs).history, draw.choice([1, 2])
        scope = draw.choice([ALL, Scope(REPO, SUITE)])
        period = last_days(days, NOW)
        found = trends(history, scope, period)

        assert now(found) == figures(read_page(history, scope, period).tiles), seed
        if then(found) is not None:
            before = period_before(period)
            assert before is not None
            assert then(found) == figures(read_page(history, scope, before).tiles), seed
            differ += now(found) != then(found)
    assert differ
