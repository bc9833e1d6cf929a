# SPDX-License-Identifier: Apache-2.0
"""One test over a period, for its page, and the tests that there are (contract, "Answers beside the
rules").
"""

from datetime import datetime

from hwci.contract.periods.days import CalendarDay
from hwci.contract.scope import PeriodOfDays
from hwci.contract.shape import shape
from hwci.contract.shares import Share
from hwci.contract.statements import Certainty, Statement


@shape
class Verdicts:
    """Failing results by what the harness blamed."""

    device: int = 0
    infra: int = 0
    unknown: int = 0


@shape
class Tries:
    """Runs with the test: `passed` at the first attempt, `retried` (passed on a retry), `failed`,
    and `lost`: the run never reached the hardware, or had lost its board before the test.
    `attempts` and `failedAttempts` are those of "Flakiest tests" (semantics, 9.3), which know no
    lost board. `first`: of the others than lost ones, how many failed at their first attempt.
    """

    passed: int
    retried: int
    failed: int
    lost: int
    attempts: int
    failed_attempts: int
    first: Share
    verdicts: Verdicts
    last_run_at: datetime


@shape
class DayTries:
    """The runs of one day. `day` counts those of the period from 0. `unnamed`: the lost runs whose
    report names no test, which the list of runs does not find by the test.
    """

    day: int
    passed: int
    retried: int
    failed: int
    lost: int
    unnamed: int


@shape
class Took:
    """Seconds of the runs that passed at the first attempt: the middle one, and what nine of ten
    took at most.
    """

    runs: int
    middle: float
    nine_of_ten: float


@shape
class TriesOnBox(Tries):
    """The test on one box: the days on which it ran, in order. `took` null: it never passed at the
    first attempt.
    """

    box_key: str
    took: Took | None
    days: tuple[DayTries, ...]


@shape
class CommitMark:
    """A day on which so many commits ran the test for the first time. `sha`: the last of them."""

    day: int
    commits: int
    sha: str
    subject: str


@shape
class Given:
    """Tries after a failure, and how many passed."""

    tries: int
    passed: int


@shape
class OneTest:
    """A test over a period and the days of `zone` in it. `all` null: no run had it. At most 50
    boxes are shown, by name. `retries`: results whose first attempt failed and that were tried
    again in the same run. `reruns`: runs on a commit and box where the test had failed before.
    `answer` is what people read first: whether it fails now or is flaky, and whom to suspect;
    `statement`: the same as data; `says`: on what that rests. Null: no run had it. `beganBefore`:
    it likely was so before the period, of which there are runs. `history`: since which commit it
    fails, as `says` has it too; null if its runs do not tell.
    """

    period: PeriodOfDays
    repo_key: str
    suite: str
    test_id: str
    zone: str
    answer: str | None = None
    statement: Statement | None = None
    began_before: bool = False
    says: str | None = None
    history: Certainty | None = None
    days: tuple[CalendarDay, ...]
    all: Tries | None
    boxes: tuple[TriesOnBox, ...]
    boxes_total: int
    commits: tuple[CommitMark, ...]
    retries: Given
    reruns: Given
