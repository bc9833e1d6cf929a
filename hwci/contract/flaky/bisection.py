# SPDX-License-Identifier: Apache-2.0
"""Bisections: which commit broke a test, and which run tells most about it (contract, "Answers
beside the rules"). Chances are between 0 and 1.
"""

from hwci.contract.runs.commits import CommitSubject
from hwci.contract.scope import PeriodOfDays
from hwci.contract.shape import Open, shape
from hwci.contract.vocabulary import MissingCommit

NO_BOX_ANSWERS = "No box that ran it reached the hardware in its last run"


@shape
class Candidate(CommitSubject):
    """A commit with the runs of the test on it, by their first attempt. `chance`: that the test
    fails since this commit; where `ofHistory`, as every other answer has it (semantics, 13).
    """

    failed: int
    runs: int
    chance: float


@shape
class Bracket:
    """The fewest neighbouring commits that hold 95 % of the chances of all. `chance`: the sum of
    theirs.
    """

    first: str
    last: str
    commits: int
    chance: float


@shape
class NextRun:
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


@shape
class Bisected:
    """How far it is, and `says` in a sentence. `commits`: the good one, with the chance that the
    test failed there already, then all up to the bad one. `ofHistory`: their chances are those that
    the history of the test gives; else it gives none, and the runs on these commits alone are
    weighed. `nextRuns`: to start at once, the most telling first; none: one commit is left, or no
    box of the product reached the hardware in its last run. `toFillIn`: what in their commands is
    for the reader; `then`: the command that asks for the runs after these.
    """

    says: str
    commits: tuple[Candidate, ...]
    of_history: bool = False
    bracket: Bracket
    next_runs: tuple[NextRun, ...]
    to_fill_in: str
    then: str


@shape
class Bisection:
    """A bisection of a test. `found` null: `missing` says why, `missingText` in words, and `toDo`
    what to do about it.
    """

    period: PeriodOfDays
    repo_key: str
    suite: str
    test_id: str
    found: Bisected | None
    missing: Open[MissingCommit] | None
    missing_text: str | None
    to_do: str | None
