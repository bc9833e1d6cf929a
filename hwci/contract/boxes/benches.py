# SPDX-License-Identifier: Apache-2.0
"""What runs say about boxes: all of a period, and one for its page (contract, "Answers beside the
rules"). Chances are between 0 and 1. `says` is the sentence that people read.
"""

from datetime import datetime

from hwci.contract.periods.days import CalendarDay
from hwci.contract.scope import PeriodOfDays, ProductKey, TestName
from hwci.contract.shape import Open, shape
from hwci.contract.shares import Share
from hwci.contract.vocabulary import NotCompared

SHARES_OF_A_BOX = {
    "reached": "Runs that reached the hardware",
    "lostBoard": "Of these, lost their board midway",
    "blamed": "Results that the harness blamed on the bench",
    "failedAttempts": "Attempts that failed, retries included",
}


@shape
class Counts:
    """Results whose first attempt failed, of all, on a box and on the others: of the same tests at
    the same commits, but for tests that failed on all of them there.
    """

    failed: int
    results: int
    others_failed: int
    others_results: int


@shape
class Comparison:
    """A box against the others. `oddsRatio`: how many times the odds of a failure; `low` and `high`
    hold it with 95 %. `timesAsOften`: the ratio of the rates. `chance`: of as much or more if the
    box made no difference, `falseDiscovery` the same after all comparisons. `named`: the box is
    worse.
    """

    odds_ratio: float
    low: float
    high: float
    times_as_often: float
    chance: float
    false_discovery: float
    named: bool


@shape
class LostRun:
    """A run that lost its board. `chance`: that its last tests would all have failed anyway."""

    repo_key: str
    suite: str
    run_id: int
    run_attempt: int
    sha: str
    started_at: datetime
    first_test: str
    tests: int
    chance: float
    says: str


@shape
class Note:
    """What a person did to a box, and when."""

    at: datetime
    text: str


@shape
class BoxFigures:
    """A box, or a part of its time. `says` is `answer`, in few words, with its `evidence`.
    `commits`: in common with another box, with a test that failed and passed. `comparison` null:
    `missing` names what there is too little of. `neverReached`: of its runs, those with `hello_ok`
    false. `lostBoard`: of the others, those that lost their board midway (null: there are none);
    `lostRuns`: the latest of them. `boardSeconds`: while a run had it.
    """

    says: str
    counts: Counts
    commits: int
    comparison: Comparison | None
    missing: Open[NotCompared] | None
    never_reached: Share
    lost_board: Share | None
    lost_runs: tuple[LostRun, ...]
    board_seconds: float
    last_run_at: datetime
    last_clean_run_at: datetime | None
    answer: str
    evidence: str


@shape
class BoxHealth(BoxFigures):
    """A box. `note`: the latest of the period; then its figures are those since the note, and
    `before` has those before it. With `idle` nothing ran since, and the figures are those before.
    `lastSeenAt`: the last heartbeat, or live run, by the end of the period; null: the box sent
    none, or sent one since.
    """

    box_key: str
    note: Note | None
    before: BoxFigures | None
    idle: bool
    last_seen_at: datetime | None


@shape
class BoardOfBox(BoxFigures):
    """A board of a box against the others of that box, by the runs that name theirs."""

    board: str


@shape
class TestOnBox(TestName):
    """A test whose failures a box explains, alone or with the others of `boxes`. `only`: it failed
    on no other one. `before`: so it did before the note of the box.
    """

    box_key: str
    boxes: tuple[str, ...]
    only: bool
    before: bool
    says: str
    counts: Counts
    comparison: Comparison


@shape
class Benches:
    """The boxes of a period, the worst first, and the tests that fail on one of them; at most 100
    of each, with the number of all.
    """

    period: PeriodOfDays
    product: ProductKey | None
    boxes: tuple[BoxHealth, ...]
    boxes_total: int
    tests: tuple[TestOnBox, ...]
    tests_total: int


@shape
class BoxShares:
    """Shares of runs and results; null: there is nothing to be a part of. `reached`: runs that
    reached the hardware. `lostBoard`: of these, those that lost their board. `blamed`: results that
    failed, and whose harness blamed the bench. `failedAttempts`: of all attempts.
    """

    reached: Share | None
    lost_board: Share | None
    blamed: Share | None
    failed_attempts: Share | None


@shape
class FailedAlone(TestName):
    """A test that failed at first on this box and on no other that ran it at the commit: on so many
    `commits`, two or more, `of` those on which another box ran it too. One that fails on all boxes
    alike is left out: it fails alone by chance.
    """

    commits: int
    of: int


@shape
class DayOfBox:
    """A day on which a box ran or has notes. `day` counts those of the period from 0.
    `neverReached`: of its `runs`, those with `hello_ok` false; `lostBoard`: of the others, those
    that lost their board. `counts`: results of these runs, and of the others at the same commits,
    on whatever day.
    """

    day: int
    runs: int
    never_reached: int
    lost_board: int
    counts: Counts
    notes: tuple[Note, ...]


@shape
class OneBox:
    """A box over a period and the days of `zone` in it. `box` null: no run named it; else its row
    of the answer about all boxes. All else is of the whole period, whatever was noted. `others`:
    all other boxes together; null: there is none. `tests`: those that fail more on this box.
    `alone`: at most 100, of `aloneTotal`.
    `boards`: those of the box, the worst first, at most 100; empty if its runs name fewer than two.
    `byDay`: the days on which it ran or has a note; on the others it was silent.
    """

    period: PeriodOfDays
    box_key: str
    box: BoxHealth | None
    shares: BoxShares | None
    others: BoxShares | None
    board_seconds: float
    last_clean_run_at: datetime | None
    tests: tuple[TestOnBox, ...]
    alone: tuple[FailedAlone, ...]
    alone_total: int
    boards: tuple[BoardOfBox, ...] = ()
    zone: str
    days: tuple[CalendarDay, ...]
    by_day: tuple[DayOfBox, ...]
