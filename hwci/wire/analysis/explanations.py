# SPDX-License-Identifier: Apache-2.0
"""Why failures have their class, by what would give them another one (ADR 0009).

Each model makes itself of the answer of the analysis with `of`. No figure is computed here.
"""

from collections.abc import Sequence
from typing import Annotated, Self
from uuid import UUID

from hwci.analysis.failures.advice import GAPS, advice
from hwci.analysis.failures.ci_lines import lines_of
from hwci.analysis.failures.gaps import Budget, Gap, GapCount
from hwci.analysis.failures.what_if import EditKind, OfGit, WhatIf, WhatIfs
from hwci.contract.ci_systems import CiSystem
from hwci.contract.scope import PeriodOfDays, ProductKey
from hwci.contract.vocabulary import FileKind, ReviewAction, Verdict
from hwci.engine.page.failures import ResolvedFailure
from hwci.engine.periods import Period
from hwci.engine.rules.classify import CheckedRun
from hwci.wire import limits
from hwci.wire.base import Answer, Body, Sha
from hwci.wire.failures import CheckRun, ClassAnswer
from hwci.wire.lists import ListRule
from hwci.wire.queries import PeriodQuery
from hwci.wire.reports import Changes


class UnsentChanges(Body):
    """What git has of the changes that a run on `sha` did not send, as a report holds them."""

    sha: Sha
    changes: Changes


class UnsentBody(Body):
    """What git has of changes that runs did not send."""

    unsent: Annotated[Sequence[UnsentChanges], ListRule(limits.UNSENT_MAX)]

    def of_git(self) -> OfGit:
        """Return the changes by the commits that they lie between."""
        facts = ((one.sha, one.changes.fact()) for one in self.unsent)
        return {(of.base_sha, sha): of for sha, of in facts if of.base_sha is not None}


class WhatIfAnswer(ClassAnswer):
    """One edit and the class that the failure would have with it. What does not belong to `kind` is
    null.

    `paths`: which list gets or loses `pattern`. `commit`: whose files are sent whole. `run`: which
    sends the changes from `base` to `sha` with `commits`. `assumed`: what the only one of these is
    taken to have changed. `condition` goes on from "Would be … if".
    """

    kind: EditKind
    verdict: Verdict | None
    paths: FileKind | None
    pattern: str | None
    commit: str | None
    run: CheckRun | None
    base: str | None
    sha: str | None
    commits: Sequence[str]
    assumed: FileKind | None
    action: ReviewAction | None
    condition: str
    to_do: str

    @classmethod
    def of(cls, org_id: UUID, failure: ResolvedFailure, found: WhatIf) -> Self:
        """Make one edit."""
        edit, run, repo_key = found.edit, found.edit.run, failure.key.lane.repo_key
        checked = None
        if run is not None:
            at, _, run_attempt, box_key = run.order
            checked = CheckedRun(at, run.ci_run_id, run_attempt, box_key, run.ci_run)
        return cls(
            failure_class=found.then.failure_class,
            reason=found.then.reason,
            reason_text=found.then.reason_text,
            kind=edit.kind,
            verdict=edit.verdict,
            paths=edit.paths,
            pattern=edit.pattern,
            commit=edit.commit,
            run=None if checked is None else CheckRun.of(org_id, repo_key, checked),
            base=None if run is None else run.changes.base_sha,
            sha=None if run is None else run.sha,
            commits=[] if run is None else [commit.sha for commit in run.changes.commits],
            assumed=edit.assumed,
            action=edit.action,
            **advice(failure.id, edit)._asdict(),
        )


class ExplanationAnswer(Answer):
    """The single edits that would give a failure another class than it has. Of a flake or a pending
    failure there are none. `complete`: all of the table was tried. `lost_board`: at which test the
    board was lost in the runs in which it failed, as a sentence; null if it was not.
    """

    edits: Sequence[WhatIfAnswer]
    complete: bool
    lost_board: str | None

    @classmethod
    def of(
        cls, org_id: UUID, failure: ResolvedFailure, found: WhatIfs, lost_board: str | None
    ) -> Self:
        """Make the edits of one resolved failure."""
        edits = [WhatIfAnswer.of(org_id, failure, one) for one in found.found]
        return cls(edits=edits, complete=found.complete, lost_board=lost_board)


class CiLinesAnswer(Answer):
    """Lines to paste into CI. `ci`: the system that the reports' pages are of; null: it is not
    known, or they go into `hwci.toml`. `where`: into which file and job.
    """

    ci: CiSystem | None
    where: str
    lines: str


class GapAnswer(Answer):
    """What CI left out. Of the `failures` that lack it, filling it alone would decide at least and
    at most so many. `ciLines`: what to paste, of each CI system that the reports tell.
    """

    gap: Gap
    text: str
    failures: int
    at_least: int
    at_most: int
    to_do: str
    ci_lines: Sequence[CiLinesAnswer]

    @classmethod
    def of(cls, found: GapCount, pages: Sequence[str]) -> Self:
        """Make one gap. `pages`: of CI jobs."""
        words = GAPS[found.gap]
        return cls(
            gap=found.gap,
            text=words.text,
            failures=found.failures,
            at_least=found.at_least,
            at_most=found.at_most,
            to_do=words.to_do,
            ci_lines=[*map(CiLinesAnswer.model_validate, lines_of(found.gap, pages))],
        )


class TogetherAnswer(Answer):
    """All gaps at once. Of the `failures` that have one, filling all would decide at least and at
    most so many.
    """

    failures: int
    at_least: int
    at_most: int


class GapsAnswer(Answer):
    """The gaps of a period, the one that could decide most first. `ambiguous`: failures that the
    checks leave so and nobody reviewed; the gaps are those of the newest `looked_at`.
    """

    period: PeriodOfDays
    product: ProductKey | None
    gaps: Sequence[GapAnswer]
    together: TogetherAnswer
    ambiguous: int
    looked_at: int

    @classmethod
    def of(cls, found: Budget, pages: Sequence[str], query: PeriodQuery, period: Period) -> Self:
        """Make the gaps that were asked for. `pages`: of CI jobs of the scope. `period`: the days
        of `query`.
        """
        return cls(
            period=period.shown,
            product=query.product,
            gaps=[GapAnswer.of(gap, pages) for gap in found.gaps],
            together=TogetherAnswer.model_validate(found.together),
            ambiguous=found.ambiguous,
            looked_at=found.looked_at,
        )
