# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102 - the port documents each method; statements are constants
"""What tables show of episodes beside their rows, for all rows of a table at once.

The number of statements does not grow with the rows: each is a question to the database, which a
page on another machine waits for.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from hwci.contract.runs.commits import ChangeList
from hwci.contract.vocabulary import Outcome
from hwci.engine.derived.rows import Bench
from hwci.engine.facts import FailureKey, Lane, Product
from hwci.engine.history import Episode, EpisodeRuns, RunChanges
from hwci.engine.test_sets import mask_of
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.history.changes import CHANGES, RUN, ChangesAnswers

_EPISODES = "FROM json_each(?) j CROSS JOIN episode e ON e.org_id = ? AND e.number = j.value"
_FIXES = f"""
SELECT e.number, e.test, r.started_at, r.template_id, r.fails
{_EPISODES}
CROSS JOIN report r INDEXED BY report_commit
  ON r.org_id = e.org_id AND r.sha = e.fix_sha AND r.product_id = e.product_id
  AND r.box_key = e.box_key AND r.hello_ok = 1
ORDER BY r.started_at
"""
_HIT = f"""
WITH hit AS MATERIALIZED (
  SELECT DISTINCT q.org_id, q.repo_key, e.workflow, e.branch, e.first_sha AS sha
  {_EPISODES}
  CROSS JOIN product q ON q.org_id = e.org_id AND q.id = e.product_id
)
"""
_FIRST_RUN = """
FROM hit h
CROSS JOIN run_changes w
  ON w.org_id = h.org_id AND w.repo_key = h.repo_key AND w.workflow = h.workflow
  AND w.branch = h.branch AND w.sha = h.sha
  AND w.run_id = (
    SELECT r.run_id
    FROM report r INDEXED BY report_commit
    WHERE r.org_id = h.org_id AND r.repo_key = h.repo_key AND r.workflow = h.workflow
      AND r.branch = h.branch AND r.sha = h.sha
    ORDER BY r.started_at, r.run_id, r.run_attempt, r.box_key LIMIT 1
  )
"""
_UNDER_TEST = f"""
{_HIT}
SELECT h.repo_key, h.workflow, h.branch, h.sha, {CHANGES}
{_FIRST_RUN}
CROSS JOIN changes b ON b.org_id = w.org_id AND b.id = w.changes_id
"""
_RUNS_UNDER_TEST = f"{_HIT} {RUN}, h.repo_key {_FIRST_RUN}"
_RAN = """
SELECT r.sha, r.product_id, r.box_key, r.template_id, r.fails
FROM json_each(?) j
CROSS JOIN report r INDEXED BY report_commit ON r.org_id = ? AND r.sha = j.value AND r.hello_ok = 1
"""
# The same in the order of reports.
_ENDED = """
SELECT r.sha, r.product_id, r.box_key, r.started_at, r.template_id, r.fails
FROM json_each(?) j
CROSS JOIN report r INDEXED BY report_commit ON r.org_id = ? AND r.sha = j.value AND r.hello_ok = 1
ORDER BY r.started_at, r.run_id, r.run_attempt
"""


class _On(NamedTuple):
    """Where tests failed, or passed."""

    sha: str
    product: int
    box_key: str


class ShownAnswers(ChangesAnswers):
    """Answers about rows of tables."""

    def episode_runs(self, episodes: Sequence[Episode]) -> Sequence[EpisodeRuns]:
        fixed_at: dict[int | None, int] = {}
        values = (_numbers(episodes), self._org)
        for number, test, at, *ran in self._connection.rows(_FIXES, values):
            if number not in fixed_at and self._passed(*ran) >> test & 1:
                fixed_at[number] = at
        return [
            EpisodeRuns(under_test, codec.from_micros_or_none(fixed_at.get(episode.number)))
            for episode, under_test in zip(episodes, self.under_test(episodes), strict=True)
        ]

    def under_test(self, episodes: Sequence[Episode]) -> Sequence[ChangeList | None]:
        commits = [
            (lane.repo_key, episode.first.workflow, lane.branch, sha)
            for episode in episodes
            for lane, sha in [episode.key]
        ]
        known = self._tested
        unread = {
            commit: episode
            for commit, episode in zip(commits, episodes, strict=True)
            if commit not in known
        }
        if unread:
            values = (_numbers(unread.values()), self._org)
            rows = self._connection.rows(_UNDER_TEST, values)
            known.update(dict.fromkeys(unread))
            for repo_key, workflow, branch, sha, *listed in rows:
                known[repo_key, workflow, branch, sha] = self._list_of(*listed)
        return [known[commit] for commit in commits]

    def runs_under_test(self, episodes: Sequence[Episode]) -> Sequence[RunChanges | None]:
        rows = self._connection.rows(_RUNS_UNDER_TEST, (_numbers(episodes), self._org))
        runs = self._runs([row[:-1] for row in rows])
        of_commits = {
            (repo_key, run.workflow, run.branch, run.sha): run
            for (*_, repo_key), run in zip(rows, runs, strict=True)
        }
        return [
            of_commits.get((lane.repo_key, episode.first.workflow, lane.branch, sha))
            for episode in episodes
            for lane, sha in [episode.key]
        ]

    @cached_property
    def _tested(self) -> dict[tuple[str, ...], ChangeList | None]:
        """The changes under test of commits that were asked for: several answers of a page are
        about the same.
        """
        return {}

    def elsewhere(
        self, groups: Sequence[Collection[FailureKey]]
    ) -> Sequence[Collection[tuple[str, Outcome]]]:
        numbers = self._numbers({lane for group in groups for lane, _ in group})
        shas = codec.texts({sha for group in groups for _, sha in group})
        ended: dict[tuple[str, int], list[tuple[str, Outcome, int]]] = defaultdict(list)
        for sha, product, box_key, *ran in self._connection.rows(_RAN, (shas, self._org)):
            ended[sha, product].append((box_key, Outcome.PASS, self._passed(*ran)))
            ended[sha, product].append((box_key, Outcome.FAIL, codec.unpack_mask(ran[-1])))
        outcomes = []
        for group in groups:
            tests: dict[_On, list[int]] = defaultdict(list)
            for lane, sha in group:
                product, test = numbers[lane]
                tests[_On(sha, product, lane.box_key)].append(test)
            outcomes.append(
                {
                    (box_key, outcome)
                    for on, mask in ((on, mask_of(several)) for on, several in tests.items())
                    for box_key, outcome, those in ended[on.sha, on.product]
                    if box_key != on.box_key and those & mask
                }
            )
        return outcomes

    def ended_since(
        self, commits: Sequence[tuple[FailureKey, datetime]]
    ) -> Sequence[Outcome | None]:
        numbers = self._numbers({lane for (lane, _), _ in commits})
        rows = self._connection.rows(
            _ENDED, (codec.texts({sha for (_, sha), _ in commits}), self._org)
        )
        masks = self._connection.masks(self._org, {template for *_, template, _ in rows})
        runs: dict[_On, list[tuple[int, int, int]]] = defaultdict(list)
        for sha, product, box_key, at, template, fails in rows:
            of_run = at, masks[template], codec.unpack_mask(fails)
            runs[_On(sha, product, box_key)].append(of_run)
        ended: list[Outcome | None] = []
        for (lane, sha), since in commits:
            product, test = numbers[lane]
            outcomes = [
                Outcome.FAIL if fails >> test & 1 else Outcome.PASS
                for at, ran, fails in runs[_On(sha, product, lane.box_key)]
                if codec.from_micros(at) > since and ran >> test & 1
            ]
            ended.append(outcomes[-1] if outcomes else None)
        return ended

    def _passed_on(self, shas: Collection[str]) -> Mapping[Bench, Mapping[str, int]]:
        """Return the tests that passed on these commits, by bench and commit; others may be among
        them. Each commit is read once.
        """
        passed = self._passes
        if unread := set(shas) - self._read_shas:
            self._read_shas.update(unread)
            rows = self._connection.rows(_RAN, (codec.texts(unread), self._org))
            masks = self._connection.masks(self._org, {template for _, _, _, template, _ in rows})
            for sha, product, box_key, template, fails in rows:
                passed[Bench(product, box_key)][sha] |= masks[template] & ~codec.unpack_mask(fails)
        return passed

    @cached_property
    def _read_shas(self) -> set[str]:
        return set()

    @cached_property
    def _passes(self) -> dict[Bench, dict[str, int]]:
        """The tests that passed on the commits that were read, by bench and commit."""
        return defaultdict(lambda: defaultdict(int))

    def _numbers(self, lanes: Collection[Lane]) -> Mapping[Lane, tuple[int, int]]:
        """Return the numbers of the product and of the test of each of these lanes."""
        tests: dict[Product, set[str]] = defaultdict(set)
        for lane in lanes:
            tests[lane.product].add(lane.test_id)
        numbers = {
            product: self._test_numbers(self._products[product], ids)
            for product, ids in tests.items()
        }
        return {
            lane: (self._products[product], numbers[product][lane.test_id])
            for lane in lanes
            for product in [lane.product]
        }

    def _passed(self, template: int, fails: bytes | None) -> int:
        """Return the tests that a report passed."""
        return self._connection.mask(self._org, template) & ~codec.unpack_mask(fails)


def _numbers(episodes: Iterable[Episode]) -> codec.Numbers:
    return codec.numbers(episode.number for episode in episodes if episode.number is not None)
