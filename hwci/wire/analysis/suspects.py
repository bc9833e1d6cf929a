# SPDX-License-Identifier: Apache-2.0
"""Flaky tests with what their runs suggest (contract, "Answers beside the rules"). No figure is
computed here.

Chances are between 0 and 1; rates are percentages, as `flakeRate` is.
"""

from collections.abc import Mapping, Sequence
from typing import Self

from hwci.analysis.flaky import suspect_words, suspects
from hwci.analysis.flaky.branch_order import CommitKind
from hwci.analysis.statement_words import answer
from hwci.analysis.statements import Claim, known_of_row
from hwci.contract.flaky_tests import FlakyTest, is_broken
from hwci.contract.shares import Share
from hwci.wire.base import Answer, Time, left_out_if_none


class RateAnswer(Answer):
    """A rate with its counts, and the interval that holds it with 95 %; null of too few attempts
    for an interval.
    """

    failed: int
    attempts: int
    rate: float
    low: float | None
    high: float | None

    @classmethod
    def of(cls, share: Share) -> Self:
        """Make a rate of percentages."""
        low, high = (None if end is None else 100 * end for end in (share.low, share.high))
        rate = 100 * share.part / share.total
        return cls(failed=share.part, attempts=share.total, rate=rate, low=low, high=high)


class CertaintyAnswer(Answer):
    """Since which commit of a branch a test fails, by all its runs of the period (semantics, 13).
    `sha` is the likeliest one, and `chance` that it is this one, as every answer has it; `says`
    names it, or those among which it is, or the time before the period.
    """

    branch: str
    sha: str
    chance: float
    says: str

    @classmethod
    def of(cls, since: suspects.Since, says: str) -> Self:
        """Make one."""
        likeliest = since.suspects[0]
        return cls(branch=since.branch, sha=likeliest.commit.sha, chance=likeliest.share, says=says)


class SuspectCommitAnswer(Answer):
    """A commit, and the chance that it made the test flaky. `kind`: what it changed; `seen_at`:
    when a report named it first.
    """

    sha: str
    subject: str
    kind: CommitKind
    seen_at: Time
    chance: float


class KindsAnswer(Answer):
    """Chances by what the commit changed that made the test flaky; they add up to 1."""

    firmware: float = 0.0
    harness: float = 0.0
    both: float = 0.0
    other: float = 0.0
    unknown: float = 0.0


class SinceAnswer(Answer):
    """Which commit made the test flaky. `before`: the chance that none of the period did.
    `suspects`: the fewest commits that hold it with 90 %, likeliest first; 20 are named, of
    `suspectsTotal`.
    """

    branch: str
    before: float
    suspects: Sequence[SuspectCommitAnswer]
    suspects_total: int
    kinds: KindsAnswer


class BoxRateAnswer(Answer):
    """First attempts on one box since the test is flaky. `compared`: it ran a commit that another
    box ran, too.
    """

    box_key: str
    rate: RateAnswer
    compared: bool


class BoxesComparedAnswer(Answer):
    """Boxes, those `compared` first, of these the highest `low`; 20 are named, of `boxesTotal`.
    `alike`: the chance that all compared ones have one rate; null: no two boxes ran the same
    commit, or too few runs failed.
    """

    boxes: Sequence[BoxRateAnswer]
    boxes_total: int
    compared: int
    alike: float | None


class FixedAnswer(Answer):
    """The chance that it is fixed, the clean runs since its last failure in the order of commits,
    and how many more are `needed` until the chance is 0.95; null: more than 10,000.
    """

    chance: float
    clean_runs: int
    needed: int | None


class BisectionAnswer(Answer):
    """About what it takes to find the commit among these with 95 %, as `hwci bisect` does: `runs`
    one after the other, or `rounds` of runs on so many `boxes` at once, at most 8.
    """

    commits: int
    runs: int
    boxes: int
    rounds: int


class IntermittentAnswer(Answer):
    """What the runs of a test suggest. `bisection` null: it is fixed, one commit is sure
    (0.95), or it takes more than 10,000 runs.
    """

    runs: int
    since: SinceAnswer
    boxes: BoxesComparedAnswer
    fixed: FixedAnswer
    bisection: BisectionAnswer | None


class StatementAnswer(Answer):
    """What is claimed of a test (semantics, 14), from which its sentences are made. `boxes`: those
    that it is about; `others`: of which it says the contrary. `chance`: how sure it is; null where
    it only counts. `failed` of `runs` first attempts: where boxes explain it, on `boxes`, and
    `othersFailed` of `othersRuns` on the others, on the same commits; else on all boxes. `since`:
    when it began to fail now, or was seen last. `lostHere`: so many runs lost the board at it.
    """

    claim: Claim
    boxes: Sequence[str]
    others: Sequence[str]
    chance: float | None
    failed: int
    runs: int
    others_failed: int
    others_runs: int
    since: Time | None
    lost_here: int


class OnBoxAnswer(Answer):
    """The flake rate of a test on one box, over all its runs of the period."""

    box_key: str
    flake_rate: RateAnswer


class SuspectAnswer(Answer):
    """A row of "Flakiest tests" with the interval that holds its flake rate with 95 %, in percent
    (null of too few attempts), and what its runs suggest. `answer` says whether it fails now, or
    else whom to suspect; `answerBox` is the box that it names; `text` has all in a line. Without
    `found`, `missing` says what there is too little of. `onBoxes`: the boxes that
    `flakiest-tests/history` has. What the `detail` that was asked for does not have is left out.
    """

    repo_key: str
    suite: str
    test_id: str
    boxes: int
    run_reports: int
    attempts: int
    failed_attempts: int
    retry_passes: int
    flaky_failures: int
    flake_rate: float
    low: float | None
    high: float | None
    answer: str | None = left_out_if_none()
    answer_box: str | None = left_out_if_none()
    statement: StatementAnswer | None = left_out_if_none()
    on_boxes: Sequence[OnBoxAnswer] | None = left_out_if_none()
    text: str | None = left_out_if_none()
    found: IntermittentAnswer | None = left_out_if_none()
    missing: str | None = left_out_if_none()

    @property
    def broken(self) -> bool:
        """Whether the test never passed in the period. Not sent: it follows from the row."""
        return is_broken(self.attempts, self.failed_attempts)

    @classmethod
    def of_rate(cls, row: FlakyTest, rate: Share, **more: object) -> Self:
        """Make a row of a test and its rate, with what `more` is known."""
        known = RateAnswer.of(rate)
        return cls.model_validate(vars(row) | {"low": known.low, "high": known.high} | more)

    @classmethod
    def in_few_words(cls, row: suspects.Suspect, **more: object) -> Self:
        """Make a row with its answer, and what `more` is known."""
        said = answer(known_of_row(row))
        words = {
            "answer": said.few_words,
            "answer_box": said.box,
            "statement": StatementAnswer.model_validate(said.statement),
        }
        return cls.of_rate(row.test, row.rate, **words, **more)

    @classmethod
    def of(cls, row: suspects.Suspect, on_boxes: Mapping[str, Share]) -> Self:
        """Make a whole row."""
        return cls.in_few_words(
            row,
            on_boxes=[
                OnBoxAnswer(box_key=box, flake_rate=RateAnswer.of(rate))
                for box, rate in on_boxes.items()
            ],
            text=suspect_words.of_suspect(row),
            found=None if row.found is None else _found(row.found),
            missing=row.missing,
        )


def _found(found: suspects.Intermittent) -> IntermittentAnswer:
    bisection = found.bisection
    return IntermittentAnswer(
        runs=found.runs,
        since=_since(found.since),
        boxes=_boxes(found.boxes),
        fixed=FixedAnswer.model_validate(found.fixed),
        bisection=None if bisection is None else BisectionAnswer.model_validate(bisection),
    )


def _since(since: suspects.Since) -> SinceAnswer:
    return SinceAnswer(
        branch=since.branch,
        before=since.before,
        suspects=[
            SuspectCommitAnswer(**commit._asdict(), chance=chance)
            for commit, chance in since.suspects
        ],
        suspects_total=since.suspects_total,
        kinds=KindsAnswer(**{kind.value: chance for kind, chance in since.kinds.items()}),
    )


def _boxes(found: suspects.BoxesCompared) -> BoxesComparedAnswer:
    boxes = [
        BoxRateAnswer(box_key=box.box_key, rate=RateAnswer.of(box.rate), compared=box.compared)
        for box in found.boxes
    ]
    return BoxesComparedAnswer(
        boxes=boxes, boxes_total=found.boxes_total, compared=found.compared, alike=found.alike
    )
