# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""Answers about failures and lanes.

States of failures are read as `derive.py` keeps them; what ran around a failure is read from
reports along the branch, lazily, and ends when enough is found.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, cached_property
from itertools import chain
from typing import Any
from uuid import UUID

from hwci.contract.failures.failures import EvidenceRun
from hwci.contract.vocabulary import Outcome
from hwci.engine.derived.rows import Bench, Track
from hwci.engine.facts import FailureKey, Lane, Product, TestKey
from hwci.engine.history import (
    Episode,
    FailingRun,
    Failure,
    LaneCommit,
    Listing,
    Place,
    Scope,
)
from hwci.engine.periods import Period
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.codec import Stamp
from hwci.server.storage.sql.columns import selected
from hwci.server.storage.sql.history.answers import AT_ONCE, ITEMS, REPORTS, Answers
from hwci.server.storage.sql.reports.derive import FIRST_OF_FAILURE
from hwci.server.storage.sql.reports.passes import (
    Line,
    Walked,
    passing_starts,
    walk_after,
    walk_before,
)

_FAILURE = f"""
  f.id, f.product_id, f.test, f.box_key, f.branch, p.started_at, p.way, p.position, f.sha,
  f.items, f.last_started_at, f.passed, f.reviewed, {selected("f", FIRST_OF_FAILURE)}
"""
_PLACE = """
CROSS JOIN product q ON q.org_id = f.org_id AND q.id = f.product_id
CROSS JOIN place p
  ON p.org_id = f.org_id AND p.repo_key = q.repo_key AND p.sha = f.sha AND p.branch = f.branch
"""
# Episodes of a lane do not overlap, but for flakes, which are one commit each.
_EPISODE = """
LEFT JOIN episode e
  ON e.org_id = f.org_id
  AND e.number = (
    SELECT o.number
    FROM episode o INDEXED BY episode_lane
    WHERE o.org_id = f.org_id AND o.product_id = f.product_id AND o.box_key = f.box_key
      AND o.branch = f.branch AND o.test = f.test AND o.flake = f.passed AND o.first_rank <= f.rank
      AND o.last_rank >= f.rank
    ORDER BY o.first_rank DESC LIMIT 1
  )
"""
FAILING = f"{REPORTS} AND r.hello_ok = 1 {ITEMS} AND i.outcome = 1"
"""The failing items of products in a period."""
OF_TESTS = "+i.test IN (SELECT j.value FROM json_each(?) j)"
"""Items of some tests. The plus: a report has few items, which are sooner read than looked for one
by one.
"""
_FAILURE_OF = "CROSS JOIN failure f ON f.org_id = i.org_id AND f.id = i.failure_id"
_SOME = f"WHERE f.org_id = ? AND f.id IN ({', '.join('?' * AT_ONCE)})"
_WITH_GROUPS, _NEVER_PASSED, _OF_SOME = (
    f"""
WITH hit AS MATERIALIZED (
  SELECT DISTINCT
    f.product_id, f.box_key, f.branch, f.test, f.passed,
    coalesce(e.first_rank, f.rank) AS first_rank, coalesce(e.last_rank, f.rank) AS last_rank,
    e.fix_sha
  {hit}
)
SELECT h.fix_sha, {_FAILURE}
FROM hit h
CROSS JOIN failure f INDEXED BY failure_lane
  ON f.org_id = ? AND f.product_id = h.product_id AND f.box_key = h.box_key AND f.branch = h.branch
  AND f.test = h.test AND f.passed = h.passed AND f.rank BETWEEN h.first_rank AND h.last_rank
{_PLACE}
"""
    for hit in (
        f"{FAILING} {_FAILURE_OF} {_EPISODE}",
        f"{FAILING} AND {OF_TESTS} {_FAILURE_OF} {_EPISODE} WHERE f.passed = 0 AND e.fix_sha = ''",
        f"FROM failure f {_EPISODE} {_SOME}",
    )
)
_NEWEST = f"""
WITH hit AS MATERIALIZED (SELECT DISTINCT i.failure_id AS id {FAILING})
SELECT f.id, (SELECT count(*) FROM hit h)
FROM hit h
CROSS JOIN failure f ON f.org_id = ? AND f.id = h.id
ORDER BY f.first_started_at DESC, f.id LIMIT ?
"""
_TOGETHER = f"""
WITH hit AS MATERIALIZED (
  SELECT f.product_id, f.box_key, f.branch, f.test, e.first_rank, e.last_rank, e.fix_sha
  FROM failure f
  {_EPISODE}
  WHERE f.org_id = ? AND f.id = ?
)
SELECT h.fix_sha, {_FAILURE}
FROM hit h
CROSS JOIN failure f INDEXED BY failure_lane
  ON f.org_id = ? AND f.product_id = h.product_id AND f.box_key = h.box_key AND f.branch = h.branch
  AND f.test = h.test AND f.passed = 0 AND f.rank BETWEEN h.first_rank AND h.last_rank
{_PLACE}
"""
_MEMBERS = f"""
SELECT e.number, e.fix_sha, {_FAILURE}
FROM json_each(?) j
CROSS JOIN episode e ON e.org_id = ? AND e.number = j.value
CROSS JOIN failure f INDEXED BY failure_lane
  ON f.org_id = ? AND f.product_id = e.product_id AND f.box_key = e.box_key AND f.branch = e.branch
  AND f.test = e.test AND f.passed = e.flake AND f.rank BETWEEN e.first_rank AND e.last_rank
{_PLACE}
"""
IS_FLAKE = "f.passed = 1 AND f.reviewed = 0"
FLAKY = f"{FAILING} {_FAILURE_OF} AND {IS_FLAKE}"
_BY_ID = (
    f"SELECT e.fix_sha, {_FAILURE} FROM failure f{_PLACE}{_EPISODE} WHERE f.org_id = ? AND f.id = ?"
)

_OF_FAILURE = """
r.org_id = f.org_id AND r.sha = f.sha AND r.product_id = f.product_id AND r.box_key = f.box_key
  AND r.hello_ok = 1 AND r.branch = f.branch
CROSS JOIN item i
  ON i.org_id = r.org_id AND i.report_id = r.id AND i.test = f.test AND i.outcome = 1
"""
_ATTEMPTS = f"""
SELECT f.id, sum(i.attempts)
FROM failure f
CROSS JOIN report r INDEXED BY report_commit ON {_OF_FAILURE}
{_SOME}
GROUP BY f.id
"""
_MESSAGES = f"""
SELECT f.id, i.message
FROM failure f
CROSS JOIN report r INDEXED BY report_commit ON {_OF_FAILURE} AND i.message IS NOT NULL
{_SOME}
ORDER BY r.started_at, r.run_id, r.run_attempt
"""
_LOGS = f"""
SELECT f.id, f.test, p.tests, r.log_urls, r.ci_url
FROM failure f
CROSS JOIN report r INDEXED BY report_commit ON {_OF_FAILURE}
CROSS JOIN template p ON p.org_id = r.org_id AND p.id = r.template_id
{_SOME}
ORDER BY r.started_at, r.run_id, r.run_attempt
"""
_LANE_RUNS = """
SELECT
  r.template_id, p.tests, r.durations, r.boards, r.log_urls, r.started_at, r.ci_run_id,
  r.run_attempt, r.record_id, r.ci_run, r.workflow, r.branch, i.outcome, i.attempts, i.verdict,
  i.message
FROM report r INDEXED BY report_commit
JOIN template p ON p.org_id = r.org_id AND p.id = r.template_id
LEFT JOIN item i ON i.org_id = r.org_id AND i.report_id = r.id AND i.test = ?
WHERE r.org_id = ? AND r.product_id = ? AND r.box_key = ? AND r.sha = ? AND r.hello_ok = 1
ORDER BY r.started_at, r.run_id, r.run_attempt
"""
_LISTS = "SELECT id FROM template WHERE org_id = ? AND product_id = ?"
_LAST = """
SELECT coalesce(
  (SELECT i.outcome FROM item i WHERE i.org_id = r.org_id AND i.report_id = r.id AND i.test = ?),
  0
)
FROM report r INDEXED BY report_branch
WHERE r.org_id = ? AND r.branch = ? AND r.started_at >= ? AND r.box_key = ? AND r.product_id = ?
  AND r.hello_ok = 1 AND r.template_id IN (SELECT j.value FROM json_each(?) j)
ORDER BY r.started_at DESC, r.run_id DESC, r.run_attempt DESC LIMIT 1
"""


class FailureAnswers(Answers):
    """Answers from `failure`, and from `report` and `item` along a branch."""

    def failures(self, scope: Scope, period: Period) -> Sequence[Failure]:
        values = (*self._window(scope, period), self._org)
        return self._failures(self._connection.rows(_WITH_GROUPS, values))

    def never_passed_since(self, tests: Collection[TestKey], period: Period) -> Sequence[Failure]:
        of_product: dict[Product, list[str]] = defaultdict(list)
        for product, test_id in tests:
            if product in self._products:
                of_product[product].append(test_id)
        rows = []
        for product, ids in of_product.items():
            numbers = self._test_numbers(self._products[product], ids).values()
            window = self._window(Scope(*product), period)
            values = (*window, codec.numbers(numbers), self._org)
            rows += self._connection.rows(_NEVER_PASSED, values)
        return [
            failure
            for failure in self._failures(rows)
            if self._has_branch(failure.key.lane.repo_key, failure.key.lane.branch)
        ]

    def failing_items(self, scope: Scope, period: Period) -> Mapping[UUID, int]:
        rows = self._connection.rows(
            f"SELECT i.failure_id, count(*) {FAILING} GROUP BY i.failure_id",
            self._window(scope, period),
        )
        return {codec.uuid_of(failure_id): items for failure_id, items in rows}

    def newest_failing(self, scope: Scope, period: Period, most: int) -> Listing[UUID]:
        rows = self._connection.rows(_NEWEST, (*self._window(scope, period), self._org, most))
        total = rows[0][1] if rows else 0
        return Listing([codec.uuid_of(failure_id) for failure_id, _ in rows], total)

    def with_groups(self, failures: Collection[UUID]) -> Sequence[Failure]:
        rows = [*chain.from_iterable(self._rows_of_some(_OF_SOME, failures, self._org))]
        return [*{failure.id: failure for failure in self._failures(rows)}.values()]

    def flaky_starts(self, scope: Scope, period: Period) -> Sequence[datetime]:
        rows = self._connection.rows(
            f"SELECT r.started_at {FLAKY} ORDER BY r.started_at", self._window(scope, period)
        )
        return [codec.from_micros(at) for (at,) in rows]

    def failure(self, failure_id: UUID) -> Failure | None:
        rows = self._connection.rows(_BY_ID, (self._org, failure_id.bytes))
        return next(iter(self._failures(rows)), None)

    def members(self, episodes: Sequence[Episode]) -> Sequence[Sequence[Failure]]:
        numbers = [episode.number for episode in episodes if episode.number is not None]
        members = self._members
        if unread := set(numbers) - members.keys():
            values = (codec.numbers(unread), self._org, self._org)
            rows = self._connection.rows(_MEMBERS, values)
            failures = self._failures([columns for _, *columns in rows])
            for (number, *_), failure in zip(rows, failures, strict=True):
                members[number].append(failure)
        return [members[number] for number in numbers]

    @cached_property
    def _members(self) -> dict[int, list[Failure]]:
        """The failures of the episodes that were asked for, by number: several answers of a page
        are about the same.
        """
        return defaultdict(list)

    def together(self, failure: Failure) -> Sequence[Failure]:
        if failure.passed:
            return [failure]
        values = (self._org, failure.id.bytes, self._org)
        return self._failures(self._connection.rows(_TOGETHER, values))

    def pass_started_at(self, lane: Lane, sha: str) -> datetime | None:
        placed = self._find(lane)
        if placed is None:
            return None
        line, test = placed
        starts = passing_starts(self._connection, self._org, line.track.bench, sha, test)
        return codec.from_micros_or_none(min(starts, default=None))

    def failed_attempts(self, failures: Collection[UUID]) -> Mapping[UUID, int]:
        rows = self._of_some(_ATTEMPTS, failures)
        return {failure_id: int(attempts) for failure_id, attempts in rows}

    def messages(self, failures: Collection[UUID]) -> Mapping[UUID, str]:
        messages: dict[UUID, str] = {}
        for failure_id, message in self._of_some(_MESSAGES, failures):
            messages.setdefault(failure_id, message)
        return messages

    def logs(self, failures: Collection[UUID]) -> Mapping[UUID, str]:
        logs: dict[UUID, str] = {}
        pages: dict[UUID, str] = {}
        for raw, test, tests, log_urls, page in chain.from_iterable(
            self._rows_of_some(_LOGS, failures)
        ):
            if log_urls is not None:
                numbers = codec.unpack_numbers(tests)
                log = codec.unpack_texts(log_urls, len(numbers))[numbers.index(test)]
                if log is not None:
                    logs.setdefault(codec.uuid_of(raw), log)
            if page is not None:
                pages.setdefault(codec.uuid_of(raw), page)
        return pages | logs

    def _of_some(self, statement: str, failures: Collection[UUID]) -> Iterator[tuple[UUID, Any]]:
        for failure_id, value in chain.from_iterable(self._rows_of_some(statement, failures)):
            yield codec.uuid_of(failure_id), value

    def last_outcome(self, lane: Lane, since: datetime) -> Outcome | None:
        placed = self._find(lane)
        if placed is None:
            return None
        line, test = placed
        product, box_key = line.track.bench
        lists = [
            number
            for (number,) in self._connection.rows(_LISTS, (self._org, product))
            if self._connection.mask(self._org, number) >> test & 1
        ]
        at = codec.to_micros(since)
        rows = self._connection.rows(
            _LAST, (test, self._org, lane.branch, at, box_key, product, codec.numbers(lists))
        )
        return next((codec.OUTCOMES[outcome] for (outcome,) in rows), None)

    def lane_commits(self, lane: Lane, first: Place, last: Place, margin: int) -> list[LaneCommit]:
        placed = self._find(lane)
        if placed is None:
            return []
        line, test = placed
        end = codec.to_stamp(last)
        rank = self._rank(lane, first)
        earlier = walk_before(self._connection, self._org, line, rank)
        later = walk_after(self._connection, self._org, line, rank - 1)
        stamps = _first_commits(earlier, test, margin)[::-1]
        stamps += _first_commits(later, test, margin, end)
        return [
            LaneCommit(
                stamp.sha,
                codec.to_place(*stamp),
                tuple(self._lane_runs(line.track.bench, test, stamp.sha)),
            )
            for stamp in stamps
        ]

    def _window(self, scope: Scope, period: Period) -> tuple[object, ...]:
        start, end = codec.to_micros(period.start), codec.to_micros(period.end)
        return (self._scoped(scope), self._org, start, end)

    def _rank(self, lane: Lane, place: Place) -> int:
        ((rank,),) = self._connection.rows(
            "SELECT rank FROM place WHERE org_id = ? AND repo_key = ? AND sha = ? AND branch = ?",
            (self._org, lane.repo_key, place.sha, lane.branch),
        )
        return int(rank)

    def _find(self, lane: Lane) -> tuple[Line, int] | None:
        """Return the track and the number of a lane's test, or None if it never ran."""
        product = self._products.get(Product(lane.repo_key, lane.suite))
        if product is None:
            return None
        rows = self._connection.rows(
            "SELECT number FROM test WHERE org_id = ? AND product_id = ? AND name = ?",
            (self._org, product, lane.test_id),
        )
        line = Line(lane.repo_key, Track(Bench(product, lane.box_key), lane.branch))
        return next(((line, number) for (number,) in rows), None)

    def _lane_runs(self, bench: Bench, test: int, sha: str) -> list[EvidenceRun]:
        """Return what a test did on a commit and a box, on any branch, by start."""
        rows = self._connection.rows(_LANE_RUNS, (test, self._org, *bench, sha))
        return [
            _lane_run(columns, codec.unpack_numbers(tests).index(test))
            for template, tests, *columns in rows
            if self._connection.mask(self._org, template) >> test & 1
        ]

    def _failures(self, rows: Sequence[Sequence[Any]]) -> list[Failure]:
        """Turn rows of a fix and `_FAILURE` into failures, with the names of their tests."""
        tests: dict[int, set[int]] = {}
        for _, _, product, test, *_ in rows:
            tests.setdefault(product, set()).add(test)
        names = self._test_names(tests)
        # Many failures share a lane, a first run or a place: build each once.
        lane, first, place = cache(Lane), cache(first_run), cache(codec.to_place)
        failures = []
        for fix, failure_id, product, test, box_key, branch, *columns in rows:
            at, way, position, sha, items, last_started_at, passed, reviewed, *run = columns
            lane_ = lane(*self._product_of[product], names[product][test], box_key, branch)
            failures.append(
                Failure(
                    id=codec.uuid_of(failure_id),
                    key=FailureKey(lane_, sha),
                    place=place(at, way, position, sha),
                    items=items,
                    first=first(*run),
                    last_started_at=codec.from_micros(last_started_at),
                    passed=bool(passed),
                    next_pass=fix or None,
                    reviewed=bool(reviewed),
                )
            )
        return failures


def first_run(
    at: int, run_id: int, attempt: int, workflow: str, verdict: int, *numbers: int
) -> FailingRun:
    """Return the first failing run that columns hold."""
    started_at = codec.from_micros(at)
    return FailingRun(started_at, run_id, attempt, workflow, codec.VERDICTS[verdict], *numbers)


def _first_commits(
    walk: Iterable[Walked], test: int, margin: int, end: Stamp | None = None
) -> list[Stamp]:
    """Return the commits of a walk that ran a test: all up to `end`, and a number beyond it."""
    places: list[Stamp] = []
    beyond = 0
    for _, place, ran, _ in walk:
        if not ran >> test & 1 or (places and places[-1] == place):
            continue
        if end is None or place > end:
            beyond += 1
        if beyond > margin:
            break
        places.append(place)
    return places


def _lane_run(columns: Sequence[Any], index: int) -> EvidenceRun:
    """Return the run of a row of `_LANE_RUNS`. `index`: the place of its test in the report."""
    durations, boards, log_urls, at, run_id, run_attempt, record_id, ci_run, *others = columns
    workflow, branch, *item = others
    outcome, *_ = item
    result = codec.unpack_item(None if outcome is None else item)
    return EvidenceRun(
        started_at=codec.from_micros(at),
        run_id=run_id,
        run_attempt=run_attempt,
        run_record_id=codec.uuid_of(record_id),
        ci_run=ci_run,
        workflow=workflow,
        branch=branch,
        outcome=result.outcome,
        attempts=result.attempts,
        duration_s=codec.unpack_durations(durations)[index],
        verdict=result.verdict,
        message=result.message,
        board=codec.unpack_texts(boards, index + 1)[index],
        log_url=codec.unpack_texts(log_urls, index + 1)[index],
    )
