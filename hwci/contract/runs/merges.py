# SPDX-License-Identifier: Apache-2.0
"""Announced merges: which runs checked each, why none did, and the runs that would (contract, "CI
metrics", "Answers beside the rules").
"""

from datetime import datetime

from hwci.contract.runs.runs import RunOfSuite
from hwci.contract.scope import PeriodOfDays, ProductKey
from hwci.contract.shape import ListPage, Open, sent, shape
from hwci.contract.vocabulary import MissingRun, UncheckedCause


@sent
class Merge:
    """An announced merge. `suite` null: Unassigned, a run of any product can check it. `ci_url`:
    the page of the job that announced it.
    """

    repo_key: str
    suite: str | None
    sha: str
    branch: str
    merged_at: datetime
    ci_url: str | None = None


@shape
class CheckingRun(RunOfSuite):
    """A run that checked a merge, or tells why none did. `sha`: the tested commit, the merge's own
    or a later one.
    """

    sha: str


@shape
class CheckedMerge(Merge):
    """An announced merge that a run checked. `suite` null: Unassigned. `first_run`: of the runs
    that checked it the one that started first. `subject`: of the commit, if a run has it.
    """

    first_run: CheckingRun
    subject: str | None = None


@shape
class ExplainedMerge(Merge):
    """A merge that no run checked, with the cause. `to_do`: what to do. `run`: of the runs that
    tell it the earliest of a product that the reader may see; null if there is none. `other_boxes`:
    the other boxes with a run on the commit that tells it; `other_runs`: the earliest one of each.
    `subject`: of the commit, if a run has it.
    """

    cause: Open[UncheckedCause]
    cause_text: str
    to_do: str
    run: CheckingRun | None
    other_boxes: tuple[str, ...]
    other_runs: tuple[CheckingRun, ...]
    subject: str | None


@shape
class AnnouncedMerge(Merge):
    """An announced merge, checked or not. `run`: the first that checked it, or that tells the
    `cause`; null if there is none that the reader may see. `boxes`: those with such a run, that of
    `run` first. `cause` null: it is checked. `subject`: of the commit, if a run has it.
    """

    subject: str | None
    checked: bool
    run: CheckingRun | None
    cause: Open[UncheckedCause] | None
    cause_text: str | None
    boxes: tuple[str, ...]


@shape
class PlannedRun:
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


@shape
class UnplannedMerges(ProductKey):
    """Merges announced for a product for which no run can be planned, and why. `suite` null: they
    are Unassigned.
    """

    merges: int
    missing: Open[MissingRun]
    missing_text: str


@shape
class CiJob:
    """The page of the newest CI job of a product."""

    repo_key: str
    suite: str
    ci_url: str


@shape
class MergePlan:
    """The runs that would check the unchecked merges of a period, the cheapest first.
    `board_seconds`: of all of them. `to_fill_in`: what in their commands is for the reader, and
    `ci_jobs` where that is written. `unplanned`: the merges that no run is planned for.
    """

    period: PeriodOfDays
    product: ProductKey | None
    unchecked_merges: int
    board_seconds: float
    runs: ListPage[PlannedRun]
    to_fill_in: str
    ci_jobs: tuple[CiJob, ...]
    unplanned: tuple[UnplannedMerges, ...]
