# SPDX-License-Identifier: Apache-2.0
"""Announced merges with their runs and causes, and the runs that would check those that none did
(contract, "Answers beside the rules"). No figure is computed here.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Self
from uuid import UUID

from hwci.analysis.merges.announced import AnnouncedMerge
from hwci.analysis.merges.merge_plan import MISSING, MergePlan, MissingRun, PlannedRun
from hwci.analysis.merges.unchecked import CAUSES, UncheckedCause, UncheckedMerge
from hwci.analysis.run_command import TO_FILL_IN, run_command
from hwci.contract.scope import PeriodOfDays, ProductKey
from hwci.contract.shape import ListPage
from hwci.engine.facts import Product
from hwci.engine.history import SightedRun
from hwci.engine.periods import Period
from hwci.wire.base import Answer
from hwci.wire.metrics import CheckingRun, MergeAnswer
from hwci.wire.queries import TableQuery


class ExplainedMergeAnswer(MergeAnswer):
    """A merge that no run checked, with the cause. `to_do`: what to do. `run`: of the runs that
    tell it the earliest of a product that the reader may see; null if there is none. `other_boxes`:
    the other boxes with a run on the commit that tells it; `other_runs`: the earliest one of each.
    `subject`: of the commit, if a run has it.
    """

    cause: UncheckedCause
    cause_text: str
    to_do: str
    run: CheckingRun | None
    other_boxes: list[str]
    other_runs: Sequence[CheckingRun]
    subject: str | None

    @classmethod
    def of(cls, org_id: UUID, row: UncheckedMerge) -> Self:
        """Make one row."""
        merge, run = row.announcement, next(iter(row.runs), None)
        first_on: dict[str, SightedRun] = {}
        for one in row.runs:
            first_on.setdefault(one.box_key, one)
        others = sorted(box for box in first_on if run and box != run.box_key)
        return cls(
            **asdict(merge),
            cause=row.cause,
            cause_text=CAUSES[row.cause].text,
            to_do=CAUSES[row.cause].to_do,
            run=None if run is None else CheckingRun.of(org_id, merge.repo_key, run),
            other_boxes=others,
            other_runs=[CheckingRun.of(org_id, merge.repo_key, first_on[box]) for box in others],
            subject=row.subject,
        )


class AnnouncedMergeAnswer(MergeAnswer):
    """An announced merge, checked or not. `run`: the first that checked it, or that tells the
    `cause`; null if there is none that the reader may see. `boxes`: those with such a run, that of
    `run` first. `cause` null: it is checked. `subject`: of the commit, if a run has it.
    """

    subject: str | None
    checked: bool
    run: CheckingRun | None
    cause: UncheckedCause | None
    cause_text: str | None
    boxes: Sequence[str]

    @classmethod
    def of(cls, org_id: UUID, row: AnnouncedMerge) -> Self:
        """Make one row."""
        merge, run = row.announcement, next(iter(row.runs), None)
        return cls(
            **asdict(merge),
            subject=row.subject,
            checked=row.cause is None,
            run=None if run is None else CheckingRun.of(org_id, merge.repo_key, run),
            cause=row.cause,
            cause_text=None if row.cause is None else CAUSES[row.cause].text,
            boxes=[*dict.fromkeys(run.box_key for run in row.runs)],
        )


class PlannedRunAnswer(Answer):
    """A run that would check `merges` unchecked ones. `board_seconds`: the median of the
    product's `runs_seen` runs on the box in the period. `command`: a line for a shell in a clone on
    the box.
    """

    repo_key: str
    suite: str
    sha: str
    branch: str
    subject: str | None
    box_key: str
    board_seconds: float
    runs_seen: int
    merges: int
    command: str

    @classmethod
    def of(cls, run: PlannedRun) -> Self:
        """Make one run of the plan."""
        offer = run.offer
        product = offer.product
        return cls(
            repo_key=product.repo_key,
            suite=product.suite,
            sha=run.sha,
            branch=run.branch,
            subject=run.subject,
            box_key=offer.box_key,
            board_seconds=offer.seconds,
            runs_seen=offer.runs,
            merges=len(run.merges),
            command=run_command(product, offer.box_key, run.branch, run.sha),
        )


class UnplannedMerges(Answer):
    """Merges announced for a product for which no run can be planned, and why. `suite` null: they
    are Unassigned.
    """

    repo_key: str
    suite: str | None
    merges: int
    missing: MissingRun
    missing_text: str


class CiJob(Answer):
    """The page of the newest CI job of a product."""

    repo_key: str
    suite: str
    ci_url: str


class MergePlanAnswer(Answer):
    """The runs that would check the unchecked merges of a period, the cheapest first.
    `board_seconds`: of all of them. `to_fill_in`: what in their commands is for the reader, and
    `ci_jobs` where that is written. `unplanned`: the merges that no run is planned for.
    """

    period: PeriodOfDays
    product: ProductKey | None
    unchecked_merges: int
    board_seconds: float
    runs: ListPage[PlannedRunAnswer]
    to_fill_in: str
    ci_jobs: Sequence[CiJob]
    unplanned: Sequence[UnplannedMerges]

    @classmethod
    def of(
        cls, found: MergePlan, jobs: Mapping[Product, str], query: TableQuery, period: Period
    ) -> Self:
        """Make the plan that was asked for. `jobs`: pages of the planned products; `period`: the
        days of `query`.
        """
        unplanned = Counter(
            (merge.repo_key, merge.suite, missing) for merge, missing in found.unplanned.items()
        )
        return cls(
            period=period.shown,
            product=query.product,
            unchecked_merges=found.merges,
            board_seconds=found.board_seconds,
            runs=query.page_of(query.slice_of(found.runs), PlannedRunAnswer.of),
            to_fill_in=TO_FILL_IN,
            ci_jobs=[
                CiJob(repo_key=of.repo_key, suite=of.suite, ci_url=page)
                for of, page in sorted(jobs.items())
            ],
            unplanned=[
                UnplannedMerges(
                    repo_key=repo_key,
                    suite=suite,
                    merges=merges,
                    missing=missing,
                    missing_text=MISSING[missing],
                )
                for (repo_key, suite, missing), merges in sorted(
                    unplanned.items(), key=lambda one: (one[0][0], one[0][1] or "")
                )
            ],
        )
