# SPDX-License-Identifier: Apache-2.0
"""What runs say about boxes (contract, "Answers beside the rules"). No figure is computed here.

Rates and chances are between 0 and 1. `says` is the sentence that people read.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Self

from hwci.analysis import certainty
from hwci.analysis.benches import compare, health, report, words
from hwci.analysis.benches.by_parts import SureShare
from hwci.analysis.benches.compare import Missing
from hwci.analysis.benches.trials import box_of
from hwci.contract.scope import PeriodOfDays, ProductKey
from hwci.engine.periods import Period
from hwci.wire.base import Answer, Time
from hwci.wire.queries import PeriodQuery

LOST_RUNS = 5
"""So many runs of a box that lost their board are named."""


class ShareAnswer(Answer):
    """So many of all, and the interval that holds the rate with 95 %; null of too little for an
    interval.
    """

    part: int
    total: int
    low: float | None
    high: float | None

    @classmethod
    def of(cls, rate: certainty.Rate) -> Self:
        """Make a share of a rate."""
        low, high = rate.shown_interval or (None, None)
        return cls(part=rate.failed, total=rate.attempts, low=low, high=high)

    @classmethod
    def of_results(cls, found: SureShare) -> Self:
        """Make a share of results."""
        low, high = found.within or (None, None)
        return cls(part=found.part, total=found.total, low=low, high=high)


class CountsAnswer(Answer):
    """Results whose first attempt failed, of all, on a box and on the others: of the same tests at
    the same commits, but for tests that failed on all of them there.
    """

    failed: int
    results: int
    others_failed: int
    others_results: int


class ComparisonAnswer(Answer):
    """A box against the others. `oddsRatio`: how many times the odds of a failure; `low` and `high`
    hold it with 95 %. `chance`: of as much or more if the box made no difference, `falseDiscovery`
    the same after all comparisons. `named`: the box is worse.
    """

    odds_ratio: float
    low: float
    high: float
    times_as_often: float
    chance: float
    false_discovery: float
    named: bool


class LostRunAnswer(Answer):
    """A run that lost its board. `chance`: that its last tests would all have failed anyway."""

    repo_key: str
    suite: str
    run_id: int
    run_attempt: int
    sha: str
    started_at: Time
    first_test: str
    tests: int
    chance: float
    says: str

    @classmethod
    def of(cls, lost: health.LostRun) -> Self:
        """Make one lost run."""
        return cls(
            repo_key=lost.product.repo_key,
            suite=lost.product.suite,
            run_id=lost.run.ci_run_id,
            run_attempt=lost.run.run_attempt,
            sha=lost.run.sha,
            started_at=lost.run.started_at,
            first_test=lost.first_test,
            tests=lost.tests,
            chance=lost.chance,
            says=words.of_lost(lost),
        )


class NoteAnswer(Answer):
    """What a person did to a box, and when."""

    at: Time
    text: str


class BoxFiguresAnswer(Answer):
    """A box, or a part of its time. `says` is `answer`, in few words, with its `evidence`.
    `comparison` null: `missing` names what there is too little of. `neverReached`: of its runs,
    those with `hello_ok` false. `lostBoard`: of the others, those that lost their board midway
    (null: there are none); `lostRuns`: the latest of them. `boardSeconds`: while a run had it.
    """

    says: str
    counts: CountsAnswer
    commits: int
    comparison: ComparisonAnswer | None
    missing: Missing | None
    never_reached: ShareAnswer
    lost_board: ShareAnswer | None
    lost_runs: Sequence[LostRunAnswer]
    board_seconds: float
    last_run_at: Time
    last_clean_run_at: Time | None
    answer: str
    evidence: str

    @classmethod
    def of_part(cls, part: report.Figures, said: words.Said, **box: object) -> Self:
        """Make the figures, with what else is said of the box."""
        fares = part.health
        figures = {
            "says": said.text,
            "answer": said.answer,
            "evidence": said.evidence,
            "counts": CountsAnswer.model_validate(part.counts),
            "commits": part.commits,
            "comparison": _comparison(part.comparison),
            "missing": part.missing,
            "never_reached": ShareAnswer.of(fares.unreached),
            "lost_board": None if fares.lost is None else ShareAnswer.of(fares.lost),
            "lost_runs": [*map(LostRunAnswer.of, fares.lost_runs[-LOST_RUNS:][::-1])],
            "board_seconds": fares.board_time.total_seconds(),
            "last_run_at": fares.last_run_at,
            "last_clean_run_at": fares.last_clean_at,
        }
        return cls.model_validate(figures | box)


class BoxHealthAnswer(BoxFiguresAnswer):
    """A box. `note`: the latest of the period; then its figures are those since the note, and
    `before` has those before it. With `idle` nothing ran since, and the figures are those before.
    `lastSeenAt`: the last heartbeat, or live run, by the end of the period; null: the box sent
    none, or sent one since.
    """

    box_key: str
    note: NoteAnswer | None
    before: BoxFiguresAnswer | None
    idle: bool
    last_seen_at: Time | None

    @classmethod
    def of(cls, box: report.BoxReport, seen_at: datetime | None) -> Self:
        """Make one box. `seen_at`: when it last sent a heartbeat, if it did by the end of the
        period.
        """
        note, before = box.note, box.before
        return cls.of_part(
            box.figures,
            words.of_box(box),
            box_key=box.box_key,
            note=None if note is None else NoteAnswer.model_validate(note),
            before=before and BoxFiguresAnswer.of_part(before, words.of_figures(before)),
            idle=box.idle,
            last_seen_at=seen_at,
        )


class TestOnBoxAnswer(Answer):
    """A test whose failures a box explains, alone or with the others of `boxes`. `only`: it failed
    on no other one. `before`: so it did before the note of the box.
    """

    __test__ = False  # pytest: not a test class

    repo_key: str
    suite: str
    test_id: str
    box_key: str
    boxes: Sequence[str]
    only: bool
    before: bool
    says: str
    counts: CountsAnswer
    comparison: ComparisonAnswer

    @classmethod
    def of(cls, test: report.TestOnBox) -> Self:
        """Make one test."""
        return cls(
            repo_key=test.product.repo_key,
            suite=test.product.suite,
            test_id=test.test_id,
            box_key=test.box_key,
            boxes=[*map(box_of, test.blame.boxes)],
            only=test.only,
            before=test.before,
            says=words.of_blame(test.blame, test.failed_on, test.notes),
            counts=CountsAnswer(
                failed=test.blame.counts.failed,
                results=test.blame.counts.runs,
                others_failed=test.blame.others_counts.failed,
                others_results=test.blame.others_counts.runs,
            ),
            comparison=ComparisonAnswer.model_validate(test.comparison).model_copy(
                update={"named": True}
            ),
        )


class BenchesAnswer(Answer):
    """The boxes of a period, the worst first, and the tests that fail on one of them; at most 100
    of each, with the number of all.
    """

    period: PeriodOfDays
    product: ProductKey | None
    boxes: Sequence[BoxHealthAnswer]
    boxes_total: int
    tests: Sequence[TestOnBoxAnswer]
    tests_total: int

    @classmethod
    def of(
        cls,
        found: report.Benches,
        query: PeriodQuery,
        period: Period,
        seen: Mapping[str, datetime],
    ) -> Self:
        """Make the answer. `seen`: when boxes last sent a heartbeat."""
        return cls(
            period=period.shown,
            product=query.product,
            boxes=[BoxHealthAnswer.of(box, seen.get(box.box_key)) for box in found.boxes],
            boxes_total=found.boxes_total,
            tests=[*map(TestOnBoxAnswer.of, found.tests)],
            tests_total=found.tests_total,
        )


def _comparison(found: compare.Comparison | None) -> ComparisonAnswer | None:
    return None if found is None else ComparisonAnswer.model_validate(found)
