# SPDX-License-Identifier: Apache-2.0
"""What the tables of the service look like in a terminal: columns as data, one layout per table.

A layout holds what people see (short hashes, relative times) and which fields of the answer a
spreadsheet gets (whole hashes, exact times). It computes no figure and prints nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, TypeVar

from hwci.contract.page.words import TIMES, TITLES
from hwci.contract.vocabulary import CLASSES, UNASSIGNED, Label, ReviewAction
from hwci.said import counted, short, shortest, tenths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hwci.contract.failures.failures import Failure, ResolvedFailure
    from hwci.contract.flaky.suspects import RatedTest, SuspectedTest
    from hwci.contract.periods.times_to_fix import TimesToFix
    from hwci.contract.runs.commits import BrokenBy
    from hwci.contract.runs.merges import CheckedMerge, Merge
    from hwci.contract.runs.runs import Run, RunOnBox
    from hwci.contract.shares import Share

Row = TypeVar("Row")

CLASS_WORDS = {name: row.name.lower() for name, row in CLASSES.items()}
REVIEWED = {ReviewAction.CONFIRM: "confirmed", ReviewAction.DISMISS: "dismissed"}
UTC = " (UTC)"
SKEW_MAX = timedelta(minutes=5)
"""So far ahead a clock may be: what it calls its present is ours."""
_UNITS = (
    (timedelta(days=365), "year", 2),
    (timedelta(days=30), "month", 2),
    (timedelta(days=7), "week", 2),
    (timedelta(days=1), "day", 2),
    (timedelta(hours=1), "hour", 2),
    (timedelta(minutes=1), "minute", 1),
)
"""Each with its least count: "1 month" would stand for 30 days as for 59. The dashboard does the
same (format.js)."""
_BRIEF_UNITS = {"minute": "min", "minutes": "min", "hours": "h"}
_MINUTE = 60
_PARTS = ((3600, "h"), (_MINUTE, "min"), (1, "s"))


def run_number(run: Run | RunOnBox) -> int:
    """Return the number by which people know a run in their CI."""
    return run.run_id if run.ci_run is None else run.ci_run


class TableName(StrEnum):
    """The tables that `hwci metrics --table` writes whole: the four of the page, the merges that
    its first tile counts, what the runs of flaky tests suggest, and how long it took to fix what
    failed. Each with the flags that narrow it. This module and the client's `calls` have a function
    of each name.
    """

    CHECKED_MERGES = "checked-merges", "box branch sha product"
    UNCHECKED_MERGES = "unchecked-merges", "box branch sha product"
    REAL_BUGS = "real-bugs", "box branch sha product"
    OTHER_FAILURES = "other-failures", "box branch sha product"
    FLAKIEST_TESTS = "flakiest-tests", "branch product"
    SUSPECTS = "suspects", "branch product"
    TIMES_TO_FIX = "times-to-fix", "box product"

    flags: str

    def __new__(cls, name: str, flags: str) -> Self:
        """Return the table of a name, as text."""
        table = str.__new__(cls, name)
        table._value_, table.flags = name, flags
        return table


class View(NamedTuple):
    """From when one looks, whether all rows are of one product, and else of which repository.

    `pending`: the command that lists what is still failing in the same scope.
    """

    now: datetime
    one_product: bool = False
    only_repo: str | None = None
    pending: str = ""


@dataclass(frozen=True)
class Column(Generic[Row]):
    """A column that people see. `brief`: its cells in a terminal that is too narrow for all."""

    header: str
    show: Callable[[Row], str]
    right: bool = False
    spare: bool = False  # leaves the line of a row before others do, where that is too short
    brief: Callable[[Row], str] | None = None
    unique: bool = False  # an id, of which a terminal shows as much as its list needs

    def briefly(self) -> Column[Row]:
        """Return the column as a narrow terminal shows it: how long ago knows no time zone."""
        if self.brief is None:
            return self
        return replace(self, header=self.header.removesuffix(UTC), show=self.brief)


@dataclass(frozen=True)
class Layout(Generic[Row]):
    """A table. `fields`: those of the answer that go into a spreadsheet, by path, with blanks
    between them. `notes`: what is said below the rows.
    """

    name: str
    title: str
    columns: Sequence[Column[Row]]
    fields: str
    empty: str
    notes: Callable[[Sequence[Row]], Iterable[str]] = lambda _: ()

    @property
    def keys(self) -> list[str]:
        """The header of a spreadsheet."""
        return self.fields.split()

    def headers(self) -> list[str]:
        """Return the headers that people see."""
        return [column.header for column in self.columns]

    def shown(self, row: Row) -> list[str]:
        """Return the cells that people see."""
        return [column.show(row) for column in self.columns]

    def briefly(self) -> Layout[Row]:
        """Return the table as a narrow terminal shows it."""
        return replace(self, columns=[column.briefly() for column in self.columns])

    def exact(self, row: Row) -> list[object]:
        """Return the cells of a spreadsheet."""
        from hwci.wire.codec import plain

        fields = plain(row)
        return [_at(fields, key.split(".")) for key in self.keys]


def _at(value: Any, path: Sequence[str]) -> object:  # noqa: ANN401 - whatever JSON holds
    for step in path:
        if value is None:
            return None
        value = value.get(step)  # a field may be left out
    return value


def moment(at: datetime) -> str:
    """Write a time to the minute, in UTC."""
    return f"{at:%Y-%m-%d %H:%M}"


def ago_briefly(at: datetime, now: datetime) -> str:
    """Write how long ago a time was, for a narrow terminal: `98 min ago`, `29 h ago`."""
    return " ".join(_BRIEF_UNITS.get(word, word) for word in ago(at, now).split())


def ago(at: datetime, now: datetime) -> str:
    """Write how long ago a time was."""
    passed = now - at
    if passed < -SKEW_MAX:
        return "in the future"
    for size, unit, least in _UNITS:
        count = passed // size
        if count >= least:
            return f"{counted(count, unit)} ago"
    return "just now"


def duration(seconds: float) -> str:
    """Write how long a test took, as the dashboard does: `12.5 s`, `7 min 8 s`, `2 h 5 min`."""
    rest, counts = int(seconds + 0.5), []
    if rest < _MINUTE:
        return f"{tenths(seconds)} s"
    for size, unit in _PARTS:
        count, rest = divmod(rest, size)
        counts.append((count, unit))
    first = next(at for at, (count, _) in enumerate(counts) if count)
    return " ".join(f"{count} {unit}" for count, unit in counts[first : first + 2] if count)


def percent(share: float | None) -> float | None:
    """Return a share as a percentage."""
    return None if share is None else 100 * share


def share(counted: Share) -> str:
    """Return a share in percent, with its interval."""
    low, high = (None if end is None else 100 * end for end in (counted.low, counted.high))
    return within(100 * counted.part / counted.total, low, high)


def within(rate: float, low: float | None, high: float | None) -> str:
    """Write a percentage with its interval, or that there is not enough data for one."""
    within = "not enough data"
    if low is not None and high is not None:
        within = f"{tenths(low)}-{tenths(high)}"
    return f"{tenths(rate)} % ({within})"


def when(at: datetime, now: datetime) -> str:
    """Write a time as people say it and as a clock does."""
    return f"{moment(at)} ({ago(at, now)})"


def id_column(of: Callable[[Row], object], none: str = "") -> Column[Row]:
    """Return the column of an id. `none`: for a row without one."""
    return Column("ID", lambda row: str(of(row) or none), unique=True)


def time_column(
    header: str,
    of: Callable[[Row], datetime | None],
    now: datetime,
    spare: bool = False,
    none: str = "",
) -> Column[Row]:
    """Return the column of a time: as a clock says it and how long ago, or this alone where the
    terminal is narrow. `none`: for a row without one.
    """
    return Column(
        f"{header}{UTC}",
        lambda row: when(at, now) if (at := of(row)) else none,
        spare=spare,
        brief=lambda row: ago_briefly(at, now) if (at := of(row)) else none,
    )


def commit_column(
    header: str, of: Callable[[Row], str | None], none: str = "", *, spare: bool = False
) -> Column[Row]:
    """Return the column of a commit. `none`: for a row without one."""
    return Column(
        header,
        lambda row: short(sha) if (sha := of(row)) else none,
        spare=spare,
        brief=lambda row: shortest(sha) if (sha := of(row)) else none,
    )


def product(repo_key: str, suite: str | None) -> str:
    """Name a product as `--product` takes it; a merge announced without one is Unassigned."""
    return f"{repo_key}:{suite}" if suite is not None else f"{repo_key} ({UNASSIGNED})"


def only_repo(rows: Iterable[Any]) -> str | None:
    """Name the repository that all rows are of; None when there are several, or rows of none."""
    names = {getattr(row, "repo_key", None) for row in rows}
    return names.pop() if len(names) == 1 else None


def broken_by(suspects: BrokenBy | None, digits: Callable[[str], str] = short) -> str:
    """Name the commit that broke a test, or the range of those that may have."""
    if suspects is None:
        return "unknown"
    if len(suspects.commits) == 1:
        return f"{digits(suspects.start)} {suspects.commits[0].subject}"
    return f"{digits(suspects.start)} .. {digits(suspects.end)} ({len(suspects.commits)} commits)"


def broken_by_column(header: str, of: Callable[[Row], BrokenBy | None]) -> Column[Row]:
    """Return the column of the commit that broke a test."""
    return Column(
        header,
        lambda row: broken_by(of(row)),
        brief=lambda row: broken_by(of(row), shortest),
    )


def product_columns(view: View) -> list[Column[Any]]:
    """Return the column of the product, if the rows may be of several."""
    if view.one_product:
        return []
    return [product_column(view)]


def product_column(view: View) -> Column[Any]:
    """Return the column of the product: its suite is enough where all are of one repository."""
    return Column(
        "Product",
        lambda row: product(row.repo_key, row.suite),
        spare=True,
        brief=None if view.only_repo is None else lambda row: row.suite or UNASSIGNED,
    )


_RESOLVED_KEYS = (
    "id repoKey suite testId boxKey branch firstFailure.sha firstFailure.startedAt "
    "firstFailure.workflow firstFailure.runId firstFailure.runAttempt lastFailingSha "
    "failingCommits brokenBy.from brokenBy.to fix.sha fix.startedAt verdict class reason "
    "reasonText status firstFailure.ciRun"
)


def _resolved_columns(view: View) -> list[Column[ResolvedFailure]]:
    return [
        id_column(lambda row: row.id),
        time_column("First failed", lambda row: row.first_failure.started_at, view.now),
        *product_columns(view),
        Column("Test", lambda row: row.test_id),
        Column("Box", lambda row: row.box_key),
    ]


def _broken_and_fixed() -> list[Column[ResolvedFailure]]:
    return [
        broken_by_column("Broken by", lambda row: row.broken_by),
        commit_column("Fixed by", lambda row: row.fix.sha if row.fix else None, "not known"),
        Column("Verdict", lambda row: row.verdict),
    ]


def status(row: ResolvedFailure) -> str:
    """Return who reviewed a failure, and how: `confirmed by Ana`; or that nobody did."""
    return f"{REVIEWED[row.review.action]} by {row.status}" if row.review else row.status


def _status_column() -> Column[ResolvedFailure]:
    return Column("Status", status, spare=True)


def real_bugs(view: View) -> Layout[ResolvedFailure]:
    """Resolved failures that were real firmware bugs."""
    return Layout(
        "real-bugs",
        TITLES["realFwBugs"],
        [
            *_resolved_columns(view),
            *_broken_and_fixed(),
            _status_column(),
        ],
        _RESOLVED_KEYS,
        f"No resolved failure of the period was a real firmware bug. Pending ones: {view.pending}",
    )


def other_failures(view: View) -> Layout[ResolvedFailure]:
    """Resolved failures that were not, each with its reason."""
    return Layout(
        "other-failures",
        TITLES["otherFailures"],
        [
            *_resolved_columns(view),
            Column("Reason", lambda row: row.reason_text or ""),
            *_broken_and_fixed(),
            _status_column(),
        ],
        _RESOLVED_KEYS,
        "No other failure was resolved in the period.",
    )


def flakiest_tests(view: View, *, sure: bool) -> Layout[RatedTest]:
    """Tests with failed attempts, the highest rate first. `sure`: the server told how sure these
    are.
    """
    rate: Column[RatedTest] = Column("Flake rate", lambda row: f"{tenths(row.flake_rate)} %")
    return Layout(
        "flakiest-tests",
        TITLES["flakiestTests"],
        [
            Column("Test", lambda row: row.test_id),
            *product_columns(view),
            Column("Boxes", lambda row: str(row.boxes), right=True, spare=True),
            Column("Reports", lambda row: str(row.run_reports), right=True, spare=True),
            Column("Attempts", lambda row: str(row.attempts), right=True, spare=True),
            Column("Failed attempts", lambda row: str(row.failed_attempts), right=True),
            Column("Retry passes", lambda row: str(row.retry_passes), right=True, spare=True),
            _sure_rate() if sure else rate,
            Column("", _no_flake),
        ],
        "repoKey suite testId boxes runReports attempts failedAttempts retryPasses "
        "flakyFailures flakeRate low high",
        "No test of the period had a failed attempt, or none was reported (hwci report-run).",
    )


def _no_flake(row: RatedTest) -> str:
    """Say, as the page does, of which test no flake was seen."""
    if row.broken:
        return "broken"
    return "" if row.flaky_failures or row.retry_passes else "no flake seen"


def ranked_tests(view: View) -> Layout[RatedTest]:
    """The same tests by the lower end of the interval of their rate."""
    layout = flakiest_tests(view, sure=True)
    *columns, broken = layout.columns
    at_least: Column[RatedTest] = Column(
        "At least (95 %)",
        lambda row: "not enough data" if row.low is None else f"{tenths(row.low)} %",
        right=True,
    )
    return replace(layout, columns=[*columns, at_least, broken])


def _sure_rate() -> Column[RatedTest]:
    return Column(
        "Flake rate (95 % within)",
        lambda row: within(row.flake_rate, row.low, row.high),
        right=True,
    )


def suspects(view: View) -> Layout[SuspectedTest]:
    """Tests with failed attempts, each with what its runs suggest."""
    return Layout(
        "suspects",
        "Since when tests are flaky",
        [
            Column("Test", lambda row: row.test_id),
            *product_columns(view),
            _sure_rate(),
            Column("In short", lambda row: row.answer),
            Column("What its runs suggest", lambda row: row.text or ""),
        ],
        "repoKey suite testId failedAttempts attempts flakeRate low high found.since.before "
        "found.since.suspectsTotal found.boxes.alike found.fixed.chance found.fixed.cleanRuns "
        "found.fixed.needed missing answer text",
        "No test of the period had a failed attempt, or none was reported (hwci report-run).",
    )


def times_to_fix(_: View) -> Layout[TimesToFix]:
    """How long failures took until they were seen, and fixed, by product and box."""

    def of(row: TimesToFix) -> str:
        return "all products" if row.repo_key is None else product(row.repo_key, row.suite)

    columns: list[Column[TimesToFix]] = [
        Column("Product", of),
        Column("Box", lambda row: row.box_key or "all boxes"),
        Column("Incidents", lambda row: str(row.incidents), right=True),
        Column("Still failing", lambda row: str(row.failing), right=True, spare=True),
        Column(TIMES["toDetect"], lambda row: row.to_detect.says),
        Column("Before", lambda row: row.before.to_detect.half if row.before else "", spare=True),
        Column(TIMES["toFix"], lambda row: row.to_fix.says),
        Column("Before", lambda row: row.before.to_fix.half if row.before else "", spare=True),
    ]
    times = "known quarterS medianS threeQuartersS"
    spreads = [f"{time}.{figure}" for time in ("toDetect", "toFix") for figure in times.split()]
    before = ["before.incidents", "before.failing", *(f"before.{spread}" for spread in spreads)]
    return Layout(
        "times-to-fix",
        TITLES["timesToFix"],
        columns,
        " ".join(["repoKey suite boxKey incidents failing", *spreads, *before]),
        "No failure began in this period, or each is a flake. Look further back with --days.",
    )


_FAILURE_KEYS = (
    "id repoKey suite testId boxKey branch sha label items firstStartedAt lastStartedAt "
    "verdict groupId known.ticket known.until"
)


def _failure_columns(
    view: View, dated: str, at: Callable[[Failure], datetime]
) -> list[Column[Failure]]:
    return [
        id_column(lambda row: row.id),
        time_column(dated, at, view.now),
        *product_columns(view),
        Column("Test", lambda row: row.test_id),
        Column("Box", lambda row: row.box_key),
        Column("Branch", lambda row: row.branch, spare=True),
        commit_column("Commit", lambda row: row.sha),
    ]


def _label(row: Failure) -> str:
    return row.label if row.known is None else f"{row.label} ({row.known.says})"


def failures(view: View, label: Label | None = None) -> Layout[Failure]:
    """Failures with their labels. `label`: the only one that is asked for."""
    empty = "No failure in this period. Look further back with --days, or drop a filter."
    if label is not None:
        empty = (
            f"No failure with the label {label} in this period. Leave --label out to list those of"
            " every label, or look further back with --days."
        )
    return Layout(
        "failures",
        "Failures",
        [
            *_failure_columns(view, "Last failed", lambda row: row.last_started_at),
            Column("Label", _label),
            Column("Verdict", lambda row: row.verdict, spare=True),
        ],
        _FAILURE_KEYS,
        empty,
    )


def pending(view: View) -> Layout[Failure]:
    """Failures that no pass has decided yet."""
    return Layout(
        "pending",
        "Still failing (pending)",
        [
            *_failure_columns(view, "First failed", lambda row: row.first_started_at),
            Column("Verdict", lambda row: row.verdict),
        ],
        _FAILURE_KEYS,
        "Nothing: each failure of the period is a flake or resolved, or none was reported.",
    )


_MERGE_KEYS = "repoKey suite sha branch mergedAt ciUrl"


def unchecked_merges(view: View) -> Layout[Merge]:
    """Announced merges that no run checked."""
    return Layout(
        "unchecked-merges",
        TITLES["uncheckedMerges"],
        _merge_columns(view),
        _MERGE_KEYS,
        "Every announced merge of the period ran on hardware.",
    )


def checked_merges(view: View) -> Layout[CheckedMerge]:
    """Announced merges that a run checked."""
    return Layout(
        "checked-merges",
        TITLES["mergesChecked"],
        [
            *_merge_columns(view),
            Column("Subject", lambda row: row.subject or "", spare=True),
            time_column("First run", lambda row: row.first_run.started_at, view.now, spare=True),
            id_column(lambda row: row.first_run.run_record_id),
            Column(
                "Run",
                lambda row: f"{run_number(row.first_run)} ({row.first_run.run_attempt})",
                right=True,
                spare=True,
            ),
            Column("Box", lambda row: row.first_run.box_key),
        ],
        f"{_MERGE_KEYS} subject firstRun.runRecordId firstRun.runId firstRun.runAttempt "
        "firstRun.suite firstRun.boxKey firstRun.sha firstRun.startedAt firstRun.ciRun",
        "No announced merge of the period ran on hardware.",
    )


def _merge_columns(view: View) -> list[Column[Any]]:
    return [
        time_column("Merged", lambda row: row.merged_at, view.now),
        *product_columns(view),
        Column("Branch", lambda row: row.branch, spare=True),
        commit_column("Commit", lambda row: row.sha),
    ]
