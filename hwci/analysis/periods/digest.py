# SPDX-License-Identifier: Apache-2.0
"""A period in a few lines: what broke and still fails, what was fixed, what is flaky, which merges
ran on no hardware, which benches fell silent.

This module decides which of it is told, and in which words. Which failures are one incident, what
is flaky and what checks a merge is decided elsewhere.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from hwci.analysis.failures.incidents import Incident, incidents
from hwci.analysis.outcomes import RecordedRuns
from hwci.contract.flaky.flaky_tests import FlakyTest
from hwci.contract.periods.digest import Digest, DigestPart, DigestRow, DigestSection
from hwci.contract.runs.merges import Merge
from hwci.contract.vocabulary import DigestSubject, Label, NameKind
from hwci.engine.facts import Product
from hwci.engine.history import Scope
from hwci.engine.page.reading import read_merges
from hwci.engine.periods import Period
from hwci.engine.rules.flakiness import flakiest, has_flaked
from hwci.said import counted

LOOK_BACK = timedelta(days=14)
"""What was fixed may have failed so long before the period, and a silent bench ran then."""
ROWS_MAX = 10
_TITLES = {
    DigestSubject.BROKEN: ("Newly broken", "Nothing broke"),
    DigestSubject.FIXED: ("Fixed", "Nothing was fixed"),
    DigestSubject.FLAKY: ("Flaky", "No test was flaky"),
    DigestSubject.UNCHECKED: ("Merges that ran on no hardware", "Every merge ran"),
    DigestSubject.SILENT: ("Benches without a run", "Every bench ran"),
}
"""The title of each section, and what stands in its place if it has no row."""
_BOXES_MAX = 3
_SILENCE = timedelta(days=1)
"""A bench is not silent before so long without a run, however short the period is."""
_EARLIEST = datetime.min.replace(tzinfo=UTC)

Row = TypeVar("Row")


def digest(history: RecordedRuns, scope: Scope, period: Period) -> Digest:
    """Return what a period has to tell."""
    broken, fixed = _broken_and_fixed(history, scope, period)
    flaky = [test for test in history.test_runs(scope, period) if has_flaked(test)]
    unchecked = read_merges(history, scope, period).unchecked
    return Digest(
        period=period,
        product=scope.product,
        sections=(
            _section(DigestSubject.BROKEN, broken, _broken),
            _section(DigestSubject.FIXED, fixed, _fixed),
            _section(DigestSubject.FLAKY, flakiest(history, flaky, ROWS_MAX), _flaky, len(flaky)),
            _section(DigestSubject.UNCHECKED, unchecked, _merge),
            _section(DigestSubject.SILENT, _silent(history, scope, period), _bench),
        ),
    )


def looked_back(period: Period) -> Period:
    """Return the period with the time before it that its digest looks at."""
    start, end = min(period.start, _before(period.end, _SILENCE)), period.end
    return Period(_before(start, max(LOOK_BACK, end - start)), end)


def _before(at: datetime, length: timedelta) -> datetime:
    return at - min(length, at - _EARLIEST)


def _broken_and_fixed(
    history: RecordedRuns, scope: Scope, period: Period
) -> tuple[Sequence[Incident], Sequence[Incident]]:
    """Return the incidents that began in a period and still fail, and those that ended in it."""
    looked = Period(_before(period.start, LOOK_BACK), period.end)
    rows = incidents(history, scope, looked)
    broken = [it for it in rows if it.label is Label.PENDING and it.since >= period.start]
    ended = [it for it in rows if it.label is Label.RESOLVED and it.fix is not None]
    episodes = [failed.episode for it in ended for failed in it.failed]
    runs = dict(zip((it.id for it in episodes), history.episode_runs(episodes), strict=True))
    fixed = []
    for incident in ended:
        ends = [runs[failed.episode.id].fixed_at for failed in incident.failed]
        # A later commit may have run, and passed, before.
        if any(at is not None and period.start <= at <= period.end for at in ends):
            fixed.append(incident)
    return broken, fixed


def _silent(history: RecordedRuns, scope: Scope, period: Period) -> Sequence[str]:
    start = min(period.start, _before(period.end, _SILENCE))
    before = history.boxes_with_runs(scope, Period(looked_back(period).start, start))
    return sorted({*before} - {*history.boxes_with_runs(scope, Period(start, period.end))})


def _section(
    subject: DigestSubject,
    rows: Sequence[Row],
    written: Callable[[Row], DigestRow],
    total: int | None = None,
) -> DigestSection:
    """Return a section. `total`: how many rows there are, where the others are not read."""
    total = len(rows) if total is None else total
    title, nothing = _TITLES[subject]
    return DigestSection(
        subject=subject,
        says=f"{title}: {total:,}" if total else nothing,
        total=total,
        rows=tuple(map(written, rows[:ROWS_MAX])),
    )


def _broken(incident: Incident) -> DigestRow:
    since = f" since {incident.since:%Y-%m-%d}"
    suspects = incident.suspects
    if not suspects:
        return _failed(incident, since)
    first, last = _commit(suspects[0].sha), _commit(suspects[-1].sha)
    by = f"{since}, broken by "
    return _failed(incident, by, first, *(() if first == last else (" to ", last)))


def _fixed(incident: Incident) -> DigestRow:
    return _failed(incident, ", by ", _commit(incident.fix or ""))


def _failed(incident: Incident, *end: str | DigestPart) -> DigestRow:
    """Return a row that begins with what failed, on which boxes and branch."""
    tests, boxes = incident.tests, incident.boxes
    beside = f" and {counted(len(tests) - 1, 'more test')}" if len(tests) > 1 else ""
    named: list[str | DigestPart] = [
        DigestPart(text=box, kind=NameKind.BOX) for box in boxes[:_BOXES_MAX]
    ]
    if len(boxes) > _BOXES_MAX:
        named.append(f"{len(boxes) - _BOXES_MAX:,} more")
    test = DigestPart(text=tests[0], kind=NameKind.TEST)
    branch = DigestPart(text=incident.lane.branch, kind=NameKind.BRANCH)
    on: list[str | DigestPart] = []
    for at, name in enumerate(named):
        between = " and " if at == len(named) - 1 else ", "
        on += [between, name] if at else [name]
    return _row(incident.product, test, f"{beside} on ", *on, ", branch ", branch, *end)


def _flaky(test: FlakyTest) -> DigestRow:
    failed = f": {test.failed_attempts:,} of {counted(test.attempts, 'attempt')} failed"
    name = DigestPart(text=test.test_id, kind=NameKind.TEST)
    return _row(Product(test.repo_key, test.suite), name, failed)


def _merge(merge: Merge) -> DigestRow:
    parts = _commit(merge.sha), " to ", DigestPart(text=merge.branch, kind=NameKind.BRANCH)
    return _row((merge.repo_key, merge.suite), *parts, f", merged {merge.merged_at:%Y-%m-%d}")


def _bench(box_key: str) -> DigestRow:
    return _row((None, None), DigestPart(text=box_key, kind=NameKind.BOX))


def _row(product: tuple[str | None, str | None], *parts: str | DigestPart) -> DigestRow:
    repo_key, suite = product
    written = (DigestPart(text=part) if isinstance(part, str) else part for part in parts)
    return DigestRow(repo_key=repo_key, suite=suite, parts=tuple(written))


def _commit(sha: str) -> DigestPart:
    return DigestPart(text=sha, kind=NameKind.COMMIT)
