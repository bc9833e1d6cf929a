# SPDX-License-Identifier: Apache-2.0
"""Bisections: which commit broke a test, and which run tells most about it (contract, "Answers
beside the rules"). No figure is computed here.

Chances are between 0 and 1.
"""

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from hwci.analysis.flaky.bisection import MISSING, MissingCommit, NextRun, Progress
from hwci.analysis.run_command import TO_FILL_IN, next_command, run_command
from hwci.contract.scope import PeriodOfDays
from hwci.engine.facts import Product
from hwci.engine.periods import Period
from hwci.wire import limits
from hwci.wire.base import Answer, Name, TestId
from hwci.wire.queries import DIGITS, BoxQuery, PeriodQuery, ShaStart


class BisectionQuery(PeriodQuery, BoxQuery):
    """Query of a bisection. `good` and `bad` are commits, or the first digits of one that ran; with
    neither, they are the ends of what the runs suggest. `boxKey`: only runs of this box count, and
    it alone is proposed. `boxes`: how many runs to propose, each on a box of its own.
    """

    repo_key: Name
    suite: Name
    test_id: TestId
    good: ShaStart | None = None
    bad: ShaStart | None = Field(None, validate_default=True)
    boxes: Annotated[int, Field(ge=1, le=limits.BISECTED_AT_ONCE_MAX), DIGITS] = 1

    @field_validator("bad", mode="after")
    @classmethod
    def _both_or_neither(cls, bad: str | None, info: ValidationInfo) -> str | None:
        # A faulty `good` is not in `info`, and has a fault of its own.
        if (info.data.get("good", bad) is None) != (bad is None):
            raise PydanticCustomError("ends", "Needs both `good` and `bad`, or neither")
        return bad

    @property
    def more_flags(self) -> dict[str, object]:
        """The flags that a command has which asks the same again."""
        flags: dict[str, tuple[object, object]] = {
            "--box": (self.box_key, None),
            "--boxes": (self.boxes, 1),
            "--days": (self.days, limits.DAYS_DEFAULT),
        }
        return {flag: value for flag, (value, usual) in flags.items() if value != usual}


class CandidateAnswer(Answer):
    """A commit with the runs of the test on it, by their first attempt. `chance`: that the test
    fails since this commit; where `ofHistory`, as every other answer has it (semantics, 13).
    """

    sha: str
    subject: str
    failed: int
    runs: int
    chance: float


class BracketAnswer(Answer):
    """The fewest neighbouring commits that hold 95 % of the chances of all. `chance`: the sum of
    theirs.
    """

    first: str
    last: str
    commits: int
    chance: float


class NextRunAnswer(Answer):
    """A run that is expected to tell much for each minute of a board. `boardSeconds`: the median of
    the product's `runsSeen` runs on the box in the period. The test failed there in `failed` of its
    `runs` on all of these commits. `command`: a line for a shell in a clone on the box.
    """

    sha: str
    subject: str
    branch: str
    box_key: str
    board_seconds: float
    runs_seen: int
    failed: int
    runs: int
    command: str

    @classmethod
    def of(cls, found: Progress, run: NextRun) -> Self:
        """Make the run of a bisection."""
        commit, offer = found.commits[run.commit], run.offer
        return cls(
            sha=commit.sha,
            subject=commit.subject,
            branch=run.branch,
            box_key=offer.box_key,
            board_seconds=offer.seconds,
            runs_seen=offer.runs,
            failed=int(run.seen.failed),
            runs=int(sum(run.seen)),
            command=run_command(offer.product, offer.box_key, run.branch, commit.sha),
        )


class BisectedAnswer(Answer):
    """How far it is, and `says` in a sentence. `commits`: the good one, with the chance that the
    test failed there already, then all up to the bad one. `ofHistory`: their chances are those that
    the history of the test gives; else it gives none, and the runs on these commits alone are
    weighed. `nextRuns`: to start at once, the most
    telling first; none: one commit is left, or no box of the product reached the hardware in its
    last run. `toFillIn`: what in their commands is for the reader; `then`: the command that asks
    for the runs after these.
    """

    says: str
    commits: Sequence[CandidateAnswer]
    of_history: bool = False
    bracket: BracketAnswer
    next_runs: Sequence[NextRunAnswer]
    to_fill_in: str
    then: str

    @classmethod
    def of(cls, found: Progress, query: BisectionQuery) -> Self:
        """Make what is known of what was asked for."""
        bracket, good, bad = found.bracket, found.commits[0].sha, found.commits[-1].sha
        product = Product(query.repo_key, query.suite)
        ends = query.good or good, query.bad or bad
        return cls(
            says=found.says,
            to_fill_in=TO_FILL_IN,
            then=next_command(product, query.test_id, *ends, query.more_flags),
            commits=[
                CandidateAnswer(
                    sha=commit.sha,
                    subject=commit.subject,
                    failed=int(counts.failed),
                    runs=int(sum(counts)),
                    chance=chance,
                )
                for commit, counts, chance in zip(
                    found.commits, found.counts, found.chances, strict=True
                )
            ],
            of_history=found.of_history,
            bracket=BracketAnswer(
                first=found.commits[bracket.first].sha,
                last=found.commits[bracket.last].sha,
                commits=bracket.last - bracket.first + 1,
                chance=bracket.chance,
            ),
            next_runs=[NextRunAnswer.of(found, run) for run in found.next_runs],
        )


class ProgressAnswer(Answer):
    """A bisection of a test. `found` null: `missing` says why, `missingText` in words, and `toDo`
    what to do about it.
    """

    period: PeriodOfDays
    repo_key: str
    suite: str
    test_id: str
    found: BisectedAnswer | None
    missing: MissingCommit | None
    missing_text: str | None
    to_do: str | None

    @classmethod
    def of(cls, found: Progress | MissingCommit, query: BisectionQuery, period: Period) -> Self:
        """Make the answer to a query. `period`: its days."""
        missing = found if isinstance(found, MissingCommit) else None
        text, to_do = (None, None) if missing is None else MISSING[missing]
        return cls(
            period=period.shown,
            repo_key=query.repo_key,
            suite=query.suite,
            test_id=query.test_id,
            found=None if isinstance(found, MissingCommit) else BisectedAnswer.of(found, query),
            missing=missing,
            missing_text=text,
            to_do=to_do,
        )
