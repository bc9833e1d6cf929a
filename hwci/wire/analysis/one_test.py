# SPDX-License-Identifier: Apache-2.0
"""One test over a period, for its page (contract, "Answers beside the rules"). No figure is
computed here. Rates are percentages, as `flakeRate` is.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, Self

from hwci.analysis import one_test
from hwci.analysis.flaky.suspect_words import certainty, since_when
from hwci.analysis.one_test_words import Concluded
from hwci.contract.days import CalendarDay
from hwci.contract.scope import PeriodOfDays
from hwci.contract.statements import Certainty, Statement
from hwci.contract.vocabulary import Verdict
from hwci.engine.page.over_time import BOXES_MAX
from hwci.engine.periods import Period
from hwci.wire.analysis.days import DaysQuery
from hwci.wire.base import Answer, Name, TestId, Time
from hwci.wire.queries import PageQuery, ProductQuery, Search, WhereQuery


class TestNamesQuery(PageQuery, ProductQuery, WhereQuery):
    """Query of the tests that reports name: all, or those of a box, a branch or a commit. `search`:
    those in which every word occurs.
    """

    search: Search | None = None


class TestNameAnswer(Answer):
    """A test, and the product it belongs to."""

    __test__ = False  # pytest: not a test class

    repo_key: str
    suite: str
    test_id: str


class OneTestQuery(DaysQuery):
    """Query of one test over a period, by the days of a zone."""

    repo_key: Name
    suite: Name
    test_id: TestId


class VerdictsAnswer(Answer):
    """Failing results by what the harness blamed."""

    device: int = 0
    infra: int = 0
    unknown: int = 0

    @classmethod
    def of(cls, verdicts: Mapping[Verdict, int]) -> Self:
        """Make the counts."""
        return cls.model_validate({verdict.value: count for verdict, count in verdicts.items()})


class FirstAnswer(Answer):
    """First attempts that failed, of all. `rate` null: there is none. `low` and `high` hold it with
    95 %; null where `missing` says why: too few attempts for an interval.
    """

    failed: int
    attempts: int
    rate: float | None
    low: float | None
    high: float | None
    missing: Literal["few"] | None

    @classmethod
    def of(cls, tries: one_test.Tries) -> Self:
        """Make the rate of percentages."""
        (failed, attempts), within = tries.first, tries.within
        low, high = (None, None) if within is None else (within.low, within.high)
        return cls(
            failed=failed,
            attempts=attempts,
            rate=100 * failed / attempts if attempts else None,
            low=None if low is None else 100 * low,
            high=None if high is None else 100 * high,
            missing="few" if low is None else None,
        )


class TriesAnswer(Answer):
    """Runs with the test: `passed` at the first attempt, `retried` (passed on a retry), `failed`,
    and `lost`: the run never reached the hardware, or had lost its board before the test.
    `attempts` and `failedAttempts` are those of "Flakiest tests". `first`: of the others than lost
    ones, how many failed at their first attempt.
    """

    passed: int
    retried: int
    failed: int
    lost: int
    attempts: int
    failed_attempts: int
    first: FirstAnswer
    verdicts: VerdictsAnswer
    last_run_at: Time

    @classmethod
    def of(cls, tries: one_test.Tries) -> Self:
        """Make the figures."""
        return cls(
            passed=tries.passed,
            retried=tries.retried,
            failed=tries.failed,
            lost=tries.lost,
            attempts=tries.attempts,
            failed_attempts=tries.failed_attempts,
            first=FirstAnswer.of(tries),
            verdicts=VerdictsAnswer.of(tries.verdicts),
            last_run_at=tries.last_run_at,
        )


class DayTriesAnswer(Answer):
    """The runs of one day. `day` counts those of the period from 0. `unnamed`: the lost runs whose
    report names no test, which the list of runs does not find by the test.
    """

    day: int
    passed: int
    retried: int
    failed: int
    lost: int
    unnamed: int


class TookAnswer(Answer):
    """Seconds of the runs that passed at the first attempt: the middle one, and what nine of ten
    took at most.
    """

    runs: int
    middle: float
    nine_of_ten: float


class OnBoxAnswer(TriesAnswer):
    """The test on one box: the days on which it ran, in order. `took` null: it never passed at the
    first attempt.
    """

    box_key: str
    took: TookAnswer | None
    days: Sequence[DayTriesAnswer]


class CommitMarkAnswer(Answer):
    """A day on which so many commits ran the test for the first time. `sha`: the last of them."""

    day: int
    commits: int
    sha: str
    subject: str


class GivenAnswer(Answer):
    """Tries after a failure, and how many passed."""

    tries: int
    passed: int


class OneTestAnswer(Answer):
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
    answer: str | None
    statement: Statement | None
    began_before: bool
    says: str | None
    history: Certainty | None = None
    days: Sequence[CalendarDay]
    all: TriesAnswer | None
    boxes: Sequence[OnBoxAnswer]
    boxes_total: int
    commits: Sequence[CommitMarkAnswer]
    retries: GivenAnswer
    reruns: GivenAnswer

    @classmethod
    def of(
        cls,
        found: one_test.OneTest,
        concluded: Concluded | None,
        query: OneTestQuery,
        days: Sequence[CalendarDay],
    ) -> Self:
        """Make the answer. `days`: of the period and zone of `query`."""
        period = Period(days[0].start, days[-1].end)
        since = None if concluded is None else concluded.since
        return cls(
            period=period.shown,
            repo_key=query.repo_key,
            suite=query.suite,
            test_id=query.test_id,
            zone=query.zone,
            began_before=concluded is not None and concluded.began_before,
            answer=None if concluded is None else concluded.answer,
            statement=None if concluded is None else concluded.statement,
            says=None if concluded is None else concluded.says,
            history=None if since is None else certainty(since, since_when(since)),
            days=[*days],
            all=None if found.all is None else TriesAnswer.of(found.all),
            boxes=[*map(_on_box, found.boxes[:BOXES_MAX])],
            boxes_total=len(found.boxes),
            commits=[*map(CommitMarkAnswer.model_validate, found.commits)],
            retries=GivenAnswer.model_validate(found.retries),
            reruns=GivenAnswer.model_validate(found.reruns),
        )


def _on_box(found: one_test.OnBox) -> OnBoxAnswer:
    return OnBoxAnswer(
        **dict(TriesAnswer.of(found.tries)),
        box_key=found.box_key,
        took=None if found.took is None else TookAnswer.model_validate(found.took),
        days=[*map(DayTriesAnswer.model_validate, found.days)],
    )
