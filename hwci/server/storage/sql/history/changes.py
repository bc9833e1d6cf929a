# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""Answers about commits: places, changes of runs, configurations and reviews.

`run_changes` holds the changes of each run once (semantics, 5.1), so that an answer reads only
the runs that it returns.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any
from uuid import UUID

from hwci.contract.failures.failures import Review
from hwci.contract.people import Actor
from hwci.contract.runs.commits import ChangeList
from hwci.engine.facts import Product, StoredReview, SuiteConfig
from hwci.engine.history import Place, ReportOrder, RunChanges
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.columns import column, columns_of
from hwci.server.storage.sql.history.answers import AT_ONCE, Answers
from hwci.server.storage.sql.reports import report_rows

_ITS_REPORT = """
r.org_id = w.org_id AND r.repo_key = w.repo_key AND r.run_id = w.run_id
  AND r.run_attempt = w.run_attempt AND r.box_key = w.box_key
"""
RUN = f"""
SELECT
  w.started_at, w.run_id, w.run_attempt, w.box_key, w.workflow, w.branch, w.sha, w.changes_id,
  (SELECT r.ci_run_id FROM report r WHERE {_ITS_REPORT}),
  (SELECT r.ci_run FROM report r WHERE {_ITS_REPORT})
"""
_IN_ORDER = "ORDER BY w.started_at, w.run_id, w.run_attempt, w.box_key"
_LISTING = """
FROM changes_commit c
CROSS JOIN run_changes w INDEXED BY run_changes_list
  ON w.org_id = c.org_id AND w.changes_id = c.changes_id
WHERE c.org_id = ? AND c.repo_key = ?
"""
_LISTING_EACH = """
FROM json_each(?) j
CROSS JOIN changes_commit c ON c.org_id = ? AND c.repo_key = ? AND c.sha = j.value
CROSS JOIN run_changes w INDEXED BY run_changes_list
  ON w.org_id = c.org_id AND w.changes_id = c.changes_id
"""
_RUNS_LISTING = f"{RUN}, j.value {_LISTING_EACH} {_IN_ORDER}"
_TESTED_WITH = f"""
SELECT j.value, w.sha, (SELECT r.ci_run_id FROM report r WHERE {_ITS_REPORT})
{_LISTING_EACH}
{_IN_ORDER}
"""
CHANGES = "b.id, b.base_sha, b.truncated, b.body"
"""A list of changes, as `_list_of` takes it."""
_FIRST_LISTING = f"""
SELECT j.value, {CHANGES}
FROM json_each(?) j
CROSS JOIN changes b
  ON b.org_id = ? AND b.id = (
    SELECT w.changes_id {_LISTING} AND c.sha = j.value {_IN_ORDER} LIMIT 1
  )
"""
# The first list with each commit, and so many lists back from base to base, but for known ones.
_LISTINGS_BACK = f"""
WITH RECURSIVE hit (sha, number, steps) AS (
  SELECT h.sha, (SELECT w.changes_id {_LISTING} AND c.sha = h.sha {_IN_ORDER} LIMIT 1), 0
  FROM (
    SELECT DISTINCT l.sha
    FROM json_each(?) j
    CROSS JOIN changes_commit l ON l.org_id = ? AND l.repo_key = ? AND l.sha = j.value
  ) h
  UNION
  SELECT
    b.base_sha,
    (SELECT w.changes_id {_LISTING} AND c.sha = b.base_sha {_IN_ORDER} LIMIT 1),
    h.steps + 1
  FROM hit h
  CROSS JOIN changes b ON b.org_id = ? AND b.id = h.number
  WHERE h.steps < ? AND h.sha <> ? AND b.base_sha IS NOT NULL
    AND b.base_sha NOT IN (SELECT j.value FROM json_each(?) j)
)
SELECT h.sha, {CHANGES}
FROM (SELECT DISTINCT h.sha, h.number FROM hit h) h
CROSS JOIN changes b ON b.org_id = ? AND b.id = h.number
"""
_UNDER_TEST = f"""
{RUN}
FROM run_changes w
WHERE w.org_id = ? AND w.repo_key = ? AND w.workflow = ? AND w.branch = ? AND w.sha = ?
  AND w.run_id = (
    SELECT run_id
    FROM report INDEXED BY report_commit
    WHERE org_id = ? AND repo_key = ? AND workflow = ? AND branch = ? AND sha = ?
    ORDER BY started_at, run_id, run_attempt, box_key LIMIT 1
  )
"""
_RUNS_BASED_ON = f"""
{RUN}, c.base_sha
FROM json_each(?) j
CROSS JOIN changes c INDEXED BY changes_base
  ON c.org_id = ? AND c.repo_key = ? AND c.base_sha = j.value
CROSS JOIN run_changes w INDEXED BY run_changes_list
  ON w.org_id = c.org_id AND w.changes_id = c.id
{_IN_ORDER}
"""

_BY = columns_of(Actor, id=column("by_id", str, UUID), name=column("by_name"))
REVIEW = columns_of(StoredReview, elsewhere=("number",), review=columns_of(Review, by=_BY))
"""What a row of `review` has of a review; its number follows the one before."""
_SELECT_REVIEW = f"SELECT w.failure_id, w.number, {REVIEW.of('w')} FROM review w WHERE w.org_id = ?"
_SOME_REVIEWS = f"{_SELECT_REVIEW} AND w.failure_id IN ({', '.join('?' * AT_ONCE)})"


class ChangesAnswers(Answers):
    """Answers from `place`, `run_changes`, `suite_config` and `review`."""

    @cached_property
    def _read_changes(self) -> dict[int, ChangeList]:
        return {}

    def place(self, repo_key: str, branch: str, sha: str) -> Place | None:
        row = self._connection.row(
            "SELECT started_at, way, position, sha FROM place"
            " WHERE org_id = ? AND repo_key = ? AND branch = ? AND sha = ?",
            (self._org, repo_key, branch, sha),
        )
        return None if row is None else codec.to_place(*row)

    def changes_under_test(
        self, repo_key: str, workflow: str, branch: str, sha: str
    ) -> RunChanges | None:
        identity = (self._org, repo_key, workflow, branch, sha)
        row = self._connection.row(_UNDER_TEST, identity * 2)
        return next(iter(self._runs([] if row is None else [row])), None)

    def changes_listing(self, repo_key: str, sha: str) -> Sequence[RunChanges]:
        return self.runs_listing(repo_key, [sha]).get(sha, ())

    def runs_listing(
        self, repo_key: str, shas: Collection[str]
    ) -> Mapping[str, Sequence[RunChanges]]:
        return self._runs_by_commit(_RUNS_LISTING, repo_key, shas)

    def tested_with(
        self, repo_key: str, shas: Collection[str]
    ) -> Mapping[str, Sequence[tuple[str, int]]]:
        tested: dict[str, list[tuple[str, int]]] = defaultdict(list)
        values = codec.texts(shas), self._org, repo_key
        for sha, *run in self._connection.rows(_TESTED_WITH, values):
            tested[sha].append((*run,))
        return tested

    def first_listing(self, repo_key: str, shas: Sequence[str]) -> Mapping[str, ChangeList]:
        values = (codec.texts(shas), self._org, self._org, repo_key)
        return self._listed(self._connection.rows(_FIRST_LISTING, values))

    def listings_back(
        self, repo_key: str, shas: Sequence[str], steps: int, oldest: str = ""
    ) -> Mapping[str, ChangeList]:
        known, repository = codec.texts(shas), (self._org, repo_key)
        bases = (self._org, steps, oldest, known, self._org)
        values = (*repository, known, *repository, *repository, *bases)
        return self._listed(self._connection.rows(_LISTINGS_BACK, values))

    def _listed(self, rows: Iterable[Sequence[Any]]) -> Mapping[str, ChangeList]:
        """Return lists of changes, each by the commit before it in its row."""
        return {sha: self._list_of(*changes) for sha, *changes in rows}

    def _list_of(self, number: int, *columns: Any) -> ChangeList:
        """Return the list of changes of these `CHANGES`; each is unpacked once."""
        if number not in self._read_changes:
            self._read_changes[number] = codec.unpack_changes(*columns)
        return self._read_changes[number]

    def changes_based_on(self, repo_key: str, sha: str) -> Sequence[RunChanges]:
        return self.runs_based_on(repo_key, [sha]).get(sha, ())

    def runs_based_on(
        self, repo_key: str, shas: Collection[str]
    ) -> Mapping[str, Sequence[RunChanges]]:
        return self._runs_by_commit(_RUNS_BASED_ON, repo_key, shas)

    def _runs_by_commit(
        self, statement: str, repo_key: str, shas: Collection[str]
    ) -> Mapping[str, Sequence[RunChanges]]:
        """Return the runs of a statement, by the commit at the end of each row."""
        rows = self._connection.rows(statement, (codec.texts(shas), self._org, repo_key))
        runs: dict[str, list[RunChanges]] = defaultdict(list)
        for (*_, sha), run in zip(rows, self._runs([row[:-1] for row in rows]), strict=True):
            runs[sha].append(run)
        return runs

    def _load_changes(self, numbers: Iterable[int]) -> None:
        """Read several lists of changes at once."""
        if unread := set(numbers) - self._read_changes.keys():
            self._read_changes.update(
                report_rows.load_many_changes(self._connection, self._org, unread)
            )

    def _runs(self, rows: Sequence[Sequence[Any]]) -> list[RunChanges]:
        """Turn rows of `RUN` into runs."""
        self._load_changes(number for *_, number, _, _ in rows)
        runs = []
        for row in rows:
            at, run_id, attempt, box_key, workflow, branch, sha, number, ci_run_id, ci_run = row
            order = ReportOrder(codec.from_micros(at), run_id, attempt, box_key)
            changes = self._read_changes[number]
            runs.append(RunChanges(order, ci_run_id, workflow, branch, sha, changes, ci_run))
        return runs

    def config(self, product: Product) -> SuiteConfig | None:
        return self._configs.get(product)

    @cached_property
    def _configs(self) -> Mapping[Product, SuiteConfig]:
        return {
            Product(repo_key, suite): codec.config_of(repo_key, suite, body)
            for repo_key, suite, body, _ in self._config_rows
        }

    @cached_property
    def _config_versions(self) -> Mapping[Product, int]:
        return {
            Product(repo_key, suite): version for repo_key, suite, _, version in self._config_rows
        }

    @cached_property
    def _config_rows(self) -> Sequence[tuple[str, str, str, int]]:
        return self._connection.rows(
            "SELECT repo_key, suite, body, version FROM suite_config WHERE org_id = ?", (self._org,)
        )

    def reviews(self, failures: Iterable[UUID] | None = None) -> Mapping[UUID, StoredReview]:
        if failures is None:
            rows = self._connection.rows(_SELECT_REVIEW, (self._org,))
        else:
            rows = [*chain.from_iterable(self._rows_of_some(_SOME_REVIEWS, failures))]
        return {
            codec.uuid_of(failure): REVIEW.read(columns, number=number)
            for failure, number, *columns in rows
        }
