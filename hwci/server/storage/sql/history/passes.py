# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""Where tests passed last before they failed, for all failures of a period at once.

Nearly all passed on the commit that their box ran last before. That one is looked at first, and
those further back for the other failures alone.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any
from uuid import UUID

from hwci.engine.facts import FailureKey, failure_id
from hwci.engine.history import Place
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.history.shown import ShownAnswers

_NEAR = 16  # commits
_AT_ONCE = 100
_PLACES = """
SELECT p.branch, p.started_at, p.way, p.position, p.sha
FROM json_each(?) j
CROSS JOIN place p ON p.org_id = ? AND p.repo_key = ? AND p.sha = j.value
"""
_FAR = 1 << 62  # between two ranks, more than there can be
_EARLIER = (
    "b.org_id = f.org_id AND b.repo_key = q.repo_key AND b.branch = f.branch AND b.rank < f.rank"
)
_BACK = f"""
coalesce(
  (
    SELECT b.rank
    FROM place b INDEXED BY place_rank
    WHERE {_EARLIER}
    ORDER BY b.rank DESC LIMIT 1 OFFSET ?
  ),
  f.rank - {_FAR}
)
"""
_LAST_RUN = f"""
coalesce(
  (
    SELECT b.rank
    FROM place b INDEXED BY place_rank
    CROSS JOIN report r INDEXED BY report_commit
      ON r.org_id = b.org_id AND r.sha = b.sha AND r.product_id = f.product_id
      AND r.box_key = f.box_key AND r.hello_ok = 1
    WHERE {_EARLIER} AND b.rank >= {_BACK}
    ORDER BY b.rank DESC LIMIT 1
  ),
  f.rank
)
"""
_REPORTS_FROM = f"""
WITH hit AS MATERIALIZED (
  SELECT f.id, f.product_id, f.box_key, q.repo_key, f.branch, f.rank, {{}} AS lowest
  FROM failure f
  CROSS JOIN product q ON q.org_id = f.org_id AND q.id = f.product_id
  WHERE f.org_id = ? AND f.id IN ({", ".join("?" * _AT_ONCE)})
)
SELECT p.started_at, p.way, p.position, p.sha, h.id, r.template_id, r.fails
FROM hit h
CROSS JOIN place p INDEXED BY place_rank
  ON p.org_id = ? AND p.repo_key = h.repo_key AND p.branch = h.branch
  AND p.rank BETWEEN h.lowest AND h.rank
CROSS JOIN report r INDEXED BY report_commit
  ON r.org_id = p.org_id AND r.sha = p.sha AND r.product_id = h.product_id AND r.box_key = h.box_key
  AND r.hello_ok = 1
"""
_SINCE_LAST_RUN, _OF_ALL = map(_REPORTS_FROM.format, (_LAST_RUN, _BACK))
"""The reports of a box on the commit of its failure and on the one it ran before, and those on all
commits so far back.
"""

_On = tuple[str, ...]  # the lane without its test, and the commit


class PassAnswers(ShownAnswers):
    """Answers from `place` and `report`, along branches."""

    def places(
        self, commits: Mapping[tuple[str, str], Collection[str]]
    ) -> Mapping[tuple[str, str], Mapping[str, Place]]:
        places: dict[tuple[str, str], dict[str, Place]] = {branch: {} for branch in commits}
        of_repository: dict[str, set[str]] = defaultdict(set)
        for (repo_key, _), shas in commits.items():
            of_repository[repo_key].update(shas)
        for repo_key, several in of_repository.items():
            values = (codec.texts(several), self._org, repo_key)
            for branch, at, way, position, sha in self._connection.rows(_PLACES, values):
                if sha in commits.get((repo_key, branch), ()):
                    places[repo_key, branch][sha] = codec.to_place(at, way, position, sha)
        return places

    def last_passes(self, failures: Sequence[FailureKey], back: int) -> Sequence[Place | None]:
        passes: dict[FailureKey, Place] = {}
        for statement, commits in ((_SINCE_LAST_RUN, min(_NEAR, back)), (_OF_ALL, back)):
            waiting = {failure for failure in failures if failure not in passes}
            passes.update(self._passes(statement, waiting, commits))
        return [passes.get(failure) for failure in failures]

    def _passes(
        self, statement: str, failures: Collection[FailureKey], back: int
    ) -> Iterator[tuple[FailureKey, Place]]:
        """Yield the last pass of each failure that has one on the commits of a statement."""
        numbers = self._numbers(lane for lane, _ in failures)
        on: dict[_On, dict[int, FailureKey]] = defaultdict(dict)
        for failure in failures:
            test = numbers[failure.lane.product][failure.lane.test_id]
            repo_key, suite, _, box_key, branch = failure.lane
            on[repo_key, suite, box_key, branch, failure.sha][test] = failure
        org_id = UUID(bytes=self._org)
        tests = {failure_id(org_id, next(iter(some.values()))).bytes: some for some in on.values()}
        ids = iter([*tests])
        while some := list(islice(ids, _AT_ONCE)):
            self.check_time()
            some += some[-1:] * (_AT_ONCE - len(some))  # the statement has that many places
            values = (back - 1, self._org, *some, self._org)
            rows = self._connection.rows(statement, values)
            for *stamp, number, template, fails in sorted(rows, key=_by_place, reverse=True):
                if waiting := tests[number]:
                    passed = self._passed(template, fails)
                    for test in [test for test in waiting if passed >> test & 1]:
                        yield waiting.pop(test), codec.to_place(*stamp)


def _by_place(row: tuple[Any, ...]) -> tuple[Any, ...]:
    *stamp, _, _, _ = row
    return tuple(stamp)
