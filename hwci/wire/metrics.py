# SPDX-License-Identifier: Apache-2.0
"""The metrics page and its tables, products and configurations (contract, "CI metrics").

Each model makes itself of the engine's answer: with `of` where it needs more than that, else by
`model_validate`, which reads attributes of the same names. No figure is computed here.
"""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from functools import partial
from typing import Self
from uuid import UUID

from pydantic import Field

from hwci.contract.flaky_tests import FlakyTest
from hwci.contract.scope import PeriodOfDays, ProductKey
from hwci.contract.shape import ListPage
from hwci.engine.facts import SuiteConfig
from hwci.engine.history import ProductState, SightedRun
from hwci.engine.page import over_time, plan, reading, tables
from hwci.engine.page.overview import Page
from hwci.engine.periods import Period
from hwci.wire.base import Answer, Time, left_out_if_none
from hwci.wire.failures import ReclassifiedFailure, ResolvedFailureAnswer, RunOnBox, box_run
from hwci.wire.queries import MetricsQuery, PeriodQuery, PlanQuery


class LinksAnswer(Answer):
    """Templates of addresses of commits, files and pull requests."""

    commit: str | None = None
    file: str | None = None
    pull: str | None = None


def _links(config: SuiteConfig | None) -> LinksAnswer | None:
    templates = None if config is None else config.links
    return None if templates is None else LinksAnswer.model_validate(templates)


class TargetsAnswer(Answer):
    """Shares in percent: of merges checked on hardware at least, of infra runs at most."""

    merges_checked: float | None
    infra_runs: float | None


class ProductAnswer(Answer):
    """A known product. `merge_trigger` null: not configured. `suite` null: a repository of which
    a merge was announced without one.
    """

    repo_key: str
    suite: str | None
    configured: bool
    merge_trigger: bool | None
    last_report_at: Time | None
    links: LinksAnswer | None = None

    @classmethod
    def of(cls, state: ProductState) -> Self:
        """Make one product of the list."""
        return cls(
            repo_key=state.product.repo_key,
            suite=state.product.suite,
            configured=state.config is not None,
            merge_trigger=None if state.config is None else state.config.merge_trigger,
            last_report_at=state.last_report_at,
            links=_links(state.config),
        )

    @classmethod
    def unassigned(cls, repo_key: str) -> Self:
        """Make a repository of the list."""
        return cls(
            repo_key=repo_key,
            suite=None,
            configured=False,
            merge_trigger=None,
            last_report_at=None,
        )


class SuiteConfigAnswer(Answer):
    """A configuration as sent. It has `targets` if any was."""

    repo_key: str
    suite: str
    firmware_paths: Sequence[str]
    harness_paths: Sequence[str]
    trigger_paths: Sequence[str] | None
    merge_trigger: bool
    updated_at: Time
    links: LinksAnswer | None = None
    targets: TargetsAnswer | None = left_out_if_none()

    @classmethod
    def of(cls, config: SuiteConfig, updated_at: datetime) -> Self:
        """Make one configuration."""
        targets = None if config.targets is None else TargetsAnswer.model_validate(config.targets)
        of_people = {"links": _links(config), "targets": targets}
        return cls(**asdict(config) | of_people, updated_at=updated_at)


class MergesChecked(Answer):
    """Announced merges of the period, and how many of them a run checked."""

    checked: int
    announced: int


class RealFwBugs(Answer):
    """Resolved failures of the period by class."""

    real: int
    bench_or_harness: int
    ambiguous: int
    dismissed: int


class FlakyFailures(Answer):
    """Failing items on a commit where the test also passed on the same box."""

    count: int


class InfraRuns(Answer):
    """Run reports that never reached the hardware, out of all."""

    infra: int
    total: int


class TilesAnswer(Answer):
    """The four tiles."""

    merges_checked: MergesChecked
    real_fw_bugs: RealFwBugs
    flaky_failures: FlakyFailures
    infra_runs: InfraRuns

    @classmethod
    def of(cls, tiles: reading.Tiles) -> Self:
        """Make the tiles."""
        checked, announced = tiles.merges_checked
        infra, total = tiles.infra_runs
        return cls(
            merges_checked=MergesChecked(checked=checked, announced=announced),
            real_fw_bugs=RealFwBugs.model_validate(tiles.real_fw_bugs),
            flaky_failures=FlakyFailures(count=tiles.flaky_failures),
            infra_runs=InfraRuns(infra=infra, total=total),
        )


class MergeAnswer(Answer):
    """An announced merge. `suite` null: Unassigned."""

    repo_key: str
    suite: str | None
    sha: str
    branch: str
    merged_at: Time
    ci_url: str | None = None


class UncheckedMerge(MergeAnswer):
    """An announced merge that no run checked. `suite` null: Unassigned."""


class CheckingRun(RunOnBox):
    """A run that checked a merge, or tells why none did. `sha`: the tested commit, the merge's own
    or a later one.
    """

    suite: str
    box_key: str
    sha: str

    @classmethod
    def of(cls, org_id: UUID, repo_key: str, run: SightedRun) -> Self:
        """Make a run of a repository."""
        return cls(
            **box_run(org_id, repo_key, run.box_key, run),
            suite=run.sighting.suite,
            box_key=run.box_key,
            sha=run.sha,
        )


class CheckedMergeAnswer(MergeAnswer):
    """An announced merge that a run checked. `suite` null: Unassigned. `first_run`: of the runs
    that checked it the one that started first. `subject`: of the commit, if a run has it.
    """

    first_run: CheckingRun
    subject: str | None = None

    @classmethod
    def of(cls, org_id: UUID, row: tables.CheckedMerge) -> Self:
        """Make one row of the merges checked on hardware."""
        merge, [first, *_], subject = row
        first_run = CheckingRun.of(org_id, merge.repo_key, first)
        return cls(**asdict(merge), first_run=first_run, subject=subject)


class MetricsPage(Answer):
    """The metrics page."""

    period: PeriodOfDays
    product: ProductKey | None
    tiles: TilesAnswer
    unchecked_merges: ListPage[UncheckedMerge]
    real_bugs: ListPage[ResolvedFailureAnswer]
    other_failures: ListPage[ResolvedFailureAnswer]
    flakiest_tests: ListPage[FlakyTest]

    @classmethod
    def of(cls, org_id: UUID, page: Page, query: MetricsQuery, period: Period) -> Self:
        """Make the page that was asked for. `period`: the days of `query`."""
        first, resolved = query.first_page, partial(ResolvedFailureAnswer.of, org_id)
        return cls(
            period=period.shown,
            product=query.product,
            tiles=TilesAnswer.of(page.tiles),
            unchecked_merges=first.page_of(page.unchecked_merges, UncheckedMerge.model_validate),
            real_bugs=first.page_of(page.real_bugs, resolved),
            other_failures=first.page_of(page.other_failures, resolved),
            flakiest_tests=first.page_of(page.flakiest_tests),
        )


class TrendSlotAnswer(Answer):
    """The counts of the tiles for one slot. Its end belongs to the next slot, if there is one."""

    start: Time = Field(alias="from")
    end: Time = Field(alias="to")
    merges_checked: int
    merges_announced: int
    real_fw_bugs: int
    flaky_failures: int
    infra_runs: int
    runs: int


class TrendAnswer(Answer):
    """The tiles over time: slots of equal width, the last ending with the period."""

    period: PeriodOfDays
    product: ProductKey | None
    slots: Sequence[TrendSlotAnswer]

    @classmethod
    def of(cls, slots: Sequence[over_time.TrendSlot], query: PeriodQuery, period: Period) -> Self:
        """Make the trend. `period`: the days of `query`."""
        return cls(
            period=period.shown,
            product=query.product,
            slots=[TrendSlotAnswer.model_validate(slot) for slot in slots],
        )


class SuiteConfigPlan(Answer):
    """What a configuration would change if it were sent: resolved failures of the period by class,
    and those whose class or reason would change. If the time of the request runs out, only the
    newest `looked_at` of all `failures` are compared, and `complete` is false.
    """

    period: PeriodOfDays
    product: ProductKey
    before: RealFwBugs
    after: RealFwBugs
    changes: ListPage[ReclassifiedFailure]
    complete: bool = True
    looked_at: int | None = None
    failures: int | None = None

    @classmethod
    def of(cls, config: SuiteConfig, found: plan.Plan, query: PlanQuery, period: Period) -> Self:
        """Make the plan of a configuration. `period`: the days of `query`."""
        return cls(
            period=period.shown,
            product=ProductKey(repo_key=config.repo_key, suite=config.suite),
            before=RealFwBugs.model_validate(found.before),
            after=RealFwBugs.model_validate(found.after),
            changes=query.page_of(query.slice_of(found.changes), ReclassifiedFailure.of),
            complete=found.looked_at == found.failures,
            looked_at=found.looked_at,
            failures=found.failures,
        )
