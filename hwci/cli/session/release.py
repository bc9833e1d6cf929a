# SPDX-License-Identifier: Apache-2.0
"""What a gate asks of the server, and of the clone that it is called in. What that means for a
release is decided in `hwci.analysis.gate`.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from hwci import client
from hwci.analysis.gate import Facts, PlannedRun
from hwci.cli.session.connection import Connection
from hwci.contract.gate import BranchEnd, Requirement
from hwci.contract.scope import ProductKey
from hwci.contract.vocabulary import FailureClass, Label, RunStatus
from hwci.engine.facts import Product
from hwci.engine.periods import Period, last_days
from hwci.wire import limits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hwci.ci.reporting import Released
    from hwci.contract.failures.failures import Failure, ResolvedFailure
    from hwci.contract.runs.merges import AnnouncedMerge
    from hwci.contract.runs.runs import Run

_CLOCKS = timedelta(days=1)
"""A merge may be announced by a clock that is so far behind that of its commit."""


class Wanted(NamedTuple):
    """The commits that a gate is about. `released`: as the clone has them; None: the merges of the
    last `days`.
    """

    words: str
    released: "Released | None"
    days: int
    branch: str | None
    repo_key: str | None
    suite: str | None


@dataclass(frozen=True)
class Looked:
    """What is known of a release, each part asked for when it is needed first."""

    server: Connection
    wanted: Wanted
    now: datetime

    def facts(self, required: Collection[Requirement]) -> Facts:
        """Return what these requirements need to know."""
        bugs = Requirement.NO_OPEN_BUG in required
        boxes = Requirement.BOXES in required
        pending = self._pending() if bugs or Requirement.NO_PENDING in required else []
        resolved = self._bugs() if bugs else []
        checked = Requirement.CHECKED in required
        neither = not (checked or boxes)  # these two find an untested end themselves
        unannounced = [*self._unannounced()] if checked or neither else []
        planned, unplanned = self._plan() if checked else ([], {})
        repo_key, suite = self.wanted.repo_key, self.wanted.suite
        return Facts(
            commits=self.wanted.words,
            product=None if repo_key is None else ProductKey(repo_key=repo_key, suite=suite),
            period=self.period,
            merges=self.merges,
            ends=self.ends,
            unannounced=unannounced,
            planned=planned,
            unplanned=unplanned,
            pending=pending,
            bugs=resolved,
            held=self._held(pending, resolved),
            at_end=self._at_end() if boxes or neither else [],
            runs=[*self._runs()] if Requirement.REACHED in required else [],
            benches=self._benches() if boxes or unannounced or neither else {},
        )

    @cached_property
    def period(self) -> Period:
        """The days in which merges and runs are looked for."""
        longest = last_days(limits.DAYS_MAX, self.now)
        released = self.wanted.released
        if released is None:
            return last_days(self.wanted.days, self.now)
        start = longest.start if released.since is None else released.since - _CLOCKS
        return Period(min(max(start, longest.start), self.now), self.now)

    @cached_property
    def _of_product(self) -> dict[str, Any]:
        return {
            "repo_key": self.wanted.repo_key,
            "suite": self.wanted.suite,
            "limit": limits.PAGE_LIMIT_MAX,
        }

    @cached_property
    def _of_merges(self) -> dict[str, Any]:
        ends = {"start": self.period.start, "as_of": self.now}
        return {**self._of_product, **ends, "branch": self.wanted.branch}

    @cached_property
    def _org_id(self) -> UUID:
        return self.server.org_id()

    @cached_property
    def _commits(self) -> frozenset[str]:
        released = self.wanted.released
        return frozenset(released.commits if released else ())

    @cached_property
    def merges(self) -> "Sequence[AnnouncedMerge]":
        """The merges of the release, the newest first."""
        merges = self.server.items(client.calls.list_merges(self._org_id, **self._of_merges))
        of_all = self.wanted.released is None
        return [merge for merge in merges if of_all or merge.sha in self._commits]

    @cached_property
    def ends(self) -> Sequence[BranchEnd]:
        """The last commit on each branch that received a merge: of a range its end."""
        released = self.wanted.released
        newest: dict[tuple[str, str], str] = {}
        for merge in self.merges:
            sha = merge.sha if released is None else released.tip
            newest.setdefault((merge.repo_key, merge.branch), sha)
        return [
            BranchEnd(repo_key=repo_key, branch=branch, sha=sha)
            for (repo_key, branch), sha in newest.items()
        ]

    def _on_branches(self) -> Iterator[dict[str, Any]]:
        """Yield what asks for the rows of each branch that received a merge."""
        for end in self.ends:
            yield {**self._of_product, "repo_key": end.repo_key, "branch": end.branch}

    def _in_repositories(self) -> Iterator[dict[str, Any]]:
        for repo_key in dict.fromkeys(end.repo_key for end in self.ends):
            yield {**self._of_product, "repo_key": repo_key}

    def _plan(self) -> "tuple[Sequence[PlannedRun], Mapping[tuple[str, str | None], str]]":
        """Return the runs that would check the unchecked merges, and why there is none for some."""
        planned: list[PlannedRun] = []
        unplanned: dict[tuple[str, str | None], str] = {}
        unchecked = {merge.sha for merge in self.merges if not merge.checked}
        more, page = bool(unchecked), 0
        while more:
            page += 1
            call = client.calls.plan_merges(self._org_id, **self._of_merges, page=page)
            plan = self.server.send(call)
            planned += [
                PlannedRun(Product(run.repo_key, run.suite), run.sha, run.command)
                for run in plan.runs.items
                if run.sha in unchecked
            ]
            unplanned = {(row.repo_key, row.suite): row.missing_text for row in plan.unplanned}
            more = page * plan.runs.limit < plan.runs.total
        return planned, unplanned

    def _unannounced(self) -> Iterator[str]:
        """Yield the commits of the branch itself that nobody announced and no run tested. Without
        any merge no further commit is worth a line.
        """
        released = self.wanted.released
        if released is None or not self.merges:
            return
        announced: dict[str, list[AnnouncedMerge]] = defaultdict(list)
        for merge in self.merges:
            announced[merge.sha].append(merge)
        pushed: frozenset[str] = frozenset()  # with the next merge of the branch
        for sha in reversed(released.line):
            if sha in announced:
                tested = dict.fromkeys(merge.run.sha for merge in announced[sha] if merge.run)
                pushed = frozenset(chain.from_iterable(map(self._pushed_with, tested)))
                continue
            is_known = sha in pushed or not released.starts(sha, self.wanted.suite)
            if not (is_known or any(self._that_ran(sha))):
                yield sha

    def _pushed_with(self, sha: str) -> Iterator[str]:
        """Yield the commits in the push lists of the runs that tested a commit."""
        for run in self._that_ran(sha):
            yield from self.server.send(client.calls.get_run(self._org_id, run.id)).covers_shas

    def _that_ran(self, sha: str) -> "Iterator[Run]":
        """Yield the runs that tested a commit on real hardware."""
        for query in self._in_repositories():
            runs = self._listed(**query, sha=sha, hello_ok=True)
            yield from (run for run in runs if run.tests.total > 0)

    def _listed(self, **query: Any) -> "Iterator[Run]":
        return self.server.items(client.calls.list_runs(self._org_id, **query))

    def _pending(self) -> "Sequence[Failure]":
        """Return the pending failures of all times: one that began long ago fails still."""
        whole: dict[str, Any] = {"days": limits.DAYS_MAX, "as_of": self.now, "label": Label.PENDING}
        return [
            failure
            for query in self._on_branches()
            for failure in self.server.items(
                client.calls.list_failures(self._org_id, **query, **whole)
            )
        ]

    def _bugs(self) -> "Sequence[ResolvedFailure]":
        """Return the resolved failures that are, or may be, firmware bugs. One that is ambiguous
        matters where its fix may come after the end of a range.
        """
        whole: dict[str, Any] = {"days": limits.DAYS_MAX, "as_of": self.now}
        bugs: list[ResolvedFailure] = []
        for query in self._on_branches():
            bugs += self.server.items(client.calls.real_bugs(self._org_id, **query, **whole))
            if self.wanted.released is not None:
                whole_class = {**query, **whole, "failure_class": FailureClass.AMBIGUOUS}
                others = client.calls.other_failures(self._org_id, **whole_class)
                bugs += self.server.items(others)
        return bugs

    def _held(
        self, pending: "Sequence[Failure]", bugs: "Sequence[ResolvedFailure]"
    ) -> "Mapping[str, bool | None] | None":
        """Return which of the commits of these failures the end of a range holds."""
        released = self.wanted.released
        if released is None:
            return None
        shas = {failure.sha for failure in pending}
        shas |= {bug.first_failure.sha for bug in bugs}
        shas |= {bug.fix.sha for bug in bugs if bug.fix is not None}
        return {sha: released.holds(sha) for sha in shas}

    def _at_end(self) -> "Sequence[Run]":
        ends = dict.fromkeys((end.repo_key, end.sha) for end in self.ends)
        return [
            run
            for repo_key, sha in ends
            for run in self._listed(**{**self._of_product, "repo_key": repo_key}, sha=sha)
        ]

    def _runs(self) -> "Iterator[Run]":
        """Yield the runs of a range's commits, on any branch, or those of the branches."""
        reported: dict[str, Any] = {
            "status": RunStatus.REPORTED,
            "start": self.period.start,
            "end": self.now,
        }
        if self.wanted.released is None:
            for query in self._on_branches():
                yield from self._listed(**query, **reported)
            return
        for query in self._in_repositories():
            runs = self._listed(**query, **reported)
            yield from (run for run in runs if run.sha in self._commits)

    def _benches(self) -> "Mapping[Product, Sequence[str]]":
        """Return the boxes of the latest runs of each product."""
        boxes: dict[Product, dict[str, None]] = defaultdict(dict)
        for query in self._in_repositories():
            latest = client.calls.list_runs(self._org_id, **query, hello_ok=True)
            for run in self.server.send(latest).items:
                boxes[Product(run.repo_key, run.suite)].setdefault(run.box_key)
        return {product: [*of_product] for product, of_product in boxes.items()}
