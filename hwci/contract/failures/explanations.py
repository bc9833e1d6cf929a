# SPDX-License-Identifier: Apache-2.0
"""Why failures have their class, by what would give them another one (ADR 0009)."""

from hwci.contract.ci_systems import CiSystem
from hwci.contract.failures.failures import CheckRun, ClassAndReason
from hwci.contract.scope import PeriodOfDays, ProductKey
from hwci.contract.shape import Open, shape
from hwci.contract.vocabulary import EditKind, FileKind, Gap, ReviewAction, Verdict

NOTHING_LEFT_OUT = "CI left out nothing that could decide one of them"


@shape
class WhatIf(ClassAndReason):
    """One edit and the class that the failure would have with it. What does not belong to `kind` is
    null.

    `paths`: which list gets or loses `pattern`. `commit`: whose files are sent whole. `run`: which
    sends the changes from `base` to `sha` with `commits`. `assumed`: what the only one of these is
    taken to have changed. `condition` goes on from "Would be … if".
    """

    kind: Open[EditKind]
    verdict: Open[Verdict] | None
    paths: Open[FileKind] | None
    pattern: str | None
    commit: str | None
    run: CheckRun | None
    base: str | None
    sha: str | None
    commits: tuple[str, ...]
    assumed: Open[FileKind] | None
    action: Open[ReviewAction] | None
    condition: str
    to_do: str


@shape
class Explanation:
    """The single edits that would give a failure another class than it has. Of a flake or a pending
    failure there are none. `complete`: all of the table was tried. `lost_board`: at which test the
    board was lost in the runs in which it failed, as a sentence; null if it was not.
    """

    edits: tuple[WhatIf, ...]
    complete: bool
    lost_board: str | None


@shape
class CiLines:
    """Lines to paste into CI. `ci`: the system that the reports' pages are of; null: it is not
    known, or they go into `hwci.toml`. `where`: into which file and job.
    """

    ci: Open[CiSystem] | None
    where: str
    lines: str


@shape
class GapCount:
    """What CI left out. Of the `failures` that lack it, filling it alone would decide at least and
    at most so many. `ciLines`: what to paste, of each CI system that the reports tell.
    """

    gap: Open[Gap]
    text: str
    failures: int
    at_least: int
    at_most: int
    to_do: str
    ci_lines: tuple[CiLines, ...]


@shape
class Together:
    """All gaps at once. Of the `failures` that have one, filling all would decide at least and at
    most so many.
    """

    failures: int
    at_least: int
    at_most: int


@shape
class Gaps:
    """The gaps of a period, the one that could decide most first. `ambiguous`: failures that the
    checks leave so and nobody reviewed; the gaps are those of the newest `looked_at`.
    """

    period: PeriodOfDays
    product: ProductKey | None
    gaps: tuple[GapCount, ...]
    together: Together
    ambiguous: int
    looked_at: int
