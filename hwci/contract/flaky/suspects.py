# SPDX-License-Identifier: Apache-2.0
"""Flaky tests with what their runs suggest (contract, "Answers beside the rules"). Chances are
between 0 and 1.
"""

from datetime import datetime

from hwci.contract.flaky.flaky_tests import FlakyTest
from hwci.contract.runs.commits import CommitSubject
from hwci.contract.shape import Open, shape
from hwci.contract.shares import Share
from hwci.contract.statements import Statement
from hwci.contract.vocabulary import CommitKind

IT_NEVER_PASSED = "It never passed in this period"


@shape
class BranchCommit(CommitSubject):
    """A commit of a branch. `kind`: what it changed; `seenAt`: when a report named it first, or the
    tested commit after it that lists it.
    """

    kind: Open[CommitKind]
    seen_at: datetime


@shape
class SuspectCommit(BranchCommit):
    """A commit, and the chance that it made the test flaky."""

    chance: float


@shape
class Kinds:
    """Chances by what the commit changed that made the test flaky; they add up to 1."""

    firmware: float = 0.0
    harness: float = 0.0
    both: float = 0.0
    other: float = 0.0
    unknown: float = 0.0


@shape
class Since:
    """Which commit made the test flaky. `before`: the chance that none of the period did.
    `suspects`: the fewest commits that hold it with 90 %, likeliest first; 20 are named, of
    `suspectsTotal`.
    """

    branch: str
    before: float
    suspects: tuple[SuspectCommit, ...]
    suspects_total: int
    kinds: Kinds


@shape
class BoxRate:
    """First attempts on one box since the test is flaky. `compared`: it ran a commit that another
    box ran, too.
    """

    box_key: str
    rate: Share
    compared: bool


@shape
class BoxesCompared:
    """Boxes, those `compared` first, of these the highest `low`; 20 are named, of `boxesTotal`.
    `alike`: the chance that all compared ones have one rate; null: no two boxes ran the same
    commit, or too few runs failed.
    """

    boxes: tuple[BoxRate, ...]
    boxes_total: int
    compared: int
    alike: float | None


@shape
class Fixed:
    """The chance that it is fixed, the clean runs since its last failure in the order of commits,
    and how many more are `needed` until the chance is 0.95; null: more than 10,000.
    """

    chance: float
    clean_runs: int
    needed: int | None


@shape
class Effort:
    """About what it takes to find the commit among these with 95 %, as `hwci bisect` does: `runs`
    one after the other, or `rounds` of runs on so many `boxes` at once, at most 8.
    """

    commits: int
    runs: int
    boxes: int
    rounds: int


@shape
class Intermittent:
    """What the runs of a test suggest. `bisection` null: it is fixed, one commit is sure
    (0.95), or it takes more than 10,000 runs.
    """

    runs: int
    since: Since
    boxes: BoxesCompared
    fixed: Fixed
    bisection: Effort | None


@shape
class BoxFlakeRate:
    """The flake rate of a test on one box, over all its runs of the period."""

    box_key: str
    flake_rate: Share


@shape
class RatedTest(FlakyTest):
    """A row of "Flakiest tests" with the interval that holds its flake rate with 95 %, in percent
    as the rate is; null of too few attempts.
    """

    low: float | None
    high: float | None


@shape
class AnsweredTest(RatedTest):
    """The same with an answer in few words: whether it fails now, or else whom to suspect.
    `answerBox`: the box that it names.
    """

    answer: str
    answer_box: str | None
    statement: Statement


@shape
class SuspectedTest(AnsweredTest):
    """The same with all that its runs suggest; `text` has it in a line. `found` null: `missing`
    says what there is too little of. `onBoxes`: the boxes that `flakiest-tests/history` has.
    """

    on_boxes: tuple[BoxFlakeRate, ...]
    text: str
    found: Intermittent | None
    missing: str | None


FlakyRow = SuspectedTest | AnsweredTest | RatedTest
"""A row, with as much as was asked for. The richest comes first: what has more is written whole."""
