# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102, S608 - the port documents each method; statements are constants
"""Where tests passed last before they failed, for many failures at once.

The number of statements does not grow with the failures: first the ranks of the commits between
which a pass may be, then these commits, then what ran on them.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain
from typing import NamedTuple

from hwci.engine.derived.rows import Bench
from hwci.engine.facts import FailureKey, Lane
from hwci.engine.history import Place
from hwci.engine.test_sets import mask_of, tests_in
from hwci.server.storage.sql import codec
from hwci.server.storage.sql.history.shown import ShownAnswers

_PLACES = """
SELECT p.branch, p.rank, p.started_at, p.way, p.position, p.sha
FROM json_each(?) j
CROSS JOIN place p ON p.org_id = ? AND p.repo_key = ? AND p.sha = j.value
"""
# The rank of each commit, and that of the commit so many before it, if there is one.
_RANKS = """
SELECT p.branch, p.sha, p.rank, (
  SELECT b.rank
  FROM place b INDEXED BY place_rank
  WHERE b.org_id = p.org_id AND b.repo_key = p.repo_key AND b.branch = p.branch AND b.rank < p.rank
  ORDER BY b.rank DESC LIMIT 1 OFFSET ?
)
FROM json_each(?) j
CROSS JOIN place p ON p.org_id = ? AND p.repo_key = ? AND p.sha = j.value
"""
_LOWEST = -(1 << 62)  # below all ranks
_DIGITS = 20  # of a rank, with its sign
# Each value of the list is a span, as `_Span.text` writes it.
_WITHIN = f"""
SELECT p.branch, p.rank, p.sha
FROM json_each(?) j
CROSS JOIN place p INDEXED BY place_rank
  ON p.org_id = ? AND p.repo_key = ? AND p.branch = substr(j.value, {2 * _DIGITS + 1})
  AND p.rank BETWEEN CAST(substr(j.value, 1, {_DIGITS}) AS BIGINT)
    AND CAST(substr(j.value, {_DIGITS + 1}, {_DIGITS}) AS BIGINT)
ORDER BY p.branch, p.rank
"""


class _Branch(NamedTuple):
    """A branch of a repository."""

    repo_key: str
    name: str


class _Span(NamedTuple):
    """The commits of a branch from one rank to another."""

    branch: _Branch
    first: int
    last: int

    @property
    def text(self) -> str:
        """It as a statement takes it."""
        return f"{self.first:+0{_DIGITS}}{self.last:+0{_DIGITS}}{self.branch.name}"


class _Placed(NamedTuple):
    """Where a commit is on a branch."""

    rank: int
    place: Place


class _On(NamedTuple):
    """Where tests failed: on a bench, and a commit of a branch."""

    bench: Bench
    branch: _Branch
    sha: str


class PassAnswers(ShownAnswers):
    """Answers from `place` and `report`, along branches."""

    def places(
        self, commits: Mapping[tuple[str, str], Collection[str]]
    ) -> Mapping[tuple[str, str], Mapping[str, Place]]:
        several = {_Branch(*branch): shas for branch, shas in commits.items()}
        placed = self._placed_commits(
            (branch, sha) for branch, shas in several.items() for sha in shas
        )
        return {
            branch: {sha: placed[branch, sha].place for sha in shas if (branch, sha) in placed}
            for branch, shas in several.items()
        }

    def _placed_commits(
        self, commits: Iterable[tuple[_Branch, str]]
    ) -> Mapping[tuple[_Branch, str], _Placed]:
        """Return the places of those of these commits that are on their branch, and of others; each
        commit is read once.
        """
        shas: dict[str, set[str]] = defaultdict(set)
        for branch, sha in commits:
            shas[branch.repo_key].add(sha)
        for repo_key, several in shas.items():
            if unread := several - self._placed_shas[repo_key]:
                self._placed_shas[repo_key] |= unread
                values = (codec.texts(unread), self._org, repo_key)
                for name, rank, *place in self._connection.rows(_PLACES, values):
                    placed = _Placed(rank, codec.to_place(*place))
                    self._known_places[_Branch(repo_key, name), placed.place.sha] = placed
        return self._known_places

    @cached_property
    def _placed_shas(self) -> dict[str, set[str]]:
        return defaultdict(set)

    @cached_property
    def _known_places(self) -> dict[tuple[_Branch, str], _Placed]:
        """The places of the commits that were read, by branch and commit."""
        return {}

    def last_passes(self, failures: Sequence[FailureKey], back: int) -> Sequence[str | None]:
        together: dict[_On, dict[int, FailureKey]] = defaultdict(dict)
        for failure, (on, test) in zip(failures, self._placed(failures), strict=True):
            together[on][test] = failure
        spans = self._spans({(on.branch, on.sha) for on in together}, back)
        within = self._commits_in(spans.values())
        passed = self._passed_on(set(chain.from_iterable(within.values())))
        passes: dict[FailureKey, str] = {}
        for (bench, branch, sha), tests in together.items():
            self.check_time()
            waiting, of_bench = mask_of(tests), passed[bench]
            for before in reversed(within[spans[branch, sha]]):
                if hit := waiting & of_bench.get(before, 0):
                    passes.update((tests[test], before) for test in tests_in(hit))
                    waiting ^= hit
                    if not waiting:
                        break
        return [passes.get(failure) for failure in failures]

    def last_passes_before(
        self, failures: Sequence[tuple[FailureKey, Sequence[str]]]
    ) -> Sequence[str | None]:
        placed = self._placed([failure for failure, _ in failures])
        among = [those for _, those in failures]
        ranks = self._placed_commits(
            (on.branch, sha)
            for (on, _), those in zip(placed, among, strict=True)
            for sha in (on.sha, *those)
        )
        passed = self._passed_on(set(chain.from_iterable(among)))
        # The last pass is the last one of these commits, or on one between that and the failure.
        spans: list[_Span | None] = []
        for (on, test), those in zip(placed, among, strict=True):
            own = ranks[on.branch, on.sha].rank
            passes = [
                ranks[on.branch, sha].rank
                for sha in those
                if passed[on.bench].get(sha, 0) >> test & 1 and (on.branch, sha) in ranks
            ]
            last = max((rank for rank in passes if rank < own), default=None)
            spans.append(None if last is None else _Span(on.branch, last, own - 1))
        within = self._commits_in([span for span in spans if span is not None])
        passed = self._passed_on(set(chain.from_iterable(within.values())))
        last_passes: list[str | None] = []
        for (on, test), those, span in zip(placed, among, spans, strict=True):
            passing = [
                sha
                for sha in (() if span is None else within[span])
                if passed[on.bench].get(sha, 0) >> test & 1
            ]
            last_passes.append(passing[-1] if passing and passing[-1] in those else None)
        return last_passes

    def _placed(self, failures: Sequence[FailureKey]) -> list[tuple[_On, int]]:
        """Return where each of these failures is, and the number of its test."""
        lines = self._lines
        if unknown := {lane for lane, _ in failures if lane not in lines}:
            # Most share a bench or a branch: build each once.
            bench, branch = cache(Bench), cache(_Branch)
            for lane, (product, test) in self._numbers(unknown).items():
                repo_key, _, _, box_key, name = lane
                lines[lane] = bench(product, box_key), branch(repo_key, name), test
        placed = []
        for lane, sha in failures:
            on_bench, on_branch, test = lines[lane]
            placed.append((_On(on_bench, on_branch, sha), test))
        return placed

    @cached_property
    def _lines(self) -> dict[Lane, tuple[Bench, _Branch, int]]:
        """The bench, the branch and the number of the test of lanes that were asked for."""
        return {}

    def _spans(
        self, commits: Collection[tuple[_Branch, str]], back: int
    ) -> Mapping[tuple[_Branch, str], _Span]:
        """Return for each of these commits the span that ends with it, of so many before."""
        shas: dict[str, set[str]] = defaultdict(set)
        for branch, sha in commits:
            shas[branch.repo_key].add(sha)
        spans = {}
        for repo_key, several in shas.items():
            values = (back - 1, codec.texts(several), self._org, repo_key)
            for name, sha, rank, first in self._connection.rows(_RANKS, values):
                branch = _Branch(repo_key, name)
                spans[branch, sha] = _Span(branch, _LOWEST if first is None else first, rank)
        return spans

    def _commits_in(self, spans: Collection[_Span]) -> Mapping[_Span, Sequence[str]]:
        """Return the commits of each of these spans, in their order."""
        texts: dict[str, list[str]] = defaultdict(list)
        for span in _merged(spans):
            texts[span.branch.repo_key].append(span.text)
        ranks: dict[_Branch, list[int]] = defaultdict(list)
        shas: dict[_Branch, list[str]] = defaultdict(list)
        for repo_key, several in texts.items():
            values = (codec.texts(several), self._org, repo_key)
            for name, rank, sha in self._connection.rows(_WITHIN, values):
                ranks[_Branch(repo_key, name)].append(rank)
                shas[_Branch(repo_key, name)].append(sha)
        return {
            span: shas[branch][
                bisect_left(ranks[branch], first) : bisect_right(ranks[branch], last)
            ]
            for span in spans
            for branch, first, last in [span]
        }


def _merged(spans: Iterable[_Span]) -> Iterator[_Span]:
    """Yield spans that have the same commits, none of them twice."""
    before: _Span | None = None
    for span in sorted(spans):
        if before is None or span.branch != before.branch or span.first > before.last:
            if before is not None:
                yield before
            before = span
        else:
            before = before._replace(last=max(before.last, span.last))
    if before is not None:
        yield before
